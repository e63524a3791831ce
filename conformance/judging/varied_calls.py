"""Calls in variations: when all vectors have been called once, some are called in other ways.

They come in another order than at first, so that each comes after other shapes and attributes: that
shows state that outlives a call, and answers that vary. What fails only in another way is called
plainly once more: so state is not taken for what the variation does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
from msgspec import structs

from conformance.backends.answer import ARRAY, NO_ARRAY, RAISED, UNSUPPORTED, Returned
from conformance.backends.runner import Answers, Runner
from conformance.backends.variations import AGAIN, VARIATIONS, Variation
from conformance.batch import Batch, picked, vector_at
from conformance.judging.judge import judge
from conformance.judging.tally import Tally
from conformance.judging.verdicts import result_of
from conformance.operators import operator_named
from conformance.operators.attributes import PADS, Attribute
from conformance.record.report import Repeatability, Result, VariationReport, Verdict
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

    def note(
        self, part: Selected, results: Sequence[Result], batch: Batch, answers: Answers
    ) -> None:
        """Note which vectors of a batch of a part are called again, and what they answered.

        `results` are those of the vectors that were run.
        """
        sample = self._sample(part)
        calls: dict[str, list[int]] = {}
        able = self._runner.variations
        candidates = []
        for row, number in enumerate(batch.numbers.tolist()):
            # A vector that crashed or hung is not called again.
            if answers.kind[row] not in {ARRAY, NO_ARRAY, RAISED} or AGAIN.name not in able:
                continue
            verdict = results[row].verdict
            failed = sample.failing_left > 0 and verdict in self._failing
            sample.failing_left -= failed
            if failed or number in sample.again:
                calls.setdefault(AGAIN.name, []).append(row)
            if number in sample.varied and verdict == "conforms" and answers.kind[row] == ARRAY:
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
        numbers = batch.numbers.tolist()
        kept = None
        if len(rows) <= _KEPT:
            kept = replace(picked(batch, rows), numbers=batch.numbers[rows])
        self._noted.append(
            _Noted(
                part.source,
                {name: [numbers[row] for row in chosen] for name, chosen in calls.items()},
                {numbers[row]: _compared(answers, row) for row in rows},
                kept,
            )
        )

    def _chosen(
        self, batch: Batch, rows: list[int], variations: Sequence[Variation], quota: _Quota
    ) -> dict[str, list[int]]:
        """Return which of some vectors are called in each variation: different ones in each."""
        data = {row: own_inputs(batch.operator, batch.inputs[row])[0] for row in rows}
        if self._all is not None:
            return {v.name: [row for row in rows if v.applies(data[row])] for v in variations}
        Random(_SEED).shuffle(rows)  # noqa: S311 - no secret: the same choice each time
        pads = [*operator_named(batch.operator).of_roles((*PADS, "auto_pad")).values()]
        # Where a wrong layout or step shows most: several batches whose windows reach into padding.
        rows.sort(
            key=lambda row: (
                (data[row].shape[:1] < (2,)) + (not _is_padded(pads, batch.attributes[row]))
            )
        )
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
            results = self._tally.results[noted.source]
            for batch in noted.batches():
                row_of = {number: row for row, number in enumerate(batch.numbers.tolist())}
                for name, numbers in noted.calls.items():
                    rows = [row_of[number] for number in numbers if number in row_of]
                    if rows:
                        self._call(_Calls(VARIATIONS[name], batch, results), rows, noted.first)

    def _call(self, calls: _Calls, rows: list[int], first: Mapping[int, _Compared]) -> None:
        """Call vectors in a variation; one that conforms only at first has the other verdict."""
        answers = self._answers(calls, rows)
        numbers = calls.batch.numbers.tolist()
        differing = [row for row in rows if first[numbers[row]] != _compared(answers, row)]
        refused = [row for row in differing if calls.refused(answers.kind[row])]
        differing = [row for row in differing if row not in refused]
        again = self._results(calls.batch, answers, differing)
        turned = [row for row in differing if calls.is_turned(row, again[row])]
        suspect = [row for row in turned if again[row].verdict in self._failing]
        if calls.variation is AGAIN:
            passing = [row for row in differing if calls.passes(row, again[row], self._failing)]
            calls.fail(turned, again)
            calls.pass_again(passing)
            of = map(calls.ids, (differing, suspect, passing))
            self._tally.repeated += Repeatability(len(rows), *of)
            return
        failing = self._right_plainly(calls, suspect)
        calls.fail(failing, again)
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
        plain = replace(calls, variation=AGAIN)
        again = self._results(calls.batch, self._answers(plain, suspect), suspect)
        wrong = [row for row in suspect if again[row].verdict in self._failing]
        known = self._tally.repeated.failing
        new = tuple(name for name in plain.ids(wrong) if name not in known)
        plain.fail(wrong, again)
        self._tally.repeated += Repeatability(len(suspect), new, new)
        return [row for row in suspect if row not in wrong]

    def _results(self, batch: Batch, answers: Answers, rows: list[int]) -> dict[int, Result]:
        """Judge the answers to some vectors of a batch."""
        return {
            row: result_of(batch, row, judge(vector_at(batch, row), answers.at(row), self._pins))
            for row in rows
        }

    def _answers(self, calls: _Calls, rows: list[int]) -> Answers:
        """Call some vectors in another order and return the answers."""
        order = list(rows)
        Random(_SEED).shuffle(order)  # noqa: S311 - no secret: the same order each time
        answers = Answers.none_yet(len(calls.batch))
        started = perf_counter()
        self._runner.run(calls.batch, answers, lambda _: None, order, calls.variation)
        self._tally.seconds += perf_counter() - started
        return answers


def _is_padded(pads: Iterable[Attribute], attributes: Mapping[str, Any]) -> bool:
    """Say whether some of the attributes about padding ask for it."""
    given = ((each, attributes[each.key]) for each in pads if each.key in attributes)
    return any(
        str(each.meaning_of(value)).startswith("same") if each.values else np.any(value)
        for each, value in given
    )


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
    """Vectors of a batch that are called again, by their numbers in their source.

    `calls` are those of each variation, `first` what they answered. The vectors are `kept`, or
    None to read them again.
    """

    source: Source
    calls: Mapping[str, list[int]]
    first: Mapping[int, _Compared]
    kept: Batch | None

    def batches(self) -> Iterable[Batch]:
        """Return batches with the vectors."""
        if self.kept is not None:
            return [self.kept]
        return self.source.batches(np.array([*self.first], np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """Calls of vectors of a batch in one variation; `results` are those of their source so far."""

    variation: Variation
    batch: Batch
    results: dict[int, Result]

    def ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.batch.ids[row] for row in rows)

    def before(self, row: int) -> Result:
        return self.results[int(self.batch.numbers[row])]

    def refused(self, kind: int) -> bool:
        """Say whether an answer refuses the variation, which is no failure."""
        raising = kind == RAISED and self.variation.may_be_refused
        return self.variation is not AGAIN and (kind == UNSUPPORTED or raising)

    def is_turned(self, row: int, now: Result) -> bool:
        """Say whether a vector conformed at first, if not in all variations, and does not now."""
        before = self.before(row)
        conformed = before.verdict == "conforms" or bool(before.variations)
        return conformed and now.verdict != "conforms"

    def passes(self, row: int, now: Result, failing: Container[Verdict]) -> bool:
        """Say whether a vector failed at first and conforms now."""
        return self.before(row).verdict in failing and now.verdict == "conforms"

    def fail(self, rows: Iterable[int], again: Mapping[int, Result]) -> None:
        """Give vectors the verdicts of these calls, unless they failed in another variation."""
        for row in rows:
            before, now = self.before(row), again[row]
            if before.variations:
                names = dict.fromkeys((*before.variations, self.variation.name))
                now = structs.replace(before, variations=tuple(names))
            else:
                why = now.why or NoLonger()
                now = structs.replace(now, why=why, variations=(self.variation.name,))
            self._put(row, now)

    def pass_again(self, rows: Iterable[int]) -> None:
        """Note of vectors that they conform when they are called again."""
        for row in rows:
            self._put(row, structs.replace(self.before(row), only_again=True))

    def _put(self, row: int, result: Result) -> None:
        self.results[int(self.batch.numbers[row])] = result


def _compared(answers: Answers, vector: int) -> _Compared:
    """Return what is compared: not the text of an exception, which may hold an address."""
    return answers.kind[vector], answers.outputs[vector]
