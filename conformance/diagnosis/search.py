"""The search for faults, alone or two at once, that reproduce mismatches.

It holds what atoms enumerate, those with names first, against recorded answers: no call of the
backend, and no clock, takes part in it. It starts from one unexplained mismatch after the other,
of as many kinds as possible: whatever explains all of them explains this one. The candidates are
then held against the other mismatches of a sample, and against conforming vectors, which a true
cause leaves alone or which some condition on attributes sets apart. What is found is held against
every mismatch, and the search goes on with those left over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

from conformance.budget import Budget
from conformance.diagnosis import limits
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import Claim, planted
from conformance.diagnosis.features import apart, features, spread, weight
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.reproduce import Match, Observation
from conformance.diagnosis.sample import Sample
from conformance.faults.fault import Fault, Together
from conformance.progress import Progress
from conformance.vector import Vector


@dataclass(slots=True, eq=False)
class Fit:
    """A claim of faults, how they match mismatches, and the conforming vectors they would break.

    Mismatches and conforming vectors go by their numbers. Where the claim has conditions, they set
    the mismatches explained apart from so many of those vectors; none is left `contradicted` then.
    `alternatives` fit as well or nearly so, `rivals` under conditions perhaps.
    """

    claim: Claim
    explained: dict[int, Match]
    contradicted: frozenset[int]
    set_apart: int = 0
    alternatives: list[Fit] = field(default_factory=list)
    rivals: list[Fit] = field(default_factory=list)

    @property
    def faults(self) -> Together:
        """The faults of the claim."""
        return self.claim.faults

    @property
    def supposed(self) -> list[Together]:
        """The faults that are supposed to be there always: the first, or else another one."""
        return [self.faults, *(each.faults for each in self.alternatives)]

    @property
    def conditional(self) -> list[Claim]:
        """What is supposed under the conditions that vectors of the run speak for."""
        return [self.claim, *(each.claim for each in self.rivals)]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of single faults that fit as well."""
        alike = [each for each in self.alternatives if each.score == self.score]
        return tuple(each.faults[0].name for each in alike if each.faults[0].name)

    @property
    def score(self) -> tuple[int, ...]:
        """How well it fits; the larger the better."""
        return (
            len(self.explained) - len(self.contradicted),
            len(self.explained),
            -self.set_apart,
            -len(self.faults),
        )


class Search:
    """One search; `run` it once. When it has taken its `steps`, it looks for no more.

    No clock takes away what recorded answers tell.
    """

    def __init__(
        self,
        mismatches: Sequence[Sample],
        conforming: Iterable[Vector],
        candidates: Candidates,
        predictions: Predictions,
        steps: float,
        *,
        progress: Progress | None = None,
    ) -> None:
        self._observed = predictions.observation
        self._as_followed = [*map(self._observed, mismatches)]
        self._mismatches = [*self._as_followed]
        self._conforming = [*map(predictions.unanswered, conforming)]
        self.features = [features(each.vector) for each in self._mismatches]
        self.others = [features(each.vector) for each in self._conforming]
        self._candidates = candidates
        self._named = candidates.named
        self._progress = progress
        self._share = Budget().share(steps)
        self._reproductions = predictions.reproductions.counted_in(self._share.budget)
        # What tells causes apart may lie in few mismatches: more are looked at than searched.
        self._scored = _numbers([each.vector for each in mismatches], limits.WEIGHED)
        self._doubtful: dict[Together, Fit] = {}
        self._pair_searches = limits.PAIR_SEARCHES
        self._in_vain = limits.IN_VAIN

    def run(self) -> tuple[list[Fit], list[int]]:
        """Return the causes found, each held against all mismatches, and what is left over."""
        causes: list[Fit] = []
        left = list(range(len(self._mismatches)))
        for most in limits.SAMPLED:
            if self._progress is not None:
                count = len(self._mismatches)
                self._progress("failures", count - len(left), count)
            sample = _numbers([self._mismatches[i].vector for i in left], most)
            fresh = [left[i] for i in sample]
            named = self._singly(causes, fresh, self._of_names)
            single = self._singly(named, _left(fresh, named), self._of_one)
            left = self._held_against_all(causes, single, left)
            paired = self._in_pairs(single, [i for i in fresh if i in left])
            left = self._held_against_all(single, paired, left)
            if not left or all(cause in causes for cause in paired):
                return paired, left
            causes = paired
        return causes, left

    @property
    def doubtful(self) -> list[Fit]:
        """Causes against which conforming vectors speak: under a condition, they may be true."""
        return [*self._doubtful.values()][: limits.RIVALS]

    def extended(self, causes: Sequence[Fit], mismatches: Sequence[Sample]) -> list[int]:
        """Hold the causes found against more mismatches; return those of them left over."""
        numbers = range(len(self._mismatches), len(self._mismatches) + len(mismatches))
        self._mismatches += map(self._observed, mismatches)
        self.features += [features(sample.vector) for sample in mismatches]
        for cause in causes:
            cause.explained |= self.explained(cause.faults, numbers)
        return self._in_doubt(causes, numbers)

    def explained(
        self, faults: Together, numbers: Iterable[int] | None = None, *, in_doubt: bool = False
    ) -> dict[int, Match]:
        """Return the mismatches, of some or of all, that faults explain, and how well."""
        explained: dict[int, Match] = {}
        for i in range(len(self._mismatches)) if numbers is None else numbers:
            observed = self._mismatches[i].doubted if in_doubt else self._mismatches[i]
            if match := self._reproductions.match(faults, observed):
                explained[i] = match
        return explained

    def in_gradients(self, mismatches: Iterable[int]) -> bool:
        """Say whether some mismatches are of gradients."""
        return any(self._mismatches[i].operator.is_gradient for i in mismatches)

    def _held_against_all(
        self, before: Sequence[Fit], causes: Sequence[Fit], left: Sequence[int]
    ) -> list[int]:
        """Hold new causes against all mismatches; return which are left over."""
        for cause in causes:
            if cause not in before:
                cause.explained = self.explained(cause.faults)
        return self._in_doubt(causes, left)

    def _in_doubt(self, causes: Sequence[Fit], left: Sequence[int]) -> list[int]:
        """Hold causes against those that they do not explain, under other readings too."""
        left = _left(left, causes)
        for i in left:
            self._mismatches[i] = self._mismatches[i].doubted
        for cause in causes:
            if not self._share.is_spent:
                cause.explained |= self.explained(cause.faults, left)
        return _left(left, causes)

    def _singly(
        self,
        causes: Sequence[Fit],
        fresh: Sequence[int],
        of_one: Callable[[int, Sequence[int]], Fit | None],
    ) -> list[Fit]:
        """Look for single faults where causes leave mismatches over; return all causes."""
        causes, left = list(causes), list(fresh)
        fruitless: list[int] = []
        while left and len(causes) < limits.CAUSES and not self._share.is_spent:
            cause = of_one(left[0], left)
            if cause is None:
                fruitless.append(left[0])
                left.append(left.pop(0))
                in_vain = sum(map(self._is_answered, fruitless))
                if in_vain >= limits.IN_VAIN or len(fruitless) >= len(left):
                    break
            else:
                fruitless.clear()
                causes.append(cause)
                left = _left(left, [cause])
                # Before another cause is looked for, this one is tried under other readings.
                cause.explained |= self.explained(cause.faults, left, in_doubt=True)
                left = _left(left, [cause])
        return causes

    def _of_names(self, mismatch: int, left: Sequence[int]) -> Fit | None:
        """Return the fault with a name that explains a mismatch, and others beyond doubt.

        They are few beside what atoms enumerate, so each kind of mismatch is held against them
        before work is spent on one that no fault with a name explains. What is known of other
        operators is tried under other readings, too: these may have been followed there alone.
        """
        known = self._best(self._candidates.known, mismatch, in_doubt=True)
        if known is not None and self._is_certain(known, left):
            return known
        cause = self._best(self._named_for(self._as_followed[mismatch]), mismatch)
        return cause if cause is not None and self._is_certain(cause, left) else None

    def _is_certain(self, cause: Fit, left: Sequence[int]) -> bool:
        """Say whether a cause needs to be held against no other fault."""
        is_shared = len(cause.explained) >= limits.SHARED and not cause.contradicted
        return is_shared or self._is_enough(cause, left)

    def _named_for(self, observation: Observation) -> Iterator[Together]:
        return ((fault,) for fault in self._named if fault.concerns(observation.operator))

    def _of_one(self, mismatch: int, left: Sequence[int]) -> Fit | None:
        """Return the single fault that explains a mismatch and fits the others best.

        Without need, which is where one with a name leaves mismatches over, none without is tried,
        and none made for numbers that they have in common where another one says as much.
        """
        observation, candidates = self._as_followed[mismatch], self._candidates
        stages: list[Iterable[Together]] = [
            candidates.known,
            self._named_for(observation),
            candidates.of_atoms(observation) if self._in_vain else (),
            candidates.of_common_numbers(observation.operator),
        ]
        found: list[Fit] = []
        for stage in stages:
            cause = self._best(stage, mismatch)
            if cause is None:
                continue
            if self._is_enough(cause, left):
                return cause
            found.append(cause)
        # Of an exception there are few.
        if self._in_vain and not found and self._is_answered(mismatch):
            self._in_vain -= 1
        return max(found, key=lambda each: each.score, default=None)

    def _is_enough(self, cause: Fit, left: Sequence[int]) -> bool:
        """Say whether a cause explains nearly all that is left."""
        return len(cause.explained.keys() & {*left}) >= limits.NEARLY_ALL * len(left)

    def _in_pairs(self, causes: list[Fit], left: Sequence[int]) -> list[Fit]:
        """Look for two faults where single ones leave mismatches over; return all causes.

        Of two at once, many raise exceptions: those tell nothing.
        """
        answered = filter(self._is_answered, left)
        light = [i for i in answered if weight(self._mismatches[i].vector) <= limits.LIGHT]
        for i in light:
            if not self._pair_searches or self._share.is_spent or not _left([i], causes):
                continue
            self._pair_searches -= 1
            # What would explain it alone was found wanting.
            active = self._active(((fault,) for fault in self._named), i)
            known = [cause.faults[0] for cause in causes if len(cause.faults) == 1]
            cause = self._best(combinations(known, 2), i)
            if cause is None:
                cause = self._best(_pairs(known, active), i)
            if cause is None:
                cause = self._best(_pairs(self._partners(i, active), active), i)
            if cause is None and known:
                others = self._active(self._candidates.of_atoms(self._as_followed[i]), i)
                cause = self._best(_pairs(known, others), i)
            if cause is not None:
                causes = [each for each in causes if not _is_part(each, cause)]
                causes.append(cause)
        return causes

    def _active(self, candidates: Iterable[Together], mismatch: int) -> list[Fault]:
        """Return the single faults, of some, that change a mismatch and do not explain it."""
        observation = self._as_followed[mismatch]
        return [
            faults[0]
            for faults in candidates
            if self._reproductions.match(faults, observation) is Match.NO
            and self._reproductions.change(faults, observation)
        ]

    def _partners(self, mismatch: int, active: Sequence[Fault]) -> list[Fault]:
        """Return the faults that come nearest to a mismatch without explaining it."""
        observation = self._as_followed[mismatch]
        likeness = {fault: self._reproductions.likeness((fault,), observation) for fault in active}
        nearest = sorted(active, key=lambda fault: -likeness[fault])[: limits.PARTNERS]
        return [fault for fault in nearest if likeness[fault] > 0]

    def _best(
        self, candidates: Iterable[Together], mismatch: int, *, in_doubt: bool = False
    ) -> Fit | None:
        """Return the candidate that explains a mismatch and fits the others best.

        Of an exception that is one that refuses calls: whatever moves windows raises one where
        none fits, as many others do.
        """
        observation = self._as_followed[mismatch]
        observation = observation.doubted if in_doubt else observation
        candidates = (faults for faults in candidates if _may_tell(faults, observation))
        if weight(observation.vector) > limits.LIGHT:
            # Trying is slow: only what leaves a few other vectors alone is worth it.
            candidates = (
                faults
                for faults in candidates
                if not self._broken_by(faults, limits.FEW_CONFORMING)
            )
        matching = [
            (self.explained(faults, self._scored, in_doubt=in_doubt), faults)
            for faults in candidates
            if not self._share.is_spent and self._reproductions.match(faults, observation)
        ]
        # Those with names come first, of those that explain as much.
        if len(matching) > limits.LIKELIEST:
            matching.sort(
                key=lambda pair: len(self._broken_by(pair[1], limits.FEW_CONFORMING)) - len(pair[0])
            )
        causes = [
            Fit(planted(*faults), explained, self._broken_by(faults, len(self._conforming)))
            for explained, faults in matching[: limits.LIKELIEST]
        ]
        plausible = [cause for cause in causes if self._is_plausible(cause, mismatch)]
        if not plausible:
            self._doubt(causes)
            return None
        best, *others = sorted(plausible, key=lambda cause: cause.score, reverse=True)
        best.rivals = others[: limits.RIVALS]
        alike = (
            other
            for other in others
            if len(other.faults) == 1
            and not other.contradicted
            and len(other.explained) >= limits.NEARLY_AS_MUCH * len(best.explained)
        )
        best.alternatives = [*islice(alike, limits.ALTERNATIVES)]
        return best

    def _doubt(self, causes: Sequence[Fit]) -> None:
        """Remember what explains most of what was to be, where too much speaks against it."""
        likeliest = max(causes, key=lambda cause: len(cause.explained), default=None)
        if likeliest is not None and limits.ONE_IN * len(likeliest.explained) >= len(self._scored):
            self._doubtful.setdefault(likeliest.faults, likeliest)

    def _broken_by(self, faults: Together, count: int) -> frozenset[int]:
        """Return which of the first `count` conforming vectors would not conform with faults."""
        some = enumerate(self._conforming[:count])
        return frozenset(number for number, each in some if self._reproductions.show(faults, each))

    def _is_plausible(self, cause: Fit, mismatch: int) -> bool:
        """Say whether little speaks against a cause, or a condition on attributes removes it."""
        observation = self._as_followed[mismatch]
        # Of so many faults, one is like a single small failure by chance.
        named = all(fault.name for fault in cause.faults)
        if (
            len(cause.explained) == 1
            and not named
            and 0 < observation.wrong_elements < limits.TELLING
        ):
            return False
        # Whatever moves windows raises an exception where none fits: those tell causes apart alone.
        explained = [i for i in cause.explained if _may_tell(cause.faults, self._as_followed[i])]
        against = [self.others[i] for i in cause.contradicted]
        against += [self.features[i] for i in self._answered(cause, explained)]
        if not (against and explained):
            return bool(explained)
        words, kept = apart([self.features[i] for i in explained], against)
        # A few mismatches have something in common by chance; a few others are explained by chance.
        if len(kept) >= min(limits.SHARED, len(self._scored)) and 2 * len(kept) >= len(explained):
            if not self._tells_where(words, explained):
                return False
            known = self.features[explained[kept[0]]]
            cause.claim = replace(cause.claim, places=(tuple(known[word] for word in words),))
            cause.explained = {
                i: match
                for i, match in cause.explained.items()
                if self.features[i].keys() >= {*words}
            }
            met = {i for i in cause.contradicted if self.others[i].keys() >= {*words}}
            cause.set_apart = len(cause.contradicted) - len(met)
            cause.contradicted = frozenset(met)
            return True
        return 4 * len(against) <= len(explained)

    def _answered(self, cause: Fit, explained: Sequence[int]) -> list[int]:
        """Return mismatches, of those that are weighed, that a cause of exceptions refuses too."""
        refuses = all(fault.refuses for fault in cause.faults)
        if not refuses or any(map(self._is_answered, explained)):
            return []
        show, observed = self._reproductions.show, self._as_followed
        answered = (i for i in self._scored if self._is_answered(i))
        return [i for i in answered if show(cause.faults, observed[i])]

    def _tells_where(self, words: Sequence[str], explained: Sequence[int]) -> bool:
        """Say whether a cause is told by what it explains where some features are.

        Of exceptions these are nearly all that are there, and some calls there are right: else the
        features alone say as much of which calls are refused.
        """
        if any(map(self._is_answered, explained)):
            return True
        there = {
            i
            for i in range(len(self._as_followed))
            if not self._is_answered(i) and self.features[i].keys() >= {*words}
        }
        most = len(there.intersection(explained)) >= limits.NEARLY_ALL * len(there)
        return most and any(other.keys() >= {*words} for other in self.others)

    def _is_answered(self, mismatch: int) -> bool:
        return self._as_followed[mismatch].outputs is not None


def _numbers(vectors: Sequence[Vector], most: int) -> list[int]:
    """Return the numbers of vectors of as many kinds as possible."""
    return sorted(spread(range(len(vectors)), most, vectors.__getitem__))


def _may_tell(faults: Together, observation: Observation) -> bool:
    """Say whether it may tell something that faults explain a mismatch: an exception may not."""
    answered = observation.outputs is not None or observation.operator.is_gradient
    return answered or any(fault.refuses for fault in faults)


def _pairs(some: Sequence[Fault], others: Sequence[Fault]) -> Iterator[Together]:
    return ((a, b) for a in some for b in others if a.step != b.step)


def _is_part(fit: Fit, of: Fit) -> bool:
    """Say whether a fit is no cause alone: two faults at once explain that, and far more."""
    few = len(fit.explained) < limits.NEARLY_AS_MUCH * len(of.explained)
    return few and fit.faults[0] not in of.faults and fit.explained.keys() <= of.explained.keys()


def _left(mismatches: Iterable[int], causes: Iterable[Fit]) -> list[int]:
    explained = {i for cause in causes for i in cause.explained}
    return [i for i in mismatches if i not in explained]
