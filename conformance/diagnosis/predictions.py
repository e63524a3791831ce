"""What a backend would answer of which a claim is true, under the readings that it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from conformance.budget import Budget
from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim, Substitute
from conformance.diagnosis.conditions import any_holds, holding
from conformance.diagnosis.elements import Layout, layout_of
from conformance.diagnosis.reproduce import Observation, Reproductions
from conformance.diagnosis.sample import OF_ELEMENTS, Bools, Sample
from conformance.faults.baseline import Raised
from conformance.faults.fault import Fault, Together
from conformance.reference.rounding import Doubles, equal_numbers, widen
from conformance.vector import Case, Combination, Vector

_SHARE: Mapping[bool, float] = {True: 1 / 2, False: 1 / 8}
"""How many elements of its place are wrong at least, of sums and of what chooses a cell."""


class Predictions:
    """What claims say of vectors, and whether a backend did so.

    `readings` gives those of disputed clauses that it follows in a vector. What planted faults make
    of vectors is counted in a `budget`.
    """

    def __init__(
        self, readings: Callable[[Vector], Combination], budget: Budget | None = None
    ) -> None:
        self.readings = readings
        self.budget = budget or Budget()
        self.reproductions = Reproductions(self.budget)
        self._observed: dict[tuple[int, tuple[bytes, ...] | None], Observation] = {}
        self._unanswered: dict[int, Observation] = {}
        self._values: dict[tuple[Together, int], Doubles | None] = {}

    def layout(self, vector: Vector) -> Layout:
        """Return the elements of a vector and their features."""
        return layout_of(vector, self.readings(vector))

    def fails(self, claim: Claim, vector: Vector) -> bool:
        """Say whether a claim predicts that the backend fails a vector."""
        if claim.is_of_elements:
            shown = self.shown(claim, vector)
            return shown is not None and bool(shown.any())
        if not self.applies(claim, vector):
            return False
        return not claim.faults or self.reproductions.show(claim.faults, self.unanswered(vector))

    def changes(self, claim: Claim, case: Case) -> bool:
        """Say whether faults of a claim change the answer to a case under the first readings.

        That takes a part of the work of `fails`, which asks for all that conforms.
        """
        vector = Vector(case, ())
        observation = Observation(vector, None, self.readings(vector))
        return self.reproductions.change(claim.faults, observation)

    def applies(self, claim: Claim, vector: Vector) -> bool:
        """Say whether the conditions of a claim hold in a whole case."""
        if not any(claim.places):
            return True
        layout = self.layout(vector)
        return any(bool(holding(place, layout).all()) for place in claim.places)

    def predicts(self, claim: Claim, sample: Sample) -> bool:
        """Say whether the backend did what a claim predicts, failure or not."""
        what = claim.substitute
        if what is None:
            if not self.fails(claim, sample.vector):
                return not sample.failed
            return sample.failed and self.reproduces(claim.faults, sample)
        if what.manner not in OF_ELEMENTS:
            return self.fails(claim, sample.vector) == sample.failed_in(what.manner)
        if what.some and self.fails(claim, sample.vector):
            return self._holds(claim, sample)
        return self._is_as_shown(claim, what, sample)

    def explains(self, claim: Claim, sample: Sample) -> bool:
        """Say whether a failure is what a claim predicts, or what may come of it.

        It is, too, where a reading that is not followed makes that right, or where it cannot be
        told from another fault that is as small as rounding; and where a part of what may be wrong
        is.
        """
        what = claim.substitute
        if what is None:
            applies = self.applies(claim, sample.vector)
            return applies and self.reproduces(claim.faults, sample, telling=False)
        if what.manner not in OF_ELEMENTS:
            return sample.failed_in(what.manner) and self.predicts(claim, sample)
        if what.instead is None:
            return self._holds(claim, sample)
        alike, told = what.instead.matches(sample, self.layout(sample.vector))
        return 0 < told == alike and self._holds(claim, sample)

    def is_exactly(self, claim: Claim, sample: Sample) -> bool:
        """Say whether a failure is what a claim predicts, to the bit where it says of values."""
        what = claim.substitute
        if what is None:
            applies = self.applies(claim, sample.vector)
            return applies and self.reproduces(claim.faults, sample)
        if not sample.failed_in(what.manner):
            return False
        if what.instead is None:
            return self.fails(claim, sample.vector)
        values = what.instead.exact(self.layout(sample.vector))
        marked = self.marked(claim, sample.vector)
        shown = self.shown(claim, sample.vector, told=True)
        if marked is None or shown is None or values is None:
            return False
        assert sample.wrong is not None
        assert sample.outputs is not None
        wrong, got = sample.wrong, sample.outputs[0]
        if (wrong.shape, got.dtype) != (values.shape, values.dtype):
            return False
        may_be = not (wrong & ~(marked & equal_numbers(got, values))).any()
        return bool(wrong.any() and may_be and not (shown & ~wrong).any())

    def prediction(self, claim: Claim, vector: Vector) -> bytes | bool:
        """Return what a claim says of a vector, to be compared with what another one says."""
        if not claim.is_of_elements:
            return self.fails(claim, vector)
        marked = self.marked(claim, vector)
        return b"" if marked is None or not marked.any() else marked.tobytes()

    # Elements

    def marked(self, claim: Claim, vector: Vector) -> Bools | None:
        """Mark the defined elements of the first output that may be wrong.

        None if there are none, or if the claim does not say so of elements.
        """
        layout = self.layout(vector) if claim.is_of_elements else None
        if layout is None or layout.expected is None:
            return None
        return any_holds(claim.places, layout) & layout.defined

    def shown(self, claim: Claim, vector: Vector, *, told: bool = False) -> Bools | None:
        """Mark those of them that differ from what comes instead, so far as it is known.

        Those of which that says nothing are marked, too, unless only what is `told` is asked for.
        """
        marked = self.marked(claim, vector)
        what = claim.substitute
        if marked is None or what is None or what.instead is None or not marked.any():
            return marked
        differs = what.instead.shows(self.layout(vector), told=told)
        return marked if differs is None else marked & differs

    def may_hide(self, claim: Claim, vector: Vector) -> bool:
        """Say whether a vector may conform that a claim says fails.

        A reading that is not followed elsewhere may hide a fault, and equal values that elements
        are wrong: not where it is said of one what it is, and that this is not what is right.
        """
        if claim.faults:
            return not self.reproductions.show(claim.faults, self.unanswered(vector).doubted)
        what = claim.substitute
        if what is None or what.manner not in (*OF_ELEMENTS, "any"):
            return False
        if what.instead is None or what.some:
            return True
        told = self.shown(claim, vector, told=True)
        return told is None or not told.any()

    def is_telling(self, claim: Claim, vector: Vector) -> bool:
        """Say whether a case tells something of a claim: of many elements some have to be wrong.

        Of a fault none does whose powers may leave their range, which may be right by chance.
        """
        what = claim.substitute
        if what is None:
            return not self.unanswered(vector).may_leave_range
        if not what.some:
            return True
        marked = self.marked(claim, vector)
        if marked is None or not marked.any():
            return True
        return int(marked.sum()) * -log(1 - min(what.share, limits.NEARLY_ALL)) >= -log(
            limits.CHANCE
        )

    def with_share(self, claim: Claim, samples: Iterable[Sample]) -> Claim:
        """Return a claim about elements with the share of them that is wrong in samples."""
        what = claim.substitute
        if what is None or what.manner not in OF_ELEMENTS:
            return claim
        shares = []
        for sample in samples:
            wrong, marked = self._compared(claim, sample)
            if self._holds(claim, sample) and wrong is not None and marked is not None:
                shares.append((wrong & marked).sum() / max(1, marked.sum()))
        share = max(limits.LEAST_WRONG, float(np.quantile(shares, 0.1)) if shares else 1.0)
        return replace(claim, what=replace(what, share=share))

    def _is_as_shown(self, claim: Claim, what: Substitute, sample: Sample) -> bool:
        """Say whether what is wrong lies where it may be, and most is there."""
        sample = _seen(what, sample)
        marked, shown = self.marked(claim, sample.vector), self.shown(claim, sample.vector)
        if shown is None or marked is None or sample.wrong is None:
            return not sample.failed and (marked is None or not marked.any())
        if marked.shape != sample.wrong.shape or (sample.failed and not sample.wrong.any()):
            return False
        if (sample.wrong & ~marked).any():
            return False
        layout = self.layout(sample.vector)
        if what.instead is not None:
            alike, told = what.instead.matches(sample, layout)
            if alike < told:
                return False
        # A fault that misses a cell shows in a maximum where that cell is the largest; but where it
        # is known what the elements are, it is known which of them differ.
        known = what.instead is not None and not what.some
        share = limits.NEARLY_ALL if known else _SHARE[layout.operator.reduction.sums]
        return not layout.tells or int(sample.wrong.sum()) >= share * int(shown.sum())

    def _holds(self, claim: Claim, sample: Sample) -> bool:
        """Say whether elements are wrong, and none but those that may be."""
        wrong, marked = self._compared(claim, sample)
        if wrong is None or marked is None:
            return False
        return bool(wrong.any() and not (wrong & ~marked).any())

    def _compared(self, claim: Claim, sample: Sample) -> tuple[Bools | None, Bools | None]:
        """Return which elements are wrong, and which may be; None where shapes differ."""
        assert claim.substitute is not None
        wrong = _seen(claim.substitute, sample).wrong
        marked = self.marked(claim, sample.vector)
        same = wrong is not None and marked is not None and wrong.shape == marked.shape
        return (wrong, marked) if same else (None, None)

    # Faults

    def reproduces(self, faults: Together, sample: Sample, *, telling: bool = True) -> bool:
        """Say whether a backend that has faults would answer as the backend did.

        It may differ by rounding, but by less than from what is right, if that is `telling`.
        """
        observed = self.observation(sample)
        return any(
            self.reproductions.match(faults, each, telling=telling)
            for each in (observed, observed.doubted)
        )

    def reproduces_in_part(self, faults: Together, sample: Sample) -> bool:
        """Say whether it would answer so in nearly all that the faults make wrong."""
        if not sample.outputs:
            return False
        for answer, baseline in self.reproductions.answers(faults, self.observation(sample)):
            right = baseline.pooled
            if isinstance(answer, Raised) or right is None:
                continue
            first = (answer[0], right.outputs[0], sample.outputs[0])
            if len({(array.dtype, array.shape) for array in first}) == 1:
                wrong, expected, returned = map(widen, first)
                differs = ~equal_numbers(wrong, expected)
                alike = equal_numbers(wrong, returned)[differs]
                if alike.size and alike.mean() >= limits.NEARLY_ALL:
                    return True
        return False

    def reproduces_with(
        self, faults: Together, others: Sequence[Fault], sample: Sample
    ) -> bool | None:
        """Say whether it would answer so if one of other faults were there, too.

        None where such a fault does so alone, and hides these: with them it does so as well. Of
        exceptions, two faults at once may raise many: they are no evidence.
        """
        others = [other for other in others if other not in faults]
        alone = [other for other in others if self.reproduces((other,), sample)]
        if sample.outputs is None:
            return None if alone else False
        together = any(self.reproduces((*faults, other), sample) for other in alone or others)
        return None if alone and together else together

    def is_right_in_part(self, faults: Together, sample: Sample) -> bool:
        """Say whether some element of a failure is right that faults would make wrong."""
        values = self.values(faults, sample.vector)
        if values is None or sample.wrong is None or sample.defined is None:
            return False
        right = widen(sample.vector.values[0].outputs[0].values)
        if not values.shape == right.shape == sample.wrong.shape:
            return False
        return bool((differ(values, right) & sample.defined & ~sample.wrong).any())

    def values(self, faults: Together, vector: Vector) -> Doubles | None:
        """Return what it would make of the first output; None if that has another shape or type."""
        key = faults, id(vector)
        if key not in self._values:
            observation = self.unanswered(vector)
            right = observation.baselines[0][1].right
            answer = next(iter(self.reproductions.answers(faults, observation)), (right,))[0]
            self._values[key] = None
            if not isinstance(right, Raised) and not isinstance(answer, Raised):
                one, other = answer[0], right[0]
                if (one.shape, one.dtype) == (other.shape, other.dtype):
                    self._values[key] = widen(one)
        return self._values[key]

    def observation(self, sample: Sample) -> Observation:
        """Return a sample under the readings followed: the same again for the same answer."""
        vector, outputs = sample.vector, sample.outputs
        answer = None if outputs is None else tuple(output.tobytes() for output in outputs)
        key = id(vector), answer
        if key not in self._observed:
            self._observed[key] = Observation(vector, outputs, self.readings(vector))
            self._unanswered.setdefault(id(vector), self._observed[key])
        return self._observed[key]

    def unanswered(self, vector: Vector) -> Observation:
        """Return a vector of which no answer is known, or matters."""
        if id(vector) not in self._unanswered:
            self._unanswered[id(vector)] = Observation(vector, None, self.readings(vector))
        return self._unanswered[id(vector)]


def differ(one: Doubles, other: Doubles) -> Bools:
    """Say where values differ by more than rounding makes of the largest."""
    most = np.abs(other[np.isfinite(other)]).max(initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(one - other) <= limits.APART * most
    return np.asarray(~(near | equal_numbers(one, other)))


def _seen(what: Substitute, sample: Sample) -> Sample:
    """Return a sample with what is wrong in the output that a claim is about."""
    return sample.of_further if what.manner == "outputs" else sample
