"""A run in this process: call a backend for vectors and judge the answers, batch by batch.

When the first calls are done, some vectors of each source, and some of those that failed, are
called once more in another order, so that each comes after other shapes and attributes: that shows
state that outlives a call, and answers that vary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from random import Random
from time import perf_counter
from types import MappingProxyType

import numpy as np

from conformance.backends.answer import ARRAY, NO_ARRAY, NOT_RUN, RAISED, Returned, arrays_of
from conformance.backends.runner import Answers, Calls, Runner, Stopped
from conformance.batch import Batch, Ints, picked
from conformance.check.explanations import CALLED_AGAIN, FIRST_ONLY, Explanation
from conformance.check.judge import CONFORMS, Verdicts, judge
from conformance.check.report import FAILURES, STORED_OUTPUT, VERDICTS, Repeatability, Verdict
from conformance.check.tally import INTERRUPTED, JudgedBatch, Tally
from conformance.vector import outputs_of
from conformance.vectorfile.sources import Selected, Source

_BETWEEN_COUNTS = 256
"""Vectors that are run between two counts of the failures."""
_SEED = 20

_Answer = tuple[int, tuple[Returned, ...]]


class _CalledAgain:
    """Which vectors of a selection are called a second time."""

    def __init__(self, part: Selected) -> None:
        self._numbers = set(part.again.tolist())
        self._failing_left = part.failing_again

    def of(
        self, begun: _Begun, verdicts: Verdicts, failing: Container[Verdict]
    ) -> dict[int, _Answer]:
        """Return the answers to those of a batch, by their indices in it."""
        first: dict[int, _Answer] = {}
        for vector, number in enumerate(begun.batch.numbers.tolist()):
            # A vector that crashed or hung is not called again.
            if begun.answers.kind[vector] not in {ARRAY, NO_ARRAY, RAISED}:
                continue
            failed = self._failing_left > 0 and VERDICTS[verdicts.verdict[vector]] in failing
            self._failing_left -= failed
            if failed or number in self._numbers:
                first[vector] = _compared(begun.answers, vector)
        return first


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """A batch whose calls were begun."""

    source: Source
    again: _CalledAgain
    batch: Batch
    answers: Answers
    calls: Calls


class Run:
    """A run in progress: calls a backend for vectors and judges its answers, batch by batch.

    `tick(vectors done)` is called now and then. At most `max_failures` failures are allowed but
    for those with one of the `reasons`, by vector id and verdict; `failing` are the verdicts that
    are failures.
    """

    def __init__(
        self,
        runner: Runner,
        pins: Mapping[str, str],
        tick: Callable[[int], None] = lambda _: None,
        max_failures: int | None = None,
        reasons: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        failing: Container[Verdict] = FAILURES,
    ) -> None:
        self._tally = Tally()
        self._runner = runner
        self._pins = pins
        self._tick = tick
        self._failures_left = inf if max_failures is None else max_failures
        self._reasons = reasons
        self._failing = failing
        self._output_bytes_left = STORED_OUTPUT
        self._left = 0
        self._begun: deque[_Begun] = deque()
        self._most_begun = 1 if self._failures_left == inf else 0
        """How many batches are in the backend while another is read or judged."""
        self._first_answers: list[tuple[JudgedBatch, Batch, dict[int, _Answer]]] = []
        """Vectors that are to be called again, as a batch, and their answers by their indices."""

    def all(self, selected: Sequence[Selected]) -> Tally:
        """Run what is selected, some of it twice, and return the tally."""
        tally = self._tally
        self._left = sum(len(part.numbers) for part in selected)
        try:
            self._run(selected)
            for judged, batch, answers in reversed(self._first_answers):
                self._call_again(judged, batch, answers)
        except KeyboardInterrupt:
            tally.stopped = INTERRUPTED
        except Stopped as stop:
            tally.stopped = str(stop)
        for begun in self._begun:
            self._judge(begun)  # what was answered before it stopped
        tally.engines = frozenset(filter(None, [self._runner.engine]))
        return tally

    def _run(self, selected: Sequence[Selected]) -> None:
        """Run what is selected; a batch is read, and the last one judged, while one is run."""
        try:
            for part in selected:
                again = _CalledAgain(part)
                for numbers in self._between_counts(part.numbers):
                    for batch in part.source.batches(numbers):
                        answers = Answers.none_yet(len(batch))
                        calls = self._runner.begin(batch, answers)
                        self._begun.append(_Begun(part.source, again, batch, answers, calls))
                        self._finish(self._most_begun)
            self._finish(0)
        finally:
            for begun in reversed(self._begun):
                begun.calls.stop()

    def _finish(self, but: int) -> None:
        """Wait for the batches that were begun, but for the last few, and judge them."""
        while len(self._begun) > but:
            self._begun[0].calls.wait(self._tick_from(len(self._tally)))
            begun = self._begun.popleft()
            judged = self._judge(begun)
            self._tick(len(self._tally))
            self._count_failures(judged.verdicts, begun.batch)
            if first := begun.again.of(begun, judged.verdicts, self._failing):
                batch = picked(begun.batch, list(first))
                self._first_answers.append((judged, batch, first))

    def _tick_from(self, before: int) -> Callable[[int], None]:
        """Return what tells of vectors done after those `before`."""
        return lambda done: self._tick(before + done)

    def _between_counts(self, numbers: Ints) -> Sequence[Ints]:
        """Return the vectors that are run before failures are counted again."""
        if self._failures_left == inf:
            return (numbers,)
        return np.split(numbers, range(_BETWEEN_COUNTS, len(numbers), _BETWEEN_COUNTS))

    def _judge(self, begun: _Begun) -> JudgedBatch:
        """Judge the answers to a batch, up to the first that is missing."""
        batch, answers = begun.batch, begun.answers
        self._tally.seconds += begun.calls.seconds
        count = answers.kind.index(NOT_RUN) if NOT_RUN in answers.kind else len(batch)
        verdicts = judge(batch, answers, self._pins)
        self._store_outputs(verdicts, answers)
        whole = begun.source.resident and count == len(batch) == len(begun.source)
        judged = JudgedBatch(
            begun.source,
            batch.numbers[:count],
            verdicts.first(count),
            whole=batch if whole else None,
        )
        self._tally.batches.append(judged)
        self._left -= count
        return judged

    def _call_again(self, judged: JudgedBatch, batch: Batch, first: Mapping[int, _Answer]) -> None:
        """Call some vectors again; one that conforms only once has the failing verdict.

        They are the rows of `batch`, in the order of their first answers.
        """
        order = list(range(len(batch)))
        Random(_SEED).shuffle(order)  # noqa: S311 - no secret: the same order each time
        answers = Answers.none_yet(len(batch))
        started = perf_counter()
        self._runner.run(batch, answers, lambda _: None, order)
        self._tally.seconds += perf_counter() - started
        differing = [
            (row, index)
            for row, (index, answer) in enumerate(first.items())
            if answer != _compared(answers, row)
        ]
        failing: list[str] = []
        passing: list[str] = []
        verdicts = judge(batch, answers, self._pins) if differing else judged.verdicts
        for row, index in differing:
            if VERDICTS[judged.verdicts.verdict[index]] in self._failing:
                if verdicts.verdict[row] == CONFORMS:
                    passing.append(batch.ids[row])
                    why = judged.verdicts.explanations.get(index, Explanation(""))
                    detail = f"{FIRST_ONLY}{why.detail}"
                    judged.verdicts.explanations[index] = why._replace(detail=detail)
            elif judged.verdicts.verdict[index] == CONFORMS != verdicts.verdict[row]:
                if VERDICTS[verdicts.verdict[row]] in self._failing:
                    failing.append(batch.ids[row])
                why = verdicts.explanations.get(row, Explanation("no longer conforms"))
                detail = f"{CALLED_AGAIN}{why.detail}"
                judged.verdicts.verdict[index] = verdicts.verdict[row]
                judged.verdicts.vote[index] = -1
                judged.verdicts.explanations[index] = why._replace(detail=detail)
        ids = tuple(batch.ids[row] for row, _ in differing)
        self._tally.repeated += Repeatability(len(order), ids, tuple(failing), tuple(passing))

    def _count_failures(self, verdicts: Verdicts, batch: Batch) -> None:
        if self._failures_left == inf:
            return
        for vector_id, code in zip(batch.ids, verdicts.verdict.tolist(), strict=True):
            verdict = VERDICTS[code]
            if verdict in self._failing and verdict not in self._reasons.get(vector_id, ()):
                self._failures_left -= 1
        if self._failures_left <= 0 < self._left:
            raise Stopped("as many failures as were allowed")

    def _store_outputs(self, verdicts: Verdicts, answers: Answers) -> None:
        """Store what was printed, and outputs as long as a report may take more bytes of them."""
        for vector, explanation in verdicts.explanations.items():
            output = arrays_of(answers.outputs[vector])
            nbytes = 0 if output is None else sum(array.nbytes for array in outputs_of(output))
            if nbytes > self._output_bytes_left:
                output, nbytes = None, 0
            self._output_bytes_left -= nbytes
            printed = answers.printed.get(vector, "")
            if printed or output is not None:
                verdicts.explanations[vector] = explanation._replace(output=output, printed=printed)


def _compared(answers: Answers, vector: int) -> _Answer:
    """Return what is compared: not the text of an exception, which may hold an address."""
    return answers.kind[vector], answers.outputs[vector]
