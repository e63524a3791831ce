"""A claim held against held-out cases, until they confirm or refute it.

Held-out cases are drawn after it was made, near those that failed and near those that conform: the
cases that it says the backend fails have to fail just as it says, and all others have to be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, product
from operator import ge, le

import numpy as np

from conformance.budget import Share
from conformance.cases.perturb import Feature, at, named, other_words, with_word, words_of
from conformance.cases.sweep.draft import AXIS_NUMBERS
from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.conditions import Conjunction
from conformance.diagnosis.features import thinned
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.laboratory import Laboratory
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.trial import Trial
from conformance.operators import operator_named
from conformance.vector import Case, Vector


class Trying:
    """Holds claims against held-out cases in which no cause shows that is known."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._predictions = known.predictions
        self._laboratory = known.laboratory

    def tried(self, claim: Claim, shown: Sequence[Sample], share: Share | None = None) -> Trial:
        """Hold a claim against held-out cases until it is confirmed or refuted.

        `shown` are failures that it explains; its `share` of the work is that of one cause.
        """
        share = share or self._laboratory.share(limits.STEPS_OF_A_CAUSE)
        trial, patient = self._known.trial(claim), share.part(limits.STEPS_IN_VAIN)
        first, *further = self._by_place(claim, thinned(shown, limits.BASES))
        others = [
            s.vector for s in thinned([*self._known.failing, *self._known.conforming], limits.BASES)
        ]
        open_clauses = self._laboratory.open_clauses
        about = clauses_about(shown, self._laboratory)
        changes = partial(self._predictions.changes, claim)
        # Under other readings than the first, a fault may show where it changes nothing else.
        is_foreseen = bool(claim.faults) and all(changes(vector.case) for vector in first)
        for _ in range(limits.DRAWS):
            # What went as predicted leads further away from what the claim was made of.
            bases = [*first, *(s.vector for s in trial.predicted)]
            # Of cases that the claim says are right, so many are enough.
            failing_alone = trial.quiet + len(trial.strays) >= limits.QUIET + trial.asked
            tells = changes if failing_alone and is_foreseen else None
            fresh = self._laboratory.near(bases, *further, others, tells=tells)
            drawn = [v for v in islice(fresh, limits.AT_ONCE) if v is not None]
            # Another fault may be what leaves a clause open that this one is not about.
            drawn = [v for v in drawn if open_clauses(v) <= about]
            drawn = [v for v in drawn if not self._known.is_explained_otherwise(v)]
            drawn = [v for v in drawn if self._predictions.is_telling(claim, v)]
            if failing_alone:
                drawn = [v for v in drawn if trial.fails(v)]
            samples = self._laboratory.ask(drawn)
            self._known.fresh += samples
            self.see(trial, samples)
            if trial.is_refuted and trial.asked >= (
                limits.CONFIRMING
                if trial.may_be_hidden or trial.may_hold_mostly
                else limits.AT_ONCE
            ):
                break
            if trial.is_confirmed and trial.quiet + len(trial.strays) >= limits.QUIET:
                if (narrower := self._borne_out(trial)) != claim:
                    left = [s for s in shown if self._predictions.predicts(narrower, s)]
                    return self.tried(narrower, left, share)
                self._see_varied(trial)
                trial.is_cut_off = self._laboratory.is_over and any(claim.places)
                break
            if self._laboratory.is_over or (share if trial.asked else patient).is_spent:
                break
        return trial

    def _borne_out(self, trial: Trial) -> Claim:
        """Return a claim with those of its places that some cases bore out which no other says."""
        claim = trial.claim
        for place in claim.places:
            there = self._only_there(claim, place, trial.predicted)
            if len(claim.places) > 1 and len(there) < limits.OF_A_PLACE:
                claim = _without(claim, place)
        return claim

    def _by_place(self, claim: Claim, shown: Sequence[Sample]) -> list[list[Vector]]:
        """Return failures that a claim explains by the place that alone predicts them."""
        groups = [self._only_there(claim, place, shown) for place in claim.places[1:]]
        told = {id(sample) for group in groups for sample in group}
        groups.insert(0, [s for s in shown if id(s) not in told])
        return [[sample.vector for sample in group] for group in groups]

    def _only_there(
        self, claim: Claim, place: Conjunction, samples: Sequence[Sample]
    ) -> list[Sample]:
        """Return samples that a claim predicts, but not without one of its places."""
        narrower = _without(claim, place)
        return [s for s in samples if not self._predictions.predicts(narrower, s)]

    def asked(self, case: Case | None) -> list[Sample]:
        """Return what the backend makes of a case; nothing if that would tell nothing."""
        vector = self._laboratory.vector(case)
        return self._laboratory.ask([vector]) if vector is not None else []

    def see(self, trial: Trial, samples: Sequence[Sample]) -> None:
        """Hold a claim against what was asked."""
        for sample in samples:
            is_open = bool(self._laboratory.open_clauses(sample.vector))
            trial.see(sample, is_open=is_open)
        self._settle(trial)

    def _see_varied(self, trial: Trial) -> None:
        """Hold a claim against calls that bear it out with another word, type or operator.

        One at a time, each that no such call had: cases that are drawn at random have few of some,
        and none of another operator. So it is with numbers far from those of the failures, and
        numbers of axes. Then against all of the run that conforms.
        """
        seen = {*chain(*(words_of(s.vector.case).items() for s in trial.predicted))}
        cases = [s.vector.case for s in thinned(trial.predicted, limits.VARIED)]
        cases.sort(key=lambda case: case.data.size)
        wanted = dict.fromkeys(("operator", name) for name in self._known.operators)
        for case in cases:
            wanted |= dict.fromkeys(other_words(operator_named(case.operator), case.data.ndim - 2))
        varied: Iterator[Iterable[Case | None]] = (
            (with_word(case, name, value) for case in cases)
            for name, value in wanted
            if (name, value) not in seen
        )
        samples: list[Sample] = []
        layouts = (self._predictions.layout(s.vector) for s in trial.predicted)
        known = [each.numbers for each in layouts] if any(trial.claim.places) else []
        for group in chain(varied, _far(trial.claim, cases, known)):
            # Not all are answered: of some types, perhaps none.
            vectors = (v for v in map(self._laboratory.vector, group) if v is not None)
            answers = (self._laboratory.ask([v]) for v in vectors if self._tells(trial, v))
            samples += islice(chain.from_iterable(answers), limits.OF_EACH)
        others = [s for s in self._known.others if self._tells(trial, s.vector)]
        samples += [s for s in others if not self._predictions.may_hide(trial.claim, s.vector)]
        self._known.fresh += samples
        self.see(trial, samples)

    def _tells(self, trial: Trial, vector: Vector) -> bool:
        """Say whether a claim shows on a vector, and no other cause does."""
        return (
            self._predictions.is_telling(trial.claim, vector)
            and trial.fails(vector)
            and not self._known.is_explained_otherwise(vector)
        )

    def _settle(self, trial: Trial) -> None:
        """Ask again what is unclear, with data that name their cell: equal values hide less.

        Of a case without values, other data tell nothing.
        """
        unclear, trial.unclear = trial.unclear, []
        for sample in unclear:
            again = [
                other
                for _ in range(limits.ASKED_AGAIN)
                for other in self.asked(named(sample.vector.case, self._laboratory.rng))
                if other.vector.values and trial.fails(other.vector)
            ]
            if not again:
                trial.unclear.append(sample)
            elif any(map(trial.explains, again)):
                trial.quiet += 1
            elif any(map(tells_elements_apart, again)):
                trial.absent.append(sample)


def _without(claim: Claim, place: Conjunction) -> Claim:
    return replace(claim, places=tuple(each for each in claim.places if each != place))


def _far(
    claim: Claim, cases: Sequence[Case], known: Sequence[Mapping[str, Sequence[int]]]
) -> Iterator[Iterable[Case | None]]:
    """Yield cases with numbers far from those that a claim was made of.

    Numbers of axes, and those that its conditions admit. If it has conditions, each other number on
    every axis and on one, too, unless one that is as far is `known`: what all of its cases have in
    common may be the condition.
    """
    for axes in range(1, 4):
        yield (at(case, Feature("rank"), axes) for case in cases if case.data.ndim - 2 != axes)
    conditions = dict.fromkeys(chain(*claim.places))
    for condition in conditions:
        far = (condition.within(case) for case in cases)
        yield from (list(group) for group in zip(*far, strict=False))
    for name, number, axis in product(AXIS_NUMBERS, limits.FAR, range(4)) if conditions else ():
        if not any(_is_as_far(numbers.get(name, ()), number, axis) for numbers in known):
            made = (at(case, Feature(name, axis), number) for case in cases)
            yield (c for c in made if c is not None and c.data.size <= limits.FAR_CELLS)


def _is_as_far(numbers: Sequence[int], number: int, axis: int) -> bool:
    """Say whether numbers, of an axis from the end or of all, are as small or large as another."""
    some = numbers[len(numbers) - axis :][:1] if 0 < axis <= len(numbers) else numbers
    is_far = ge if number == limits.FAR[-1] else le
    return bool(numbers) and all(is_far(each, number) for each in some)


def clauses_about(shown: Sequence[Sample], laboratory: Laboratory) -> set[str]:
    """Return the clauses that are open in most of the failures that a cause explains."""
    touched = Counter(chain(*(laboratory.open_clauses(s.vector) for s in shown)))
    return {clause for clause, count in touched.items() if 2 * count > len(shown)}


def tells_elements_apart(sample: Sample) -> bool:
    """Say whether nearly all right values differ, so that an element in place of another shows."""
    values = sample.vector.values[0].outputs[0].values
    return np.unique(values).size >= limits.NEARLY_ALL * values.size
