"""Faults of unpoolings: sizes, indices, what is copied, and what is left where nothing is.

An unpooling is code of its own: no other fault of the catalogue concerns it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.faults.atoms.numbers import Change, Number, of_floats, rounded_to, where
from conformance.faults.behaviour import (
    DOUBLES,
    VOLUMETRIC,
    Behaviour,
    Faults,
    Refused,
    after,
    before,
    instead,
    wrong_params,
)
from conformance.faults.call import Call
from conformance.faults.catalogue.values import reducing, returning
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Gathered, Pads, inferred_extent
from conformance.vector import Array

Ints = npt.NDArray[np.int64]

_EVERY = Needs(scatters=True)
_SEVERAL_AXES = _EVERY & Needs(axes=2)
_OF_TENSOR = _EVERY & Needs(beyond_planes=True)  # indices count the cells of all planes
_OF_PLANE = _EVERY & Needs(beyond_planes=False)


def _params(summary: str, change: Callable[[Params], Params], needs: Needs = _EVERY) -> Behaviour:
    return wrong_params("resolve", summary, needs, change)


def _extent(summary: str, change: Callable[[Params, Pads, Extent], Extent]) -> Behaviour:
    """Let the output have another size: `change(params, pads, size)`."""
    return Behaviour(
        summary, _EVERY, after("extent", lambda right, params, pads: change(params, pads, right))
    )


def _indices(
    summary: str, change: Callable[[Ints, tuple[int, ...]], Any], needs: Needs = _EVERY
) -> Behaviour:
    """Take other indices: `change(indices, shape)`, which count the cells of that shape."""

    def other(gathered: Gathered, divisor: Divisor) -> tuple[Gathered, Divisor]:
        shape = _output(gathered)[gathered.params.index_axis :]
        indices = change(np.asarray(gathered.beside), shape) % prod(shape)
        return replace(gathered, beside=indices), divisor

    return Behaviour(summary, needs, before("reduce", other))


def _places(summary: str, of: Callable[[Gathered], Any], needs: Needs = _EVERY) -> Behaviour:
    """Put each cell at another place of the flat output: `of(gathered)`, (N, C, d1..dr)."""

    def scattered(_right: Any, gathered: Gathered, _divisor: Divisor) -> Array:
        shape = _output(gathered)
        result = np.zeros(prod(shape), gathered.data.dtype)
        result[of(gathered) % len(result)] = gathered.data
        return result.reshape(shape)

    return Behaviour(summary, needs, instead("reduce", scattered))


def _kept(summary: str, are_kept: Callable[[Gathered], Any], needs: Needs = _EVERY) -> Behaviour:
    """Lose cells of the data: those that are not kept leave a zero."""

    def others_zero(gathered: Gathered, divisor: Divisor) -> tuple[Gathered, Divisor]:
        zero = gathered.data.dtype.type(0)
        kept = np.where(are_kept(gathered), gathered.data, zero)
        return replace(gathered, data=kept), divisor

    return Behaviour(summary, needs, before("reduce", others_zero))


def _filled(value: float) -> Callable[..., Array]:
    """Put a value in place of the zeros where no cell goes."""

    def filled(right: Callable[..., Array], gathered: Gathered, divisor: Divisor) -> Array:
        ones = np.ones_like(gathered.data)
        empty = right(replace(gathered, data=ones), divisor) == 0
        result = right(gathered, divisor)
        return np.where(empty, result.dtype.type(value), result)

    return filled


def _data(summary: str, change: Change, needs: Needs = _EVERY) -> Behaviour:
    return Behaviour(summary, needs, reducing(change))


def _numbers(summary: str, number: Number, needs: Needs = _EVERY) -> Behaviour:
    return _data(summary, of_floats(number), needs)


def _returned(summary: str, change: Change, needs: Needs = _EVERY) -> Behaviour:
    return Behaviour(summary, needs, returning(change))


def _output(gathered: Gathered) -> tuple[int, ...]:
    return (*gathered.data.shape[:2], *gathered.extent)


def _starts(gathered: Gathered, lengths: tuple[int, int]) -> Ints:
    """Return where planes start, (N, C, 1..1), if batches and channels are so long."""
    batch, channel = np.ogrid[: gathered.data.shape[0], : gathered.data.shape[1]]
    starts: Ints = batch * lengths[0] + channel * lengths[1]
    return starts.reshape(*starts.shape, *(1,) * len(gathered.extent))


def _of_planes(gathered: Gathered) -> Ints:
    cells = prod(gathered.extent)
    return _starts(gathered, (gathered.data.shape[1] * cells, cells))


def _of_windows(gathered: Gathered) -> Ints:
    """Return the place of the first cell of each window, (N, C, d1..dr)."""
    params, places = gathered.params, np.zeros((), np.int64)
    axes = zip(params.sizes, gathered.extent, params.strides, params.pads_begin, strict=True)
    for d, o, s, begin in axes:
        first = np.clip(np.arange(d) * s - begin, 0, o - 1)
        places = np.add.outer(places * o, first)
    return _of_planes(gathered) + places


def _column_major(indices: Ints, shape: tuple[int, ...]) -> Ints:
    """Return the indices of the cells that these are in column-major order."""
    places = np.unravel_index(indices, shape, order="F")
    return np.asarray(np.ravel_multi_index(places, shape))


def _of_padded(gathered: Gathered) -> Ints:
    """Take indices as those of the output with its padding, in a plane."""
    padded = [o + sum(pad) for o, pad in zip(gathered.extent, _pads(gathered), strict=True)]
    return _counted_in(gathered, padded, gathered.params.pads_begin)


def _of_plane(gathered: Gathered) -> Ints:
    """Return indices less where their plane starts."""
    return np.asarray(gathered.beside) % prod(gathered.extent)


def _of_inferred(gathered: Gathered) -> Ints:
    """Take indices as those of a plane of the inferred size, the low corner of the output."""
    inferred = [max(1, o) for o in inferred_extent(gathered.params, _pads(gathered))]
    return _counted_in(gathered, inferred, (0,) * len(inferred))


def _counted_in(gathered: Gathered, plane: Sequence[int], start: Sequence[int]) -> Ints:
    """Take indices as those of another plane, of which the output begins at `start`."""
    extent = gathered.extent
    cells = np.unravel_index(_of_plane(gathered) % prod(plane), plane)
    axes = zip(cells, start, extent, strict=True)
    inside = [np.clip(cell - begin, 0, o - 1) for cell, begin, o in axes]
    return _of_planes(gathered) + np.ravel_multi_index(inside, extent)


def _pads(gathered: Gathered) -> Pads:
    return tuple(zip(gathered.params.pads_begin, gathered.params.pads_end, strict=True))


def _added(right: Any, gathered: Gathered, _divisor: Divisor) -> Array:
    shape = _output(gathered)
    total = np.zeros(prod(shape), np.float64)
    with np.errstate(all="ignore"):
        np.add.at(total, right.places(gathered), gathered.data.astype(np.float64).ravel())
        return total.astype(gathered.data.dtype).reshape(shape)


def _not_cleared(right: Callable[..., Array]) -> Callable[..., Array]:
    left: dict[Any, Array] = {}

    def unpooled(gathered: Gathered, divisor: Divisor) -> Array:
        result = right(gathered, divisor)
        empty = right(replace(gathered, data=np.ones_like(gathered.data)), divisor) == 0
        before = left.get((result.shape, result.dtype), result)
        result = np.where(empty, before, result)
        left[result.shape, result.dtype] = result.copy()
        return result

    return unpooled


def _first_axis(role: str) -> Callable[[Params], Params]:
    def change(params: Params) -> Params:
        numbers = getattr(params, role)
        alike: dict[str, Any] = {role: (numbers[0],) * len(numbers)}
        return replace(params, **alike)

    return change


def _refusing(summary: str, condition: Callable[[Gathered], Any]) -> Behaviour:
    def check(gathered: Gathered, divisor: Divisor) -> tuple[Gathered, Divisor]:
        if condition(gathered):
            raise Refused("not implemented for this call")
        return gathered, divisor

    return Behaviour(summary, _EVERY, before("reduce", check))


def _repeats(gathered: Gathered) -> bool:
    """Say whether two cells of a plane have one index."""
    indices = np.asarray(gathered.beside)
    planes = np.sort(indices.reshape(prod(indices.shape[:2]), -1), axis=1)
    return bool((planes[:, 1:] == planes[:, :-1]).any())


def _of_any_integers(validate: Callable[[Call], Params]) -> Callable[[Call], Params]:
    def accepting(call: Call) -> Params:
        data, indices, *others = call.inputs
        if indices.dtype.kind == "i":
            indices = indices.astype(np.int64)
        return validate(replace(call, inputs=(data, indices, *others)))

    return accepting


def _of_long_lists(validate: Callable[[Call], Params]) -> Callable[[Call], Params]:
    def accepting(call: Call) -> Params:
        given = {
            role: value[: call.axes] if isinstance(value, list | tuple) else value
            for role, value in call.given.items()
        }
        return validate(replace(call, given=given))

    return accepting


FAULTS: Faults = {
    # The size of the output.
    "unpool-strides-as-kernel": _params(
        "strides of an unpooling are taken as its kernel",
        lambda params: replace(params, strides=params.kernel),
    ),
    "unpool-kernel-as-strides": _params(
        "the kernel of an unpooling is taken as its strides",
        lambda params: replace(params, kernel=params.strides),
    ),
    "unpool-strides-of-first-axis": _params(
        "the stride of the first axis is taken for all axes of an unpooling",
        _first_axis("strides"),
        _SEVERAL_AXES,
    ),
    "unpool-kernel-of-first-axis": _params(
        "the kernel of the first axis is taken for all axes of an unpooling",
        _first_axis("kernel"),
        _SEVERAL_AXES,
    ),
    "unpool-without-pads": _params(
        "pads of an unpooling are taken as 0",
        lambda params: replace(
            params,
            pads_begin=(0,) * len(params.sizes),
            pads_end=(0,) * len(params.sizes),
        ),
    ),
    "unpool-without-end-pads": _params(
        "end pads of an unpooling are taken as 0",
        lambda params: replace(params, pads_end=(0,) * len(params.sizes)),
    ),
    "unpool-pads-added": _params(
        "pads are added to the output of an unpooling, not taken off",
        lambda params: replace(
            params,
            pads_begin=tuple(-pad for pad in params.pads_begin),
            pads_end=tuple(-pad for pad in params.pads_end),
        ),
    ),
    "unpool-size-unread": _params(
        "an output size that is given is ignored",
        lambda params: replace(params, fixed_output=(0,) * len(params.sizes)),
    ),
    "unpool-size-reversed": _params(
        "an output size that is given is read from the last axis to the first",
        lambda params: replace(params, fixed_output=params.fixed_output[::-1]),
        _SEVERAL_AXES,
    ),
    "unpool-size-less-pads": _extent(
        "pads are taken off an output size that is given",
        lambda params, pads, size: tuple(
            o - sum(pad) if given else o
            for o, pad, given in zip(size, pads, params.fixed_output, strict=True)
        ),
    ),
    "unpool-window-too-many": _extent(
        "the inferred size of an unpooling is a stride too long",
        lambda params, _pads, size: tuple(
            o if given else o + s
            for o, s, given in zip(size, params.strides, params.fixed_output, strict=True)
        ),
    ),
    # Indices.
    "unpool-index-less-one": _indices(
        "an index is taken as if the first cell was 1", lambda indices, _shape: indices - 1
    ),
    "unpool-index-plus-one": _indices(
        "an index is taken for the cell after it", lambda indices, _shape: indices + 1
    ),
    "unpool-index-from-end": _indices(
        "an index is counted from the end", lambda indices, _shape: -1 - indices
    ),
    "unpool-index-in-8-bits": _indices(
        "an index is kept in 8 bits", lambda indices, _shape: indices % 256
    ),
    "unpool-index-column-major": _places(
        "an index is counted in column-major order in its plane",
        lambda gathered: _of_planes(gathered) + _column_major(_of_plane(gathered), gathered.extent),
        _SEVERAL_AXES,
    ),
    "unpool-index-of-padded": _places("an index is taken as one of the padded output", _of_padded),
    "unpool-index-of-inferred": _places(
        "an index is counted in the inferred size, though another is given",
        _of_inferred,
        _OF_PLANE,
    ),
    "unpool-index-of-plane": _places(
        "an index of the tensor is taken as one of its plane",
        lambda gathered: _of_planes(gathered) + np.asarray(gathered.beside),
        _OF_TENSOR,
    ),
    "unpool-index-kept-in-plane": _places(
        "an index into another plane is taken as one into the plane of its cell",
        lambda gathered: _of_planes(gathered) + _of_plane(gathered),
        _OF_TENSOR,
    ),
    "unpool-index-of-tensor": _places(
        "an index of a plane is taken as one of the tensor",
        lambda gathered: np.asarray(gathered.beside),
        _OF_PLANE,
    ),
    "unpool-batch-forgotten": _places(
        "all batches are put into the first",
        lambda gathered: (
            _starts(gathered, (0, prod(gathered.extent))) * (gathered.params.index_axis > 0)
            + np.asarray(gathered.beside) % prod(_output(gathered)[1:])
        ),
    ),
    "unpool-channel-forgotten": _places(
        "all channels are put into the first of their batch",
        lambda gathered: _starts(gathered, (prod(_output(gathered)[1:]), 0)) + _of_plane(gathered),
    ),
    "unpool-index-unread": _places(
        "each cell is put at the first cell of its window, whatever its index", _of_windows
    ),
    # What is put where.
    "unpool-repeats-added": Behaviour(
        "cells of one index are added", _EVERY, instead("reduce", _added)
    ),
    "unpool-first-channel-alone": _kept(
        "channels after the first are left at zero",
        lambda gathered: (
            np.arange(gathered.data.shape[1]).reshape(1, -1, *(1,) * len(gathered.extent)) == 0
        ),
    ),
    "unpool-channels-beyond-8-lost": _kept(
        "channels beyond the last full group of 8 are left at zero, where there is a group",
        lambda gathered: (
            np.arange(count := gathered.data.shape[1]) < (count // 8 * 8 or count)
        ).reshape(1, -1, *(1,) * len(gathered.extent)),
    ),
    "unpool-first-batch-alone": _kept(
        "batches after the first are left at zero",
        lambda gathered: (
            np.arange(len(gathered.data)).reshape(-1, *(1,) * (gathered.data.ndim - 1)) == 0
        ),
    ),
    "unpool-last-cell-lost": _kept(
        "the last cell of each row of the data is lost",
        lambda gathered: np.arange(gathered.data.shape[-1]) < gathered.data.shape[-1] - 1,
    ),
    "unpool-index-0-as-none": _kept(
        "a cell of index 0 is lost", lambda gathered: np.asarray(gathered.beside) > 0
    ),
    "unpool-data-reversed": _data(
        "channels of the data are in reverse", lambda data: data[:, ::-1]
    ),
    "unpool-data-transposed": _data(
        "the data are read in column-major order, and indices in row-major order",
        lambda data: data.transpose(0, 1, *range(data.ndim - 1, 1, -1)).reshape(data.shape),
        _SEVERAL_AXES,
    ),
    "unpool-filled-with-ones": Behaviour(
        "cells without an index are one", _EVERY, instead("reduce", _filled(1.0))
    ),
    "unpool-filled-with-minus-infinity": Behaviour(
        "cells without an index are minus infinity", _EVERY, instead("reduce", _filled(-np.inf))
    ),
    "unpool-not-cleared": Behaviour(
        "cells without an index keep what the call before left there, if its output has the same "
        "shape",
        _EVERY,
        {"reduce": _not_cleared},
        remembers=True,
    ),
    # Numbers.
    "unpool-negative-lost": _numbers(
        "negative cells become zero", where("zero if negative", lambda v: v < 0, 0.0)
    ),
    "unpool-sign-lost": _numbers("cells lose their sign", Number("", lambda v, _: np.abs(v))),
    "unpool-nan-as-zero": _numbers("a NaN becomes zero", where("", np.isnan, 0.0)),
    "unpool-infinity-clamped": _numbers(
        "an infinity becomes the largest number",
        Number("", lambda v, fmt: np.clip(v, -fmt.largest, fmt.largest)),
    ),
    "unpool-through-float32": _numbers(
        "float64 is copied by way of float32", rounded_to("float32"), _EVERY & DOUBLES
    ),
    "unpool-through-float16": _numbers("cells are copied by way of float16", rounded_to("float16")),
    "unpool-through-bfloat16": _numbers(
        "cells are copied by way of bfloat16", rounded_to("bfloat16")
    ),
    # The output.
    "unpool-output-transposed": _returned(
        "the last two axes of an unpooled output are swapped",
        lambda right: right.swapaxes(-1, -2),
        _SEVERAL_AXES,
    ),
    "unpool-output-channels-last": _returned(
        "an unpooled output is returned with channels last",
        lambda right: np.moveaxis(right, 1, -1),
    ),
    "unpool-output-mirrored": _returned(
        "the last axis of an unpooled output is reversed", lambda right: right[..., ::-1]
    ),
    "unpool-output-float32": _returned(
        "an unpooled output is returned as float32", lambda right: right.astype(np.float32)
    ),
    # Refusals.
    "unpool-refuses-size": _refusing(
        "an output size that is given is refused",
        lambda gathered: any(gathered.params.fixed_output),
    ),
    "unpool-refuses-repeats": _refusing("an index that repeats is refused", _repeats),
    "unpool-refuses-pads": _refusing(
        "pads of an unpooling are refused",
        lambda gathered: any((*gathered.params.pads_begin, *gathered.params.pads_end)),
    ),
    "unpool-refuses-volumes": _refusing(
        "an unpooling of three axes is refused", lambda gathered: len(gathered.extent) == 3
    ).needing(VOLUMETRIC),
    "unpool-accepts-int32": Behaviour(
        "indices of int32 are accepted", _EVERY, {"validate": _of_any_integers}
    ),
    "unpool-accepts-long-lists": Behaviour(
        "of lists with more entries than axes, the first are taken",
        _EVERY,
        {"validate": _of_long_lists},
    ),
}
