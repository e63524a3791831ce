"""A drawing as lines of text: windows as bars along two edges of a grid, one region outlined."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from conformance.report import document as doc
from conformance.report.document import Span, Tone
from conformance.report.drawing import Axis, Drawing, Grid

_Cell = Callable[[int, int], tuple[str, Tone]]
"""Returns text and tone of the cell at a row and a column."""
Places = list[int | None]
"""The positions drawn along an axis, None for a mark that some are left out."""

_LANES = 4  # bars that lie side by side
_FEWEST = 7  # places for both ends, both edges of the outline, and the marks between them
_LINES = 26  # with the texts around them, the grids fit a terminal of 40 lines
_ROWS = ((16, 16), (12, 8), (10, 7))
"""Rows of cells in grids of sources and of results; the first pair that fits is used."""
_FLAT = Axis(1)


def blocks(drawing: Drawing, width: int) -> Iterator[doc.Block]:
    """Yield a drawing about `width` wide, and what is said of it."""
    yield doc.Drawing(_picture(drawing, width).lines())
    yield doc.Paragraph("")
    yield from map(doc.Paragraph, _said(drawing))


def as_text(drawing: Drawing, width: int) -> str:
    """Return the same as plain text."""
    lines = [*_picture(drawing, width).lines(), "", *_said(drawing)]
    return "\n".join(map(doc.plain, lines))


def _said(drawing: Drawing) -> Iterator[doc.Text]:
    yield from drawing.said
    legend: list[str | Span] = []
    for mark in drawing.legend:
        between = "   " if mark is not drawing.legend[-1] else ""
        legend += [Span(mark.glyph, mark.tone), f" {mark.meaning}{between}"]
    if legend:
        yield tuple(legend)


def _picture(drawing: Drawing, width: int) -> Sheet:
    """Draw the axes that are not part of a plane, and the grids below."""
    picture = Sheet()
    for grid in drawing.sources:
        for number, axis in enumerate(grid.axes[: -grid.drawn]):
            if axis.windows:
                picture.paste(_draw_axis(grid, number, width), picture.height, 0)
                picture.new_line()
    for sources, results in _ROWS:
        grids = side_by_side(
            [
                *(draw_grid(grid, width=width, height=sources) for grid in drawing.sources),
                *(draw_grid(grid, width=width, height=results) for grid in drawing.results),
            ],
            width=width,
        )
        if picture.height + grids.height <= _LINES:
            break
    picture.paste(grids, picture.height, 0)
    return picture


def _draw_axis(grid: Grid, number: int, width: int) -> Sheet:
    """Draw an axis that is not part of the plane: its windows and the position of the plane."""
    axis, shown = grid.axes[number], grid.lead[2 + number]

    def cell(_p: int, q: int) -> tuple[str, Tone]:
        mark = axis.beside(q)
        return (mark.glyph, mark.tone) if mark else ("▲" if q == shown else " ", "strong")

    title = f"axis {2 + number}: the plane at {shown}"
    rows, columns = _View(_FLAT), _View(axis, grid.chosen[number])
    return _draw(title, rows, columns, cell, width=width, height=1, box=False)


def draw_grid(grid: Grid, *, width: int, height: int) -> Sheet:
    """Return a drawing about `width` wide that shows at most `height` rows of cells."""
    *above, columns = map(_View, grid.axes[-2:], grid.chosen[-2:])
    rows = above[0] if above else _View(_FLAT)
    return _draw(grid.title, rows, columns, grid.cell, width=width, height=height)


def places(axis: Axis, chosen: int, room: int) -> Places:
    """Return what to draw of an axis in `room` places (at least 7).

    The ends of the axis and the edges of a window stay, with as much around them as fits.
    """
    low, high = axis.low, axis.high
    if high - low <= room:
        return list(range(low, high))
    room = max(room, _FEWEST)
    start, stop = axis.span(chosen)
    shown: set[int] = set()
    for away in range(room):
        inward = (start + away, stop - 1 - away, low + away, high - 1 - away)
        for position in (*inward, start - away, stop - 1 + away):
            if low <= position < high and len(_marked({*shown, position})) <= room:
                shown.add(position)
    return _marked(shown)


def _marked(positions: set[int]) -> Places:
    """Return positions in order, with a mark for each gap."""
    ordered = sorted(positions)
    marked: Places = [*ordered[:1]]
    for before, position in pairwise(ordered):
        if position - before == 2:  # a single cell takes no more room than the mark
            marked.append(position - 1)
        elif position - before > 2:
            marked.append(None)
        marked.append(position)
    return marked


def _draw(
    title: str,
    rows: _View,
    columns: _View,
    cell: _Cell,
    *,
    width: int,
    height: int,
    box: bool = True,
) -> Sheet:
    """Return a drawing of a plane; without a `box` only the sides of the outline are drawn."""
    down = rows.within(height)
    lanes = down.lanes()
    lane = 1 + max((len(str(number)) for bars in lanes for number in bars), default=0)
    left = len(lanes) * lane + max(map(len, down.names))
    wide = columns.within((width - left - 1) // 2)
    texts = [text for line in _cells(cell, down, wide) for text, _ in line]
    size = max(map(len, [*texts, *wide.names]))
    across = columns.within((width - left - 1) // (size + 1), left + 1, size)

    sheet = Sheet()
    sheet.put(sheet.new_line(), 0, title, "title")
    _draw_bars(sheet, across)
    y = sheet.new_line()
    for x, name in zip(across.xs, across.names, strict=True):
        sheet.put(y, x, name.rjust(size), "quiet")
    ys = _draw_cells(sheet, cell, down, across, box=box)
    for y, name in zip(ys, down.names, strict=True):
        sheet.put(y, left - len(name), name, "quiet")
    _draw_posts(sheet, down, lanes, lane, ys)
    return sheet


@dataclass(frozen=True, slots=True)
class _View:
    """An axis with the window that is outlined, and what is shown of it; where and how wide."""

    axis: Axis
    chosen: int = 0
    shown: Places = field(default_factory=list)
    left: int = 0
    size: int = 0

    def within(self, room: int, left: int = 0, size: int = 0) -> _View:
        """Return what is shown in so many places, each `size` wide, the first at `left`."""
        return _View(self.axis, self.chosen, places(self.axis, self.chosen, room), left, size)

    @property
    def outline(self) -> tuple[int, int]:
        """Start and stop of the window that is outlined."""
        return self.axis.span(self.chosen)

    @property
    def xs(self) -> list[int]:
        return [self.left + number * (self.size + 1) for number in range(len(self.shown))]

    @property
    def names(self) -> list[str]:
        if self.axis is _FLAT:
            return [""] * len(self.shown)
        return ["…" if position is None else str(position) for position in self.shown]

    def extent(self, window: tuple[int, int]) -> tuple[int, int]:
        """Return the first and the last of the places that lie in a window; some do."""
        start, stop = window
        within = [i for i, p in enumerate(self.shown) if p is not None and start <= p < stop]
        return within[0], within[-1]

    def ends_shown(self, number: int) -> tuple[bool, bool]:
        """Say whether the first and the last cell of a window are shown."""
        start, stop = self.axis.windows[number]
        return start in self.shown, stop - 1 in self.shown

    def tone(self, number: int) -> Tone:
        """Return the tone of the bar of a window."""
        return "chosen" if number == self.chosen else "window"

    def lanes(self) -> list[list[int]]:
        """Sort the windows that can be seen into lanes without overlap, the chosen one first."""
        positions = [p for p in self.shown if p is not None]
        windows = self.axis.windows
        seen = [
            number
            for number, (start, stop) in enumerate(windows)
            if bisect_left(positions, start) < bisect_left(positions, stop)
        ]
        lanes: list[list[int]] = []
        for number in sorted(seen, key=lambda number: number != self.chosen):
            start, stop = windows[number]
            for lane in lanes:
                if all(windows[n][0] >= stop or windows[n][1] <= start for n in lane):
                    lane.append(number)
                    break
            else:
                if len(lanes) < _LANES:
                    lanes.append([number])
        return lanes


def _cells(cell: _Cell, down: _View, across: _View) -> list[list[tuple[str, Tone]]]:
    def shown(p: int | None, q: int | None) -> tuple[str, Tone]:
        if p is None or q is None:
            return ("⋮" if q is not None else "…" if p is not None else " "), "quiet"
        return cell(p, q)

    return [[shown(p, q) for q in across.shown] for p in down.shown]


def _draw_bars(sheet: Sheet, across: _View) -> None:
    """Draw windows above the columns; an end that is not shown stays open."""
    xs, size = across.xs, across.size
    for bars in across.lanes():
        y = sheet.new_line()
        for number in bars:
            first, last = across.extent(across.axis.windows[number])
            room, label = xs[last] + size - xs[first], str(number)
            if room >= len(label) + 2:
                start, stop = across.ends_shown(number)
                middle = label.center(room - 2, "─")
                label = f"{'├' if start else '╌'}{middle}{'┤' if stop else '╌'}"
            sheet.put(y, xs[first], label.center(room), across.tone(number))


def _draw_cells(sheet: Sheet, cell: _Cell, down: _View, across: _View, *, box: bool) -> list[int]:
    """Draw cells and the outline; return the line of each row."""
    xs, size = across.xs, across.size
    top, bottom = down.extent(down.outline)
    first, last = across.extent(across.outline)
    begin, end = xs[first] - 1, xs[last] + size
    ys: list[int] = []
    for i, line in enumerate(_cells(cell, down, across)):
        if box and i == top:
            sheet.put(sheet.new_line(), begin, f"┏{'━' * (end - begin - 1)}┓", "chosen")
        ys.append(sheet.new_line())
        for x, (text, tone) in zip(xs, line, strict=True):
            sheet.put(ys[i], x, text.rjust(size), tone)
        if top <= i <= bottom:
            sheet.put(ys[i], begin, "┃", "chosen")
            sheet.put(ys[i], end, "┃", "chosen")
        if box and i == bottom:
            sheet.put(sheet.new_line(), begin, f"┗{'━' * (end - begin - 1)}┛", "chosen")
    return ys


def _draw_posts(
    sheet: Sheet, down: _View, lanes: list[list[int]], lane: int, ys: Sequence[int]
) -> None:
    """Draw windows left of the rows, `lane` wide each; an end that is not shown stays open."""
    for column, bars in enumerate(lanes):
        x = (column + 1) * lane - 1
        for number in bars:
            first, last = down.extent(down.axis.windows[number])
            start, stop = down.ends_shown(number)
            post = ["│"] * (ys[last] + 1 - ys[first])
            post[-1] = "┴" if stop else "│"
            post[0] = ("╶" if stop and first == last else "┬") if start else post[0]
            for y, glyph in enumerate(post, ys[first]):
                sheet.put(y, x, glyph, down.tone(number))
            sheet.put(ys[first], x - len(str(number)), str(number), down.tone(number))


class Sheet:
    """Lines of characters with their tones, written in any order."""

    def __init__(self) -> None:
        self._lines: list[dict[int, tuple[str, Tone]]] = []

    @property
    def height(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    @property
    def width(self) -> int:
        """How long the longest line is."""
        return 1 + max((max(line, default=-1) for line in self._lines), default=-1)

    def new_line(self) -> int:
        """Add an empty line and return its number."""
        self._lines.append({})
        return len(self._lines) - 1

    def put(self, y: int, x: int, text: str, tone: Tone = "") -> None:
        """Write a text into line `y` from column `x` on."""
        for offset, character in enumerate(text):
            self._lines[y][x + offset] = (character, tone)

    def paste(self, sheet: Sheet, y: int, x: int) -> None:
        """Write another sheet with its first line into line `y`, which may be beyond the last."""
        while self.height < y + sheet.height:
            self.new_line()
        for line, pasted in zip(self._lines[y:], sheet._lines, strict=False):
            line.update({x + place: mark for place, mark in pasted.items()})

    def lines(self) -> tuple[tuple[Span, ...], ...]:
        """Return the lines, each in spans of one tone."""
        return tuple(tuple(self._spans(line)) for line in self._lines)

    @staticmethod
    def _spans(line: dict[int, tuple[str, Tone]]) -> Iterator[Span]:
        marks = (line.get(x, (" ", "")) for x in range(max(line, default=-1) + 1))
        for tone, alike in groupby(marks, key=lambda mark: mark[1]):
            yield Span("".join(character for character, _ in alike), tone)


def side_by_side(sheets: Iterable[Sheet], *, width: int, gap: int = 4) -> Sheet:
    """Set sheets from left to right while they fit in `width`, the others below."""
    whole = Sheet()
    top = left = 0
    for sheet in sheets:
        if left and left + sheet.width > width:
            whole.new_line()
            top, left = whole.height, 0
        whole.paste(sheet, top, left)
        left += sheet.width + gap
    return whole
