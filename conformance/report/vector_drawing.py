"""Drawings of vectors: which windows an element is made from, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.errors import UsageError, VectorFileError
from conformance.literals import exact
from conformance.operators import CLAUSES, Operator
from conformance.operators.clauses import under
from conformance.operators.indices import ChosenIndex
from conformance.operators.outcomes import has_undefined
from conformance.operators.pipeline import Pipeline, Plan
from conformance.operators.unpooling import Scatter
from conformance.reference.rounding import equal_numbers, widen
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.drawing import (
    OVERHANG,
    PADDING,
    SKIPPED,
    UNDEFINED,
    WINDOW,
    Axis,
    Drawing,
    Grid,
    Mark,
)
from conformance.vector import UNDEFINED as NO_VALUE
from conformance.vector import Array, Combination, Values, Vector

Place = tuple[int, ...]
_MOST_TERMS = 12


@dataclass(frozen=True)
class Scene:
    """A vector under readings, with the answer that is right under them and its geometry."""

    vector: Vector
    operator: Operator
    readings: Combination
    outcome: Values
    pipeline: Pipeline
    plan: Plan

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The spatial axes of what the windows read."""
        windows = self.plan.windows.axes
        return tuple(
            Axis(size, tuple(zip(start.tolist(), stop.tolist(), strict=True)), pads, dilation)
            for size, (start, stop, dilation), pads in zip(
                self.plan.params.sizes, windows, self.plan.pads, strict=True
            )
        )

    def expected(self, output: int) -> tuple[str, Array, npt.NDArray[np.bool_]]:
        """Return what an output is called, its values, and which of them are defined."""
        outputs = self.operator.outputs
        name = f"expected {outputs[output].name}" if len(outputs) > 1 else "expected"
        expected = self.outcome.outputs[output]
        defined = (expected.addends != NO_VALUE).reshape(expected.values.shape)
        return name, expected.values, defined


def scene_of(
    vector: Vector, operator: Operator, outcome: Values, combination: Combination
) -> Scene:
    """Return a vector under readings, of which `outcome` is the answer.

    Readings that a stranger's file may name and no document has are left out. Raises
    VectorFileError if the geometry has another shape than that answer.
    """
    documented = {
        (clause.name, reading.name) for clause in CLAUSES.values() for reading in clause.readings
    }
    readings = {
        clause: name for clause, name in combination.items() if (clause, name) in documented
    }
    pipeline = under(operator, readings)
    plan = pipeline.plan(operator.validate(vector.case.inputs, vector.case.attributes))
    extent = plan.params.sizes if operator.is_gradient else plan.extent
    if any(expected.values.shape[2:] != extent for expected in outcome.outputs):
        raise VectorFileError(f"{vector.case.id}: an answer has not the shape of its readings")
    return Scene(vector, operator, readings, outcome, pipeline, plan)


def draw(scene: Scene, plane: Sequence[int] = (), output: Sequence[int] = ()) -> Drawing:
    """Return the drawing of an element of the answer.

    `plane` and `output` are as in `vector_report.describe`. Raises UsageError if they do not exist.
    """
    data, extent = scene.vector.case.data, scene.outcome.outputs[0].values.shape[2:]
    place = _existing(output, extent, "output") if output else ()
    if scene.operator.is_gradient or scene.operator.scatters:
        lead = _existing([*plane, *(0, 0)[len(plane) :]][:2], data.shape[:2], "plane")
        return (_gradient if scene.operator.is_gradient else _unpooling)(scene, lead, place)
    place = place or _first_beyond_input(scene.plan)
    inner = list(zip(scene.axes, place, strict=True))[:-2]
    depths = [min(max(axis.span(number)[0], 0), axis.size - 1) for axis, number in inner]
    position = [*plane, *[0, 0, *depths][len(plane) :]]
    lead = _existing(position, data.shape[: 2 + len(inner)], "plane")
    return _pooling(scene, lead, place)


def _existing(position: Sequence[int], shape: Sequence[int], name: str) -> Place:
    if len(position) != len(shape) or any(
        not 0 <= i < n for i, n in zip(position, shape, strict=False)
    ):
        raise UsageError(
            f"{name} {','.join(map(str, position))} does not exist; "
            f"{words.count(len(shape), 'number')} below {', '.join(map(str, shape))} do"
        )
    return tuple(position)


def _first_beyond_input(plan: Plan) -> Place:
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


def _grid(
    name: str, values: Array, place: Place, defined: npt.NDArray[np.bool_] | None = None
) -> Grid:
    """Return the plane that holds an element, which is outlined."""
    axes = tuple(map(Axis, values.shape[2:]))
    return Grid(name, values, axes, place[: -min(2, len(axes))], place[2:], defined)


def _at(name: str, values: Array, place: Place, *, defined: bool, said: str) -> doc.Text:
    """Say what is expected of an element, and why."""
    if not defined:
        undefined = f"{name}{list(place)} is undefined: any value conforms"
        return doc.Span(undefined, UNDEFINED.tone)
    value = exact(values[place], name_of(values.dtype))
    return doc.Span(f"{name}{list(place)} = {value}", "chosen"), said


# Pooling -----------------------------------------------------------------------------------------


def _pooling(scene: Scene, lead: Place, chosen: Place) -> Drawing:
    """Return the drawing of an output element; `lead` is the plane of the data."""
    data = Grid("data", scene.vector.case.data, scene.axes, lead, chosen)
    results: list[Grid] = []
    said: list[doc.Text] = []
    place = (*lead[:2], *chosen)
    for number, output in enumerate(scene.operator.outputs):
        name, values, defined = scene.expected(number)
        results.append(_grid(name, values, place, defined))
        why = made_from(scene, chosen) if not number else ""
        if output.is_index and defined[place] and (found := _found_at(scene, place)):
            why = f": {found}"
        said.append(_at(name, values, place, defined=bool(defined[place]), said=why))
    divisor = scene.plan.divisor
    if scene.operator.reduction.sums and divisor.size and (divisor != divisor.flat[0]).any():
        axes = tuple(map(Axis, divisor.shape))
        results.append(Grid("divisor", divisor, axes, chosen[:-2], chosen))
    return Drawing((data,), tuple(results), tuple(said), tuple(_legend(scene)))


def made_from(scene: Scene, chosen: Place) -> str:
    """Say how an element of the first output, given by its spatial position, is made."""
    cells = inside = 1
    for axis, number in zip(scene.axes, chosen, strict=True):
        cells *= len(axis.reads(number))
        inside *= len(axis.cells(number))
    share = f"{inside:,} of the window's {words.count(cells, 'cell')}"
    if inside == cells:
        every = "both" if cells == 2 else f"all {cells:,}"
        share = f"{every} cells of the window" if cells > 1 else "the window's only cell"
    reduction, params = scene.operator.reduction, scene.plan.params
    if not inside:
        made = ": no cell of the window is in the input"
    elif reduction.powers:
        made = f": the {params.exponent}-norm of {share}"
    elif reduction.sums:
        less, plus = _zero_points(scene)
        each = f", each less {less}" if less else ""
        divisor = int(scene.plan.divisor[chosen])
        made = f": the sum of {share}{each}, divided by {divisor:,}{_rounded(scene, plus)}"
    else:
        made = f": the {reduction.name} of {share}"
    limited = "" if params.activation == "none" else f", within the limits of {params.activation}"
    return f"{made}{limited}"


def _zero_points(scene: Scene) -> tuple[int, int]:
    """Return what is subtracted from integers and added to means; a shared one is neither."""
    params = scene.plan.params
    is_shared = scene.operator.attribute("output_zero_point") is None
    return (0, 0) if is_shared else (params.input_zero_point, params.output_zero_point)


def _rounded(scene: Scene, plus: int) -> str:
    """Say what becomes of a mean of integers."""
    if not scene.operator.rounds_integers or scene.vector.case.data.dtype.kind not in "iu":
        return ""
    params, scaled = scene.plan.params, ""
    if scene.operator.requantises:
        scaled = f", times {params.input_scale!r} / {params.output_scale!r}"
    return f"{scaled}, rounded to an integer" + (f", plus {plus}" if plus else "")


def _found_at(scene: Scene, place: Place) -> str:
    """Say where the value of an output element is found, "" where no index says it."""
    step, data = scene.pipeline.further, scene.vector.case.data
    indices = [
        expected.values[place]
        for output, expected in zip(scene.operator.outputs, scene.outcome.outputs, strict=True)
        if output.is_index and (expected.addends >= 0).reshape(expected.values.shape)[place]
    ]
    if not indices or not isinstance(step, ChosenIndex):
        return ""
    cells = [axis.cells(number) for axis, number in zip(scene.axes, place[2:], strict=True)]
    every = step.index_of([*place[:2], *np.ix_(*cells)], data.shape, scene.plan.params)
    places = np.argwhere(every == indices[0])
    if not len(places):
        return ""
    cell = [along[i] for along, i in zip(cells, places[0].tolist(), strict=True)]
    plane = data[place[:2]]
    alike = _equal_cells(plane, cells, plane[tuple(cell)])
    found = f"data{[*place[:2], *cell]}"
    return found if alike == 1 else f"{found}, {_one_of(alike, 'index', scene.readings)}"


def _legend(scene: Scene) -> Iterator[Mark]:
    marks = {
        axis.beside(position)
        for axis in scene.axes
        for position in (axis.low, axis.high - 1, axis.size)
        if axis.low <= position < axis.high
    }
    if any(axis.dilation > 1 for axis in scene.axes):
        marks.add(SKIPPED)
    if has_undefined(scene.outcome):
        marks.add(UNDEFINED)
    yield from (mark for mark in (PADDING, OVERHANG, SKIPPED, UNDEFINED) if mark in marks)
    yield WINDOW


# Gradients ---------------------------------------------------------------------------------------


def _gradient(scene: Scene, lead: Place, output: Place) -> Drawing:
    """Return the drawing of a cell of the data, with what each window that holds it gives to it.

    That is found by the steps of the operator: the gradient of that window alone, 1.
    """
    data, gradient = scene.vector.case.data, scene.vector.case.gradient
    assert gradient is not None
    cell = (*lead, *(output or (0,) * len(scene.axes)))
    holding = [
        [number for number in range(len(axis.windows)) if at in axis.reads(number)]
        for axis, at in zip(scene.axes, cell[2:], strict=True)
    ]
    windows = [(*lead, *window) for window in product(*holding)]
    first = windows[0] if windows else (*lead, *(0,) * len(scene.axes))
    _, values, defined = scene.expected(0)
    name = "gradient of data"
    shares = "the share" if len(windows) == 1 else "the sum of the shares"
    why = f"{shares} of {words.count(len(windows), 'window')}" if windows else "no window holds it"
    said = [_at(name, values, cell, defined=bool(defined[cell]), said=f": {why}")]
    for window in windows[:_MOST_TERMS]:
        one = np.zeros_like(gradient)
        one[window] = 1
        share = float(widen(scene.pipeline.values(data, scene.plan, one)[0])[cell])
        given = exact(gradient[window], name_of(gradient.dtype))
        said.append(f"gradient{list(window)} = {given}: {_share(scene, window, cell, share)}")
    if len(windows) > _MOST_TERMS:
        said.append(f"and {words.count(len(windows) - _MOST_TERMS, 'more window')}")
    sources = (_grid("data", data, cell), _grid("gradient", gradient, first))
    return Drawing(sources, (_grid(name, values, cell, defined),), tuple(said))


def _share(scene: Scene, window: Place, cell: Place, share: float) -> str:
    """Say what a cell gets of the gradient of a window, and why."""
    if np.isnan(share):
        return "what the cell gets of it is undefined"
    amount = "nothing" if share == 0 else "all of it" if share == 1 else f"{share:.6g} of it"
    gets = f"the cell gets {amount}"
    reduction = (scene.operator.forward or scene.operator).reduction
    if reduction.divides:
        divisor = int(scene.plan.divisor[window[2:]])
        return gets if divisor == 1 else f"the cell gets it divided by {divisor:,}"
    if reduction.powers:
        p = scene.plan.params.exponent
        return f"the cell gets it times {share:.6g}, the derivative of the {p}-norm"
    plane = scene.vector.case.data[cell[:2]]
    cells = [axis.cells(number) for axis, number in zip(scene.axes, window[2:], strict=True)]
    maximum = widen(plane[np.ix_(*cells)]).max()
    alike = _equal_cells(plane, cells, maximum)
    if not _equal_cells(plane, [[at] for at in cell[2:]], maximum):
        return f"{gets}, since it does not hold the maximum"
    if alike == 1:
        return f"{gets}, since it holds the maximum"
    why = "though it is" if share == 0 else "as"
    return f"{gets}, {why} {_one_of(alike, 'gradient', scene.readings)}"


def _equal_cells(plane: Array, cells: Sequence[Sequence[int]], value: Any) -> int:
    """Return how many cells of a window hold a value, given their positions per axis."""
    values, wanted = widen(plane[np.ix_(*cells)]), widen(np.asarray(value))
    return int(np.count_nonzero(equal_numbers(values, wanted)))


def _one_of(cells: int, what: str, readings: Combination) -> str:
    """Say that a cell is one of several that hold the maximum, and which reading chose."""
    clause = f"{what}-of-ties"
    by = f" ({clause}={readings[clause]})" if clause in readings else ""
    return f"one of {cells} cells that hold the maximum{by}"


# Unpooling ---------------------------------------------------------------------------------------


def _unpooling(scene: Scene, lead: Place, output: Place) -> Drawing:
    """Return the drawing of an output element with the cells that go there.

    Without one it is the element that the first cell of the plane goes to.
    """
    data, indices = scene.vector.case.own_inputs
    assert isinstance(scene.pipeline.reduce, Scatter)
    name, values, defined = scene.expected(0)
    gathered = scene.pipeline.gathered(data, scene.plan, indices)
    places = scene.pipeline.reduce.places(gathered).reshape(data.shape)
    flat = np.ravel_multi_index((*lead, *output), values.shape) if output else places[lead].flat[0]
    place = tuple(int(at) for at in np.unravel_index(int(flat), values.shape))
    cells = [tuple(cell) for cell in np.argwhere(places == flat).tolist()]
    first = cells[0] if cells else (*place[:2], *(0,) * len(scene.plan.extent))
    why = "" if cells else ": no cell goes there"
    why = ": all cells that go there are the same" if len(cells) > 1 else why
    said = [_at(name, values, place, defined=bool(defined[place]), said=why)]
    for cell in cells[:_MOST_TERMS]:
        value = exact(data[cell], name_of(data.dtype))
        said.append(f"data{list(cell)} = {value}, of index {indices[cell]:,}, goes there")
    if len(cells) > _MOST_TERMS:
        said.append(f"and so do {words.count(len(cells) - _MOST_TERMS, 'more cell')}")
    sources = (_grid("data", data, first), _grid("indices", indices, first))
    return Drawing(sources, (_grid(name, values, place, defined),), tuple(said))
