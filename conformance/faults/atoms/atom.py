"""An atom: words, and what is read, counted, moved or computed in place of what should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from conformance.faults.concerns import EVERY
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


def family(words: str, values: Iterable[Value], of: Callable[[Value], Of]) -> Iterator[Atom[Of]]:
    """Yield the atom `of` each value, with the value in place of {} in the words."""
    for value in values:
        yield Atom(words.format(value), of(value))


def faults(
    summary: str, needs: Needs, step: str, wrap: Callable[[Of], StepWrap], atoms: Iterable[Atom[Of]]
) -> Iterator[Fault]:
    """Yield the fault of each atom in one place."""
    yield from map(Place(summary, needs, step, wrap).fault, atoms)
