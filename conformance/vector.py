"""The values that flow from the sweep to the file and on to the checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = np.ndarray[Any, np.dtype[Any]]
Combination = Mapping[str, str]  # clause name -> reading name
Tier = Literal["smoke", "standard", "exhaustive"]
Provenance = Literal["printed", "derived", "computed"]
OutcomeKind = Literal["values", "raises", "anything"]

TIERS: tuple[Tier, ...] = ("smoke", "standard", "exhaustive")
UNDEFINED = -1
"""Value of `Outcome.addends` that marks an element no document defines."""


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
class Outcome:
    """One acceptable answer to a case.

    values: `expected` is the correctly rounded output; per element, flat in C order, `addends`
    is the number m of non-zero addends (UNDEFINED where any value conforms), `divisor` the
    divisor, and `magnitude` M = sum|x| / divisor rounded up. A maximum has addends 0,
    divisor 1, magnitude 0: its bound is zero.
    raises: an exception is the right answer. anything: the whole case is undefined.
    `accumulator` and `subnormals` say which arithmetic the bound must admit. `readings` are the
    combinations, over the clauses that touch the vector, under which this is the answer.
    """

    kind: OutcomeKind
    readings: tuple[Combination, ...] = ({},)
    expected: Array | None = None
    addends: npt.NDArray[np.int32] | None = None
    divisor: npt.NDArray[np.int32] | None = None
    magnitude: npt.NDArray[np.float64] | None = None
    accumulator: str = "wider"
    subnormals: str = "kept"


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A case with every outcome that conforms.

    `clauses` maps each disputed or undefined clause that touches the case to its readings
    (empty for an undefined clause).
    """

    case: Case
    outcomes: tuple[Outcome, ...]
    clauses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
