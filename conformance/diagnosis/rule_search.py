"""The search for rules: learned from what is known, and again from what refuted those before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from conformance.budget import ROW, Share
from conformance.cases.near import named
from conformance.diagnosis.candidates import faults_instead
from conformance.diagnosis.features import thinned
from conformance.diagnosis.hypothesis import Hypothesis, Sample
from conformance.diagnosis.instead import Instead
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.planting import FaultHypothesis
from conformance.diagnosis.rule_learning import learned, rows_of
from conformance.diagnosis.rules import Edge, Rule, manner_of
from conformance.diagnosis.shares import CAUSE
from conformance.diagnosis.trial import Trial
from conformance.diagnosis.trying import Trying, is_telling, tells_elements_apart
from conformance.diagnosis.wrong_elements import of_elements
from conformance.faults.fault import Fault
from conformance.vector import Case, Vector

_AT_ONCE = 8
_KNOWN = 100
"""Failures of the run, vectors that conform and fresh cases each that rules are learned from."""
_ROUNDS = 6
_CONTESTED = 64
"""Times that cases are drawn of which rules may say different things."""
_RULES = 2
"""Rules that are tried of those that fit what is known."""
_LIKE = 16
"""Times that cases are drawn near those that refuted a rule."""


class RuleSearch:
    """Learns rules and conditions, and holds them against fresh cases."""

    def __init__(self, known: Knowledge, trying: Trying) -> None:
        self._known = known
        self._trying = trying
        self._laboratory = known.laboratory

    def best_rule(self, left: Sequence[Sample]) -> Trial | None:
        """Learn a rule for failures, hold it against fresh cases, and learn again with these.

        The failures left are of one manner.
        """
        manner = manner_of(left[0])
        known = [*thinned(left, _KNOWN), *thinned(self._known.conforming, _KNOWN)]
        known += self._known.fresh[-_KNOWN:]
        known = [s for s in known if not self._known.is_explained_otherwise(s.vector)]
        others = (
            faults_instead(left, self._known.candidates, self._known.planting)
            if manner == "values"
            else []
        )
        best: Trial | None = None
        for _ in range(_ROUNDS):
            if self._laboratory.is_over or not known:
                break
            share = self._laboratory.share(CAUSE)
            known = _of_manner(known, manner)
            rules = self._learned(known, others)
            asked = [*self._bisected(rules, left), *self._contested(rules, known)]
            asked = _of_manner(asked, manner)
            known += asked
            if any(not rules[0].predicts(sample) for sample in asked):
                rules = self._learned(known, others)
            for rule in rules[:_RULES]:
                trial = self._tried_and_widened(rule, known, left, share)
                if trial.is_confirmed:
                    if best is None or len(trial.strays) < len(best.strays):
                        best = trial
                    if not any(manner_of(s) == manner for s in trial.strays):
                        return best
                known += _of_manner(self.like(trial.absent), manner)
            if not rules:
                break
        return best

    def under_wider(
        self, trial: Trial, known: list[Sample], rivals: Sequence[Fault], share: Share
    ) -> Trial:
        """Return a fault confirmed without those of its conditions that fresh cases do not need."""
        hypothesis = trial.hypothesis
        if not isinstance(hypothesis, FaultHypothesis) or hypothesis.condition is None:
            return trial

        def under(rule: Rule) -> FaultHypothesis:
            return replace(hypothesis, condition=rule)

        general = self._general(hypothesis.condition, known, under)
        if general is hypothesis.condition:
            return trial
        wider = self._trying.tried(under(general), [s for s in known if s.failed], rivals, share)
        return wider if wider.is_confirmed else trial

    def condition(
        self, fault: FaultHypothesis, shown: list[Sample], absent: list[Sample]
    ) -> Rule | None:
        """Return what tells cases in which a fault is there from those in which it is not.

        Fresh cases, which are added to these, decide between conditions that fit alike.
        """

        def conditions() -> list[Rule]:
            cases = [Sample(s.vector, None, failed=True) for s in shown]
            return self._learned(cases + [Sample(s.vector, None, failed=False) for s in absent])

        first = conditions()
        for sample in self._contested(first, [*shown, *absent]):
            if sample.failed and fault.predicts(sample):
                shown.append(sample)
            elif not sample.failed and fault.fails(sample.vector):
                absent.append(sample)
        return next(iter((conditions() if len(first) > 1 else []) or first), None)

    def _tried_and_widened(
        self, rule: Rule, known: list[Sample], left: Sequence[Sample], share: Share
    ) -> Trial:
        """Hold a rule against fresh cases, and then one without the conditions that none needs."""
        trial = self._tried_rule(rule, known, left, share)
        if not trial.is_confirmed:
            return trial
        before = len(known)
        general = self._general(rule, known, lambda rule: of_elements(rule, known))
        # What was asked about its conditions may refute the rule as well.
        self._trying.see(
            trial, [s for s in known[before:] if is_telling(trial.hypothesis, s.vector)], ()
        )
        if general is rule:
            return trial
        wider = self._tried_rule(general, known, left, share)
        return wider if wider.is_confirmed else trial

    def _tried_rule(
        self, rule: Rule, known: list[Sample], left: Sequence[Sample], share: Share
    ) -> Trial:
        """Hold a rule against fresh cases, which are then known."""
        hypothesis = of_elements(rule, known)
        trial = Trial(hypothesis)
        for sample in self._known.refuting:  # what refuted a rule before is not tried again
            if hypothesis.fails(sample.vector) and is_telling(hypothesis, sample.vector):
                if sample.failed:
                    trial.see(sample, ())
                else:
                    trial.absent.append(sample)
        if trial.is_refuted:
            return trial
        trial = self._trying.tried(
            hypothesis, [s for s in left if hypothesis.predicts(s)], (), share
        )
        known += [*trial.predicted, *trial.absent, *trial.other, *trial.strays]
        self._known.refuting += [*trial.absent, *trial.other]
        return trial

    def _general(
        self, rule: Rule, known: list[Sample], supposed: Callable[[Rule], Hypothesis]
    ) -> Rule:
        """Return a rule without the conditions that no fresh cases need, or none can be drawn for.

        `supposed` makes a hypothesis of a rule.
        """
        for shorter in rule.shorter:
            told = self._contested([rule, shorter], known)
            known += told
            hypothesis = supposed(shorter)
            telling = [
                s
                for s in told
                if hypothesis.fails(s.vector)
                and (s.failed or s.wrong is None or tells_elements_apart(s))
            ]
            if (telling or not told) and all(map(hypothesis.predicts, telling)):
                return self._general(shorter, known, supposed)
        return rule

    def _learned(self, samples: Sequence[Sample], others: Sequence[Instead] = ()) -> list[Rule]:
        readings = self._laboratory.readings(samples[0].vector)
        self._laboratory.budget.spend(ROW * rows_of(samples))
        return learned(samples, self._laboratory.seed, readings=readings, others=others)

    def like(self, samples: Sequence[Sample]) -> list[Sample]:
        """Return fresh samples near some that refuted a cause, which is learned again with them."""
        bases = [s.vector for s in samples]
        drawn = islice(self._laboratory.near(bases, bases), _LIKE if bases else 0)
        vectors = [v for v in drawn if v is not None and not self._known.is_explained_otherwise(v)]
        fresh = self._laboratory.ask(vectors)
        self._known.fresh += fresh
        return fresh

    def _contested(self, rules: Sequence[Rule], known: Sequence[Sample]) -> list[Sample]:
        """Return fresh samples of which rules that fit alike say different things.

        Some have numbers beyond those of which a condition was made, and some are known cases with
        data that name their cell, for equal values may have hidden what is wrong in them.
        """
        if len(rules) < 2:
            return []

        def is_contested(vector: Vector | None) -> bool:
            if vector is None or self._known.is_explained_otherwise(vector):
                return False
            return len({rule.prediction(vector) for rule in rules}) > 1

        laboratory = self._laboratory
        shown = sorted((s.vector.case for s in known if s.failed), key=lambda case: case.data.size)
        conditions = Counter(chain(*({*chain(*rule.places)} for rule in rules)))
        beyond = (
            case
            for base in shown[:_AT_ONCE]
            for condition, count in conditions.items()
            if count < len(rules)
            for case in condition.beyond(base)
        )
        again = (s.vector.case for s in known if not s.failed and is_contested(s.vector))
        named_again = (laboratory.vector(named(case, laboratory.rng)) for case in again)
        groups = [[s.vector for s in known if s.failed == failed] for failed in (True, False)]
        fresh = laboratory.near(*groups)
        drawn = (
            islice(map(laboratory.vector, beyond), _CONTESTED),
            islice(named_again, _AT_ONCE),
            islice(fresh, _CONTESTED),
        )
        told = [list(islice(filter(is_contested, vectors), _AT_ONCE)) for vectors in drawn]
        samples = laboratory.ask([v for part in told for v in part if v is not None])
        self._known.fresh += samples
        return samples

    def _bisected(self, rules: Sequence[Rule], left: Sequence[Sample]) -> list[Sample]:
        """Return samples that narrow down where the thresholds of rules lie."""
        samples: list[Sample] = []
        for rule in rules[:_RULES]:
            shown = [s.vector.case for s in left if rule.predicts(s)]
            if shown:
                base = min(shown, key=lambda case: case.data.size)
                for edge in rule.edges:
                    samples += self._along(edge, base)
        return samples

    def _along(self, edge: Edge, base: Case) -> Iterator[Sample]:
        """Yield samples between what is right and what is wrong, nearer to each other each time."""
        if edge.right is None:  # nor is it known on which side that lies
            yield from self._trying.asked(replace(edge, right=8 * edge.wrong + 8).case(base))
        while (middle := edge.between) is not None:
            answered = self._trying.asked(edge.case(base))
            if not answered:
                return
            (sample,) = answered
            yield sample
            edge = replace(edge, wrong=middle) if sample.failed else replace(edge, right=middle)


def _of_manner(samples: Iterable[Sample], manner: str | None) -> list[Sample]:
    """Leave out samples that fail in another manner: they tell nothing of this one."""
    return [sample for sample in samples if not sample.failed or manner_of(sample) == manner]
