"""An operator as a pipeline of named steps, each a small pure function that can be replaced.

    resolve -> pads -> extent -> windows -> gather -> divide -> reduce -> further -> clamp

`resolve` says what the attributes mean; `pads`, `extent` and `windows` are geometry; `gather` says
which cells each window reads; `divide` by what a sum is divided; `reduce` computes the values of
the first output, dividing and rounding once; `further` computes the other outputs; `clamp` limits
the first. A reading replaces a step by one that a document allows, a fault by one that it forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.errors import InvalidCase
from conformance.operators import windows as axis
from conformance.operators.params import Params
from conformance.reference.fold import Ranges
from conformance.vector import Array

Pads = tuple[tuple[int, int], ...]
Extent = tuple[int, ...]
Divisor = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Start and stop of each window per spatial axis, in input coordinates, not clipped.

    Along an axis, a window has every n-th cell from start to stop, where n is its entry of
    `dilations`; none are ones.
    """

    start: tuple[axis.Positions, ...]
    stop: tuple[axis.Positions, ...]
    dilations: tuple[int, ...] = ()

    @property
    def axes(self) -> list[tuple[axis.Positions, axis.Positions, int]]:
        """Start, stop and dilation per spatial axis."""
        dilations = self.dilations or (1,) * len(self.start)
        return list(zip(self.start, self.stop, dilations, strict=True))

    @property
    def lengths(self) -> tuple[Divisor, ...]:
        """Cells of each window per spatial axis, those outside of the input too."""
        return tuple(-((start - stop) // n) for start, stop, n in self.axes)

    def inside(self, sizes: Sequence[int]) -> tuple[Divisor, ...]:
        """Return the cells of each window that lie in the input, per spatial axis."""
        return tuple(
            axis.cells_within(start, stop, 0, d, n)
            for (start, stop, n), d in zip(self.axes, sizes, strict=True)
        )

    def ranges(self, sizes: Sequence[int]) -> tuple[Ranges, Ranges]:
        """Return lo and hi of each window's cells in the input, per spatial axis.

        They number the cells of a dilated axis by remainder, see `axis.by_remainder`.
        """
        ends = [
            axis.ranges_by_remainder(start, stop, d, n)
            for (start, stop, n), d in zip(self.axes, sizes, strict=True)
        ]
        return tuple(lo for lo, _ in ends), tuple(hi for _, hi in ends)


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The data the windows read and, per spatial axis, the cells lo:hi of it each reads.

    `positions` are, per spatial axis, where the cells of `data` lie in the input: a step may put
    them in another order. `params` and `windows` are what was gathered for. Values depend on
    `gradient_or_indices`, too: on the gradient of the first output, for an operator that is a
    gradient, and on the indices of an unpooling.
    """

    data: Array
    lo: Ranges
    hi: Ranges
    positions: tuple[axis.Positions, ...]
    params: Params
    windows: Windows
    gradient_or_indices: Array | None = None

    @property
    def extent(self) -> Extent:
        """The number of windows per spatial axis."""
        return tuple(map(len, self.windows.start))


@dataclass(frozen=True)
class Plan:
    """The geometry of one case: everything that does not depend on values."""

    params: Params
    pads: Pads
    extent: Extent
    windows: Windows
    divisor: Divisor

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for two plans exactly if they read the same cells and divide by the same.

        Of cells beyond the input, whether a window has some is all that matters.
        """
        cells = []
        windows = self.windows
        inside = windows.inside(self.params.sizes)
        each_axis = zip(windows.axes, windows.lengths, inside, strict=True)
        for (start, _, dilation), length, count in each_axis:
            first = np.where(count > 0, axis.first_from(start, 0, dilation), 0)
            apart = dilation if (count > 1).any() else 1
            cells.append((first.tobytes(), count.tobytes(), apart, (length > count).tobytes()))
        return (self.extent, *cells, self.divisor.tobytes())


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One function per step.

    `resolve` gets what the attributes say, and changes it where a document means more than that.
    `further` gets the first output too, and returns the others in the document's order. `clamp`
    gets the same, and returns the first output as it is returned.
    """

    resolve: Callable[[Params], Params]
    pads: Callable[[Params], Pads]
    extent: Callable[[Params, Pads], Extent]
    windows: Callable[[Params, Pads, Extent], Windows]
    gather: Callable[[Array, Params, Windows], Gathered]
    divide: Callable[[Params, Pads, Windows], Divisor]
    reduce: Callable[[Gathered, Divisor], Array]
    further: Callable[[Gathered, Divisor, Array], tuple[Array, ...]]
    clamp: Callable[[Gathered, Divisor, Array], Array]

    def plan(self, params: Params) -> Plan:
        """Run the geometry steps."""
        pads = self.pads(params)
        return self.laid_out(params, pads, self.extent(params, pads))

    def laid_out(self, params: Params, pads: Pads, extent: Extent) -> Plan:
        """Run the geometry steps after `extent`: those that allocate as much as it says."""
        windows = self.windows(params, pads, extent)
        return Plan(params, pads, extent, windows, self.divide(params, pads, windows))

    def values(
        self, data: Array, plan: Plan, gradient_or_indices: Array | None = None
    ) -> tuple[Array, ...]:
        """Run the steps that compute outputs; arguments are those of `gathered`."""
        return self.outputs(self.gathered(data, plan, gradient_or_indices), plan.divisor)

    def gathered(
        self, data: Array, plan: Plan, gradient_or_indices: Array | None = None
    ) -> Gathered:
        """Run the step that reads cells; `data` has shape (N, C, d1..dr).

        `gradient_or_indices` is the array beside them, see `Operator.gradient_or_indices`.
        """
        return replace(
            self.gather(data, plan.params, plan.windows), gradient_or_indices=gradient_or_indices
        )

    def outputs(self, gathered: Gathered, divisor: Divisor) -> tuple[Array, ...]:
        """Run the steps after `gather`."""
        first = self.reduce(gathered, divisor)
        others = self.further(gathered, divisor, first)
        return (self.clamp(gathered, divisor, first), *others)

    def replace(self, **steps: Callable[..., Any]) -> Pipeline:
        """Return a pipeline with some steps replaced."""
        return replace(self, **steps)


# Steps of the documents, in the default reading of each clause.


def as_given(params: Params) -> Params:
    """Take what the attributes say."""
    return params


def whole_plane(params: Params) -> Params:
    """Pool all cells of a plane in one window."""
    ones, zeros = (1,) * len(params.sizes), (0,) * len(params.sizes)
    return replace(
        params,
        kernel=params.sizes,
        strides=ones,
        dilations=ones,
        pads_begin=zeros,
        pads_end=zeros,
    )


def resolve_pads(params: Params) -> Pads:
    """Explicit pads as given, none for valid; for same_* what o = ceil(d / s) windows need."""
    return pads_for(params, same_extent(params))


def same_extent(params: Params) -> Extent:
    """Return how many windows same_* pads for: o = ceil(d / s)."""
    axes = zip(params.sizes, params.strides, strict=True)
    return tuple(axis.ceil_div(d, s) for d, s in axes)


def pads_for(params: Params, wanted: Extent) -> Pads:
    """Resolve pads, those of same_* for a wanted output extent."""
    if params.auto_pad == "explicit":
        return tuple(zip(params.pads_begin, params.pads_end, strict=True))
    if params.auto_pad == "valid":
        return ((0, 0),) * len(params.sizes)
    at_end = params.auto_pad == "same_upper"
    return tuple(
        axis.split(axis.same_total(d, k, s, o), larger_at_end=at_end)
        for d, k, s, o in zip(params.sizes, params.spans, params.strides, wanted, strict=True)
    )


def reaches(pads: Pads, kernel: tuple[int, ...]) -> bool:
    """Say whether pads are as long as a kernel on some axis."""
    return any(max(pad) >= k for pad, k in zip(pads, kernel, strict=True))


def slacks(params: Params, pads: Pads) -> tuple[int, ...]:
    """Return the slack d + begin + end - k per spatial axis, in cells.

    Negative where the kernel is larger than the padded input. A dilated kernel counts from its
    first to its last cell.
    """
    return tuple(
        axis.slack(d, k, *pad) for d, k, pad in zip(params.sizes, params.spans, pads, strict=True)
    )


def count_windows(params: Params, pads: Pads) -> Extent:
    """Round as rounding_type says; same_* fixes its output size, so it does not round."""
    return rounded_extent(params, pads, "floor" if params.same else params.rounding)


def rounded_extent(params: Params, pads: Pads, rounding: str) -> Extent:
    """Return the number of windows that fit, rounded as `rounding` says."""
    windows = tuple(
        axis.extent(t, s, ceil=rounding != "floor")
        for t, s in zip(slacks(params, pads), params.strides, strict=True)
    )
    return without_last_past_input(params, pads, windows) if rounding == "ceil_torch" else windows


def without_last_past_input(params: Params, pads: Pads, windows: Extent) -> Extent:
    """Leave out the last window of an axis where it starts at or past d + begin."""
    return tuple(
        o - 1 if (o - 1) * s >= d + begin else o
        for o, s, d, (begin, _) in zip(windows, params.strides, params.sizes, pads, strict=True)
    )


# Windows of a document where the caller may say how many there are, though that follows.


def sized(params: Params) -> Params:
    """Take what attributes say; InvalidCase for an output size that windows do not have.

    They have one rounded down on every axis, and one rounded up, with the padding or without.
    """
    if any(params.fixed_output) and not any(sizes_fit(params)):
        sizes = list(params.fixed_output)
        raise InvalidCase(f"an output size of {sizes}: windows have another, rounded down or up")
    return params


def sizes_fit(params: Params) -> list[bool]:
    """Say whether an output size is one that windows have: with the padding, and without."""
    return [
        params.fixed_output in {rounded_extent(params, pads, way) for way in ("floor", "ceil")}
        for pads in (resolve_pads(params), no_pads(params))
    ]


def no_pads_of_sized(params: Params) -> Pads:
    """Pad nothing where an output size is given."""
    return no_pads(params) if any(params.fixed_output) else resolve_pads(params)


def sized_extent(params: Params, pads: Pads) -> Extent:
    """Return the output size that is given or, where none is, the number of windows."""
    return params.fixed_output if any(params.fixed_output) else count_windows(params, pads)


def slide(params: Params, pads: Pads, extent: Extent) -> Windows:
    """Put a window every stride, the first at the begin of the padding."""
    ranges = [
        axis.sliding(o, k, s, begin)
        for o, k, s, (begin, _) in zip(extent, params.spans, params.strides, pads, strict=True)
    ]
    return Windows(tuple(a for a, _ in ranges), tuple(b for _, b in ranges), params.dilations)


def clip(data: Array, params: Params, windows: Windows) -> Gathered:
    """Read the cells of each window that lie inside the input; padding holds no cells.

    Dilated axes are put in order of their remainder: there, too, a window is a range of cells.
    """
    positions = []
    for j, ((_, _, n), d) in enumerate(zip(windows.axes, params.sizes, strict=True), start=2):
        positions.append(axis.by_remainder(d, n))
        if n > 1:
            data = data.take(positions[-1], axis=j)
    return Gathered(data, *windows.ranges(params.sizes), tuple(positions), params, windows)


def count_cells(params: Params, pads: Pads, windows: Windows) -> Divisor:
    """Count the cells of each window inside the input or, padding included, inside input + pads.

    The overhang of ceil rounding lies outside both and never counts. A divisor that is fixed is
    that of every window.
    """
    counts = outer(counted(params, pads, windows))
    return counts if params.fixed_divisor is None else np.full_like(counts, params.fixed_divisor)


def counted(params: Params, pads: Pads, windows: Windows) -> list[Divisor]:
    """Return the cells of each window that count in the divisor, per spatial axis."""
    frames = pads if params.include_pad else ((0, 0),) * len(pads)
    axes = zip(windows.axes, params.sizes, frames, strict=True)
    return [
        axis.cells_within(start, stop, -begin, d + end, n)
        for (start, stop, n), d, (begin, end) in axes
    ]


def no_divisor(_params: Params, _pads: Pads, windows: Windows) -> Divisor:
    """Divide by one: a maximum is not divided."""
    return np.ones([len(start) for start in windows.start], np.int64)


def no_pads(params: Params) -> Pads:
    """Pad nothing."""
    return ((0, 0),) * len(params.sizes)


def wanted_extent(params: Params, _pads: Pads) -> Extent:
    """Return the output size asked for."""
    return params.output


def divide_axes(params: Params, _pads: Pads, extent: Extent) -> Windows:
    """Divide each axis in exact integers: the blocks of an adaptive operator."""
    ranges = [axis.adaptive(d, o) for d, o in zip(params.sizes, extent, strict=True)]
    return Windows(tuple(a for a, _ in ranges), tuple(b for _, b in ranges))


def unpooled_extent(params: Params, pads: Pads) -> Extent:
    """Return the output size of an unpooling: as asked for, or else as it is inferred."""
    return tuple(
        given or size
        for given, size in zip(params.fixed_output, inferred_extent(params, pads), strict=True)
    )


def inferred_extent(params: Params, pads: Pads) -> Extent:
    """Return the size that windows of one cell of the data each cover, pads cut off."""
    return tuple(
        axis.unpooled(d, k, s, *pad)
        for d, k, s, pad in zip(params.sizes, params.spans, params.strides, pads, strict=True)
    )


def no_cells(_params: Params, _pads: Pads, extent: Extent) -> Windows:
    """Let each cell of an output read no cell; InvalidCase for an output without any."""
    if min(extent) < 1:
        raise InvalidCase(f"an output of {list(extent)} cells: nothing to unpool")
    nowhere = tuple(np.zeros(o, np.int64) for o in extent)
    return Windows(nowhere, nowhere)


def no_further(_gathered: Gathered, _divisor: Divisor, _first: Array) -> tuple[Array, ...]:
    """Compute one output alone."""
    return ()


def no_clamp(_gathered: Gathered, _divisor: Divisor, first: Array) -> Array:
    """Return the first output as it is."""
    return first


def outer(counts: Sequence[Divisor]) -> Divisor:
    """Return the product of one count per axis, for every output position."""
    result: Divisor = np.ones((), np.int64)
    for count in counts:
        result = result[..., np.newaxis] * count
    return result
