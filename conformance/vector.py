"""The values that flow from the sweep to the file and on to the checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = np.ndarray[Any, np.dtype[Any]]
Outputs = tuple[Array, ...]  # one array per output of an operator, in its order
Combination = Mapping[str, str]  # clause name -> reading name
Tier = Literal["smoke", "standard", "exhaustive"]
Provenance = Literal["printed", "derived", "computed"]
OutcomeKind = Literal["values", "raises", "anything"]

TIERS: tuple[Tier, ...] = ("smoke", "standard", "exhaustive")
UNDEFINED = -1
"""Value of `Expected.addends` that marks an element no document defines."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What one output must be.

    `values` is the correctly rounded output; per element, flat in C order, `addends` is the number
    m of non-zero addends (UNDEFINED where any value conforms), `divisor` the divisor, and
    `magnitude` M = sum|x| / divisor rounded up. What is no sum has addends 0, divisor 1,
    magnitude 0: its bound is zero.
    """

    values: Array
    addends: npt.NDArray[np.int32]
    divisor: npt.NDArray[np.int32]
    magnitude: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One acceptable answer to a case.

    values: `outputs` holds what is expected of each output of the operator, in its order.
    raises: an exception is the right answer. anything: the whole case is undefined.
    `accumulator` and `subnormals` say which arithmetic the bound must admit. `readings` are the
    combinations, over the clauses that touch the vector, under which this is the answer.
    """

    kind: OutcomeKind
    readings: tuple[Combination, ...] = ({},)
    outputs: tuple[Expected, ...] = ()
    accumulator: str = "wider"
    subnormals: str = "kept"

    @property
    def first(self) -> Expected:
        """What is expected of the first output; IndexError where no values are expected."""
        return self.outputs[0]


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A case with every outcome that conforms.

    `clauses` maps each disputed or undefined clause that touches the case to its readings
    (empty for an undefined clause).
    """

    case: Case
    outcomes: tuple[Outcome, ...]
    clauses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def outputs_of(returned: Array | Outputs) -> Outputs:
    """Return as a tuple what a backend returned: an array alone is the first output."""
    return returned if isinstance(returned, tuple) else (returned,)


def as_returned(outputs: Outputs) -> Array | Outputs:
    """Return outputs as a backend returns them: a single one is an array."""
    return outputs[0] if len(outputs) == 1 else outputs
