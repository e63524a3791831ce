"""A second call of some vectors: state kept between calls, and answers that vary, show there.

The first calls go through the vectors in order. When they are done, some of each operator are
called once more in another order, so that each comes after other shapes and attributes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from conformance.batch import Batch
from conformance.check.explain import Explanation
from conformance.check.judge import CONFORMS, Judged
from conformance.check.report import Repeatability
from conformance.check.results import Part
from conformance.check.runner import ARRAY, NO_ARRAY, RAISED, Answers, Runner
from conformance.check.sources import Source
from conformance.workers.answer import Returned

_SEED = 20

_Answer = tuple[int, tuple[Returned, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """First answers to a few vectors of a part, by the vectors' numbers in their source."""

    part: Part
    indices: dict[int, int]
    answers: dict[int, _Answer]

    @classmethod
    def of(cls, batch: Batch, answers: Answers, part: Part, again: Container[int]) -> First:
        """Keep the answers to the vectors numbered `again`, if there were any.

        What crashed or hung is not called again.
        """
        sample = [
            vector
            for vector, number in enumerate(batch.numbers.tolist())
            if number in again and answers.kind[vector] in {ARRAY, NO_ARRAY, RAISED}
        ]
        numbers = batch.numbers[sample].tolist()
        return cls(
            part,
            dict(zip(numbers, sample, strict=True)),
            {n: _answer(answers, v) for n, v in zip(numbers, sample, strict=True)},
        )

    def batches(self, source: Source) -> Iterator[tuple[Batch, Sequence[int]]]:
        """Yield batches with these vectors, and which of theirs they are."""
        if self.part.whole is not None:
            yield self.part.whole, list(self.indices.values())
            return
        for batch in source.batches(np.array(list(self.answers), np.int64)):
            yield batch, range(len(batch))


class Repeats:
    """Calls vectors again, and keeps what came of it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._sampled = 0
        self._differing: list[str] = []
        self._failing: list[str] = []

    def answers(self, batch: Batch, vectors: Sequence[int]) -> Answers:
        """Return second answers to some vectors of a batch, called in another order."""
        order = list(vectors)
        Random(_SEED).shuffle(order)  # noqa: S311 - no secret: the same order each time
        again = Answers.none_yet(len(batch))
        self._runner.run(batch, again, lambda _: None, order)
        self._sampled += len(order)
        return again

    def differing(
        self, batch: Batch, vectors: Sequence[int], again: Answers, first: First
    ) -> list[int]:
        """Return the vectors whose second answer is another, and remember them."""
        found = [
            vector
            for vector in vectors
            if first.answers[int(batch.numbers[vector])] != _answer(again, vector)
        ]
        self._differing += [batch.ids[vector] for vector in found]
        return found

    def refute(self, batch: Batch, vectors: Iterable[int], second: Judged, first: First) -> None:
        """Give vectors that conformed only at first the verdict of the second call."""
        before = first.part.judged
        for vector in vectors:
            index = first.indices[int(batch.numbers[vector])]
            if before.verdict[index] == CONFORMS != second.verdict[vector]:
                self._failing.append(batch.ids[vector])
                before.verdict[index] = second.verdict[vector]
                before.vote[index] = -1
                why = second.explanations.get(vector, Explanation("no longer conforms"))
                before.explanations[index] = why._replace(
                    detail=f"conforms at first, but not when called again: {why.detail}"
                )

    def report(self) -> Repeatability:
        """Return what came of it."""
        return Repeatability(self._sampled, tuple(self._differing), tuple(self._failing))


def _answer(answers: Answers, vector: int) -> _Answer:
    """Return what is compared: not the text of an exception, which may hold an address."""
    return answers.kind[vector], answers.outputs[vector]
