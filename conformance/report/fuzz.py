"""What a search found, for the terminal, in 80 columns; the last line is the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.check.report import VERDICTS, ClauseReport
from conformance.fuzz import Finding, FuzzReport
from conformance.report import sentences
from conformance.report import values as words
from conformance.report.groups import kind_of

Repro = Callable[[Finding], str]


def render(
    report: FuzzReport, *, repro: Repro | None = None, saved: Sequence[Path] = ()
) -> RenderableType:
    """Return what a search found: `repro` makes a script of each, `saved` are files written."""
    parts = [
        _heading(report),
        *(_finding(number, each, repro) for number, each in enumerate(report.findings, 1)),
        *(_inconsistent(clause, report) for clause in report.inconsistent),
        _readings(report),
        *_saved(saved),
        _verdict(report),
    ]
    spaced = [each for part in parts if part is not None for each in (part, Text())]
    return Group(*spaced[:-1])


def _heading(report: FuzzReport) -> RenderableType:
    counts = [f"{report.counts[v]:,} {v}" for v in VERDICTS if report.counts[v]]
    drawn = f"{words.count(report.examples, 'case')} drawn"
    if report.shrinking:
        drawn += f", {report.shrinking:,} more to make failures smaller"
    lines = [
        Text.assemble("backend ", (report.backend, "bold")),
        Text(f"seed {report.seed}, {report.seconds:.1f} s, {drawn}", "dim"),
        Text(f"run once each: {', '.join(counts) or 'nothing'}", "dim"),
    ]
    if report.unjudged:
        said = f"{words.count(report.unjudged, 'case')} not run: the bound says nothing of them"
        lines.append(Text(said, "dim"))
    if report.avoided:
        said = f"{words.count(report.avoided, 'case')} not run: like a crash or hang found before"
        lines.append(Text(said, "dim"))
    if report.stopped:
        lines.append(Text(f"stopped: {report.stopped}", "yellow"))
    return Group(*lines)


def _finding(number: int, finding: Finding, repro: Repro | None) -> RenderableType:
    result = finding.result
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in sentences.facts(result):
        table.add_row(name, Text(value, "red" if name == "what" else ""))
    parts: list[RenderableType] = [
        Text(f"{number}. {result.operator}: {kind_of(result)}", "bold red"),
        Text(f"  {result.id}", "bold", no_wrap=True, overflow="ignore"),
        _indented(table),
        *_cause(finding),
    ]
    if not finding.steady:
        said = "It did not fail when it was called again: answers vary, or depend on earlier calls."
        parts.append(_indented(Text(said, "bold yellow")))
    if not finding.smallest:
        said = "It was being made smaller when time was up: the smallest so far."
        parts.append(_indented(Text(said, "yellow")))
    if repro is not None:
        lines = ("# to see it again", repro(finding), "# end")
        parts += [Text(line, no_wrap=True, overflow="ignore") for line in lines]
    return Group(*parts)


def _cause(finding: Finding) -> Iterator[RenderableType]:
    if finding.diagnosis is None:
        return
    said = f"Likely cause: {finding.diagnosis.summary}."
    yield _indented(Text(said, "cyan"))
    for aside in sentences.cause_asides(finding.diagnosis):
        yield Padding(Text(aside, "dim"), (0, 0, 0, 4), expand=False)


def _inconsistent(clause: ClauseReport, report: FuzzReport) -> RenderableType:
    title = Text(f"{clause.clause}: the backend follows no one reading", "bold red")
    lines = [
        Text(f"  {vector.case.id}", no_wrap=True, overflow="ignore")
        for vector in report.witnesses.get(clause.clause, ())
    ]
    return Group(title, Text("  each of these needs another:"), *lines)


def _readings(report: FuzzReport) -> RenderableType | None:
    if not report.readings:
        return None
    table = Table.grid(padding=(0, 2))
    table.title, table.title_justify, table.title_style = "Readings followed", "left", "bold"
    for clause in report.readings:
        said, _ = sentences.followed(clause)
        table.add_row(f"  {clause.clause}", Text(said or clause.status))
    return table


def _saved(paths: Sequence[Path]) -> Iterator[RenderableType]:
    for path in paths:
        yield Text(f"saved in {path}; run it with conformance check BACKEND {path}")


def _verdict(report: FuzzReport) -> RenderableType:
    causes, clauses = len(report.findings), len(report.inconsistent)
    if report.ok:
        return Text(f"NOTHING FOUND in {words.count(report.examples, 'case')}", "bold green")
    if not causes and not clauses:
        return Text("NOTHING WAS RUN: the backend supports none of what was drawn", "bold red")
    said = [words.count(causes, "cause")] if causes else []
    said += [f"{words.count(clauses, 'clause')} with inconsistent readings"] if clauses else []
    return Text(f"FOUND {' and '.join(said)} in {words.count(report.examples, 'case')}", "bold red")


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2), expand=False)
