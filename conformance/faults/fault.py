"""A fault: a wrong behaviour as the forbidden replacement of steps.

A fault replaces steps as a reading does. Besides the steps of a pipeline it may replace the step
before them: `validate(call)` checks a call by roles and returns its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple

from conformance.faults.concerns import EVERY
from conformance.faults.conditions import Condition
from conformance.faults.known_bugs import KNOWN_BUGS
from conformance.faults.wraps import OnData, OnOutputs, Refusing
from conformance.operators import OPERATORS
from conformance.operators.needs import (
    Need,
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


class OwnCode(NamedTuple):
    """Code that operators of one kind have of their own, where faults of others may be, too.

    The operators meet `need`. A fault may be there that replaces no other than these `steps`, or
    any step by one of these `wraps`; its summary and its name begin with `words` and `prefix`.
    """

    words: str
    prefix: str
    need: Need
    steps: frozenset[str]
    wraps: tuple[type, ...]


BACKWARD = "backward-"
"""What the name of a fault of gradients begins with that operators have, too."""
IN_GRADIENT = OwnCode(
    "in the gradient, ",
    BACKWARD,
    is_gradient,
    frozenset({"validate", "resolve", "pads", "extent", "windows", "gather", "divide"}),
    (OnOutputs,),
)
# An unpooling has windows that read no cell, and divides nothing.
IN_UNPOOLING = OwnCode(
    "in an unpooling, ",
    "unpool-",
    is_unpooling,
    frozenset({"validate", "resolve", "pads", "extent"}),
    (OnData, OnOutputs, Refusing),
)
OWN_CODES = (IN_GRADIENT, IN_UNPOOLING)


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
        """Say whether an operator may have the fault: if it is code of its own, one of these."""
        if any(code.need(operator) and code.need not in self.needs for code in OWN_CODES):
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

    def within(self, code: OwnCode) -> Fault | None:
        """Return the same fault in other code; None if it is not shared, or in some such already.

        What depends on earlier calls is not shared.
        """
        return _within(self, code)

    def in_gradients(self) -> Fault | None:
        """Return the same fault of gradients; None as above."""
        return self.within(IN_GRADIENT)


Together = tuple[Fault, ...]
"""Faults that are there at once."""


@cache
def _within(fault: Fault, code: OwnCode) -> Fault | None:
    for step, wrap in fault.replaces.items():
        if step not in code.steps and not isinstance(wrap, code.wraps):
            return None
    if fault.remembers or any(other.need in fault.needs for other in OWN_CODES):
        return None
    name = f"{code.prefix}{fault.name}" if fault.name else ""
    needs = (*(need for need in fault.needs if need is not is_no_gradient), code.need)
    return fault.but(name=name, summary=f"{code.words}{fault.summary}", needs=needs, bug="")
