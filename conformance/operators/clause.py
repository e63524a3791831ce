"""A clause: a place where a document needs a ruling, and the readings of a disputed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from conformance.operators.needs import Needs, is_gradient, is_no_gradient
from conformance.operators.wraps import StepWrap
from conformance.vector import Array, Case

if TYPE_CHECKING:  # these are made of clauses
    from conformance.operators.operator import Operator
    from conformance.operators.params import Params
    from conformance.operators.pipeline import Pipeline

LeavesOpen = Callable[["Operator", "Params", Sequence[Array]], bool]
"""Says of a valid case if any answer conforms: by its inputs, but for a gradient it may take."""
Refusing = Callable[["Pipeline", "Params"], tuple[str, ...]]
"""Returns the readings under which a case is refused, by the pipeline under those before."""
GEOMETRY = frozenset({"pads", "extent", "windows", "divide"})
"""Names of the steps that do not depend on values."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One defensible answer to a clause.

    `replaces` maps names of pipeline steps to functions that take the step and return its
    replacement. The readings of the clauses of arithmetic, and of clauses by which a backend may
    refuse a case, replace no step: they change which outcomes are accepted.
    If `nan_is_undefined`, any value conforms where the replaced steps compute NaN. With `any_tie`,
    an index may be that of any cell that holds the value, where such cells have several.
    `followed_by` names engines.
    """

    name: str
    summary: str
    followed_by: tuple[str, ...] = ()
    replaces: Mapping[str, StepWrap] = field(default_factory=dict)
    nan_is_undefined: bool = False
    any_tie: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A place in a document that needs a ruling.

    `says` is what the document says or leaves out, `answer` what is disputed, undefined or ruled.
    A shared clause concerns the operators that meet its `needs`; a clause in `Operator.clauses`
    concerns the operators that list it. `concerns(case)` says, for a clause about values, whether
    it can make a difference with the values of a case. `leaves_open` says when it leaves a valid
    case without any defined element, and `refusing` under which readings a backend may refuse it.

    If `nested`, each reading accepts everything that the readings before it accept; element types
    may follow different ones, unless it is `of_all_dtypes`: there, where it shows depends on the
    type and not on the backend. The ruling of a document may settle a clause that is disputed
    elsewhere: `settles` names it, of the element types `of_types` alone where there are such. A
    clause about the cell that a gradient goes to names in `chosen_by` the clause of the forward
    operator about the cell that is chosen: readings of the same name choose the same cell.
    """

    name: str
    kind: Literal["ruling", "disputed", "undefined"]
    document: str
    section: str
    says: str
    answer: str
    evidence: str
    readings: tuple[Reading, ...] = ()
    needs: Needs = ()
    concerns: Callable[[Case], bool] = lambda _case: True
    leaves_open: LeavesOpen | None = None
    refusing: Refusing | None = None
    nested: bool = False
    of_all_dtypes: bool = False
    settles: str = ""
    of_types: tuple[str, ...] = ()
    chosen_by: str = ""

    @property
    def default(self) -> str:
        """Name of the default reading of a disputed clause."""
        return self.readings[0].name

    @property
    def replaces_steps(self) -> bool:
        """Whether some reading replaces a step: others cannot be told from values."""
        return any(reading.replaces for reading in self.readings)

    @property
    def is_geometric(self) -> bool:
        """Whether some reading replaces a step of the geometry."""
        return any(reading.replaces.keys() & GEOMETRY for reading in self.readings)

    @property
    def of_forward(self) -> str:
        """Name of the clause that the forward operator of a gradient may not contradict it in.

        Windows, divisors and sums of a gradient are those of its forward operator. "" if there is
        none.
        """
        is_of_both = {is_gradient, is_no_gradient}.isdisjoint(self.needs) and self.replaces_steps
        return self.chosen_by or (self.name if is_of_both else "")

    @property
    def is_of_values(self) -> bool:
        """Whether readings replace steps that compute values, and none of the geometry."""
        return not self.is_geometric and self.replaces_steps

    def reading(self, name: str) -> Reading:
        """Return a reading by name; KeyError if there is none."""
        return {reading.name: reading for reading in self.readings}[name]


def ruling(
    name: str,
    says: str,
    answer: str,
    evidence: str,
    settles: str = "",
    *,
    of_types: tuple[str, ...] = (),
    needs: Needs = (),
    document: str,
    section: str,
) -> Clause:
    """Return a clause of one defensible answer, which may settle one that is disputed elsewhere."""
    return Clause(
        *(name, "ruling", document, section, says, answer, evidence),
        settles=settles,
        of_types=of_types,
        needs=needs,
    )
