"""Rules are learned from what a backend got wrong and right.

A rule is a conjunction of a few conditions on elements and cases ("channels from 16 on, where the
size of the last axis is odd"), or two of them. Every condition holds for everything wrong that its
conjunction is for, so there are few to choose from: the least and the largest value that is wrong,
a remainder that all that is wrong has, a word. Of these the fewest are chosen that leave out what
is right, by the length in bits of the rule and of its exceptions together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.cases.perturb import Feature
from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim, Substitute
from conformance.diagnosis.conditions import (
    OF_DATA,
    Condition,
    Conjunction,
    Places,
    Relation,
    all_hold,
    case_at,
    place_words,
)
from conformance.diagnosis.elements import ALL_AXES, GROUPS, KINDS, Layout, features_of
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import OF_ELEMENTS, Bools, Manner, Sample
from conformance.diagnosis.substitutes import Instead, instead_of
from conformance.reference.rounding import Doubles
from conformance.vector import Case

Ints = npt.NDArray[np.int64]

_NOTHING = 1e-9
_OF_CASES = ("rank", "batch", "channels", "planes", "size", "output")
_OF_WINDOWS = ("kernel", "strides", "dilations", "cells")
_LEAST = dict.fromkeys((*_OF_CASES, *_OF_WINDOWS), 1)
"""The least number of a feature where that is not 0."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a threshold lies: `wrong` is the value seen wrong nearest to the right ones.

    `right` is the value seen right nearest to it, where the other conditions hold; None if none
    was seen.
    """

    feature: Feature
    right: int | None
    wrong: int

    @property
    def between(self) -> int | None:
        """A value in the middle; None where there is none."""
        right = 0 if self.right is None else self.right
        middle = (right + self.wrong) // 2
        return middle if middle not in {right, self.wrong} else None

    def case(self, case: Case) -> Case | None:
        """Return a case of which elements have the value in the middle, and no larger one."""
        return None if self.between is None else case_at(case, self.feature, self.between)


@dataclass(frozen=True, slots=True)
class Rule:
    """A claim that was learned, the edges of its thresholds, and its length in bits."""

    claim: Claim
    edges: tuple[Edge, ...]
    bits: float


def learned(
    samples: Sequence[Sample],
    manner: Manner,
    seed: int = 0,
    *,
    readings: Mapping[str, str] | None = None,
    others: Sequence[Instead] = (),
) -> list[Rule]:
    """Return the rules that fit samples, the shortest first; several where they fit alike.

    They say where the backend fails in a manner. A rule that most of what is in its place
    contradicts is none. What comes instead of right values may be one of `others`.
    """
    rng = np.random.default_rng(seed)
    predictions = Predictions(lambda _: readings or {})
    what = Substitute(manner)
    failed = [sample.failed_in(manner) for sample in samples]
    if not any(failed):
        return []
    if manner in OF_ELEMENTS:
        instead = others if manner == "values" else None
        rules = _rules_of_elements(what, samples, predictions, rng, instead)
    else:
        layouts = [predictions.layout(sample.vector) for sample in samples]
        rules = _rules(what, _Table.of_cases(layouts, failed))
    return [rule for rule in rules if _is_mostly_right(rule.claim, samples, predictions)]


def _rules(what: Substitute, table: _Table) -> list[Rule]:
    found: list[tuple[float, Places]] = [
        (bits, (place,)) for bits, place in _conjunctions(table, table.wrong)
    ]
    shortest = found[0][0]
    if shortest > limits.LONG_BITS:
        found += _unions(table, shortest)
    found.sort(key=lambda rule: rule[0])
    most = found[0][0] + limits.ALIKE_BITS
    return [
        Rule(Claim(what, places), _edges(table, places), bits)
        for bits, places in found[: limits.RULES]
        if bits <= most
    ]


def rows_of(samples: Sequence[Sample], manner: Manner) -> int:
    """Return about how many rows such rules are learned from: cases, or elements of them."""
    if manner not in OF_ELEMENTS:
        return len(samples)
    sizes = (1 if s.wrong is None else min(s.wrong.size, limits.MOST_ROWS) for s in samples)
    return min(limits.ROWS, sum(sizes))


def _is_mostly_right(claim: Claim, samples: Sequence[Sample], predictions: Predictions) -> bool:
    """Say whether what a claim predicts to fail fails in that manner, as a rule."""
    assert claim.substitute is not None
    fails = [sample for sample in samples if predictions.fails(claim, sample.vector)]
    hits = sum(sample.failed_in(claim.substitute.manner) for sample in fails)
    return 2 * hits >= len(fails)


def _rules_of_elements(
    what: Substitute,
    given: Sequence[Sample],
    predictions: Predictions,
    rng: np.random.Generator,
    others: Sequence[Instead] | None,
) -> list[Rule]:
    """Return the rules for wrong values, also with what comes instead unless `others` is None.

    They are learned from some elements; those that they get wrong are added, and they are learned
    again.
    """
    samples = [s.of_further for s in given] if what.manner == "outputs" else given
    layouts = ((sample, predictions.layout(sample.vector)) for sample in samples)
    comparable = [
        (sample, layout)
        for sample, layout in layouts
        if sample.wrong is not None
        and sample.wrong.size > 0
        and sample.wrong.shape == layout.shape
        and (sample.wrong.any() or (not sample.failed and layout.tells))
    ]
    samples = [sample for sample, _ in comparable]
    if not any(sample.failed for sample in samples):
        return []
    most = int(np.clip(limits.ROWS // len(samples), limits.FEWEST_ROWS, limits.MOST_ROWS))
    instead = None
    if others is not None:
        readings = predictions.readings(samples[0].vector)
        instead = instead_of(samples, readings=readings, others=others)
    compared = [_Compared.of(sample, layout, instead) for sample, layout in comparable]
    chosen = [each.chosen(most, rng) for each in compared]
    rules: list[Rule] = []
    for _ in range(limits.TABLES):
        table = _Table.of_elements(compared, chosen)
        if not table.wrong.any():  # they are wrong where the first output is undefined
            return []
        rules = _rules(what, table)
        missed = [each.missed(rules, predictions) for each in compared]
        if not any(part.size for part in missed):
            break
        chosen = [np.union1d(a, b) for a, b in zip(chosen, missed, strict=True)]
    judged = []
    for rule in rules:
        claim = replace(rule.claim, what=replace(what, instead=instead))
        some = _some(claim, compared, predictions)
        claim = replace(claim, what=replace(what, instead=instead, some=some))
        refuted = sum(not predictions.predicts(claim, sample) for sample in samples)
        judged.append(replace(rule, claim=claim, bits=rule.bits + limits.SAMPLE_BITS * refuted))
    judged.sort(key=lambda rule: rule.bits)
    return [rule for rule in judged if rule.bits <= judged[0].bits + limits.ALIKE_BITS]


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """A sample of which elements are compared: `tells` marks those that are wrong, or would be."""

    sample: Sample
    layout: Layout
    wrong: Bools
    tells: Bools

    @classmethod
    def of(cls, sample: Sample, layout: Layout, instead: Instead | None) -> _Compared:
        """Mark the defined elements that are wrong, or that would show what comes instead."""
        assert sample.wrong is not None
        tells = np.ones_like(sample.wrong) if sample.defined is None else sample.defined
        differs = None if instead is None else instead.shows(layout)
        tells = tells if differs is None else tells & (sample.wrong | differs)
        return cls(sample, layout, sample.wrong, tells)

    def chosen(self, most: int, rng: np.random.Generator) -> Ints:
        """Return some elements by flat index that tell: at edges between wrong and right, any."""
        wrong = self.wrong.ravel()
        places = np.flatnonzero(self.tells)
        if places.size <= most:
            return places
        steps = np.flatnonzero(np.diff(wrong[places]))
        ends = [places[[0, -1]]]
        for kind in (np.union1d(steps, steps + 1), np.flatnonzero(wrong[places])):
            if kind.size:
                ends += [places[kind[[0, -1]]], places[rng.choice(kind, min(kind.size, most // 3))]]
        return np.unique(np.concatenate([*ends, rng.choice(places, most // 3)]))

    def missed(self, rules: Sequence[Rule], predictions: Predictions) -> Ints:
        """Return a few wrong elements that rules leave out, and right ones where most are not."""
        missed: list[Ints] = [np.zeros(0, np.int64)]
        for rule in rules:
            marked = predictions.marked(rule.claim, self.sample.vector)
            if marked is not None:
                missed.append(np.flatnonzero(self.wrong & ~marked)[:2])
                if not self.sample.failed:
                    missed.append(np.flatnonzero(marked & self.tells)[:2])
        return np.unique(np.concatenate(missed))


def _some(claim: Claim, compared: Sequence[_Compared], predictions: Predictions) -> bool:
    """Say whether a share of what may be wrong is right in samples that failed."""
    hits = total = 0
    for each in (each for each in compared if each.sample.failed):
        marked = predictions.shown(claim, each.sample.vector)
        if marked is not None:
            hits += int((each.wrong & marked).sum())
            total += int(marked.sum())
    return hits < limits.NEARLY_ALL * total


class _Table:
    """Rows of elements or cases with their features in columns; `wrong` marks those wrong."""

    def __init__(
        self, layouts: Sequence[Layout], owner: Ints, wrong: Bools, index: Sequence[Any] | None
    ) -> None:
        self._layouts = layouts
        self._owner = owner
        self._index = index
        self._columns: dict[Feature, Any] = {}
        self._held: dict[Condition, Bools] = {}
        self.wrong = wrong
        self.weights = np.ones(len(wrong))
        if index is not None:
            most = max(limits.LEAST_WEIGHT, limits.WEIGHT / len(layouts))
            for kind in (wrong, ~wrong):
                counts = np.bincount(owner[kind], minlength=len(layouts))
                self.weights[kind] = np.minimum(1.0, most / np.maximum(1, counts[owner[kind]]))

    @staticmethod
    def of_elements(compared: Sequence[_Compared], chosen: Sequence[Ints]) -> _Table:
        """Return a row for each chosen element."""
        parts = [*zip(compared, chosen, strict=True)]
        owner = np.repeat(np.arange(len(chosen)), [part.size for part in chosen])
        wrong = np.concatenate([each.wrong.ravel()[part] for each, part in parts])
        index = [np.unravel_index(part, each.layout.shape) for each, part in parts]
        return _Table([each.layout for each in compared], owner, wrong, index)

    @staticmethod
    def of_cases(layouts: Sequence[Layout], failed: Sequence[bool]) -> _Table:
        """Return a row for each case."""
        return _Table(layouts, np.arange(len(layouts)), np.array(failed, np.bool_), None)

    def weigh(self, rows: Bools) -> tuple[float, float]:
        """Return the weight of the wrong and of the right ones of some rows."""
        wrong = float(self.weights[rows & self.wrong].sum())
        return wrong, float(self.weights[rows].sum()) - wrong

    def holds(self, condition: Condition) -> Bools:
        """Say of each row whether a condition holds; of one on some axis, for each axis."""
        if condition not in self._held:
            self._held[condition] = condition.holds(self.column(condition.feature))
        return self._held[condition]

    def within(self, place: Conjunction) -> Bools:
        """Say of each row whether all conditions hold."""
        return np.ones(len(self.wrong), np.bool_) & all_hold((c, self.holds(c)) for c in place)

    def column(self, feature: Feature) -> Any:
        """Return a feature of each row, NaN or "" where there is none.

        Of all axes, there is one column for each.
        """
        if feature not in self._columns:
            self._columns[feature] = self._column(feature)
        return self._columns[feature]

    def _column(self, feature: Feature) -> Any:
        kind = KINDS[feature.name]
        if kind.per_axis and feature.axis == ALL_AXES:
            axes = range(1, max(layout.axes for layout in self._layouts) + 1)
            return np.array([self.column(Feature(feature.name, axis)) for axis in axes])
        values = [layout.value(feature) for layout in self._layouts]
        if kind.of_elements:
            return self._of_elements(values)
        if kind.style == "word":
            return np.array([value or "" for value in values])[self._owner]
        return np.array(values, np.float64)[self._owner]

    def _of_elements(self, values: Sequence[Any]) -> Doubles:
        assert self._index is not None
        rows = np.full(len(self.wrong), np.nan)
        stop = 0
        for value, index in zip(values, self._index, strict=True):
            start, stop = stop, stop + len(index[0])
            if value is not None:
                # Faster than np.broadcast_to(value, shape)[index].
                at = tuple(i if n > 1 else 0 for i, n in zip(index, value.shape, strict=True))
                rows[start:stop] = value[at]
        return rows

    def features(self, rows: Bools) -> list[Feature]:
        """Return the features that all of some rows may have."""
        axes = {self._layouts[i].axes for i in np.unique(self._owner[rows])}
        alike = len(axes) == 1
        of_cases = features_of(min(axes), alike=alike, of_elements=False)
        if self._index is None:
            return of_cases
        return features_of(min(axes), alike=alike, of_elements=True) + of_cases


def _unions(table: _Table, most: float) -> Iterator[tuple[float, Places]]:
    """Yield rules of two conjunctions, shorter than `most` bits."""
    total = float(table.weights[table.wrong].sum())

    def bits_of(places: Places) -> float:
        marked = np.any([table.within(place) for place in places], axis=0)
        left = float(table.weights[marked & ~table.wrong].sum())
        said = sum(condition.bits for place in places for condition in place)
        return said + limits.UNION_BITS + float(_exceptions(total, left))

    def pairs(part: Bools, *, rough: bool) -> list[tuple[float, Places]]:
        parts = (part, table.wrong & ~part)
        both = [_conjunctions(table, rows, rough=rough)[: limits.PAIRED_RULES] for rows in parts]
        places = [
            tuple(sorted((one, other), key=place_words))
            for _, one in both[0]
            for _, other in both[1]
        ]
        return sorted(((bits_of(p), p) for p in places), key=lambda pair: pair[0])

    splits = _splits(table)
    rough = [(pairs(part, rough=True)[0][0], number) for number, part in enumerate(splits)]
    for bits, number in sorted(rough)[: limits.TRIED]:
        if bits < most:
            yield from (pair for pair in pairs(splits[number], rough=False) if pair[0] < most)


def _splits(table: _Table) -> list[Bools]:
    """Return parts of what is wrong that may be wrong for another cause than the rest.

    What has one of some words, or a flag; and what lies beyond nearly everything right. Those that
    tell wrong from right best come first.
    """
    parts: dict[bytes, tuple[float, Bools]] = {}
    for feature in table.features(table.wrong):
        kind = KINDS[feature.name]
        seen = table.column(feature)[..., table.wrong]
        conditions = []
        if seen.ndim > 1:
            if kind.style == "flag":
                conditions = [Condition(feature, "is", value=True, over="some")]
        elif kind.style == "word":
            words = np.unique(seen).tolist()
            conditions = [Condition(feature, "is", frozenset(words[:1]))] if len(words) < 4 else []
        elif kind.style == "flag":
            conditions = [Condition(feature, "is", value=True)]
        else:
            conditions = list(_tails(table, feature))
        for condition in conditions:
            held = table.within((condition,))
            part = held & table.wrong
            if part.any() and not (part == table.wrong).all():
                left = sum(_exceptions(*table.weigh(rows)) for rows in (held, ~held))
                parts.setdefault(part.tobytes(), (left, part))
    return [part for _, part in sorted(parts.values(), key=lambda each: each[0])[: limits.SPLITS]]


def _tails(table: _Table, feature: Feature) -> Iterator[Condition]:
    """Yield from where on, and to where, nearly all values of a feature are wrong."""
    values = table.column(feature)
    known = ~np.isnan(values)
    values, weights, wrong = values[known], table.weights[known], table.wrong[known]
    relations: tuple[tuple[Relation, int], ...] = (("from", -1), ("to", 1))
    for relation, sign in relations:
        order = np.argsort(sign * values)
        ranked = values[order]
        totals = np.cumsum((weights * wrong)[order])
        rights = np.cumsum((weights * ~wrong)[order])
        ends = np.append(ranked[1:] != ranked[:-1], np.ones(1, np.bool_))
        pure = np.flatnonzero(ends & (totals > 0) & (rights <= limits.BY_CHANCE * totals))
        if pure.size:
            yield Condition(feature, relation, float(ranked[pure[-1]]))


def _conjunctions(
    table: _Table, wrong: Bools, *, rough: bool = False
) -> list[tuple[float, Conjunction]]:
    """Return conjunctions that hold for all rows that are `wrong`, the shortest first.

    Each with its length and that of its exceptions in bits. Of two of which one says more and
    explains no more, the other is returned. A `rough` search looks at some of the right rows.
    """
    right = np.flatnonzero(~table.wrong)
    step = max(1, right.size // limits.ROUGH_ROWS) if rough else 1
    right = right[::step]
    candidates = _Candidates(table, wrong, right)
    conditions = candidates.conditions
    weights = table.weights[right].astype(np.float32) * step
    total, whole = float(table.weights[wrong].sum()), float(weights.sum())
    bits = np.array([condition.bits for condition in conditions])
    found: dict[tuple[int, ...], tuple[float, float]] = {(): (_exceptions(total, whole), whole)}
    for size, width in enumerate((1, limits.BEAM[0] // 4) if rough else (1, *limits.BEAM)):
        ranked = sorted((key for key in found if len(key) == size), key=lambda key: found[key])
        keys = [key for key in ranked[:width] if found[key][1] > 0]
        if not keys or not conditions:
            break
        for key, left in zip(keys, candidates.left(keys, weights), strict=True):
            lengths = bits + bits[list(key)].sum() + _exceptions(total, left)
            lengths[left < 0] = np.inf
            best = np.argsort(lengths)[: limits.BRANCHES]
            for i in best[lengths[best] < found[key][0]].tolist():
                found[tuple(sorted({*key, i}))] = (float(lengths[i]), float(left[i]))
    shortest: list[tuple[int, ...]] = []
    for key in sorted(found, key=lambda key: (found[key][0], len(key))):
        if len(shortest) < 2 * limits.RULES and not any(
            set(other) < set(key) for other in shortest
        ):
            shortest.append(key)
    return [(found[key][0], tuple(conditions[i] for i in key)) for key in shortest]


class _Candidates:
    """The conditions that all `wrong` rows meet, and some `right` rows do not."""

    def __init__(self, table: _Table, wrong: Bools, right: Ints) -> None:
        self.conditions: list[Condition] = []
        self._count = right.size
        rows = np.concatenate([right, np.flatnonzero(wrong)])
        masks: list[Bools] = []
        self._on_axes: dict[int, Bools] = {}  # by number, for each axis
        for feature in table.features(wrong):
            seen = table.column(feature)[..., wrong]
            if seen.dtype == np.float64 and np.isnan(np.atleast_2d(seen)).all(axis=0).any():
                continue
            others = table.column(feature)[~wrong] if seen.dtype.kind == "U" else seen[:0]
            for condition in _conditions(feature, seen, others):
                mask = table.within((condition,))[right]
                if not mask.all():
                    if condition.over == "some":
                        self._on_axes[len(masks)] = table.holds(condition)[:, rows]
                    self.conditions.append(condition)
                    masks.append(mask)
        self._matrix = np.array(masks, np.float32).reshape(len(masks), right.size)

    def left(self, keys: Sequence[tuple[int, ...]], weights: Any) -> Iterator[Any]:
        """Yield for each key what weight of right rows meets its conditions and one more, each.

        -1 where not all wrong rows meet them all at once.
        """
        inside = np.array([self._inside(key) for key in keys]) * weights
        for key, rows, left in zip(keys, inside, inside @ self._matrix.T, strict=True):
            if (axis := self._same_axis(key)) is not None:
                joint = np.logical_or.reduce([*self._on_axes.values()] & axis, axis=1)
                right, wrong = joint[:, : self._count], joint[:, self._count :]
                left[[*self._on_axes]] = np.where(wrong.all(axis=1), right @ rows, -1)
            yield left

    def _inside(self, key: tuple[int, ...]) -> Bools:
        inside = self._matrix[list(key)].all(axis=0)
        axis = self._same_axis(key)
        if axis is None:
            return np.asarray(inside)
        return np.asarray(inside & reduce(np.logical_or, axis)[: self._count])

    def _same_axis(self, key: tuple[int, ...]) -> Bools | None:
        """Return on which axis the conditions of a key on some axis hold at once; None of none."""
        of_axes = [self._on_axes[i] for i in key if i in self._on_axes]
        return reduce(np.logical_and, of_axes) if of_axes else None


def _exceptions(wrong: float, right: Any) -> Any:
    """Return the bits that it takes to say which of some rows are wrong, and which right."""
    share = right / np.maximum(wrong + right, _NOTHING)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    return (wrong + right) * np.nan_to_num(entropy)


def _conditions(feature: Feature, values: Any, others: Any) -> Iterator[Condition]:
    """Yield the narrowest conditions on a feature that hold for some values.

    Of words, the `others` may be said instead.
    """
    kind = KINDS[feature.name]
    if values.ndim > 1:
        every = _conditions(feature, values[~np.isnan(values)], others)
        yield from (replace(condition, over="every") for condition in every)
        yield from _on_some_axis(feature, values)
        return
    if kind.style == "word":
        yield from _on_words(feature, frozenset(values.tolist()), frozenset(others.tolist()))
        return
    low, high = float(values.min()), float(values.max())
    if kind.style == "flag":
        if low == high:
            yield Condition(feature, "is", bool(low))
        return
    if kind.special:
        if low > 0:
            yield Condition(feature, "from", low)
        return
    if low == high:
        yield Condition(feature, "is", low)
    if low > _LEAST.get(feature.name, 0):  # or it says nothing
        yield Condition(feature, "from", low)
    yield Condition(feature, "to", high)
    if kind.cycles:
        yield from _cycles(feature, values.astype(np.int64))


def _on_words(
    feature: Feature, words: frozenset[str], others: frozenset[str]
) -> Iterator[Condition]:
    rest = others - words - {""}
    if "" in words:
        return
    if len(words) <= limits.WORDS:
        yield Condition(feature, "is", words)
    if len(words) > 1 and 0 < len(rest) <= limits.WORDS:
        yield Condition(feature, "is not", rest)


def _on_some_axis(feature: Feature, values: Doubles) -> Iterator[Condition]:
    """Yield the narrowest conditions that hold on some axis for each column of values."""
    kind = KINDS[feature.name]
    if kind.style != "flag":
        low = float(np.nanmax(values, axis=0).min())
        if low > _LEAST.get(feature.name, 0):
            yield Condition(feature, "from", low, over="some")
        yield Condition(feature, "to", float(np.nanmin(values, axis=0).max()), over="some")
    single: set[float] = set()
    for modulus in (0, 2, *GROUPS[1:]) if kind.cycles else (0,):
        numbers = values % modulus if modulus else values
        first = numbers[~np.isnan(numbers[:, 0]), 0]
        for number in np.unique(first).tolist():
            held = (numbers == number).any(axis=0).all()
            if not modulus and held:
                single.add(number)
            # A single number has every remainder.
            if held and not (modulus > 2 and any(n % modulus == number for n in single)):
                value = bool(number) if kind.style == "flag" else number
                relation: Relation = "modulo" if modulus else "is"
                yield Condition(feature, relation, value, modulus, over="some")


def _cycles(feature: Feature, values: Ints) -> Iterator[Condition]:
    first = int(values[0])
    apart = int(np.gcd.reduce(values - first))
    # A single number has every remainder; that it is odd or even alone is worth a try.
    for modulus in range(2, limits.LARGEST_MODULUS + 1) if apart else (2,):
        if gcd(apart, modulus) == modulus:
            yield Condition(feature, "modulo", float(first % modulus), modulus)


def _edges(table: _Table, places: Iterable[Conjunction]) -> tuple[Edge, ...]:
    edges = []
    for place in places:
        for condition in place:
            if condition.relation not in {"from", "to"} or condition.feature.name in OF_DATA:
                continue
            others = tuple(other for other in place if other is not condition)
            beyond = ~table.wrong & ~table.within((condition,)) & table.within(others)
            seen = table.column(condition.feature)[..., beyond]
            if condition.over and seen.size:
                largest = (condition.over == "some") == (condition.relation == "from")
                seen = (np.fmax if largest else np.fmin).reduce(seen, axis=0)
            seen = seen[~np.isnan(seen)]
            nearest = seen.max if condition.relation == "from" else seen.min
            edges.append(
                Edge(
                    condition.feature,
                    int(nearest()) if seen.size else None,
                    int(condition.value),
                )
            )
    return tuple(edges)
