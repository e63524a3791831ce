"""Rules that say where a backend is wrong, and which failures one explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from conformance.cases.near import Feature
from conformance.diagnosis.conditions import (
    Conjunction,
    case_at,
    holding,
    place_words,
    where_words,
)
from conformance.diagnosis.elements import Bools, Layout, layout_of
from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.instead import Instead
from conformance.vector import Case, Vector

Manner = Literal["values", "outputs", "exception", "accepted", "shape", "type"]
OF_ELEMENTS: tuple[Manner, ...] = ("values", "outputs")
"""Manners in which some elements are wrong and others right."""
NEARLY_ALL = 0.9
_SHARE: Mapping[bool, float] = {True: 1 / 2, False: 1 / 8}
"""How many elements of its place are wrong at least, of sums and of what chooses a cell."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a threshold lies: `wrong` is the value seen wrong nearest to the right ones.

    `right` is the value seen right nearest to it, where the other conditions hold; None if none
    was seen.
    """

    feature: Feature
    right: int | None
    wrong: int

    @property
    def between(self) -> int | None:
        """A value in the middle; None where there is none."""
        right = 0 if self.right is None else self.right
        middle = (right + self.wrong) // 2
        return middle if middle not in {right, self.wrong} else None

    def case(self, case: Case) -> Case | None:
        """Return a case of which elements have the value in the middle, and no larger one."""
        return None if self.between is None else case_at(case, self.feature, self.between)


@dataclass(frozen=True, slots=True)
class Rule:
    """A learned hypothesis: where a backend is wrong, or which cases it does not answer rightly.

    `places` are one or two conjunctions; what is in one of them is wrong. `manner` says how:
    values, or the case as a whole. `readings` are those that the backend follows. `instead` is what
    comes in place of right values, if that is known; of what is in a place, `some` may be right.
    """

    places: tuple[Conjunction, ...]
    manner: Manner = "values"
    readings: tuple[tuple[str, str], ...] = ()
    edges: tuple[Edge, ...] = ()
    bits: float = 0.0
    instead: Instead | None = None
    some: bool = False

    @property
    def words(self) -> str:
        """What is wrong, in words."""
        what = (_SOME if self.some else _MANNERS)[self.manner]
        if self.some and self.places == ((),):
            return what
        return f"{what} {'; also '.join(map(place_words, self.places))}"

    @property
    def where(self) -> str:
        """In which cases something is wrong, in words that complete "where ..."; "" in all."""
        return where_words((self.places,))

    def wrong(self, vector: Vector) -> Bools | None:
        """Mark the defined elements of the first output that may be wrong; None if it has none."""
        layout = self._layout(vector)
        if self.manner not in OF_ELEMENTS or layout.expected is None:
            return None
        marked = np.zeros(layout.shape, np.bool_)
        for place in self.places:
            marked |= holding(place, layout)
        return marked & layout.defined

    def shown(self, vector: Vector, *, told: bool = False) -> Bools | None:
        """Mark those of them that differ from what comes instead, so far as it is known.

        Those of which that says nothing are marked, too, unless only what is `told` is asked for.
        """
        wrong = self.wrong(vector)
        if wrong is None or self.instead is None or not wrong.any():
            return wrong
        differs = self.instead.shows(vector, dict(self.readings), told=told)
        return wrong if differs is None else wrong & differs

    def fails(self, vector: Vector) -> bool:
        """Say whether the backend fails a vector."""
        if self.manner in OF_ELEMENTS:
            shown = self.shown(vector)
            return shown is not None and bool(shown.any())
        layout = self._layout(vector)
        return any(bool(holding(place, layout).all()) for place in self.places)

    @property
    def shorter(self) -> Iterator[Rule]:
        """The rules with one condition less."""
        for number, place in enumerate(self.places):
            for condition in place:
                rest = tuple(other for other in place if other is not condition)
                places = (*self.places[:number], rest, *self.places[number + 1 :])
                yield replace(self, places=places)

    def prediction(self, vector: Vector) -> bytes | bool:
        """Return what it says of a vector, to be compared with what another rule says."""
        if self.manner not in OF_ELEMENTS:
            return self.fails(vector)
        wrong = self.wrong(vector)
        return b"" if wrong is None or not wrong.any() else wrong.tobytes()

    def predicts(self, sample: Sample) -> bool:
        """Say whether the backend did so: what is wrong lies where it may be, and most is there."""
        if self.manner not in OF_ELEMENTS:
            return self.fails(sample.vector) == (manner_of(sample) == self.manner)
        sample = self.seen(sample)
        wrong, shown = self.wrong(sample.vector), self.shown(sample.vector)
        if shown is None or wrong is None or sample.wrong is None:
            return not sample.failed and (wrong is None or not wrong.any())
        if wrong.shape != sample.wrong.shape or (sample.failed and not sample.wrong.any()):
            return False
        if (sample.wrong & ~wrong).any():
            return False
        layout = self._layout(sample.vector)
        if self.instead is not None:
            alike, told = self.instead.matches(sample, layout)
            if alike < told:
                return False
        # A fault that misses a cell shows in a maximum where that cell is the largest; but where it
        # is known what the elements are, it is known which of them differ.
        known = self.instead is not None and not self.some
        share = NEARLY_ALL if known else _SHARE[layout.operator.reduction.sums]
        return not layout.tells or int(sample.wrong.sum()) >= share * int(shown.sum())

    def seen(self, sample: Sample) -> Sample:
        """Return a sample with what is wrong in the output that the rule is about."""
        return sample.of_further if self.manner == "outputs" else sample

    def explains(self, sample: Sample) -> bool:
        """See Hypothesis."""
        return manner_of(sample) == self.manner and self.predicts(sample)

    def _layout(self, vector: Vector) -> Layout:
        return layout_of(vector, dict(self.readings))


_MANNERS: Mapping[Manner, str] = {
    "values": "wrong values",
    "exception": "an exception",
    "accepted": "a result for an invalid case",
    "shape": "an output of another shape",
    "type": "an output of another type",
    "outputs": "wrong values of a further output",
}


_SOME: Mapping[Manner, str] = {
    "values": "some values are wrong",
    "outputs": "some values of a further output are wrong",
}
"""What is said where of a place only some elements are wrong."""


def manner_of(sample: Sample) -> Manner | None:
    """Return how a sample failed; None if it did not."""
    if not sample.failed:
        return None
    if sample.outputs is None:
        return "exception"
    if not sample.vector.values:
        return "accepted"
    if sample.further is not None:
        return "outputs"
    if sample.wrong is None:
        shapes = [[each.values.shape for each in o.outputs] for o in sample.vector.values]
        return "type" if [each.shape for each in sample.outputs] in shapes else "shape"
    return "values"
