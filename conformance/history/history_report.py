"""What histories show: the releases of each engine, and where failures came and went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.history.findings import FailureHistory, History
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
        f"What came and went in {name}",
        (changes_table(history.findings, [release.version for release in history.ran]),),
        name=f"changes-{number}",
        intro="Failing vectors, grouped as in the report of the newest release that fails them. "
        "The report of a release names them.",
    )


def _heading(history: History) -> str:
    vectors = max((len(release.verdicts) for release in history.ran), default=0)
    return (
        f"{words.count(len(history.ran), 'release')} of {history.package}, "
        f"{words.count(vectors, 'vector')} of tier {history.tier}, {history.platform}"
    )


def _releases(history: History) -> doc.Table:
    """Return the verdicts on each release that was run."""
    given = {verdict for release in history.ran for verdict in release.total}
    verdicts = shared_blocks.verdicts(given)
    columns: doc.Columns = ("release", *map(shared_blocks.verdict_column, verdicts))
    rows: Iterable[doc.Row] = (
        (
            doc.Span(release.version, "strong"),
            *(f"{release.total[verdict]:,}" for verdict in verdicts),
        )
        for release in history.ran
    )
    return doc.table(columns, rows)


def _left_out(history: History) -> Iterator[doc.Paragraph]:
    """Yield why releases were not run."""
    for release in history.releases:
        if release.problem:
            yield doc.Paragraph(doc.Span(f"{release.version} not run: {release.problem}", "warn"))
    if history.left_out:
        yield doc.Paragraph(
            f"Not run, since the same vectors fail before and after: {listed(history.left_out)}"
        )


def changes_table(findings: Iterable[FailureHistory], versions: Sequence[str]) -> doc.Block:
    """Return what came and went, by release, of which the `versions` are in order."""
    changes = [(change, finding.group) for finding in findings for change in finding.changes]
    if not changes:
        return doc.Paragraph("Nothing: the same vectors fail in all of them.")
    changes.sort(key=lambda each: (versions.index(each[0].version), not each[0].came))
    columns: doc.Columns = ("in", "after", "", "failures", doc.Column("vectors"), "otherwise")
    rows: Iterable[doc.Row] = (
        (
            doc.Span(change.version, "strong"),
            change.before,
            doc.Span("came", "bad") if change.came else doc.Span("went", "good"),
            group.title,
            f"{len(change.ids):,}",
            words.tally(change.others),
        )
        for change, group in changes
    )
    return doc.table(columns, rows)
