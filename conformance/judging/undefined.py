"""What a backend returns or does where a clause leaves the answer undefined."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    NO_ARRAY,
    RAISED,
    TIMED_OUT,
    UNSUPPORTED,
)
from conformance.backends.runner import Answers
from conformance.batch import ANYTHING, Batch, distinct
from conformance.dtypes import FLOATS, dtype_of, float_format, name_of
from conformance.judging.closeness import Ints, OutputColumn, OutputsCompared
from conformance.operators import operator_named
from conformance.record.report import UndefinedReport
from conformance.reference.rounding import widen
from conformance.vector import Array

BEHAVIOURS = ("nan", "inf", "-inf", "zero", "-zero", "lowest", "other")
_MIXED = len(BEHAVIOURS)
_NONE = -1
_NAMES = (*BEHAVIOURS, "mixed")
_OF_KIND = {
    NO_ARRAY: "nothing",
    RAISED: "raised",
    UNSUPPORTED: "unsupported",
    CRASHED: "crashed",
    TIMED_OUT: "timed-out",
}


def classify(values: Array) -> npt.NDArray[np.int8]:
    """Return the number in `BEHAVIOURS` of each of some values of a known element type, flat."""
    name = name_of(values.dtype)
    codes = np.full(values.shape, BEHAVIOURS.index("other"), np.int8)
    if name in FLOATS:
        wide = widen(values)
        zero, negative = wide == 0, np.signbit(wide)
        kinds = {
            "nan": np.isnan(wide),
            "inf": wide == np.inf,
            "-inf": wide == -np.inf,
            "zero": zero & ~negative,
            "-zero": zero & negative,
            "lowest": wide == -float_format(name).largest,
        }
    else:
        kinds = {"zero": values == 0}
        if np.issubdtype(values.dtype, np.signedinteger):
            kinds["lowest"] = values == np.iinfo(values.dtype).min
    for behaviour, mask in kinds.items():
        codes[mask] = BEHAVIOURS.index(behaviour)
    return codes


def behaviours_in(
    batch: Batch, answers: Answers, compared: OutputsCompared, followed: Ints
) -> list[UndefinedReport]:
    """Report per undefined clause what the backend did in the vectors that it applies to.

    `followed` is the outcome row that each output is judged by, -1 where there is none: an
    output with another shape says nothing of the elements left undefined. What is counted is
    what was done in first outputs or, of a clause about another output, in that one.
    """
    counts: dict[str, Counter[str]] = {}
    clauses, which = distinct(batch.clauses)
    undefined = [
        [name for name, readings in of_vector.items() if not readings] for of_vector in clauses
    ]
    applies = np.flatnonzero(np.array(list(map(bool, undefined)), np.bool_)[which]).tolist()
    codes = np.full(len(batch.expected_dtype) + 1, _NONE, np.int64)  # the last for row -1
    for column in compared.columns:
        codes[column.rows] = _behaviour_of_rows(column)
    bounds = np.searchsorted(batch.outcome_vector, np.arange(len(batch))).tolist()
    first_row, rows = batch.outcome_expected.tolist(), followed.tolist()
    outputs = enumerate(operator_named(batch.operator).outputs)
    output_of = {output.undefined: number for number, output in outputs if output.undefined}
    for vector in applies:
        kind, row = answers.kind[vector], rows[vector]
        for name in undefined[which[vector]]:
            if kind != ARRAY:
                behaviour = _OF_KIND.get(kind)
            elif row >= 0:
                code = codes[first_row[row] + output_of.get(name, 0)]
                behaviour = None if code == _NONE else _NAMES[code]
            elif batch.outcome_kind[bounds[vector]] == ANYTHING:
                behaviour = _behaviour_of(answers, vector)
            else:
                behaviour = None
            if behaviour:
                counts.setdefault(name, Counter())[behaviour] += 1
    return [UndefinedReport(name, of_clause) for name, of_clause in counts.items()]


def _behaviour_of(answers: Answers, vector: int) -> str:
    first = answers.outputs[vector][0]
    if first.data is None:
        return "other"
    if not first.data:
        return "empty"
    codes = classify(np.frombuffer(first.data, dtype_of(first.dtype)))
    return BEHAVIOURS[codes[0]] if (codes == codes[0]).all() else "mixed"


def _behaviour_of_rows(column: OutputColumn) -> Ints:
    """Return per row the behaviour in its undefined elements, -1 if it has none."""
    behaviour = np.full(len(column.rows), _NONE, np.int64)
    rows, codes = column.undefined_row, classify(column.undefined).astype(np.int64)
    first = np.flatnonzero(np.diff(rows, prepend=-1))  # they ascend
    behaviour[rows[first]] = codes[first]
    behaviour[rows[codes != behaviour[rows]]] = _MIXED
    return behaviour
