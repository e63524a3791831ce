"""A plane of cells as lines of text: windows as bars along two edges, one region outlined."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

Cell = Callable[[int, int], tuple[str, str]]
"""Returns text and style of the cell at a row and a column."""
Places = list[int | None]
"""The positions drawn along an axis, None for a mark that some are left out."""

_LANES = 4  # bars that lie side by side
_FEWEST = 7  # places for both ends, both edges of the outline, and the marks between them
_BAR, _CHOSEN, _QUIET = "cyan", "bold green", "dim"


@dataclass(frozen=True, slots=True)
class Axis:
    """The positions low:high of one axis, what to outline, and the windows to draw as bars.

    `outline` is a start:stop within the axis; `windows` are start:stop per output index, the one
    numbered `chosen` drawn like the outline. `named` says whether to write the positions.
    """

    low: int
    high: int
    outline: tuple[int, int]
    windows: tuple[tuple[int, int], ...] = ()
    chosen: int = 0
    named: bool = True


def places(axis: Axis, room: int) -> Places:
    """Return what to draw of an axis in `room` places (at least 7).

    The ends of the axis and the edges of the outline stay, with as much around them as fits.
    """
    if axis.high - axis.low <= room:
        return list(range(axis.low, axis.high))
    room = max(room, _FEWEST)
    start, stop = axis.outline
    found: set[int] = set()
    for away in range(room):
        inward = (start + away, stop - 1 - away, axis.low + away, axis.high - 1 - away)
        for position in (*inward, start - away, stop - 1 + away):
            if axis.low <= position < axis.high and len(_marked({*found, position})) <= room:
                found.add(position)
    return _marked(found)


def _marked(found: set[int]) -> Places:
    ordered = sorted(found)
    marked: Places = [*ordered[:1]]
    for before, position in pairwise(ordered):
        if position - before == 2:  # a single cell takes no more room than the mark
            marked.append(position - 1)
        elif position - before > 2:
            marked.append(None)
        marked.append(position)
    return marked


def draw_grid(rows: Axis, columns: Axis, cell: Cell, *, width: int, height: int) -> list[Text]:
    """Return a drawing about `width` wide that shows at most `height` rows of cells."""
    down = _View(rows, places(rows, height))
    lanes = down.lanes()
    lane = 1 + max((len(str(number)) for bars in lanes for number in bars), default=0)
    left = len(lanes) * lane + max(map(len, down.names))
    wide = _View(columns, places(columns, (width - left - 1) // 2))
    texts = [text for line in _cells(cell, down, wide) for text, _ in line]
    size = max(map(len, [*texts, *wide.names]))
    across = _View(columns, places(columns, (width - left - 1) // (size + 1)), left + 1, size)

    sheet = _Sheet()
    _draw_bars(sheet, across)
    y = sheet.new_line()
    for x, name in zip(across.xs, across.names, strict=True):
        sheet.put(y, x, name.rjust(size), _QUIET)
    ys = _draw_cells(sheet, cell, down, across)
    for y, name in zip(ys, down.names, strict=True):
        sheet.put(y, left - len(name), name, _QUIET)
    _draw_posts(sheet, down, lanes, lane, ys)
    return sheet.lines()


@dataclass(frozen=True, slots=True)
class _View:
    """An axis and what is shown of it; across a line, where and how wide."""

    axis: Axis
    shown: Places
    left: int = 0
    size: int = 0

    @property
    def xs(self) -> list[int]:
        return [self.left + number * (self.size + 1) for number in range(len(self.shown))]

    @property
    def names(self) -> list[str]:
        if not self.axis.named:
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

    def style(self, number: int) -> str:
        """Return the style of the bar of a window."""
        return _CHOSEN if number == self.axis.chosen else _BAR

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
        for number in sorted(seen, key=lambda number: number != self.axis.chosen):
            start, stop = windows[number]
            for lane in lanes:
                if all(windows[n][0] >= stop or windows[n][1] <= start for n in lane):
                    lane.append(number)
                    break
            else:
                if len(lanes) < _LANES:
                    lanes.append([number])
        return lanes


def _cells(cell: Cell, down: _View, across: _View) -> list[list[tuple[str, str]]]:
    def shown(p: int | None, q: int | None) -> tuple[str, str]:
        if p is None or q is None:
            return ("⋮" if q is not None else "…" if p is not None else " "), _QUIET
        return cell(p, q)

    return [[shown(p, q) for q in across.shown] for p in down.shown]


def _draw_bars(sheet: _Sheet, across: _View) -> None:
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
            sheet.put(y, xs[first], label.center(room), across.style(number))


def _draw_cells(sheet: _Sheet, cell: Cell, down: _View, across: _View) -> list[int]:
    """Draw cells and the outline; return the line of each row."""
    xs, size = across.xs, across.size
    top, bottom = down.extent(down.axis.outline)
    first, last = across.extent(across.axis.outline)
    begin, end = xs[first] - 1, xs[last] + size
    ys: list[int] = []
    for i, line in enumerate(_cells(cell, down, across)):
        if i == top:
            sheet.put(sheet.new_line(), begin, f"┏{'━' * (end - begin - 1)}┓", _CHOSEN)
        ys.append(sheet.new_line())
        for x, (text, style) in zip(xs, line, strict=True):
            sheet.put(ys[i], x, text.rjust(size), style)
        if top <= i <= bottom:
            sheet.put(ys[i], begin, "┃", _CHOSEN)
            sheet.put(ys[i], end, "┃", _CHOSEN)
        if i == bottom:
            sheet.put(sheet.new_line(), begin, f"┗{'━' * (end - begin - 1)}┛", _CHOSEN)
    return ys


def _draw_posts(
    sheet: _Sheet, down: _View, lanes: list[list[int]], lane: int, ys: Sequence[int]
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
                sheet.put(y, x, glyph, down.style(number))
            sheet.put(ys[first], x - len(str(number)), str(number), down.style(number))


class _Sheet:
    """Lines of characters with styles, written in any order."""

    def __init__(self) -> None:
        self._lines: list[dict[int, tuple[str, str]]] = []

    def new_line(self) -> int:
        self._lines.append({})
        return len(self._lines) - 1

    def put(self, y: int, x: int, text: str, style: str) -> None:
        for offset, character in enumerate(text):
            self._lines[y][x + offset] = (character, style)

    def lines(self) -> list[Text]:
        return [self._text(line) for line in self._lines]

    @staticmethod
    def _text(line: dict[int, tuple[str, str]]) -> Text:
        text = Text(no_wrap=True)
        for x in range(max(line, default=-1) + 1):
            text.append(*line.get(x, (" ", "")))
        return text


def side_by_side(blocks: Iterable[Sequence[Text]], *, width: int, gap: int = 4) -> list[Text]:
    """Set blocks of lines from left to right while they fit in `width`, the rest below."""
    lines: list[Text] = []
    top, used = 0, 0
    for block in blocks:
        needed = max((line.cell_len for line in block), default=0)
        if used and used + gap + needed > width:
            lines.append(Text())
            top, used = len(lines), 0
        indent = used + gap if used else 0
        lines += [Text(no_wrap=True) for _ in range(top + len(block) - len(lines))]
        for line, more in zip(lines[top:], block, strict=False):
            line.append(" " * (indent - line.cell_len))
            line.append_text(more)
        used = indent + needed
    return lines
