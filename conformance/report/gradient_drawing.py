"""A gradient drawn: planes of what is given and of what is right, and who gave what to a cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import name_of
from conformance.literals import exact
from conformance.operators import Operator
from conformance.operators.clauses import under
from conformance.operators.pipeline import Plan
from conformance.reference.rounding import widen
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.grid import Axis, Sheet, draw_grid, side_by_side
from conformance.vector import UNDEFINED, Array, Combination, Values, Vector

_FLAT = Axis(0, 1, (0, 1), named=False)
_ROWS, _GIVERS = 12, 12


def draw_gradient(
    vector: Vector,
    operator: Operator,
    readings: Combination,
    outcome: Values,
    plan: Plan,
    cell: tuple[int, ...],
    width: int,
) -> Iterator[doc.Block]:
    """Yield grids of the data, of the gradient given and of the one that is right, and its terms.

    `outcome` is the answer under `readings`; `cell` the position of an element of the data. What a
    window gives to it is found by the steps of the operator: the gradient of that window alone, 1.
    """
    pipeline = under(operator, readings)
    data, gradient = vector.case.data, vector.case.gradient
    if gradient is None:
        return
    expected = outcome.outputs[0]
    defined = (expected.addends != UNDEFINED).reshape(expected.values.shape)
    everything = np.ones_like(defined)
    windows = _holding(plan, cell[2:])
    first = (*cell[:2], *(windows[0] if windows else (0,) * len(plan.extent)))
    grids = (
        plane_grid("data", data, everything, cell, width),
        plane_grid("gradient", gradient, np.ones(gradient.shape, np.bool_), first, width),
        plane_grid("gradient of data", expected.values, defined, cell, width),
    )
    yield doc.Drawing(side_by_side(grids, width=width).lines())
    yield doc.Paragraph("")
    yield doc.Paragraph(_sum(expected.values, cell, len(windows), known=bool(defined[cell])))
    for window in windows[:_GIVERS]:
        place = (*cell[:2], *window)
        one = np.zeros(gradient.shape, gradient.dtype)
        one[place] = 1
        share = widen(pipeline.values(data, plan, one)[0])[cell]
        given = exact(gradient[place], name_of(gradient.dtype))
        gets = _share(operator, readings, data, plan, window, cell, float(share))
        yield doc.Paragraph(f"gradient{list(place)} = {given}: {gets}")
    if len(windows) > _GIVERS:
        yield doc.Paragraph(f"and {words.count(len(windows) - _GIVERS, 'more window')}")


def _sum(
    values: Array, cell: tuple[int, ...], windows: int, *, known: bool
) -> tuple[str | doc.Span, ...]:
    place = f"gradient of data{list(cell)}"
    if not known:
        return (doc.Span(f"{place} is undefined: any value conforms", "undefined"),)
    value = exact(values[cell], name_of(values.dtype))
    shares = "the share" if windows == 1 else "the sum of the shares"
    held = f": {shares} of {words.count(windows, 'window')}" if windows else ": no window holds it"
    return (doc.Span(f"{place} = {value}", "chosen"), held)


def _share(
    operator: Operator,
    readings: Combination,
    data: Array,
    plan: Plan,
    window: Sequence[int],
    cell: tuple[int, ...],
    share: float,
) -> str:
    """Say what a cell gets of the gradient of a window, and why."""
    if np.isnan(share):
        return "what the cell gets of it is undefined"
    amount = "nothing" if share == 0 else "all of it" if share == 1 else f"{share:.6g} of it"
    gets = f"the cell gets {amount}"
    reduction = (operator.forward or operator).reduction
    if reduction.divides:
        divisor = int(plan.divisor[tuple(window)])
        return gets if divisor == 1 else f"the cell gets it divided by {divisor:,}"
    if reduction.powers:
        p = plan.params.exponent
        return f"the cell gets it times {share:.6g}, the derivative of the {p}-norm"
    cells, plane = cells_of(plan, window), data[cell[:2]]
    maximum = widen(plane[np.ix_(*cells)]).max()
    alike = equal_cells(plane, cells, maximum)
    if not equal_cells(data, [[at] for at in cell], maximum):
        return f"{gets}, since it does not hold the maximum"
    if alike == 1:
        return f"{gets}, since it holds the maximum"
    why = "though it is" if share == 0 else "as"
    return f"{gets}, {why} {one_of(alike, 'gradient', readings)}"


def cells_of(plan: Plan, window: Sequence[int]) -> list[list[int]]:
    """Return the positions of a window's cells in the input, per spatial axis."""
    axes = zip(window, plan.windows.axes, plan.params.sizes, strict=True)
    return [
        [at for at in range(int(start[i]), int(stop[i]), dilation) if 0 <= at < d]
        for i, (start, stop, dilation), d in axes
    ]


def equal_cells(plane: Array, cells: Sequence[Sequence[int]], value: Any) -> int:
    """Return how many cells of a window hold a value, given their positions per axis."""
    values, wanted = widen(plane[np.ix_(*cells)]), widen(np.asarray(value))
    return int(np.count_nonzero((values == wanted) | (np.isnan(values) & np.isnan(wanted))))


def one_of(cells: int, what: str, readings: Combination) -> str:
    """Say that a cell is one of several that hold the maximum, and which reading chose."""
    clause = f"{what}-of-ties"
    by = f" ({clause}={readings[clause]})" if clause in readings else ""
    return f"one of {cells} cells that hold the maximum{by}"


def _holding(plan: Plan, cell: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the positions of the windows that hold a cell."""
    of_axes = [
        [
            index
            for index, (first, last) in enumerate(zip(start.tolist(), stop.tolist(), strict=True))
            if position in range(first, last, dilation)
        ]
        for (start, stop, dilation), position in zip(plan.windows.axes, cell, strict=True)
    ]
    return list(product(*of_axes))


def plane_grid(
    name: str,
    values: Array,
    defined: npt.NDArray[np.bool_],
    place: tuple[int, ...],
    width: int,
) -> Sheet:
    """Return the grid of the plane of the last two axes that holds a place, which is outlined."""
    flat = 2 if values.ndim > 3 else 1
    lead = place[:-flat]
    plane, known = np.atleast_2d(values[lead]), np.atleast_2d(defined[lead])

    def cell(p: int, q: int) -> tuple[str, doc.Tone]:
        return (words.short(plane[p, q]), "") if known[p, q] else ("?", "undefined")

    outline = [(i, i + 1) for i in place[-flat:]]
    rows = Axis(0, plane.shape[0], outline[0]) if flat == 2 else _FLAT
    title = f"{name}[{', '.join(map(str, lead))}]"
    columns = Axis(0, plane.shape[1], outline[-1])
    return draw_grid(title, rows, columns, cell, width=width, height=_ROWS)
