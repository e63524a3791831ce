"""Failures sorted into few groups, each with what its vectors have in common."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, zip_longest
from math import inf, prod
from typing import Any

from conformance.judging.failure_kinds import exception_of, kind_of
from conformance.operators import OPERATORS
from conformance.record.report import Diagnosis, Report, Result
from conformance.record.words import attribute_in_words
from conformance.text import cut, listed
from conformance.vector import own_inputs

_TRAITS_NAMED = 3
_GRAVEST = ("crashed", "timed-out")
_OPERATORS_NAMED = 3
_CHANNELS = (1, 4, 8, 16, 32)
_ROWS = (16, 64, 256, 1024)
"""Numbers of channels above which blocked layouts and vector units take other paths."""
_MESSAGE = 60
"""Characters of the message of an exception that a title has."""


Key = tuple[str, str]
"""Operator and id: what names a vector."""


@dataclass(frozen=True, slots=True)
class Link:
    """A jump to group or cause `number`, which shares `count` failures."""

    number: int
    count: int


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures that are probably one bug: of one cause, or with one message, or alike.

    `operators` are those of the failures, and `kind` says what happened. `results` are in the
    order of their size: the first, the example, has the least data. `shared` are traits that all
    of them have, the rarest first and few enough to remember; `alike` counts the vectors of the
    operators with these traits that were run. Groups are numbered from one; `causes` are those
    that explain some of the failures.
    """

    operators: tuple[str, ...]
    kind: str
    results: tuple[Result, ...]
    shared: tuple[str, ...]
    alike: int
    number: int = 0
    causes: tuple[Link, ...] = ()

    @property
    def title(self) -> str:
        """What went wrong, without a number."""
        several = len(self.operators) > _OPERATORS_NAMED
        names = f"{len(self.operators)} operators" if several else listed(self.operators)
        return f"{names}: {self.kind}"

    @property
    def example(self) -> Result:
        """The failure shown in full."""
        return self.results[0]


def failure_groups(report: Report) -> list[FailureGroup]:
    """Return the failures of a report that nobody expected in groups.

    Exceptions with the same message are a group, then failures of the same cause. What is left
    is sorted by operator and kind, and then by what the vectors share; groups of several operators
    that share the same are one. Crashes and timeouts come first, then groups in the order of the
    causes that explain most of them, then those without a cause, the largest first.
    """
    causes = causes_by_id(report.diagnoses)
    named = {number for number, found in enumerate(report.diagnoses, 1) if found.is_known}
    bugs: dict[tuple[str | int, ...], list[_Failure]] = defaultdict(list)
    others: dict[tuple[str, str], list[_Failure]] = defaultdict(list)
    run: dict[str, list[frozenset[str]]] = defaultdict(list)
    failing = {
        operator
        for operator, counts in report.counts_by_operator.items()
        if any(counts.get(verdict, 0) for verdict in report.failing)
    }
    for result in report.results if failing else ():
        if result.operator not in failing or result.verdict == "unsupported":
            continue
        traits_of_result = traits(result)
        run[result.operator].append(traits_of_result)
        if result.verdict in report.failing and not result.expected:
            failure = _Failure(result, traits_of_result)
            cause = next((number for number in causes.get(result.id, ()) if number in named), 0)
            if result.verdict == "error":
                bugs["raised", exception_of(result)].append(failure)
            elif cause:
                bugs["cause", cause].append(failure)
            else:
                others[result.operator, kind_of(result)].append(failure)
    counts = {operator: Counter(chain.from_iterable(sets)) for operator, sets in run.items()}
    groups = [_of_one_bug(failures, run, counts) for failures in bugs.values()]
    groups += _joined(
        group
        for (operator, kind), failures in others.items()
        for group in _groups(operator, kind, failures, run[operator], counts[operator])
    )
    groups = [replace(group, causes=_causes(group, causes)) for group in groups]
    groups.sort(key=_importance)
    return [replace(group, number=number) for number, group in enumerate(groups, 1)]


def _importance(group: FailureGroup) -> tuple[bool, float, int]:
    """Return what orders groups: crashes, then as their causes are listed, then by size."""
    first = group.causes[0].number if group.causes else inf
    return group.kind not in _GRAVEST, first, -len(group.results)


@dataclass(frozen=True, slots=True)
class _Failure:
    result: Result
    traits: frozenset[str]


def causes_by_id(diagnoses: Sequence[Diagnosis]) -> dict[str, list[int]]:
    """Return, for the id of each vector explained, the numbers of its causes, from one."""
    numbers: dict[str, list[int]] = {}
    for number, diagnosis in enumerate(diagnoses, 1):
        for vector_id in diagnosis.vectors:
            numbers.setdefault(vector_id, []).append(number)
    return numbers


def _causes(group: FailureGroup, causes: Mapping[str, Sequence[int]]) -> tuple[Link, ...]:
    explained = Counter(n for result in group.results for n in causes.get(result.id, ()))
    return tuple(Link(number, count) for number, count in explained.most_common())


def groups_of_cause(number: int, groups: Sequence[FailureGroup]) -> list[Link]:
    """Return the groups that share failures with the cause of a number, the largest part first."""
    links = [
        Link(group.number, link.count)
        for group in groups
        for link in group.causes
        if link.number == number
    ]
    return sorted(links, key=lambda link: -link.count)


def key_of(result: Result) -> Key:
    """Return what names the vector of a result."""
    return result.operator, result.id


def round_robin(groups: Sequence[FailureGroup]) -> Iterator[tuple[FailureGroup, Result]]:
    """Yield the failures with their groups: the first of all groups, then the second, and so on."""
    for turn in zip_longest(*(group.results for group in groups)):
        for group, result in zip(groups, turn, strict=True):
            if result is not None:
                yield group, result


def attributes_of(result: Result) -> dict[str, Any]:
    """Return attributes by their names: those with one value that are absent as their default."""
    declared = OPERATORS[result.operator].attributes if result.operator in OPERATORS else ()
    defaults = {a.key: a.default for a in declared if not a.is_list and not a.required}
    return defaults | dict(result.attributes)


def traits(result: Result) -> frozenset[str]:
    """Return what a vector may have in common with others: attributes, type, rank, clauses."""
    names = {attribute_in_words(name, value) for name, value in attributes_of(result).items()}
    names |= {f"dtype={result.dtype}", f"pattern={result.pattern}"}
    shape = next(iter(own_inputs(result.operator, result.shapes)), ())
    if len(shape) > 1:
        batch, channels, *sizes = shape
        names |= {f"more than {n} channels" for n in _CHANNELS if channels > n}
        names |= {"a batch of more than 1"} if batch > 1 else set()
        names |= {f"rows of more than {n} cells" for n in _ROWS if sizes and sizes[-1] > n}
        names.add(f"{len(sizes)} spatial {'axis' if len(sizes) == 1 else 'axes'}")
    names |= {f"clause {name}" for name in result.clauses}
    names |= {f"tag {tag}" for tag in result.tags}
    names |= {f"called {name}" for name in result.variations}
    return frozenset(names)


def _of_one_bug(
    failures: Sequence[_Failure],
    run: Mapping[str, Sequence[frozenset[str]]],
    counts: Mapping[str, Counter[str]],
) -> FailureGroup:
    """Return a group of failures of any operators; `run` and `counts` as in `_groups`."""
    results = [failure.result for failure in failures]
    operators = tuple(dict.fromkeys(result.operator for result in results))
    of_operators = [traits for operator in operators for traits in run[operator]]
    total = sum((counts[operator] for operator in operators), Counter[str]())
    shared, alike = _rarest(_common(failures), of_operators, total)
    if all(result.verdict == "error" for result in results):
        kind = f"raised {cut(exception_of(results[0]), _MESSAGE)}"
    else:
        kind = listed([kind for kind, _ in Counter(map(kind_of, results)).most_common()])
    return FailureGroup(operators, kind, tuple(sorted(results, key=_size)), shared, alike)


def _groups(
    operator: str,
    kind: str,
    failures: Sequence[_Failure],
    run: Sequence[frozenset[str]],
    counts: Counter[str],
) -> Iterator[FailureGroup]:
    """Yield one group if all failures share a trait, else split off those of a telling trait.

    `run` are the traits of every vector that was run, `counts` the vectors per trait.
    """
    rest = list(failures)
    while rest:
        shared, alike = _rarest(_common(rest), run, counts)
        telling = "" if shared else _telling(rest, counts)
        taken = [failure for failure in rest if not telling or telling in failure.traits]
        if telling:
            shared, alike = _rarest(_common(taken), run, counts)
        results = sorted((failure.result for failure in taken), key=_size)
        yield FailureGroup((operator,), kind, tuple(results), shared, alike)
        rest = [f for f in rest if telling and telling not in f.traits]


def _joined(groups: Iterable[FailureGroup]) -> Iterator[FailureGroup]:
    """Yield groups, those of one kind with the same shared traits as one."""
    alike: dict[tuple[str, tuple[str, ...]], list[FailureGroup]] = defaultdict(list)
    for group in groups:
        if group.shared:
            alike[group.kind, group.shared].append(group)
        else:  # nothing says that other operators fail for the same reason
            yield group
    for same in alike.values():
        results = sorted((result for group in same for result in group.results), key=_size)
        yield replace(
            same[0],
            operators=tuple(dict.fromkeys(chain(*(group.operators for group in same)))),
            results=tuple(results),
            alike=sum(group.alike for group in same),
        )


def _size(result: Result) -> int:
    return prod(result.shapes[0]) if result.shapes else 0


def _common(failures: Sequence[_Failure]) -> frozenset[str]:
    return reduce(frozenset.__and__, (failure.traits for failure in failures))


def _rarest(
    common: frozenset[str], run: Sequence[frozenset[str]], counts: Counter[str]
) -> tuple[tuple[str, ...], int]:
    """Return common traits that not every vector has, and how many vectors have them all."""
    alike = list(run)
    shared: list[str] = []
    for trait in sorted(common, key=lambda trait: (counts[trait], trait)):
        narrowed = [traits for traits in alike if trait in traits]
        if len(narrowed) < len(alike):
            shared.append(trait)
            alike = narrowed
        if len(shared) == _TRAITS_NAMED or counts[trait] == len(run):
            break
    return tuple(shared), len(alike)


def _telling(failures: Sequence[_Failure], counts: Counter[str]) -> str:
    """Return the trait of most failures among those whose vectors fail more often than not."""
    best, most = "", 1
    failing = Counter(chain.from_iterable(failure.traits for failure in failures))
    for trait in sorted(failing):
        if failing[trait] > most and 2 * failing[trait] > counts[trait]:
            best, most = trait, failing[trait]
    return best
