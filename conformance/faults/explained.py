"""A report with the likely causes of its failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from conformance.batch import vector_at
from conformance.check.report import ClauseReport, Report, Result
from conformance.check.sources import Source, Vectors, opened
from conformance.check.votes import separators
from conformance.dtypes import name_of
from conformance.faults.acceptance import accepted
from conformance.faults.diagnosis import Mismatch, diagnose
from conformance.vector import Outputs, Vector, outputs_of

Progress = Callable[[int, int], None]

_CONFORMING = 1200
"""Conforming vectors that are read to choose from; more would only take longer."""


def explained(
    report: Report, vectors: Vectors = None, *, progress: Progress | None = None
) -> Report:
    """Return a report with `diagnoses`; the same report where nothing failed.

    `vectors` are those of the run. Outputs that the report did not keep, and answers that were
    no arrays, are not diagnosed; nor are failures that were expected, and operators of which no
    call returned: a backend that cannot be called has no cause in what it was asked for.
    """
    failing, right, silent = _sorted(report)
    if silent:
        note = f"no call of {', '.join(silent)} returned: no likely causes were searched for"
        report = replace(report, notes=(*report.notes, note))
    if not failing:
        return report
    mismatches: list[Mismatch] = []
    conforming: list[Vector] = []
    with opened(vectors) as sources:
        for source in sources:
            here = failing.get(source.operator, {})
            if here:
                found = _read(source, here)
                answers = [(vector, _outputs(here[vector.case.id])) for vector in found]
                # What a required reading alone rejects is no fault.
                mismatches += [
                    (vector, outputs)
                    for vector, outputs in answers
                    if outputs is None or not accepted(vector, outputs)
                ]
                ids = right.get(source.operator, [])
                step = -(-len(ids) * len(failing) // _CONFORMING) or 1
                conforming += _read(source, ids[::step])
    readings = _readings(report.readings)
    diagnoses = diagnose(mismatches, conforming, readings, progress=progress)
    notes = report.notes
    if diagnoses and diagnoses[0].total < len(mismatches):
        searched = f"{diagnoses[0].total:,} of {len(mismatches):,} failures"
        notes += (f"likely causes were searched for {searched}, of all kinds",)
    return replace(report, diagnoses=tuple(diagnoses), notes=notes)


def _sorted(
    report: Report,
) -> tuple[dict[str, dict[str, Result]], dict[str, list[str]], list[str]]:
    """Return what failed and what conforms, by operator, and the operators that never returned."""
    failing: dict[str, dict[str, Result]] = {}
    right: dict[str, list[str]] = {}
    returned: set[str] = set()
    for result in report.results:
        if result.verdict == "mismatch" or result.computed:
            returned.add(result.operator)
        if result.expected:
            continue
        if result.verdict == "error" or (
            result.verdict == "mismatch" and result.output is not None
        ):
            failing.setdefault(result.operator, {})[result.id] = result
        elif result.verdict == "conforms":
            right.setdefault(result.operator, []).append(result.id)
    silent = sorted(failing.keys() - returned)
    return {name: failing[name] for name in failing.keys() & returned}, right, silent


def _read(source: Source, ids: Iterable[str]) -> list[Vector]:
    wanted = set(ids)
    numbers = np.array([n for n, each in enumerate(source.ids) if each in wanted], np.int64)
    return [vector_at(batch, i) for batch in source.batches(numbers) for i in range(len(batch))]


def _outputs(result: Result) -> Outputs | None:
    """Return what a backend returned; None where it raised an exception."""
    return None if result.output is None else outputs_of(result.output)


def _readings(clauses: Sequence[ClauseReport]) -> Callable[[Vector], Mapping[str, str]]:
    """Return what gives the readings that a backend follows in a vector."""

    def of(vector: Vector) -> dict[str, str]:
        case, followed = vector.case, {}
        for clause in clauses:
            reading = clause.followed
            if clause.by is not None and case.inputs:
                data = case.inputs[0]
                values = separators(
                    case.operator, name_of(data.dtype), data.ndim - 2, case.attributes
                )
                reading = clause.values.get(getattr(values, clause.by))
            if reading is not None and reading != "either":
                followed[clause.clause] = reading
        return followed

    return of
