"""Faults of the catalogue as hypotheses: what the backend would answer if it had them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.budget import Budget
from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.reproduce import Observation, Reproductions
from conformance.diagnosis.rules import Rule
from conformance.faults.baseline import Raised
from conformance.faults.fault import IN_GRADIENT, Fault, Together
from conformance.reference.rounding import Doubles, widen
from conformance.vector import Combination, Outputs, Vector

TOGETHER = ", together with: "


def with_gradients(faults: Together) -> Together:
    """Return a fault together with the same one of gradients, if they can have it."""
    backward = faults[0].in_gradients() if len(faults) == 1 else None
    return faults if backward is None else (*faults, backward)


def behaviour_of(faults: Together) -> str:
    """Return what faults do, in words: what gradients do as well is said once."""
    match [*faults]:
        case [one, other] if other.summary == f"{IN_GRADIENT}{one.summary}":
            return f"{one.summary}, in gradients too"
    return TOGETHER.join(fault.summary for fault in faults)


class Planting:
    """What planted faults make of vectors, under the readings that a backend follows.

    Answers are counted in a `budget`.
    """

    def __init__(
        self, readings: Callable[[Vector], Combination], budget: Budget | None = None
    ) -> None:
        self.readings = readings
        self.budget = budget or Budget()
        self.reproductions = Reproductions(self.budget)
        self._observed: dict[int, Observation] = {}
        self._unanswered: dict[int, Observation] = {}
        self._values: dict[tuple[Together, int], Doubles | None] = {}

    def shows(self, faults: Together, vectors: Sequence[Vector]) -> list[bool]:
        """Say of each vector whether a backend that has faults, and no others, fails it."""
        return self.reproductions.shows(faults, [*map(self.unanswered, vectors)])

    def shows_in_doubt(self, faults: Together, vector: Vector) -> bool:
        """Say whether a backend that has faults fails a vector under other readings, too.

        Those that it seems to follow may be an effect of the faults.
        """
        return self.reproductions.shows(faults, [self.unanswered(vector).doubted])[0]

    def reproduces(self, faults: Together, sample: Sample, *, telling: bool = True) -> bool:
        """Say whether a backend that has faults would answer as the backend did.

        It may differ by rounding, but by less than from what is right, if that is `telling`.
        """
        return self.reproductions.reproduce(faults, self.observation(sample), telling=telling)

    def reproduces_in_part(self, faults: Together, sample: Sample) -> bool:
        """Say whether it would answer so in all elements that the faults make wrong."""
        return self.reproductions.reproduce_in_part(faults, self.observation(sample))

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
        """Return a sample under the readings that the backend follows."""
        return self.observed(sample.vector, sample.outputs)

    def observed(self, vector: Vector, outputs: Outputs | None) -> Observation:
        """Return a vector and what the backend made of it, which it is asked for once."""
        if id(vector) not in self._observed:
            self._observed[id(vector)] = Observation(vector, outputs, self.readings(vector))
        return self._observed[id(vector)]

    def unanswered(self, vector: Vector) -> Observation:
        """Return a vector of which no answer is known, or matters."""
        if id(vector) in self._observed:
            return self._observed[id(vector)]
        if id(vector) not in self._unanswered:
            self._unanswered[id(vector)] = Observation(vector, None, self.readings(vector))
        return self._unanswered[id(vector)]


@dataclass(frozen=True, slots=True, eq=False)
class FaultHypothesis:
    """The backend has faults, all of them at once, perhaps under a condition alone."""

    faults: Together
    planting: Planting
    condition: Rule | None = None

    @property
    def words(self) -> str:
        """What is wrong; see Hypothesis."""
        where = f", where {self.where}" if self.where else ""
        return behaviour_of(self.faults) + where

    @property
    def where(self) -> str:
        """The condition in words; "" without one."""
        return "" if self.condition is None else self.condition.where

    @property
    def is_of_gradients(self) -> bool:
        """Whether gradients alone can have it."""
        return any(fault.needs.gradient for fault in self.faults)

    def fails(self, vector: Vector) -> bool:
        """See Hypothesis."""
        met = self.condition is None or self.condition.fails(vector)
        return met and self.planting.shows(self.faults, [vector])[0]

    def may_conform(self, vector: Vector) -> bool:
        """Say whether a vector on which it shows may be right under other readings."""
        return not self.planting.shows_in_doubt(self.faults, vector)

    def prepare(self, vectors: Sequence[Vector]) -> None:
        """Work out for several vectors at once, which is faster, whether they fail."""
        self.planting.shows(self.faults, vectors)

    def predicts(self, sample: Sample) -> bool:
        """See Hypothesis."""
        if not self.fails(sample.vector):
            return not sample.failed
        return sample.failed and self.planting.reproduces(self.faults, sample)

    def explains(self, sample: Sample) -> bool:
        """Say whether it answers so, even where a reading that is not followed makes that right.

        A failure need not tell it from another fault that is as small as rounding.
        """
        met = self.condition is None or self.condition.fails(sample.vector)
        return met and self.planting.reproduces(self.faults, sample, telling=False)

    def predicts_in_part(self, sample: Sample) -> bool:
        """Say whether all that it makes wrong is as predicted, though more is wrong."""
        return self.planting.reproduces_in_part(self.faults, sample)

    def predicts_with(self, others: Sequence[Fault], sample: Sample) -> bool | None:
        """Say whether it predicts what the backend did, where one of other faults is there too.

        None where such a fault does so alone: it hides this one. Of exceptions, two faults at once
        may raise many: they are no evidence.
        """
        reproduces = self.planting.reproduces
        others = [other for other in others if other not in self.faults]
        if any(reproduces((other,), sample) for other in others):
            return None
        return sample.outputs is not None and any(
            reproduces((*self.faults, other), sample) for other in others
        )
