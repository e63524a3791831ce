"""Supposed causes held against the live backend: held-out cases confirm or refute them.

Catalogued faults come first, those that reproduce some failures. Where the backend has a fault in
some held-out cases and is right in others, the rule that tells them apart is learned, and held
against held-out cases in turn. For failures left over other faults are tried, and rules of their
own are learned, again and again with the samples that refuted those before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import inf

from conformance.budget import Share
from conformance.cases.minimize import polished
from conformance.diagnosis import limits
from conformance.diagnosis.calls import as_python
from conformance.diagnosis.claim import Claim, planted
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.predictions import differ
from conformance.diagnosis.reproduce import Match
from conformance.diagnosis.rule_search import RuleSearch
from conformance.diagnosis.sample import Bools, FailureKind, Sample
from conformance.diagnosis.search import Fit, Search
from conformance.diagnosis.trial import Trial
from conformance.diagnosis.trying import Trying, tells_elements_apart
from conformance.faults.fault import Together
from conformance.record.report import Proof
from conformance.reference.rounding import widen
from conformance.vector import Case, Vector


class Experiments:
    """The experiments on one backend: what is supposed, tried and settled, and in which order."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._laboratory = known.laboratory
        self._predictions = known.predictions
        self._trying = Trying(known)
        self._rules = RuleSearch(known, self._trying)
        self._refuted: set[Together] = set()

    @property
    def confirmed(self) -> Sequence[Trial]:
        """The causes that are confirmed so far."""
        return self._known.confirmed

    def on_faults(self, fits: Sequence[Fit]) -> list[Trial | None]:
        """Return what became of each supposed cause.

        The first alternative that is confirmed is taken, else the first that is not refuted; None
        where all are. Then those are tried that are conditional. What there was no time for is
        neither confirmed nor refuted.
        """
        firsts = [fit.faults for fit in fits]
        self._known.rivals = tuple(dict.fromkeys(chain(*firsts)))
        trials: list[Trial | None] = [None] * len(fits)
        # Two faults at once need no name of their own where each has been confirmed alone.
        for number in sorted(range(len(fits)), key=lambda number: len(firsts[number])):
            if self._has(firsts[number]):
                continue
            if self._laboratory.is_over:
                trials[number] = self._known.trial(fits[number].claim)
            else:
                trials[number] = self._on_supposed_faults(fits[number].supposed)
        # What explains more is tried first: a condition may make nearly anything of the rest.
        for number in sorted(range(len(fits)), key=lambda number: fits[number].score, reverse=True):
            for claim in fits[number].conditional:
                if trials[number] is not None or len(claim.faults) > 1:
                    continue
                if not self._is_enough:
                    trials[number] = self._under_condition(claim)
                elif self._laboratory.is_over and claim.where:
                    trials[number] = self._known.trial(claim)
        self._known.rivals = ()
        return trials

    def on_rules(self) -> list[Trial]:
        """Return other faults, then rules, for the failures that no confirmed cause explains.

        A rule that explains all that a confirmed fault does takes its place, unless it says less:
        that some of the elements somewhere are wrong. Faults that another cause may hide are
        supposed to be there meanwhile, and then held against held-out cases without that one.
        """
        known = {id(trial) for trial in self._known.causes}
        self._on_further_conditions()
        self._on_left()
        self._on_rules_of_others()
        self._on_kinds()
        supposed, self._known.supposed = self._known.supposed, []
        if supposed:
            # No causes after all: what was found was held against no case in which they show.
            for trial in [*self._known.confirmed]:
                if id(trial) not in known and trial not in supposed:
                    self._known.confirmed.remove(trial)
                    self._try_again(trial)
            self._on_kinds()
        found = (*self._known.confirmed, *supposed, *self._known.standing)
        return [trial for trial in found if id(trial) not in known and trial.stands]

    def _on_further_conditions(self) -> None:
        """Learn where else faults are that are confirmed under a condition: code paths differ."""
        for trial in [*self._known.confirmed]:
            if trial.claim.faults and trial.claim.where and not self._is_enough:
                further = self._conditional_cause(planted(*trial.claim.faults))
                if further is not None and further.is_confirmed:
                    trial.add(further)

    def _on_rules_of_others(self) -> None:
        """Hold rules against this operator that were learned in others."""
        for claim in (each for each in self._known.candidates.first if not each.faults):
            shown = [s for s in self._known.left if self._predictions.explains(claim, s)]
            if shown and not self._is_enough and not self._is_contradicted(claim):
                trial = self._trying.tried(claim, shown)
                if trial.is_confirmed:
                    self._known.confirm(trial)

    def _on_kinds(self) -> None:
        """Look for rules for failures of one kind after the other, as long as some are found."""
        hopeless: set[FailureKind] = set()
        while not self._is_enough:
            kind = next(
                (each for each in _kinds_of(self._known.left) if each not in hopeless), None
            )
            if kind is None:
                break
            if self._on_kind(kind):
                self._on_supposed()
            else:
                hopeless.add(kind)

    def meet_in(self, vector: Vector) -> bool:
        """Say whether several confirmed causes show on a vector."""
        return sum(trial.fails(vector) for trial in self._known.causes) > 1

    def proof(self, trial: Trial) -> Proof:
        """Return what held-out cases said of a cause."""
        missing = ""
        if not trial.is_confirmed:
            over = self._laboratory.ended or "few such cases can be drawn"
            predicted = f"{len(trial.predicted):,} of {trial.asked:,} held-out cases as predicted"
            missing = f"{over}, {predicted}" if trial.asked else over
            if trial.holds_mostly:
                missing = predicted
            elif trial.may_be_hidden:
                missing = f"{predicted}, and the others wrong in another way"
        elif trial.claim.where and trial.claim.faults and (strays := self._unexplained(trial)):
            # A wider fault would show elsewhere as well; one that holds wherever it shows is none.
            others = trial.quiet + len(trial.strays)
            missing = f"of {others:,} held-out cases without it, {strays:,} fail as well"
        return Proof(len(trial.predicted), trial.asked, self._laboratory.seed, missing)

    def smallest(self, trial: Trial) -> str:
        """Return a minimal reproducer of a cause, as Python; "" if there is none to write."""
        share = self._laboratory.budget.share(limits.STEPS_OF_SMALLEST)
        shown = trial.predicted or [s for s in self._known.failing if trial.explains(s)]

        def fails(case: Case) -> bool:
            if share.is_spent or self._laboratory.is_over:
                return False
            return any(
                trial.fails(sample.vector) and trial.explains(sample)
                for sample in self._trying.asked(case)
            )

        first = min(shown, key=lambda sample: sample.vector.case.data.size, default=None)
        return "" if first is None else as_python(polished(first.vector.case, fails))

    @property
    def _is_enough(self) -> bool:
        """Whether no more causes are to be looked for."""
        return len(self._known.confirmed) >= limits.CONFIRMED or self._laboratory.is_over

    def _has(self, faults: Together) -> bool:
        known = {fault for trial in self._known.confirmed for fault in trial.claim.faults}
        return known.issuperset(faults)

    def _on_supposed(self) -> None:
        """Hold what is supposed against cases in which no cause shows that was found since."""
        for trial in [*self._known.supposed]:
            self._known.supposed.remove(trial)
            if not self._is_beside(trial):
                trial.absent += (*trial.other, *trial.beside)
                continue
            self._try_again(trial)
            if not trial.is_confirmed:
                self._known.supposed.append(trial)

    def _is_beside(self, trial: Trial) -> bool:
        """Say whether a cause is there beside others, where both show.

        Where another cause says nothing of an element, it has to be as this one says: a cause that
        is none may be right wherever others do not show.
        """
        both = self._known.shown_beside(trial.claim, limits.BASES)
        for sample in (*trial.other, *trial.beside, *both):
            left = self._known.unmarked(sample.vector)
            if left is None or sample.defined is None or left.shape != sample.defined.shape:
                continue
            off = self._otherwise(trial.claim, sample)
            if off is not None and (off & left & sample.defined).any():
                return False
        return True

    def _otherwise(self, claim: Claim, sample: Sample) -> Bools | None:
        """Mark the elements that are not as a cause says, alone; None if that cannot be told."""
        if claim.faults:
            values = self._predictions.values(claim.faults, sample.vector)
            got = None if sample.outputs is None else widen(sample.outputs[0])
            if values is not None and got is not None and values.shape == got.shape:
                return differ(got, values)
        elif claim.is_whole and tells_elements_apart(sample):
            shown = self._predictions.shown(claim, sample.vector, told=True)
            if shown is not None and sample.wrong is not None:
                return shown & ~sample.wrong if shown.shape == sample.wrong.shape else None
        return None

    def _try_again(self, trial: Trial) -> None:
        """Hold a cause against held-out cases in which no other one shows, known by now."""
        shown = self._known.shown(trial.claim, limits.BASES)
        again = self._trying.tried(trial.claim, shown)
        if again.asked:
            trial.replace_by(again)
        if trial.is_confirmed:
            self._known.confirm(trial)

    def _in_place_of(
        self, covered: Sequence[Trial], attempt: Callable[[], Trial | None]
    ) -> Trial | None:
        """Return what an attempt confirms as if some causes were not, which it then replaces.

        None, and all is as before, unless it explains all that they do and says as much: not that
        some of the elements somewhere are wrong.
        """
        before = self._known.confirmed
        self._known.confirmed = [trial for trial in before if trial not in covered]
        trial = attempt()
        if (
            trial is not None
            and trial.is_confirmed
            and trial.claim.is_whole
            and all(trial.explains(s) for other in covered for s in other.predicted)
        ):
            return trial
        self._known.confirmed = before
        return None

    def _on_left(self) -> None:
        """Look for other faults in what those leave over that were refuted."""
        known: set[Together] = set()
        for _ in range(limits.SEARCHES):
            if not self._refuted > known or self._is_enough:
                break
            known = {*self._refuted}
            # What is refused where a rule says as well.
            left = [s for s in self._known.left if s.outputs is not None or not s.vector.values]
            search = Search(
                left,
                [sample.vector for sample in self._known.conforming],
                replace(self._known.candidates, refuted=known),
                self._predictions,
                limits.STEPS_OF_LEFT,
            )
            causes, _ = search.run()
            causes += search.doubtful
            self.on_faults([each for each in causes if not self._has(each.faults)])

    def _on_kind(self, kind: FailureKind) -> bool:
        """Say whether a rule is confirmed for failures of a kind, first for all of them."""
        faults = [
            trial
            for trial in self._known.confirmed
            if all(s in kind for s in trial.predicted)
            and any(s in kind for s in trial.strays if not self._known.is_explained(s))
        ]
        attempt = partial(self._on_rule, kind)
        return bool(faults and self._in_place_of(faults, attempt)) or attempt() is not None

    def _unexplained(self, trial: Trial) -> int:
        """Return how many cases that a cause is not about fail for no known one; 0 for a few.

        What fails in another manner than all that it predicted is another fault.
        """
        manners = {sample.manner for sample in _returned(trial.predicted) or trial.predicted}
        alike = [sample for sample in trial.strays if sample.manner in manners]
        strays = sum(not self._known.is_explained(sample) for sample in alike)
        return strays if limits.PER_STRAY * strays > trial.quiet + len(trial.strays) else 0

    def _on_supposed_faults(self, alternatives: Sequence[Together]) -> Trial | None:
        """Hold faults, or alternatives to them, against held-out cases; None if these refute all.

        One that leaves failures unexplained gives way to the likeliest of those that conforming
        vectors contradict, if that is confirmed under a condition.
        """
        standing: Trial | None = None
        hidden: Trial | None = None
        contradicted: Together = ()
        share = self._laboratory.share(limits.STEPS_OF_A_CAUSE)
        for faults in alternatives:
            if self._is_enough or share.is_spent:
                break
            claim = planted(*faults)
            if self._is_contradicted(claim):
                contradicted = contradicted or faults
                self._refuted.add(faults)
                continue
            shown = self._known.shown(claim, limits.BASES)
            trial = self._trying.tried(claim, shown, share)
            if trial.is_confirmed:
                # What says less than a cause that may be hidden is part of that.
                if hidden is None or not any(map(hidden.explains, trial.strays)):
                    likeliest = self._told_apart(trial, alternatives, share)
                    return self._settled(likeliest, contradicted)
            elif trial.may_be_hidden and self._explains_most(trial):
                hidden = hidden or trial
            elif trial.is_refuted:
                self._refuted.add(faults)
            elif self._may_stand(trial):
                standing = standing or trial
        self._suppose(hidden, standing)
        return hidden or standing

    def _suppose(self, hidden: Trial | None, standing: Trial | None) -> None:
        """Suppose that faults are there which another cause hides, or no held-out case shows."""
        if hidden is not None:
            self._known.supposed.append(hidden)
        elif standing is not None and not standing.asked:
            self._known.standing.append(standing)

    def _may_stand(self, trial: Trial) -> bool:
        """Say whether some held-out case bears out faults, or there was no work left, or none can.

        Where powers leave the range of their type no case is drawn: there, many wrong elements have
        to be reproduced bit for bit, which is no chance.
        """
        if trial.asked or self._laboratory.is_over:
            return True
        observed = map(self._predictions.observation, self._known.failing)
        return any(
            each.wrong_elements >= limits.MANY_WRONG
            and self._predictions.reproductions.match(trial.claim.faults, each) is Match.EXACT
            for each in observed
        )

    def _explains_most(self, trial: Trial) -> bool:
        """Say whether it explains half of the failures of the run in which it shows, or more."""
        shown = [s for s in self._known.failing if trial.fails(s.vector)]
        return 2 * sum(map(trial.explains, shown)) >= len(shown)

    def _told_apart(self, trial: Trial, alternatives: Sequence[Together], share: Share) -> Trial:
        """Return what is confirmed, or an alternative that explains all of that and more.

        Near the cases on which one cause shows, another may answer alike: which of them it is shows
        in cases that are drawn for the other one.
        """
        for faults in alternatives:
            other = self._known.trial(planted(*faults))
            if faults == trial.claim.faults or not all(map(other.explains, trial.predicted)):
                continue
            if self._is_contradicted(other.claim):
                continue
            shown = self._known.shown(other.claim, limits.BASES)
            against = self._trying.tried(other.claim, shown, share)
            if against.is_confirmed and not all(map(trial.explains, against.predicted)):
                trial = against
        return trial

    def _is_contradicted(self, claim: Claim) -> bool:
        """Say whether it would show in a vector that conforms."""
        return any(self._predictions.fails(claim, s.vector) for s in self._known.conforming)

    def _settled(self, trial: Trial, contradicted: Together) -> Trial:
        """Return what is confirmed, or one that was contradicted, under a condition."""
        if contradicted and self._unexplained(trial):
            instead = self._on_condition(planted(*contradicted))
            if instead is not None and not self._unexplained(instead):
                return instead
        self._known.confirm(trial)
        return trial

    def _under_condition(self, claim: Claim) -> Trial | None:
        """Learn when a backend has a fault, in place of what is confirmed and it explains."""
        always = self._known.trial(planted(*claim.faults))
        if not any(map(always.explains, self._known.left)):
            return None
        covered = [t for t in self._known.confirmed if all(map(always.explains, t.predicted))]
        attempt = partial(self._on_condition, claim)
        return self._in_place_of(covered, attempt) if covered else attempt()

    def _on_condition(self, claim: Claim) -> Trial | None:
        """Learn when a backend has a fault, and keep that; None if in vain."""
        trial = self._conditional_cause(claim)
        if trial is not None and trial.is_confirmed:
            self._known.confirm(trial)
        elif trial is not None:
            self._known.standing.append(trial)
        return trial

    def _conditional_cause(self, claim: Claim) -> Trial | None:
        """Learn when a backend has a fault, and hold that against held-out cases; None if in vain.

        The first condition is that of the claim. It is taken, too, where none is confirmed but
        nearly all held-out cases, and all that conforms in the run, went as it predicted.
        Exceptions are all alike: of which cases a fault explains them, a rule says as well, and no
        more than is known.
        """
        always = planted(*claim.faults)
        predicted = _returned(self._known.shown(always, len(self._known.failing)))
        shown = [s for s in predicted if not self._known.is_explained(s)]
        if not shown:
            return None
        if not (claim.where or self._is_worth_a_condition(shown)):
            return None
        share = self._laboratory.share(limits.STEPS_OF_A_CAUSE)
        tried: list[Trial] = []
        for trial in self._conditional(claim, shown, share):
            if trial.is_confirmed:
                return trial
            tried.append(trial)
        if (excused := self._excused(tried)) is not None:
            return excused
        first = next(iter(tried), None)
        if first is None or not first.holds_mostly or self._is_refuted_by_the_run(first):
            return None
        return first

    def _excused(self, tried: Sequence[Trial]) -> Trial | None:
        """Return the simplest cause of some that invalid calls alone refute, which were refused.

        Of those as simple, that is the last, which most is known of; one that says when comes
        before one that does not. It is confirmed but for these calls.
        """
        refused = [trial for trial in reversed(tried) if trial.is_refused_at_times]
        simplest = min(
            refused, key=lambda trial: sum(map(len, trial.claim.places)) or inf, default=None
        )
        if simplest is None or not simplest.excused.is_confirmed:
            return None
        return None if self._is_contradicted(simplest.claim) else simplest.excused

    def _is_refuted_by_the_run(self, trial: Trial) -> bool:
        """Say whether a vector of the run conforms in which a cause was to show."""
        conforming = {id(sample) for sample in self._known.others}
        return any(id(sample) in conforming for sample in trial.absent)

    def _conditional(self, claim: Claim, shown: list[Sample], share: Share) -> Iterator[Trial]:
        """Yield what held-out cases say of a fault under one condition after the other."""
        always = self._known.trial(planted(*claim.faults))
        absent = [s for s in self._known.conforming if self._shows_otherwise(always, s)]
        for _ in range(limits.ROUNDS):
            trial = self._trying.tried(claim, shown, share)
            is_right = not self._applies_to_many(trial.claim, absent, shown)
            if is_right and trial.is_confirmed:
                trial = self._rules.under_wider(trial, [*shown, *absent], share)
            if is_right:
                yield trial
            if share.is_spent or not (trial.predicted or claim.where):
                return
            # One case in which it is absent tells little: what is like it tells why.
            seen = (*trial.absent, *trial.other, *trial.beside)
            without = [s for s in seen if self._shows_otherwise(always, s)]
            like = self._rules.like(without)
            shown += _returned([*trial.predicted, *filter(always.explains, like)])
            absent += [*without, *(s for s in like if self._shows_otherwise(always, s))]
            if len(shown) >= limits.FOR_A_CONDITION:
                places = self._rules.condition(always.claim, shown, absent)
                if places is None or places == claim.places:
                    return
                claim = replace(claim, places=places)
                if self._applies_to_many(claim, absent, shown):
                    return

    def _shows_otherwise(self, trial: Trial, sample: Sample) -> bool:
        """Say whether a fault was to show in a sample, which is right or has other values."""
        has_others = sample.outputs is not None and not trial.explains(sample)
        return trial.fails(sample.vector) and (not sample.failed or has_others)

    def _applies_to_many(
        self, claim: Claim, absent: Sequence[Sample], shown: Sequence[Sample]
    ) -> bool:
        """Say whether too many cases without a fault meet a condition.

        What is invalid may be refused for another reason.
        """
        met = [s for s in absent if not s.failed and self._predictions.applies(claim, s.vector)]
        valid = sum(bool(s.vector.values) for s in met)
        return limits.PER_MET * valid > len(shown) or limits.PER_HIDDEN * len(met) > len(shown)

    def _is_worth_a_condition(self, shown: Sequence[Sample]) -> bool:
        """Say whether a fault explains enough failures that are left to learn when it is there.

        A few are enough where they are many of all that is left of their manner.
        """
        manners = {s.manner for s in shown}
        left = sum(s.manner in manners for s in self._known.left)
        return len(shown) >= max(1, min(limits.FOR_A_CONDITION, left / limits.SHARE_OF_LEFT))

    def _on_rule(self, kind: FailureKind) -> Trial | None:
        """Confirm a rule for the failures of a kind that are left; None in vain."""
        trial = self._rules.best_rule(kind, [s for s in self._known.left if s in kind])
        if trial is None or not self._is_beside(trial):
            return None
        self._known.confirm(trial)
        return trial


def _returned(samples: Sequence[Sample]) -> list[Sample]:
    """Leave out exceptions: many faults raise one, so that they tell little of where one is."""
    return [sample for sample in samples if sample.outputs is not None]


def _kinds_of(left: Sequence[Sample]) -> list[FailureKind]:
    """Return the kinds of failures, the most frequent first: by exceptions, then by manners.

    Exceptions of one kind mostly have one cause; rare ones are looked at together, and at last all
    that is left: a code path may fail in more than one manner.
    """
    by_exception = Counter(FailureKind(s.manner, s.raised) for s in left if s.manner is not None)
    by_manner = Counter(FailureKind(each.manner) for each in by_exception.elements())
    often = [
        each
        for each, count in by_exception.most_common()
        if limits.FOR_A_CONDITION <= count < by_manner[FailureKind(each.manner)]
    ]
    every = FailureKind("any")
    several = len({s.manner for s in left if s in every}) > 1
    return [*often, *(each for each, _ in by_manner.most_common()), *[every] * several]
