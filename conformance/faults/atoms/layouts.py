"""Layouts of arrays: the order of their axes, how many these are, and their element type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from conformance.dtypes import dtype_of
from conformance.faults.atoms.atom import Atom, faults
from conformance.faults.atoms.numbers import Change
from conformance.faults.concerns import EVERY
from conformance.faults.fault import Fault
from conformance.faults.wraps import OnData, OnOutputs
from conformance.vector import Array

Order = Callable[[int], Sequence[int]]
"""Another order of the axes of an array, from how many these are."""


def _swapped(one: int, other: int, least: int, ndim: int) -> Sequence[int]:
    """Exchange two axes of data of so many dimensions at least."""
    order = [*range(ndim)]
    if ndim >= least:
        order[one], order[other] = order[other], order[one]
    return order


_ORDERS: tuple[Atom[Order], ...] = (
    Atom("the last two axes", partial(_swapped, -1, -2, 4)),
    Atom("the first and the last axis", partial(_swapped, 2, -1, 5)),
    Atom("batches and channels", partial(_swapped, 0, 1, 0)),
    Atom("channels and the spatial axes", lambda n: (0, *range(2, n), 1)),
)
_SHAPES: tuple[Atom[Change], ...] = (
    Atom("axes of length 1 of {} are dropped", lambda a: a.squeeze()),
    Atom("the spatial axes of {} are one", lambda a: a.reshape(*a.shape[:2], -1)),
    Atom("the first batch alone of {} is returned, without its axis", lambda a: a[0]),
    Atom("{} has one axis more", lambda a: a[np.newaxis]),
    Atom("batches and channels of {} are one axis", lambda a: a.reshape(-1, *a.shape[2:])),
)


_BLOCKS = (4, 8, 16)
"""Channels of a block."""
_TO_LAST, _FROM_LAST = (2, -1), (-1, 2)
"""Where the axis of these is, and where it goes."""


def _ordered(order: Order) -> Change:
    """Return an array with its axes in another order."""
    return lambda array: array.transpose(order(array.ndim))


def _stored(order: Order) -> Change:
    """Return the memory of an array with its axes in another order, in its shape of before."""
    return lambda array: np.ascontiguousarray(_ordered(order)(array)).reshape(array.shape)


def _read(order: Order, array: Array) -> Array:
    """Return an array from memory that is taken to have its axes in another order."""
    axes = order(array.ndim)
    return array.reshape([array.shape[axis] for axis in axes]).transpose(np.argsort(axes))


def _in_blocks(channels: int, lying: int, wanted: int, array: Array) -> Array:
    """Return memory in which the channels of a block are another axis than where they lie."""
    if array.ndim < 3 or array.shape[1] % channels:
        return array
    shape = [array.shape[0], array.shape[1] // channels, *array.shape[2:]]
    shape.insert(lying % (len(shape) + 1), channels)
    blocks = np.moveaxis(array.reshape(shape), lying, wanted)
    return np.ascontiguousarray(blocks).reshape(array.shape)


def transposed_if_square(array: Array) -> Array:
    """Exchange the last two axes where they are of one length, so that the shape is right."""
    is_square = array.ndim > 3 and array.shape[-1] == array.shape[-2]
    return array.swapaxes(-1, -2) if is_square else array


def _cast(kinds: str, name: str) -> Change:
    return lambda array: array.astype(dtype_of(name)) if array.dtype.kind in kinds else array


# Faults ------------------------------------------------------------------------------------------


def other_layouts(what: str) -> Iterator[Atom[Change]]:
    """Yield a change for each other order or number of axes of an array."""
    for order in _ORDERS:
        said = f"{order.words} of {what} are exchanged"
        yield Atom(said, _ordered(order.of))
        yield Atom(f"{said}, and its shape is right", _stored(order.of))
    for channels in _BLOCKS:
        said = f"{what} laid out in blocks of {channels} channels, which come last"
        yield Atom(said, partial(_in_blocks, channels, *_TO_LAST))
    for shape in _SHAPES:
        yield Atom(shape.words.format(what), shape.of)


def _of_data() -> Iterator[Atom[Change]]:
    for order in _ORDERS:
        yield Atom(f"the data are laid out with {order.words} exchanged", _stored(order.of))
        yield Atom(
            f"the data are read with {order.words} exchanged in memory", partial(_read, order.of)
        )
    for channels in _BLOCKS:
        said = f"in blocks of {channels} channels, which come last"
        yield Atom(f"the data are laid out {said}", partial(_in_blocks, channels, *_TO_LAST))
        yield Atom(f"the data are read {said}", partial(_in_blocks, channels, *_FROM_LAST))


def _of_types() -> Iterator[Atom[Change]]:
    for name in ("float32", "float64", "int32", "int64"):
        for kinds, what in (("iu", "integers"), ("fV", "floating-point numbers")):
            yield Atom(f"an output of {what} is {name}", _cast(kinds, name))


def every() -> Iterator[Fault]:
    """Yield orders of axes, and element types of the output."""
    yield from faults("{}", EVERY, "reduce", OnOutputs, other_layouts("the output"))
    yield from faults("{}", EVERY, "gather", OnData, _of_data())
    yield from faults("{}", EVERY, "reduce", OnOutputs, _of_types())
