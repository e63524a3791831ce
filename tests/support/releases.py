"""Made-up releases of an engine: vectors of one-letter ids with their verdicts, or counts alone."""

from collections import Counter

from support.arbitrary_reports import made

from conformance.api.releases import Failures, Release
from conformance.history import History


def release(version, *, conforms=(), unsupported=(), **groups):
    """Return a release; `groups` are the ids of failures by the title of their group."""
    verdicts = dict.fromkeys(conforms, "conforms") | dict.fromkeys(unsupported, "unsupported")
    verdicts |= {vector: "mismatch" for ids in groups.values() for vector in ids}
    counts = {"AvgPool-1": {"float32": Counter(verdicts.values())}}
    found = tuple(Failures(title, tuple(ids)) for title, ids in groups.items())
    return Release("engine", version, verdicts=verdicts, counts=counts, groups=found)


def not_run(version, problem="does not install"):
    """Return a release that was not run."""
    return Release("engine", version, problem)


def counted(backend, counts, version="", **reported):
    """Return a release of which a report has `counts`, and what else is `reported`."""
    return Release(backend, version, summary=made(**reported), counts=counts)


def history_of(*releases, left_out=()):
    """Return the history of some releases."""
    return History("engine", "engine-cpu", "standard", releases, left_out, "Linux x86_64")
