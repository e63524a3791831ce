"""The lines of a report file as types, from and to the values of a report.

docs/report.schema.json is made from these types (docs/make_schema.py). A field may hold what its
type says and nothing else, so that a file of unknown origin is checked while it is decoded. A field
that is added later needs a default: older files do not have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType, convert
from msgspec.structs import asdict

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.record.consistency import contradictions
from conformance.record.report import (
    VERDICTS,
    Accuracy,
    Bias,
    ClauseReport,
    Count,
    Diagnosis,
    Expectations,
    OutputReport,
    Repeatability,
    Report,
    Result,
    Skips,
    SlowVector,
    Support,
    UndefinedReport,
    VariationReport,
    VectorsUsed,
    Verdict,
    Worst,
)
from conformance.record.why import Differing, Raised, Told, Why, WrongElements
from conformance.text import cut

SCHEMA = "pooling-conformance-report"
VERSION = 1

_MAX_DEPTH = 8
"""Lists within lists that the value of an attribute may be."""

T = TypeVar("T", bound=Struct)

NotFinite = Literal["nan", "inf", "-inf"]
Number = float | NotFinite
Element = int | float | NotFinite
Counts = Annotated[
    dict[Verdict, Count],
    Meta(
        description="How many vectors have each verdict.",
        extra_json_schema={"propertyNames": {"enum": list(VERDICTS)}},
    ),
]
Attributes = Annotated[
    dict[str, Any],
    Meta(
        description="The attributes of the operator, by their names.",
        extra_json_schema={
            "additionalProperties": {"type": ["null", "boolean", "number", "string", "array"]}
        },
    ),
]
Readings = dict[str, str]


class AccuracyObject(Struct, frozen=True):
    """How close averages of one element type are to the expected values, where they conform."""

    dtype: str
    elements: Count
    correctly_rounded: Annotated[float, Meta(ge=0, le=1, description="A share.")]
    worst_ulp: Number
    worst_of_bound: Annotated[Number, Meta(description="The largest error / the error allowed.")]


class WorstObject(Struct, frozen=True):
    """The wrong element with the largest error, and the first wrong element in C order.

    The last three fields are there where the operator has several outputs.
    """

    index: tuple[Count, ...]
    got: Element
    expected: Element
    error: Number
    ulp: Number
    bound: Annotated[Number, Meta(description="The error allowed at this element.")]
    wrong: Annotated[Count, Meta(description="Wrong elements of this output.")]
    total: Annotated[Count, Meta(description="Defined elements of this output.")]
    first_index: tuple[Count, ...]
    first_got: Element
    first_expected: Element
    output: Annotated[str, Meta(description="Name of this output.")] | UnsetType = UNSET
    number: Annotated[Count, Meta(description="Its place, from 0.")] | UnsetType = UNSET
    dtype: Annotated[str, Meta(description="Its element type.")] | UnsetType = UNSET


class Header(Struct, frozen=True, tag_field="kind", tag="header"):
    """The first line: what was checked."""

    schema: Literal["pooling-conformance-report"]
    version: Literal[1]
    backend: str
    started: Annotated[
        str, Meta(description="When the run began, UTC, ISO 8601; empty if unknown.")
    ]
    versions: Annotated[
        dict[str, str], Meta(description="Versions of this program, Python and libraries.")
    ]
    vectors: tuple[VectorsUsed, ...]
    tier: Annotated[str, Meta(description="The largest tier that was selected.")]
    shard: Annotated[str, Meta(description='"i/n"; empty for a whole run.')]
    required: Annotated[
        Readings, Meta(description="The readings that were required, by disputed clause.")
    ]
    allow_extensions: Annotated[
        bool, Meta(description="Whether accepting what a document excludes is no failure.")
    ] = False
    operators: Annotated[
        tuple[str, ...],
        Meta(description="Names, globs and families that were asked for; empty for all."),
    ] = ()


class ResultLine(Struct, frozen=True, tag_field="kind", tag="result"):
    """The verdict on one vector."""

    id: str
    operator: str
    verdict: Verdict
    attributes: Attributes
    dtype: Annotated[str, Meta(description="Element type of the first input.")]
    shapes: Annotated[tuple[tuple[Count, ...], ...], Meta(description="Shapes of the inputs.")]
    detail: Annotated[str, Meta(description="Why it has this verdict, on one line.")]
    worst: WorstObject | None
    tier: str
    pattern: str
    source: str
    provenance: str
    tags: tuple[str, ...]
    readings: Annotated[
        tuple[Readings, ...],
        Meta(description="The combinations of readings under which the answer conforms."),
    ]
    clauses: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description="The clauses that apply to the vector, each with its readings; a clause "
            "without readings leaves something undefined."
        ),
    ]
    printed: Annotated[
        str, Meta(description="What the backend wrote to its standard streams in this call.")
    ]
    expected: Annotated[
        str, Meta(description="The reason if this failure was expected, else empty.")
    ]
    excused: Annotated[
        tuple[Readings, ...],
        Meta(
            description="The combinations of readings under which this exception is right, where "
            "it is no evidence of the readings followed: some element is undefined, or it is an "
            "error, as the readings followed rule it out."
        ),
    ]
    undefined_only: (
        Annotated[
            bool,
            Meta(description="Only where an output conforms and none of its elements is defined."),
        ]
        | UnsetType
    ) = UNSET
    variations: (
        Annotated[
            tuple[str, ...],
            Meta(
                description="Only where a plain call conforms: the variations of the call in which "
                "the vector fails. The verdict is that of the first."
            ),
        ]
        | UnsetType
    ) = UNSET
    only_again: (
        Annotated[bool, Meta(description="Only where it fails at first, and conforms then.")]
        | UnsetType
    ) = UNSET
    answer: (
        Annotated[
            str,
            Meta(
                pattern="^[0-9a-f]{12}$",
                description="Only of a mismatch: a digest of what was returned in elements that "
                "are defined. Zeros are alike, and NaN.",
            ),
        ]
        | UnsetType
    ) = UNSET
    why: (
        Annotated[
            Why,
            Meta(description="Why it has this verdict, as a fact; `detail` is the same in words."),
        ]
        | UnsetType
    ) = UNSET


class Footer(Struct, frozen=True, kw_only=True, tag_field="kind", tag="footer"):
    """The last line: what the results say together. A file without it was cut off."""

    counts: Counts
    counts_by_operator: dict[str, Counts]
    readings: tuple[ClauseReport, ...]
    undefined: tuple[UndefinedReport, ...]
    accuracy: tuple[AccuracyObject, ...]
    diagnoses: tuple[Diagnosis, ...]
    repeated: Repeatability | None
    expectations: Expectations | None
    not_run: Annotated[Count, Meta(description="Vectors left out or never reached.")]
    complete: Annotated[bool, Meta(description="Whether every selected vector was run.")]
    stopped: Annotated[str, Meta(description="Why not; empty if so.")]
    notes: Annotated[tuple[str, ...], Meta(description="What else a reader should know.")]
    outputs: (
        Annotated[
            tuple[OutputReport, ...],
            Meta(description="Only where an operator with several outputs was run."),
        ]
        | UnsetType
    ) = UNSET
    bias: (
        Annotated[
            tuple[Bias, ...],
            Meta(description="Only where results conform that are not correctly rounded."),
        ]
        | UnsetType
    ) = UNSET
    support: (
        Annotated[Support, Meta(description="Only where floors were asked for.")] | UnsetType
    ) = UNSET
    variations: (
        Annotated[
            tuple[VariationReport, ...],
            Meta(description="Only where vectors were called in other ways than plainly."),
        ]
        | UnsetType
    ) = UNSET
    slowest: (
        Annotated[
            tuple[SlowVector, ...],
            Meta(description="Only where the backend took some seconds."),
        ]
        | UnsetType
    ) = UNSET
    skips: (
        Annotated[Skips, Meta(description="Only where a file of vectors to skip was given.")]
        | UnsetType
    ) = UNSET
    seconds: Number
    backend_seconds: Number
    ok: Annotated[bool, Meta(description="Whether the backend conforms.")]
    problems: Annotated[tuple[str, ...], Meta(description="Why not, a text for each reason.")]


_RARE = ("undefined_only", "variations", "only_again", "answer", "why")
"""Fields of a result that are left out where they say nothing."""
_REFUSED = ("conforms", "error", "unsupported")
"""Verdicts of which a detail is an exception."""


def header_line(report: Report) -> Header:
    """Return the header of a report."""
    return _line_from(Header, report, schema=SCHEMA, version=VERSION)


def result_line(result: Result) -> ResultLine:
    """Return the line of a result, which has all of it but the output."""
    worst = result.worst
    rare = {name: getattr(result, name) or UNSET for name in _RARE}
    if worst is None:
        return _line_from(ResultLine, result, **rare)
    several = {} if worst.output else {"output": UNSET, "number": UNSET, "dtype": UNSET}
    line = _line_from(WorstObject, worst, **several)
    return _line_from(ResultLine, result, worst=line, **rare)


def footer_line(report: Report) -> Footer:
    """Return the footer of a report."""
    rare = {
        name: getattr(report, name) or UNSET
        for name in ("outputs", "bias", "support", "variations", "slowest", "skips")
    }
    return _line_from(Footer, report, **rare)


def _line_from(line: type[T], value: object, **changed: Any) -> T:
    """Return a line whose fields are the attributes of a value, but for those given."""
    names = (name for name in line.__struct_fields__ if name not in changed)
    return line(**{name: getattr(value, name) for name in names}, **changed)


def report_of(header: Header, results: Iterable[Result], footer: Footer) -> Report:
    """Return the report that lines are of; ValueError where they contradict each other."""
    given = _fields(header) | _fields(footer)
    for name in ("schema", "version", "ok", "problems"):
        del given[name]
    report = Report(
        **given
        | {
            "results": tuple(results),
            "counts": Counter(footer.counts),
            "counts_by_operator": {
                operator: Counter(counts) for operator, counts in footer.counts_by_operator.items()
            },
            "accuracy": tuple(
                convert(accuracy, Accuracy, from_attributes=True, strict=False)
                for accuracy in footer.accuracy
            ),
            "seconds": float(footer.seconds),
            "backend_seconds": float(footer.backend_seconds),
        }
    )
    for contradiction in contradictions(report):
        raise ValueError(contradiction)
    if not report.ok is footer.ok is not bool(footer.problems):
        raise ValueError("ok contradicts the rest of the report")
    return report


def result_of(line: ResultLine) -> Result:
    """Return the result that a line is of; ValueError where an element has no such type."""
    if line.dtype:
        _check_dtype(line.dtype)
    for name, value in line.attributes.items():
        _check_attribute(name, value, _MAX_DEPTH)
    worst = None if line.worst is None else _worst_of(line.worst, line.dtype)
    given = _fields(line)
    detail = given.pop("detail")
    if "why" not in given:
        given["why"] = told(line.verdict, detail, worst)
    return Result(**given | {"worst": worst})


def told(verdict: Verdict, detail: str, worst: Worst | None) -> Why | None:
    """Return the fact that is known of a result of a version that saved none."""
    if worst is not None:
        return WrongElements((Differing(worst.wrong, worst.total, worst.output),))
    if not detail:
        return None
    return Raised.parse(detail) if verdict in _REFUSED else Told(detail)


def _fields(line: Struct) -> dict[str, Any]:
    """Return the fields of a line, without those that it does not have."""
    return {name: value for name, value in asdict(line).items() if value is not UNSET}


def _worst_of(line: WorstObject, dtype: str) -> Worst:
    """Return the wrong element of a line, of an output of type `dtype` unless the line has one."""
    given = _fields(line)
    dtype = given.get("dtype", dtype)
    _check_dtype(dtype)
    for name in ("got", "expected", "first_got", "first_expected"):
        given[name] = _element(name, given[name], dtype)
    return convert(given, Worst, strict=False)  # reads the texts of what is not finite


def _element(name: str, value: float | str, dtype: str) -> float | int:
    """Return an element of a known type, as whatever prints it relies on."""
    if dtype in FLOATS:
        with suppress(OverflowError), np.errstate(all="ignore"):
            number = float(value)
            if np.isnan(number) or float(dtype_of(dtype).type(number)) == number:
                return number
    elif isinstance(value, int):
        limits = np.iinfo(dtype_of(dtype))
        if limits.min <= value <= limits.max:
            return value
    raise ValueError(f"{name} is {shortened(value)}, not an element of {dtype}")


def _check_dtype(dtype: str) -> None:
    if dtype not in FLOATS and dtype not in INTEGERS:
        raise ValueError(f"dtype is {shortened(dtype)}, not a known element type")


def _check_attribute(name: str, value: Any, depth: int) -> None:
    """Raise ValueError unless the value of an attribute is a scalar or lists of them."""
    if isinstance(value, list) and depth:
        for item in value:
            _check_attribute(name, item, depth - 1)
    elif isinstance(value, list | dict):
        kind = "an object" if isinstance(value, dict) else "nested too deeply"
        raise ValueError(f"attribute {shortened(name)} is {kind}")


def shortened(value: object) -> str:
    """Return the beginning of a value of unknown origin, on one line."""
    return cut(repr(value), 40)
