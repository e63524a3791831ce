"""Calling a backend for vectors and judging the answers, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import inf
from time import perf_counter

import numpy as np

from conformance.batch import Batch, Ints
from conformance.check.accuracy import AccuracyTally
from conformance.check.judge import Judged, judge
from conformance.check.portion import Portion
from conformance.check.repeats import First, Repeats
from conformance.check.report import FAILURES, KEPT_OUTPUT, VERDICTS, Verdict
from conformance.check.results import Part
from conformance.check.runner import NOT_RUN, Answers, Runner, Stopped
from conformance.check.sources import Selection, Source
from conformance.vector import Array, Outputs, outputs_of
from conformance.workers.answer import arrays_of

Expects = Callable[[str, Verdict], bool]
_PORTION = 256  # vectors between two looks at the number of failures


class Run:
    """A run while it goes on; `found` is what came of it so far.

    `tick(vectors done)` is called now and then. At most `failures` failures for which `expects`
    is false are allowed.
    """

    def __init__(
        self,
        runner: Runner,
        pins: Mapping[str, str],
        *,
        tick: Callable[[int], None] = lambda _: None,
        failures: int | None = None,
        expects: Expects = lambda *_: False,
    ) -> None:
        self.found = Portion()
        self._runner = runner
        self._pins = pins
        self._tick = tick
        self._most = inf if failures is None else failures
        self._expects = expects
        self._repeats = Repeats(runner)
        self._room = KEPT_OUTPUT
        self._done = 0
        self._left = 0

    def all(self, selections: Sequence[Selection]) -> bool:
        """Run what is selected, some of it twice; True if the user interrupted it."""
        self._left = sum(len(selection.numbers) for selection in selections)
        firsts: list[tuple[Source, list[First]]] = []
        try:
            for selection in selections:
                source, again = selection.source, set(selection.again.tolist())
                firsts.append((source, []))
                for numbers in self._portions(selection.numbers):
                    for batch in source.batches(numbers):
                        firsts[-1][1].append(self._batch(source, batch, again))
            if getattr(self._runner, "repeatable", True):
                for source, each in reversed(firsts):
                    self._again(source, each)
        except KeyboardInterrupt:
            self.found.stopped = "interrupted"
            return True
        except Stopped as stop:
            self.found.stopped = str(stop)
        finally:
            self.found.repeated = self._repeats.report()
        return False

    def _portions(self, numbers: Ints) -> Sequence[Ints]:
        """Return what is run before failures are counted again."""
        if self._most == inf:
            return (numbers,)
        return np.split(numbers, range(_PORTION, len(numbers), _PORTION))

    def _batch(self, source: Source, batch: Batch, again: Container[int]) -> First:
        answers = Answers.none_yet(len(batch))
        before = self._done
        stop: BaseException | None = None
        started = perf_counter()
        try:
            self._runner.run(batch, answers, lambda done: self._tick(before + done))
        except (KeyboardInterrupt, Stopped) as caught:
            stop = caught
        self.found.seconds += perf_counter() - started
        count = answers.kind.index(NOT_RUN) if NOT_RUN in answers.kind else len(batch)
        judged = judge(batch, answers, self._pins, self.found.accuracy)
        self.found.behaviours += judged.behaviours
        self.found.computed += judged.computed
        part = Part(
            source,
            batch.numbers[:count],
            judged.first(count),
            outputs=self._kept(judged, answers),
            printed={v: text for v, text in answers.printed.items() if v in judged.explanations},
            whole=batch if source.resident and count == len(batch) == len(source) else None,
        )
        self.found.parts.append(part)
        self._done += count
        self._left -= count
        if stop is not None:
            raise stop
        self._tick(self._done)
        self._count_failures(batch, part)
        return First.of(batch, answers, part, again)

    def _again(self, source: Source, firsts: Sequence[First]) -> None:
        """Call some vectors of a source again."""
        for first in firsts:
            for batch, vectors in first.batches(source):
                started = perf_counter()
                again = self._repeats.answers(batch, vectors)
                self.found.seconds += perf_counter() - started
                if differing := self._repeats.differing(batch, vectors, again, first):
                    judged = judge(batch, again, self._pins, AccuracyTally())
                    self._repeats.refute(batch, differing, judged, first)

    def _count_failures(self, batch: Batch, part: Part) -> None:
        if self._most == inf:
            return
        verdicts = [VERDICTS[code] for code in part.judged.verdict]
        failures = sum(
            verdict in FAILURES and not self._expects(vector, verdict)
            for vector, verdict in zip(batch.ids, verdicts, strict=True)
        )
        self._most -= failures
        if self._most <= 0 < self._left:
            raise Stopped("as many failures as were allowed")

    def _kept(self, judged: Judged, answers: Answers) -> dict[int, Array | Outputs]:
        """Return the outputs of mismatches, as long as there is room."""
        kept: dict[int, Array | Outputs] = {}
        for vector in judged.explanations:
            returned = arrays_of(answers.outputs[vector])
            if returned is None:
                continue
            nbytes = sum(output.nbytes for output in outputs_of(returned))
            if nbytes <= self._room:
                kept[vector] = returned
                self._room -= nbytes
        return kept
