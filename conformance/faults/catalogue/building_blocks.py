"""What the modules of the catalogue share: whom faults concern, and ways to wrap a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Pads, Windows
from conformance.vector import Array

# What an operator must have for a fault to show in it; `&` asks for both. A fault that needs
# nothing concerns every operator.
WINDOWED = Needs(roles=("kernel",))
STRIDED = Needs(roles=("kernel", "strides"))
PADDED = Needs(roles=("kernel", "pads_begin", "pads_end"))
ROUNDED = Needs(roles=("kernel", "strides", "rounding"))
AUTO_PADDED = Needs(roles=("kernel", "strides", "auto_pad"))
INCLUDING = Needs(roles=("kernel", "include_pad"))
ADAPTIVE = Needs(roles=("output",))
UNEVEN = Needs(some=("pads_begin", "auto_pad", "rounding", "output"))  # windows differ in cells
BORDERED = WINDOWED & Needs(some=("pads_begin", "auto_pad"))  # windows may reach beyond the input
SAYS_LOWER = Needs(says=(("auto_pad", "same_lower"),))
SAYS_VALID = Needs(says=(("auto_pad", "valid"),))
SAYS_EXPLICIT = Needs(says=(("auto_pad", "explicit"),))
AVERAGES = Needs(reduction="average")
MAXIMUM = Needs(reduction="maximum")
CHOOSING = Needs(sums=False)
INTEGERS = Needs(integers=True)
FURTHER = Needs(outputs=2)

Change = Callable[[Params], Params]


class Refused(ValueError):  # noqa: N818 - says what happened
    """Raised by a fault that refuses a valid case."""


class Slip(NamedTuple):
    """A slip of a tuple that holds one value per axis."""

    name: str
    words: str
    of: Callable[[tuple[Any, ...]], tuple[Any, ...]]


AXIS_SLIPS = (
    Slip("first-for-all", "of the first axis used for every axis", lambda v: v[:1] * len(v)),
    Slip("last-for-all", "of the last axis used for every axis", lambda v: v[-1:] * len(v)),
    Slip("reversed", "taken in reverse axis order", lambda v: v[::-1]),
)


def misread_by_axis(
    step: str,
    field: str,
    where: str,
    needs: Needs,
    bugs: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Fault, ...]:
    """Return faults of a step that misreads a field axis by axis; `where` says it in words.

    `bugs` are those of a slip, by its name.
    """
    return tuple(
        Fault(
            f"{step}-{field}-{slip.name}",
            f"{field} {slip.words} {where}",
            needs=needs,
            replaces={step: seeing(changed(field, slip.of))},
            bugs=(bugs or {}).get(slip.name, ()),
        )
        for slip in AXIS_SLIPS
    )


def changed(field: str, slip: Callable[[Any], Any]) -> Change:
    """Return what applies `slip` to one field of the parameters."""
    return lambda params: replace(params, **{field: slip(getattr(params, field))})


def resolving(change: Change) -> StepWrap:
    """Wrap `resolve`: every later step gets changed parameters."""
    return lambda resolve: lambda *given: change(resolve(*given))


def seeing(change: Change) -> StepWrap:
    """Wrap pads, extent, windows or divide: this step alone gets changed parameters."""
    return lambda step: lambda params, *rest: step(change(params), *rest)


def seeing_pads(change: Callable[[Pads], Pads]) -> StepWrap:
    """Wrap extent, windows or divide: this step alone gets changed pads."""
    return lambda step: (
        lambda params, pads, last=None: (
            step(params, change(pads)) if last is None else step(params, change(pads), last)
        )
    )


def refusing(condition: Callable[[Params, Pads, tuple[int, ...]], bool]) -> StepWrap:
    """Wrap `windows`: refuse the cases whose parameters, pads and extent meet a condition."""

    def wrap(windows: Callable[..., Windows]) -> Callable[..., Windows]:
        def refuse(params: Params, pads: Pads, extent: tuple[int, ...]) -> Windows:
            if condition(params, pads, extent):
                raise Refused("not implemented for these attributes")
            return windows(params, pads, extent)

        return refuse

    return wrap


def result(change: Callable[[Array, Gathered], Array]) -> StepWrap:
    """Wrap `reduce`: change its result, given a copy of it and the cells it came from."""
    return lambda reduce: lambda gathered, divisor: change(reduce(gathered, divisor), gathered)


def further_results(change: Callable[[Array], Array]) -> StepWrap:
    """Wrap `further`: change each output that it computes."""
    return lambda further: (
        lambda gathered, divisor, first: tuple(map(change, further(gathered, divisor, first)))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Seen(Gathered):
    """Gathered cells with the parameters and windows they were gathered for."""

    params: Params
    windows: Windows


def remember(gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
    """Wrap `gather` so that `reduce` sees parameters and windows."""

    def seen(data: Array, params: Params, windows: Windows) -> Gathered:
        found = gather(data, params, windows)
        return Seen(found.data, found.lo, found.hi, params, windows)

    return seen


Positions = Sequence[Sequence[Sequence[int]]]  # of each axis, of each window, its cells


def unrolled(data: Array, positions: Positions) -> Gathered:
    """Gather any cells: window i reads, per axis, the cells `positions[axis][i]` of the data."""
    lo, hi = [], []
    for axis, windows in enumerate(positions, start=2):
        lengths = np.array([len(cells) for cells in windows], np.int64)
        flat = np.array([cell for cells in windows for cell in cells], np.int64)
        data = np.take(data, flat, axis=axis)
        hi.append(np.cumsum(lengths))
        lo.append(hi[-1] - lengths)
    return Gathered(data, tuple(lo), tuple(hi))


def cells_of(gathered: Gathered) -> list[list[list[int]]]:
    """Return the cells each window reads, per axis."""
    return [
        [list(range(a, b)) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
        for lo, hi in zip(gathered.lo, gathered.hi, strict=True)
    ]


def reading_other_cells(
    choose: Callable[[list[int], int, Params, int], list[int]], *, unclipped: bool = False
) -> StepWrap:
    """Wrap `gather`: `choose(cells, d, params, axis)` says which cells a window reads instead.

    With `unclipped`, `choose` gets the cells of the whole window, in the padding too. A last
    cell d, one beyond the input, holds zero.
    """

    def wrap(gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
        def other(data: Array, params: Params, windows: Windows) -> Gathered:
            whole = Gathered(data, windows.start, windows.stop)
            found = gather(data, params, windows)
            right = cells_of(found)
            seen = cells_of(whole) if unclipped else right
            positions = [
                [choose(cells, d, params, axis) for cells in seen[axis]]
                for axis, d in enumerate(params.sizes)
            ]
            return found if positions == right else unrolled(_with_zeros(data), positions)

        return other

    return wrap


def _with_zeros(data: Array) -> Array:
    """Return the data with one more cell, of zero, at the end of each spatial axis."""
    larger = np.zeros((*data.shape[:2], *(d + 1 for d in data.shape[2:])), data.dtype)
    larger[tuple(slice(d) for d in data.shape)] = data
    return larger
