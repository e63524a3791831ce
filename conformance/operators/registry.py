"""All operators: those of this package, and those that installed packages add.

A package adds operators by an entry point in the group `conformance.operators` that names an
`Operator`, or a tuple of them. Entry points are loaded at the first use of OPERATORS or CLAUSES.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from conformance.errors import UsageError
from conformance.operators.clause import Clause
from conformance.operators.clauses import SHARED, clauses_of
from conformance.operators.documents import OWN
from conformance.operators.gradients import backward
from conformance.operators.operator import Operator
from conformance.text import did_you_mean, quoted

_VERSION = re.compile(r"\d+d?(?=(-backward)?$)")
GROUP = "conformance.operators"

Value = TypeVar("Value")


class _LazyMapping(Mapping[str, Value]):
    """A mapping whose contents are loaded when they are first asked for."""

    def __init__(self, load: Callable[[], Mapping[str, Value]]) -> None:
        self._load = load

    def __getitem__(self, name: str) -> Value:
        return self._load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())


class _Loading(threading.local):
    """The operators that this thread has loaded so far; None unless it is loading packages."""

    operators: dict[str, Operator] | None = None


_loading = _Loading()


def _available_operators() -> dict[str, Operator]:
    """Return all operators; while packages are loaded, those so far, which a package may extend."""
    return _loading.operators or _operators()


def _available_clauses() -> dict[str, Clause]:
    return _by_kind(_loading.operators) if _loading.operators else _clauses()


OPERATORS: Mapping[str, Operator] = _LazyMapping(_available_operators)
"""All operators by name; UsageError if an installed package adds one that cannot be used."""
CLAUSES: Mapping[str, Clause] = _LazyMapping(_available_clauses)
"""The clauses of all operators by name: disputed ones, undefined ones, rulings."""


def operator_named(name: str) -> Operator:
    """Return an operator by name; UsageError says what is like it and there."""
    try:
        return OPERATORS[name]
    except KeyError:
        families = dict.fromkeys(operator.family for operator in OPERATORS.values())
        raise UsageError(
            f"unknown operator {quoted(name)}{did_you_mean(name, [*OPERATORS, *families])}: see "
            f"conformance list, or name a family: {', '.join(families)}"
        ) from None


def operators_named(
    given: str | Sequence[str] | None, held: Sequence[str] | None = None
) -> list[str]:
    """Return the names that some names, globs over names, and families stand for; None: all.

    A family is the first word of a document's name: "onnx", for example. With `held`, those of
    which there are vectors; without, None stands for the newest version of each. UsageError
    for what stands for no operator, or for none that is held.
    """
    names = list(OPERATORS if held is None else held)
    if given is None:
        return [n for n in names if held is not None or OPERATORS[n].newest is OPERATORS[n]]
    chosen: dict[str, None] = {}
    for word in [given] if isinstance(given, str) else given:
        meant = [name for name in OPERATORS if _stands_for(word, OPERATORS[name])]
        if not meant:
            operator_named(word)
        found = [name for name in names if name in meant]
        if not found:
            raise UsageError(f"no vectors of {word}; there are vectors of {', '.join(names)}")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def _stands_for(word: str, operator: Operator) -> bool:
    return word == operator.family or fnmatchcase(operator.name, word)


def disputed_clauses() -> dict[str, Clause]:
    """Return the disputed clauses of all operators by name."""
    return {name: clause for name, clause in CLAUSES.items() if clause.kind == "disputed"}


def check_readings(chosen: Mapping[str, str]) -> None:
    """Raise UsageError, saying what there is, for an unknown disputed clause or reading."""
    disputed = disputed_clauses()
    for clause, reading in chosen.items():
        if clause not in disputed:
            why = f", it is {CLAUSES[clause].kind}" if clause in CLAUSES else ""
            meant = why or did_you_mean(clause, disputed)
            raise UsageError(f"no disputed clause {quoted(clause)}{meant}: see conformance clauses")
        names = [each.name for each in disputed[clause].readings]
        if reading not in names:
            raise UsageError(
                f"clause {clause} has no reading {quoted(reading)}; it has {', '.join(names)}"
            )


def concerned(clause: Clause) -> tuple[str, ...]:
    """Return the names of the operators that a clause concerns."""
    return tuple(
        name
        for name, operator in OPERATORS.items()
        if clauses_of(operator).get(clause.name) is clause
    )


def in_short(
    names: Collection[str], among: Collection[str] | None = None, every: str = "every operator"
) -> str:
    """Return which of some operators (None: all there are) are named, in few words.

    Names that differ in a version or rank alone are one glob if all of them are there:
    `MaxPool-*`. If most are there, those are named that are not; `every` is what all are called.
    """
    known = tuple(OPERATORS if among is None else among)
    others = [name for name in known if name not in names]
    if not others:
        return every
    few, rest = _as_globs(names, known), _as_globs(others, known)
    return ", ".join(few) if len(few) <= len(rest) else f"{every} but {', '.join(rest)}"


def _as_globs(names: Collection[str], known: Iterable[str]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for name in known:
        kinds.setdefault(_VERSION.sub("*", name), []).append(name)
    words: list[str] = []
    for glob, of_kind in kinds.items():
        named = [name for name in of_kind if name in names]
        words += [glob] if len(named) == len(of_kind) > 1 else named
    return words


@cache
def _operators() -> dict[str, Operator]:
    operators = _loading.operators = {operator.name: operator for operator in OWN}
    clauses = {clause.name: clause for clause in SHARED}
    try:
        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
        for point in points:
            for operator in _loaded(point):
                _check(point, operator, operators, clauses)
                operators[operator.name] = operator
                clauses |= {clause.name: clause for clause in operator.clauses}
        for operator in list(operators.values()):
            gradient = backward(operator)
            if gradient is not None:
                operators[gradient.name] = gradient
    finally:
        _loading.operators = None
    return operators


@cache
def _clauses() -> dict[str, Clause]:
    return _by_kind(_operators())


def _by_kind(operators: Mapping[str, Operator]) -> dict[str, Clause]:
    """Return all clauses of some operators by name, sorted by kind."""
    clauses = [*SHARED, *(clause for operator in operators.values() for clause in operator.clauses)]
    kinds = ("disputed", "undefined", "ruling")
    by_kind = sorted(clauses, key=lambda clause: kinds.index(clause.kind))
    return {clause.name: clause for clause in by_kind}


def _loaded(point: EntryPoint) -> tuple[Operator, ...]:
    try:
        value: Any = point.load()
    except (Exception, SystemExit) as error:
        raise _wrong(point, f"it does not load: {type(error).__name__}: {error}") from error
    operators = tuple(value) if isinstance(value, tuple | list) else (value,)
    for operator in operators:
        if not isinstance(operator, Operator):
            raise _wrong(point, f"it names a {type(operator).__name__}, not an Operator")
    return operators


def _check(
    point: EntryPoint,
    operator: Operator,
    operators: Mapping[str, Operator],
    clauses: Mapping[str, Clause],
) -> None:
    """Raise UsageError unless the operator fits those that are loaded already."""
    if operator.name in operators:
        raise _wrong(point, f"there is an operator {operator.name!r} already")
    for clause in operator.clauses:
        if clauses.get(clause.name, clause) is not clause:
            raise _wrong(point, f"there is another clause {clause.name!r} already")
    undefined = operator.reduction.undefined
    if undefined and undefined not in clauses_of(operator):
        raise _wrong(point, f"no clause {undefined!r} among those of {operator.name}")


def _wrong(point: EntryPoint, why: str) -> UsageError:
    of = f" of {point.dist.name}" if point.dist is not None else ""
    text = " ".join(f"operator{of} ({GROUP}: {point.name} = {point.value}): {why}".split())
    return UsageError(text)
