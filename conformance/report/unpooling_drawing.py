"""An unpooling drawn: planes of data, indices and output, and which cell went where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from conformance.dtypes import name_of
from conformance.literals import exact
from conformance.operators import Operator
from conformance.operators.clauses import under
from conformance.operators.pipeline import Plan
from conformance.operators.unpooling import Scatter
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.gradient_drawing import plane_grid
from conformance.report.grid import side_by_side
from conformance.vector import UNDEFINED, Combination, Values, Vector

_GIVERS = 12


def draw_unpooling(
    vector: Vector,
    operator: Operator,
    readings: Combination,
    outcome: Values,
    plan: Plan,
    place: tuple[int, ...],
    width: int,
) -> Iterator[doc.Block]:
    """Yield grids of data, indices and the right output, and the cells that go to one place of it.

    `outcome` is the answer under `readings`; `place` the position of an element of the output, or
    of a plane alone, whose first cell of the data then says which element it is.
    """
    data, indices = vector.case.own_inputs
    pipeline = under(operator, readings)
    if not isinstance(pipeline.reduce, Scatter):
        return
    expected = outcome.outputs[0]
    shape = expected.values.shape
    places = pipeline.reduce.places(pipeline.gathered(data, plan, indices)).reshape(data.shape)
    if len(place) < len(shape):
        place = _position(int(places[place].flat[0]), shape)
    cells = [
        tuple(cell) for cell in np.argwhere(places == np.ravel_multi_index(place, shape)).tolist()
    ]
    first = cells[0] if cells else (*place[:2], *(0,) * len(plan.extent))
    defined = (expected.addends != UNDEFINED).reshape(shape)
    everything = np.ones(data.shape, np.bool_)
    grids = (
        plane_grid("data", data, everything, first, width),
        plane_grid("indices", indices, everything, first, width),
        plane_grid("expected", expected.values, defined, place, width),
    )
    yield doc.Drawing(side_by_side(grids, width=width).lines())
    yield doc.Paragraph("")
    name = f"expected{list(place)}"
    if defined[place]:
        value = exact(expected.values[place], name_of(expected.values.dtype))
        yield doc.Paragraph((doc.Span(f"{name} = {value}", "chosen"), _why(len(cells))))
    else:
        undefined = f"{name} is undefined: any value conforms"
        yield doc.Paragraph(doc.Span(undefined, "undefined"))
    for cell in cells[:_GIVERS]:
        value = exact(data[cell], name_of(data.dtype))
        yield doc.Paragraph(f"data{list(cell)} = {value}, of index {indices[cell]:,}, goes there")
    if len(cells) > _GIVERS:
        yield doc.Paragraph(f"and so do {words.count(len(cells) - _GIVERS, 'more cell')}")


def _position(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(number, shape))


def _why(cells: int) -> str:
    if not cells:
        return ": no cell goes there"
    return "" if cells == 1 else ": all cells that go there are the same"
