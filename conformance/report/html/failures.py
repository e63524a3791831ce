"""Failures as a page shows them: causes, groups, and the facts of each failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

from conformance.check.report import Report, Result
from conformance.dtypes import FLOATS
from conformance.report import values as words
from conformance.report.groups import FailureGroup, failure_groups

Key = tuple[str, str]
"""Operator and id: what names a vector."""

_MOST_IDS = 12


@dataclass(frozen=True, slots=True)
class Link:
    """A jump to group or cause `number`, which shares `count` failures."""

    number: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A group of failures, numbered from one, the failure with the least data first."""

    number: int
    source: FailureGroup
    results: tuple[Result, ...]
    causes: tuple[Link, ...]

    @property
    def title(self) -> str:
        """What went wrong, without a number."""
        return f"{self.source.operator}: {self.source.kind}"

    @property
    def example(self) -> Result:
        """The failure shown in full."""
        return self.results[0]

    @property
    def others(self) -> tuple[Result, ...]:
        """A few of the others."""
        return self.results[1 : 1 + _MOST_IDS]


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """A diagnosis, numbered from one, and the groups that its failures are in."""

    number: int
    source: Any
    groups: tuple[Link, ...]

    @property
    def share(self) -> float:
        """Part of the failures that it explains, 0 to 1."""
        return self.source.explained / self.source.total if self.source.total else 0.0


def key_of(result: Result) -> Key:
    """Return what names the vector of a result."""
    return result.operator, result.id


def grouped(report: Report) -> tuple[list[Group], list[Cause]]:
    """Return groups and causes, each with jumps to the other."""
    sources = failure_groups(report)
    ordered = [tuple(sorted(source.results, key=_size)) for source in sources]
    causes_of = _causes_of(report)
    found = [_shared(causes_of, results) for results in ordered]
    groups = [
        Group(number, source, results, _links(causes))
        for number, (source, results, causes) in enumerate(
            zip(sources, ordered, found, strict=True), 1
        )
    ]
    causes = [
        Cause(
            number,
            diagnosis,
            _links(Counter({g: counts[number] for g, counts in enumerate(found, 1)})),
        )
        for number, diagnosis in enumerate(report.diagnoses, 1)
    ]
    return groups, causes


def facts(result: Result) -> list[tuple[str, str]]:
    """Return what there is to say of a failure, as pairs of name and text."""
    data = [f"{result.dtype} {words.shape(result.shapes[0])}"] if result.shapes else []
    attributes = [words.attribute(*each) for each in result.attributes.items()]
    source = f"{result.source} ({result.provenance})" if result.source else ""
    every = {
        "what": result.detail or result.verdict,
        "attributes": "  ".join(attributes),
        "data": ", ".join(filter(None, [*data, result.pattern])),
        "clauses": ", ".join(result.clauses),
        "source": source,
        "tags": ", ".join(result.tags),
    }
    return [(name, text) for name, text in every.items() if text]


ELEMENT_COLUMNS = ("element", "place", "got", "expected", "error", "ulp", "allowed")


def elements(result: Result) -> list[tuple[str, ...]]:
    """Return rows of `ELEMENT_COLUMNS` for the first and the worst wrong element."""
    worst = result.worst
    if worst is None:
        return []
    dtype = result.worst_dtype

    def row(label: str, index: Sequence[int], got: float, expected: float) -> tuple[str, ...]:
        values = (words.exact(value, dtype) for value in (got, expected))
        return (label, f"{worst.output}[{', '.join(map(str, index))}]", *values)

    error = f"{worst.error:.3g}" if isfinite(worst.error) else "not finite"
    shown = dtype in FLOATS and isfinite(worst.ulp)
    far = (error, f"{worst.ulp:.3g}" if shown else "", f"{worst.bound:.3g}")
    last = (*row("worst", worst.index, worst.got, worst.expected), *far)
    if worst.first_index in {(), worst.index}:
        return [(("first and " if worst.wrong > 1 else "") + last[0], *last[1:])]
    first = row("first", worst.first_index, worst.first_got, worst.first_expected)
    return [(*first, "", "", ""), last]


def causes_by_key(causes: Sequence[Cause]) -> dict[str, list[int]]:
    """Return the numbers of the causes that explain each id."""
    found: dict[str, list[int]] = {}
    for cause in causes:
        for each in cause.source.vectors:
            found.setdefault(each, []).append(cause.number)
    return found


def _causes_of(report: Report) -> dict[str, list[int]]:
    return causes_by_key([Cause(n, each, ()) for n, each in enumerate(report.diagnoses, 1)])


def _shared(causes_of: dict[str, list[int]], results: Sequence[Result]) -> Counter[int]:
    return Counter(number for result in results for number in causes_of.get(result.id, ()))


def _links(counts: Counter[int]) -> tuple[Link, ...]:
    return tuple(Link(number, count) for number, count in counts.most_common() if count)


def _size(result: Result) -> int:
    return prod(result.shapes[0]) if result.shapes else 0


def in_turn(groups: Sequence[Group]) -> Iterator[tuple[Group, Result]]:
    """Yield the failures: one of each group, then another of each, and so on."""
    for place in range(max((len(group.results) for group in groups), default=0)):
        for group in groups:
            if place < len(group.results):
                yield group, group.results[place]
