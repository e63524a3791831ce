"""A run in this process: call a backend for vectors and judge the answers, batch by batch.

When the first calls are done, some vectors of each source, and some of those that failed, are
called once more in another order, so that each comes after other shapes and attributes: that shows
state that outlives a call, and answers that vary.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import inf
from random import Random
from time import perf_counter
from types import MappingProxyType

import numpy as np

from conformance.backends.answer import ARRAY, NO_ARRAY, NOT_RUN, RAISED, Returned, arrays_of
from conformance.backends.runner import Answers, Runner, Stopped
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
        self._failing_again = 0
        """How many more failing vectors of the source may be called again."""
        self._first_answers: list[tuple[JudgedBatch, Batch, dict[int, _Answer]]] = []
        """Vectors that are to be called again, as a batch, and their answers by their indices."""

    def all(self, selected: Sequence[Selected]) -> Tally:
        """Run what is selected, some of it twice, and return the tally."""
        tally = self._tally
        self._left = sum(len(part.numbers) for part in selected)
        try:
            for part in selected:
                again = set(part.again.tolist())
                self._failing_again = part.failing_again
                for numbers in self._between_counts(part.numbers):
                    for batch in part.source.batches(numbers):
                        self._run_batch(part.source, batch, again)
            for judged, batch, answers in reversed(self._first_answers):
                self._call_again(judged, batch, answers)
        except KeyboardInterrupt:
            tally.stopped = INTERRUPTED
        except Stopped as stop:
            tally.stopped = str(stop)
        tally.engines = frozenset(filter(None, [self._runner.engine]))
        return tally

    def _between_counts(self, numbers: Ints) -> Sequence[Ints]:
        """Return the vectors that are run before failures are counted again."""
        if self._failures_left == inf:
            return (numbers,)
        return np.split(numbers, range(_BETWEEN_COUNTS, len(numbers), _BETWEEN_COUNTS))

    def _run_batch(self, source: Source, batch: Batch, again: Container[int]) -> None:
        """Run and judge a batch; remember the answers to the vectors numbered `again`."""
        before = len(self._tally)
        answers = Answers.none_yet(len(batch))
        stop: BaseException | None = None
        started = perf_counter()
        try:
            self._runner.run(batch, answers, lambda done: self._tick(before + done))
        except (KeyboardInterrupt, Stopped) as caught:
            stop = caught
        self._tally.seconds += perf_counter() - started
        count = answers.kind.index(NOT_RUN) if NOT_RUN in answers.kind else len(batch)
        verdicts = judge(batch, answers, self._pins)
        self._store_outputs(verdicts, answers)
        judged = JudgedBatch(
            source,
            batch.numbers[:count],
            verdicts.first(count),
            whole=batch if source.resident and count == len(batch) == len(source) else None,
        )
        self._tally.batches.append(judged)
        self._left -= count
        if stop is not None:
            raise stop
        self._tick(before + count)
        self._count_failures(batch, verdicts)
        first: dict[int, _Answer] = {}
        for vector, number in enumerate(batch.numbers.tolist()):
            # A vector that crashed or hung is not called again.
            if answers.kind[vector] not in {ARRAY, NO_ARRAY, RAISED}:
                continue
            failed = self._failing_again > 0 and VERDICTS[verdicts.verdict[vector]] in self._failing
            self._failing_again -= failed
            if failed or number in again:
                first[vector] = _compared(answers, vector)
        if first:
            self._first_answers.append((judged, picked(batch, list(first)), first))

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

    def _count_failures(self, batch: Batch, verdicts: Verdicts) -> None:
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
