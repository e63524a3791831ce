"""Supposed causes held against the live backend: fresh cases confirm or refute them.

A hypothesis is held against fresh cases near those that failed and near those that conform, drawn
after it was made: the cases that it says the backend fails have to fail just as it says, and all
others have to be right. Catalogued faults come first, those that reproduce some failures. Where
the backend has a fault in some such cases and is right in others, the rule that tells them apart is
learned, and held against fresh cases in turn. For failures left over slips are tried, which are
faults that nobody listed, and rules of their own are learned, again and again with the samples that
refuted those before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import numpy as np

from conformance.budget import ROW, Share
from conformance.cases.minimize import polished
from conformance.cases.near import Feature, at, named, other_words, with_word, words_of
from conformance.diagnosis.features import thinned
from conformance.diagnosis.hypothesis import Hypothesis, Sample
from conformance.diagnosis.instead import Instead
from conformance.diagnosis.laboratory import Laboratory
from conformance.diagnosis.planting import FaultHypothesis, Planting, Together
from conformance.diagnosis.rules import Edge, Rule, learned, manner_of, rows_of
from conformance.diagnosis.shares import CAUSE, FRUITLESS, SMALLEST
from conformance.diagnosis.slips import likely_slips, slips_instead
from conformance.diagnosis.smallest import as_python
from conformance.diagnosis.trial import CONFIRMING, Trial, may_hide
from conformance.diagnosis.wrong_elements import Elements, of_elements
from conformance.faults.fault import Fault
from conformance.operators import operator_named
from conformance.record.report import Proof
from conformance.vector import Case, Vector

_AT_ONCE = 8
_VARIED = 6
"""Fresh cases that are varied in each word, type and operator."""
_OF_EACH = 2
"""Cases of each that a cause is held against."""
_BASES = 60
"""Samples that fresh cases are drawn near, at most."""
_KNOWN = 100
"""Failures of the run, vectors that conform and fresh cases each that rules are learned from."""
_ROUNDS = 6
_MOST_CAUSES = 3
_DRAWS = 150
"""Times that fresh cases are drawn for one cause, at most."""
_SHARE = 3
"""A condition is learned for a fault that explains one in so many of the failures left."""
_QUIET = 12
"""Fresh cases at least on which it does not show."""
_CONTESTED = 64
"""Times that cases are drawn of which rules may say different things."""
_AGAIN = 3
"""Times that a case is asked again where equal values may hide that elements are wrong."""
_DISTINCT = 0.9
_RULES = 2
"""Rules that are tried of those that fit what is known."""
_FEW_STRAYS = 10
"""One in so many cases on which a fault does not show may fail without any known cause."""
_CONDITIONS = 6
"""Times that fresh cases are drawn for the condition of a fault, at most."""
_FEW = 6
"""Cases on which a fault has to show before a condition is learned for it."""
_LIKE = 16
"""Times that cases are drawn near those that refuted a rule."""


class Experiments:
    """The experiments on one backend.

    `failing` and `conforming` are samples of its run, which causes are made of; what is confirmed
    is held against `others` as well, which conform.
    """

    def __init__(
        self,
        laboratory: Laboratory,
        planting: Planting,
        failing: Sequence[Sample],
        conforming: Sequence[Sample],
        others: Sequence[Sample] = (),
    ) -> None:
        self._laboratory = laboratory
        self._planting = planting
        self._failing = failing
        self._conforming = conforming
        self._others = others
        self._operators = list(
            dict.fromkeys(s.vector.case.operator for s in (*failing, *conforming, *others))
        )
        self._fresh: list[Sample] = []
        self._refuting: list[Sample] = []
        """Fresh samples that refuted a rule."""
        self._confirmed: list[Trial] = []
        self._supposed: list[Trial] = []
        """Faults that another cause may hide, not found yet, where they were refuted."""
        self._known = [Trial(FaultHypothesis(faults, planting)) for faults in laboratory.known]

    @property
    def confirmed(self) -> Sequence[Trial]:
        """The causes that are confirmed so far."""
        return self._confirmed

    def on_faults(self, suspects: Sequence[Sequence[Together]]) -> list[Trial | None]:
        """Return for each suspect, given by its faults and alternatives to them, what it came to.

        The first alternative that is confirmed is taken, else the first that is not refuted; None
        where all are.
        """
        rivals = list(dict.fromkeys(fault for faults, *_ in suspects for fault in faults))
        trials: list[Trial | None] = [None] * len(suspects)
        # Two faults at once need no name of their own where each has been confirmed alone.
        for number in sorted(range(len(suspects)), key=lambda number: len(suspects[number][0])):
            if not self._has(suspects[number][0]):
                trials[number] = self._on_suspect(suspects[number], rivals)
        for number, (faults, *_) in enumerate(suspects):
            if trials[number] is None and len(faults) == 1 and not self._is_enough:
                trials[number] = self._under_condition(faults, rivals)
        return trials

    def on_rules(self) -> list[Trial]:
        """Return slips, then rules, for the failures that no confirmed cause explains.

        A rule that explains all that a confirmed fault does takes its place, unless it says less:
        that some of the elements somewhere are wrong. Faults that another cause may hide are
        supposed to be there meanwhile, and then held against fresh cases without that one.
        """
        known = {id(trial) for trial in (*self._confirmed, *self._supposed)}
        self._unite()
        self._on_slips()
        hopeless: set[str | None] = set()
        while not self._is_enough:
            left = [s for s in self._failing if not self._is_explained(s)]
            manners = Counter(m for s in left if (m := manner_of(s)) not in hopeless)
            if not manners:
                break
            manner = max(manners, key=lambda manner: manners[manner])
            if self._on_manner(manner, left):
                self._on_supposed()
            else:
                hopeless.add(manner)
        found = [trial for trial in (*self._confirmed, *self._supposed) if id(trial) not in known]
        if self._supposed:
            # No cause after all: what was found was held against no case in which they show.
            self._supposed, supposed = [], self._supposed
            for trial in found:
                if trial not in supposed:
                    self._confirmed.remove(trial)
                    self._try_again(trial)
        return [trial for trial in found if trial.stands]

    def _on_supposed(self) -> None:
        """Hold what is supposed against cases in which no cause shows that was found since."""
        for trial in [*self._supposed]:
            self._supposed.remove(trial)
            self._try_again(trial)
            if not trial.is_confirmed:
                self._supposed.append(trial)

    def _try_again(self, trial: Trial) -> None:
        """Hold a cause against fresh cases in which no other one shows, known by now."""
        shown = list(islice(filter(trial.hypothesis.predicts, self._failing), _BASES))
        share = self._laboratory.share(CAUSE)
        again = self._tried(trial.hypothesis, shown, (), share)
        if again.asked:
            trial.replace_by(again)
        if trial.is_confirmed:
            self._confirmed.append(trial)

    def _has(self, faults: Together) -> bool:
        """Say whether each of some faults is confirmed."""
        known = {fault for trial in self._confirmed for fault in _faults_of(trial)}
        return known.issuperset(faults)

    def _unite(self) -> None:
        """Look for one slip in place of several faults: it has to explain all that these do."""
        several = [trial for trial in self._confirmed if _faults_of(trial)]
        if len(several) < 2:
            return
        together = [s for s in self._failing if any(trial.explains(s) for trial in several)]
        for faults in next(
            iter(likely_slips(together, self._conforming, self._planting, most=1)), []
        ):
            hypothesis = FaultHypothesis(faults, self._planting)
            covered = [t for t in several if all(map(hypothesis.explains, t.predicted))]
            if len(covered) > 1 and self._in_place_of(
                covered, partial(self._on_suspect, [faults], ())
            ):
                return

    def _in_place_of(
        self, covered: Sequence[Trial], attempt: Callable[[], Trial | None]
    ) -> Trial | None:
        """Return what an attempt confirms as if some causes were not, which it then replaces.

        None, and all is as before, unless it explains all that they do and says as much: not that
        some of the elements somewhere are wrong.
        """
        before = self._confirmed
        self._confirmed = [trial for trial in before if trial not in covered]
        trial = attempt()
        if (
            trial is not None
            and trial.is_confirmed
            and (trial.is_whole or not covered)
            and all(trial.explains(s) for other in covered for s in other.predicted)
        ):
            return trial
        self._confirmed = before
        return None

    def _on_slips(self) -> None:
        """Look for slips as long as some are confirmed."""
        before = -1
        while len(self._confirmed) > before and not self._is_enough:
            before = len(self._confirmed)
            left = [s for s in self._failing if not self._is_explained(s)]
            suspects = [
                [faults for faults in alternatives if not self._has(faults)]
                for alternatives in likely_slips(left, self._conforming, self._planting)
            ]
            self.on_faults([alternatives for alternatives in suspects if alternatives])

    def _on_manner(self, manner: str | None, left: Sequence[Sample]) -> bool:
        """Say whether a rule is confirmed for failures of one manner, first for all of them."""
        faults = [
            trial
            for trial in self._confirmed
            if any(manner_of(s) == manner for s in trial.strays if not self._is_explained(s))
        ]

        def on_all() -> Trial | None:
            failing = [s for s in self._failing if not self._is_explained(s)]
            return self._on_rule([s for s in failing if manner_of(s) == manner])

        if faults and self._in_place_of(faults, on_all):
            return True
        return self._on_rule([s for s in left if manner_of(s) == manner]) is not None

    def meet_in(self, vector: Vector) -> bool:
        """Say whether several confirmed causes show on a vector."""
        return sum(trial.hypothesis.fails(vector) for trial in self._causes) > 1

    def proof(self, trial: Trial) -> Proof:
        """Return what fresh cases said of a cause."""
        missing = ""
        if not trial.is_confirmed:
            over = self._laboratory.ended or "few such cases can be drawn"
            predicted = f"{len(trial.predicted):,} of {trial.asked:,} fresh cases as predicted"
            missing = f"{over}, {predicted}"
            if trial.may_be_hidden:
                missing = f"{predicted}, and the others wrong in another way"
        elif isinstance(trial.hypothesis, FaultHypothesis) and (strays := self._unexplained(trial)):
            others = trial.quiet + len(trial.strays)
            missing = f"of {others:,} fresh cases without it, {strays:,} fail as well"
        return Proof(len(trial.predicted), trial.asked, self._laboratory.seed, missing)

    def _unexplained(self, trial: Trial) -> int:
        """Return how many cases that a cause is not about fail for no known one; 0 for a few."""
        strays = sum(not self._is_explained(s) for s in trial.strays)
        return strays if _FEW_STRAYS * strays > trial.quiet + len(trial.strays) else 0

    def smallest(self, trial: Trial) -> str:
        """Return a small call on which a cause shows, as Python; "" if there is none to write."""
        share = self._laboratory.budget.share(SMALLEST)
        shown = trial.predicted or [s for s in self._failing if trial.explains(s)]

        def fails(case: Case) -> bool:
            if share.is_spent or self._laboratory.is_over:
                return False
            return any(
                trial.hypothesis.fails(sample.vector) and trial.explains(sample)
                for sample in self._asked(case)
            )

        first = min(shown, key=lambda sample: sample.vector.case.data.size, default=None)
        return "" if first is None else as_python(polished(first.vector.case, fails))

    @property
    def _causes(self) -> list[Trial]:
        return [*self._known, *self._confirmed, *self._supposed]

    @property
    def _is_enough(self) -> bool:
        """Whether no more causes are to be looked for."""
        return len(self._confirmed) >= _MOST_CAUSES or self._laboratory.is_over

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
            hypothesis = FaultHypothesis(faults, self._planting)
            hypothesis.prepare([s.vector for s in self._conforming])
            if any(hypothesis.fails(s.vector) for s in self._conforming):
                contradicted = contradicted or faults
                continue
            trial = self._tried(hypothesis, self._shown(hypothesis, _BASES), rivals, share)
            if trial.is_confirmed:
                if hidden is not None and any(map(hidden.explains, trial.strays)):
                    continue
                if contradicted and self._unexplained(trial):
                    instead = self._on_condition(contradicted, rivals)
                    if instead is not None and not self._unexplained(instead):
                        return instead
                self._confirmed.append(trial)
                return trial
            if trial.may_be_hidden:
                hidden = hidden or trial
            if not trial.is_refuted and (trial.asked or self._laboratory.is_over):
                standing = standing or trial
        if hidden is not None:
            self._supposed.append(hidden)
        return hidden or standing

    def _under_condition(self, faults: Together, rivals: Sequence[Fault]) -> Trial | None:
        """Learn when a backend has a fault, in place of what is confirmed and it explains."""
        always = FaultHypothesis(faults, self._planting)
        covered = [t for t in self._confirmed if all(map(always.explains, t.predicted))]
        return self._in_place_of(covered, partial(self._on_condition, faults, rivals))

    def _on_condition(self, faults: Together, rivals: Sequence[Fault]) -> Trial | None:
        """Learn when a backend has a fault, and hold that against fresh cases; None if in vain."""
        hypothesis = always = FaultHypothesis(faults, self._planting)
        hypothesis.prepare([s.vector for s in (*self._failing, *self._conforming)])
        shown = self._shown(hypothesis, len(self._failing))
        absent = [s for s in self._conforming if hypothesis.fails(s.vector)]
        left = sum(not self._is_explained(s) for s in self._failing)
        # Exceptions are all alike: which of them a fault explains, a rule says as well.
        if all(s.outputs is None for s in shown) or _SHARE * len(shown) < left:
            return None
        share = self._laboratory.share(CAUSE)
        trial = self._tried(hypothesis, shown, rivals, share)
        for _ in range(_CONDITIONS):
            is_right = not trial.absent and not any(hypothesis.fails(s.vector) for s in absent)
            if is_right or trial.other or not (trial.predicted or hypothesis.condition):
                break
            if share.is_spent:
                break
            shown += trial.predicted
            absent += trial.absent
            if len(shown) >= _FEW:
                condition = self._condition(always, shown, absent)
                if condition is None or any(condition.fails(s.vector) for s in absent):
                    break
                hypothesis = replace(always, condition=condition)
            trial = self._tried(hypothesis, shown, rivals, share)
        if not trial.is_confirmed or any(hypothesis.fails(s.vector) for s in absent):
            return None
        trial = self._under_wider(trial, [*shown, *absent], rivals, share)
        self._confirmed.append(trial)
        return trial

    def _under_wider(
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
        wider = self._tried(under(general), [s for s in known if s.failed], rivals, share)
        return wider if wider.is_confirmed else trial

    def _shown(self, hypothesis: FaultHypothesis, most: int) -> list[Sample]:
        return list(islice(filter(hypothesis.predicts, self._failing), most))

    def _condition(
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

    def _on_rule(self, left: Sequence[Sample]) -> Trial | None:
        """Confirm a rule for failures, which are of one manner; None in vain."""
        trial = self._best_rule(left)
        if trial is not None:
            self._confirmed.append(trial)
        return trial

    def _best_rule(self, left: Sequence[Sample]) -> Trial | None:
        """Learn a rule for failures, hold it against fresh cases, and learn again with these.

        The failures left are of one manner.
        """
        manner = manner_of(left[0])
        known = [*thinned(left, _KNOWN), *thinned(self._conforming, _KNOWN)]
        known += self._fresh[-_KNOWN:]
        known = [s for s in known if not self._is_explained_otherwise(s.vector)]
        others = slips_instead(left, self._planting) if manner == "values" else []
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
                known += _of_manner(self._like(trial.absent), manner)
            if not rules:
                break
        return best

    def _like(self, samples: Sequence[Sample]) -> list[Sample]:
        """Return fresh samples near some that refuted a rule, which is learned again with them."""
        bases = [s.vector for s in samples]
        drawn = islice(self._laboratory.near(bases, bases), _LIKE if bases else 0)
        vectors = [v for v in drawn if v is not None and not self._is_explained_otherwise(v)]
        fresh = self._laboratory.ask(vectors)
        self._fresh += fresh
        return fresh

    def _learned(self, samples: Sequence[Sample], others: Sequence[Instead] = ()) -> list[Rule]:
        readings = self._laboratory.readings(samples[0].vector)
        self._laboratory.budget.spend(ROW * rows_of(samples))
        return learned(samples, self._laboratory.seed, readings=readings, others=others)

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
        self._see(trial, [s for s in known[before:] if _is_telling(trial.hypothesis, s.vector)], ())
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
        for sample in self._refuting:  # what refuted a rule before is not tried again
            if hypothesis.fails(sample.vector) and _is_telling(hypothesis, sample.vector):
                if sample.failed:
                    trial.see(sample, ())
                else:
                    trial.absent.append(sample)
        if trial.is_refuted:
            return trial
        trial = self._tried(hypothesis, [s for s in left if hypothesis.predicts(s)], (), share)
        known += [*trial.predicted, *trial.absent, *trial.other, *trial.strays]
        self._refuting += [*trial.absent, *trial.other]
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

    def _contested(self, rules: Sequence[Rule], known: Sequence[Sample]) -> list[Sample]:
        """Return fresh samples of which rules that fit alike say different things.

        Some have numbers beyond those of which a condition was made, and some are known cases with
        data that name their cell, for equal values may have hidden what is wrong in them.
        """
        if len(rules) < 2:
            return []

        def is_contested(vector: Vector | None) -> bool:
            if vector is None or self._is_explained_otherwise(vector):
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
        self._fresh += samples
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
            yield from self._asked(replace(edge, right=8 * edge.wrong + 8).case(base))
        while (middle := edge.between) is not None:
            answered = self._asked(edge.case(base))
            if not answered:
                return
            (sample,) = answered
            yield sample
            edge = replace(edge, wrong=middle) if sample.failed else replace(edge, right=middle)

    def _asked(self, case: Case | None) -> list[Sample]:
        vector = self._laboratory.vector(case)
        return self._laboratory.ask([vector]) if vector is not None else []

    def _tried(
        self,
        hypothesis: Hypothesis,
        shown: Sequence[Sample],
        rivals: Sequence[Fault],
        share: Share,
    ) -> Trial:
        """Hold a hypothesis against fresh cases until it is confirmed or refuted.

        `shown` are failures that it explains.
        """
        trial, patient = Trial(hypothesis), share.part(FRUITLESS)
        bases = [s.vector for s in thinned(shown, _BASES)]
        others = [s.vector for s in thinned([*self._failing, *self._conforming], _BASES)]
        open_clauses = self._laboratory.open_clauses
        about = clauses_about(shown, self._laboratory)
        for _ in range(_DRAWS):
            # What went as predicted leads further away from what the hypothesis was made of.
            fresh = self._laboratory.near([*bases, *(s.vector for s in trial.predicted)], others)
            drawn = [v for v in islice(fresh, _AT_ONCE) if v is not None]
            # Another fault may be what leaves a clause open that this one is not about.
            drawn = [v for v in drawn if open_clauses(v) <= about]
            self._prepare(hypothesis, drawn)
            drawn = [v for v in drawn if not self._is_explained_otherwise(v)]
            drawn = [v for v in drawn if _is_telling(hypothesis, v)]
            if trial.quiet + len(trial.strays) >= _QUIET + trial.asked:
                drawn = [v for v in drawn if hypothesis.fails(v)]
            samples = self._laboratory.ask(drawn)
            self._fresh += samples
            self._see(trial, samples, rivals)
            if trial.is_refuted and trial.asked >= (
                CONFIRMING if trial.may_be_hidden else _AT_ONCE
            ):
                break
            if trial.is_confirmed and trial.quiet + len(trial.strays) >= _QUIET:
                self._see_varied(trial, rivals)
                break
            if self._laboratory.is_over or (share if trial.asked else patient).is_spent:
                break
        return trial

    def _see_varied(self, trial: Trial, rivals: Sequence[Fault]) -> None:
        """Hold a hypothesis against calls that bear it out with another word, type or operator.

        One at a time, each that no such call had: cases that are drawn at random have few of some,
        and none of another operator. So it is with numbers that its conditions admit, far from
        those of the failures, and numbers of axes. Then against all of the run that conforms.
        """
        seen = {*chain(*(words_of(s.vector.case).items() for s in trial.predicted))}
        cases = [s.vector.case for s in thinned(trial.predicted, _VARIED)]
        wanted = dict.fromkeys(("operator", name) for name in self._operators)
        for case in cases:
            wanted |= dict.fromkeys(other_words(operator_named(case.operator), case.data.ndim - 2))
        vectors = [
            [self._laboratory.vector(with_word(case, name, value)) for case in cases]
            for name, value in wanted
            if (name, value) not in seen
        ]
        vectors += [[*map(self._laboratory.vector, group)] for group in _far(trial, cases)]
        known = [sample.vector for sample in self._others]
        self._prepare(trial.hypothesis, [v for v in chain(*vectors, known) if v is not None])
        told = [[v for v in group if v is not None and self._tells(trial, v)] for group in vectors]
        samples = self._laboratory.ask([*chain(*(group[:_OF_EACH] for group in told))])
        others = [s for s in self._others if self._tells(trial, s.vector)]
        samples += [s for s in others if not may_hide(trial.hypothesis, s.vector)]
        self._fresh += samples
        self._see(trial, samples, rivals)

    def _tells(self, trial: Trial, vector: Vector) -> bool:
        """Say whether a hypothesis shows on a vector, and no other cause does."""
        return (
            _is_telling(trial.hypothesis, vector)
            and trial.hypothesis.fails(vector)
            and not self._is_explained_otherwise(vector)
        )

    def _see(self, trial: Trial, samples: Sequence[Sample], rivals: Sequence[Fault]) -> None:
        """Hold a hypothesis against what was asked."""
        for sample in samples:
            is_open = bool(self._laboratory.open_clauses(sample.vector))
            trial.see(sample, rivals, is_open=is_open)
        self._settle(trial)

    def _settle(self, trial: Trial) -> None:
        """Ask again what is unclear, with data that name their cell: equal values hide less."""
        unclear, trial.unclear = trial.unclear, []
        for sample in unclear:
            again = [
                other
                for _ in range(_AGAIN)
                for other in self._asked(named(sample.vector.case, self._laboratory.rng))
                if trial.hypothesis.fails(other.vector)
            ]
            if not again:
                trial.unclear.append(sample)
            elif any(map(trial.explains, again)):
                trial.quiet += 1
            elif any(map(tells_elements_apart, again)):
                trial.absent.append(sample)

    def _prepare(self, hypothesis: Hypothesis, vectors: Sequence[Vector]) -> None:
        for each in (hypothesis, *(trial.hypothesis for trial in self._causes)):
            if isinstance(each, FaultHypothesis):
                each.prepare(vectors)

    def _is_explained(self, sample: Sample) -> bool:
        return any(trial.explains(sample) for trial in self._causes)

    def _is_explained_otherwise(self, vector: Vector) -> bool:
        """Say whether a cause that is confirmed shows on a case, which then tells less."""
        return any(trial.hypothesis.fails(vector) for trial in self._causes)


def _faults_of(trial: Trial) -> Together:
    return trial.hypothesis.faults if isinstance(trial.hypothesis, FaultHypothesis) else ()


def _far(trial: Trial, cases: Sequence[Case]) -> Iterator[list[Case | None]]:
    """Yield cases that the conditions of a hypothesis admit, far from those that it was made of."""
    for axes in range(1, 4):
        yield [at(case, Feature("rank"), axes) for case in cases if case.data.ndim - 2 != axes]
    for condition in dict.fromkeys(chain(*trial.places)):
        far = (condition.within(case) for case in cases)
        yield from (list(group) for group in zip(*far, strict=False))


def _is_telling(hypothesis: Hypothesis, vector: Vector) -> bool:
    """Say whether a case tells something of a hypothesis."""
    if isinstance(hypothesis, Elements) and not hypothesis.is_whole:
        return hypothesis.is_telling(vector)
    return True


def clauses_about(shown: Sequence[Sample], laboratory: Laboratory) -> set[str]:
    """Return the clauses that are open in most of the failures that a cause explains."""
    touched = Counter(chain(*(laboratory.open_clauses(s.vector) for s in shown)))
    return {clause for clause, count in touched.items() if 2 * count > len(shown)}


def tells_elements_apart(sample: Sample) -> bool:
    """Say whether nearly all right values differ, so that an element in place of another shows."""
    values = sample.vector.values[0].outputs[0].values
    return np.unique(values).size >= _DISTINCT * values.size


def _of_manner(samples: Iterable[Sample], manner: str | None) -> list[Sample]:
    """Leave out samples that fail in another manner: they tell nothing of this one."""
    return [sample for sample in samples if not sample.failed or manner_of(sample) == manner]
