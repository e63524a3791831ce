"""How accurate the results of a batch are that conform: averages, norms and gradients."""

from __future__ import annotations

import numpy as np

from conformance.batch import Batch, Ints
from conformance.judging.closeness import (
    OutputColumn,
    OutputsCompared,
    counts_within,
    spacing,
)
from conformance.record.report import Accuracy


def accuracy_of(batch: Batch, compared: OutputsCompared, outcomes: Ints) -> list[Accuracy]:
    """Return the accuracy of outputs, given the rows of the outcomes that vectors conform to."""
    columns = [column for column in compared.columns if column.bound]
    if not columns:
        return []
    arithmetic = rows_with_arithmetic(batch, compared, outcomes)
    measured = [_accuracy_of_column(column, arithmetic[column.rows]) for column in columns]
    return [accuracy for accuracy in measured if accuracy.elements]


def rows_with_arithmetic(batch: Batch, compared: OutputsCompared, outcomes: Ints) -> Ints:
    """Return the arithmetic of each row of the expected table that some outcomes are of, else -1.

    Outputs that were not returned have none.
    """
    arithmetic = np.full(len(batch.expected_dtype), -1, np.int64)
    for output in range(batch.outputs):
        rows = batch.outcome_expected[outcomes] + output
        arithmetic[rows] = np.where(compared.returned[rows], batch.outcome_arithmetic[outcomes], -1)
    return arithmetic


def _accuracy_of_column(column: OutputColumn, arithmetic: Ints) -> Accuracy:
    """Return the accuracy of the rows with an `arithmetic`, one per row, -1 to leave it out.

    Only elements that are defined and expected to be finite count. An infinity allowed in
    place of one is not correctly rounded, and has no error to speak of. Ulps are those of the
    magnitude that the bound is a multiple of: where cells cancel, what is left may be near zero,
    and an error that every order of summation has is 1e300 of its own.
    """
    near, counted = column.near, arithmetic >= 0
    if near is None or not counted.any():
        return Accuracy(column.name, 0, 0.0, 0.0, 0.0)
    starts, stops = column.starts[counted], column.stops[counted]
    elements = int((stops - starts).sum())
    for left_out in (column.columns.undefined, column.columns.infinite):
        elements -= int(counts_within(left_out, starts, stops).sum())
    chosen = arithmetic[column.row]
    off = (chosen >= 0) & np.isfinite(near.expected) & (near.error != 0)
    finite = off & np.isfinite(near.got)
    ulps = near.error[finite] / spacing(near.columns.magnitude[finite], column.name)
    worst_of_bound = 0.0
    for code in np.unique(chosen[finite]).tolist():
        alike = near.at(np.flatnonzero(finite & (chosen == code)))
        of_bound = alike.error / alike.bound(code)
        # Beyond it is another cell, chosen where subnormals count as zero: no error.
        worst_of_bound = max(worst_of_bound, float(of_bound[of_bound <= 1].max(initial=0.0)))
    return Accuracy(
        dtype=column.name,
        elements=elements,
        correctly_rounded=(elements - int(off.sum())) / elements if elements else 0.0,
        worst_ulp=float(ulps.max(initial=0.0)),
        worst_of_bound=worst_of_bound,
    )
