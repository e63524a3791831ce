"""What was returned for a vector beside what its outcomes expect: which elements are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from conformance.backends.answer import Returned
from conformance.dtypes import FLOATS, DType, dtype_of, name_of
from conformance.judging.closeness import Closeness, closeness
from conformance.judging.flushed import right_if_flushed
from conformance.judging.tied_indices import indices_of_value
from conformance.operators import operator_named
from conformance.vector import TIED, UNDEFINED, Arithmetic, Array, Expected, Outcome, Values, Vector

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]


_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class DifferingElements:
    """The elements of output `number` of an operator that are not in all bits those expected, flat.

    `places` are where in the output they are, and `axes` is the number of spatial axes.
    """

    operator: str
    number: int
    expected: Expected
    got: Array
    places: Ints
    axes: int

    @property
    def dtype(self) -> DType:
        """Element type of both."""
        return self.expected.values.dtype

    @cached_property
    def near(self) -> Closeness | None:
        """How close they are; None for integers."""
        if name_of(self.dtype) not in FLOATS:
            return None
        return closeness(self.got, self.expected, np.array(self.axes), average=self.is_bounded)

    @property
    def error(self) -> Doubles:
        """The distance to what is expected; NaN where only one of the two is."""
        if self.near is not None:
            return self.near.error
        expected = self.expected.values.astype(np.float64)
        return np.abs(self.got.astype(np.float64) - expected)

    def bound(self, arithmetic: int) -> Doubles:
        """Return the largest error that conforms under an arithmetic."""
        if self.near is None:
            return np.zeros(self.got.size)
        return self.near.bound(self._of_bound(arithmetic))

    def wrong(self, arithmetic: int) -> Bools:
        """Mask: the elements that are not within the bound of an arithmetic."""
        wrong, of_bound = self._wrong_usually, self._of_bound(arithmetic)
        if of_bound and self.near is not None and wrong.any():
            # An arithmetic accepts whatever the usual one does.
            return wrong & ~self.near.right(of_bound)
        return wrong.copy()

    @cached_property
    def _wrong_usually(self) -> Bools:
        if self.near is None:
            return np.ones(self.got.size, np.bool_)
        return ~self.near.right(Arithmetic.USUAL) if self.is_bounded else self.near.error != 0

    @cached_property
    def is_bounded(self) -> bool:
        """Whether errors within a bound are allowed."""
        return operator_named(self.operator).outputs[self.number].comparison == "bound"

    def _of_bound(self, arithmetic: int) -> int:
        """Return what of an arithmetic the bound says: of cells that are chosen, nothing."""
        return arithmetic if self.is_bounded else Arithmetic.USUAL


def where_bits_differ(got: Array, expected: Array) -> Bools:
    """Mask: where two arrays of one type and shape, both in C order, differ in some bit."""
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    unequal: Bools = got.view(bits) != expected.view(bits)
    return unequal


class Comparison:
    """The outputs that were returned for a vector, beside those of its outcomes with values.

    Outcomes may share what they expect; it is compared once.
    """

    def __init__(self, vector: Vector, outputs: Sequence[Returned]) -> None:
        self.outputs = outputs
        self.vector = vector
        self._differing: dict[tuple[int, Expected], DifferingElements | None] = {}
        self._wrong: dict[tuple[int, Expected, int], Bools] = {}

    def conforms(self, outcome: Values) -> bool:
        """Say whether the outputs, of which the last may be missing, are those of an outcome."""
        return 0 < len(self.outputs) <= len(outcome.outputs) and all(
            self.differing(outcome, number) is not None and not self.wrong(outcome, number).any()
            for number in range(len(self.outputs))
        )

    def nearest(self, outcomes: Iterable[Values]) -> Values:
        """Return which of some outcomes the outputs are nearest to.

        That is the one with most outputs of the right type and shape, and of these the one with the
        fewest wrong elements; the first of equals, since default readings come first.
        """

        def distance(outcome: Values) -> tuple[int, int]:
            numbers = range(min(len(self.outputs), len(outcome.outputs)))
            alike = [n for n in numbers if self.differing(outcome, n) is not None]
            return -len(alike), sum(int(self.wrong(outcome, n).sum()) for n in alike)

        return min(outcomes, key=distance)

    def differing(self, outcome: Outcome, number: int) -> DifferingElements | None:
        """Return the defined elements of an output that are not in all bits those of an outcome.

        Indices of cells that tie are not among them. None where the outcome has no such output, or
        it was not returned, or has another type or shape.
        """
        if not isinstance(outcome, Values):
            return None
        key = number, outcome.outputs[number]
        if key not in self._differing:
            self._differing[key] = self._compared(outcome, number)
        return self._differing[key]

    def _compared(self, outcome: Values, number: int) -> DifferingElements | None:
        if number >= len(self.outputs):
            return None
        of, case = outcome.outputs[number], self.vector.case
        dtype, shape, data = self.outputs[number]
        if data is None or dtype != name_of(of.values.dtype) or shape != of.values.shape:
            return None
        got, places = self.array(number), _NONE
        if data != of.values.tobytes():  # most are equal, and bytes compare fastest
            unequal = where_bits_differ(got, of.values.ravel())
            unequal[of.undefined] = False
            if (tied := np.flatnonzero(unequal & (of.addends == TIED))).size:
                whose, right = indices_of_value(self.vector, outcome, tied)
                unequal[tied[whose[right == got[tied[whose]]]]] = False
            places = np.flatnonzero(unequal)
        axes = case.inputs[0].ndim - 2
        return DifferingElements(case.operator, number, of.at(places), got[places], places, axes)

    def wrong(self, outcome: Values, number: int) -> Bools:
        """Mask: which of the `differing` elements of an output do not conform; none if no such."""
        differing = self.differing(outcome, number)
        if differing is None or not differing.places.size:
            return np.zeros(0, np.bool_)
        key = number, outcome.outputs[number], outcome.arithmetic
        if key not in self._wrong:
            wrong = self._wrong[key] = differing.wrong(outcome.arithmetic)
            if outcome.arithmetic & Arithmetic.FLUSHED and wrong.any():
                wrong[wrong] = ~right_if_flushed(
                    self.vector, outcome, number, differing.places[wrong], differing.got[wrong]
                )
        return self._wrong[key]

    def where_wrong(self, outcome: Values, number: int) -> Bools:
        """Mask, in the shape of an output that was compared: its elements that do not conform."""
        differing, shape = self.differing(outcome, number), outcome.outputs[number].values.shape
        mask = np.zeros(shape, np.bool_)
        if differing is not None:
            mask.flat[differing.places[self.wrong(outcome, number)]] = True
        return mask

    def array(self, number: int) -> Array:
        """Return an output of an element type that the suite knows, flat."""
        dtype, _, data = self.outputs[number]
        assert data is not None
        return np.frombuffer(data, dtype_of(dtype))


def defined(of: Expected) -> Bools:
    """Mask, flat: the elements of which a document says what they are."""
    mask: Bools = of.addends != UNDEFINED
    return mask
