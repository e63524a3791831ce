"""Outputs beside expected elements: which differ, by how much, and how much they may.

Equal bits are right under every reading, and most are; only the others are looked at closely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.backends.runner import Answers
from conformance.batch import Batch
from conformance.dtypes import FLOATS, dtype_of, float_format
from conformance.judging.flushed import right_if_flushed
from conformance.judging.tied_indices import hold_the_value
from conformance.operators import Output, operator_named
from conformance.reference import mean_overflows, overflow_allowed, tolerance
from conformance.reference.rounding import widen
from conformance.vector import TIED, UNDEFINED, Arithmetic, Array, Expected

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]

ARITHMETICS = 1 << len(Arithmetic)
"""Values of an `Arithmetic`."""


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """Elements of one floating-point type beside what was expected of them, flat.

    `error` = |got - expected| (0 if equal or both NaN, NaN if only one is, inf if only one is
    infinite or they are not the same infinity). `expected` and `got` are doubles.
    """

    expected: Doubles
    got: Doubles
    error: Doubles
    columns: Expected
    axes: Ints
    average: bool

    def at(self, elements: Ints | Bools) -> Closeness:
        """Return some of the elements."""
        return Closeness(
            self.expected[elements],
            self.got[elements],
            self.error[elements],
            self.columns.at(elements),
            np.broadcast_to(self.axes, self.error.shape)[elements],
            self.average,
        )

    def bound(self, arithmetic: int, *, below: bool | Bools | None = None) -> Doubles:
        """Return the largest error that conforms under an arithmetic, per element.

        It is that of results below or above what is expected, as `got` is if `below` is None.
        """
        with np.errstate(all="ignore"):
            return tolerance(
                self.columns,
                self.axes,
                arithmetic,
                average=self.average,
                below=self.got < self.expected if below is None else below,
            )

    def right(self, arithmetic: int) -> Bools:
        """Mask: error <= bound, or an infinity or NaN where sums may overflow."""
        finite = np.isfinite(self.expected) & np.isfinite(self.got)
        right: Bools = (self.error == 0) | (finite & (self.error <= self.bound(arithmetic)))
        if self.average and arithmetic & Arithmetic.OVERFLOWS:
            right |= self.may_overflow(arithmetic) & (
                np.isnan(self.got) | (np.isinf(self.got) & self.of_either_sign())
            )
        return right

    def of_either_sign(self) -> Bools:
        """Mask: where the sum may overflow, it may do so to either side, as no cell is infinite."""
        either: Bools = np.isfinite(self.expected) | mean_overflows(self.columns)
        return either

    def may_overflow(self, arithmetic: int) -> Bools:
        """Mask: the sum may overflow in the accumulator of an arithmetic."""
        return overflow_allowed(self.columns, self.axes, arithmetic)


def closeness(got: Array, expected: Expected, axes: Ints, *, average: bool) -> Closeness:
    """Compare elements, flat, of a floating-point type; `axes` is the number of spatial axes."""
    returned, values = widen(got), widen(expected.values)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(returned - values)
    error[(returned == values) | (np.isnan(returned) & np.isnan(values))] = 0.0
    return Closeness(values, returned, error, expected, axes, average)


@dataclass(frozen=True, slots=True, eq=False)
class OutputColumn:
    """The expected elements of one output and type in a batch beside what the backend returned.

    `bound` says that errors within the bound are allowed. `rows` are the rows of the expected
    table, `starts` and `stops` their elements in `columns`.
    `row` is the place in `rows` of each defined element that differs in some bit, `element` its
    place in the output, `got` what was returned, and `near` compares these elements (None for
    integers). `undefined` are the values returned where any
    value conforms, and `undefined_row` the place of each. Rows whose output has another type or
    shape have no elements here.
    """

    name: str
    bound: bool
    rows: Ints
    starts: Ints
    stops: Ints
    columns: Expected
    row: Ints
    element: Ints
    got: Array
    near: Closeness | None
    undefined: Array
    undefined_row: Ints


@dataclass(frozen=True, slots=True, eq=False)
class OutputsCompared:
    """Per row of the expected table: how the output of its vector compares.

    `returned` says that the backend returned the output, and `comparable` that it has the type
    and shape; `wrong[:, arithmetic]` counts the elements that do not conform, where an outcome of
    the row has that arithmetic, and `undefined` those for which any value does. `counts` are the
    arrays that were returned for each vector.
    """

    returned: Bools
    comparable: Bools
    wrong: Ints
    undefined: Ints
    columns: tuple[OutputColumn, ...]
    counts: Ints


def compare_outputs(batch: Batch, answers: Answers) -> OutputsCompared:
    """Compare the answers of a batch with every expected array of their vectors."""
    count = len(batch.expected_dtype)
    comparable = np.zeros(count, np.bool_)
    wrong = np.zeros((count, ARITHMETICS), np.int64)
    undefined = np.zeros(count, np.int64)
    arithmetics = _arithmetics(batch)
    names = np.array(batch.expected_dtype)
    axes = np.array([arrays[0].ndim - 2 if arrays else 0 for arrays in batch.inputs], np.int64)
    outputs = operator_named(batch.operator).outputs
    columns = []
    counts = np.fromiter(map(len, answers.outputs), np.int64, len(batch))
    returned: Bools = counts[batch.expected_vector] > batch.expected_output
    for output in range(batch.outputs):
        of_output = batch.expected_output == output
        for name, expected in batch.columns.items():
            rows = np.flatnonzero(of_output & (names == name))
            starts = batch.expected_start[rows]
            undefined[rows] = counts_within(
                expected.undefined, starts, starts + batch.expected_size[rows]
            )
            answered = np.flatnonzero(returned[rows])
            same, looked, got = _outputs(batch, answers, name, rows, answered, undefined)
            comparable[rows[same]] = True
            column = _column(batch, name, rows, looked, got, axes, outputs[output])
            wrong[rows] = _wrong(batch, column, arithmetics[rows])
            columns.append(column)
    return OutputsCompared(returned, comparable, wrong, undefined, tuple(columns), counts)


def _arithmetics(batch: Batch) -> Bools:
    """Mask (rows of the expected table, ARITHMETICS): the row has an outcome of the arithmetic."""
    arithmetics = np.zeros((len(batch.expected_dtype), ARITHMETICS), np.bool_)
    valued = batch.outcome_expected >= 0
    rows, codes = batch.outcome_expected[valued], batch.outcome_arithmetic[valued]
    for output in range(batch.outputs):
        arithmetics[rows + output, codes] = True
    return arithmetics


def _wrong(batch: Batch, column: OutputColumn, arithmetics: Bools) -> Ints:
    """Count, (rows, ARITHMETICS), the elements of each row that do not conform.

    `arithmetics` says which arithmetics each row has; under the others the count is 0.
    """
    row, near = column.row, column.near
    wrong = np.zeros((len(column.rows), ARITHMETICS), np.int64)
    if not row.size:
        return wrong
    # The other arithmetics accept whatever the first one does.
    strict = np.arange(len(row)) if near is None else np.flatnonzero(~near.right(0))
    wrong[:, 0] = np.bincount(row[strict], minlength=len(column.rows))
    for arithmetic in range(1, ARITHMETICS):
        bad = strict[arithmetics[row[strict], arithmetic]]
        if near is not None and column.bound:
            bad = bad[~near.at(bad).right(arithmetic)]
        if arithmetic & Arithmetic.FLUSHED and bad.size:
            rows, got = column.rows[row[bad]], column.got[bad]
            bad = bad[~right_if_flushed(batch, rows, column.element[bad], got, arithmetic)]
        wrong[:, arithmetic] = np.bincount(row[bad], minlength=len(column.rows))
    return wrong


def spacing(expected: Doubles, name: str) -> Doubles:
    """Return the distance of each value to the next of its element type, away from zero."""
    if name not in FLOATS:
        return np.ones_like(expected)
    fmt = float_format(name)
    _, exponent = np.frexp(np.maximum(np.abs(expected), fmt.smallest_normal))
    distance: Doubles = np.ldexp(1.0, exponent - fmt.precision)
    return distance


def counts_within(places: Ints, starts: Ints, stops: Ints) -> Ints:
    """Return how many of some ascending places lie in each run of elements."""
    first, last = np.searchsorted(places, np.stack([starts, stops]))
    counts: Ints = last - first
    return counts


def _column(
    batch: Batch, name: str, rows: Ints, looked: Ints, got: Array, axes: Ints, output: Output
) -> OutputColumn:
    """Return the column of an output and type; `looked` and `got` are as from `_outputs`."""
    columns, dtype = batch.columns[name], dtype_of(name)
    starts = batch.expected_start[rows]
    stops = starts + batch.expected_size[rows]
    sizes = batch.expected_size[rows[looked]]
    # The elements of the rows looked at, one row after the other.
    at = np.repeat(starts[looked] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(got))
    row_of = np.repeat(looked, sizes)
    bits = np.dtype(f"u{dtype.itemsize}")
    unequal = got.view(bits) != np.ascontiguousarray(columns.values).view(bits)[at]
    free = columns.addends[at] == UNDEFINED
    if output.is_index:
        tied = np.flatnonzero(unequal & (columns.addends[at] == TIED))
        rows_of = rows[row_of[tied]]
        elements = at[tied] - batch.expected_start[rows_of]
        unequal[tied] = ~hold_the_value(batch, rows_of, elements, got[tied])
    differing = np.flatnonzero(unequal & ~free)
    near = None
    if name in FLOATS:
        of = at[differing]
        near = closeness(
            got[differing],
            columns.at(of),
            axes[batch.expected_vector[rows[row_of[differing]]]],
            average=output.comparison == "bound",
        )
    return OutputColumn(
        name=name,
        bound=output.comparison == "bound",
        rows=rows,
        starts=starts,
        stops=stops,
        columns=columns,
        row=row_of[differing],
        element=(at - starts[row_of])[differing],
        got=got[differing],
        near=near,
        undefined=got[free],
        undefined_row=row_of[free],
    )


def _outputs(
    batch: Batch, answers: Answers, name: str, rows: Ints, answered: Ints, undefined: Ints
) -> tuple[list[int], Ints, Array]:
    """Return which rows an output has the type and shape of, and the outputs to look at closely.

    These are the places in `rows` of outputs that differ or have undefined elements, and all
    their elements. Most outputs are bitwise what was expected: bytes compare fastest. Only the
    places `answered` are considered.
    """
    dtype = dtype_of(name)
    expected = np.ascontiguousarray(batch.columns[name].values).view(np.uint8).data
    chosen = rows[answered]
    starts = batch.expected_start[chosen] * dtype.itemsize
    stops = starts + batch.expected_size[chosen] * dtype.itemsize
    same: list[int] = []
    looked: list[int] = []
    parts: list[bytes] = []
    for place, row, vector, output, start, stop, free in zip(
        answered.tolist(),
        chosen.tolist(),
        batch.expected_vector[chosen].tolist(),
        batch.expected_output[chosen].tolist(),
        starts.tolist(),
        stops.tolist(),
        undefined[chosen].tolist(),
        strict=True,
    ):
        dtype_name, shape, data = answers.outputs[vector][output]
        if data is not None and dtype_name == name and shape == batch.expected_shape[row]:
            same.append(place)
            if free or data != bytes(expected[start:stop]):
                looked.append(place)
                parts.append(data)
    got = np.frombuffer(b"".join(parts), np.uint8).view(dtype)
    return same, np.array(looked, np.int64), got
