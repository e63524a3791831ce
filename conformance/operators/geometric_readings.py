"""The geometry of a case under every combination of readings of the clauses about it.

Combinations are the product of the readings of all geometric clauses, hundreds for some operators;
steps that differ, and what they give for one case, are few. So combinations are numbers of these,
in arrays, and each step runs once for each different thing that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from conformance.operators import pipeline as steps
from conformance.operators.clause import Clause
from conformance.operators.clauses import disputed_of, under
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.operators.pipeline import Plan
from conformance.vector import Combination

T = TypeVar("T")
Ints = npt.NDArray[np.int64]
Clauses = dict[str, tuple[str, ...]]
"""Names of clauses, each with the names of its readings."""


def names_of(clause: Clause) -> tuple[str, ...]:
    """Return the names of the readings of a clause."""
    return tuple(reading.name for reading in clause.readings)


def combinations(clauses: Sequence[Clause]) -> list[dict[str, str]]:
    """Return the product of the readings of clauses, those of the last changing fastest."""
    names = [clause.name for clause in clauses]
    return [dict(zip(names, chosen, strict=True)) for chosen in product(*map(names_of, clauses))]


class GeometricReadings:
    """The geometric clauses of an operator, and the steps that their readings replace.

    Of each step of the geometry there are some functions, and for each combination of readings the
    number of one of them.
    """

    def __init__(self, operator: Operator) -> None:
        self.clauses = [clause for clause in disputed_of(operator) if clause.is_geometric]
        pipelines = [under(operator, chosen) for chosen in combinations(self.clauses)]
        self._pads, self._extent, self._windows, self._divide = (
            _numbered([getattr(pipeline, step) for pipeline in pipelines])
            for step in ("pads", "extent", "windows", "divide")
        )

    def plans(self, params: Params) -> tuple[list[Plan], Ints]:
        """Return different plans of a case, and for each combination the number of its plan."""
        geometries, which = self._extents(params)
        laid_out, which = _each(geometries, which, self._windows, params)
        functions, numbers = self._divide
        used, which = np.unique(which * len(functions) + numbers, return_inverse=True)
        plans = []
        for before, function in (divmod(code, len(functions)) for code in used.tolist()):
            pads, extent, windows = laid_out[before]
            divisor = functions[function](params, pads, windows)
            plans.append(Plan(params, pads, extent, windows, divisor))
        return plans, which

    def extents(self, params: Params) -> set[steps.Extent]:
        """Return the numbers of windows per axis that readings give a case."""
        return {extent for _, extent in self._extents(params)[0]}

    def _extents(self, params: Params) -> tuple[list[tuple[Any, ...]], Ints]:
        found, which = _each([()], np.zeros_like(self._pads[1]), self._pads, params)
        return _each(found, which, self._extent, params)


geometric_readings = cache(GeometricReadings)


def _numbered(functions: Sequence[Any]) -> tuple[list[Callable[..., Any]], Ints]:
    """Return the different ones of some functions, and the number of each."""
    number_of: dict[Any, int] = {}
    numbers = [number_of.setdefault(function, len(number_of)) for function in functions]
    return list(number_of), np.array(numbers, np.int64)


def _each(
    found: Sequence[tuple[Any, ...]],
    which: Ints,
    step: tuple[Sequence[Callable[..., Any]], Ints],
    params: Params,
) -> tuple[list[tuple[Any, ...]], Ints]:
    """Run a step for the different results of those before it.

    `which` says which of what was `found` a combination has. Returns the same with the results of
    this step added.
    """
    functions, numbers = step
    used, places = np.unique(which * len(functions) + numbers, return_inverse=True)
    number_of: dict[tuple[Any, ...], int] = {}
    results = []
    for before, function in (divmod(code, len(functions)) for code in used.tolist()):
        given = found[before]
        result = (*given, functions[function](params, *given))
        results.append(number_of.setdefault(result, len(number_of)))
    return list(number_of), np.array(results, np.int64)[places]


def told_apart(
    clauses: Sequence[Clause], given: Sequence[T], which: Ints, key: Callable[[T], object]
) -> tuple[list[tuple[Combination, T]], Clauses]:
    """Return what combinations of the clauses that make a difference give, and these clauses.

    `which` says which of what is `given` each combination of all clauses has, in the order of
    `combinations`; `key` is equal for what is the same. A clause that makes no difference, whatever
    the readings of the others, keeps its default.
    """
    number_of: dict[object, int] = {}  # of each key: numbers are compared faster
    numbers = np.array([number_of.setdefault(key(each), len(number_of)) for each in given])
    places = which.reshape([len(clause.readings) for clause in clauses])
    numbers = numbers[places]
    touching: list[Clause] = []
    for axis, clause in enumerate(clauses):
        default = [names_of(clause).index(clause.default)]
        if len(number_of) > 1 and (numbers != numbers.take(default, axis=axis)).any():
            touching.append(clause)
        else:
            places = places.take(default, axis=axis)
    apart: list[tuple[Combination, T]] = [
        (chosen, given[place])
        for chosen, place in zip(combinations(touching), places.ravel().tolist(), strict=True)
    ]
    return apart, {clause.name: names_of(clause) for clause in touching}
