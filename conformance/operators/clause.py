"""A clause: a place where a document needs a ruling, and the readings of a disputed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

StepWrap = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One defensible answer to a clause.

    `replaces` maps names of pipeline steps to their replacements, each made from the step it
    replaces. The readings of accumulator, subnormals and pads-not-below-kernel replace no step:
    they change which answers are accepted (operators/outcomes.py).
    """

    name: str
    summary: str
    followed_by: tuple[str, ...] = ()
    replaces: Mapping[str, StepWrap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Clause:
    """A place in a document that needs a ruling."""

    name: str
    kind: Literal["ruling", "disputed", "undefined"]
    operators: tuple[str, ...]
    document: str
    section: str
    says: str
    answer: str
    evidence: str
    readings: tuple[Reading, ...] = ()

    @property
    def default(self) -> str:
        """Name of the default reading of a disputed clause."""
        return self.readings[0].name

    def reading(self, name: str) -> Reading:
        """Return a reading by name; KeyError if there is none."""
        return {reading.name: reading for reading in self.readings}[name]


OPENVINO = ("AvgPool-1", "MaxPool-1")
AVERAGES = ("AvgPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
ALL = ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
