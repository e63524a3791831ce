"""A claim: what is wrong with a backend, and where. Every cause is one, supposed or confirmed.

A claim is a value. What a backend would do of which it is true, `Predictions` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from conformance.diagnosis.conditions import Places, place_words, where_words
from conformance.diagnosis.sample import OF_ELEMENTS, Manner
from conformance.diagnosis.substitutes import Instead
from conformance.faults.fault import IN_GRADIENT, Fault, Together

EVERYWHERE: Places = ((),)
TOGETHER = ", together with: "


@dataclass(frozen=True, slots=True)
class Planted:
    """The backend answers as if it had faults, all of them at once."""

    faults: Together


@dataclass(frozen=True, slots=True)
class Substitute:
    """Its answers are wrong in one `manner`.

    `instead` is what comes in place of right values, if that is known. Of the elements that may be
    wrong, `some` says that others are right, and about so large a `share` is wrong.
    """

    manner: Manner = "values"
    instead: Instead | None = None
    some: bool = False
    share: float = 1.0

    @property
    def words(self) -> str:
        """What is wrong, in words."""
        return (_SOME if self.some else _MANNERS)[self.manner]


@dataclass(frozen=True, slots=True)
class Claim:
    """What is wrong in one of some places: elements of outputs, or whole cases."""

    what: Planted | Substitute
    places: Places = EVERYWHERE

    @property
    def faults(self) -> Together:
        """The faults that it says are there; none where it says what answers are."""
        return self.what.faults if isinstance(self.what, Planted) else ()

    @property
    def substitute(self) -> Substitute | None:
        """What it says of answers; None where it says which faults are there."""
        return self.what if isinstance(self.what, Substitute) else None

    @property
    def is_of_elements(self) -> bool:
        """Whether it says which elements of outputs are wrong, and nothing of faults."""
        return self.substitute is not None and self.substitute.manner in OF_ELEMENTS

    @property
    def is_whole(self) -> bool:
        """Whether it says of every element if it is wrong."""
        return self.substitute is None or not self.substitute.some

    @property
    def words(self) -> str:
        """What is wrong, in words that complete "the failures are caused by: ..."."""
        if isinstance(self.what, Planted):
            return behaviour_of(self.faults) + (f", where {self.where}" if self.where else "")
        instead = "" if self.what.instead is None else f": they are {self.what.instead.words}"
        if self.what.some and self.places == EVERYWHERE:
            return f"{self.what.words}{instead}"
        return f"{self.what.words} {'; also '.join(map(place_words, self.places))}{instead}"

    @property
    def where(self) -> str:
        """In which cases something is wrong, in words that complete "where ..."; "" in all."""
        return where_words(self.places)

    @property
    def shorter(self) -> Iterator[Claim]:
        """The same claims with one condition less."""
        for number, place in enumerate(self.places):
            for condition in place:
                rest = tuple(other for other in place if other is not condition)
                places = (*self.places[:number], rest, *self.places[number + 1 :])
                yield replace(self, places=places)


def planted(*faults: Fault) -> Claim:
    """Return the claim that a backend has faults, whatever the case."""
    return Claim(Planted(faults))


def with_gradients(faults: Together) -> Together:
    """Return a fault together with the same one of gradients, if they can have it."""
    backward = faults[0].in_gradients() if len(faults) == 1 else None
    return faults if backward is None else (*faults, backward)


def behaviour_of(faults: Together) -> str:
    """Return what faults do, in words: what gradients do as well is said once."""
    match [*faults]:
        case [one, other] if other.summary == f"{IN_GRADIENT.words}{one.summary}":
            return f"{one.summary}, in gradients too"
    return TOGETHER.join(fault.summary for fault in faults)


_MANNERS: Mapping[Manner, str] = {
    "values": "wrong values",
    "exception": "an exception",
    "crash": "a crash",
    "hang": "no answer in time",
    "accepted": "a result for an invalid case",
    "shape": "an output of another shape",
    "type": "an output of another type",
    "outputs": "wrong values of a further output",
    "any": "an exception or a wrong result",
}
_SOME: Mapping[Manner, str] = {
    "values": "some values are wrong",
    "outputs": "some values of a further output are wrong",
}
"""What is said where of a place only some elements are wrong."""
