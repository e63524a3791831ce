"""A drawing as a value: planes of arrays with their windows, and what is said of one element.

`vector_drawing` makes it of a vector and an answer; `text_drawing` and the script of a page show
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.report import document as doc
from conformance.report import values as words
from conformance.vector import Array


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands in a cell without a number, and what it means."""

    glyph: str
    meaning: str
    tone: doc.Tone


PADDING = Mark("·", "padding", "padding")
OVERHANG = Mark("✕", "partial last window", "warn")
SKIPPED = Mark("○", "not read by the window", "quiet")
UNDEFINED = Mark("?", "undefined", "undefined")
WINDOW = Mark("┏━┓", "one window and its output", "chosen")


@dataclass(frozen=True, slots=True)
class Axis:
    """A spatial axis of an array: its elements 0:size, padding around them, and windows over both.

    Windows are start:stop, each with every `dilation`-th position between; where there are none,
    each element stands for itself.
    """

    size: int
    windows: tuple[tuple[int, int], ...] = ()
    pads: tuple[int, int] = (0, 0)
    dilation: int = 1

    @property
    def low(self) -> int:
        """The first position that is padded or in a window."""
        return min([-self.pads[0], *(start for start, _ in self.windows)])

    @property
    def high(self) -> int:
        """The position after the last that is padded or in a window."""
        return max([self.size + self.pads[1], *(stop for _, stop in self.windows)])

    def span(self, number: int) -> tuple[int, int]:
        """Return start:stop of a window."""
        return self.windows[number] if self.windows else (number, number + 1)

    def reads(self, number: int) -> range:
        """Return the positions that a window has."""
        return range(*self.span(number), self.dilation)

    def cells(self, number: int) -> list[int]:
        """Return the elements that a window has."""
        return [position for position in self.reads(number) if 0 <= position < self.size]

    def encloses(self, number: int, position: int) -> bool:
        """Return whether a window reaches over a position, whether it reads it or not."""
        start, stop = self.span(number)
        return start <= position < stop

    def beside(self, position: int) -> Mark | None:
        """Return what is at a position, None for an element."""
        if 0 <= position < self.size:
            return None
        begin, end = self.pads
        return PADDING if -begin <= position < self.size + end else OVERHANG


@dataclass(frozen=True)
class Grid:
    """A plane of an array along its last two axes, or the last, with one window outlined.

    `axes` are the spatial ones; `chosen` is the number of the window on each, `lead` the position
    on all axes before those of the plane. What is not `defined` has no number.
    """

    name: str
    values: Array
    axes: tuple[Axis, ...]
    lead: tuple[int, ...]
    chosen: tuple[int, ...]
    defined: npt.NDArray[np.bool_] | None = None

    @property
    def drawn(self) -> int:
        """How many axes the plane has."""
        return min(2, len(self.axes))

    @property
    def title(self) -> str:
        """Name and place of the plane, such as data[0, 0, :, :]."""
        return f"{self.name}[{', '.join([*map(str, self.lead), *[':'] * self.drawn])}]"

    def cell(self, p: int, q: int) -> tuple[str, doc.Tone]:
        """Return text and tone of a row and a column, which may lie beside the array."""
        place = (p, q)[-self.drawn :]
        axes = self.axes[-self.drawn :]
        chosen = list(zip(place, axes, self.chosen[-self.drawn :], strict=True))
        outlined = all(axis.encloses(number, at) for at, axis, number in chosen)
        beside = {axis.beside(at) for at, axis, _ in chosen} - {None}
        mark = OVERHANG if OVERHANG in beside else PADDING if beside else None
        if outlined and not all(at in axis.reads(number) for at, axis, number in chosen):
            mark = SKIPPED
        elif mark is None and self.defined is not None and not self.defined[self.lead][place]:
            mark = UNDEFINED
        if mark is not None:
            return mark.glyph, mark.tone
        text = words.short(self.values[self.lead][place])
        if not any(axis.windows for axis in axes):
            return text, ""
        if outlined and self._is_read:
            return text, "strong"
        in_one = all(
            any(axis.encloses(n, at) for n in range(len(axis.windows)))
            for at, axis in zip(place, axes, strict=True)
        )
        return text, "" if in_one else "quiet"

    @property
    def _is_read(self) -> bool:
        """Whether the window reads the plane, which lies at one place of the axes before."""
        depths = self.lead[len(self.lead) + self.drawn - len(self.axes) :]
        before = zip(depths, self.axes, self.chosen, strict=False)
        return all(at in axis.reads(number) for at, axis, number in before)


@dataclass(frozen=True)
class Drawing:
    """Grids of what an answer is made from and of the answer, and what is said of an element of it.

    The element is the one chosen in the first of `results`; what it is made from is outlined in
    the `sources`. `legend` explains marks.
    """

    sources: tuple[Grid, ...]
    results: tuple[Grid, ...]
    said: tuple[doc.Text, ...]
    legend: tuple[Mark, ...] = ()
