"""Backends whose numbers are too narrow: right for small tensors, wrong beyond what they hold.

What is read from where a number has wrapped below zero is 0, in place of a crash.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance import load_backend
from conformance.backends import Backend
from conformance.vector import Array, Outputs, as_returned, outputs_of

Ints = npt.NDArray[np.int64]
Narrow = Callable[[Ints], Ints]
"""Makes of numbers those that a narrow type holds in their place."""

right = load_backend("numpy")


def wrapped(bits: int, *, signed: bool) -> Narrow:
    """Return what integers of so many bits hold."""

    def narrow(numbers: Ints) -> Ints:
        low = numbers & ((1 << bits) - 1)
        return low - (low >> (bits - 1) << bits) if signed else low

    return narrow


def rounded(bits: int) -> Narrow:
    """Return what floating-point numbers with so many bits of precision hold."""

    def narrow(numbers: Ints) -> Ints:
        _, exponent = np.frexp(numbers.astype(np.float64))
        spacing = np.exp2(np.maximum(0, exponent - bits))
        return (np.round(numbers / spacing) * spacing).astype(np.int64)

    return narrow


def saturated(bits: int) -> Narrow:
    """Return what a floating-point counter holds: it stays where one more is rounded off."""
    return lambda numbers: np.minimum(numbers, 1 << bits)


def _read(flat: Array, at: Ints) -> Array:
    """Return elements of flat data; 0 outside of it."""
    inside = (at >= 0) & (at < len(flat))
    return np.where(inside, flat[np.where(inside, at, 0)], flat.dtype.type(0))


def _elements(data: Array, narrow: Narrow) -> Array:
    return _read(data.ravel(), narrow(np.arange(data.size))).reshape(data.shape)


def _bytes(data: Array, narrow: Narrow) -> Array:
    at = narrow(np.arange(data.size) * data.itemsize) // data.itemsize
    return _read(data.ravel(), at).reshape(data.shape)


def _planes(data: Array, narrow: Narrow) -> Array:
    planes = prod(data.shape[:2])
    read = _elements(np.arange(1, planes + 1), narrow) - 1  # -1: a plane that is not there
    flat = data.reshape(planes, -1)
    return np.where(read[:, None] < 0, flat.dtype.type(0), flat[read]).reshape(data.shape)


def _axes(data: Array, narrow: Narrow) -> Array:
    """Read at narrow places on each axis, batch and channel among them."""
    for axis, size in enumerate(data.shape):
        places = _elements(np.arange(1, size + 1), narrow) - 1
        shape = [-1 if number == axis else 1 for number in range(data.ndim)]
        there = (places >= 0).reshape(shape)
        data = np.where(there, data.take(np.maximum(places, 0), axis), data.dtype.type(0))
    return data


INPUTS: Mapping[str, Callable[[Array, Narrow], Array]] = {
    "element": _elements,
    "byte": _bytes,
    "plane": _planes,
    "coordinate": _axes,
}
"""What the input is read as where offsets in elements, in bytes, planes or places are narrow."""


def reading(unit: str, narrow: Narrow) -> Backend:
    """Return a backend that reads its data at narrow numbers of a unit."""

    def backend(
        operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        data, *sizes = inputs
        return right(operator, [INPUTS[unit](data, narrow), *sizes], attributes)

    return backend


def writing(narrow: Narrow) -> Backend:
    """Return a backend that writes the elements of its outputs at narrow offsets."""

    def written(output: Array) -> Array:
        memory, at = np.zeros_like(output).ravel(), narrow(np.arange(output.size))
        inside = at >= 0
        memory[at[inside]] = output.ravel()[inside]
        return memory.reshape(output.shape)

    def backend(*case: Any) -> Array | Outputs:
        return as_returned(tuple(map(written, outputs_of(right(*case)))))

    return backend


def returning_indices(narrow: Narrow) -> Backend:
    """Return a backend whose indices are counted in narrow numbers."""

    def backend(*case: Any) -> Array | Outputs:
        values, *indices = outputs_of(right(*case))
        return as_returned((values, *(narrow(of).astype(of.dtype) for of in indices)))

    return backend


def counting(narrow: Narrow) -> Backend:
    """Return a backend whose average of a whole plane is over a narrow number of cells."""

    def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        output = outputs_of(right(operator, inputs, attributes))[0]
        cells = np.array(prod(inputs[0].shape[2:]))
        return (output * (cells / narrow(cells))).astype(output.dtype)

    return backend


def dividing(narrow: Narrow) -> Backend:
    """Return an adaptive backend that narrows place times size; of one axis, windows of two."""

    def backend(operator: str, inputs: Sequence[Array], _: object) -> Array | Outputs:
        data, sizes = inputs
        (size,), places = data.shape[2:], np.arange(int(sizes[0]))
        starts = narrow(places * size) // len(places)
        cells = np.stack([_read_axis(data, starts), _read_axis(data, starts + 1)], axis=-1)
        if operator == "AdaptiveAvgPool-8":
            return cells.mean(axis=-1, dtype=data.dtype)
        return cells.max(axis=-1), starts + cells.argmax(axis=-1)

    return backend


def _read_axis(data: Array, at: Ints) -> Array:
    inside = (at >= 0) & (at < data.shape[-1])
    return np.where(inside, data[..., np.where(inside, at, 0)], data.dtype.type(0))
