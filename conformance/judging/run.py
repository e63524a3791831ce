"""A run in this process: call a backend for vectors and judge the answers, batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType

import numpy as np
from msgspec import structs

from conformance.backends.answer import arrays_of
from conformance.backends.runner import Answers, Calls, Runner, Stopped
from conformance.batch import Batch, Ints
from conformance.judging.batch_judge import judge_batch
from conformance.judging.schedule import Forecast, cheap_first
from conformance.judging.tally import INTERRUPTED, Tally
from conformance.judging.varied_calls import VariedCalls
from conformance.record.report import (
    FAILURES,
    STORED_OUTPUT,
    Announced,
    Result,
    SlowVector,
    Verdict,
    slowest,
)
from conformance.text import listed
from conformance.vector import outputs_of
from conformance.vectorfile.sources import Selected

_SHOWN = 50
_BETWEEN_COUNTS = 256
"""Vectors that are run between two counts of the failures."""
_OF_ROOM = 16
"""An output may take this part of the room left: a few huge ones leave it to those after them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """A batch whose calls were begun."""

    part: Selected
    batch: Batch
    answers: Answers
    calls: Calls


class Run:
    """A run in progress: calls a backend for vectors and judges its answers, batch by batch.

    `tick(vectors done)` is called now and then. At most `max_failures` failures are allowed but
    for those that are `announced`, by vector id and verdict; `failing` are the verdicts that
    are failures. Vectors are called in `variations`: in those named, or a sample in all of them.
    A run that will be long logs so, with `quicker`, which says what takes less time, unless it is
    empty.
    """

    def __init__(
        self,
        runner: Runner,
        pins: Mapping[str, str],
        tick: Callable[[int], None] = lambda _: None,
        max_failures: int | None = None,
        announced: Mapping[str, Mapping[str, Announced]] = MappingProxyType({}),
        failing: Container[Verdict] = FAILURES,
        variations: Sequence[str] | None = None,
        quicker: str = "",
    ) -> None:
        self._tally = Tally()
        self._runner = runner
        self._pins = pins
        self._tick = tick
        self._failures_left = inf if max_failures is None else max_failures
        self._announced = announced
        self._failing = failing
        self._output_bytes_left = STORED_OUTPUT
        self._left = 0
        self._varied = VariedCalls(runner, pins, self._tally, failing, variations)
        self._quicker = quicker
        self._forecast: Forecast | None = None
        self._begun: deque[_Begun] = deque()
        self._out_of_memory: list[str] = []
        """The ids of vectors for which there was no memory."""

    def all(self, selected: Sequence[Selected]) -> Tally:
        """Run what is selected, cheap vectors first, some more than once, and return the tally."""
        tally = self._tally
        self._left = sum(len(part.numbers) for part in selected)
        parts, steps = cheap_first(selected)
        if self._quicker:
            self._forecast = Forecast(steps, self._quicker)
        try:
            self._run(parts)
            self._varied.call()
        except KeyboardInterrupt:
            tally.stopped = INTERRUPTED
        except Stopped as stop:
            tally.stopped = str(stop)
        for begun in self._begun:
            self._judge(begun)  # what was answered before it stopped
        if self._out_of_memory and not tally.stopped:
            ids = listed(self._out_of_memory[:_SHOWN])
            tally.stopped = f"memory ran out, a lower --memory leaves out: {ids}"
        tally.engine = self._runner.engine
        return tally

    def _run(self, selected: Sequence[Selected]) -> None:
        """Run what is selected; a batch is read, and the last one judged, while one is run."""
        try:
            for part in selected:
                for numbers in self._between_counts(part.numbers):
                    for batch in part.source.batches(numbers):
                        answers = Answers.none_yet(len(batch))
                        calls = self._runner.begin(batch, answers)
                        self._begun.append(_Begun(part, batch, answers, calls))
                        # One is in the backend while another is read or judged.
                        ahead = not batch.alone and self._failures_left == inf
                        self._finish(int(ahead))
            self._finish(0)
        finally:
            for begun in reversed(self._begun):
                begun.calls.stop()

    def _finish(self, but: int) -> None:
        """Wait for the batches that were begun, but for the last few, and judge them."""
        while len(self._begun) > but:
            self._begun[0].calls.wait(self._tick_from(len(self._tally)))
            begun = self._begun.popleft()
            results = self._judge(begun)
            if len(results) < len(begun.batch):
                self._out_of_memory += begun.batch.ids[len(results) :]
            self._done(len(self._tally))
            self._count_failures(results)
            self._varied.note(begun.part, results, begun.batch, begun.answers)

    def _tick_from(self, before: int) -> Callable[[int], None]:
        """Return what tells of vectors done after those `before`."""
        return lambda done: self._done(before + done)

    def _done(self, vectors: int) -> None:
        self._tick(vectors)
        if self._forecast is not None:
            self._forecast.tick(vectors)

    def _between_counts(self, numbers: Ints) -> Sequence[Ints]:
        """Return the vectors that are run before failures are counted again."""
        if self._failures_left == inf:
            return (numbers,)
        return np.split(numbers, range(_BETWEEN_COUNTS, len(numbers), _BETWEEN_COUNTS))

    def _judge(self, begun: _Begun) -> list[Result]:
        """Judge the answers to a batch, up to the first that is missing, and keep the results."""
        batch, answers = begun.batch, begun.answers
        self._tally.seconds += begun.calls.seconds
        slow = (SlowVector(batch.ids[index], took) for index, took in answers.seconds.items())
        self._tally.slowest = slowest([*self._tally.slowest, *slow])
        judged, sums = judge_batch(batch, answers, self._pins)
        results = [
            self._with_output(result, answers, vector, batch.outputs)
            for vector, result in enumerate(judged)
        ]
        count = len(results)
        self._tally.add(begun.part.source, batch.numbers[:count], results, sums)
        self._left -= count
        return results

    def _count_failures(self, results: Sequence[Result]) -> None:
        if self._failures_left == inf:
            return
        for result in results:
            if result.verdict in self._failing:
                known = self._announced.get(result.id, {}).get(result.verdict)
                self._failures_left -= known is None or not known.is_of(result.answer)
        if self._failures_left <= 0 < self._left:
            raise Stopped("as many failures as were allowed")

    def _with_output(self, result: Result, answers: Answers, vector: int, outputs: int) -> Result:
        """Return a result with what was printed, and outputs if a report may take more of them.

        Of what conforms these are counted, where they are fewer than the operator has.
        """
        returned = answers.outputs[vector]
        if result.why is None:
            fewer = 0 < len(returned) < outputs
            return structs.replace(result, first_outputs=len(returned)) if fewer else result
        output = arrays_of(returned)
        nbytes = 0 if output is None else sum(array.nbytes for array in outputs_of(output))
        if nbytes > self._output_bytes_left // _OF_ROOM:
            output, nbytes = None, 0
        self._output_bytes_left -= nbytes
        return structs.replace(result, output=output, printed=answers.printed.get(vector, ""))
