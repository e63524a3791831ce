"""Parts of a report as values that JSON has, and back with every value checked.

NaN and the infinities, which JSON lacks, are the texts "nan", "inf" and "-inf". What is read may
be a stranger's: each function here returns a sound value or raises ValueError with one line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from conformance.check.report import (
    VERDICTS,
    Accuracy,
    ClauseReport,
    Expectations,
    OutputReport,
    Repeatability,
    Result,
    UndefinedReport,
    VectorsUsed,
    Verdict,
    Worst,
)
from conformance.dtypes import FLOATS, INTEGERS, dtype_of

T = TypeVar("T")
Object = Mapping[str, Any]

_NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_STATUSES = ("followed", "either", "split", "inconsistent")
_DTYPES = frozenset((*FLOATS, *INTEGERS, ""))
_LARGEST = 2**63
_DEPTH = 8
"""Lists within lists that an attribute may be."""


def plain(value: Any) -> Any:
    """Return a value, or a dataclass of them, as JSON has it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    return {f.name: plain(getattr(value, f.name)) for f in fields(value)}


def result_fields(result: Result) -> dict[str, Any]:
    """Return every field of a result but its output."""
    worst = result.worst
    return {
        "id": result.id,
        "operator": result.operator,
        "verdict": result.verdict,
        "attributes": plain(result.attributes),
        "dtype": result.dtype,
        "shapes": result.shapes,
        "detail": result.detail,
        "worst": None if worst is None else _worst_fields(worst),
        "tier": result.tier,
        "pattern": result.pattern,
        "source": result.source,
        "provenance": result.provenance,
        "tags": result.tags,
        "readings": [*map(dict, result.readings)],
        "clauses": dict(result.clauses),
        "printed": result.printed,
        "expected": result.expected,
        "excused": [*map(dict, result.excused)],
    }


def _worst_fields(worst: Worst) -> dict[str, Any]:
    """Return the fields of a wrong element; which output it is of only where there are several."""
    found: dict[str, Any] = plain(worst)
    if not worst.output:
        for name in ("output", "number", "dtype"):
            del found[name]
    return found


def result_of(line: Object) -> Result:
    """Return the result that a line holds."""
    dtype = text(line, "dtype")
    if dtype not in _DTYPES:
        raise _wrong(line, "dtype", "a known element type")
    shapes = each(line, "shapes", _extents)
    return Result(
        id=text(line, "id"),
        operator=text(line, "operator"),
        verdict=_verdict(text(line, "verdict")),
        attributes=_attributes(line),
        dtype=dtype,
        shapes=shapes,
        detail=text(line, "detail"),
        worst=optional(line, "worst", lambda worst: _worst(worst, dtype)),
        tier=text(line, "tier"),
        pattern=text(line, "pattern"),
        source=text(line, "source"),
        provenance=text(line, "provenance"),
        tags=each(line, "tags", _is_text),
        readings=each(line, "readings", _texts_by_text),
        clauses=by_text(line, "clauses", _texts),
        printed=text(line, "printed"),
        expected=text(line, "expected"),
        excused=each(line, "excused", _texts_by_text),
    )


def used_of(line: Any) -> VectorsUsed:
    """Return what a header says of the vectors of one operator."""
    return VectorsUsed(
        operator=text(line, "operator"),
        path=text(line, "path"),
        digest=text(line, "digest"),
        selected=count(line, "selected"),
        total=count(line, "total"),
    )


def clause_of(line: Any) -> ClauseReport:
    """Return the report on a clause."""
    if line.get("status") not in _STATUSES:
        raise _wrong(line, "status", f"one of {', '.join(_STATUSES)}")
    return ClauseReport(
        clause=text(line, "clause"),
        status=line["status"],
        followed=optional(line, "followed", _is_text),
        by=optional(line, "by", _is_text),
        values=by_text(line, "values", _is_text),
        counts=by_text(line, "counts", _is_count),
        touched=count(line, "touched"),
    )


def undefined_of(line: Any) -> UndefinedReport:
    """Return what was done where a clause leaves something undefined."""
    return UndefinedReport(text(line, "clause"), by_text(line, "counts", _is_count))


def output_of(line: Any) -> OutputReport:
    """Return how often an output was computed."""
    return OutputReport(
        operator=text(line, "operator"),
        output=text(line, "output"),
        computed=count(line, "computed"),
        vectors=count(line, "vectors"),
    )


def accuracy_of(line: Any) -> Accuracy:
    """Return the accuracy of one element type."""
    return Accuracy(
        dtype=text(line, "dtype"),
        elements=count(line, "elements"),
        correctly_rounded=number(line, "correctly_rounded"),
        worst_ulp=number(line, "worst_ulp"),
        worst_of_bound=number(line, "worst_of_bound"),
    )


def repeated_of(line: Any) -> Repeatability:
    """Return what a second call of some vectors gave."""
    return Repeatability(
        sampled=count(line, "sampled"),
        differing=each(line, "differing", _is_text),
        failing=each(line, "failing", _is_text),
    )


def expectations_of(line: Any) -> Expectations:
    """Return what became of announced failures."""
    return Expectations(
        path=text(line, "path"),
        met=dict(counts(line, "met")),
        inconsistent=each(line, "inconsistent", _is_text),
        passed=each(line, "passed", _is_text),
        unmatched=each(line, "unmatched", _is_text),
        announced=each(line, "announced", _is_text),
    )


def diagnosis_of(line: Any) -> Any:
    """Return a likely cause."""
    from conformance.faults.diagnosis import Diagnosis  # noqa: PLC0415 - the whole catalogue

    return Diagnosis(
        summary=text(line, "summary"),
        faults=each(line, "faults", _is_text),
        explained=count(line, "explained"),
        exact=count(line, "exact"),
        total=count(line, "total"),
        contradicted=count(line, "contradicted"),
        conforming=count(line, "conforming"),
        condition=text(line, "condition"),
        alternatives=each(line, "alternatives", _is_text),
        threads=each(line, "threads", _is_text),
        vectors=each(line, "vectors", _is_text),
    )


def text(line: Any, name: str) -> str:
    """Return a field that is a text."""
    value = line.get(name)
    if type(value) is str:
        return value
    raise _wrong(line, name, "a text")


def count(line: Any, name: str) -> int:
    """Return a field that is a number of things."""
    value = line.get(name)
    if type(value) is int and 0 <= value < _LARGEST:
        return value
    raise _wrong(line, name, "a count")


def truth(line: Object, name: str) -> bool:
    """Return a field that is true or false."""
    value = line.get(name)
    if type(value) is bool:
        return value
    raise _wrong(line, name, "true or false")


def number(line: Any, name: str) -> float:
    """Return a field that is a number, or a text for one that is not finite."""
    value = line.get(name)
    if type(value) is float or (type(value) is int and abs(value) < _LARGEST):
        return float(value)
    if type(value) is str and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    raise _wrong(line, name, "a number")


def counts(line: Object, name: str) -> Counter[Verdict]:
    """Return a field that counts verdicts."""
    return _item(_counts, line.get(name), name)


def counts_by_operator(line: Object, name: str) -> dict[str, Counter[Verdict]]:
    """Return a field that counts verdicts for each operator."""
    return by_text(line, name, _counts)


def texts_by_text(line: Object, name: str) -> dict[str, str]:
    """Return a field that maps texts to texts."""
    return by_text(line, name, _is_text)


def texts(line: Object, name: str) -> tuple[str, ...]:
    """Return a field that lists texts."""
    return each(line, name, _is_text)


def each(line: Any, name: str, read: Callable[[Any], T]) -> tuple[T, ...]:
    """Return a field that is a list, with each of its items read."""
    value = line.get(name)
    if type(value) is not list:
        raise _wrong(line, name, "a list")
    return tuple([_item(read, item, name) for item in value])


def by_text(line: Any, name: str, read: Callable[[Any], T]) -> dict[str, T]:
    """Return a field that maps texts to values, with each of these read."""
    value = line.get(name)
    if type(value) is not dict:
        raise _wrong(line, name, "an object")
    return {key: _item(read, item, name) for key, item in value.items()}


def optional(line: Object, name: str, read: Callable[[Any], T]) -> T | None:
    """Return a field that is null or something to read."""
    value = line.get(name)
    return None if value is None else _item(read, value, name)


def _item(read: Callable[[Any], T], value: Any, name: str) -> T:
    try:
        return read(value)
    except (AttributeError, TypeError):  # a list, a number or a text in place of an object
        raise ValueError(f"{name} holds {_short(value)}") from None


def _wrong(line: Any, name: str, what: str) -> ValueError:
    if name not in line:
        return ValueError(f"{name} is missing")
    return ValueError(f"{name} is {_short(line[name])}, not {what}")


def _short(value: Any) -> str:
    """Return the beginning of a value; what it holds is left out, since it may be deep."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return "a giant number"
    found = repr(value)
    return found if len(found) <= 40 else f"{found[:37]}..."


def _verdict(value: str) -> Verdict:
    if value in VERDICTS:
        return value
    raise ValueError(f"verdict {_short(value)} is not one of {', '.join(VERDICTS)}")


def _is_text(value: Any) -> str:
    if type(value) is str:
        return value
    raise TypeError


def _is_count(value: Any) -> int:
    if type(value) is int and 0 <= value < _LARGEST:
        return value
    raise TypeError


def _counts(value: Any) -> Counter[Verdict]:
    if type(value) is dict:
        return Counter({_verdict(verdict): _is_count(found) for verdict, found in value.items()})
    raise TypeError


def _texts(value: Any) -> tuple[str, ...]:
    if type(value) is list:
        return tuple(map(_is_text, value))
    raise TypeError


def _texts_by_text(value: Any) -> dict[str, str]:
    if type(value) is dict:
        for item in value.values():
            _is_text(item)
        return value
    raise TypeError


def _extents(value: Any) -> tuple[int, ...]:
    if type(value) is list:
        return tuple(map(_is_count, value))
    raise TypeError


def _attributes(line: Object) -> dict[str, Any]:
    value = line.get("attributes")
    if type(value) is not dict:
        raise _wrong(line, "attributes", "an object")
    for name, item in value.items():
        _attribute(name, item, _DEPTH)
    return value


def _attribute(name: str, value: Any, depth: int) -> None:
    if type(value) is list and depth:
        for item in value:
            _attribute(name, item, depth - 1)
    elif not (value is None or type(value) in {bool, int, float, str}):
        raise ValueError(f"attribute {_short(name)} is {_short(value)}")


def _worst(line: Any, dtype: str) -> Worst:
    def element(name: str) -> float | int:
        value = number(line, name) if dtype in FLOATS else line.get(name)
        if _is_element(value, dtype):
            return value
        raise _wrong(line, name, f"an element of {dtype or 'no type'}")

    several = "output" in line
    if several:
        dtype = text(line, "dtype")
        if dtype not in _DTYPES:
            raise _wrong(line, "dtype", "a known element type")
    return Worst(
        index=_extents(line.get("index")),
        got=element("got"),
        expected=element("expected"),
        error=number(line, "error"),
        ulp=number(line, "ulp"),
        bound=number(line, "bound"),
        wrong=count(line, "wrong"),
        total=count(line, "total"),
        first_index=_extents(line.get("first_index")),
        first_got=element("first_got"),
        first_expected=element("first_expected"),
        output=text(line, "output") if several else "",
        number=count(line, "number") if several else 0,
        dtype=dtype if several else "",
    )


def _is_element(value: Any, dtype: str) -> bool:
    """Say whether a number is a value of an element type, as what prints it relies on."""
    if not dtype:
        return False
    if dtype in FLOATS:
        with np.errstate(all="ignore"):
            return bool(np.isnan(value) or float(dtype_of(dtype).type(value)) == value)
    kind = np.iinfo(dtype_of(dtype))
    return type(value) is int and kind.min <= value <= kind.max
