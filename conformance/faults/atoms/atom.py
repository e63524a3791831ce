"""An atom: words, and what is read, counted, moved or computed in place of what should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from conformance.faults.concerns import EVERY, VOLUMETRIC
from conformance.faults.fault import Fault
from conformance.operators.needs import Needs, all_of
from conformance.operators.wraps import StepWrap

Of = TypeVar("Of")
Value = TypeVar("Value")


class Atom(NamedTuple, Generic[Of]):
    """Words that say what is wrong within a summary, what is done then, and who may do it."""

    words: str
    of: Of
    needs: Needs = EVERY


class Place(NamedTuple, Generic[Of]):
    """A place where atoms may be: a summary with {} for their words, who has it, and a step.

    `wrap` makes a replacement of the step from what an atom does.
    """

    summary: str
    needs: Needs
    step: str
    wrap: Callable[[Of], StepWrap]

    def fault(self, atom: Atom[Of]) -> Fault:
        """Return the fault of an atom in this place."""
        summary, needs = self.summary.format(atom.words), all_of(self.needs, atom.needs)
        return Fault(summary, needs, {self.step: self.wrap(atom.of)})


ORDINALS = ("first", "second", "third")


class OneAxis(NamedTuple):
    """A spatial axis by its place: of any, or only where there are so many."""

    place: int
    axes: int | None = None

    @property
    def words(self) -> str:
        """Say which it is."""
        if self.axes is None:
            return f"the {'last' if self.place else 'first'} axis"
        return f"the {ORDINALS[self.place]} of three axes"

    @property
    def needs(self) -> Needs:
        """Who has it."""
        return EVERY if self.axes is None else VOLUMETRIC

    def among(self, axes: int) -> int | None:
        """Return which of so many axes it is; None if it is none."""
        return range(axes)[self.place] if axes == (self.axes or axes) else None

    def put(self, right: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what is right of each axis, but for the other of this one."""
        this, both = self.among(len(right)), zip(right, other, strict=True)
        return tuple(there if i == this else here for i, (here, there) in enumerate(both))


ENDS = (OneAxis(0), OneAxis(-1))
FIRST_OF_THREE, SECOND_OF_THREE = OneAxis(0, axes=3), OneAxis(1, axes=3)
ANY_AXIS = (*ENDS, FIRST_OF_THREE, SECOND_OF_THREE)


def family(words: str, values: Iterable[Value], of: Callable[[Value], Of]) -> Iterator[Atom[Of]]:
    """Yield the atom `of` each value, with the value in place of {} in the words."""
    for value in values:
        yield Atom(words.format(value), of(value))


def faults(
    summary: str, needs: Needs, step: str, wrap: Callable[[Of], StepWrap], atoms: Iterable[Atom[Of]]
) -> Iterator[Fault]:
    """Yield the fault of each atom in one place."""
    yield from map(Place(summary, needs, step, wrap).fault, atoms)
