"""The elements of sums that conform, in all vectors of a batch: how far off they are adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from conformance.backends.runner import Answers
from conformance.batch import Batch, Ints
from conformance.dtypes import FLOATS
from conformance.judging.closeness import Closeness, closeness
from conformance.judging.comparison import DifferingElements
from conformance.judging.verdicts import Judged
from conformance.operators import operator_named
from conformance.vector import Expected


@dataclass(frozen=True, slots=True, eq=False)
class ConformingElements:
    """Elements of one type that conform.

    `count` of them are defined and expected to be finite. `near` compares those that are not in all
    bits expected, each of the vector with a number, and right under an arithmetic; None if all are.
    """

    dtype: str
    count: int
    near: Closeness | None
    vector: Ints
    arithmetic: Ints


def conforming_elements(
    batch: Batch, answers: Answers, judged: Sequence[Judged]
) -> Iterator[ConformingElements]:
    """Yield the elements of outputs that may be off by a bound, by floating-point type."""
    outputs = enumerate(operator_named(batch.operator).outputs)
    bounded = [number for number, output in outputs if output.comparison == "bound"]
    rows: dict[str, list[int]] = {name: [] for name in batch.columns if name in FLOATS}
    off: dict[str, list[tuple[int, int, DifferingElements]]] = {name: [] for name in rows}
    first_outcome = np.searchsorted(batch.outcome_vector, np.arange(len(batch))).tolist()
    for vector, each in enumerate(judged):
        if each.followed is None or each.verdict != "conforms":
            continue
        outcome = first_outcome[vector] + each.followed
        for number in bounded:
            row = int(batch.outcome_expected[outcome]) + number
            name = batch.expected_dtype[row]
            if number < len(answers.outputs[vector]) and name in rows:
                rows[name].append(row)
                differing = each.differing(number)
                if differing is not None and differing.places.size:
                    off[name].append((vector, int(batch.outcome_arithmetic[outcome]), differing))
    for name, of_type in rows.items():
        if of_type:
            yield _elements(name, _count(batch, name, np.array(of_type)), off[name])


def _count(batch: Batch, name: str, rows: Ints) -> int:
    """Return how many elements of some rows are defined and expected to be finite."""
    starts = batch.expected_start[rows]
    stops = starts + batch.expected_size[rows]
    count = int((stops - starts).sum())
    for left_out in (batch.columns[name].undefined, batch.columns[name].infinite):
        first, last = np.searchsorted(left_out, np.stack([starts, stops]))
        count -= int((last - first).sum())
    return count


def _elements(
    name: str, count: int, off: Sequence[tuple[int, int, DifferingElements]]
) -> ConformingElements:
    sizes = [each.places.size for _, _, each in off]
    near = None
    if off:
        expected = [each.expected for _, _, each in off]
        columns = [(of.values, of.addends, of.divisor, of.magnitude) for of in expected]
        near = closeness(
            np.concatenate([each.got for _, _, each in off]),
            Expected(*map(np.concatenate, zip(*columns, strict=True))),
            np.repeat([each.axes for _, _, each in off], sizes),
            average=True,
        )
    return ConformingElements(
        name,
        count,
        near,
        vector=np.repeat([vector for vector, _, _ in off], sizes),
        arithmetic=np.repeat([arithmetic for _, arithmetic, _ in off], sizes),
    )
