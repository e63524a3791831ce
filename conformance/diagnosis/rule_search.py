"""The search for rules: learned from what is known, and again from what refuted those before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from conformance.budget import ROW, Share
from conformance.cases.perturb import named
from conformance.diagnosis import limits
from conformance.diagnosis.candidates import faults_instead
from conformance.diagnosis.claim import EVERYWHERE, Claim
from conformance.diagnosis.conditions import Places
from conformance.diagnosis.features import thinned
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.rule_learning import Edge, Rule, learned, rows_of
from conformance.diagnosis.sample import FailureKind, Manner, Sample
from conformance.diagnosis.substitutes import Instead
from conformance.diagnosis.trial import Trial
from conformance.diagnosis.trying import Trying, tells_elements_apart
from conformance.vector import Case, Vector


class RuleSearch:
    """Learns rules and conditions, and holds them against held-out cases."""

    def __init__(self, known: Knowledge, trying: Trying) -> None:
        self._known = known
        self._trying = trying
        self._laboratory = known.laboratory
        self._predictions = known.predictions

    def best_rule(self, kind: FailureKind, left: Sequence[Sample]) -> Trial | None:
        """Learn a rule for failures of a kind, hold it against held-out cases, and learn again."""
        known = [*thinned(left, limits.KNOWN), *thinned(self._known.conforming, limits.KNOWN)]
        known += self._known.fresh[-limits.KNOWN :]
        known = [s for s in known if not self._known.is_explained_otherwise(s.vector)]
        others = (
            faults_instead(left, self._known.candidates, self._predictions)
            if kind.manner == "values"
            else []
        )
        best: Trial | None = None
        for _ in range(limits.ROUNDS):
            if self._laboratory.is_over or not known:
                break
            share = self._laboratory.share(limits.STEPS_OF_A_CAUSE)
            known = kind.alone(known)
            rules = self._learned(known, kind.manner, others)
            asked = [
                *self._bisected(rules, left),
                *self._contested([rule.claim for rule in rules], known),
            ]
            asked = kind.alone(asked)
            known += asked
            if any(not self._predictions.predicts(rules[0].claim, sample) for sample in asked):
                rules = self._learned(known, kind.manner, others)
            for rule in rules[: limits.TRIED]:
                trial = self._tried_and_widened(rule.claim, known, left, share)
                if trial.is_confirmed:
                    if best is None or len(trial.strays) < len(best.strays):
                        best = trial
                    if not any(s in kind for s in trial.strays):
                        return best
                known += kind.alone(self.like(trial.absent))
            if not rules:
                break
        return best

    def under_wider(self, trial: Trial, known: list[Sample], share: Share) -> Trial:
        """Return a fault confirmed without the conditions that held-out cases do not need."""
        general = self._general(trial.claim, known)
        if general is trial.claim:
            return trial
        wider = self._trying.tried(general, [s for s in known if s.failed], share)
        return wider if wider.is_confirmed else trial

    def condition(self, fault: Claim, shown: list[Sample], absent: list[Sample]) -> Places | None:
        """Return what tells cases in which a fault is there from those in which it is not.

        Held-out cases, which are added to these, decide between conditions that fit alike.
        """

        def conditions() -> list[Rule]:
            cases = [Sample(s.vector, None, failed=True) for s in shown]
            cases += [Sample(s.vector, None, failed=False) for s in absent]
            return self._learned(cases, "any")

        first = conditions()
        for sample in self._contested([rule.claim for rule in first], [*shown, *absent]):
            if sample.failed and self._predictions.predicts(fault, sample):
                shown.append(sample)
            elif not sample.failed and self._predictions.fails(fault, sample.vector):
                absent.append(sample)
        best = (conditions() if len(first) > 1 else []) or first
        return best[0].claim.places if best else None

    def _tried_and_widened(
        self, claim: Claim, known: list[Sample], left: Sequence[Sample], share: Share
    ) -> Trial:
        """Hold a rule against held-out cases, then one without the conditions that none needs."""
        trial = self._tried_rule(claim, known, left, share)
        if not trial.is_confirmed:
            return trial
        before = len(known)
        general = self._general(claim, known)
        # What was asked about its conditions may refute the rule as well.
        is_telling = self._predictions.is_telling
        self._trying.see(trial, [s for s in known[before:] if is_telling(trial.claim, s.vector)])
        if general is claim:
            return trial
        wider = self._tried_rule(general, known, left, share)
        return wider if wider.is_confirmed else trial

    def _tried_rule(
        self, claim: Claim, known: list[Sample], left: Sequence[Sample], share: Share
    ) -> Trial:
        """Hold a rule against held-out cases, which are then known."""
        trial = self._known.trial(self._predictions.with_share(claim, known))
        for sample in self._known.refuting:  # what refuted a rule before is not tried again
            telling = self._predictions.is_telling(trial.claim, sample.vector)
            if telling and trial.fails(sample.vector):
                if sample.failed:
                    trial.see(sample)
                else:
                    trial.absent.append(sample)
        if trial.is_refuted:
            return trial
        trial = self._trying.tried(trial.claim, [*filter(trial.predicts, left)], share)
        known += [*trial.predicted, *trial.absent, *trial.other, *trial.beside, *trial.strays]
        self._known.refuting += [*trial.absent, *trial.other]
        return trial

    def _general(self, claim: Claim, known: list[Sample]) -> Claim:
        """Return a claim without conditions that no held-out case needs, or can be drawn for.

        What was asked is known then.
        """
        for shorter in claim.shorter:
            told = self._contested([claim, shorter], known)
            known += told
            trial = self._known.trial(self._predictions.with_share(shorter, known))
            telling = [
                s
                for s in told
                if trial.fails(s.vector)
                and (s.failed or s.wrong is None or tells_elements_apart(s))
            ]
            if (telling or not told) and all(map(trial.predicts, telling)):
                return self._general(shorter, known)
        return claim

    def _learned(
        self, samples: Sequence[Sample], manner: Manner, others: Sequence[Instead] = ()
    ) -> list[Rule]:
        readings = self._laboratory.readings(samples[0].vector)
        self._laboratory.budget.spend(ROW * rows_of(samples, manner))
        found = learned(samples, manner, self._laboratory.seed, readings=readings, others=others)
        # What a fault makes of every element is that fault, and was tried as such.
        return [rule for rule in found if not _is_of_fault(rule.claim)]

    def like(self, samples: Sequence[Sample]) -> list[Sample]:
        """Return fresh samples near some that refuted a cause, which is learned again with them."""
        bases = [s.vector for s in samples]
        drawn = islice(self._laboratory.near(bases, bases), limits.LIKE if bases else 0)
        vectors = [v for v in drawn if v is not None and not self._known.is_explained_otherwise(v)]
        fresh = self._laboratory.ask(vectors)
        self._known.fresh += fresh
        return fresh

    def _contested(self, claims: Sequence[Claim], known: Sequence[Sample]) -> list[Sample]:
        """Return fresh samples of which claims that fit alike say different things.

        Some have numbers beyond those of which a condition was made, and some are known cases with
        data that name their cell, for equal values may have hidden what is wrong in them.
        """
        if len(claims) < 2:
            return []

        def is_contested(vector: Vector | None) -> bool:
            if vector is None or self._known.is_explained_otherwise(vector):
                return False
            return len({self._predictions.prediction(claim, vector) for claim in claims}) > 1

        laboratory = self._laboratory
        shown = sorted((s.vector.case for s in known if s.failed), key=lambda case: case.data.size)
        conditions = Counter(chain(*({*chain(*claim.places)} for claim in claims)))
        beyond = (
            case
            for base in shown[: limits.AT_ONCE]
            for condition, count in conditions.items()
            if count < len(claims)
            for case in condition.beyond(base)
        )
        again = (s.vector.case for s in known if not s.failed and is_contested(s.vector))
        named_again = (laboratory.vector(named(case, laboratory.rng)) for case in again)
        groups = [[s.vector for s in known if s.failed == failed] for failed in (True, False)]
        fresh = laboratory.near(*groups)
        drawn = (
            islice(map(laboratory.vector, beyond), limits.CONTESTED),
            islice(named_again, limits.AT_ONCE),
            islice(fresh, limits.CONTESTED),
        )
        told = [list(islice(filter(is_contested, vectors), limits.AT_ONCE)) for vectors in drawn]
        samples = laboratory.ask([v for part in told for v in part if v is not None])
        self._known.fresh += samples
        return samples

    def _bisected(self, rules: Sequence[Rule], left: Sequence[Sample]) -> list[Sample]:
        """Return samples that narrow down where the thresholds of rules lie."""
        samples: list[Sample] = []
        for rule in rules[: limits.TRIED]:
            shown = [s.vector.case for s in left if self._predictions.predicts(rule.claim, s)]
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


def _is_of_fault(claim: Claim) -> bool:
    instead = None if claim.substitute is None else claim.substitute.instead
    return claim.places == EVERYWHERE and instead is not None and not instead.key
