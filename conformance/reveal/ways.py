"""Ways to compute an average, each operation rounded as hardware rounds it.

A way says in which formats cells are added and the sum is divided, how it is divided, and how
results become the element type. `averages` computes with all of them at once where they share
work: elimination tries hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from conformance.dtypes import WIDE_FLOATS, dtype_of, float_format, name_of
from conformance.reference.rounding import narrow, round_pair, two_sum, widen
from conformance.reveal.trees import Additions
from conformance.vector import Array

Division = Literal[
    "divide",
    "multiply by reciprocal",
    "divide axis by axis",
    "divide cells",
    "multiply cells",
    "fused multiply-add",
]
Narrowing = Literal["nearest even", "nearest away", "towards zero"]
Subnormals = Literal[
    "kept",
    "inputs flushed",
    "outputs flushed",
    "inputs and outputs flushed",
    "operands flushed",
    "results flushed",
    "operands and results flushed",
    "unexplained",
]

DIVISIONS: tuple[Division, ...] = (
    "divide",
    "multiply by reciprocal",
    "divide axis by axis",
    "divide cells",
    "multiply cells",
    "fused multiply-add",
)
NARROWINGS: tuple[Narrowing, ...] = ("nearest even", "nearest away", "towards zero")
_FLUSHED: Mapping[Subnormals, frozenset[str]] = {
    "kept": frozenset(),
    "inputs flushed": frozenset({"inputs"}),
    "outputs flushed": frozenset({"outputs"}),
    "inputs and outputs flushed": frozenset({"inputs", "outputs"}),
    "operands flushed": frozenset({"inputs", "operands"}),
    "results flushed": frozenset({"results", "outputs"}),
    "operands and results flushed": frozenset({"inputs", "operands", "results", "outputs"}),
}
"""What becomes zero if it is subnormal: what is read and written, and that of each operation."""
FLUSHES: tuple[Subnormals, ...] = tuple(_FLUSHED)
BEFORE_SUM = frozenset({"divide cells", "multiply cells", "fused multiply-add"})
"""Divisions of the cells and not of their sum: there is one format."""


@dataclass(frozen=True, slots=True, eq=False)
class Divisor:
    """What sums are divided by: a number, or one for each window; and the cells on each axis."""

    whole: int | Array
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to compute an average.

    Cells become `sums`, in which they are added; the sum becomes `quotient`, in which it is
    divided; the result becomes the element type by `narrowing`. Where cells are divided before
    they are added, `quotient` is `sums`. `subnormals` says which
    numbers become zero if they are subnormal, see _FLUSHED.
    """

    sums: str
    quotient: str
    division: Division = "divide"
    narrowing: Narrowing = "nearest even"
    subnormals: Subnormals = "kept"


PROPERTIES = ("sums", "quotient", "division", "narrowing", "subnormals")


def ways(dtype: str) -> Iterator[Way]:
    """Yield every way for an element type, without flushing, the plainest first.

    Sums in the element type come first, then in wider and narrower formats, and quotients in the
    format of the sums before others.
    """
    precision = float_format(dtype).precision
    formats = [dtype, *(name for name in reversed(WIDE_FLOATS) if name != dtype)]
    for sums in formats:
        quotients = [sums, *(name for name in formats if name != sums)]
        for quotient, division in product(quotients, DIVISIONS):
            if division in BEFORE_SUM and quotient != sums:
                continue
            if division == "fused multiply-add" and sums == "float64":
                continue  # needs sums of three doubles, and no engine is known to do so
            narrows = float_format(quotient).precision > precision
            for narrowing in NARROWINGS if narrows else NARROWINGS[:1]:
                yield Way(sums, quotient, division, narrowing)


def average(cells: Array, divisor: Divisor, additions: Additions, way: Way) -> Array:
    """Return the averages of windows (..., n) in some way, (...) of the element type of cells."""
    with np.errstate(all="ignore"):
        return _finished(summed(cells, divisor, additions, way), divisor, way, cells.dtype)


def averages(
    cells: Array, divisor: Divisor, additions: Additions, several: list[Way]
) -> Iterator[tuple[Way, Array]]:
    """Yield each way with its averages, see `average`; sums that ways share are made once."""
    sums: dict[Way, Array] = {}
    with np.errstate(all="ignore"):
        for way in several:
            before = way.division if way.division in BEFORE_SUM else "divide"
            key = replace(way, quotient="", division=before, narrowing="nearest even")
            if key not in sums:
                sums[key] = summed(cells, divisor, additions, way)
            yield way, _finished(sums[key], divisor, way, cells.dtype)


def summed(cells: Array, divisor: Divisor, additions: Additions, way: Way) -> Array:
    """Return the sums of windows (..., n), (...) of the format of sums."""
    operations = _Operations(way.sums, way.subnormals)
    cells = flushed(cells, "inputs", way.subnormals)
    terms = [_converted(cells[..., cell], way.sums) for cell in range(cells.shape[-1])]
    n = np.asarray(divisor.whole).astype(dtype_of(way.sums))
    one = np.ones((), dtype_of(way.sums))
    if way.division == "divide cells":
        terms = [operations.result(operations.operand(term) / n) for term in terms]
    if way.division == "multiply cells":
        terms = [operations.times(term, one / n) for term in terms]
    if way.division == "fused multiply-add":
        return _fused(terms, one / n, additions, operations)
    for a, b in additions:
        terms.append(operations.plus(terms[a], terms[b]))
        terms[a] = terms[b] = terms[-1]  # a large window need not keep every partial sum
    return terms[-1]


def _fused(cells: list[Array], scale: Any, additions: Additions, operations: _Operations) -> Array:
    """Multiply each cell by a scale as it is added, in one rounding; the first alone."""
    count = len(cells)
    terms = [*cells]
    if not additions:
        return operations.times(cells[0], scale)
    for a, b in additions:
        other, last = (b, a) if a < count <= b else (a, b)
        left = operations.times(cells[other], scale) if other < count else terms[other]
        if last < count:
            terms.append(operations.fused(cells[last], scale, left))
        else:
            terms.append(operations.plus(left, terms[last]))
    return terms[-1]


def _finished(sums: Array, divisor: Divisor, way: Way, dtype: np.dtype[Any]) -> Array:
    """Divide sums, unless cells were, and narrow the results to the element type."""
    operations = _Operations(way.quotient, way.subnormals)
    result = _converted(sums, way.quotient)
    n = np.asarray(divisor.whole).astype(dtype_of(way.quotient))
    if way.division == "divide":
        result = operations.result(operations.operand(result) / n)
    elif way.division == "multiply by reciprocal":
        result = operations.times(result, np.ones((), n.dtype) / n)
    elif way.division == "divide axis by axis":
        for count in divisor.axes:
            result = operations.result(operations.operand(result) / n.dtype.type(count))
    return flushed(narrowed(result, dtype, way.narrowing), "outputs", way.subnormals)


def narrowed(values: Array, dtype: np.dtype[Any], narrowing: Narrowing) -> Array:
    """Return values in an element type, rounded as `narrowing` says."""
    nearest = _converted(values, name_of(dtype))
    if narrowing == "nearest even" or values.dtype == dtype:
        return nearest
    error = widen(values) - widen(nearest)  # exact: neighbours, or within a factor of two
    down = np.nextafter(nearest, np.zeros((), dtype))
    up = np.nextafter(nearest, np.full((), np.inf, dtype) * np.sign(nearest))
    sign = np.sign(widen(values))
    if narrowing == "towards zero":
        return np.where(error * sign < 0, down, nearest)
    is_tie = (error != 0) & (widen(nearest) + 2 * error == widen(up))
    return np.where(is_tie, up, nearest)


def _converted(values: Array, name: str) -> Array:
    """Return values in a format, rounded once to nearest even."""
    if values.dtype == dtype_of(name):
        return values
    if values.dtype == np.float64:
        return narrow(values, name)
    return values.astype(dtype_of(name))


@dataclass(frozen=True, slots=True)
class _Operations:
    """Operations of a format, with what they do to subnormal numbers."""

    name: str
    subnormals: Subnormals

    def operand(self, values: Array) -> Array:
        return flushed(values, "operands", self.subnormals)

    def result(self, values: Array) -> Array:
        return flushed(values, "results", self.subnormals)

    def plus(self, a: Array, b: Array) -> Array:
        return self.result(self.operand(a) + self.operand(b))

    def times(self, a: Array, b: Any) -> Array:
        return self.result(self.operand(a) * self.operand(b))

    def fused(self, a: Array, b: Any, c: Array) -> Array:
        """Return a b + c, rounded once; two numbers of float32 have an exact product in doubles."""
        exact = widen(self.operand(a)) * widen(self.operand(np.asarray(b)))
        high, low = two_sum(exact, widen(self.operand(c)))
        low = np.where(np.isfinite(high), low, 0.0)
        rounded = np.where(
            np.isfinite(high), round_pair(high, low, self.name), narrow(high, self.name)
        )
        return self.result(rounded)


def flushed(values: Array, what: str, subnormals: Subnormals) -> Array:
    """Return values, those that are subnormal as zeros if `what` they are is flushed."""
    if what not in _FLUSHED.get(subnormals, ()):
        return values
    least = float_format(name_of(values.dtype)).smallest_normal
    return np.where(np.abs(values) < least, values.dtype.type(0), values)
