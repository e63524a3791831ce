"""Covering arrays: few rows that hold every possible combination of a few factors' levels.

A *factor* is a property of a case (kernel, pads, dtype), a *level* one of its values, a *row* one
level for every factor. A *tuple* is a choice of levels for `strength` distinct factors; it is
feasible when some row that satisfies every constraint holds it.

Rows are built one at a time, as in AETG (Cohen et al., 1997): start from a tuple no row holds yet,
then fill the other factors greedily. A small exact solver keeps each row completable, so every
feasible tuple is covered, and decides which tuples are feasible at all. Covertable does the same
work, but on a realistic sweep (13 factors, 18 constraints, strength 3) it takes 106 s for 1997
rows where this module takes 1 s for 1962, and its count of infeasible tuples is not exact.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Level = Hashable
Row = dict[str, Level]
Progress = Callable[[int, int], None]

_EXAMPLES = 5
_MOST_CELLS = 1 << 30  # the table of tuples takes a byte per cell


class Constraint(NamedTuple):
    """`predicate`, called with one level per factor in `names`, says whether a row may hold them.

    It must be pure. `reason` says in words why the rule is there.
    """

    names: tuple[str, ...]
    predicate: Callable[..., bool]
    reason: str


@dataclass(frozen=True, slots=True)
class Model:
    """Factors with their levels, and the constraints every row must satisfy.

    Raises ValueError where a factor has no levels or two equal ones, or a constraint names an
    unknown factor, none at all, or one twice.
    """

    factors: Mapping[str, Sequence[Level]]
    constraints: Sequence[Constraint] = ()

    def __post_init__(self) -> None:
        if not self.factors:
            raise ValueError("a model needs at least one factor")
        for name, levels in self.factors.items():
            if not levels:
                raise ValueError(f"factor {name!r} has no levels")
            if len(set(levels)) != len(levels):
                raise ValueError(f"factor {name!r} has equal levels: {list(levels)!r}")
        for names, _, reason in self.constraints:
            if unknown := [name for name in names if name not in self.factors]:
                raise ValueError(f"constraint {reason!r} names unknown factors: {unknown}")
            if not names or len(set(names)) != len(names):
                raise ValueError(f"constraint {reason!r} must name distinct factors: {names!r}")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many tuples of a model are feasible, how many of those some row holds, how many are not.

    `missing` shows a few feasible tuples that no row holds, each as factor name -> level.
    """

    feasible: int
    covered: int
    infeasible: int
    missing: tuple[Row, ...]

    @property
    def complete(self) -> bool:
        """Whether every feasible tuple is covered."""
        return self.covered == self.feasible


class CoveringArray(NamedTuple):
    """Rows that satisfy every constraint of a model, and what they cover."""

    rows: list[Row]
    coverage: Coverage


def covering_array(
    model: Model, *, strength: int, seed: int = 0, progress: Progress | None = None
) -> CoveringArray:
    """Return rows that together hold every feasible tuple of `strength`.

    The rows depend on the arguments alone. `seed` breaks ties. `progress(covered, feasible)` is
    called after each row with numbers of tuples. Raises ValueError where `strength` does not fit
    the model or no row satisfies all constraints (naming constraints that contradict each other).
    """
    solver = _Solver.of(model, random.Random(seed))  # noqa: S311 - breaks ties, keeps no secrets
    layout = _Layout(solver.sizes, strength)
    uncovered = _feasible_tuples(solver, layout)
    left = layout.counts(uncovered)
    feasible = todo = int(left.sum())
    rows = []
    while todo:
        row = _new_row(solver, layout, uncovered, left)
        rows.append(row)
        block = layout.block(row)
        new = uncovered[block] & layout.ascending
        left -= new
        todo -= int(new.sum())
        uncovered[block] = False
        if progress is not None:
            progress(feasible - todo, feasible)
    factors = list(model.factors.items())
    named = [
        {name: levels[i] for (name, levels), i in zip(factors, row, strict=True)} for row in rows
    ]
    # `todo` is 0: nothing is missing.
    return CoveringArray(named, Coverage(feasible, feasible, layout.tuples - feasible, ()))


def coverage(model: Model, rows: Iterable[Mapping[str, Level]], *, strength: int) -> Coverage:
    """How much of a model's tuples of `strength` factors any `rows` hold; the counts are exact.

    Raises ValueError where a row does not fit the model or breaks a constraint, where `strength`
    does not fit the model, or where no row satisfies all constraints.
    """
    solver = _Solver.of(model, random.Random(0))  # noqa: S311 - the counts do not depend on it
    layout = _Layout(solver.sizes, strength)
    numbers = [_numbers(model, solver, row) for row in rows]
    held = layout.table()
    for row in numbers:
        held[layout.block(row)] = True
    feasible = _feasible_tuples(solver, layout, held)
    total, covered = (int(layout.counts(table).sum()) for table in (feasible, held))
    names, levels = list(model.factors), list(model.factors.values())
    missing = tuple(
        {names[f]: levels[f][i] for f, i in pairs}
        for pairs in itertools.islice(layout.members(feasible & ~held), _EXAMPLES)
    )
    return Coverage(total, covered, layout.tuples - total, missing)


class _Layout:
    """Where tuples live in a table with one axis per member and every level of every factor on it.

    Level i of factor f has the number `offsets[f] + i`. A table is symmetric in its axes: the
    tuples of a row, and those a new level would add to it, are then one indexing operation. Cells
    that repeat a factor mean nothing.
    """

    def __init__(self, sizes: Sequence[int], strength: int) -> None:
        if not 1 <= strength <= len(sizes):
            raise ValueError(
                f"strength must lie between 1 and the number of factors, {len(sizes)}: {strength}"
            )
        self.strength = strength
        self.offsets = [0, *itertools.accumulate(sizes)]
        self.levels = self.offsets[-1]
        if self.levels**strength > _MOST_CELLS:
            raise ValueError(f"strength {strength} is too high for {self.levels} levels in all")
        self.groups = list(itertools.combinations(range(len(sizes)), strength))
        self.tuples = sum(math.prod(sizes[f] for f in group) for group in self.groups)
        self.ascending = np.zeros((len(sizes),) * strength, dtype=bool)
        for group in self.groups:
            self.ascending[group] = True

    def table(self) -> npt.NDArray[np.bool_]:
        return np.zeros((self.levels,) * self.strength, dtype=bool)

    def span(self, factor: int) -> slice:
        return slice(self.offsets[factor], self.offsets[factor + 1])

    def spans(self, group: Iterable[int]) -> tuple[slice, ...]:
        return tuple(self.span(factor) for factor in group)

    def block(self, row: Sequence[int]) -> tuple[Any, ...]:
        """Index of every tuple of a complete row, in any order of its members."""
        numbers = [start + i for start, i in zip(self.offsets, row, strict=False)]
        return np.ix_(*[numbers] * self.strength)

    def counts(self, table: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Tuples of `table` per group of factors, at the group's ascending factors."""
        counts = np.zeros(self.ascending.shape, dtype=np.int64)
        for group in self.groups:
            counts[group] = np.count_nonzero(table[self.spans(group)])
        return counts

    def members(self, table: npt.NDArray[np.bool_]) -> Iterator[list[tuple[int, int]]]:
        """Tuples of `table`, each as (factor, level) pairs."""
        for group in self.groups:
            for levels in np.argwhere(table[self.spans(group)]).tolist():
                yield list(zip(group, levels, strict=True))


class _State(NamedTuple):
    """A row in the making: the chosen level per factor or -1, and the levels left, as bits."""

    row: list[int]
    domains: list[int]


class _Solver:
    """Decides exactly whether some levels extend to a row that satisfies every constraint.

    Forward checking narrows the levels left of the open factors after each choice; a search over
    the open factor with the fewest levels left settles the rest.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        rules: Sequence[tuple[tuple[int, ...], npt.NDArray[np.bool_]]],
        rng: random.Random,
    ) -> None:
        self.sizes = sizes
        self.rules = rules
        self.rng = rng
        self.touching = [
            [rule for rule, (scope, _) in enumerate(rules) if factor in scope]
            for factor in range(len(sizes))
        ]
        self.supports: list[dict[tuple[int, ...], list[tuple[int, int]]]] = [{} for _ in rules]

    @classmethod
    def of(cls, model: Model, rng: random.Random) -> _Solver:
        """Tabulate the constraints of `model`; ValueError where no row satisfies all of them."""
        number = {name: factor for factor, name in enumerate(model.factors)}
        sizes = [len(levels) for levels in model.factors.values()]
        rules = []
        for names, predicate, _ in model.constraints:
            levels = [model.factors[name] for name in names]
            allowed = [bool(predicate(*choice)) for choice in itertools.product(*levels)]
            shape = [len(choices) for choices in levels]
            rules.append((tuple(number[name] for name in names), np.reshape(allowed, shape)))
        solver = cls(sizes, rules, rng)
        if solver.solvable():
            return solver
        conflict = list(range(len(rules)))
        for rule in range(len(rules)):
            rest = [other for other in conflict if other != rule]
            if not cls(sizes, [rules[other] for other in rest], rng).solvable():
                conflict = rest
        parts = [(model.constraints[rule][2], model.constraints[rule][0]) for rule in conflict]
        reasons = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in parts)
        raise ValueError(f"no row satisfies all constraints; together impossible: {reasons}")

    def solvable(self) -> bool:
        return self.complete(self.start()) is not None

    def start(self) -> _State | None:
        """No level chosen yet; None where a constraint alone leaves a factor no level."""
        state = _State([-1] * len(self.sizes), [(1 << size) - 1 for size in self.sizes])
        return self._narrow(state, range(len(self.rules)))

    def assign(self, state: _State | None, factor: int, level: int) -> _State | None:
        """`state` with one more level chosen; None where that plainly breaks a constraint."""
        if state is None or not state.domains[factor] >> level & 1:
            return None
        state = _State(state.row.copy(), state.domains.copy())
        state.row[factor] = level
        state.domains[factor] = 1 << level
        return self._narrow(state, self.touching[factor])

    def complete(self, state: _State | None) -> list[int] | None:
        """Find a full row that extends `state` and satisfies every constraint; None: there is none.

        Levels are tried from a random one on, so that the rows found differ.
        """
        if state is None:
            return None
        row, domains = state
        todo = [factor for factor, level in enumerate(row) if level < 0]
        if not todo:
            return row
        # A factor without constraints cannot fail: it comes last.
        factor = min(todo, key=lambda f: (not self.touching[f], domains[f].bit_count()))
        size = self.sizes[factor]
        first = int(self.rng.random() * size)
        for level in (*range(first, size), *range(first)):
            if found := self.complete(self.assign(state, factor, level)):
                return found
        return None

    def holds(self, row: Sequence[int], factor: int) -> bool:
        """Whether a full row satisfies the constraints on `factor`."""
        return all(
            self.rules[rule][1][tuple([row[f] for f in self.rules[rule][0]])]
            for rule in self.touching[factor]
        )

    def _narrow(self, state: _State, rules: Iterable[int]) -> _State | None:
        row, domains = state
        for rule in rules:
            chosen = tuple([row[factor] for factor in self.rules[rule][0]])
            supports = self.supports[rule].get(chosen)
            if supports is None:
                supports = self.supports[rule][chosen] = self._supports(rule, chosen)
            for factor, levels in supports:
                domains[factor] &= levels
                if not domains[factor]:
                    return None
        return state

    def _supports(self, rule: int, chosen: tuple[int, ...]) -> list[tuple[int, int]]:
        """Per open factor of a rule the levels, as bits, that the chosen levels still allow."""
        scope, allowed = self.rules[rule]
        allowed = allowed[tuple(slice(None) if level < 0 else level for level in chosen)]
        supports = []
        for axis, factor in enumerate(f for f, i in zip(scope, chosen, strict=True) if i < 0):
            others = tuple(other for other in range(allowed.ndim) if other != axis)
            levels = np.flatnonzero(allowed.any(axis=others)).tolist()
            supports.append((factor, sum(1 << level for level in levels)))
        return supports


def _feasible_tuples(
    solver: _Solver, layout: _Layout, known: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.bool_]:
    """Table of the feasible tuples; `known` marks those of some rows that satisfy all constraints.

    Each row the solver finds proves all its tuples at once, so few tuples need a search.
    """
    table = layout.table() if known is None else known.copy()
    start = solver.start()
    for group in layout.groups:
        part = table[layout.spans(group)]
        # Tuples come in ascending order: the next one shares its first levels with the last.
        states, last = [start], [-1] * len(group)
        for levels in np.argwhere(~part).tolist():
            if part[tuple(levels)]:  # proved since by a row found for another tuple
                continue
            shared = next(i for i, level in enumerate(levels) if level != last[i])
            del states[shared + 1 :]
            for factor, level in zip(group[shared:], levels[shared:], strict=True):
                states.append(solver.assign(states[-1], factor, level))
            last = levels
            if row := solver.complete(states[-1]):
                table[layout.block(row)] = True
    return table


def _new_row(
    solver: _Solver,
    layout: _Layout,
    uncovered: npt.NDArray[np.bool_],
    left: npt.NDArray[np.int64],
) -> list[int]:
    """Build a row greedily from an uncovered tuple of the factors with the most of them left."""
    random_of = solver.rng.random
    # Gains are whole numbers, so noise below 1 only breaks ties.
    gains = np.array([random_of() for _ in range(layout.levels)])
    if layout.strength == 1:
        gains += uncovered
    chosen: list[int] = []

    def choose(factor: int, level: int) -> None:
        number = layout.offsets[factor] + level
        if layout.strength > 1:
            added = uncovered[number][np.ix_(*[chosen] * (layout.strength - 2))]
            gains[:] += added.reshape(-1, layout.levels).sum(axis=0)
        chosen.append(number)
        todo.remove(factor)

    todo = list(range(len(solver.sizes)))
    group = [int(f) for f in np.unravel_index(int(left.argmax()), left.shape)]
    options = np.argwhere(uncovered[layout.spans(group)])
    state = solver.start()
    for factor, level in zip(group, options[int(random_of() * len(options))].tolist(), strict=True):
        state = solver.assign(state, factor, level)
        choose(factor, level)
    witness = solver.complete(state)
    while todo:
        best = np.maximum.reduceat(gains, layout.offsets[:-1]).tolist()
        factor = max(todo, key=best.__getitem__)
        for level in np.argsort(-gains[layout.span(factor)], kind="stable").tolist():
            extended = solver.assign(state, factor, level)
            if extended is None:
                continue
            assert witness is not None
            changed = witness.copy()
            changed[factor] = level
            # A row known to work proves the choice; the search is for when none is at hand.
            proof = changed if solver.holds(changed, factor) else solver.complete(extended)
            if proof is not None:
                state, witness = extended, proof
                choose(factor, level)
                break
        else:
            raise AssertionError("the witness itself proves one level of every open factor")
    assert witness is not None
    return witness


def _numbers(model: Model, solver: _Solver, row: Mapping[str, Level]) -> list[int]:
    """Level numbers of a row given by name; ValueError where the model does not allow the row."""
    if row.keys() != model.factors.keys():
        raise ValueError(f"a row must have the factors {list(model.factors)}: {dict(row)!r}")
    numbers = []
    for name, levels in model.factors.items():
        if row[name] not in levels:
            raise ValueError(f"factor {name!r} has no level {row[name]!r}: {dict(row)!r}")
        numbers.append(levels.index(row[name]))
    for (names, _, reason), (scope, allowed) in zip(model.constraints, solver.rules, strict=True):
        if not allowed[tuple(numbers[factor] for factor in scope)]:
            raise ValueError(f"a row breaks {reason!r} ({', '.join(names)}): {dict(row)!r}")
    return numbers
