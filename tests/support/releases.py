"""Made-up releases of an engine: vectors of one-letter ids, with their verdicts."""

from conformance.history import History, Release
from conformance.history.releases import Group


def release(version, *, conforms=(), unsupported=(), **groups):
    """Return a release; `groups` are the ids of failures by the title of their group."""
    verdicts = dict.fromkeys(conforms, "conforms") | dict.fromkeys(unsupported, "unsupported")
    verdicts |= {vector: "mismatch" for ids in groups.values() for vector in ids}
    made = tuple(Group(title, (), tuple(ids)) for title, ids in groups.items())
    return Release(version, verdicts=verdicts, groups=made)


def history_of(*releases):
    """Return the history of some releases."""
    return History("engine", "engine-cpu", "standard", releases, "Linux x86_64")
