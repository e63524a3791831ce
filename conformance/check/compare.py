"""Outputs beside expected elements: which differ, by how much, and how much they may.

Equal bits are right under every reading, and most are; only the others are looked at closely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, ExpectedColumns
from conformance.check.runner import Answers
from conformance.dtypes import FLOATS, dtype_of, float_format
from conformance.reference import overflow_allowed, tolerance
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]

ARITHMETICS = 4
"""Codes of the two arithmetic clauses: 1 for sums in the element type + 2 for flushed."""


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """Elements of one type beside what was expected of them, flat.

    `error` = |got - expected| (0 if equal or both NaN, NaN if only one is, inf if only one is
    infinite or they are not the same infinity). `expected` and `got` are doubles.
    """

    expected: Doubles
    got: Doubles
    error: Doubles
    allowed: Callable[[int], tuple[Doubles, Bools]]
    """Per arithmetic: the tolerance, and whether an infinity or NaN conforms too."""

    def right(self, arithmetic: int) -> Bools:
        """Say per element whether it conforms under an arithmetic."""
        bound, overflows = self.allowed(arithmetic)
        finite = np.isfinite(self.expected) & np.isfinite(self.got)
        close = finite & (self.error <= bound)
        return (self.error == 0) | close | (overflows & ~np.isfinite(self.got))


def closeness(
    got: Array, expected: Array, of: ExpectedColumns, axes: Ints, *, average: bool
) -> Closeness:
    """Compare elements, flat, of a floating-point type; `of` has their columns."""
    wide, asked = widen(got), widen(expected)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(wide - asked)
    error[(wide == asked) | (np.isnan(wide) & np.isnan(asked))] = 0.0

    def allowed(arithmetic: int) -> tuple[Doubles, Bools]:
        own, flushed = bool(arithmetic & 1), bool(arithmetic & 2)
        with np.errstate(all="ignore"):
            bound = tolerance(
                expected,
                of.addends,
                of.magnitude,
                axes,
                average=average,
                element_type=own,
                flushed=flushed,
            )
            if not (average and own):
                return bound, np.zeros(len(bound), np.bool_)
            return bound, overflow_allowed(expected, of.addends, of.divisor, of.magnitude, axes)

    return Closeness(asked, wide, error, allowed)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """All expected elements of one type in a batch, aligned with what the backend returned.

    `rows` are the rows of the expected table, `starts` and `stops` their elements. Zeros stand
    where an output has not the row's type and shape. `differing` are the defined elements that
    differ in some bit, `row` the place of each in `rows`, and `near` compares them.
    """

    name: str
    rows: Ints
    starts: Ints
    stops: Ints
    columns: ExpectedColumns
    got: Array
    differing: Ints
    row: Ints
    near: Closeness | None

    def rows_of(self, elements: Ints) -> Ints:
        """Return the place in `rows` of each of some elements, given by their position."""
        return _rows_of(self.starts, elements)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Per row of the expected table: how the output of its vector compares.

    `comparable` says that the output has the type and shape; `wrong[:, arithmetic]` counts the
    elements that do not conform, `undefined` those for which any value does.
    """

    comparable: Bools
    wrong: Ints
    undefined: Ints
    columns: tuple[Column, ...]


def compare(batch: Batch, answers: Answers, *, average: bool) -> Comparison:
    """Compare the answers of a batch with every expected array of their vectors.

    Relies on the rows of one type lying one after the other in `batch.columns`.
    """
    count = len(batch.expected_dtype)
    vectors = batch.expected_vector.tolist()
    comparable = np.zeros(count, np.bool_)
    wrong = np.zeros((count, ARITHMETICS), np.int64)
    undefined = np.zeros(count, np.int64)
    arithmetics = _arithmetics(batch)
    axes = np.array([arrays[0].ndim - 2 if arrays else 0 for arrays in batch.inputs], np.int64)
    columns = []
    for name in batch.columns:
        rows = np.array([r for r, each in enumerate(batch.expected_dtype) if each == name], int)
        sizes = batch.expected_size[rows]
        parts, same = _parts(batch, answers, name, rows.tolist(), sizes.tolist(), vectors)
        comparable[rows] = same
        got = np.frombuffer(b"".join(parts), np.uint8).view(dtype_of(name))
        column = _column(
            name, batch, rows, got, comparable[rows], axes[batch.expected_vector[rows]], average
        )
        masked = np.flatnonzero(column.columns.addends == UNDEFINED)
        undefined[rows] = np.bincount(column.rows_of(masked), minlength=len(rows))
        for arithmetic in arithmetics:
            bad = column.row if column.near is None else column.row[~column.near.right(arithmetic)]
            wrong[rows, arithmetic] = np.bincount(bad, minlength=len(rows))
        columns.append(column)
    return Comparison(comparable, wrong, undefined, tuple(columns))


def arithmetic_of(batch: Batch) -> Ints:
    """Return the arithmetic code of each outcome."""
    return batch.outcome_element_type + np.int64(2) * batch.outcome_flushed


def spacing(expected: Doubles, name: str) -> Doubles:
    """Return the distance of each value to the next of its element type, away from zero."""
    if name not in FLOATS:
        return np.ones_like(expected)
    fmt = float_format(name)
    _, exponent = np.frexp(np.maximum(np.abs(expected), fmt.smallest_normal))
    return np.ldexp(1.0, exponent - fmt.precision)


def _rows_of(starts: Ints, elements: Ints) -> Ints:
    # Of rows that start at one element all but the last are empty.
    return np.searchsorted(starts, elements, side="right") - 1


def _arithmetics(batch: Batch) -> list[int]:
    found: list[int] = np.unique(arithmetic_of(batch)[batch.outcome_expected >= 0]).tolist()
    return found


def _parts(
    batch: Batch, answers: Answers, name: str, rows: list[int], sizes: list[int], vectors: list[int]
) -> tuple[list[bytes], list[bool]]:
    """Return the elements of the output beside each row, and whether it has type and shape."""
    parts: list[bytes] = []
    same: list[bool] = []
    shapes, itemsize = batch.expected_shape, dtype_of(name).itemsize
    for row, size in zip(rows, sizes, strict=True):
        vector = vectors[row]
        data = answers.data[vector]
        if (
            data is not None
            and answers.dtype[vector] == name
            and answers.shape[vector] == shapes[row]
        ):
            parts.append(data)
            same.append(True)
        else:
            parts.append(bytes(size * itemsize))
            same.append(False)
    return parts, same


def _column(
    name: str, batch: Batch, rows: Ints, got: Array, same: Bools, axes: Ints, average: bool
) -> Column:
    columns = batch.columns[name]
    starts = batch.expected_start[rows]
    stops = starts + batch.expected_size[rows]
    bits = np.dtype(f"u{got.itemsize}")
    values = np.ascontiguousarray(columns.values)
    unequal = (got.view(bits) != values.view(bits)) & (columns.addends != UNDEFINED)
    differing = np.flatnonzero(unequal)
    row = _rows_of(starts, differing)
    if not same.all():
        differing, row = differing[same[row]], row[same[row]]
    near = None
    if name in FLOATS:
        of = ExpectedColumns(
            columns.values[differing],
            columns.addends[differing],
            columns.divisor[differing],
            columns.magnitude[differing],
        )
        near = closeness(got[differing], of.values, of, axes[row], average=average)
    return Column(name, rows, starts, stops, columns, got, differing, row, near)
