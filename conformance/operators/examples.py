"""Worked examples of documents, and what they print of the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import DType, dtype_of
from conformance.vector import Array, Case, Expected, Vector


@dataclass(frozen=True, slots=True)
class Printed:
    """What a document prints of one output of an example: its numbers, or its shape alone.

    `values` are the numbers, nested by axis; leading axes of one entry may be left out. `...`
    stands for a number that is not printed, or that an erratum corrects. `shape` is (N, C, o1..or).
    """

    values: Sequence[Any] | None = None
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError unless it is one of the two, and values are numbers or `...`."""
        if (self.values is None) == (not self.shape):
            raise ValueError("what is printed of an output is its values, or its shape alone")
        if not all(isinstance(value, int | float | EllipsisType) for value in self._array.flat):
            raise ValueError("printed values are numbers nested evenly; ... for one that is not")

    @property
    def _array(self) -> npt.NDArray[np.object_]:
        if self.values is None:
            return np.empty(0, object)
        try:
            return np.array(self.values, object)
        except ValueError:  # nested unevenly
            return np.array([None], object)

    @property
    def numbers(self) -> int:
        """How many numbers are printed."""
        return sum(value != ... for value in self._array.flat)

    def contradiction(self, values: Array) -> str:
        """Say in what a computed output (N, C, o1..or) differs from what is printed, "" if not."""
        printed = self._array
        shape = self.shape or (*(1,) * (values.ndim - printed.ndim), *printed.shape)
        if values.shape != shape:
            return f"the document prints shape {shape}, the reference computes {values.shape}"
        for place, number in np.ndenumerate(printed.reshape(shape if not self.shape else 0)):
            if number is not ... and not _agrees(values[place], number):
                return (
                    f"the document prints {number} at {list(place)}, the reference computes "
                    f"{values[place]}"
                )
        return ""


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a document; `source` cites it.

    `data` are the numbers, nested by axis, if the document prints them: those of one channel, or of
    `shape` (N, C, d1..dr) if it is given; so are the `indices` of an unpooling. Otherwise data of
    that shape are made by a `pattern` of `sweep.patterns`. `outputs` are what the document prints
    of the first outputs; none if it prints nothing of them. `tags` say what the document prints and
    what is derived.
    """

    source: str
    attributes: Mapping[str, Any]
    tags: tuple[str, ...]
    shape: tuple[int, ...] = ()
    output_size: tuple[int, ...] = ()
    pattern: str = "integers"
    dtype: str = "float32"
    data: Sequence[Any] | None = None
    indices: Sequence[Any] | None = None
    outputs: tuple[Printed, ...] = ()

    @property
    def numbers(self) -> int:
        """How many numbers of the outputs are printed."""
        return sum(output.numbers for output in self.outputs)

    @property
    def printed_data(self) -> Array | None:
        """The data that the document prints, of shape (N, C, d1..dr); None if it prints none."""
        return self._printed(self.data, dtype_of(self.dtype))

    @property
    def printed_indices(self) -> Array | None:
        """The indices that the document prints, of the shape of the data; None if it has none."""
        return self._printed(self.indices, np.dtype(np.int64))

    def _printed(self, numbers: Sequence[Any] | None, dtype: DType) -> Array | None:
        if numbers is None:
            return None
        channel = np.array(numbers, dtype)
        return channel.reshape(self.shape or (1, 1, *channel.shape))

    def contradiction(self, vector: Vector) -> str:
        """Say in what a vector differs from what the document prints, "" if in nothing.

        The document may follow any reading: one outcome of the vector has to be as it prints.
        """
        if what := self._other_case(vector.case):
            return what
        if not self.outputs:
            return ""
        found = [self._difference(outcome.outputs) for outcome in vector.values]
        if not found:
            return "the document prints outputs, the reference computes none"
        return "" if "" in found else found[0]

    def _other_case(self, case: Case) -> str:
        if dict(case.attributes) != dict(self.attributes):
            return "it has other attributes than the example"
        data, *others = case.own_inputs
        printed, indices = self.printed_data, self.printed_indices
        if indices is not None:
            if not np.array_equal(others[0], indices):
                return "it has other indices than the example"
        elif any(tuple(size.tolist()) != self.output_size for size in others):
            return "it has another output size than the example"
        if data.shape != (self.shape if printed is None else printed.shape):
            return "its data have another shape than those of the example"
        if printed is not None and not np.array_equal(data, printed, equal_nan=True):
            return "it has other data than the example"
        return ""

    def _difference(self, outputs: Sequence[Expected]) -> str:
        for number, (printed, expected) in enumerate(zip(self.outputs, outputs, strict=False)):
            if what := printed.contradiction(expected.values):
                return f"{what} (output {number})" if len(outputs) > 1 else what
        return ""


def printed_numbers(
    source: str,
    attributes: Mapping[str, Any],
    data: Sequence[Any],
    *outputs: Sequence[Any],
    tags: tuple[str, ...] = ("printed: attributes, data, output",),
    **others: Any,
) -> Example:
    """Return an example that prints its data and the numbers of its outputs."""
    printed = tuple(map(Printed, outputs))
    return Example(
        source, attributes, tags, data=data, pattern="printed", outputs=printed, **others
    )


def printed_unpooling(
    source: str,
    attributes: Mapping[str, Any],
    *,
    data: Sequence[Any],
    indices: Sequence[Any],
    output: Sequence[Any],
) -> Example:
    """Return an example of an unpooling that prints its numbers."""
    tags = ("printed: attributes, data, indices, output",)
    return printed_numbers(source, attributes, data, output, tags=tags, indices=indices)


def _agrees(value: Any, printed: float) -> bool:
    """Say whether a computed value is a printed number, to as many digits as are printed.

    A whole number is exact. Any other is precise to half a unit of its last digit, and rounded to
    the type of the value.
    """
    if value.dtype.kind in "iu":
        return bool(int(value) == printed)
    kind, half = value.dtype.type, 0.0
    if not isfinite(printed):
        return bool(np.array_equal(value, kind(printed), equal_nan=True))
    if printed != int(printed):
        half = float(Decimal(5).scaleb(int(Decimal(repr(printed)).as_tuple().exponent) - 1))
    return bool(kind(printed - half) <= value <= kind(printed + half))
