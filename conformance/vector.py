"""The values that flow from the sweep to the file and on to the checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from conformance import settings

_T = TypeVar("_T")
Array = np.ndarray[Any, np.dtype[Any]]
Outputs = tuple[Array, ...]  # one array per output of an operator, in its order
Combination = Mapping[str, str]  # clause name -> reading name
Tier = Literal["smoke", "standard", "exhaustive", "large"]
Provenance = Literal["printed", "derived", "computed"]
OutcomeKind = Literal["values", "raises", "anything"]

TIERS: tuple[Tier, ...] = settings.TIERS
LARGE: Tier = settings.LARGE


class Arithmetic(IntFlag):
    """What a sound arithmetic may do besides summing in a wider type, so that a bound admits it."""

    USUAL = 0
    ELEMENT_TYPE = 1
    """Sums are in the element type."""
    FLUSHED = 2
    """Subnormal numbers count as zero."""
    OVERFLOWS = 4
    """Sums or powers leave the range of their type."""


ARITHMETIC: Mapping[str, tuple[str, Arithmetic]] = MappingProxyType(
    {
        "accumulator": ("element-type", Arithmetic.ELEMENT_TYPE),
        "sum-overflow": ("overflows", Arithmetic.OVERFLOWS),
        "lp-range": ("direct", Arithmetic.OVERFLOWS),
        "subnormals": ("flushed", Arithmetic.FLUSHED),
    }
)
"""The clauses that change the bound and not the values: a reading, and what it admits."""
BACKWARD = "-backward"
"""What the name of an operator's gradient ends in: its inputs are the gradient of the operator's
first output, then the operator's own."""
UNDEFINED = -1
"""Value of `Expected.addends` that marks an element no document defines."""
TIED = -2
"""Value of `Expected.addends` that marks an index that may be that of any cell with the value."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """An operator, its attributes and its inputs, with a stable id and its origin.

    `inputs` are the arrays the backend gets. `source` cites document and section. `tier` is the
    smallest tier that holds the case. `pattern` names the data and `tags` what the case is for.
    """

    id: str
    operator: str
    attributes: Mapping[str, Any]
    inputs: tuple[Array, ...]
    tier: Tier = "standard"
    pattern: str = ""
    source: str = ""
    provenance: Provenance = "computed"
    tags: tuple[str, ...] = ()

    @property
    def own_inputs(self) -> tuple[Array, ...]:
        """The data, of shape (N, C, d1..dr), and what else the operator itself takes."""
        return own_inputs(self.operator, self.inputs)

    @property
    def data(self) -> Array:
        """The data, of shape (N, C, d1..dr)."""
        return self.own_inputs[0]

    @property
    def gradient(self) -> Array | None:
        """The gradient of the first output, if the operator is a gradient."""
        return self.inputs[0] if self.operator.endswith(BACKWARD) else None


@dataclass(frozen=True, eq=False)
class Expected:
    """What one output must be, or all elements of one type in a batch.

    `values` is the correctly rounded output; per element, flat in C order, `addends` is the number
    m of non-zero addends (UNDEFINED where any value conforms, TIED where any index of a cell of the
    window does that holds the value of the first output), `divisor` the divisor, and
    `magnitude` M = sum|x| / divisor rounded up. For a p-norm, `addends` counts roundings, `divisor`
    is -p and `magnitude` the norm. What is no sum has addends 0, divisor 1, magnitude 0: its bound
    is zero.
    """

    values: Array
    addends: npt.NDArray[np.int32]
    divisor: npt.NDArray[np.int32]
    magnitude: npt.NDArray[np.float64]

    @cached_property
    def undefined(self) -> npt.NDArray[np.int64]:
        """Places of the elements for which any value conforms, flat, ascending."""
        return np.flatnonzero(self.addends == UNDEFINED)

    @cached_property
    def infinite(self) -> npt.NDArray[np.int64]:
        """Places of the elements that are NaN or infinite and not undefined, flat, ascending."""
        if not np.issubdtype(self.values.dtype, np.inexact) and self.values.dtype.kind != "V":
            return np.zeros(0, np.int64)
        places = np.flatnonzero(~np.isfinite(self.values))
        defined: npt.NDArray[np.int64] = places[self.addends[places] != UNDEFINED]
        return defined

    def at(self, elements: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Expected:
        """Return some of the elements, flat."""
        return Expected(
            self.values.ravel()[elements],
            self.addends[elements],
            self.divisor[elements],
            self.magnitude[elements],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Arrays are the right answer: `outputs` says what each output must be, in their order.

    `arithmetic` is what the bound must admit.
    `readings` are the combinations, over the disputed clauses that apply to the vector, under
    which this is the answer.
    """

    kind: ClassVar[OutcomeKind] = "values"
    outputs: tuple[Expected, ...]
    readings: tuple[Combination, ...] = ({},)
    arithmetic: Arithmetic = Arithmetic.USUAL


@dataclass(frozen=True, slots=True, eq=False)
class Raises:
    """An exception is the right answer, under `readings` as in `Values`."""

    kind: ClassVar[OutcomeKind] = "raises"
    readings: tuple[Combination, ...] = ({},)


@dataclass(frozen=True, slots=True, eq=False)
class Anything:
    """The whole case is undefined: any answer is right but a crash."""

    kind: ClassVar[OutcomeKind] = "anything"
    readings: tuple[Combination, ...] = ({},)


Outcome = Values | Raises | Anything
"""One acceptable answer to a case."""


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A case with every outcome that conforms.

    `clauses` maps each disputed or undefined clause that applies to the case to its readings
    (empty for an undefined clause).
    """

    case: Case
    outcomes: tuple[Outcome, ...]
    clauses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def values(self) -> tuple[Values, ...]:
        """The outcomes that are arrays."""
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Values))

    def of_first(self, outputs: int) -> Vector:
        """Return the same with its first outputs alone: a backend may return no more."""
        if all(len(values.outputs) <= outputs for values in self.values):
            return self
        outcomes = (
            replace(each, outputs=each.outputs[:outputs]) if isinstance(each, Values) else each
            for each in self.outcomes
        )
        return replace(self, outcomes=tuple(outcomes))

    def under(self, readings: Combination) -> Vector:
        """Return the same with the outcomes that it has under readings, all if there is none.

        What others leave undefined is undefined there as well: a fault may be to follow those.
        """
        left = [each for each in self.outcomes if agree(each.readings, readings)]
        if len(left) in {0, len(self.outcomes)}:
            return self
        outcomes = (_as_undefined(o, self.values) if isinstance(o, Values) else o for o in left)
        return replace(self, outcomes=tuple(outcomes))


def _as_undefined(values: Values, others: Sequence[Values]) -> Values:
    """Return values that are undefined where others of the same shapes are."""
    outputs = []
    for number, expected in enumerate(values.outputs):
        addends = expected.addends.copy()
        for other in others:
            if other.outputs[number].values.shape == expected.values.shape:
                addends[other.outputs[number].undefined] = UNDEFINED
        outputs.append(replace(expected, addends=addends))
    return replace(values, outputs=tuple(outputs))


def agree(some: Sequence[Combination], readings: Combination) -> bool:
    """Say whether one of some combinations of readings has no other reading of a clause."""
    return any(all(each.get(k, v) == v for k, v in readings.items()) for each in some)


def forward_name(operator: str) -> str:
    """Return the name of the operator that a gradient is of, of any other its own."""
    return operator.removesuffix(BACKWARD)


def own_inputs(operator: str, inputs: Sequence[_T]) -> tuple[_T, ...]:
    """Return the inputs, but for the gradient of an output that a gradient takes before them."""
    return tuple(inputs[1:] if operator.endswith(BACKWARD) else inputs)


def outputs_of(returned: Array | Outputs) -> Outputs:
    """Return as a tuple what a backend returned: an array alone is the first output."""
    return returned if isinstance(returned, tuple) else (returned,)


def as_returned(outputs: Outputs) -> Array | Outputs:
    """Return outputs as a backend returns them: a single one is an array."""
    return outputs[0] if len(outputs) == 1 else outputs
