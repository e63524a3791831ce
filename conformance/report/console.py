"""A report for the terminal, in 80 columns; the last line is the verdict on the whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import isfinite

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.check.report import (
    VERDICTS,
    ClauseReport,
    Report,
    Result,
    UndefinedReport,
    Verdict,
    Worst,
)
from conformance.dtypes import FLOATS
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
_HALVES = FLOATS[:2]


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
        _causes(report),
        *_failures(report, repro, max_shown),
        verdict(report),
    ]
    spaced = [each for part in parts if part is not None for each in (part, Text())]
    return Group(*spaced[:-1])


def verdict(report: Report) -> Text:
    """Return the sentence that says whether the backend conforms, with its denominators."""
    run, total = len(report.results), len(report.results) + report.not_run
    if report.ok:
        said = f"{report.counts['conforms']:,} of {total:,} vectors conform"
        asides = [
            f"{report.counts['unsupported']:,} unsupported" if report.counts["unsupported"] else "",
            f"{report.not_run:,} not run" if report.not_run else "",
        ]
        return _line(", ".join(filter(None, [f"CONFORMS: {said}", *asides])), "bold green")
    word = "DOES NOT CONFORM" if report.complete else "DOES NOT CONFORM, INCOMPLETE"
    problems = [*report.problems]
    if report.counts["unsupported"]:
        problems.append(f"{report.counts['unsupported']:,} unsupported")
    said = f"{'; '.join(problems)}; {run:,} of {total:,} vectors run"
    return _line(f"{word}: {said}", "bold red")


def _line(text: str, style: str = "") -> Text:
    """Return text that keeps its line breaks, however narrow the terminal."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def _table(*headers: str, title: str = "") -> Table:
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
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
    times = f"{report.seconds:.2f} s, {report.backend_seconds:.2f} s of it in the backend"
    lines.append(Text(f"tier {report.tier}, {times}", "dim"))
    if report.required:
        pins = [f"{clause}={reading}" for clause, reading in report.required.items()]
        lines.append(Text(f"required: {', '.join(pins)}"))
    return Group(*lines)


def _counts(report: Report) -> RenderableType:
    shown = [v for v in VERDICTS if v in _ALWAYS or report.counts[v]]
    table = _table("operator", "run", *(v.replace("-", "\n") for v in shown), "not\nrun")
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


def _left_out(report: Report) -> Text | None:
    """Say what was not run and why."""
    unreached = sum(used.selected for used in report.vectors) - len(report.results)
    deselected = report.not_run - unreached
    text = Text()
    if deselected:
        text.append(f"{words.count(deselected, 'vector')} left out by operator, tier or selection")
    if unreached > 0 or not report.complete:
        text.append("\n" if text else "")
        text.append(
            f"INCOMPLETE: {words.count(unreached, 'selected vector')} never reached", "bold red"
        )
    return text or None


def _readings(report: Report) -> RenderableType | None:
    if not report.readings:
        return None
    table = _table(title="Readings followed")
    for clause in report.readings:
        name = Text(f"  {clause.clause}")
        if clause.clause in report.required:
            name.append(" (required)", "dim")
        table.add_row(name, _followed(clause))
    return Group(table, *_element_type(report))


def _followed(clause: ClauseReport) -> Text:
    touched = words.count(clause.touched, "vector")
    counts = ", ".join(f"{reading} {n:,}" for reading, n in clause.counts.items())
    match clause.status:
        case "followed":
            telling = clause.counts.get(clause.followed or "", 0)
            text = Text(clause.followed or "", "bold")
            return text.append(f"  shown by {telling:,} of {touched}", "dim")
        case "either":
            return Text(f"either: nothing separates them in {touched}", "dim")
        case "split":
            readings = dict.fromkeys(clause.values.values())
            where = {r: [v for v, name in clause.values.items() if name == r] for r in readings}
            text = Text(f"split by {clause.by}: ", "bold")
            return text.append(", ".join(f"{r} for {words.list_of(v)}" for r, v in where.items()))
        case "inconsistent":
            return Text(f"INCONSISTENT: {counts}, of {touched}", "bold red")


def _element_type(report: Report) -> Iterator[RenderableType]:
    """Say loudly which types are summed in the element type itself."""
    loose = {"accumulator": "element-type"}
    if not any(
        clause.clause in loose
        and loose[clause.clause] in (clause.followed, *clause.values.values())
        for clause in report.readings
    ):
        return
    needing = {
        result.dtype
        for result in report.results
        if result.readings and all(loose.items() <= taken.items() for taken in result.readings)
    }
    halves = [dtype for dtype in _HALVES if dtype in needing]
    others = sorted(needing.difference(_HALVES))
    # A wrong answer may happen to fit the loose reading: only a backend without any is warned.
    if halves and not report.counts["mismatch"]:
        text = (
            f"WARNING: sums of {words.list_of(halves)} are kept in the element type and overflow "
            "or stagnate; many projects treat that as a bug."
        )
        yield _indented(Text(text, "bold yellow"))
    if others:
        text = f"Sums of {words.list_of(others)} overflow where the average does not."
        yield _indented(Text(text, "yellow"))


def _causes(report: Report) -> RenderableType | None:
    """Say what reproduces the failures."""
    if not report.diagnoses:
        return None
    parts: list[RenderableType] = [Text("Likely causes", "bold")]
    for each in report.diagnoses:
        parts.append(_indented(Text(f"{each.summary}.", "cyan" if each.faults else "yellow")))
        asides = [f"fault {' + '.join(each.faults)}"] if each.faults else []
        if each.alternatives:
            asides.append(f"not told apart from {', '.join(each.alternatives)}")
        if each.contradicted:
            asides.append(
                f"{each.contradicted} of {each.conforming} conforming vectors speak against it"
            )
        asides += [f"public report of the kind: {thread}" for thread in each.threads[:2]]
        parts += [Padding(Text(aside, "dim"), (0, 0, 0, 4)) for aside in asides]
    return Group(*parts)


def _undefined(report: Report) -> RenderableType | None:
    if not report.undefined:
        return None
    table = _table(title="Where the documents define nothing")
    for each in report.undefined:
        table.add_row(f"  {each.clause}", _behaviour(each))
    return table


def _behaviour(undefined: UndefinedReport) -> Text:
    ordered = sorted(undefined.counts.items(), key=lambda item: -item[1])
    return Text(", ".join(f"{behaviour} {n:,}" for behaviour, n in ordered))


def _accuracy(report: Report) -> RenderableType | None:
    if not report.accuracy:
        return None
    headers = ("  dtype", "elements", "correctly rounded", "worst ulp", "worst / bound")
    table = _table(*headers, title="Accuracy of averages that conform")
    for each in report.accuracy:
        table.add_row(
            f"  {each.dtype}",
            f"{each.elements:,}",
            f"{100 * each.correctly_rounded:.2f} %",
            f"{each.worst_ulp:.3g}",
            f"{each.worst_of_bound:.3g}",
        )
    return table


def _failures(report: Report, repro: Repro | None, max_shown: int) -> Iterator[RenderableType]:
    groups = failure_groups(report)
    for group in groups[:max_shown]:
        yield _failure(group, repro)
    rest = groups[max_shown:]
    if rest:
        vectors = words.count(sum(len(group.results) for group in rest), "more failing vector")
        yield Text(f"… and {vectors} in {words.count(len(rest), 'group')} (--max-shown)", "dim")


def _failure(group: FailureGroup, repro: Repro | None) -> RenderableType:
    number, example = len(group.results), group.example
    title = Text(f"{group.operator}: {group.kind} in {words.count(number, 'vector')}", "bold red")
    if group.shared and number > 1:
        title.append(f", all with {words.list_of(group.shared)}")
        title.append(f"\n  {number:,} of the {group.alike:,} such vectors that were run", "dim")
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in _facts(example):
        table.add_row(name, value)
    parts: list[RenderableType] = [title, _line(f"  {example.id}", "bold"), _indented(table)]
    if repro is not None:
        # At the left edge, so that the lines can be pasted as they are.
        parts += [_line("# to see it again", "dim"), _line(repro(example)), _line("# end", "dim")]
    return Group(*parts)


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2), expand=False)


def _facts(result: Result) -> Iterator[tuple[str, Text]]:
    attributes = [words.attribute(name, value) for name, value in result.attributes.items()]
    if attributes:
        yield "attributes", Text("  ".join(attributes))
    data = [f"{result.dtype} {words.shape(result.shapes[0])}"] if result.shapes else []
    yield "data", Text(", ".join(filter(None, [*data, result.pattern])))
    if result.source:
        yield "source", Text(f"{result.source} ({result.provenance})")
    if result.clauses:
        yield "clauses", Text(", ".join(result.clauses))
    yield "what", Text(result.detail, "red")
    if result.worst is not None:
        yield from _worst(result.worst, result.dtype)


def _element(index: tuple[int, ...], got: float, expected: float, dtype: str) -> Text:
    place = ", ".join(map(str, index))
    said = f"[{place}] is {words.exact(got, dtype)}, expected "
    return Text.assemble(said, (words.exact(expected, dtype), "bold"))


def _worst(worst: Worst, dtype: str) -> Iterator[tuple[str, Text]]:
    if worst.first_index not in {(), worst.index}:
        yield "first", _element(worst.first_index, worst.first_got, worst.first_expected, dtype)
    yield "worst", _element(worst.index, worst.got, worst.expected, dtype)
    if isfinite(worst.error):
        ulps = f" ({worst.ulp:.3g} ulp)" if dtype in FLOATS and isfinite(worst.ulp) else ""
        yield "error", Text(f"{worst.error:.3g}{ulps}, allowed {worst.bound:.3g}")
