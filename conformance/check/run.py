"""A run in this process: call a backend for vectors and judge the answers, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import inf
from time import perf_counter
from types import MappingProxyType

import numpy as np

from conformance.backends.answer import NOT_RUN, arrays_of
from conformance.backends.runner import Answers, Runner, Stopped
from conformance.batch import Batch, Ints
from conformance.check.judge import Verdicts, judge
from conformance.check.report import FAILURES, STORED_OUTPUT, VERDICTS, Verdict
from conformance.check.tally import INTERRUPTED, JudgedBatch, Tally
from conformance.check.varied_calls import VariedCalls
from conformance.vector import outputs_of
from conformance.vectorfile.sources import Selected, Source

_BETWEEN_COUNTS = 256
"""Vectors that are run between two counts of the failures."""


class Run:
    """A run in progress: calls a backend for vectors and judges its answers, batch by batch.

    `tick(vectors done)` is called now and then. At most `max_failures` failures are allowed but
    for those with one of the `reasons`, by vector id and verdict; `failing` are the verdicts that
    are failures. Vectors are called in `variations`: in those named, or a sample in all of them.
    """

    def __init__(
        self,
        runner: Runner,
        pins: Mapping[str, str],
        tick: Callable[[int], None] = lambda _: None,
        max_failures: int | None = None,
        reasons: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        failing: Container[Verdict] = FAILURES,
        variations: Sequence[str] | None = None,
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
        self._varied = VariedCalls(runner, pins, self._tally, failing, variations)

    def all(self, selected: Sequence[Selected]) -> Tally:
        """Run what is selected, some of it more than once, and return the tally."""
        tally = self._tally
        self._left = sum(len(part.numbers) for part in selected)
        try:
            for part in selected:
                self._varied.begin(part)
                for numbers in self._between_counts(part.numbers):
                    for batch in part.source.batches(numbers):
                        self._run_batch(part.source, batch)
            self._varied.call()
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

    def _run_batch(self, source: Source, batch: Batch) -> None:
        """Run and judge a batch."""
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
        self._varied.note(judged, batch, answers)

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
