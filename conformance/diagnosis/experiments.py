"""Supposed causes held against the live backend: fresh cases confirm or refute them.

A hypothesis is held against fresh cases near those that failed and near those that conform, drawn
after it was made: the cases that it says the backend fails have to fail just as it says, and all
others have to be right. Catalogued faults come first, those that reproduce some failures. Where
the backend has a fault in some such cases and is right in others, the rule that tells them apart is
learned, and held against fresh cases in turn. For failures left over other faults are tried, and
rules of their own are learned, again and again with the samples that refuted those before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from conformance.budget import Budget, Share
from conformance.cases.minimize import polished
from conformance.diagnosis.conditions import Where
from conformance.diagnosis.hypothesis import Bools, Hypothesis, Sample
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.planting import FaultHypothesis
from conformance.diagnosis.reproduce import equal_numbers
from conformance.diagnosis.rule_search import RuleSearch
from conformance.diagnosis.rules import Rule, manner_of
from conformance.diagnosis.search import Search, Suspect
from conformance.diagnosis.shares import CAUSE, LEFT, SMALLEST
from conformance.diagnosis.smallest import as_python
from conformance.diagnosis.trial import Trial
from conformance.diagnosis.trying import BASES, Trying, tells_elements_apart
from conformance.diagnosis.wrong_elements import Elements
from conformance.faults.fault import Fault, Together
from conformance.record.report import Proof
from conformance.reference.rounding import Doubles, widen
from conformance.vector import Case, Vector

_MOST_CAUSES = 8
_SHARE = 3
"""A condition is learned for a fault that explains one in so many of the failures left."""
_APART = 2.0**-6
"""By how much of the largest value others differ, where that is no matter of rounding."""
_FEW_STRAYS = 10
"""One in so many cases on which a fault does not show may fail without any known cause."""
_CONDITIONS = 6
"""Times that fresh cases are drawn for the condition of a fault, at most."""
_SEARCHES = 4
"""Searches for other faults than those that were refuted, at most."""
_FEW = 6
"""Cases on which a fault has to show before a condition is learned for it."""


class Experiments:
    """The experiments on one backend: what is supposed, tried and settled, and in which order."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._laboratory = known.laboratory
        self._trying = Trying(known)
        self._rules = RuleSearch(known, self._trying)
        self._refuted: set[Together] = set()

    @property
    def confirmed(self) -> Sequence[Trial]:
        """The causes that are confirmed so far."""
        return self._known.confirmed

    def on_faults(self, suspects: Sequence[Suspect]) -> list[Trial | None]:
        """Return for each suspect what it came to.

        The first alternative that is confirmed is taken, else the first that is not refuted; None
        where all are. Then those are tried that are conditional. What there was no time for is
        neither confirmed nor refuted.
        """
        firsts = [suspect.alternatives[0] for suspect in suspects]
        rivals = list(dict.fromkeys(chain(*firsts)))
        trials: list[Trial | None] = [None] * len(suspects)
        # Two faults at once need no name of their own where each has been confirmed alone.
        for number in sorted(range(len(suspects)), key=lambda number: len(firsts[number])):
            if self._has(firsts[number]):
                continue
            if self._laboratory.is_over:
                trials[number] = Trial(self._hypothesis(*suspects[number].conditional[0]))
            else:
                trials[number] = self._on_suspect(suspects[number].alternatives, rivals)
        for number, suspect in enumerate(suspects):
            for faults, where in suspect.conditional:
                if trials[number] is None and len(faults) == 1 and not self._is_enough:
                    trials[number] = self._under_condition(faults, where, rivals)
        return trials

    def on_rules(self) -> list[Trial]:
        """Return other faults, then rules, for the failures that no confirmed cause explains.

        A rule that explains all that a confirmed fault does takes its place, unless it says less:
        that some of the elements somewhere are wrong. Faults that another cause may hide are
        supposed to be there meanwhile, and then held against fresh cases without that one.
        """
        known = {id(trial) for trial in (*self._known.confirmed, *self._known.supposed)}
        self._on_left()
        self._on_manners()
        supposed, self._known.supposed = self._known.supposed, []
        if supposed:
            # No causes after all: what was found was held against no case in which they show.
            for trial in [*self._known.confirmed]:
                if id(trial) not in known and trial not in supposed:
                    self._known.confirmed.remove(trial)
                    self._try_again(trial)
            self._on_manners()
        found = (*self._known.confirmed, *supposed)
        return [trial for trial in found if id(trial) not in known and trial.stands]

    def _on_manners(self) -> None:
        """Look for rules for failures of one manner after the other, as long as some are found."""
        hopeless: set[str | None] = set()
        while not self._is_enough:
            left = self._known.left
            manners = Counter(m for s in left if (m := manner_of(s)) not in hopeless)
            if not manners:
                break
            manner = max(manners, key=lambda manner: manners[manner])
            if self._on_manner(manner, left):
                self._on_supposed()
            else:
                hopeless.add(manner)

    def meet_in(self, vector: Vector) -> bool:
        """Say whether several confirmed causes show on a vector."""
        return sum(trial.hypothesis.fails(vector) for trial in self._known.causes) > 1

    def proof(self, trial: Trial) -> Proof:
        """Return what fresh cases said of a cause."""
        missing = ""
        if not trial.is_confirmed:
            over = self._laboratory.ended or "few such cases can be drawn"
            predicted = f"{len(trial.predicted):,} of {trial.asked:,} fresh cases as predicted"
            missing = f"{over}, {predicted}" if trial.asked else over
            if trial.holds_mostly:
                missing = predicted
            elif trial.may_be_hidden:
                missing = f"{predicted}, and the others wrong in another way"
        elif isinstance(trial.hypothesis, FaultHypothesis) and (strays := self._unexplained(trial)):
            others = trial.quiet + len(trial.strays)
            missing = f"of {others:,} fresh cases without it, {strays:,} fail as well"
        return Proof(len(trial.predicted), trial.asked, self._laboratory.seed, missing)

    def smallest(self, trial: Trial) -> str:
        """Return a small call on which a cause shows, as Python; "" if there is none to write."""
        share = self._laboratory.budget.share(SMALLEST)
        shown = trial.predicted or [s for s in self._known.failing if trial.explains(s)]

        def fails(case: Case) -> bool:
            if share.is_spent or self._laboratory.is_over:
                return False
            return any(
                trial.hypothesis.fails(sample.vector) and trial.explains(sample)
                for sample in self._trying.asked(case)
            )

        first = min(shown, key=lambda sample: sample.vector.case.data.size, default=None)
        return "" if first is None else as_python(polished(first.vector.case, fails))

    @property
    def _is_enough(self) -> bool:
        """Whether no more causes are to be looked for."""
        return len(self._known.confirmed) >= _MOST_CAUSES or self._laboratory.is_over

    def _has(self, faults: Together) -> bool:
        """Say whether each of some faults is confirmed."""
        known = {fault for trial in self._known.confirmed for fault in _faults_of(trial)}
        return known.issuperset(faults)

    def _on_supposed(self) -> None:
        """Hold what is supposed against cases in which no cause shows that was found since."""
        for trial in [*self._known.supposed]:
            self._known.supposed.remove(trial)
            if not self._is_beside(trial):
                trial.absent += trial.other
                continue
            self._try_again(trial)
            if not trial.is_confirmed:
                self._known.supposed.append(trial)

    def _is_beside(self, trial: Trial) -> bool:
        """Say whether a cause is there beside others, where both show.

        Where another cause says nothing of an element, it has to be as this one says: a cause that
        is none may be right wherever others do not show.
        """
        both = self._known.shown_beside(trial.hypothesis, BASES)
        for sample in (*trial.other, *both):
            left = self._known.unmarked(sample.vector)
            if left is None or sample.defined is None or left.shape != sample.defined.shape:
                continue
            off = self._otherwise(trial.hypothesis, sample)
            if off is not None and (off & left & sample.defined).any():
                return False
        return True

    def _otherwise(self, hypothesis: Hypothesis, sample: Sample) -> Bools | None:
        """Mark the elements that are not as a cause says, alone; None if that cannot be told."""
        match hypothesis:
            case FaultHypothesis(faults=faults):
                values = self._known.planting.values(faults, sample.vector)
                got = None if sample.outputs is None else widen(sample.outputs[0])
                if values is not None and got is not None and values.shape == got.shape:
                    return _differ(got, values)
            case Elements(rule=rule, is_whole=True) if tells_elements_apart(sample):
                shown = rule.shown(sample.vector, told=True)
                if shown is not None and sample.wrong is not None:
                    return shown & ~sample.wrong if shown.shape == sample.wrong.shape else None
        return None

    def _try_again(self, trial: Trial) -> None:
        """Hold a cause against fresh cases in which no other one shows, known by now."""
        shown = self._known.shown(trial.hypothesis, BASES)
        again = self._trying.tried(trial.hypothesis, shown, (), self._laboratory.share(CAUSE))
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
            and trial.is_whole
            and all(trial.explains(s) for other in covered for s in other.predicted)
        ):
            return trial
        self._known.confirmed = before
        return None

    def _on_left(self) -> None:
        """Look for other faults in what those leave over that were refuted."""
        known: set[Together] = set()
        for _ in range(_SEARCHES):
            if not self._refuted > known or self._is_enough:
                break
            known = {*self._refuted}
            planting = self._known.planting
            # What is refused where a rule says as well.
            left = [s for s in self._known.left if s.outputs is not None or not s.vector.values]
            search = Search(
                [planting.observation(sample) for sample in left],
                [planting.unanswered(sample.vector) for sample in self._known.conforming],
                replace(self._known.candidates, refuted=known),
                reproductions=planting.reproductions,
                share=Budget().share(LEFT),
            )
            causes, _ = search.run()
            causes += search.doubtful
            self.on_faults([each.suspect for each in causes if not self._has(each.faults)])

    def _on_manner(self, manner: str | None, left: Sequence[Sample]) -> bool:
        """Say whether a rule is confirmed for failures of one manner, first for all of them."""
        faults = [
            trial
            for trial in self._known.confirmed
            if any(manner_of(s) == manner for s in trial.strays if not self._known.is_explained(s))
        ]

        def on_all() -> Trial | None:
            failing = self._known.left
            return self._on_rule([s for s in failing if manner_of(s) == manner])

        if faults and self._in_place_of(faults, on_all):
            return True
        return self._on_rule([s for s in left if manner_of(s) == manner]) is not None

    def _unexplained(self, trial: Trial) -> int:
        """Return how many cases that a cause is not about fail for no known one; 0 for a few."""
        strays = sum(not self._known.is_explained(s) for s in trial.strays)
        return strays if _FEW_STRAYS * strays > trial.quiet + len(trial.strays) else 0

    def _on_suspect(
        self, alternatives: Sequence[Together], rivals: Sequence[Fault]
    ) -> Trial | None:
        """Hold faults, or alternatives to them, against fresh cases; None if these refute all.

        One that leaves failures unexplained gives way to the likeliest of those that conforming
        vectors contradict, if that is confirmed under a condition.
        """
        standing: Trial | None = None
        hidden: Trial | None = None
        contradicted: Together = ()
        share = self._laboratory.share(CAUSE)
        for faults in alternatives:
            if self._is_enough or share.is_spent:
                break
            hypothesis = FaultHypothesis(faults, self._known.planting)
            hypothesis.prepare([s.vector for s in self._known.conforming])
            if self._is_contradicted(hypothesis):
                contradicted = contradicted or faults
                self._refuted.add(faults)
                continue
            shown = self._known.shown(hypothesis, BASES)
            trial = self._trying.tried(hypothesis, shown, rivals, share)
            if trial.is_confirmed:
                # What says less than a cause that may be hidden is part of that.
                if hidden is None or not any(map(hidden.explains, trial.strays)):
                    likeliest = self._told_apart(trial, alternatives, rivals, share)
                    return self._settled(likeliest, contradicted, rivals)
            elif trial.may_be_hidden and self._explains_most(hypothesis):
                hidden = hidden or trial
            elif not trial.is_refuted and (trial.asked or self._laboratory.is_over):
                standing = standing or trial
            elif trial.is_refuted:
                self._refuted.add(faults)
        if hidden is not None:
            self._known.supposed.append(hidden)
        return hidden or standing

    def _explains_most(self, hypothesis: FaultHypothesis) -> bool:
        """Say whether it explains half of the failures of the run in which it shows, or more."""
        hypothesis.prepare([s.vector for s in self._known.failing])
        shown = [s for s in self._known.failing if hypothesis.fails(s.vector)]
        return 2 * sum(map(hypothesis.explains, shown)) >= len(shown)

    def _told_apart(
        self,
        trial: Trial,
        alternatives: Sequence[Together],
        rivals: Sequence[Fault],
        share: Share,
    ) -> Trial:
        """Return what is confirmed, or an alternative that explains all of that and more.

        Near the cases on which one cause shows, another may answer alike: which of them it is shows
        in cases that are drawn for the other one.
        """
        for faults in alternatives:
            other = FaultHypothesis(faults, self._known.planting)
            if faults == _faults_of(trial) or not all(map(other.explains, trial.predicted)):
                continue
            if self._is_contradicted(other):
                continue
            shown = self._known.shown(other, BASES)
            against = self._trying.tried(other, shown, rivals, share)
            if against.is_confirmed and not all(map(trial.explains, against.predicted)):
                trial = against
        return trial

    def _is_contradicted(self, hypothesis: Hypothesis) -> bool:
        """Say whether it would show in a vector that conforms."""
        return any(hypothesis.fails(s.vector) for s in self._known.conforming)

    def _settled(self, trial: Trial, contradicted: Together, rivals: Sequence[Fault]) -> Trial:
        """Return what is confirmed, or one that was contradicted, under a condition."""
        if contradicted and self._unexplained(trial):
            instead = self._on_condition(contradicted, (), rivals)
            if instead is not None and not self._unexplained(instead):
                return instead
        self._known.confirm(trial)
        return trial

    def _under_condition(
        self, faults: Together, where: Where, rivals: Sequence[Fault]
    ) -> Trial | None:
        """Learn when a backend has a fault, in place of what is confirmed and it explains."""
        always = FaultHypothesis(faults, self._known.planting)
        if not any(map(always.explains, self._known.left)):
            return None
        covered = [t for t in self._known.confirmed if all(map(always.explains, t.predicted))]
        attempt = partial(self._on_condition, faults, where, rivals)
        return self._in_place_of(covered, attempt) if covered else attempt()

    def _on_condition(
        self, faults: Together, where: Where, rivals: Sequence[Fault]
    ) -> Trial | None:
        """Learn when a backend has a fault, and hold that against fresh cases; None if in vain.

        The first condition is that `where` the vectors of the run have it. It is taken, too, where
        none is confirmed but nearly all fresh cases, and all that conforms in the run, went as it
        predicted. Exceptions are all alike: of which cases a fault explains them, a rule says as
        well, and no more than is known.
        """
        always = FaultHypothesis(faults, self._known.planting)
        always.prepare([s.vector for s in (*self._known.failing, *self._known.conforming)])
        shown = self._known.shown(always, len(self._known.failing))
        if all(s.outputs is None for s in shown):
            return None
        if not (where or self._is_worth_a_condition(shown)):
            return None
        share = self._laboratory.share(CAUSE)
        first: Trial | None = None
        for trial in self._conditional(always, where, shown, rivals, share):
            if trial.is_confirmed:
                self._known.confirm(trial)
                return trial
            first = first or trial
        if first is None or not first.holds_mostly or self._is_refuted_by_the_run(first):
            return None
        self._known.mostly.append(first)
        return first

    def _is_refuted_by_the_run(self, trial: Trial) -> bool:
        """Say whether a vector of the run conforms in which a cause was to show."""
        conforming = {id(sample) for sample in self._known.others}
        return any(id(sample) in conforming for sample in trial.absent)

    def _conditional(
        self,
        always: FaultHypothesis,
        where: Where,
        shown: list[Sample],
        rivals: Sequence[Fault],
        share: Share,
    ) -> Iterator[Trial]:
        """Yield what fresh cases say of a fault under one condition after the other."""
        hypothesis = self._hypothesis(always.faults, where)
        absent = [s for s in self._known.conforming if always.fails(s.vector)]
        for _ in range(_CONDITIONS):
            trial = self._trying.tried(hypothesis, shown, rivals, share)
            is_right = not any(hypothesis.fails(s.vector) for s in absent)
            if is_right and trial.is_confirmed:
                trial = self._rules.under_wider(trial, [*shown, *absent], rivals, share)
            if is_right:
                yield trial
            if share.is_spent or not (trial.predicted or hypothesis.condition):
                return
            # One case in which it is absent tells little: what is like it tells why.
            like = self._rules.like(trial.absent)
            shown += [*trial.predicted, *filter(always.explains, like)]
            absent += [*trial.absent, *(s for s in like if always.fails(s.vector) and not s.failed)]
            if len(shown) >= _FEW:
                condition = self._rules.condition(always, shown, absent)
                before = hypothesis.condition
                if condition is None or any(condition.fails(s.vector) for s in absent):
                    return
                if before is not None and condition.places == before.places:
                    return
                hypothesis = replace(always, condition=condition)

    def _hypothesis(self, faults: Together, where: Where) -> FaultHypothesis:
        """Return faults as a hypothesis, under the conditions that vectors of the run speak for."""
        if not where:
            return FaultHypothesis(faults, self._known.planting)
        conditions = tuple(chain(*(places[0] for places in where)))
        readings = self._laboratory.readings(self._known.failing[0].vector)
        rule = Rule((conditions,), readings=tuple(sorted(readings.items())))
        return FaultHypothesis(faults, self._known.planting, rule)

    def _is_worth_a_condition(self, shown: Sequence[Sample]) -> bool:
        """Say whether a fault explains enough failures that are left to learn when it is there.

        A few are enough where they are many of all that is left.
        """
        new = sum(not self._known.is_explained(s) for s in shown)
        return new > 0 and new >= min(_FEW, len(self._known.left) / _SHARE)

    def _on_rule(self, left: Sequence[Sample]) -> Trial | None:
        """Confirm a rule for failures, which are of one manner; None in vain."""
        trial = self._rules.best_rule(left)
        if trial is None or not self._is_beside(trial):
            return None
        self._known.confirm(trial)
        return trial


def _differ(one: Doubles, other: Doubles) -> Bools:
    """Say where values differ by more than rounding makes of the largest."""
    most = np.abs(other[np.isfinite(other)]).max(initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(one - other) <= _APART * most
    return np.asarray(~(near | equal_numbers(one, other)))


def _faults_of(trial: Trial) -> Together:
    return trial.hypothesis.faults if isinstance(trial.hypothesis, FaultHypothesis) else ()
