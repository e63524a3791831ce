"""One vector drawn so that a person sees windows, padding, overhang and the expected output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from rich.console import Group, RenderableType
from rich.text import Text

from conformance.dtypes import name_of
from conformance.errors import UsageError, VectorFileError
from conformance.operators import CLAUSES, Operator, operator_named
from conformance.operators.clauses import under
from conformance.operators.outcomes import has_undefined
from conformance.operators.pipeline import Plan
from conformance.report import facts
from conformance.report import values as words
from conformance.report.grid import Axis, draw_grid, side_by_side
from conformance.vector import UNDEFINED, Array, Combination, Outcome, Vector

_PADDING, _OVERHANG, _UNDEFINED = "·", "✕", "?"
_STYLE = {_PADDING: "blue", _OVERHANG: "yellow", _UNDEFINED: "magenta"}
_READ, _IDLE = "bold", "dim"
_LINES = 26  # with the texts around them, the grids fit a terminal of 40 lines
_ROWS = ((16, 16), (12, 8), (10, 7))
"""Rows of cells in the grid of the data and in the others; the first pair that fits is used."""
_FLAT = Axis(0, 1, (0, 1), named=False)


def draw(
    vector: Vector,
    *,
    plane: Sequence[int] = (),
    output: Sequence[int] = (),
    readings: Mapping[str, str] | None = None,
    width: int = 80,
) -> RenderableType:
    """Return a drawing of one plane of a vector, about `width` wide.

    `plane` is the batch and channel, then positions on the spatial axes before the last two;
    `output` the spatial position of the output element whose window is outlined; both have
    sensible defaults. `readings` choose among the outcomes. Raises UsageError for a position or a
    reading that the vector does not have, VectorFileError for one that contradicts itself. The
    vector is one that verify.misshapen finds sound.
    """
    operator = operator_named(vector.case.operator)
    scene = _scene(vector, operator, readings or {}, plane, output)
    blocks: list[RenderableType] = [facts.heading(vector, operator)]
    if scene is None:
        blocks.append(facts.without_windows(vector, operator))
    else:
        blocks.append(_picture(scene, width))
    if vector.clauses and vector.outcomes[0].kind != "anything":
        blocks.append(facts.clauses(vector))
    if len(vector.outcomes) > 1:
        blocks.append(facts.answers(vector, scene.outcome if scene else None))
    spaced = [part for block in blocks for part in (block, Text())]
    return Group(*spaced[:-1])


@dataclass(frozen=True)
class _Scene:
    """What is drawn: the geometry and the outcome of one combination, one plane, one output."""

    data: Array
    plan: Plan
    outcome: Outcome
    leading: tuple[int, ...]  # batch, channel and positions on the axes that are not drawn
    chosen: tuple[int, ...]  # spatial position of an output element
    operator: Operator

    @cached_property
    def windows(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Start and stop of every window, per spatial axis."""
        both = zip(self.plan.windows.start, self.plan.windows.stop, strict=True)
        return tuple(tuple(zip(start.tolist(), stop.tolist(), strict=True)) for start, stop in both)

    def axis(self, number: int) -> Axis:
        """Return a spatial axis of the input with all that its windows reach."""
        windows, size = self.windows[number], self.plan.params.sizes[number]
        begin, end = self.plan.pads[number]
        return Axis(
            low=min(-begin, *(start for start, _ in windows)),
            high=max(size + end, *(stop for _, stop in windows)),
            outline=windows[self.chosen[number]],
            windows=windows,
            chosen=self.chosen[number],
        )

    def expected(self, output: int) -> tuple[str, Array, npt.NDArray[np.bool_]]:
        """Return what an output is called, its values, and which of them are defined."""
        outputs = self.operator.outputs
        name = f"expected {outputs[output].name}" if len(outputs) > 1 else "expected"
        asked = self.outcome.outputs[output]
        defined = (asked.addends != UNDEFINED).reshape(asked.values.shape)
        return name, asked.values, defined

    def zone(self, number: int, position: int) -> str:
        """Return the glyph of a position on an axis, "" inside the input."""
        begin, end = self.plan.pads[number]
        size = self.plan.params.sizes[number]
        if 0 <= position < size:
            return ""
        return _PADDING if -begin <= position < size + end else _OVERHANG


def _scene(
    vector: Vector,
    operator: Operator,
    readings: Mapping[str, str],
    plane: Sequence[int],
    output: Sequence[int],
) -> _Scene | None:
    outcome = _outcome_under(vector, readings)
    if not outcome.outputs:
        return None
    data = vector.case.inputs[0]
    params = operator.validate(vector.case.inputs, vector.case.attributes)
    plan = under(operator, _known({**outcome.readings[0], **readings})).plan(params)
    if any(each.values.shape[2:] != plan.extent for each in outcome.outputs):
        raise VectorFileError(f"{vector.case.id}: an answer has not the shape of its readings")
    chosen = _within(output, plan.extent, "output") if output else _interesting(plan)
    inner = max(0, data.ndim - 4)
    starts = [int(plan.windows.start[i][chosen[i]]) for i in range(inner)]
    depths = [min(max(start, 0), params.sizes[i] - 1) for i, start in enumerate(starts)]
    wanted = [*plane, *[0, 0, *depths][len(plane) :]]
    leading = _within(wanted, data.shape[: 2 + inner], "plane")
    return _Scene(data, plan, outcome, leading, chosen, operator)


def _known(combination: Combination) -> Combination:
    """Leave out what a stranger's file may name and no document has."""
    known = {
        (clause.name, reading.name) for clause in CLAUSES.values() for reading in clause.readings
    }
    return {clause: name for clause, name in combination.items() if (clause, name) in known}


def _outcome_under(vector: Vector, readings: Mapping[str, str]) -> Outcome:
    for clause, reading in readings.items():
        touching = {name: names for name, names in vector.clauses.items() if names}
        if reading not in touching.get(clause, ()):
            there = [words.attribute(c, r) for c, names in touching.items() for r in names]
            raise UsageError(
                f"no reading {clause}={reading} touches {vector.case.id}; "
                f"there are {', '.join(there) or 'none'}"
            )
    for outcome in vector.outcomes:
        if any(readings.items() <= combination.items() for combination in outcome.readings):
            return outcome
    raise UsageError(f"no outcome of {vector.case.id} has all these readings together")


def _within(position: Sequence[int], shape: Sequence[int], name: str) -> tuple[int, ...]:
    if len(position) != len(shape) or any(
        not 0 <= i < n for i, n in zip(position, shape, strict=False)
    ):
        raise UsageError(
            f"{name} {','.join(map(str, position))} does not exist; "
            f"{words.count(len(shape), 'number')} below {', '.join(map(str, shape))} do"
        )
    return tuple(position)


def _interesting(plan: Plan) -> tuple[int, ...]:
    """Return the first output position, in C order, whose window leaves the input; else the first.

    That is the origin unless only a later window on some axis does.
    """
    first: list[int | None] = []
    for start, stop, size in zip(
        plan.windows.start, plan.windows.stop, plan.params.sizes, strict=True
    ):
        clipped = np.flatnonzero((start < 0) | (stop > size))
        first.append(int(clipped[0]) if clipped.size else None)
    result = [0] * len(first)
    if 0 not in first:
        for number in reversed(range(len(first))):
            if first[number] is not None:
                result[number] = first[number] or 0
                break
    return tuple(result)


def _picture(scene: _Scene, width: int) -> RenderableType:
    rank = len(scene.chosen)
    lines = [line for number in range(rank - 2) for line in _leading_axis(scene, number, width)]
    for rows in _ROWS:
        grids = side_by_side(_grids(scene, width, rows), width=width)
        if len(lines) + len(grids) <= _LINES:
            break
    return Group(*lines, *grids, Text(), _element(scene), _legend(scene))


def _grids(scene: _Scene, width: int, rows: tuple[int, int]) -> Iterator[list[Text]]:
    yield _input(scene, width, rows[0])
    inner = scene.chosen[:-2] if len(scene.chosen) > 2 else ()
    leading = (*scene.leading[:2], *inner)
    for output in range(len(scene.outcome.outputs)):
        name, values, defined = scene.expected(output)
        title = _title(name, leading, scene)
        yield _result(scene, title, values[leading], defined[leading], width, rows[1])
    divisor = scene.plan.divisor
    if scene.operator.reduction.sums and divisor.size and (divisor != divisor.flat[0]).any():
        title, part = _title("divisor", inner, scene), divisor[inner]
        yield _result(scene, title, part, np.ones_like(part, np.bool_), width, rows[1])


def _planar(scene: _Scene) -> list[int]:
    """Return the numbers of the drawn axes, rows first; one for 1-D data."""
    rank = len(scene.chosen)
    return list(range(max(0, rank - 2), rank))


def _title(name: str, leading: Sequence[int], scene: _Scene) -> Text:
    drawn = [":"] * len(_planar(scene))
    return Text(f"{name}[{', '.join([*map(str, leading), *drawn])}]", "bold underline")


def _input(scene: _Scene, width: int, height: int) -> list[Text]:
    axes = _planar(scene)
    columns = scene.axis(axes[-1])
    rows = scene.axis(axes[0]) if len(axes) == 2 else _FLAT
    plane = scene.data[scene.leading]
    if len(axes) == 1:
        plane = plane[np.newaxis]
    deep = [
        start <= position < stop
        for position, (start, stop) in zip(
            scene.leading[2:],
            (scene.windows[i][scene.chosen[i]] for i in range(len(scene.leading) - 2)),
            strict=True,
        )
    ]

    def cell(p: int, q: int) -> tuple[str, str]:
        zones = scene.zone(axes[-1], q) + (scene.zone(axes[0], p) if len(axes) == 2 else "")
        if zones:
            glyph = _OVERHANG if _OVERHANG in zones else _PADDING
            return glyph, _STYLE[glyph]
        outlined = _in(rows.outline, p) and _in(columns.outline, q) and all(deep)
        read = _any_in(columns.windows, q) and (rows is _FLAT or _any_in(rows.windows, p))
        style = _READ if outlined else "" if read else _IDLE
        return words.short(plane[p, q]), style

    title = _title("data", scene.leading, scene)
    return [title, *draw_grid(rows, columns, cell, width=width, height=height)]


def _result(
    scene: _Scene,
    title: Text,
    values: Array,
    defined: npt.NDArray[np.bool_],
    width: int,
    height: int,
) -> list[Text]:
    """Return the grid of one number per output position of the plane."""
    values, defined = np.atleast_2d(values), np.atleast_2d(defined)

    def cell(p: int, q: int) -> tuple[str, str]:
        if not defined[p, q]:
            return _UNDEFINED, _STYLE[_UNDEFINED]
        return words.short(values[p, q]), ""

    place = [(i, i + 1) for i in scene.chosen[-2:]]
    rows = Axis(0, values.shape[0], place[0]) if len(place) == 2 else _FLAT
    columns = Axis(0, values.shape[1], place[-1])
    return [title, *draw_grid(rows, columns, cell, width=width, height=height)]


def _leading_axis(scene: _Scene, number: int, width: int) -> list[Text]:
    """Draw an axis that is not part of the plane: its windows and the position of the plane."""
    axis, shown = scene.axis(number), scene.leading[2 + number]

    def cell(_p: int, q: int) -> tuple[str, str]:
        glyph = scene.zone(number, q)
        return (glyph, _STYLE[glyph]) if glyph else ("▲" if q == shown else " ", _READ)

    title = Text(f"axis {2 + number}: the plane at {shown}", "bold underline")
    lines = draw_grid(_FLAT, axis, cell, width=width, height=1)
    return [title, *lines[:-3], lines[-2], Text()]


def _element(scene: _Scene) -> Text:
    position = (*scene.leading[:2], *scene.chosen)
    cells = inside = 1
    for number, index in enumerate(scene.chosen):
        start, stop = scene.windows[number][index]
        cells *= stop - start
        inside *= max(0, min(stop, scene.plan.params.sizes[number]) - max(start, 0))
    text = _value(scene, 0, position)
    _, _, defined = scene.expected(0)
    if defined[position]:
        share = f"{inside} of the window's {words.count(cells, 'cell')}"
        reduction = scene.operator.reduction
        if reduction.sums:
            divisor = int(scene.plan.divisor[scene.chosen])
            text.append(f": the sum of {share}, divided by {divisor}")
        else:
            text.append(f": the {reduction.name} of {share}")
    for output in range(1, len(scene.outcome.outputs)):
        text.append("\n").append(_value(scene, output, position))
    return text


def _value(scene: _Scene, output: int, position: tuple[int, ...]) -> Text:
    """Say what is expected of an element of an output."""
    name, values, defined = scene.expected(output)
    place = f"{name}[{', '.join(map(str, position))}]"
    if not defined[position]:
        return Text(f"{place} is undefined: any value conforms", _STYLE[_UNDEFINED])
    value = values[position]
    return Text.assemble((f"{place} = {words.exact(value, name_of(value.dtype))}", "bold green"))


def _legend(scene: _Scene) -> Text:
    glyphs = {
        scene.zone(number, position)
        for number in range(len(scene.chosen))
        for axis in [scene.axis(number)]
        for position in (axis.low, axis.high - 1, scene.plan.params.sizes[number])
        if axis.low <= position < axis.high
    }
    text = Text()
    for glyph, meaning in ((_PADDING, "padding"), (_OVERHANG, "overhang")):
        if glyph in glyphs:
            text.append(glyph, _STYLE[glyph]).append(f" {meaning}   ")
    if has_undefined(scene.outcome):
        text.append(_UNDEFINED, _STYLE[_UNDEFINED]).append(" undefined   ")
    return text.append("┏━┓", "bold green").append(" one window and its output")


def _in(window: tuple[int, int], position: int) -> bool:
    return window[0] <= position < window[1]


def _any_in(windows: tuple[tuple[int, int], ...], position: int) -> bool:
    return any(_in(window, position) for window in windows)
