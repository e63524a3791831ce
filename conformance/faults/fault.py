"""A fault: a wrong behaviour as the forbidden replacement of steps.

A fault replaces steps as a reading does. Besides the steps of a pipeline it may replace the step
before them: `validate(call)` checks a call by roles and returns its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cache
from typing import Any

from conformance.faults.concerns import EVERY
from conformance.faults.conditions import Condition
from conformance.faults.known_bugs import KNOWN_BUGS
from conformance.faults.wraps import OnData, OnOutputs, Refusing
from conformance.operators import OPERATORS
from conformance.operators.needs import (
    UNPOOLINGS,
    Needs,
    all_of,
    is_gradient,
    is_no_gradient,
    is_unpooling,
    meets,
)
from conformance.operators.operator import Operator
from conformance.operators.pipeline import Pipeline
from conformance.operators.wraps import StepWrap

STEPS = ("validate", *(step.name for step in fields(Pipeline)))
"""Every step a fault may replace, in the order they run."""
BACKWARD = "backward-"
"""What the name of a fault of gradients begins with that operators have, too."""
IN_GRADIENT = "in the gradient, "
"""What its summary begins with."""
IN_UNPOOLING = "in an unpooling, "
"""What the summary of a fault of unpoolings begins with that other operators have, too."""
_OF_GRADIENTS = {"validate", "resolve", "pads", "extent", "windows", "gather", "divide"}
"""Steps that a gradient shares with its operator, in whatever code it has them."""
_OF_UNPOOLINGS = {"validate", "resolve", "pads", "extent"}
"""Steps that an unpooling has, too: its windows read no cell, and nothing is divided."""


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A wrong behaviour.

    `summary` completes the sentence "the mismatches are reproduced by: ...". The fault concerns
    the operators that meet `needs`. `replaces` maps names of steps to functions that take the step
    and return its replacement; the fault belongs to the first of these steps. `bug` names an entry
    of KNOWN_BUGS. If it `remembers`, outputs depend on earlier calls: the replacements hold state,
    and are made once per backend. It has a `name` if the catalogue gives it one.
    """

    summary: str
    needs: Needs
    replaces: Mapping[str, StepWrap]
    bug: str = ""
    _: KW_ONLY
    remembers: bool = False
    name: str = ""

    @classmethod
    def of(cls, **replaces: StepWrap) -> Fault:
        """Return a fault that replaces steps, given by name: the table has words and needs."""
        return cls("", EVERY, replaces)

    @property
    def step(self) -> str:
        """The step the fault belongs to."""
        return next(iter(self.replaces))

    @property
    def refuses(self) -> bool:
        """Whether it refuses valid calls by intent: others do so where no window fits."""
        return any(isinstance(wrap, Refusing) for wrap in self.replaces.values())

    @property
    def threads(self) -> tuple[str, ...]:
        """URLs of public reports of the same behaviour."""
        return KNOWN_BUGS.get(self.bug, ())

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators that it concerns, installed packages included."""
        return tuple(name for name, operator in OPERATORS.items() if self.concerns(operator))

    def concerns(self, operator: Operator) -> bool:
        """Say whether an operator may have the fault.

        A gradient is code of its own, and so is an unpooling: only faults of these concern them.
        """
        if operator.is_gradient and is_gradient not in self.needs:
            return False
        if operator.scatters and is_unpooling not in self.needs:
            return False
        return meets(operator, self.needs)

    def but(self, **changes: Any) -> Fault:
        """Return it with other fields."""
        return replace(self, **changes)

    def where(self, condition: Condition) -> Fault:
        """Restrict a fault of steps after `validate` to calls that meet a condition."""
        replaces = {step: condition.only(wrap) for step, wrap in self.replaces.items()}
        summary, needs = f"{self.summary}{condition.words}", all_of(self.needs, condition.needs)
        return self.but(summary=summary, needs=needs, replaces=replaces, bug="")

    def in_gradients(self) -> Fault | None:
        """Return the same fault of gradients; None for one of gradients, or of steps of their own.

        What becomes of an output is theirs, too.
        """
        return _in_gradients(self)

    def in_unpoolings(self) -> Fault | None:
        """Return the same fault of unpoolings; None as above.

        What data are read, what becomes of an output, and what is refused are theirs, too.
        """
        return _in_unpoolings(self)


Together = tuple[Fault, ...]
"""Faults that are there at once."""


def _is_of(fault: Fault, steps: set[str], *wraps: type) -> bool:
    """Say whether operators of other code, which share some steps and wraps, may have a fault."""
    shared = all(step in steps or isinstance(wrap, wraps) for step, wrap in fault.replaces.items())
    is_of_others = is_gradient in fault.needs or is_unpooling in fault.needs
    return shared and not is_of_others and not fault.remembers


@cache
def _in_gradients(fault: Fault) -> Fault | None:
    if not _is_of(fault, _OF_GRADIENTS, OnOutputs):
        return None
    name = f"{BACKWARD}{fault.name}" if fault.name else ""
    needs = (*(need for need in fault.needs if need is not is_no_gradient), is_gradient)
    return fault.but(name=name, summary=f"{IN_GRADIENT}{fault.summary}", needs=needs, bug="")


@cache
def _in_unpoolings(fault: Fault) -> Fault | None:
    if not _is_of(fault, _OF_UNPOOLINGS, OnData, OnOutputs, Refusing):
        return None
    summary, needs = f"{IN_UNPOOLING}{fault.summary}", (*fault.needs, *UNPOOLINGS)
    return fault.but(name="", summary=summary, needs=needs, bug="")
