"""The windows of one vector drawn: padding, overhang and the expected output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.errors import UsageError, VectorFileError
from conformance.literals import exact
from conformance.operators import CLAUSES, Operator
from conformance.operators.clauses import under
from conformance.operators.indices import ChosenIndex
from conformance.operators.outcomes import has_undefined
from conformance.operators.pipeline import Plan
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.gradient_drawing import cells_of, draw_gradient, equal_cells, one_of
from conformance.report.grid import Axis, Sheet, draw_grid, side_by_side
from conformance.report.unpooling_drawing import draw_unpooling
from conformance.vector import UNDEFINED, Array, Combination, Values, Vector

_PADDING, _OVERHANG, _SKIPPED, _UNDEFINED = "·", "✕", "○", "?"
_TONES: dict[str, doc.Tone] = {
    _PADDING: "padding",
    _OVERHANG: "warn",
    _SKIPPED: "quiet",
    _UNDEFINED: "undefined",
}
_LINES = 26  # with the texts around them, the grids fit a terminal of 40 lines
_ROWS = ((16, 16), (12, 8), (10, 7))
"""Rows of cells in the grid of the data and in the others; the first pair that fits is used."""
_FLAT = Axis(0, 1, (0, 1), named=False)


def documented(combination: Combination) -> Combination:
    """Return readings without those that a stranger's file may name and no document has."""
    readings = {
        (clause.name, reading.name) for clause in CLAUSES.values() for reading in clause.readings
    }
    return {clause: name for clause, name in combination.items() if (clause, name) in readings}


def plan_of(vector: Vector, operator: Operator, outcome: Values, combination: Combination) -> Plan:
    """Return the geometry of a vector under readings, of which `outcome` is the answer.

    Raises VectorFileError if it has another shape than that answer.
    """
    params = operator.validate(vector.case.inputs, vector.case.attributes)
    plan = under(operator, documented(combination)).plan(params)
    extent = params.sizes if operator.is_gradient else plan.extent
    if any(expected.values.shape[2:] != extent for expected in outcome.outputs):
        raise VectorFileError(f"{vector.case.id}: an answer has not the shape of its readings")
    return plan


def draw(
    vector: Vector,
    operator: Operator,
    outcome: Values,
    plan: Plan,
    readings: Combination,
    plane: Sequence[int],
    output: Sequence[int],
    width: int,
) -> Iterator[doc.Block]:
    """Yield a drawing of a plane of the data and of an outcome, and what it says of one element.

    `outcome` and `plan` are those of `readings`; `plane` and `output` are as in
    `vector_report.describe`.
    """
    data = vector.case.data
    if operator.is_gradient:
        place = _within([*(output or (0,) * len(plan.extent))], data.shape[2:], "output")
        lead = _within([*plane, *(0, 0)[len(plane) :]][:2], data.shape[:2], "plane")
        cell = (*lead, *place)
        yield from draw_gradient(vector, operator, readings, outcome, plan, cell, width)
        return
    if operator.scatters:
        lead = _within([*plane, *(0, 0)[len(plane) :]][:2], data.shape[:2], "plane")
        place = _within(output, plan.extent, "output") if output else ()
        element = (*lead, *place)
        yield from draw_unpooling(vector, operator, readings, outcome, plan, element, width)
        return
    chosen = _within(output, plan.extent, "output") if output else _first_beyond_input(plan)
    inner = max(0, data.ndim - 4)
    starts = [int(plan.windows.start[i][chosen[i]]) for i in range(inner)]
    depths = [min(max(start, 0), plan.params.sizes[i] - 1) for i, start in enumerate(starts)]
    position = [*plane, *[0, 0, *depths][len(plane) :]]
    leading = _within(position, data.shape[: 2 + inner], "plane")
    scene = _Scene(data, plan, outcome, leading, chosen, operator, readings)
    yield doc.Drawing(_picture(scene, width).lines())
    yield doc.Paragraph("")
    yield from map(doc.Paragraph, _element(scene))
    yield doc.Paragraph(tuple(_legend(scene)))


@dataclass(frozen=True)
class _Scene:
    """What is drawn: the geometry and the outcome of one combination, one plane, one output."""

    data: Array
    plan: Plan
    outcome: Values
    leading: tuple[int, ...]  # batch, channel and positions on the axes that are not drawn
    chosen: tuple[int, ...]  # spatial position of an output element
    operator: Operator
    readings: Combination

    @cached_property
    def windows(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Start and stop of every window, per spatial axis."""
        both = zip(self.plan.windows.start, self.plan.windows.stop, strict=True)
        return tuple(tuple(zip(start.tolist(), stop.tolist(), strict=True)) for start, stop in both)

    def reads(self, number: int, index: int) -> range:
        """Return the positions of a window's cells on a spatial axis."""
        _, _, dilation = self.plan.windows.axes[number]
        return range(*self.windows[number][index], dilation)

    @cached_property
    def found_at(self) -> str:
        """Where the value of the chosen output is found, "" where no output says it."""
        step, position = self.operator.pipeline.further, (*self.leading[:2], *self.chosen)
        indices = [
            expected.values[position]
            for output, expected in zip(self.operator.outputs, self.outcome.outputs, strict=True)
            if output.is_index and (expected.addends >= 0).reshape(expected.values.shape)[position]
        ]
        if not indices or not isinstance(step, ChosenIndex):
            return ""
        cells = cells_of(self.plan, self.chosen)
        every = step.index_of(
            [*self.leading[:2], *np.ix_(*cells)], self.data.shape, self.plan.params
        )
        places = np.argwhere(every == indices[0])
        if not len(places):
            return ""
        cell = [along[i] for along, i in zip(cells, places[0].tolist(), strict=True)]
        found = f"data[{', '.join(map(str, [*self.leading[:2], *cell]))}]"
        plane = self.data[self.leading[:2]]
        alike = equal_cells(plane, cells, plane[tuple(cell)])
        return found if alike == 1 else f"{found}, {one_of(alike, 'index', self.readings)}"

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
        expected = self.outcome.outputs[output]
        defined = (expected.addends != UNDEFINED).reshape(expected.values.shape)
        return name, expected.values, defined

    def zone(self, number: int, position: int) -> str:
        """Return the glyph of a position on an axis, "" inside the input."""
        begin, end = self.plan.pads[number]
        size = self.plan.params.sizes[number]
        if 0 <= position < size:
            return ""
        return _PADDING if -begin <= position < size + end else _OVERHANG

    def title(self, name: str, leading: Sequence[int]) -> str:
        """Return the title of a grid, such as data[0, 0, :, :]."""
        drawn = [":"] * min(2, len(self.chosen))
        return f"{name}[{', '.join([*map(str, leading), *drawn])}]"


def _within(position: Sequence[int], shape: Sequence[int], name: str) -> tuple[int, ...]:
    if len(position) != len(shape) or any(
        not 0 <= i < n for i, n in zip(position, shape, strict=False)
    ):
        raise UsageError(
            f"{name} {','.join(map(str, position))} does not exist; "
            f"{words.count(len(shape), 'number')} below {', '.join(map(str, shape))} do"
        )
    return tuple(position)


def _first_beyond_input(plan: Plan) -> tuple[int, ...]:
    """Return the first output position, in C order, whose window leaves the input; else the first.

    That is the origin unless only a later window on some axis does.
    """
    position = [0] * len(plan.extent)
    axes = zip(plan.windows.start, plan.windows.stop, plan.params.sizes, strict=True)
    beyond = [np.flatnonzero((start < 0) | (stop > size)) for start, stop, size in axes]
    axis = max((axis for axis, windows in enumerate(beyond) if windows.size), default=None)
    if axis is not None and not any(0 in windows for windows in beyond):
        position[axis] = int(beyond[axis][0])
    return tuple(position)


def _picture(scene: _Scene, width: int) -> Sheet:
    picture = Sheet()
    for number in range(len(scene.chosen) - 2):
        picture.paste(_leading_axis(scene, number, width), picture.height, 0)
        picture.new_line()
    for rows in _ROWS:
        grids = side_by_side(_grids(scene, width, rows), width=width)
        if picture.height + grids.height <= _LINES:
            break
    picture.paste(grids, picture.height, 0)
    return picture


def _grids(scene: _Scene, width: int, rows: tuple[int, int]) -> Iterator[Sheet]:
    yield _input(scene, width, rows[0])
    inner = scene.chosen[:-2]
    leading = (*scene.leading[:2], *inner)
    for output in range(len(scene.outcome.outputs)):
        name, values, defined = scene.expected(output)
        title = scene.title(name, leading)
        yield _result(scene, title, values[leading], defined[leading], width, rows[1])
    divisor = scene.plan.divisor
    if scene.operator.reduction.sums and divisor.size and (divisor != divisor.flat[0]).any():
        title, part = scene.title("divisor", inner), divisor[inner]
        yield _result(scene, title, part, np.ones_like(part, np.bool_), width, rows[1])


def _input(scene: _Scene, width: int, height: int) -> Sheet:
    *above, last = range(len(scene.chosen))
    columns = scene.axis(last)
    rows = scene.axis(above[-1]) if above else _FLAT
    plane = np.atleast_2d(scene.data[scene.leading])
    depths = zip(range(len(scene.chosen)), scene.leading[2:], scene.chosen, strict=False)
    in_window = all(depth in scene.reads(number, place) for number, depth, place in depths)
    in_row = scene.reads(last, scene.chosen[last])
    in_column = scene.reads(above[-1], scene.chosen[above[-1]]) if above else range(1)
    skips = len(in_row) < columns.outline[1] - columns.outline[0] or (
        len(in_column) < rows.outline[1] - rows.outline[0]
    )

    def cell(p: int, q: int) -> tuple[str, doc.Tone]:
        outlined = _in(rows.outline, p) and _in(columns.outline, q)
        if skips and outlined and not (p in in_column and q in in_row):
            return _SKIPPED, _TONES[_SKIPPED]
        zones = scene.zone(last, q) + (scene.zone(above[-1], p) if above else "")
        if zones:
            glyph = _OVERHANG if _OVERHANG in zones else _PADDING
            return glyph, _TONES[glyph]
        outlined = outlined and in_window
        read = _any_in(columns.windows, q) and (not above or _any_in(rows.windows, p))
        return words.short(plane[p, q]), "strong" if outlined else "" if read else "quiet"

    title = scene.title("data", scene.leading)
    return draw_grid(title, rows, columns, cell, width=width, height=height)


def _result(
    scene: _Scene,
    title: str,
    values: Array,
    defined: npt.NDArray[np.bool_],
    width: int,
    height: int,
) -> Sheet:
    """Return the grid of one number per output position of the plane."""
    values, defined = np.atleast_2d(values), np.atleast_2d(defined)

    def cell(p: int, q: int) -> tuple[str, doc.Tone]:
        if not defined[p, q]:
            return _UNDEFINED, _TONES[_UNDEFINED]
        return words.short(values[p, q]), ""

    place = [(i, i + 1) for i in scene.chosen[-2:]]
    rows = Axis(0, values.shape[0], place[0]) if len(place) == 2 else _FLAT
    columns = Axis(0, values.shape[1], place[-1])
    return draw_grid(title, rows, columns, cell, width=width, height=height)


def _leading_axis(scene: _Scene, number: int, width: int) -> Sheet:
    """Draw an axis that is not part of the plane: its windows and the position of the plane."""
    axis, shown = scene.axis(number), scene.leading[2 + number]

    def cell(_p: int, q: int) -> tuple[str, doc.Tone]:
        glyph = scene.zone(number, q)
        return (glyph, _TONES[glyph]) if glyph else ("▲" if q == shown else " ", "strong")

    title = f"axis {2 + number}: the plane at {shown}"
    return draw_grid(title, _FLAT, axis, cell, width=width, height=1, box=False)


def _element(scene: _Scene) -> Iterator[doc.Text]:
    """Say what is expected of the chosen element of every output."""
    position = (*scene.leading[:2], *scene.chosen)
    cells = inside = 1
    for number, index in enumerate(scene.chosen):
        positions = scene.reads(number, index)
        cells *= len(positions)
        inside *= sum(0 <= cell < scene.plan.params.sizes[number] for cell in positions)
    share = f"{inside:,} of the window's {words.count(cells, 'cell')}"
    if inside == cells:
        every = "both" if cells == 2 else f"all {cells:,}"
        share = f"{every} cells of the window" if cells > 1 else "the window's only cell"
    reduction = scene.operator.reduction
    if not inside:
        reduced = ": no cell of the window is in the input"
    elif reduction.powers:
        reduced = f": the {scene.plan.params.exponent}-norm of {share}"
    elif reduction.sums:
        divisor = int(scene.plan.divisor[scene.chosen])
        reduced = f": the sum of {share}{_less(scene)}, divided by {divisor:,}{_plus(scene)}"
    else:
        reduced = f": the {reduction.name} of {share}"
    for output in range(len(scene.outcome.outputs)):
        name, values, defined = scene.expected(output)
        place = f"{name}[{', '.join(map(str, position))}]"
        if not defined[position]:
            yield doc.Span(f"{place} is undefined: any value conforms", _TONES[_UNDEFINED])
        else:
            value = exact(values[position], name_of(values.dtype))
            is_index = scene.operator.outputs[output].is_index and scene.found_at
            found = f": {scene.found_at}" if is_index else ""
            said = found if output else f"{reduced}{_clamped(scene)}"
            yield doc.Span(f"{place} = {value}", "chosen"), said


def _zero_points(scene: _Scene) -> tuple[int, int]:
    """Return what is subtracted from integers and added to means; a shared one is neither."""
    params = scene.plan.params
    is_shared = scene.operator.attribute("output_zero_point") is None
    return (0, 0) if is_shared else (params.input_zero_point, params.output_zero_point)


def _less(scene: _Scene) -> str:
    point, _ = _zero_points(scene)
    return f", each less {point}" if point else ""


def _plus(scene: _Scene) -> str:
    """Say what becomes of a mean of integers."""
    if not scene.operator.rounds_integers or scene.data.dtype.kind not in "iu":
        return ""
    params, scaled = scene.plan.params, ""
    if scene.operator.requantises:
        scaled = f", times {params.input_scale!r} / {params.output_scale!r}"
    _, point = _zero_points(scene)
    return f"{scaled}, rounded to an integer" + (f", plus {point}" if point else "")


def _clamped(scene: _Scene) -> str:
    """Say what limits an output."""
    activation = scene.plan.params.activation
    return "" if activation == "none" else f", within the limits of {activation}"


def _legend(scene: _Scene) -> Iterator[str | doc.Span]:
    glyphs = {
        scene.zone(number, position)
        for number in range(len(scene.chosen))
        for axis in [scene.axis(number)]
        for position in (axis.low, axis.high - 1, scene.plan.params.sizes[number])
        if axis.low <= position < axis.high
    }
    if has_undefined(scene.outcome):
        glyphs.add(_UNDEFINED)
    if any(n > 1 for n in scene.plan.windows.dilations):
        glyphs.add(_SKIPPED)
    meanings = {
        _PADDING: "padding",
        _OVERHANG: "overhang",
        _SKIPPED: "not read by the window",
        _UNDEFINED: "undefined",
    }
    for glyph, meaning in meanings.items():
        if glyph in glyphs:
            yield doc.Span(glyph, _TONES[glyph])
            yield f" {meaning}   "
    yield doc.Span("┏━┓", "chosen")
    yield " one window and its output"


def _in(window: tuple[int, int], position: int) -> bool:
    return window[0] <= position < window[1]


def _any_in(windows: tuple[tuple[int, int], ...], position: int) -> bool:
    return any(_in(window, position) for window in windows)
