"""The calls of a run in their order, and which of them failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice, zip_longest

import numpy as np

from conformance.batch import Batch, vector_at
from conformance.diagnosis import limits
from conformance.diagnosis.varied import is_varied
from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.record.report import Report, Result
from conformance.vector import Array, Vector, own_inputs
from conformance.vectorfile.sources import Source

Aspects = Mapping[str, object]
Part = tuple[Batch, list[int]]
"""A batch, and those of its rows that are called, in their order."""


def aspects(operator: str, inputs: Sequence[Array], attributes: Mapping[str, object]) -> Aspects:
    """Return what a cache may be keyed by, in the words of a report, but for the data."""
    own = own_inputs(operator, inputs)
    names = own_inputs(operator, operator_named(operator).input_names)
    data = next(iter(own), None)
    return {
        "operator": operator,
        "element type": "" if data is None else name_of(data.dtype),
        "shape": [] if data is None else list(data.shape),
        **{name: array.tolist() for name, array in zip(names[1:], own[1:], strict=False)},
        **attributes,
    }


@dataclass(frozen=True, eq=False)
class RunHistory:
    """The calls of a run, by their positions in it: `batches`, one after the other.

    `failed` are the positions of failures, ascending. Those in `again` conformed at first and
    failed when they were called again after all others. `ended` are calls that ended the process:
    the next call was the first of another one. `whole` says that these are all calls of the run up
    to its last failure, and that one process after the other had them.
    """

    batches: Sequence[Batch]
    failed: Sequence[int]
    again: Collection[int] = ()
    ended: Sequence[int] = ()
    whole: bool = True

    @cached_property
    def calls(self) -> list[tuple[Batch, int]]:
        """The batch and the row there of each call, in their order."""
        return [(batch, row) for batch in self.batches for row in range(len(batch))]

    def vector(self, position: int) -> Vector:
        """Return the vector of a call."""
        return vector_at(*self.calls[position])

    def parts(self, positions: Iterable[int], *, most: int | None = None) -> Iterator[Part]:
        """Yield calls in their order, at most so many at a time."""
        for _, group in groupby(map(self.calls.__getitem__, positions), lambda call: id(call[0])):
            while calls := list(islice(group, most or limits.HISTORY)):
                yield calls[0][0], [row for _, row in calls]

    def other(self, position: int, *, operator: bool, dtype: bool) -> Vector | None:
        """Return another vector, one that passed if any, None if there is none.

        It is of the same operator or of another, and so is its element type.
        """
        own, avoided, failed = self._aspects[position], {position, *self.ended}, set(self.failed)
        others = (
            place
            for place, other in enumerate(self._aspects)
            if place not in avoided
            and (own["operator"] == other["operator"]) == operator
            and (own["element type"] == other["element type"]) == dtype
        )
        best = min(others, key=lambda place: place in failed, default=None)
        return None if best is None else self.vector(best)

    def before(self, position: int) -> range:
        """Return the calls that a failure came after, in the process that it came in."""
        end = len(self.calls) if position in self.again else position
        start = max((ended + 1 for ended in self.ended if ended < end), default=0)
        return range(start, end)

    def likely(self, position: int) -> list[int]:
        """Return the calls that a failure came after, those first that it may depend on.

        That are those which are most like it, and in turn the last ones.
        """
        target = self._aspects[position]
        # The calls that are alike lie near each other: the nearest first where they are equal.
        last = list(reversed(self.before(position)))
        alike = sorted(last, key=lambda other: -_likeness(self._aspects[other], target))
        in_turn = chain.from_iterable(zip_longest(alike, last))
        return [call for call in dict.fromkeys(in_turn) if call is not None]

    @cached_property
    def _aspects(self) -> list[Aspects]:
        return [
            aspects(batch.operator, batch.inputs[row], batch.attributes[row])
            for batch, row in self.calls
        ]


def history_of(report: Report, sources: Sequence[Source], *, workers: int = 1) -> RunHistory:
    """Return the calls of a run that so many workers had, some of them where it was long.

    Failures that were expected are left out, hangs too, and exceptions that only the readings
    followed rule out: alone they conform.
    """
    again = set(report.repeated.failing) if report.repeated is not None else set()
    results = {(result.operator, result.id): result for result in report.results}
    run = [
        (source, number, results[source.operator, name])
        for source in sources
        for number, name in enumerate(source.ids)
        if (source.operator, name) in results
    ]
    failed = [place for place, (*_, result) in enumerate(run) if _is_looked_at(result, report)]
    if not failed:
        return RunHistory((), ())
    first = max(0, (len(run) if again else failed[-1] + 1) - limits.HISTORY)
    run = run[first : first + limits.HISTORY]
    failed = [place - first for place in failed if place >= first]
    batches: list[Batch] = []
    for source, group in groupby(run, lambda call: call[0]):
        batches += source.batches(np.array([number for _, number, _ in group], np.int64))
    return RunHistory(
        batches,
        failed,
        again={place for place in failed if run[place][2].id in again},
        ended=[
            place
            for place, (*_, result) in enumerate(run)
            if result.verdict in {"crashed", "timed-out"}
        ],
        whole=not first and workers == 1,
    )


def _is_looked_at(result: Result, report: Report) -> bool:
    """Say whether a result is a failure that may depend on the calls of this history."""
    fails = result.verdict in report.failing and result.verdict != "timed-out"
    return fails and not (result.expected or result.excused or is_varied(result))


def _likeness(one: Aspects, other: Aspects) -> int:
    """Return how much two calls have in common; numbers in another order count a little less."""
    return sum(
        (one[key] == other[key]) + (_in_order(one[key]) == _in_order(other[key]))
        for key in one.keys() & other.keys()
    )


def _in_order(value: object) -> object:
    return sorted(map(repr, value)) if isinstance(value, list) else value
