"""What a run of a backend over vectors says: every renderer takes these values, and only these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.vector import Array

Verdict = Literal["conforms", "mismatch", "error", "unsupported", "crashed", "timed-out"]
Status = Literal["followed", "either", "split", "inconsistent"]

VERDICTS: tuple[Verdict, ...] = (
    "conforms",
    "mismatch",
    "error",
    "unsupported",
    "crashed",
    "timed-out",
)
FAILURES: tuple[Verdict, ...] = ("mismatch", "error", "crashed", "timed-out")
"""The verdicts that make a run not ok."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The wrong element of an output that lies furthest from its expected value.

    `index` is its position; `error` = |got - expected| and `ulp` the same in units of the
    element type's spacing at `expected` (inf where either is not finite); `bound` the error
    allowed there. `wrong` of `total` defined elements of the output are wrong. The first of
    them, in C order, is at `first_index`.
    """

    index: tuple[int, ...]
    got: float | int
    expected: float | int
    error: float
    ulp: float
    bound: float
    wrong: int
    total: int
    first_index: tuple[int, ...] = ()
    first_got: float | int = 0
    first_expected: float | int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The verdict on one vector.

    `detail` is one line that says why ("" if it conforms): "shape (1, 3, 4) instead of
    (1, 3, 5)", "12 of 60 elements differ", "accepted invalid attributes: kernel=[0, 2]", or the
    text of the exception, also where the exception is the right answer. `worst` is set where
    elements differ. `readings` are the combinations of readings, over the disputed clauses that
    touch the vector, under which the answer conforms; `({},)` if none touches it and () if it
    does not conform. `clauses` is that of `Vector`. `dtype` and `shapes` are of the inputs,
    `dtype` that of the first. `output` is what the backend returned, kept for the first
    mismatches of a run (`KEPT_OUTPUT` bytes of them) so that their cause can be found.
    """

    id: str
    operator: str
    verdict: Verdict
    attributes: Mapping[str, Any]
    dtype: str
    shapes: tuple[tuple[int, ...], ...]
    detail: str = ""
    worst: Worst | None = None
    tier: str = "standard"
    pattern: str = ""
    source: str = ""
    provenance: str = "computed"
    tags: tuple[str, ...] = ()
    readings: tuple[Mapping[str, str], ...] = ()
    clauses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    output: Array | None = None


KEPT_OUTPUT = 1 << 25
"""Bytes of outputs of mismatches that a report keeps."""


@dataclass(frozen=True, slots=True)
class ClauseReport:
    """Which reading of a disputed clause a backend follows.

    followed: `followed` is the one reading that explains every vector. either: nothing separates
    the readings that are left. split: `by` names the one attribute that separates them
    ("operator", "dtype", "axes", "auto_pad", ...), `values` maps each of its values to the
    reading followed there ("either" where nothing separates). inconsistent: no single attribute
    does; the run is not ok. `counts` gives per reading the conforming vectors that only this
    reading explains. `touched` counts the conforming vectors the clause touches.

    The second reading of accumulator and of subnormals accepts all that the first does. There,
    `followed` is the strictest that explains every vector, split says that element types differ
    in it, and `counts` gives the vectors the strict one explains and those that need the loose.
    """

    clause: str
    status: Status
    followed: str | None = None
    by: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    touched: int = 0


@dataclass(frozen=True, slots=True)
class UndefinedReport:
    """What a backend did where a clause leaves elements or whole cases undefined.

    `counts` maps a behaviour to its vectors: "nan", "inf", "-inf", "zero", "-zero", "lowest"
    (the lowest finite value), "other" (one or several other values), "mixed" (several of these),
    "empty" (an output without elements), "nothing" (no array), "raised", "unsupported",
    "crashed", "timed-out".
    """

    clause: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How close the averages of conforming vectors are, over defined finite elements of a type.

    `correctly_rounded` is a share, `worst_ulp` in spacings at the expected value, `worst_of_bound`
    the largest error as a share of the error allowed.
    """

    dtype: str
    elements: int
    correctly_rounded: float
    worst_ulp: float
    worst_of_bound: float


@dataclass(frozen=True, slots=True)
class VectorsUsed:
    """Where vectors of one operator came from: a file with its digest, or memory (path "")."""

    operator: str
    path: str
    digest: str
    selected: int
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A whole run. `results` are the vectors that were run, in the order of the files.

    `not_run` counts the vectors of `vectors` that were left out (by operator, selection or tier)
    or never reached; `complete` is False if some that were selected were never reached.
    `required` are the readings pinned. `seconds` is the wall time, `backend_seconds` the part
    spent in the backend.
    """

    backend: str
    vectors: tuple[VectorsUsed, ...]
    results: Sequence[Result]
    counts: Counter[Verdict]
    counts_by_operator: Mapping[str, Counter[Verdict]]
    readings: tuple[ClauseReport, ...] = ()
    undefined: tuple[UndefinedReport, ...] = ()
    accuracy: tuple[Accuracy, ...] = ()
    diagnoses: tuple[Any, ...] = ()
    required: Mapping[str, str] = field(default_factory=dict)
    tier: str = "standard"
    not_run: int = 0
    complete: bool = True
    seconds: float = 0.0
    backend_seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the backend conforms: something ran, all of it, and nothing is wrong."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the run is not ok, a line for each reason; empty if it is."""
        found = [f"{self.counts[v]} {v}" for v in FAILURES if self.counts[v]]
        found += [
            f"inconsistent readings of {clause.clause}"
            for clause in self.readings
            if clause.status == "inconsistent"
        ]
        if not self.complete:
            found.append("incomplete: not every selected vector was run")
        if not any(n for verdict, n in self.counts.items() if verdict != "unsupported"):
            found.append("nothing was run")
        return tuple(found)
