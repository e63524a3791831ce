"""A report for the terminal, in 80 columns; the last line is the verdict on the whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.check.report import VERDICTS, ClauseReport, Report, Result, Verdict
from conformance.report import sentences
from conformance.report import values as words
from conformance.report.groups import FailureGroup, failure_groups

Repro = Callable[[Result], str]

_COLOURS: dict[Verdict, str] = {
    "conforms": "green",
    "mismatch": "bold red",
    "error": "bold red",
    "crashed": "bold red",
    "timed-out": "bold red",
    "unsupported": "yellow",
}
_ALWAYS = ("conforms", "mismatch", "unsupported")
_NARROW = {"conforms": "con-\nforms", "mismatch": "mis-\nmatch", "unsupported": "unsup-\nported"}
"""Headers of columns where there are so many that 80 characters are few."""


def render(report: Report, *, repro: Repro | None = None, max_shown: int = 5) -> RenderableType:
    """Return a report for a terminal.

    `repro` makes a script that shows a failure again; `max_shown` groups of failures are shown
    with an example.
    """
    parts = [
        _heading(report),
        _counts(report),
        _left_out(report),
        _readings(report),
        _undefined(report),
        _accuracy(report),
        _repeats(report),
        _expectations(report),
        _causes(report),
        *_failures(report, repro, max_shown),
        verdict(report),
    ]
    spaced = [each for part in parts if part is not None for each in (part, Text())]
    return Group(*spaced[:-1])


def verdict(report: Report) -> Text:
    """Return the sentence that says whether the backend conforms, with its denominators."""
    return _line(sentences.verdict(report), "bold green" if report.ok else "bold red")


def _line(text: str, style: str = "") -> Text:
    """Return text that keeps its line breaks, however narrow the terminal."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def _table(*headers: str) -> Table:
    table = Table(
        header_style="dim",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=bool(headers),
    )
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left", no_wrap=True)
    return table


def _heading(report: Report) -> RenderableType:
    lines = [Text.assemble("backend ", (report.backend, "bold"))]
    lines.append(Text(sentences.scope(report), "dim"))
    if report.required:
        lines.append(Text(f"required: {sentences.required(report)}"))
    return Group(*lines)


def _counts(report: Report) -> RenderableType:
    shown = [v for v in VERDICTS if v in _ALWAYS or report.counts[v]]
    crowded = len(shown) > len(_ALWAYS) + 1
    heads = [_NARROW[v] if crowded and v in _NARROW else v.replace("-", "\n") for v in shown]
    table = _table("operator", "run", *heads, "not\nrun")
    totals = {used.operator: used.total for used in report.vectors}
    for operator in dict.fromkeys([*totals, *report.counts_by_operator]):
        counts = report.counts_by_operator.get(operator, Counter[Verdict]())
        run = sum(counts.values())
        cells = [_count(counts.get(v, 0), _COLOURS[v]) for v in shown]
        missing = _count(totals.get(operator, run) - run, "yellow")
        table.add_row(operator, f"{run:,}", *cells, missing)
    if len(totals) > 1:
        cells = [_count(report.counts[v], _COLOURS[v]) for v in shown]
        missing = _count(report.not_run, "yellow")
        table.add_row("all", f"{len(report.results):,}", *cells, missing)
    return table


def _count(number: int, style: str) -> Text:
    return Text(f"{number:,}", style if number else "dim")


def _left_out(report: Report) -> RenderableType | None:
    """Say what was not run and why."""
    deselected, unreached = sentences.left_out(report), sentences.cut_short(report)
    lines = [Text(deselected)] if deselected else []
    lines += [Text(unreached, "bold red")] if unreached else []
    lines += [Text(note, "yellow") for note in sentences.notes(report)]
    return Group(*lines) if lines else None


def _readings(report: Report) -> RenderableType | None:
    if not report.readings:
        return None
    table = _table()
    for clause in report.readings:
        name = Text(f"  {clause.clause}")
        if clause.clause in report.required:
            name.append(" (required)", "dim")
        table.add_row(name, _followed(clause))
    return Group(Text("Readings followed", "bold"), table, *_element_type(report))


def _followed(clause: ClauseReport) -> Text:
    said, aside = sentences.followed(clause)
    text = Text(said, "bold red" if clause.status == "inconsistent" else "bold")
    return text.append(f"{'  ' if said else ''}{aside}", "dim")


def _element_type(report: Report) -> Iterator[RenderableType]:
    """Say loudly which types are summed in the element type itself."""
    warning, remark = sentences.element_types(report)
    if warning:
        yield _indented(Text(warning, "bold yellow"))
    if remark:
        yield _indented(Text(remark, "yellow"))


def _repeats(report: Report) -> RenderableType | None:
    if report.repeated is None:
        return None
    differing, alike = sentences.repeats(report.repeated)
    lines = [Text(differing, "bold red")] if differing else []
    lines += [Text(alike, "dim")] if alike else []
    return Group(*lines) if lines else None


def _expectations(report: Report) -> RenderableType | None:
    if report.expectations is None:
        return None
    unmet = [_indented(Text(said, "bold red")) for said in sentences.unmet(report.expectations)]
    return Group(
        Text("Expected failures", "bold"),
        _indented(Text(sentences.met(report.expectations))),
        *unmet,
    )


def _causes(report: Report) -> RenderableType | None:
    """Say what reproduces the failures."""
    if not report.diagnoses:
        return None
    parts: list[RenderableType] = [Text("Likely causes", "bold")]
    for each in report.diagnoses:
        parts.append(_indented(Text(f"{each.summary}.", "cyan" if each.faults else "yellow")))
        asides = sentences.cause_asides(each)
        asides += [f"public report of the kind: {thread}" for thread in each.threads[:2]]
        parts += [Padding(Text(aside, "dim"), (0, 0, 0, 4)) for aside in asides]
    return Group(*parts)


def _undefined(report: Report) -> RenderableType | None:
    if not report.undefined:
        return None
    table = _table()
    for each in report.undefined:
        table.add_row(f"  {each.clause}", Text(sentences.behaviours(each)))
    return Group(Text("Where the documents define nothing", "bold"), table)


def _accuracy(report: Report) -> RenderableType | None:
    if not report.accuracy:
        return None
    headers = ("  dtype", "elements", "correctly rounded", "worst ulp", "worst / bound")
    table = _table(*headers)
    for each in report.accuracy:
        table.add_row(
            f"  {each.dtype}",
            f"{each.elements:,}",
            f"{100 * each.correctly_rounded:.2f} %",
            f"{each.worst_ulp:.3g}",
            f"{each.worst_of_bound:.3g}",
        )
    return Group(Text("Accuracy of averages that conform", "bold"), table)


def _failures(report: Report, repro: Repro | None, max_shown: int) -> Iterator[RenderableType]:
    groups = failure_groups(report)
    for group in groups[:max_shown]:
        yield _failure(group, repro)
    rest = groups[max_shown:]
    if rest:
        vectors = words.count(sum(len(group.results) for group in rest), "more failing vector")
        yield Text(f"… and {vectors} in {words.count(len(rest), 'group')} (--max-shown)", "dim")


def _failure(group: FailureGroup, repro: Repro | None) -> RenderableType:
    example = group.example
    said, shared, telling = sentences.title(group)
    title = Text(f"{said}, {shared}" if shared else said, "bold red")
    if telling:
        title.append(f"\n  {telling}", "dim")
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")  # what a backend printed may hold long paths
    for name, value in sentences.facts(example):
        table.add_row(name, Text(value, "red" if name == "what" else ""))
    parts: list[RenderableType] = [title, _line(f"  {example.id}", "bold"), _indented(table)]
    script = repro(example) if repro is not None else ""
    if script:
        # At the left edge, so that the lines can be pasted as they are.
        parts += [_line("# to see it again", "dim"), _line(script), _line("# end", "dim")]
    return Group(*parts)


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2), expand=False)
