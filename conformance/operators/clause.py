"""A clause: a place where a document needs a ruling, and the readings of a disputed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.operators.needs import Needs
from conformance.vector import Array

StepWrap = Callable[[Callable[..., Any]], Callable[..., Any]]
GEOMETRY = frozenset({"pads", "extent", "windows", "divide"})
"""Steps that do not depend on values."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One defensible answer to a clause.

    `replaces` maps names of pipeline steps to their replacements, each made from the step it
    replaces. The readings of accumulator, subnormals and pads-not-below-kernel replace no step:
    they change which answers are accepted (operators/outcomes.py). Where `nan_is_undefined`, a
    NaN that the replaced steps compute stands for any value.
    """

    name: str
    summary: str
    followed_by: tuple[str, ...] = ()
    replaces: Mapping[str, StepWrap] = field(default_factory=dict)
    nan_is_undefined: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A place in a document that needs a ruling.

    It concerns the operators that have what it `needs`; a clause that an operator lists as its
    own (`Operator.clauses`) concerns those that list it. `concerns` says, for a clause about
    values, in which data it can make a difference. The readings of a `nested` clause each accept
    every answer that the ones before accept.
    """

    name: str
    kind: Literal["ruling", "disputed", "undefined"]
    document: str
    section: str
    says: str
    answer: str
    evidence: str
    readings: tuple[Reading, ...] = ()
    needs: Needs = field(default_factory=Needs)
    concerns: Callable[[Array], bool] = lambda _data: True
    nested: bool = False

    @property
    def default(self) -> str:
        """Name of the default reading of a disputed clause."""
        return self.readings[0].name

    @property
    def is_geometric(self) -> bool:
        """Whether some reading replaces a step of the geometry."""
        return any(reading.replaces.keys() & GEOMETRY for reading in self.readings)

    @property
    def is_of_values(self) -> bool:
        """Whether readings replace steps that compute values, and none of the geometry."""
        return not self.is_geometric and any(reading.replaces for reading in self.readings)

    def reading(self, name: str) -> Reading:
        """Return a reading by name; KeyError if there is none."""
        return {reading.name: reading for reading in self.readings}[name]
