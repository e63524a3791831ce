"""Where failures concentrate: per value of each attribute, how many of its vectors fail."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log2
from typing import Any

from conformance.check.report import FAILURES, Result
from conformance.operators import OPERATORS, Operator
from conformance.operators.attributes import Attribute, Role
from conformance.report import values as words

_MOST_ROWS = 12


@dataclass(frozen=True, slots=True)
class Row:
    """A value of an attribute: `failing` of the `run` vectors that have it fail."""

    value: str
    failing: int
    run: int

    @property
    def share(self) -> float:
        """Part of the vectors with this value that fail, 0 to 1."""
        return self.failing / self.run if self.run else 0.0


@dataclass(frozen=True, slots=True)
class Concentration:
    """The values of one attribute, those that fail most first; `more` values are left out.

    `telling` says how much the value that tells most says of the verdict, in bits per vector of
    the run. A vector may have several values, of clauses.
    """

    attribute: str
    rows: tuple[Row, ...]
    more: int
    telling: float


def concentrations(results: Iterable[Result]) -> list[Concentration]:
    """Return the attributes that take several values, the one that tells most first.

    Vectors that the backend does not support are left out; a failure that was expected is none.
    Empty where nothing fails.
    """
    run: dict[str, Counter[str]] = defaultdict(Counter)
    failing: dict[str, Counter[str]] = defaultdict(Counter)
    total = failures = 0
    for result in results:
        if result.verdict == "unsupported":
            continue
        failed = result.verdict in FAILURES and not result.expected
        total, failures = total + 1, failures + failed
        for attribute, value in _levels(result):
            run[attribute][value] += 1
            if failed:
                failing[attribute][value] += 1
    found = [
        _concentration(attribute, counts, failing[attribute], failures, total)
        for attribute, counts in run.items()
        if failing[attribute] and len(counts) > 1
    ]
    return sorted(found, key=lambda each: (-each.telling, each.attribute)) if failures else []


def _concentration(
    attribute: str, run: Counter[str], failing: Counter[str], failures: int, total: int
) -> Concentration:
    rows = [Row(value or "(empty)", failing[value], count) for value, count in run.items()]
    rows.sort(key=lambda row: (-row.share, -row.failing, row.value))
    telling = max(_telling(row, failures, total) for row in rows)
    more = max(0, len(rows) - _MOST_ROWS)
    return Concentration(attribute, tuple(rows[:_MOST_ROWS]), more, telling)


def _telling(row: Row, failures: int, total: int) -> float:
    """Return what knowing whether a vector has the value tells of whether it fails, in bits."""
    rest = total - row.run
    others = _entropy((failures - row.failing) / rest) * rest if rest else 0.0
    return max(0.0, _entropy(failures / total) - (row.run * _entropy(row.share) + others) / total)


def _entropy(share: float) -> float:
    return -sum(p * log2(p) for p in (share, 1 - share) if p > 0)


def _levels(result: Result) -> Iterator[tuple[str, str]]:
    yield "operator", result.operator
    yield "dtype", result.dtype
    yield "pattern of the data", result.pattern
    yield "tier", result.tier
    yield "provenance", result.provenance
    if result.shapes:
        yield "spatial axes", str(len(result.shapes[0]) - 2)
    operator = OPERATORS.get(result.operator)
    yield from _words(operator.attributes if operator else (), result.attributes)
    if operator is not None:
        yield from _geometry(operator, result.attributes)
    for clause in result.clauses or ("none",):
        yield "clause that touches it", clause


def _words(declared: Iterable[Attribute], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the attributes that have a few values each, and what others an invalid case has."""
    words_of = {a.key: a for a in declared if not a.is_list}
    defaults = {key: a.default for key, a in words_of.items() if not a.required}
    for name, value in (defaults | dict(given)).items():
        if isinstance(value, bool | str) or (name in words_of and isinstance(value, int)):
            yield name, words.plain(value)


def _geometry(operator: Operator, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    kernel, strides = _numbers(operator, "kernel", given), _numbers(operator, "strides", given)
    if kernel:
        yield "kernel parity", _one({"odd" if k % 2 else "even" for k in kernel})
    if kernel and len(strides) == len(kernel):
        pairs = list(zip(strides, kernel, strict=True))
        sides = {"below" if s < k else "above" if s > k else "equal to" for s, k in pairs}
        side = _one(sides)
        yield "stride and kernel", side if side == "mixed" else f"stride {side} kernel"
    roles: tuple[Role, ...] = ("pads_begin", "pads_end", "pads")
    keys = {attribute.key for role in roles if (attribute := operator.attribute(role))}
    if kernel and keys & given.keys():
        begin, end = _pads(operator, given)
        kind = "equal at both ends" if begin == end else "unequal"
        yield "pads given", kind if any(begin + end) else "none"


def _pads(operator: Operator, given: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    attribute = operator.attribute("pads")
    if attribute is not None:
        ends = attribute.by_role(_numbers(operator, "pads", given))
        return ends["pads_begin"], ends["pads_end"]
    return _numbers(operator, "pads_begin", given), _numbers(operator, "pads_end", given)


def _numbers(operator: Operator, role: Role, given: Mapping[str, Any]) -> list[int]:
    attribute = operator.attribute(role)
    return _ints(given.get(attribute.key)) if attribute else []


def _ints(value: Any) -> list[int]:
    """Return a list of integers; an invalid case may hold anything."""
    whole = isinstance(value, list | tuple) and all(type(item) is int for item in value)
    return list(value) if whole else []


def _one(kinds: set[str]) -> str:
    return kinds.pop() if len(kinds) == 1 else "mixed"
