"""Failures sorted into few groups, each with what its vectors have in common."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from conformance.check.report import FAILURES, Report, Result, Verdict
from conformance.operators import OPERATORS
from conformance.report import values as words

_TRAITS_NAMED = 3
_KINDS = {
    "shape": "wrong shape",
    "dtype": "wrong dtype",
    "accepted": "no exception",
    "returned": "no array",
    "no": "no output stored",
}
"""What happened, by the first word of a result's detail."""
_GRAVEST = ("crashed", "timed-out")


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one operator and of one kind.

    `kind` says what happened. `shared` are traits that all of them have, the rarest first and
    few enough to remember; `alike` counts the vectors with these traits that were run.
    """

    operator: str
    kind: str
    results: tuple[Result, ...]
    shared: tuple[str, ...]
    alike: int

    @property
    def example(self) -> Result:
        """The failure with the least data."""
        return min(self.results, key=lambda result: prod(result.shapes[0]) if result.shapes else 0)


def failure_groups(report: Report) -> list[FailureGroup]:
    """Return the failures of a report that nobody expected in groups.

    Crashes and timeouts come first, then the largest groups.
    """
    failures: dict[tuple[str, str], list[Result]] = defaultdict(list)
    run: dict[str, list[frozenset[str]]] = defaultdict(list)
    failing = {operator for operator, n in report.counts_by_operator.items() if _failed(n)}
    for result in report.results:
        if result.operator not in failing or result.verdict == "unsupported":
            continue
        run[result.operator].append(traits(result))
        if result.verdict in FAILURES and not result.expected:
            failures[result.operator, kind_of(result)].append(result)
    groups = [
        group
        for (operator, kind), results in failures.items()
        for group in _groups(operator, kind, results, run[operator])
    ]
    return sorted(groups, key=lambda group: (group.kind not in _GRAVEST, -len(group.results)))


def kind_of(result: Result) -> str:
    """Say in two or three words what went wrong."""
    if result.verdict == "mismatch":
        if result.worst is not None:
            return (
                f"wrong values of {result.worst.output}" if result.worst.output else "wrong values"
            )
        if result.detail.startswith("follows "):
            return result.detail.partition(",")[0]
        return _kind_of_text(result.detail, result.operator)
    if result.verdict == "error":
        return f"raised {result.detail.partition(':')[0][:40]}"
    return result.verdict


def _kind_of_text(detail: str, operator: str) -> str:
    """Say what went wrong from a detail, which begins with the name of an output if of several."""
    outputs = OPERATORS[operator].outputs if operator in OPERATORS else ()
    for output in outputs if len(outputs) > 1 else ():
        if detail.startswith(f"{output.name}: "):
            rest = detail.removeprefix(f"{output.name}: ")
            return f"{_kind_of_text(rest, '')} of {output.name}"
    if re.match(r"returned \d", detail):
        return "wrong number of arrays"
    return _KINDS.get(detail.partition(" ")[0], "mismatch")


def traits(result: Result) -> frozenset[str]:
    """Return what a vector may have in common with others: attributes, type, rank, clauses."""
    declared = OPERATORS[result.operator].attributes if result.operator in OPERATORS else ()
    attributes = {a.key: a.default for a in declared if not a.is_list and not a.required}
    attributes |= result.attributes
    found = {words.attribute(name, value) for name, value in attributes.items()}
    found |= {f"dtype={result.dtype}", f"pattern={result.pattern}"}
    if result.shapes:
        axes = len(result.shapes[0]) - 2
        found.add(f"{axes} spatial {'axis' if axes == 1 else 'axes'}")
    found |= {f"clause {name}" for name in result.clauses}
    found |= {f"tag {tag}" for tag in result.tags}
    return frozenset(found)


def _failed(counts: Mapping[Verdict, int]) -> bool:
    return any(counts.get(verdict, 0) for verdict in FAILURES)


def _groups(
    operator: str, kind: str, results: Sequence[Result], run: Sequence[frozenset[str]]
) -> Iterator[FailureGroup]:
    """Yield one group if its vectors share a trait, else split off those of a telling trait."""
    rest = list(results)
    while rest:
        own = [traits(result) for result in rest]
        shared, alike = _rarest(reduce(frozenset.__and__, own), run)
        telling = "" if shared else _telling(own, run)
        taken = [r for r, t in zip(rest, own, strict=True) if not telling or telling in t]
        if telling:
            common = reduce(frozenset.__and__, [t for t in own if telling in t])
            shared, alike = _rarest(common, run)
        yield FailureGroup(operator, kind, tuple(taken), shared, alike)
        rest = [r for r, t in zip(rest, own, strict=True) if telling and telling not in t]


def _rarest(common: frozenset[str], run: Sequence[frozenset[str]]) -> tuple[tuple[str, ...], int]:
    """Return common traits that not every vector has, and how many vectors have them all."""
    alike = list(run)
    shared: list[str] = []
    rarity = {trait: sum(trait in each for each in run) for trait in common}
    for trait in sorted(common, key=lambda trait: (rarity[trait], trait)):
        narrowed = [each for each in alike if trait in each]
        if len(narrowed) < len(alike) and len(shared) < _TRAITS_NAMED:
            shared.append(trait)
            alike = narrowed
    return tuple(shared), len(alike)


def _telling(failing: Sequence[frozenset[str]], run: Sequence[frozenset[str]]) -> str:
    """Return the trait of most failures among those whose vectors fail more often than not."""
    best, most = "", 1
    for trait in sorted(frozenset().union(*failing)):
        hits = sum(trait in each for each in failing)
        if hits > most and 2 * hits > sum(trait in each for each in run):
            best, most = trait, hits
    return best
