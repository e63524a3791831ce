"""Where failures concentrate: per value of each attribute, how many of its vectors fail."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log2
from typing import Any

from conformance.api.failure_groups import attributes_of
from conformance.operators import OPERATORS, Operator
from conformance.operators.attributes import Role
from conformance.record.report import FAILURES, Result, Verdict
from conformance.record.words import value_in_words
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


def concentrations(
    results: Iterable[Result], failing: Container[Verdict] = FAILURES
) -> list[Concentration]:
    """Return the attributes that take several values, the one that tells most first.

    `failing` are the verdicts that are failures; a failure that was expected is none. Vectors that
    the backend does not support are left out.
    Empty where nothing fails.
    """
    run: dict[str, Counter[str]] = defaultdict(Counter)
    failed_by: dict[str, Counter[str]] = defaultdict(Counter)
    total = failures = 0
    for result in results:
        if result.verdict == "unsupported":
            continue
        failed = result.verdict in failing and not result.expected
        total, failures = total + 1, failures + failed
        for attribute, value in _levels(result):
            run[attribute][value] += 1
            if failed:
                failed_by[attribute][value] += 1
    tables = [
        _concentration(attribute, counts, failed_by[attribute], failures, total)
        for attribute, counts in run.items()
        if failed_by[attribute] and len(counts) > 1
    ]
    return sorted(tables, key=lambda table: (-table.telling, table.attribute)) if failures else []


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
    origin = words.provenance(result.operator, result.provenance, result.source)
    yield "provenance", origin
    if result.shapes:
        yield "spatial axes", str(len(result.shapes[0]) - 2)
    operator = OPERATORS.get(result.operator)
    scalars = {a.key for a in operator.attributes if not a.is_list} if operator else set()
    for name, value in attributes_of(result).items():  # an invalid case may hold anything
        if isinstance(value, bool | str) or (name in scalars and isinstance(value, int)):
            yield name, value_in_words(value)
    if operator is not None:
        yield from _geometry(operator, result.attributes)
    for clause in result.clauses or ("none",):
        yield "clause that applies", clause


def _geometry(operator: Operator, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    kernel, strides = _numbers(operator, "kernel", given), _numbers(operator, "strides", given)
    if not kernel:
        return
    yield "kernel parity", _one({"odd" if k % 2 else "even" for k in kernel})
    if len(strides) == len(kernel):
        pairs = zip(strides, kernel, strict=True)
        side = _one({"below" if s < k else "above" if s > k else "equal to" for s, k in pairs})
        yield "stride and kernel", side if side == "mixed" else f"stride {side} kernel"
    roles: tuple[Role, ...] = ("pads_begin", "pads_end", "pads")
    keys = {attribute.key for attribute in operator.of_roles(roles).values()}
    if keys & given.keys():
        begin, end, both = (_numbers(operator, role, given) for role in roles)
        if attribute := operator.attribute("pads"):
            begin, end = attribute.by_role(both).values()
        kind = "equal at both ends" if begin == end else "unequal"
        yield "pads given", kind if any(begin + end) else "none"


def _numbers(operator: Operator, role: Role, given: Mapping[str, Any]) -> list[int]:
    """Return a list of integers; an invalid case may hold anything."""
    attribute = operator.attribute(role)
    value = given.get(attribute.key) if attribute else None
    whole = isinstance(value, list | tuple) and all(type(item) is int for item in value)
    return list(value) if value and whole else []


def _one(kinds: set[str]) -> str:
    return kinds.pop() if len(kinds) == 1 else "mixed"
