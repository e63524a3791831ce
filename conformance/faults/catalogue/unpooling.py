"""Faults of unpoolings alone: sizes, where indices put cells, and what is left where none is put.

An unpooling is code of its own: of other faults, those of names.txt concern it that say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.faults.atoms.entries import COLUMN, mask_of, unwritten
from conformance.faults.atoms.lists import IN_EXTENT, PADS, computed, each, read, whole
from conformance.faults.atoms.window_cells import Reduce
from conformance.faults.call import Call
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnData, Refusing, remembering
from conformance.operators.pipeline import Divisor, Gathered, inferred_extent, resolve_pads
from conformance.operators.wraps import before, instead
from conformance.reference.position import numbers_of, positions_of
from conformance.vector import Array

Ints = npt.NDArray[np.int64]

# Where cells are put -----------------------------------------------------------------------------


def _counted(
    change: Callable[[Ints], Any], gathered: Gathered, divisor: Divisor
) -> tuple[Gathered, Divisor]:
    """Take changed indices, of the cells that indices count."""
    counted = prod(_output(gathered)[gathered.params.index_axis :])
    return replace(gathered, gradient_or_indices=change(_indices(gathered)) % counted), divisor


def _put(places: Callable[[Gathered], Any]) -> Fault:
    """Put cells (N, C, d1..dr) at other `places` of the flat output: those beyond it are lost."""

    def scattered(_right: Any, gathered: Gathered, _divisor: Divisor) -> Array:
        shape = _output(gathered)
        result, at = np.zeros(prod(shape), gathered.data.dtype), places(gathered)
        is_held = (at >= 0) & (at < len(result))
        result[at[is_held]] = gathered.data[is_held]
        return result.reshape(shape)

    return Fault.of(reduce=instead(scattered))


def _output(gathered: Gathered) -> tuple[int, ...]:
    return (*gathered.data.shape[:2], *gathered.extent)


def _indices(gathered: Gathered) -> Ints:
    return np.asarray(gathered.gradient_or_indices)


def _in_plane(gathered: Gathered) -> Ints:
    """Return indices less where their plane starts."""
    return _indices(gathered) % prod(gathered.extent)


def _starts(gathered: Gathered, batch_length: int, channel_length: int) -> Ints:
    """Return where planes start, (N, C, 1..1), if batches and channels are so long."""
    batch, channel = np.ogrid[: gathered.data.shape[0], : gathered.data.shape[1]]
    starts: Ints = batch * batch_length + channel * channel_length
    return starts.reshape(*starts.shape, *(1,) * len(gathered.extent))


def _of_planes(gathered: Gathered, sizes: Sequence[int] = ()) -> Ints:
    """Return where planes start that are as large as the output, or of other sizes."""
    cells = prod(sizes or gathered.extent)
    return _starts(gathered, gathered.data.shape[1] * cells, cells)


def _into_first_batch(gathered: Gathered) -> Ints:
    of_tensor = gathered.params.index_axis == 0
    starts = _starts(gathered, 0, 0 if of_tensor else prod(gathered.extent))
    return starts + _indices(gathered) % prod(_output(gathered)[1:])


def _first_of_windows(gathered: Gathered) -> Ints:
    """Return the place of the first cell of each window, (N, C, d1..dr)."""
    params, extent = gathered.params, gathered.extent
    axes = zip(params.sizes, extent, params.strides, params.pads_begin, strict=True)
    first = [np.clip(np.arange(d) * s - begin, 0, o - 1) for d, o, s, begin in axes]
    return _of_planes(gathered) + numbers_of(first, extent)


def _column_major(gathered: Gathered) -> Ints:
    places = positions_of(_in_plane(gathered), gathered.extent, order="F")
    return _of_planes(gathered) + np.ravel_multi_index(places, gathered.extent)


def _of_padded(gathered: Gathered) -> Ints:
    """Take indices as those of the output with its padding, in a plane."""
    pads = resolve_pads(gathered.params)
    padded = [o + sum(pad) for o, pad in zip(gathered.extent, pads, strict=True)]
    return _of_other_plane(gathered, padded, gathered.params.pads_begin)


def _inferred(gathered: Gathered) -> list[int]:
    """Return the sizes of a plane that are inferred: the low corner of the output."""
    params = gathered.params
    return [max(1, o) for o in inferred_extent(params, resolve_pads(params))]


def _of_other_plane(gathered: Gathered, plane: Sequence[int], start: Sequence[int]) -> Ints:
    """Take indices as those of another plane, of which the output begins at `start`."""
    extent = gathered.extent
    cells = positions_of(_in_plane(gathered) % prod(plane), plane)
    axes = zip(cells, start, extent, strict=True)
    inside = [np.clip(cell - begin, 0, o - 1) for cell, begin, o in axes]
    return _of_planes(gathered) + np.ravel_multi_index(inside, extent)


_PLACES = {
    "unpool-index-less-one": Fault.of(reduce=before(_counted, lambda i: i - 1)),
    "unpool-index-plus-one": Fault.of(reduce=before(_counted, lambda i: i + 1)),
    "unpool-index-from-end": Fault.of(reduce=before(_counted, lambda i: -1 - i)),
    "unpool-index-in-8-bits": Fault.of(reduce=before(_counted, lambda i: i % 256)),
    "unpool-index-column-major": _put(_column_major),
    "unpool-index-of-padded": _put(_of_padded),
    "unpool-index-of-inferred": _put(
        lambda given: _of_other_plane(given, _inferred(given), (0,) * len(given.extent))
    ),
    "unpool-planes-of-inferred": _put(
        lambda given: _of_planes(given, _inferred(given)) + _in_plane(given)
    ),
    "unpool-index-of-plane": _put(lambda given: _of_planes(given) + _indices(given)),
    "unpool-index-kept-in-plane": _put(lambda given: _of_planes(given) + _in_plane(given)),
    "unpool-index-of-tensor": _put(_indices),
    "unpool-batch-forgotten": _put(_into_first_batch),
    "unpool-channel-forgotten": _put(
        lambda given: _starts(given, prod(_output(given)[1:]), 0) + _in_plane(given)
    ),
    "unpool-index-unread": _put(_first_of_windows),
}

# What is put, and what is left where nothing is --------------------------------------------------


def _added(right: Any, gathered: Gathered, _divisor: Divisor) -> Array:
    shape = _output(gathered)
    total = np.zeros(prod(shape), np.float64)
    with np.errstate(all="ignore"):
        np.add.at(total, right.places(gathered), gathered.data.astype(np.float64).ravel())
        return total.astype(gathered.data.dtype).reshape(shape)


def _without_index_0(gathered: Gathered, divisor: Divisor) -> tuple[Gathered, Divisor]:
    zero = gathered.data.dtype.type(0)
    return replace(gathered, data=np.where(_indices(gathered) > 0, gathered.data, zero)), divisor


def _filled(value: float) -> Fault:
    """Put a value where no cell goes."""
    return Fault.of(reduce=instead(_filling, lambda result: result.dtype.type(value)))


def _not_cleared(
    left: dict[Any, Array], right: Reduce, gathered: Gathered, divisor: Divisor
) -> Array:
    """Leave what the call before left, if its output has the same shape."""

    def kept(result: Array) -> Array:
        return left.get((result.shape, result.dtype), result)

    result = _filling(kept, right, gathered, divisor)
    left[result.shape, result.dtype] = result.copy()
    return result


def _filling(
    filler: Callable[[Array], Any], right: Reduce, gathered: Gathered, divisor: Divisor
) -> Array:
    """Put what `filler` makes of the right output where no cell goes."""
    ones = replace(gathered, data=np.ones_like(gathered.data))
    result = right(gathered, divisor)
    return np.where(right(ones, divisor) == 0, filler(result), result)


def _repeats(gathered: Gathered, _divisor: Divisor) -> bool:
    """Say whether two cells of a plane have one index."""
    indices = _indices(gathered)
    planes = np.sort(indices.reshape(prod(indices.shape[:2]), -1), axis=1)
    return bool((planes[:, 1:] == planes[:, :-1]).any())


_PUT = {
    "unpool-repeats-added": Fault.of(reduce=instead(_added)),
    "unpool-refuses-repeats": Fault.of(reduce=Refusing(_repeats)),
    "unpool-index-0-as-none": Fault.of(reduce=before(_without_index_0)),
    "unpool-filled-with-ones": _filled(1.0),
    "unpool-filled-with-minus-infinity": _filled(-np.inf),
    "unpool-not-cleared": Fault.of(reduce=remembering(_not_cleared)).but(remembers=True),
    "unpool-last-cell-lost": Fault.of(
        gather=OnData(unwritten(mask_of(COLUMN, lambda i, count: i == count - 1)).change)
    ),
}

# Sizes, and what is accepted ---------------------------------------------------------------------


def _with_int64(call: Call) -> tuple[Call]:
    data, indices, *others = call.inputs
    if indices.dtype.kind == "i":
        indices = indices.astype(np.int64)
    return (replace(call, inputs=(data, indices, *others)),)


def _with_short_lists(call: Call) -> tuple[Call]:
    given = {
        role: value[: call.axes] if isinstance(value, list | tuple) else value
        for role, value in call.given.items()
    }
    return (replace(call, given=given),)


FAULTS = {
    **_PLACES,
    **_PUT,
    "unpool-pads-added": read(pads=whole("", lambda pads: tuple(-pad for pad in pads))),
    "unpool-size-less-pads": read(
        fixed_output=computed("", lambda o, b, e: o - b - e, "fixed_output", *PADS)
    ),
    "unpool-window-too-many": read(IN_EXTENT, sizes=each("", lambda d: d + 1)),
    "unpool-accepts-int32": Fault.of(validate=before(_with_int64)),
    "unpool-accepts-long-lists": Fault.of(validate=before(_with_short_lists)),
}
