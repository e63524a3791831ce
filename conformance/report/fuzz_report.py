"""The report of a search for failures: the smallest case per cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from conformance.fuzz import Finding, FuzzReport
from conformance.judging.failure_kinds import kind_of
from conformance.record.report import VERDICTS, ClauseReport
from conformance.report import document as doc
from conformance.report import shared_blocks
from conformance.report import values as words

Repro = Callable[[Finding], str]


def describe(
    report: FuzzReport, *, repro: Repro | None = None, saved: Sequence[Path] = ()
) -> doc.Document:
    """Describe the findings of a search; `repro` makes a script per finding, `saved` are files."""
    findings = doc.Series(
        (0,) * len(report.findings),
        lambda number: _finding(number + 1, report.findings[number], repro),
        "vector",
        "finding",
    )
    return doc.Document(
        footer=doc.FOOTER,
        title="Search for failures",
        subject=("backend", report.backend),
        conclusion=_conclusion(report),
        tone="good" if report.ok else "bad",
        sections=(
            doc.Section("", (_searched(report),), name="search"),
            doc.Section("", (findings,), name="findings"),
            _extensions(report),
            *(_inconsistent(clause, report) for clause in report.inconsistent),
            _readings(report),
            doc.Section("", tuple(_saved(saved)), name="saved"),
        ),
    )


def _searched(report: FuzzReport) -> doc.Facts:
    """Return how many cases were drawn and run, and what came out."""
    drawn = f"{words.count(report.examples, 'case')} drawn"
    if report.shrinking:
        drawn += f", {report.shrinking:,} more to make failures smaller"
    counts = {verdict: report.counts[verdict] for verdict in VERDICTS}
    rows: list[tuple[str, doc.Text]] = [
        ("seed", str(report.seed)),
        ("search", f"{report.seconds:.1f} s, {drawn}"),
        ("verdicts", words.tally(counts) or "nothing was run"),
    ]
    not_run = {
        "the error bound says nothing of so many addends": report.unjudged,
        "they are like one that crashed or hung": report.avoided,
    }
    rows += [
        ("not run", f"{words.count(number, 'case')}: {why}")
        for why, number in not_run.items()
        if number
    ]
    if report.stopped:
        rows.append(("stopped", doc.Span(report.stopped, "warn")))
    return doc.Facts(tuple(rows))


def _finding(number: int, finding: Finding, repro: Repro | None) -> doc.Part:
    id_, facts, *again = shared_blocks.failure(
        finding.result, repro(finding) if repro is not None else ""
    )
    blocks: list[doc.Block] = [id_, facts]
    if finding.diagnosis is not None:
        cause = shared_blocks.cause(finding.diagnosis)
        said: doc.Text = ("Likely cause: ", *doc.spans(cause.text))
        blocks.append(doc.Items((doc.Item(said, cause.items),)))
    if not finding.steady:
        unsteady = "It did not fail when called again: answers vary, or depend on earlier calls."
        blocks.append(doc.Paragraph(doc.Span(unsteady, "warn")))
    if not finding.smallest:
        unfinished = "Time was up while it was being made smaller: this is the smallest so far."
        blocks.append(doc.Paragraph(doc.Span(unfinished, "warn")))
    title = f"{number}. {finding.result.operator}: {kind_of(finding.result)}"
    return doc.Part(title, (*blocks, *again))


def _extensions(report: FuzzReport) -> doc.Section | None:
    if not report.extensions:
        return None
    table = shared_blocks.extensions(report.extensions)
    return doc.Section("Extensions", (table,), name="extensions")


def _inconsistent(clause: ClauseReport, report: FuzzReport) -> doc.Section:
    vectors = report.witnesses.get(clause.clause, ())
    ids = doc.listing(doc.code(vector.case.id) for vector in vectors)
    return doc.Section(
        f"{clause.clause}: the backend follows no one reading",
        (doc.Paragraph("Each of these vectors needs another reading:"), ids),
        name=f"inconsistent-{clause.clause}",
        tone="bad",
    )


def _readings(report: FuzzReport) -> doc.Section:
    readings = shared_blocks.readings(report.readings, {})
    return doc.Section("Readings followed", (readings,), name="readings")


def _saved(paths: Sequence[Path]) -> Iterator[doc.Block]:
    for path in paths:
        yield doc.Paragraph(f"saved in {path}; run it with conformance check BACKEND {path}")


def _conclusion(report: FuzzReport) -> doc.Conclusion:
    cases = words.count(report.examples, "case")
    causes, clauses = len(report.findings), len(report.inconsistent)
    if report.ok:
        return doc.Conclusion(f"NOTHING FOUND in {cases}")
    if not causes and not clauses:
        if report.counts.total():
            sentence = f"the backend supports none of {cases}"
            return doc.Conclusion("NOTHING WAS COMPUTED", sentence)
        return doc.Conclusion(f"NOTHING WAS RUN of {cases}")
    said = [words.count(causes, "cause")] if causes else []
    said += [f"{words.count(clauses, 'clause')} with inconsistent readings"] if clauses else []
    return doc.Conclusion(f"FOUND {' and '.join(said)} in {cases}")
