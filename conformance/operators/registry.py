"""The operators there are: those of this package, and those that installed packages add.

A package adds operators by an entry point in the group `conformance.operators` that names an
`Operator`, or a tuple of them. They are loaded when somebody first asks for an operator.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from conformance.errors import UsageError
from conformance.operators.adaptive_avg_pool import ADAPTIVE_AVG_POOL
from conformance.operators.avg_pool import AVG_POOL
from conformance.operators.clause import Clause
from conformance.operators.clauses import SHARED, clauses_of
from conformance.operators.max_pool import MAX_POOL
from conformance.operators.ngraph_avg_pool import NGRAPH_AVG_POOL
from conformance.operators.operator import Operator

GROUP = "conformance.operators"
OWN = (AVG_POOL, MAX_POOL, ADAPTIVE_AVG_POOL, NGRAPH_AVG_POOL)
"""The operators of this package, in the order in which they are shown."""


class _Operators(Mapping[str, Operator]):
    """Operators by name; UsageError where an installed package adds one that is not sound."""

    def __getitem__(self, name: str) -> Operator:
        return _known()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_known())

    def __len__(self) -> int:
        return len(_known())


class _Clauses(Mapping[str, Clause]):
    """Clauses by name, of all operators: disputed ones, undefined ones, rulings."""

    def __getitem__(self, name: str) -> Clause:
        return _known_clauses()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_known_clauses())

    def __len__(self) -> int:
        return len(_known_clauses())


OPERATORS: Mapping[str, Operator] = _Operators()
CLAUSES: Mapping[str, Clause] = _Clauses()


def operator_named(name: str) -> Operator:
    """Return an operator by name; UsageError lists the names there are."""
    if name not in OPERATORS:
        raise UsageError(f"unknown operator {name!r}; there are {', '.join(OPERATORS)}")
    return OPERATORS[name]


def concerned(clause: Clause) -> tuple[str, ...]:
    """Return the names of the operators that a clause concerns."""
    return tuple(
        name
        for name, operator in OPERATORS.items()
        if clauses_of(operator).get(clause.name) is clause
    )


class _Loading(threading.local):
    """What this thread has loaded so far while it loads packages, None when it does not."""

    operators: dict[str, Operator] | None = None


_loading = _Loading()


def _known() -> dict[str, Operator]:
    """Return all operators; to a package that is being loaded, those that it can extend."""
    return _loading.operators or _operators()


def _known_clauses() -> dict[str, Clause]:
    return _by_kind(_loading.operators) if _loading.operators else _clauses()


@cache
def _operators() -> dict[str, Operator]:
    found = _loading.operators = {operator.name: operator for operator in OWN}
    clauses = {clause.name: clause for clause in SHARED}
    try:
        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
        for point in points:
            for operator in _loaded(point):
                _check(point, operator, found, clauses)
                found[operator.name] = operator
                clauses |= {clause.name: clause for clause in operator.clauses}
    finally:
        _loading.operators = None
    return found


@cache
def _clauses() -> dict[str, Clause]:
    return _by_kind(_operators())


def _by_kind(operators: Mapping[str, Operator]) -> dict[str, Clause]:
    every = [*SHARED, *(each for operator in operators.values() for each in operator.clauses)]
    kinds = ("disputed", "undefined", "ruling")
    return {each.name: each for each in sorted(every, key=lambda each: kinds.index(each.kind))}


def _loaded(point: EntryPoint) -> tuple[Operator, ...]:
    try:
        value: Any = point.load()
    except (Exception, SystemExit) as error:
        raise _wrong(point, f"it does not load: {type(error).__name__}: {error}") from error
    several = tuple(value) if isinstance(value, tuple | list) else (value,)
    for each in several:
        if not isinstance(each, Operator):
            raise _wrong(point, f"it names a {type(each).__name__}, not an Operator")
    return several


def _check(
    point: EntryPoint,
    operator: Operator,
    known: Mapping[str, Operator],
    clauses: Mapping[str, Clause],
) -> None:
    if operator.name in known:
        raise _wrong(point, f"there is an operator {operator.name!r} already")
    for clause in operator.clauses:
        if clauses.get(clause.name, clause) is not clause:
            raise _wrong(point, f"there is another clause {clause.name!r} already")
    undefined = operator.reduction.undefined
    if undefined not in clauses_of(operator):
        raise _wrong(point, f"no clause {undefined!r} among those of {operator.name}")


def _wrong(point: EntryPoint, why: str) -> UsageError:
    of = f" of {point.dist.name}" if point.dist is not None else ""
    text = " ".join(f"operator{of} ({GROUP}: {point.name} = {point.value}): {why}".split())
    return UsageError(text)
