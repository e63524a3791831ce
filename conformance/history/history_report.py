"""What histories show: the releases of each engine, and where failures came and went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.history.findings import Change, Finding, History
from conformance.report import document as doc
from conformance.report import shared_blocks
from conformance.report import values as words
from conformance.text import listed


def describe(histories: Sequence[History]) -> doc.Document:
    """Return histories one after another, without a conclusion: a history does not judge."""
    return doc.Document(
        title="Releases compared",
        sections=tuple(
            section
            for number, history in enumerate(histories, 1)
            for section in _sections(number, history)
        ),
        footer=doc.FOOTER,
    )


def _sections(number: int, history: History) -> Iterator[doc.Section]:
    name = history.backend
    yield doc.Section(
        name,
        (doc.Paragraph(_heading(history)), _releases(history), *_left_out(history)),
        name=f"releases-{number}",
        short=name,
    )
    yield doc.Section(
        f"Failures of {name} by release",
        (_by_release(history),),
        name=f"failures-{number}",
        intro="Failing vectors, grouped as in the report of the newest release that fails them.",
    )
    yield doc.Section(
        f"What came and went in {name}",
        (doc.listing(_changed(found) for found in history.findings if found.changes),),
        name=f"changes-{number}",
    )


def _heading(history: History) -> str:
    vectors = max((len(release.verdicts) for release in history.ran), default=0)
    return (
        f"{words.count(len(history.ran), 'release')} of {history.package}, "
        f"{words.count(vectors, 'vector')} of tier {history.tier}, {history.platform}"
    )


def _releases(history: History) -> doc.Table:
    """Return the verdicts on each release that was run."""
    given = {verdict for release in history.ran for verdict in release.counts}
    verdicts = shared_blocks.verdicts(given)
    columns: doc.Columns = ("release", *map(shared_blocks.verdict_column, verdicts))
    rows: Iterable[doc.Row] = (
        (
            doc.Span(release.version, "strong"),
            *(f"{release.counts[verdict]:,}" for verdict in verdicts),
        )
        for release in history.ran
    )
    return doc.table(columns, rows)


def _left_out(history: History) -> Iterator[doc.Paragraph]:
    """Yield why releases were not run."""
    for release in history.releases:
        if release.problem:
            yield doc.Paragraph(doc.Span(f"{release.version} not run: {release.problem}", "warn"))
    skipped = [r.version for r in history.releases if not (r.ran or r.problem)]
    if skipped:
        yield doc.Paragraph(
            f"Not run, since the same vectors fail before and after: {listed(skipped)}"
        )


def _by_release(history: History) -> doc.Table:
    """Return how many vectors of each finding fail in each release."""
    rows: Iterable[doc.Row] = (
        (
            finding.group.title,
            *(doc.Span(f"{n:,}", "bad") if n else doc.Span("-", "quiet") for n in finding.failing),
        )
        for finding in history.findings
    )
    columns: doc.Columns = ("failures", *(doc.Column(release.version) for release in history.ran))
    return doc.table(columns, rows)


def _changed(finding: Finding) -> doc.Item:
    group = finding.group
    shared: list[str | doc.Span] = []
    if group.shared:
        shared = [", all with ", *shared_blocks.codes(group.shared, last=" and ")]
    text = (f"{group.title}, {words.count(len(group.ids), 'vector')}", *shared)
    return doc.Item(text, tuple(map(_change, finding.changes)))


def _change(change: Change) -> doc.Item:
    """Return what came or went, with an example."""
    verb = "came" if change.came else "went"
    vectors = words.count(len(change.ids), "vector")
    other = f"{words.tally(change.others)} in {change.before if change.came else change.version}"
    text = f"{verb} in {change.version}, after {change.before}: {vectors} ({other})"
    example = doc.Item(("example ", doc.code(change.ids[0])), copied=True)
    return doc.Item(doc.Span(text, "bad" if change.came else "good"), (example,))
