"""A comparison for the terminal, in as many columns as it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.check.report import FAILURES
from conformance.compare.comparison import Compared, Comparison
from conformance.dtypes import FLOATS
from conformance.operators import CLAUSES
from conformance.report import compare_words as say


def render(comparison: Comparison, *, width: int = 80) -> RenderableType:
    """Return a comparison for a terminal of some width."""
    parts: list[RenderableType] = [_summary(comparison)]
    parts += _matrix(comparison, width)
    parts += _readings(comparison)
    parts += _undefined(comparison)
    parts += _accuracy(comparison)
    parts += _causes(comparison)
    spaced = [each for part in parts for each in (part, Text())]
    return Group(Text(say.heading(comparison)), Text(), *spaced[:-1])


class _Items:
    """A list that goes on in the next line between its items, not within one that fits."""

    def __init__(self, items: Sequence[str], mark: str) -> None:
        self._items = [*(f"{item}{mark}" for item in items[:-1]), *items[-1:]]

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        line = ""
        for item in self._items:
            if line and cell_len(line) + 1 + cell_len(item) > options.max_width:
                yield Text(line)
                line = item
            else:
                line = f"{line} {item}" if line else item
        yield Text(line)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, Text(" ".join(self._items)))


def _table(*headers: str) -> Table:
    table = Table(
        header_style="dim",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left", overflow="fold")
    return table


def _titled(title: str, *content: RenderableType) -> Group:
    return Group(Text(title, "bold"), *content)


def _summary(comparison: Comparison) -> RenderableType:
    shown = say.verdicts(comparison)
    table = _table("backend", "version", *(v.replace("-", "\n") for v in shown), "per\nvector")
    for each in comparison.ran:
        cells = [
            Text(f"{each.total[v]:,}", "bold red" if v in FAILURES and each.total[v] else "")
            for v in shown
        ]
        time = say.duration(each.seconds_per_vector)
        table.add_row(Text(each.backend, "bold"), each.version, *cells, time)
    missing = [
        Text(f"{each.backend} not run: {each.problem}", "yellow") for each in comparison.missing
    ]
    parts: list[RenderableType] = [table] if comparison.ran else []
    parts += [Text()] if parts and missing else []
    return Group(*parts, *missing)


def _matrix(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    """Yield tables of operators and element types, with as many backends each as fit."""
    rows: list[tuple[str, list[say.Share]]] = []
    for operator, types in comparison.cells():
        rows.append((operator, [say.share(each.of_operator(operator)) for each in comparison.ran]))
        for name in say.types_of(types):
            counts = [each.of_type(operator, name) for each in comparison.ran]
            rows.append((f"  {name}", [say.share(count) for count in counts]))
    first = max((cell_len(name) for name, _ in rows), default=0)
    for start, stop in _fitting(comparison.ran, rows, width - first):
        table = _table("", *(each.backend for each in comparison.ran[start:stop]))
        for name, shares in rows:
            style = "" if name.startswith(" ") else "bold"
            table.add_row(Text(name, style), *(_share(each) for each in shares[start:stop]))
        yield _titled("Conforming, of the vectors that the backend supports", table)


def _fitting(
    ran: Sequence[Compared], rows: Sequence[tuple[str, list[say.Share]]], room: int
) -> Iterator[tuple[int, int]]:
    start, left = 0, room
    for number, each in enumerate(ran):
        cells = [cell_len(str(shares[number])) for _, shares in rows]
        needed = 2 + max(cell_len(each.backend), *cells)
        if needed > left and number > start:
            yield start, number
            start, left = number, room
        left -= needed
    if ran:
        yield start, len(ran)


def _share(found: say.Share) -> Text:
    if not found.supported:
        return Text(str(found), "dim")
    return Text(str(found), "green" if found.whole else "bold red")


def _readings(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield, for each clause, who follows which reading."""
    lines: list[RenderableType] = []
    for name in CLAUSES:
        who: dict[str, list[str]] = {}
        for each in comparison.ran:
            for clause in each.readings:
                if clause.clause == name:
                    for reading, where in say.followed(clause).items():
                        values = f" ({where})" if where else ""
                        who.setdefault(reading, []).append(f"{each.backend}{values}")
        if who:
            table = Table.grid(padding=(0, 2))
            table.add_column(no_wrap=True)
            for reading, names in who.items():
                style = "bold red" if reading == "inconsistent" else ""
                table.add_row(Text(f"    {reading}", style), _Items(names, ","))
            lines += [Text(f"  {name}"), table]
    if lines:
        yield _titled("Readings followed", *lines)


def _undefined(comparison: Comparison) -> Iterator[RenderableType]:
    lines: list[RenderableType] = []
    for name in CLAUSES:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        for each in comparison.ran:
            for clause in each.undefined:
                if clause.clause == name:
                    table.add_row(f"    {each.backend}", _Items(say.behaviour(clause.counts), ","))
        if table.row_count:
            lines += [Text(f"  {name}"), table]
    if lines:
        yield _titled("Where the documents define nothing", *lines)


def _accuracy(comparison: Comparison) -> Iterator[RenderableType]:
    measured = {each.backend: {a.dtype: a for a in each.accuracy} for each in comparison.ran}
    types = [name for name in FLOATS if any(name in found for found in measured.values())]
    if not types:
        return
    table = _table("", *types)
    for name, found in measured.items():
        cells = [
            f"{found[t].correctly_rounded:.1%} {found[t].worst_ulp:.3g}" if t in found else "-"
            for t in types
        ]
        table.add_row(Text(name, "bold"), *cells)
    yield _titled("Averages that conform: share correctly rounded, worst error in ulp", table)


def _causes(comparison: Comparison) -> Iterator[RenderableType]:
    lines: list[RenderableType] = []
    for each in comparison.ran:
        wrong = say.failures(each)
        if wrong:
            lines.append(Text(f"  {each.backend}", "bold"))
            lines.append(_below(_Items(wrong, ";")))
            lines += [_below(Text(cause, "cyan")) for cause in say.causes(each)]
    if lines:
        yield _titled("Failures and their likely causes", *lines)


def _below(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 4))
