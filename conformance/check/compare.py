"""Outputs beside expected elements: which differ, by how much, and how much they may.

Equal bits are right under every reading, and most are; only the others are looked at closely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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
        found: Bools = (self.error == 0) | close | (overflows & ~np.isfinite(self.got))
        return found


def closeness(got: Array, expected: ExpectedColumns, axes: Ints, *, average: bool) -> Closeness:
    """Compare elements, flat, of a floating-point type; `axes` is the number of spatial axes."""
    wide, asked = widen(got), widen(expected.values)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(wide - asked)
    error[(wide == asked) | (np.isnan(wide) & np.isnan(asked))] = 0.0

    def allowed(arithmetic: int) -> tuple[Doubles, Bools]:
        own, flushed = bool(arithmetic & 1), bool(arithmetic & 2)
        with np.errstate(all="ignore"):
            bound = tolerance(
                expected.values,
                expected.addends,
                expected.magnitude,
                axes,
                average=average,
                element_type=own,
                flushed=flushed,
            )
            if not (average and own):
                return bound, np.zeros(len(bound), np.bool_)
            return bound, overflow_allowed(
                expected.values, expected.addends, expected.divisor, expected.magnitude, axes
            )

    return Closeness(asked, wide, error, allowed)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """All expected elements of one type in a batch, aligned with what the backend returned.

    `rows` are the rows of the expected table, `starts` and `stops` their elements. The expected
    elements themselves stand where an output has not the row's type and shape. `differing` are
    the defined elements that differ in some bit, `row` the place of each in `rows`, and `near`
    compares them.
    """

    name: str
    rows: Ints
    starts: Ints
    stops: Ints
    columns: ExpectedColumns
    got: Array
    differing: Ints
    row: Ints
    undefined: Ints
    undefined_row: Ints
    near: Closeness | None = None


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
    comparable = np.zeros(count, np.bool_)
    wrong = np.zeros((count, ARITHMETICS), np.int64)
    undefined = np.zeros(count, np.int64)
    codes = arithmetic_of(batch)
    arithmetics = np.flatnonzero(np.bincount(codes[batch.outcome_expected >= 0])).tolist()
    names = np.array(batch.expected_dtype)
    axes = np.array([arrays[0].ndim - 2 if arrays else 0 for arrays in batch.inputs], np.int64)
    columns = []
    for name in batch.columns:
        rows = np.flatnonzero(names == name)
        got, same = _outputs(batch, answers, name, rows)
        comparable[rows] = same
        column = _column(batch, name, rows, got)
        if name in FLOATS:
            of_row = axes[batch.expected_vector[rows]]
            column = replace(column, near=_near(column, of_row[column.row], average=average))
        undefined[rows] = np.bincount(column.undefined_row, minlength=len(rows))
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
    found: Doubles = np.ldexp(1.0, exponent - fmt.precision)
    return found


def _outputs(batch: Batch, answers: Answers, name: str, rows: Ints) -> tuple[Array, Bools]:
    """Return the output beside each row, flat, and whether it has the row's type and shape."""
    dtype = dtype_of(name)
    filler = np.ascontiguousarray(batch.columns[name].values).view(np.uint8).data
    starts = batch.expected_start[rows] * dtype.itemsize
    stops = starts + batch.expected_size[rows] * dtype.itemsize
    parts: list[bytes | memoryview] = []
    same: list[bool] = []
    for row, vector, start, stop in zip(
        rows.tolist(),
        batch.expected_vector[rows].tolist(),
        starts.tolist(),
        stops.tolist(),
        strict=True,
    ):
        data = answers.data[vector]
        fits = (
            data is not None
            and answers.dtype[vector] == name
            and answers.shape[vector] == batch.expected_shape[row]
        )
        parts.append(data if data is not None and fits else filler[start:stop])
        same.append(fits)
    return np.frombuffer(b"".join(parts), np.uint8).view(dtype), np.array(same, np.bool_)


def _column(batch: Batch, name: str, rows: Ints, got: Array) -> Column:
    columns = batch.columns[name]
    starts = batch.expected_start[rows]
    stops = starts + batch.expected_size[rows]

    def row_of(elements: Ints) -> Ints:
        counts = np.searchsorted(elements, stops) - np.searchsorted(elements, starts)
        return np.repeat(np.arange(len(rows)), counts)

    masked = columns.addends == UNDEFINED
    undefined = np.flatnonzero(masked)
    bits = np.dtype(f"u{got.itemsize}")
    unequal = got.view(bits) != np.ascontiguousarray(columns.values).view(bits)
    differing = np.flatnonzero(unequal & ~masked)
    return Column(
        name=name,
        rows=rows,
        starts=starts,
        stops=stops,
        columns=columns,
        got=got,
        differing=differing,
        row=row_of(differing),
        undefined=undefined,
        undefined_row=row_of(undefined),
    )


def _near(column: Column, axes: Ints, *, average: bool) -> Closeness:
    at, columns = column.differing, column.columns
    of = ExpectedColumns(
        columns.values[at], columns.addends[at], columns.divisor[at], columns.magnitude[at]
    )
    return closeness(column.got[at], of, axes, average=average)
