"""What a run of a backend over vectors says: every renderer takes these values, and only these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.vector import Array, Outputs

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
    them, in C order, is at `first_index`. Where the operator has several outputs, `output` is
    the name of the one meant, the first with wrong elements, `number` its place among them and
    `dtype` its element type.
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
    output: str = ""
    number: int = 0
    dtype: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The verdict on one vector.

    `detail` is one line that says why ("" if it conforms): "shape (1, 3, 4) instead of
    (1, 3, 5)", "12 of 60 elements differ", "accepted invalid attributes: kernel=[0, 2]", or the
    text of the exception, also where the exception is the right answer. `worst` is set where
    elements differ. `readings` are the combinations of readings, over the disputed clauses that
    touch the vector, under which the answer conforms; `({},)` if none touches it and () if it
    does not conform. `excused` is set where the answer is an exception that conforms only because
    some element is undefined, to the combinations under which it is: it has no say in which
    readings are followed, and is an error where these, however attributes may split them, rule
    the combinations out.
    `clauses` is that of `Vector`. `dtype` and `shapes` are of the inputs,
    `dtype` that of the first. `output` is what the backend returned, an array or a tuple, kept
    for the first mismatches of a run (`KEPT_OUTPUT` bytes of them) so that their cause can be
    found. `printed`
    is what the backend wrote to its standard streams meanwhile, where that was captured.
    `expected` is the reason that an expected-failure file gives for this failure, "" if none.
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
    output: Array | Outputs | None = None
    printed: str = ""
    expected: str = ""
    excused: tuple[Mapping[str, str], ...] = ()

    @property
    def worst_dtype(self) -> str:
        """Element type of the output that `worst` is of."""
        return (self.worst.dtype if self.worst else "") or self.dtype

    @property
    def computed(self) -> bool:
        """Whether what conforms is an array: exceptions among the right answers have a text."""
        return self.verdict == "conforms" and not self.detail


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
    reading explains. `touched` counts the conforming vectors the clause touches. Excused exceptions
    (`Result.excused`) are in neither.

    Readings of a nested clause, as accumulator and subnormals are, accept all that those before
    them do. There, `followed` is the strictest that explains every vector, split says that element
    types differ in it, and `counts` gives for each reading the vectors for which it is the
    strictest.
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
class OutputReport:
    """An output of an operator with several: `computed` in so many of the `vectors` computed.

    Where a backend leaves it out, nothing is known of it: what was returned conforms or not
    without it.
    """

    operator: str
    output: str
    computed: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How close the averages of conforming vectors are, over defined finite elements of a type.

    `correctly_rounded` is a share, `worst_ulp` in spacings at the expected value (inf beyond the
    largest double, where large cells cancel), `worst_of_bound` the largest error as a share of the
    error allowed.
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


@dataclass(frozen=True, slots=True)
class Repeatability:
    """What a second call of some vectors gave, in another order and after other attributes.

    `sampled` vectors were called again. `differing` are the ids of those whose second output has
    other bits, `failing` those of them whose first output conforms and whose second does not;
    these have the verdict of the second call.
    """

    sampled: int
    differing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectations:
    """What became of the failures that an expected-failure file announces.

    `path` is the file. `met` counts by verdict the failures that it announces, and
    `inconsistent` are the clauses it does, of all those `announced`. `passed` are the ids of
    vectors that it announces and that conform, `unmatched` its patterns that match no vector at
    all: either makes a run not ok.
    """

    path: str
    met: Mapping[Verdict, int] = field(default_factory=dict)
    inconsistent: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    announced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A whole run. `results` are the vectors that were run, in the order of the files.

    `not_run` counts the vectors of `vectors` that were left out (by operator, selection or tier)
    or never reached; `complete` is False if some that were selected were never reached, and
    `stopped` then says why. `shard` is "i/n" where only the i-th of n parts of the selection was
    run. `required` are the readings pinned. `started` is when the run began (UTC, ISO 8601),
    `seconds` its wall time, `backend_seconds` the part spent in the backend.
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
    stopped: str = ""
    shard: str = ""
    repeated: Repeatability | None = None
    expectations: Expectations | None = None
    started: str = ""
    seconds: float = 0.0
    backend_seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    outputs: tuple[OutputReport, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the backend conforms: something ran, all of it, and nothing is wrong."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the run is not ok, a line for each reason; empty if it is."""
        met: Mapping[Verdict, int] = {}
        excused: tuple[str, ...] = ()
        found = []
        if self.expectations is not None:
            met, excused = self.expectations.met, self.expectations.inconsistent
            for count, what in (
                (len(self.expectations.passed), "passed unexpectedly"),
                (len(self.expectations.unmatched), "expected but of no vector"),
            ):
                found += [f"{count:,} {what}"] if count else []
        failures = {verdict: self.counts[verdict] - met.get(verdict, 0) for verdict in FAILURES}
        found[:0] = [f"{count:,} {verdict}" for verdict, count in failures.items() if count]
        found += [
            f"inconsistent readings of {clause.clause}"
            for clause in self.readings
            if clause.status == "inconsistent" and clause.clause not in excused
        ]
        if not self.complete:
            found.append(f"incomplete: {self.stopped or 'not every selected vector was run'}")
        return (*found, self.vacuous) if self.vacuous else tuple(found)

    @property
    def vacuous(self) -> str:
        """Why the run says nothing of what the backend computes; "" if it says something.

        A backend that refuses what is invalid, and all else too, whether it says `Unsupported` or
        some element is undefined, has computed nothing.
        """
        if not any(n for verdict, n in self.counts.items() if verdict != "unsupported"):
            return "nothing was run"
        if any(self.counts[verdict] for verdict in FAILURES):
            return ""
        left = self.counts["unsupported"] > 0
        for each in self.results:
            if each.computed:
                return ""
            left |= bool(each.excused)
        return "nothing was computed" if left else ""
