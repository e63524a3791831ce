"""How a document hands over a call: the layout of its arrays, and numbers that are inputs.

Everything else here knows calls whose data have channels second and whose numbers are attributes:
that is how cases are stored, judged and reported. A backend gets a call as the document hands it
over, and its answers come back so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance.dtypes import is_known, name_of
from conformance.errors import InvalidCase
from conformance.operators.attributes import is_scale_value
from conformance.vector import Array


@dataclass(frozen=True)
class CallConvention:
    """How a document hands over a call.

    With `channels_last`, data and outputs have shape (N, d1..dr, C); an attribute may choose it,
    see `Operator.convention_of`. `numbers` are the keys of attributes that are inputs instead,
    after the data, each an array of `number_shape` with the one number, of type float32 if the key
    is one of `scales`, else of the data's type. Those that are `optional` may be left out by the
    document; here, none is. `split` are the keys of lists that are an attribute for each spatial
    axis instead: by key, theirs. `size_input` is the key of a list of sizes of spatial axes that is
    an input instead, the last, where it is given: the whole shape of the output, int64, batch and
    channels first. `of_types` are attributes that no call leaves out: by key, the values that are
    allowed for each type of the data, the first of which is handed over unless a case says another.
    """

    channels_last: bool = False
    numbers: tuple[str, ...] = ()
    number_shape: tuple[int, ...] = (1,)
    scales: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    size_input: str = ""
    of_types: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether calls are handed over as everything else knows them."""
        return self == PLAIN

    def given(
        self, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> tuple[tuple[Array, ...], dict[str, Any]]:
        """Return a call as a backend gets it: the inverse of `taken`.

        A number that the attributes lack is no input, either; what is no such number or list at
        all stays an attribute, and the backend may refuse it.
        """
        if self.is_plain or not inputs:
            return tuple(inputs), dict(attributes)
        data, *others = inputs
        kept = dict(attributes)
        others += [
            np.full(self.number_shape, kept.pop(key), dtype)
            for key, dtype in self._typed(data.dtype)
            if _is_held(kept.get(key), dtype, is_scale=key in self.scales)
        ]
        if isinstance(kept.get(self.size_input), list | tuple):
            others.append(np.array([*data.shape[:2], *kept.pop(self.size_input)], np.int64))
        for key, keys in self.split.items():
            if isinstance(kept.get(key), list | tuple):
                kept |= dict(zip(keys, kept.pop(key), strict=False))
        name = name_of(data.dtype) if is_known(data.dtype) else ""
        for key, allowed in self.of_types.items():
            kept.setdefault(key, allowed.get(name, next(iter(allowed.values())))[0])
        return tuple(map(self.array_given, (data, *others))), kept

    def taken(
        self, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> tuple[tuple[Array, ...], dict[str, Any]]:
        """Return a call as everything else knows it; InvalidCase for one that cannot be."""
        if self.is_plain:
            return tuple(inputs), dict(attributes)
        taken = dict(attributes)
        if self.size_input and inputs and inputs[-1].ndim == 1:
            *inputs, size = inputs
            taken[self.size_input] = _spatial(self.size_input, size, inputs)
        if len(inputs) <= len(self.numbers):
            raise InvalidCase(f"{len(inputs)} inputs given, not {1 + len(self.numbers)}")
        count = len(inputs) - len(self.numbers)
        data, *others = inputs[:count]
        for (key, dtype), number in zip(self._typed(data.dtype), inputs[count:], strict=True):
            if number.shape != self.number_shape or number.dtype != dtype:
                what = f"{number.dtype} of shape {number.shape}"
                one = f"one {dtype} of shape {self.number_shape}"
                raise InvalidCase(f"{key} is {what}: must be {one}")
            taken[key] = number.item() if key in self.scales else _plain(number.ravel()[0])
        for key, keys in self.split.items():
            if missing := [each for each in keys if each not in taken]:
                raise InvalidCase(f"{missing[0]}: required")
            taken[key] = [taken.pop(each) for each in keys]
        self._leave_out(taken, name_of(data.dtype) if is_known(data.dtype) else "")
        return tuple(map(self.array_taken, (data, *others))), taken

    def _leave_out(self, taken: dict[str, Any], name: str) -> None:
        """Remove what is handed over of a type unless a case says another.

        InvalidCase where it is missing, or a value of other types. What is none of any type stays:
        no attribute has it.
        """
        for key, allowed in self.of_types.items():
            values = allowed.get(name, ())
            is_known = key in taken and any(taken[key] in every for every in allowed.values())
            if key not in taken or (is_known and taken[key] not in values):
                raise InvalidCase(f"{key}: must be one of {values} for {name}")
            if taken[key] in values[:1]:
                del taken[key]

    def _typed(self, dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
        """Return the keys of `numbers` and their types, for data of a type."""
        scale = np.dtype(np.float32)
        return [(key, scale if key in self.scales else dtype) for key in self.numbers]

    def array_given(self, array: Array) -> Array:
        """Return data, what has its axes, or an output as a backend has it, in C order."""
        return _moved(array, 1, -1) if self.channels_last else array

    def place_given(self, place: Sequence[int]) -> tuple[int, ...]:
        """Return the place of an element of an output in the output as a backend has it."""
        if not self.channels_last:
            return tuple(place)
        batch, channel, *others = place
        return (batch, *others, channel)

    def array_taken(self, array: Array) -> Array:
        """Return data, what has its axes, or an output with channels second, in C order."""
        return _moved(array, -1, 1) if self.channels_last else array


PLAIN = CallConvention()


def _moved(array: Array, source: int, place: int) -> Array:
    if array.ndim < 3:
        return array
    return np.ascontiguousarray(np.moveaxis(array, source, place))


def _is_held(number: Any, dtype: np.dtype[Any], *, is_scale: bool) -> bool:
    """Say whether a value is a scale, or an integer that a type holds, of 32 bits at most."""
    if is_scale:
        return is_scale_value(number)
    if not isinstance(number, int) or isinstance(number, bool):
        return False
    ends = np.iinfo(dtype if dtype.kind in "iu" and dtype.itemsize < 4 else np.int32)
    return bool(ends.min <= number <= ends.max)


def _spatial(key: str, size: Array, inputs: Sequence[Array]) -> list[int]:
    """Return the sizes of spatial axes of a whole shape; InvalidCase if it is none of the data."""
    planes = list(inputs[0].shape[:2]) if inputs else []
    if size.dtype != np.int64 or size[:2].tolist() != planes:
        raise InvalidCase(f"{key}={size.tolist()}: must be int64, and start with {planes}")
    sizes: list[int] = size[2:].tolist()
    return sizes


def _plain(number: Any) -> int | float:
    value = number.item() if hasattr(number, "item") else number
    return int(value) if float(value).is_integer() else float(value)
