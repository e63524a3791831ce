"""What a run of a backend over vectors says: every renderer takes these values, and only these.

They are what a file of a report holds, too (`record/jsonl.py`), so that one of unknown origin is
checked while it is decoded: a field may hold what its type says and nothing else. Fields without
a default are in every file, and so are all fields of dataclasses. A field that is added later needs
a default: older files do not have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, log
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from conformance.record.why import AcceptedInvalid, Why
from conformance.record.words import in_words, of_call
from conformance.text import listed
from conformance.vector import Array, Outputs

_Part = TypeVar("_Part")

Verdict = Literal[
    "conforms", "mismatch", "accepted-invalid", "error", "unsupported", "crashed", "timed-out"
]
Status = Literal["followed", "either", "split", "inconsistent"]

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A number of things; the limits are those that a saved report is held to when it is read."""
Number = Annotated[float, Meta(extra_json_schema={"not_finite": ["-inf", "inf", "nan"]})]
"""A number that a file has as one of these texts where it is not finite."""
Attributes = Annotated[
    Mapping[str, Any],
    Meta(
        extra_json_schema={
            "additionalProperties": {"type": ["null", "boolean", "number", "string", "array"]}
        },
    ),
]
if TYPE_CHECKING:
    NotSaved = Array | Outputs | None
    NotSavedCount = int | None
else:
    NotSaved = NotSavedCount = None
"""What is in no file: whatever one has in its place is refused."""

VERDICTS: tuple[Verdict, ...] = (
    "conforms",
    "mismatch",
    "accepted-invalid",
    "error",
    "unsupported",
    "crashed",
    "timed-out",
)
FAILURES: tuple[Verdict, ...] = ("mismatch", "accepted-invalid", "error", "crashed", "timed-out")
"""The verdicts that make a run not ok, unless it allows extensions; see `failing`."""
RETURNED: tuple[Verdict, ...] = ("mismatch", "accepted-invalid")
"""The failures in which something was returned."""

STORED_OUTPUT = 1 << 25
"""Bytes of outputs of mismatches that a run keeps, at most."""
LONG_RUN = 10.0
"""Seconds in the backend from which a user waits, and may ask for what."""
_SLOW = 5


def failing(*, allow_extensions: bool) -> tuple[Verdict, ...]:
    """Return the verdicts that make a run not ok.

    Where extensions are allowed, accepting what a document excludes is none of them.
    """
    return tuple(v for v in FAILURES if v != "accepted-invalid" or not allow_extensions)


class Worst(Struct, frozen=True, omit_defaults=True):
    """The wrong element of an output that lies furthest from its expected value.

    `index` is its position; `error` = |got - expected| and `ulp` the same in units of the
    element type's spacing at `expected` (inf where either is not finite); `bound` the error
    allowed there. `wrong` of `total` defined elements of the output are wrong. The first of
    them, in C order, is at `first_index`. Where the operator has several outputs, `output` is
    the name of the one meant, the first with wrong elements, `number` its place among them, from 0,
    and `dtype` its element type.
    """

    index: tuple[Count, ...]
    got: Number | int
    expected: Number | int
    error: Number
    ulp: Number
    bound: Number
    wrong: Count
    total: Count
    first_index: tuple[Count, ...]
    first_got: Number | int
    first_expected: Number | int
    output: str = ""
    number: Count | UnsetType = UNSET
    dtype: str = ""


class Result(Struct, frozen=True, eq=False, tag_field="kind", tag="result"):
    """The verdict on one vector.

    `why` says why, None if it conforms: it is the exception where that is the right answer.
    `detail` is the same in words. `worst` is set where elements differ. `readings` are the
    combinations of readings, over the disputed clauses that apply to the vector, under which the
    answer conforms: an empty one if none applies, none if it does not conform. An exception is no
    evidence of the readings followed if it conforms only because some element is undefined, or if
    like vectors raise where no reading allows it (the same operator, element type, axes, auto_pad,
    rounding_type and exclude_pad). It becomes an error where the readings followed, however
    attributes may split them, rule it out. `excused` holds the combinations under which such an
    exception conforms: of the first kind always, of the second where it became an error. `clauses`
    are those that apply to the vector, each with its readings; one without leaves something
    undefined. `dtype` is the element type of the first input, `shapes` are those of all inputs.
    `printed` is what the backend wrote to its standard streams during the call, where that was
    captured.
    `expected` is the reason that an expected-failure file gives for this failure, "" if none.
    `undefined_only` says that of an output that conforms no element is defined: any would have.
    `variations` are those of the call, by name, in which a vector fails that conforms when it is
    called plainly; the verdict is that of the first. `only_again` says that one that fails conforms
    when it is called again. `answer` is a digest of what a mismatch returned, of the elements that
    are defined.
    """

    id: str
    operator: str
    verdict: Verdict
    attributes: Attributes
    dtype: str
    shapes: tuple[tuple[Count, ...], ...]
    worst: Worst | None
    tier: str
    pattern: str
    source: str
    provenance: str
    tags: tuple[str, ...]
    readings: tuple[Mapping[str, str], ...]
    clauses: Mapping[str, tuple[str, ...]]
    printed: str
    expected: str
    excused: tuple[Mapping[str, str], ...]
    undefined_only: bool = False
    variations: tuple[str, ...] = ()
    only_again: bool = False
    answer: Annotated[str, Meta(pattern="^([0-9a-f]{12})?$")] = ""
    why: Why | None = None
    output: NotSaved = None
    """What a backend returned, an array or a tuple, where it is kept for the search for causes."""
    first_outputs: NotSavedCount = None
    """How many outputs it returned where these are right and not all; kept for that search."""

    @property
    def detail(self) -> str:
        """Why it has its verdict, on one line: "12 of 60 elements differ"; "" if it conforms."""
        return of_call(self.variations, only_again=self.only_again) + in_words(self.why)

    @property
    def worst_dtype(self) -> str:
        """Element type of the output that `worst` is of."""
        return (self.worst.dtype if self.worst else "") or self.dtype

    @property
    def returned(self) -> bool:
        """Whether there was an output: exceptions among the right answers have a text."""
        return self.verdict in RETURNED or (self.verdict == "conforms" and self.why is None)

    @property
    def is_answered(self) -> bool:
        """Whether a failure shows what the backend made of it: an exception, or outputs kept."""
        return self.verdict == "error" or (self.verdict in RETURNED and self.output is not None)

    @property
    def computed(self) -> bool:
        """Whether a defined value was computed and conforms."""
        return self.verdict == "conforms" and self.returned and not self.undefined_only

    @property
    def rule(self) -> str:
        """The rule that an invalid case breaks, `strides: left out though required`.

        Where the vector does not name it, what the document's operator says of the case.
        """
        named = (tag for before, tag in pairwise(self.tags) if before == "invalid")
        rule = self.why.rule if isinstance(self.why, AcceptedInvalid) else self.detail
        return next(named, rule)


def added_up(parts: Iterable[_Part], *key: str) -> tuple[_Part, ...]:
    """Return the sums of the parts that agree in some attributes, in the order of the first."""
    key_of = attrgetter(*key)
    sums: dict[Any, Any] = {}
    for part in parts:
        sums[key_of(part)] = sums[key_of(part)] + part if key_of(part) in sums else part
    return tuple(sums.values())


@dataclass(frozen=True, slots=True)
class ClauseReport:
    """Which reading of a disputed clause a backend follows.

    followed: some readings are ruled out. `possible` are those that explain every vector, and
    `followed` is the first of them: nothing separates it from the others. either: none is ruled
    out. split: `by` names the one attribute that separates them
    ("operator", "dtype", "axes", "auto_pad", ...), `values` maps each of its values to the
    reading followed there ("either" where none is ruled out). inconsistent: no single attribute
    does; the run is not ok. `counts` gives per reading the conforming vectors that only this
    reading explains. `touched` counts the conforming vectors that the clause applies to. Excused
    exceptions (`Result.excused`) are in neither.

    An operator and its gradient have one reading of a clause about windows, divisors, sums or the
    choice of equal maxima, or the clause is inconsistent: no split comes between them.
    `contradicting` then has the reading of each by its name, that of an operator in the clause that
    its gradient contradicts (`Clause.of_forward`).

    Readings of a nested clause, as those of arithmetic are, accept all that those before
    them do. There, `followed` is the strictest that explains every vector, split says that element
    types differ in it, and `counts` gives for each reading the vectors for which it is the
    strictest.
    """

    clause: str
    status: Status
    followed: str | None = None
    by: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Count] = field(default_factory=dict)
    touched: Count = 0
    possible: tuple[str, ...] = ()
    contradicting: Mapping[str, str] = field(default_factory=dict)

    @property
    def sides(self) -> str:
        """The sides of a split: `divided for float32 and float64, same-as-input for float16`."""
        values: dict[str, list[str]] = {}
        for value, reading in self.values.items():
            values.setdefault(reading, []).append(value)
        return ", ".join(f"{reading} for {listed(of)}" for reading, of in values.items())


@dataclass(frozen=True, slots=True)
class UndefinedReport:
    """What a backend did where a clause leaves elements or whole cases undefined.

    `counts` maps a behaviour to its vectors: "nan", "inf", "-inf", "zero", "-zero", "lowest"
    (the lowest finite value), "other" (one or several other values), "mixed" (several of these),
    "empty" (an output without elements), "nothing" (no array), "raised", "unsupported",
    "crashed", "timed-out".
    """

    clause: str
    counts: Mapping[str, Count]

    def __add__(self, other: UndefinedReport) -> UndefinedReport:
        return UndefinedReport(self.clause, Counter(self.counts) + Counter(other.counts))


@dataclass(frozen=True, slots=True)
class OutputReport:
    """An output of an operator with several: `computed` in so many of the `vectors` computed.

    Where a backend leaves it out, nothing is known of it: what was returned conforms or not
    without it.
    """

    operator: str
    output: str
    computed: Count
    vectors: Count

    def __add__(self, other: OutputReport) -> OutputReport:
        computed, vectors = self.computed + other.computed, self.vectors + other.vectors
        return OutputReport(self.operator, self.output, computed, vectors)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How close averages, norms and gradients that conform are, over defined finite elements.

    `correctly_rounded` is a share, `worst_ulp` in spacings at the result with the magnitudes of the
    addends in place of the addends: at the result itself, unless they cancel. `worst_of_bound` is
    the largest error as a share of the error allowed.
    """

    dtype: str
    elements: Count
    correctly_rounded: Annotated[float, Meta(ge=0, le=1)]
    worst_ulp: Number
    worst_of_bound: Number

    def __add__(self, other: Accuracy) -> Accuracy:
        elements = self.elements + other.elements
        # Shares of counts: these are whole, so that nothing is lost on the way back.
        rounded = sum(round(part.correctly_rounded * part.elements) for part in (self, other))
        return Accuracy(
            dtype=self.dtype,
            elements=elements,
            correctly_rounded=rounded / elements if elements else 0.0,
            worst_ulp=max(self.worst_ulp, other.worst_ulp),
            worst_of_bound=max(self.worst_of_bound, other.worst_of_bound),
        )


BIAS_STEPS = 1 << 20
"""Errors are added up in these parts of a ulp: sums of whole numbers are exact in any order."""
BIAS_LEVEL = 1e-9
"""How likely chance may show a bias in one test, of which a run makes some hundreds."""


@dataclass(frozen=True, slots=True)
class Bias:
    """To which side results of an operator and type lie that conform and are not right exactly.

    `off` counts elements that are not the correctly rounded ones. `mean_ulp` is the mean of got -
    expected over these, in the ulps of `Accuracy`, `mean_outward_ulp` that of |got| - |expected|.
    `above` and `below` are the vectors in which most such elements are too large or too small,
    `outward` and `inward` those in which they are so in magnitude, all of elements in which a sound
    backend is right (judging/bias.py).
    """

    operator: str
    dtype: str
    off: Count = 0
    mean_ulp: float = 0.0
    mean_outward_ulp: float = 0.0
    above: Count = 0
    below: Count = 0
    outward: Count = 0
    inward: Count = 0

    def __add__(self, other: Bias) -> Bias:
        off = self.off + other.off
        parts = (self, other)
        upward = sum(round(part.mean_ulp * part.off * BIAS_STEPS) for part in parts)
        outward = sum(round(part.mean_outward_ulp * part.off * BIAS_STEPS) for part in parts)
        return Bias(
            operator=self.operator,
            dtype=self.dtype,
            off=off,
            mean_ulp=upward / BIAS_STEPS / max(off, 1),
            mean_outward_ulp=outward / BIAS_STEPS / max(off, 1),
            above=self.above + other.above,
            below=self.below + other.below,
            outward=self.outward + other.outward,
            inward=self.inward + other.inward,
        )

    @property
    def directions(self) -> tuple[str, ...]:
        """Where results are biased to, by a sign test of vectors with the level `BIAS_LEVEL`."""
        sides = {
            "upwards": (self.above, self.below),
            "downwards": (self.below, self.above),
            "away from zero": (self.outward, self.inward),
            "towards zero": (self.inward, self.outward),
        }
        return tuple(name for name, (most, least) in sides.items() if _is_one_sided(most, least))


def _is_one_sided(most: int, least: int) -> bool:
    """Say whether `BIAS_LEVEL` excludes that a fair coin shows one side so much more often.

    By Chernoff's bound of both tails, which is never below their probability and takes no time for
    numbers of any size: 31 throws of one side suffice.
    """
    if most <= least:
        return False
    shares = (most / (most + least), least / (most + least))
    divergence = log(2) + sum(share * log(share) for share in shares if share)
    return log(2) - (most + least) * divergence <= log(BIAS_LEVEL)


@dataclass(frozen=True, slots=True)
class VectorsUsed:
    """Where vectors of one operator came from: a file with its digest, or memory (path "")."""

    operator: str
    path: str
    digest: str
    selected: Count
    total: Count

    def __add__(self, other: VectorsUsed) -> VectorsUsed:
        return replace(self, selected=self.selected + other.selected)


@dataclass(frozen=True, slots=True)
class Repeatability:
    """What a second call of some vectors gave, in another order and after other attributes.

    `sampled` vectors were called again. `differing` are the ids of those whose second output has
    other bits, `failing` those of them whose first output conforms and whose second does not;
    these have the verdict of the second call. `passing` are those whose second output alone
    conforms; they have the verdict of the first.
    """

    sampled: Count
    differing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    def __add__(self, other: Repeatability) -> Repeatability:
        return Repeatability(
            self.sampled + other.sampled,
            self.differing + other.differing,
            self.failing + other.failing,
            self.passing + other.passing,
        )


@dataclass(frozen=True, slots=True)
class VariationReport:
    """What came of calling some vectors in another way: a `variation` of the call, by its name.

    `called` vectors were called so, all of which conform when they are called plainly. `failing`
    are the ids of those that do not so. `differing` gave other bits that conform too. `refused`
    were refused: by an exception, where memory is laid out in another way, or by `Unsupported`.
    `refusal` is the text of the first.
    """

    variation: str
    called: Count
    failing: tuple[str, ...] = ()
    differing: Count = 0
    refused: Count = 0
    refusal: str = ""

    def __add__(self, other: VariationReport) -> VariationReport:
        return VariationReport(
            self.variation,
            self.called + other.called,
            self.failing + other.failing,
            self.differing + other.differing,
            self.refused + other.refused,
            self.refusal or other.refusal,
        )


class Announced(NamedTuple):
    """A failure of a vector that a file announces: why, and the digest of its answer, or "".

    Without a digest, it may be any answer.
    """

    reason: str
    answer: str = ""

    def is_of(self, answer: str) -> bool:
        """Say whether a failure with an answer is the one that is announced."""
        return self.answer in {"", answer}


@dataclass(frozen=True, slots=True)
class Expectations:
    """The failures that an expected-failure file announces, compared with those of the run.

    `path` is the file. `met` counts by verdict the failures that it announces, and
    `inconsistent` are the clauses it does, of all those `announced`. `passed` are the ids of
    vectors that it announces and that conform, `unmatched` its patterns that match no vector at
    all: either makes a run not ok. `causes` counts the failures that each cause explains whose
    failures it announces; one that explains none of a whole run is among the `passed`, as is a
    clause, unless it `may_pass`. `changed` are the ids of failures that it announces with another
    answer: they are not met. `digest` is that of the file's text, "" in older reports.
    """

    path: str
    met: Mapping[Verdict, Count] = field(default_factory=dict)
    inconsistent: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    announced: tuple[str, ...] = ()
    causes: Mapping[str, Count] = field(default_factory=dict)
    may_pass: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class SkippedVector:
    """A vector that was selected and not called, for a `reason` that a file gives."""

    id: str
    operator: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skips:
    """The vectors that a file says are not to be called.

    `path` is the file. `vectors` are those that were selected otherwise: they are not run, and
    not supported where that is asked. `unmatched` are the lines, without reasons, that match no
    vector at all: they make a run not ok. `digest` is that of the file's text, "" in older reports.
    """

    path: str
    vectors: tuple[SkippedVector, ...] = ()
    unmatched: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least that a backend is to support.

    That is `least` vectors, or `percent` of those that are run or skipped, of `operators` together,
    of all operators if none is named.
    """

    least: Annotated[float, Meta(gt=0, lt=1e12)]
    percent: bool = False
    operators: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ",".join([f"{self.least:.12g}{'%' if self.percent else ''}", *self.operators])

    def needed(self, vectors: int) -> int:
        """Return how many of so many vectors have to be supported: 1 at least."""
        share = Fraction(str(self.least)) * (Fraction(vectors, 100) if self.percent else 1)
        return max(1, ceil(share))


@dataclass(frozen=True, slots=True)
class Support:
    """What a backend was asked to support at least.

    The `floors` are judged when the run is whole: complete, and no shard of it missing. Where
    `strict`, no vector may be unsupported or skipped. `baseline` is the path of an earlier report,
    in which `conforming` vectors conform: of these, `kept` are still supported, and `lost` are the
    ids of those that are unsupported or skipped now. The others were not run.
    """

    floors: tuple[Floor, ...] = ()
    strict: bool = False
    baseline: str = ""
    conforming: Count = 0
    kept: Count = 0
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """What the backend made of held-out cases on which a cause shows, drawn with a `seed`.

    It did what the cause predicts in `predicted` of those `asked`. State is shown again in fresh
    processes instead: there is no seed then. Where that is no proof, or nothing was asked,
    `missing` says why.
    """

    predicted: Count = 0
    asked: Count = 0
    seed: int | None = 0
    missing: str = ""

    def __str__(self) -> str:
        if self.missing:
            return f"not confirmed: {self.missing}"
        said = f"confirmed on {self.predicted:,} of {self.asked:,}"
        if self.seed is None:
            return f"{said} fresh processes"
        return f"{said} held-out cases, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class WrongCalls:
    """How many calls of a variation were wrong, of those that were made."""

    variation: str
    wrong: Count
    called: Count

    def __add__(self, other: WrongCalls) -> WrongCalls:
        return replace(self, wrong=self.wrong + other.wrong, called=self.called + other.called)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A likely cause of mismatches.

    `kind` says what it is: a "fault" of the catalogue, a "rule" that was learned, "state" that
    outlives a call, a "variation" of the call in which alone it fails, a "reading" that is followed
    in these alone, "clause": why vectors that conform do so by another reading than others, or
    "unknown". `behaviour` says what is wrong, alone; "" where that is unknown.
    `summary` is the one sentence that is made of the other fields.
    `proof` is what held-out cases said of it, and `smallest` a minimal reproducer, as Python.
    The faults named, planted together, reproduce `explained` of `total` mismatches, `exact` of them
    bit for bit; `contradicted` of `conforming` vectors conform although the faults would break
    them. `condition` says what holds in the mismatches explained and not in those vectors, "" if
    nothing is needed or known. Of all that are explained, calls `raised` exceptions, or not.
    `alternatives` name single faults that explain the same. Where these mismatches are a sample,
    `sample_of` is how many failures there are, else 0. `threads` are addresses of public reports of
    the same kind, `vectors` the ids explained. `calls` are those of the variations in which alone
    it fails. Where the cause is unknown, `explained` and `vectors` are those left over, and
    `observed` says what else is true of all of them. `named` is the word for it in files of
    expected failures, "" if there is none.
    """

    summary: str
    faults: tuple[str, ...]
    explained: Count
    exact: Count
    total: Count
    contradicted: Count = 0
    conforming: Count = 0
    condition: str = ""
    alternatives: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    sample_of: Count = 0
    kind: Literal["fault", "rule", "state", "variation", "reading", "clause", "unknown"] = "unknown"
    proof: Proof | None = None
    smallest: str = ""
    behaviour: str = ""
    raised: bool = False
    calls: tuple[WrongCalls, ...] = ()
    observed: tuple[str, ...] = ()
    named: str = ""

    @property
    def operators(self) -> Mapping[str, int]:
        """How many of the failures are of each operator, most first."""
        return dict(Counter(name.split("/", 1)[0] for name in self.vectors).most_common())

    @property
    def is_known(self) -> bool:
        """Whether it says what is wrong."""
        return self.kind != "unknown"

    @property
    def is_confirmed(self) -> bool:
        """Whether it explains failures, and held-out cases or processes did what it predicts."""
        proven = self.proof is not None and not self.proof.missing
        return self.is_known and proven and self.explained > 0

    @property
    def name(self) -> str:
        """Its faults, or what is wrong, or "unknown"."""
        return " + ".join(self.faults) or self.behaviour or "unknown"


def told_apart(
    kind: Literal["state", "variation", "reading", "clause"],
    behaviour: str,
    vectors: Sequence[str],
    **fields: Any,
) -> Diagnosis:
    """Return what is known of failures before they are searched, to be joined with the others."""
    count = len(vectors)
    return Diagnosis(
        "", (), count, 0, 0, vectors=tuple(vectors), kind=kind, behaviour=behaviour, **fields
    )


@dataclass(frozen=True, slots=True)
class SlowVector:
    """How long the call for a vector took."""

    id: str
    seconds: Annotated[float, Meta(ge=0)]


def slowest(vectors: Iterable[SlowVector]) -> tuple[SlowVector, ...]:
    """Return the vectors that a report names: the slowest, and the first of those alike."""
    return tuple(sorted(vectors, key=lambda each: -each.seconds)[:_SLOW])


@dataclass(frozen=True, kw_only=True, eq=False)
class Header:
    """What was checked: the first line of a file.

    `backend` is its name. `started` is when the run began (UTC, ISO 8601; "" if unknown), with
    which `versions` of this program, Python and libraries. `vectors` are those there are, of which
    those up to a `tier` were selected. `shard` is "i/n" where only the i-th of n parts of the
    selection was run. `required` are the readings pinned. Where it may `allow_extensions`,
    accepting what is invalid is counted and no failure. `operators` are the names, globs and
    families that were asked for, () for all: of others nothing is known.
    """

    backend: str
    started: str
    versions: Mapping[str, str]
    vectors: tuple[VectorsUsed, ...]
    tier: str
    shard: str
    required: Mapping[str, str]
    allow_extensions: bool = False
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Footer:
    """What the results say together: the last line of a file, which was cut off without it.

    `not_run` counts the vectors of `vectors` that were left out (by operator, selection or tier),
    skipped or never reached; `skips` says which were skipped and why. `stopped` says why some that
    were selected were never reached, "" if all were run. `support` says what floors were asked for,
    if any were. `repeated` says what a second call of some vectors gave, and `variations` what
    calls in other ways gave. `notes` are what else a reader should know. `outputs` are of operators
    with several, `bias` of results that conform and are not correctly rounded. `slowest` are the
    vectors that took longest, where the backend took 10 seconds or more. `seconds` is the wall time
    of the run, causes included, `backend_seconds` that of the backend's answers.
    """

    readings: tuple[ClauseReport, ...]
    undefined: tuple[UndefinedReport, ...]
    accuracy: tuple[Accuracy, ...]
    diagnoses: tuple[Diagnosis, ...]
    repeated: Repeatability | None
    expectations: Expectations | None
    not_run: Count
    stopped: str
    notes: tuple[str, ...]
    outputs: tuple[OutputReport, ...] = ()
    bias: tuple[Bias, ...] = ()
    support: Support | None = None
    variations: tuple[VariationReport, ...] = ()
    slowest: tuple[SlowVector, ...] = ()
    skips: Skips | None = None
    seconds: Number
    backend_seconds: Number


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(Footer, Header):
    """A whole run: its header and footer, and the `results` of the vectors that were run.

    These are in the order of the files.
    """

    results: Sequence[Result] = field(repr=False)

    @cached_property
    def counts_by_operator(self) -> Mapping[str, Counter[Verdict]]:
        """How many results of each operator have each verdict."""
        counts: dict[str, Counter[Verdict]] = {}
        for result in self.results:
            of_operator = counts.setdefault(result.operator, Counter(dict.fromkeys(VERDICTS, 0)))
            of_operator[result.verdict] += 1
        return {operator: +of_operator for operator, of_operator in counts.items()}

    @cached_property
    def counts(self) -> Counter[Verdict]:
        """How many results have each verdict."""
        return sum(self.counts_by_operator.values(), Counter())

    @property
    def complete(self) -> bool:
        """Whether every vector that was selected was run, or skipped."""
        return not self.stopped

    @property
    def failing(self) -> tuple[Verdict, ...]:
        """The verdicts that make this run not ok."""
        return failing(allow_extensions=self.allow_extensions)

    @property
    def ok(self) -> bool:
        """Whether the backend conforms: something ran, all of it, and nothing is wrong."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the run is not ok, a line for each reason; empty if it is."""
        met: Mapping[Verdict, int] = {}
        excused: tuple[str, ...] = ()
        problems: list[str] = []
        if self.expectations is not None:
            met, excused = self.expectations.met, self.expectations.inconsistent
            for count, what in (
                (len(self.expectations.changed), "announced with another answer"),
                (len(self.expectations.passed), "passed unexpectedly"),
                (len(self.expectations.unmatched), "expected but of no vector"),
            ):
                problems += [f"{count:,} {what}"] if count else []
        failures = {v: self.counts[v] - met.get(v, 0) for v in self.failing}
        problems[:0] = [f"{count:,} {verdict}" for verdict, count in failures.items() if count]
        inconsistent = self.inconsistent.difference(excused)
        problems += [
            f"inconsistent readings of {clause.clause}"
            for clause in self.readings
            if clause.clause in inconsistent
        ]
        if self.skips is not None and self.skips.unmatched:
            problems.append(f"{len(self.skips.unmatched):,} to skip but of no vector")
        problems += self.missed_floors
        if not self.complete:
            problems.append(f"incomplete: {self.stopped}")
        if vacuous := self.vacuous or (not problems and self.none_right):
            problems.append(vacuous)
        return tuple(problems)

    @property
    def inconsistent(self) -> frozenset[str]:
        """The clauses whose readings no attribute separates."""
        return frozenset(c.clause for c in self.readings if c.status == "inconsistent")

    @property
    def consistent(self) -> frozenset[str]:
        """The clauses whose readings are shown to be consistent.

        There are none unless every vector was run: the others might be inconsistent with these.
        """
        if not self.is_whole:
            return frozenset()
        return frozenset(clause.clause for clause in self.readings) - self.inconsistent

    @property
    def is_whole(self) -> bool:
        """Whether every vector of every operator was run."""
        return self.complete and not self.not_run and not self.operators

    @property
    def missed_floors(self) -> tuple[str, ...]:
        """Which floors under what is supported were missed, a line for each."""
        support = self.support
        if support is None:
            return ()
        missed = []
        for floor in support.floors if self.floors_judged else ():
            supported, vectors = self.supported(floor.operators)
            if supported < floor.needed(vectors):
                missed.append(
                    f"below the minimum supported {floor}: {supported:,} of {vectors:,} supported"
                )
        if support.lost:
            missed.append(f"{len(support.lost):,} lost since {support.baseline}")
        unsupported = [
            f"{number:,} {what}"
            for number, what in (
                (self.counts["unsupported"], "unsupported"),
                (len(self.skipped), "skipped"),
            )
            if number
        ]
        if support.strict and unsupported:
            missed.append(f"{' and '.join(unsupported)}, which none may be")
        return tuple(missed)

    @property
    def floors_judged(self) -> bool:
        """Whether the numbers supported are those of a whole run, as floors are meant."""
        return self.complete and not self.shard

    def supported(self, operators: Collection[str] = ()) -> tuple[int, int]:
        """Return how many vectors of some operators are supported, and how many were to be run.

        All operators are meant if none is named. What was skipped is not supported.
        """
        counts = [
            counts
            for operator, counts in self.counts_by_operator.items()
            if not operators or operator in operators
        ]
        run = sum(map(Counter.total, counts))
        skipped = sum(not operators or each.operator in operators for each in self.skipped)
        return run - sum(count["unsupported"] for count in counts), run + skipped

    @property
    def skipped(self) -> tuple[SkippedVector, ...]:
        """The vectors that were skipped."""
        return self.skips.vectors if self.skips is not None else ()

    @property
    def faults(self) -> dict[str, tuple[str, ...]]:
        """The faults that reproduce a failure, by its id; those that explain most failures."""
        return {
            vector_id: diagnosis.faults
            for diagnosis in reversed(self.diagnoses)
            if diagnosis.faults
            for vector_id in diagnosis.vectors
        }

    @property
    def vacuous(self) -> str:
        """Why the run says nothing of what the backend computes; "" if it says something.

        A backend that refuses what is invalid, and all else too, whether it says `Unsupported` or
        some element is undefined, has computed nothing; nor has one that returns something where
        no value is defined, or for what is invalid. Where a refusal is the right answer to every
        vector, nothing was to be computed.
        """
        if not any(self.counts.values()):
            return "nothing was run"
        if any(self.counts[verdict] for verdict in self.failing):
            return ""
        return self._nothing("was computed")

    @property
    def none_right(self) -> str:
        """Why the backend does not conform even if all its failures are known; "" if it may."""
        failed = any(self.counts[verdict] for verdict in self.failing)
        return self._nothing("that was computed conforms") if failed else ""

    def _nothing(self, said: str) -> str:
        """Return "nothing ..." unless something was computed rightly, or nothing was to be."""
        only_right_refusals = True
        for result in self.results:
            if result.computed:
                return ""
            refused = result.verdict == "conforms" and not result.returned
            only_right_refusals &= refused and not result.excused
        return "" if only_right_refusals else f"nothing {said}"


NOTHING_RUN = Report(
    backend="",
    started="",
    versions={},
    vectors=(),
    tier="",
    shard="",
    required={},
    readings=(),
    undefined=(),
    accuracy=(),
    diagnoses=(),
    repeated=None,
    expectations=None,
    not_run=0,
    stopped="",
    notes=(),
    seconds=0.0,
    backend_seconds=0.0,
    results=(),
)
"""A report in which nothing was run, to be given what is known."""


SEARCH_INTERRUPTED = "the search for likely causes was interrupted"
"""What a note begins with where a user ended it."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; `report` holds what was done and says what was not."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report
