"""Calls in variations: when all vectors have been called once, some are called in other ways.

They come in another order than at first, so that each comes after other shapes and attributes: that
shows state that outlives a call, and answers that vary. What fails only in another way is called
plainly once more: so state is not taken for what the variation does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

import numpy as np

from conformance.backends.answer import ARRAY, NO_ARRAY, RAISED, UNSUPPORTED, Returned
from conformance.backends.runner import Answers, Runner
from conformance.backends.variations import AGAIN, VARIATIONS, Variation
from conformance.batch import Batch, picked
from conformance.judging.explanations import Explanation
from conformance.judging.judge import judge
from conformance.judging.tally import JudgedBatch, Tally
from conformance.judging.verdicts import CONFORMS, Verdicts
from conformance.operators import operator_named
from conformance.record.report import VERDICTS, Repeatability, VariationReport, Verdict
from conformance.record.why import NoLonger
from conformance.record.words import in_words
from conformance.vector import own_inputs
from conformance.vectorfile.sources import Selected, Source

_SEED = 20
_KEPT = 256
"""Vectors of a batch that are kept until they are called again; more are read again."""

_Compared = tuple[int, tuple[Returned, ...]]


class VariedCalls:
    """Notes vectors of a run while it goes on, and calls them again at its end.

    `variations` are those that every vector is called in, None to call a sample in all of them.
    `failing` are the verdicts that are failures.
    """

    def __init__(
        self,
        runner: Runner,
        pins: Mapping[str, str],
        tally: Tally,
        failing: Container[Verdict],
        variations: Sequence[str] | None,
    ) -> None:
        self._runner, self._pins, self._tally, self._failing = runner, pins, tally, failing
        self._all = variations
        names = VARIATIONS if variations is None else variations
        self._wanted = [VARIATIONS[name] for name in names if name != AGAIN.name]
        self._noted: list[_Noted] = []
        self._samples: dict[Source, _Sample] = {}

    def _sample(self, part: Selected) -> _Sample:
        """Return what is called again of the source of a part, of which there may be several."""
        if part.source not in self._samples:
            again: Container[int] = set(part.again.tolist())
            varied: Container[int] = set(part.varied.tolist())
            failing = part.failing_again
            if self._all is not None:
                every = range(len(part.source))
                again, varied = (every if AGAIN.name in self._all else ()), every
                failing *= bool(self._all)
            self._samples[part.source] = _Sample(
                again, varied, failing, _Quota(len(part.varied) * part.shards)
            )
        return self._samples[part.source]

    def note(self, part: Selected, judged: JudgedBatch, batch: Batch, answers: Answers) -> None:
        """Note which vectors of a batch of a part are called again, and what they answered."""
        sample = self._sample(part)
        calls: dict[str, list[int]] = {}
        able = self._runner.variations
        candidates = []
        for row, number in enumerate(batch.numbers.tolist()):
            # A vector that crashed or hung is not called again.
            if answers.kind[row] not in {ARRAY, NO_ARRAY, RAISED} or AGAIN.name not in able:
                continue
            verdict = judged.verdicts.verdict[row]
            failed = sample.failing_left > 0 and VERDICTS[verdict] in self._failing
            sample.failing_left -= failed
            if failed or number in sample.again:
                calls.setdefault(AGAIN.name, []).append(row)
            if number in sample.varied and verdict == CONFORMS and answers.kind[row] == ARRAY:
                candidates.append(row)
        takes_unbatched = operator_named(batch.operator).takes_unbatched
        variations = [
            each
            for each in self._wanted
            if each.name in able and (takes_unbatched or not each.unbatched)
        ]
        calls |= self._chosen(batch, candidates, variations, sample.quota)
        rows = sorted({row for chosen in calls.values() for row in chosen})
        if not rows:
            return
        first = {row: _compared(answers, row) for row in rows}
        kept = picked(batch, rows) if len(rows) <= _KEPT else None
        self._noted.append(_Noted(judged, calls, first, rows, kept))

    def _chosen(
        self, batch: Batch, rows: list[int], variations: Sequence[Variation], quota: _Quota
    ) -> dict[str, list[int]]:
        """Return which of some vectors are called in each variation: different ones in each."""
        data = {row: own_inputs(batch.operator, batch.inputs[row])[0] for row in rows}
        if self._all is not None:
            return {v.name: [row for row in rows if v.applies(data[row])] for v in variations}
        Random(_SEED).shuffle(rows)  # noqa: S311 - no secret: the same choice each time
        quota.seen += len(rows)
        calls: dict[str, list[int]] = {}
        turn = 0
        for variation in variations:
            for place in range(len(rows)):
                if not quota.left(variation):
                    break
                row = rows[(turn + place) % len(rows)]
                if variation.applies(data[row]):
                    calls.setdefault(variation.name, []).append(row)
                    quota.taken[variation.name] += 1
            turn += variation.sampled
        return calls

    def call(self) -> None:
        """Call again what was noted, the last batch first. Raises what the runner raises."""
        for noted in reversed(self._noted):
            for batch, index_of in noted.batches():
                row_of = {index: row for row, index in index_of.items()}
                for name, indices in noted.calls.items():
                    rows = [row_of[index] for index in indices if index in row_of]
                    if rows:
                        self._call(_Calls(VARIATIONS[name], noted, batch, index_of), rows)

    def _call(self, calls: _Calls, rows: list[int]) -> None:
        """Call vectors in a variation; one that conforms only at first has the other verdict."""
        answers = self._answers(calls, rows)
        first = calls.noted.first
        differing = [row for row in rows if first[calls.index_of[row]] != _compared(answers, row)]
        refused = [row for row in differing if calls.refused(answers.kind[row])]
        differing = [row for row in differing if row not in refused]
        verdicts = judge(calls.batch, answers, self._pins) if differing else calls.judged.verdicts
        if calls.variation is AGAIN:
            turned = calls.turned(differing, verdicts)
            failing = [row for row in turned if VERDICTS[verdicts.verdict[row]] in self._failing]
            self._tally.repeated += Repeatability(
                len(rows),
                calls.ids(differing),
                calls.ids(failing),
                calls.ids(calls.explain_passing(differing, verdicts, self._failing)),
            )
            calls.explain_failing(turned, verdicts)
            return
        turned = calls.turned(differing, verdicts)
        suspect = [row for row in turned if VERDICTS[verdicts.verdict[row]] in self._failing]
        failing = self._right_plainly(calls, suspect)
        calls.explain_failing(failing, verdicts)
        self._tally.varied += (
            VariationReport(
                calls.variation.name,
                len(rows),
                calls.ids(failing),
                len(differing) - len(turned),
                len(refused),
                in_words(answers.why.get(refused[0])) if refused else "",
            ),
        )

    def _right_plainly(self, calls: _Calls, suspect: list[int]) -> list[int]:
        """Return those of some failures that still conform when they are called plainly.

        The others depend on state: they are failures of a second call.
        """
        if not suspect:
            return []
        plain = _Calls(AGAIN, calls.noted, calls.batch, calls.index_of)
        answers = self._answers(plain, suspect)
        verdicts = judge(calls.batch, answers, self._pins)
        wrong = [r for r in suspect if VERDICTS[verdicts.verdict[r]] in self._failing]
        ids = plain.ids(wrong)
        new = tuple(name for name in ids if name not in self._tally.repeated.failing)
        plain.explain_failing(wrong, verdicts)
        self._tally.repeated += Repeatability(len(suspect), new, new)
        return [row for row in suspect if row not in wrong]

    def _answers(self, calls: _Calls, rows: list[int]) -> Answers:
        """Call some vectors in another order and return the answers."""
        order = list(rows)
        Random(_SEED).shuffle(order)  # noqa: S311 - no secret: the same order each time
        answers = Answers.none_yet(len(calls.batch))
        started = perf_counter()
        self._runner.run(calls.batch, answers, lambda _: None, order, calls.variation)
        self._tally.seconds += perf_counter() - started
        return answers


@dataclass(slots=True)
class _Quota:
    """How many vectors of a source are called in each variation, evenly over the source.

    Of `total` vectors to choose from, in all shards, so many were `seen`.
    """

    total: int
    seen: int = 0
    taken: Counter[str] = field(default_factory=Counter)

    def left(self, variation: Variation) -> int:
        """Return how many more vectors may be called in a variation by now."""
        share = -(-variation.sampled * self.seen // max(1, self.total))
        return share - self.taken[variation.name]


@dataclass(slots=True)
class _Sample:
    """The numbers of the vectors of a source that are called again, and in variations.

    Of those that fail, `failing_left` more are called again.
    """

    again: Container[int]
    varied: Container[int]
    failing_left: int
    quota: _Quota


@dataclass(frozen=True, slots=True, eq=False)
class _Noted:
    """Vectors of a judged batch that are called again, by their indices there.

    `calls` are those of each variation, `first` what they answered. `kept` are those `rows` of the
    batch, None to read them again.
    """

    judged: JudgedBatch
    calls: dict[str, list[int]]
    first: Mapping[int, _Compared]
    rows: list[int]
    kept: Batch | None

    def batches(self) -> Iterator[tuple[Batch, dict[int, int]]]:
        """Yield batches with the vectors, and the index of each by its row there."""
        if self.kept is not None:
            yield self.kept, dict(enumerate(self.rows))
        else:
            yield from self.judged.batches(np.array(self.rows, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """Calls of vectors of a batch in one variation; `index_of` gives their indices by row."""

    variation: Variation
    noted: _Noted
    batch: Batch
    index_of: Mapping[int, int]

    @property
    def judged(self) -> JudgedBatch:
        return self.noted.judged

    def ids(self, rows: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.batch.ids[row] for row in rows)

    def refused(self, kind: int) -> bool:
        """Say whether an answer refuses the variation, which is no failure."""
        raising = kind == RAISED and self.variation.may_be_refused
        return self.variation is not AGAIN and (kind == UNSUPPORTED or raising)

    def turned(self, rows: Sequence[int], verdicts: Verdicts) -> list[int]:
        """Return those that conformed at first, if not in all variations, and do not now."""
        return [
            row
            for row in rows
            if verdicts.verdict[row] != CONFORMS
            and (
                self.judged.verdicts.verdict[self.index_of[row]] == CONFORMS
                or self._explanation(row).variations
            )
        ]

    def explain_failing(self, rows: Sequence[int], verdicts: Verdicts) -> None:
        """Give vectors the verdicts of these calls, unless they failed in another variation."""
        of_first = self.judged.verdicts
        for row in rows:
            index, before = self.index_of[row], self._explanation(row)
            if before.variations:
                names = dict.fromkeys((*before.variations, self.variation.name))
                of_first.explanations[index] = before._replace(variations=tuple(names))
                continue
            why = verdicts.explanations.get(row, Explanation(NoLonger()))
            of_first.verdict[index] = verdicts.verdict[row]
            of_first.vote[index] = -1
            of_first.explanations[index] = why._replace(variations=(self.variation.name,))

    def explain_passing(
        self, rows: Sequence[int], verdicts: Verdicts, failing: Container[Verdict]
    ) -> list[int]:
        """Return those that failed at first and conform now; their explanations say so."""
        of_first = self.judged.verdicts
        passing = [
            row
            for row in rows
            if VERDICTS[of_first.verdict[self.index_of[row]]] in failing
            and verdicts.verdict[row] == CONFORMS
        ]
        for row in passing:
            of_first.explanations[self.index_of[row]] = self._explanation(row)._replace(
                only_again=True
            )
        return passing

    def _explanation(self, row: int) -> Explanation:
        return self.judged.verdicts.explanations.get(self.index_of[row], Explanation())


def _compared(answers: Answers, vector: int) -> _Compared:
    """Return what is compared: not the text of an exception, which may hold an address."""
    return answers.kind[vector], answers.outputs[vector]
