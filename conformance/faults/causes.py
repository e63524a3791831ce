"""The causes of the mismatches of a whole report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from conformance.batch import vector_at
from conformance.check import Report
from conformance.check.sources import Source, Vectors, opened
from conformance.dtypes import name_of
from conformance.faults.acceptance import accepted
from conformance.faults.diagnosis import Diagnosis, diagnose
from conformance.faults.search import Progress
from conformance.vector import Vector

_CONFORMING = 1200
"""Conforming vectors that are looked at to choose the ones causes are held against."""


def diagnose_report(
    report: Report, vectors: Vectors = None, *, progress: Progress | None = None
) -> tuple[Diagnosis, ...]:
    """Find the likely causes of the mismatches and errors of a report.

    `vectors` are those the report is about. Considered are errors and the mismatches whose
    outputs the report keeps. `progress(done, total)` counts mismatches. Empty where there is
    nothing to diagnose.
    """
    wrong = {
        (result.operator, result.id): result
        for result in report.results
        if result.verdict == "error" or (result.verdict == "mismatch" and result.output is not None)
    }
    if not wrong:
        return ()
    concerned = {operator for operator, _ in wrong}
    right = [
        (result.operator, result.id)
        for result in report.results
        if result.verdict == "conforms" and result.operator in concerned
    ]
    sampled = right[:: max(1, len(right) // _CONFORMING)]
    with opened(vectors) as sources:
        loaded = _loaded(sources, [*wrong, *sampled])
    return tuple(
        diagnose(
            [
                (loaded[key], result.output if result.verdict == "mismatch" else None)
                for key, result in wrong.items()
                # A value that only a pinned reading rejects is no fault.
                if result.verdict == "error" or not accepted(loaded[key], result.output)
            ],
            [loaded[key] for key in sampled],
            _Followed(report),
            progress=progress,
        )
    )


def _loaded(
    sources: Sequence[Source], keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Vector]:
    """Read vectors by operator and id."""
    wanted = set(keys)
    found = {}
    for source in sources:
        numbers = [n for n, each in enumerate(source.ids) if (source.operator, each) in wanted]
        for batch in source.batches(np.array(numbers, np.int64)):
            for index, each in enumerate(batch.ids):
                found[source.operator, each] = vector_at(batch, index)
    return found


class _Followed:
    """The readings a report says a backend follows, for each vector."""

    def __init__(self, report: Report) -> None:
        self._fixed = {
            clause.clause: clause.followed for clause in report.readings if clause.followed
        } | dict(report.required)
        self._split = [
            (clause.clause, clause.by, clause.values)
            for clause in report.readings
            if clause.status == "split" and clause.by is not None
        ]

    def __call__(self, vector: Vector) -> Mapping[str, str]:
        found = dict(self._fixed)
        for clause, by, values in self._split:
            reading = values.get(_value(vector, by), "either")
            if reading != "either":
                found[clause] = reading
        return found


def _value(vector: Vector, attribute: str) -> str:
    """Return what separates the readings of a clause, as the checker says it."""
    case = vector.case
    given, data = case.attributes, case.inputs[0]
    include = given.get("include_padding_in_avg_computation", False)
    return {
        "operator": case.operator,
        "dtype": name_of(data.dtype),
        "axes": str(data.ndim - 2),
        "auto_pad": str(given.get("auto_pad", "explicit")),
        "rounding_type": str(given.get("rounding_type", "floor")),
        "exclude_pad": str(given.get("exclude_pad", not include)).lower(),
    }[attribute]
