"""Rules that say where a backend is wrong, learned from what it got wrong and right.

A rule is a conjunction of a few conditions on elements and cases ("channels from 16 on, where the
size of the last axis is odd"), or two of them. Every condition holds for everything wrong that its
conjunction is for, so there are few to choose from: the least and the largest value that is wrong,
a remainder that all that is wrong has, a word. Of these the fewest are chosen that leave out what
is right, by the length in bits of the rule and of its exceptions together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from math import gcd
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from conformance.cases.near import Feature, at
from conformance.cases.sweep.suited import types
from conformance.diagnosis.elements import (
    ALL_AXES,
    EQUAL,
    GROUPS,
    KINDS,
    Layout,
    features_of,
    layout_of,
    on_axis,
    place_on,
)
from conformance.diagnosis.hypothesis import Bools, Sample
from conformance.diagnosis.instead import Instead, instead_of
from conformance.operators import operator_named
from conformance.vector import Case, Vector

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Relation = Literal["is", "is not", "from", "to", "modulo"]
Quantifier = Literal["", "some", "every"]
Manner = Literal["values", "outputs", "exception", "accepted", "shape", "type"]
OF_ELEMENTS: tuple[Manner, ...] = ("values", "outputs")
"""Manners in which some elements are wrong and others right."""

_ROWS = 9_000
_ROUGH = 800
_FEWEST_ROWS, _MOST_ROWS = 24, 600
_WEIGHT = 600.0
"""What the wrong elements of all samples weigh together at most, and the right ones.

Each sample has its share, but at least _LEAST_WEIGHT.
"""
_LEAST_WEIGHT = 2.0
_BEAM = (28, 10)
_WIDEST = 40
_ALIKE = 6.0
"""Bits by which a rule may be longer than the shortest one."""
_RULES = 10
_SPLITS = 8
_ROUNDS = 2
_NEARLY_ALL = 0.9
_UNION = 6.0
_NOTHING = 1e-9
_BY_CHANCE = 0.05
_LONG = 20.0
_PAIRED = 3
_TRIED = 2
_FURTHER_AXIS = 1.5
_LARGEST_CYCLE = 64
_LONG_NUMBER = 1e7
_FEW = 4
"""The largest number that kernels often specialise on."""
_COMMON = 2
"""The largest number that thresholds often are."""
_EQUALS = (1, 2, 3, 4, 6)
"""Numbers that two features are given which are equal."""
_LEAST = dict.fromkeys(
    ("rank", "batch", "channels", "planes", "size", "kernel", "strides", "dilations", "cells"), 1
)
"""The least number of a feature, where that is not 0."""
_WORDS = 2
"""Words that a condition names at most."""
_PER_SAMPLE = 3.0
"""Bits that a sample costs that a rule does not predict."""


_SHARE: Mapping[bool, float] = {True: 1 / 2, False: 1 / 8}
"""How many elements of its place are wrong at least, of sums and of what chooses a cell."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one feature of an element or a case."""

    feature: Feature
    relation: Relation
    value: Any
    modulus: int = 0
    over: Quantifier = ""

    def holds(self, column: Any) -> Bools:
        """Say where it holds; nowhere if there is no such feature (None, NaN).

        Of a feature of all axes, there is one column for each of them, if there are axes. On some
        axis, it says so of each of them, in the first dimension.
        """
        if column is None or (self.over and not len(column)):
            return np.zeros((1,) if self.over == "some" else (), np.bool_)
        if self.over == "some":
            return np.stack(np.broadcast_arrays(*map(self._holds, column)))
        if self.over == "every":
            missing = [np.isnan(values) for values in column]
            held = (self._holds(v) | none for v, none in zip(column, missing, strict=True))
            return np.asarray(reduce(np.logical_and, held) & ~reduce(np.logical_and, missing))
        return self._holds(column)

    def _holds(self, column: Any) -> Bools:
        column = np.asarray(column)
        if isinstance(self.value, frozenset):
            found = np.isin(column.astype(str), sorted(self.value))
            return np.asarray(found if self.relation == "is" else ~found & (column != ""))
        numbers = column % self.modulus if self.modulus else column
        if self.relation == "from":
            return np.asarray(numbers >= self.value)
        if self.relation == "to":
            return np.asarray(numbers <= self.value)
        return np.asarray(numbers == self.value)

    def beyond(self, case: Case) -> Iterator[Case | None]:
        """Yield the case with numbers or words that tell it from conditions like it.

        Numbers are on the other side of a threshold, near to it and far; of the same remainder;
        next to a single one, or of the same remainders; others that are as equal.
        """
        operator = operator_named(case.operator)
        if isinstance(self.value, frozenset):
            attributes = (a for a in operator.attributes if a.role == self.feature.name)
            words = chain(*(attribute.meanings for attribute in attributes))
            for word in types(operator) if self.feature.name == "dtype" else words:
                yield at(case, self.feature, word)
        if self.relation == "is" and self.value is True:
            yield from self._as_equal(case)
        if self.feature.name in _OF_DATA or not isinstance(self.value, float):
            return
        value = int(self.value)
        numbers: Mapping[Relation, Sequence[int]] = {
            "to": (value + 1, 2 * value + 2),
            "from": (value - 1, value // 2),
            "modulo": (value + self.modulus, value + 2 * self.modulus),
            "is": (value + 1, value - 1, *(value + group for group in GROUPS)),
        }
        yield from (
            _case_at(case, self.feature, number) for number in numbers.get(self.relation, ())
        )

    def within(self, case: Case) -> Iterator[Case | None]:
        """Yield the case with numbers that the condition admits, far from those it was made of.

        On all axes, and on one of them: what holds of every axis or of some is more than that it
        holds where all are equal.
        """
        kind = KINDS[self.feature.name]
        if kind.style != "number" or not isinstance(self.value, float):
            return
        value = int(self.value)
        numbers: Mapping[Relation, Sequence[int]] = {
            "to": (value - 1, value // 2, 1),
            "from": (value + 1, 2 * value, 4 * value),
            "modulo": (value + self.modulus, value + 4 * self.modulus),
        }
        axes = case.data.ndim - 2 if kind.per_axis and self.feature.axis == ALL_AXES else 0
        for number in dict.fromkeys(numbers.get(self.relation, ())):
            for axis in (self.feature.axis, *range(1, axes + 1)):
                yield _case_at(case, Feature(self.feature.name, axis), number)

    def _as_equal(self, case: Case) -> Iterator[Case | None]:
        """Yield the case with other numbers, where the condition is that two of them are equal."""
        compares = KINDS[self.feature.name].compares
        if compares is None or compares.relation != EQUAL:
            return
        for number in _EQUALS:
            changed = at(case, Feature(compares.one, self.feature.axis), number)
            if changed is not None:
                yield at(changed, Feature(compares.other, self.feature.axis), number)

    @property
    def is_of_elements(self) -> bool:
        """Whether it tells the elements of one output apart."""
        return KINDS[self.feature.name].of_elements

    @property
    def bits(self) -> float:
        """How much it takes to say, and how unlikely faults go by it."""
        further = _FURTHER_AXIS * max(0, self.feature.axis - 1)
        return KINDS[self.feature.name].surprise + further + self._bits

    @property
    def _bits(self) -> float:
        if isinstance(self.value, bool):
            return 1.0
        if isinstance(self.value, frozenset):
            return 2.0 * len(self.value)
        if self.relation == "is":
            return 2.0 if self.value == 0 else 4.5 if self.value <= _FEW else 5.0
        if self.relation in {"from", "to"} and self.value <= _COMMON:
            return 3.0
        if self.relation == "modulo":
            # Faults go by powers of two, or by small numbers such as those of colours.
            odd = self.modulus & (self.modulus - 1) > 0
            return 2.0 if self.modulus == 2 else 4.0 + odd + 2.0 * (odd and self.modulus > 12)
        return 4.0

    @property
    def words(self) -> str:
        """The condition in words: a noun phrase for elements, a sentence for cases."""
        return self.in_words()

    def in_words(self, *, same_axis: bool = False) -> str:
        """Return the condition in words; on some axis, it may be the `same_axis` as before."""
        kind = KINDS[self.feature.name]
        which = "that" if same_axis else self.over
        if kind.style == "flag":
            none = self.over == "every" and not self.value
            said = kind.words if self.value or none else kind.otherwise
            return on_axis(said, self.feature.axis, "no" if none else which)
        if kind.style == "index":
            noun, along = kind.words, ""
            if kind.per_axis:
                noun, along = place_on(self.feature.axis, which)
            numbered = self._numbered(noun, from_end=kind.from_end)
            return " ".join(filter(None, (numbered, along, kind.within)))
        words = on_axis(kind.words, self.feature.axis, which)
        if kind.style == "word":
            return f"{words} {self.relation} {' or '.join(sorted(self.value))}"
        if kind.style == "count":
            return re.sub(
                r"\b1 (subnormal cell|cell|right value)s\b", r"1 \1", words.format(self._amount)
            )
        return f"{words} is {self._amount}"

    @property
    def _amount(self) -> str:
        number = _shown(self.value)
        if self.modulus == 2:
            return ("even", "odd")[int(self.value)]
        if self.relation == "modulo":
            return f"{number} modulo {self.modulus}"
        if np.isinf(self.value):
            return number
        ends = {"is": "", "from": "at least ", "to": "at most "}
        return f"{ends.get(self.relation, self.relation)}{number}"

    def _numbered(self, noun: str, *, from_end: bool) -> str:
        side = " from the end" if from_end else ""
        plural = f"{_plural(noun)}{side}"
        number = _shown(self.value)
        if self.relation == "is":
            if self.value == 0:
                return f"the {'last' if from_end else 'first'} {noun}"
            return f"{noun}{side} {number}"
        if self.relation == "modulo":
            if self.modulus == 2:
                return f"{('even', 'odd')[int(self.value)]} {plural}"
            return f"{plural} that are {number} modulo {self.modulus}"
        return f"{plural} from {number} on" if self.relation == "from" else f"{plural} to {number}"


def _shown(value: Any) -> str:
    return str(int(value)) if abs(value) < _LONG_NUMBER and value == int(value) else f"{value:g}"


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("ch") else "s")


Conjunction = tuple[Condition, ...]


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
        return None if self.between is None else _case_at(case, self.feature, self.between)


def _case_at(case: Case, feature: Feature, value: Any) -> Case | None:
    """Return a case, or one of which elements, have a value of a feature, and no larger one."""
    name, more = _SHOWN_BY.get(feature.name, (feature.name, 0))
    axis = feature.axis if KINDS[feature.name].per_axis else _AXIS.get(name, 0)
    return at(case, Feature(name, axis), int(value) + more)


_SHOWN_BY: Mapping[str, tuple[str, int]] = {
    "position": ("output", 1),
    "channel": ("channels", 1),
    "plane": ("channels", 1),
    "batch_index": ("batch", 1),
    "element": ("outputs", 1),
    "element_of_all": ("all_outputs", 1),
    "first_cell": ("size", 1),
    "last_cell": ("size", 1),
    "cells_on": ("kernel", 0),
    "inside": ("cells", 0),
    "divisor": ("cells", 0),
    "begin_pad": ("pads_begin", 0),
    "end_pad": ("pads_end", 0),
    "planes": ("channels", 0),
    "inputs": ("size", 0),
}
"""The feature of cases that lets a value of another feature occur, and how much more it must be."""
_OF_DATA = frozenset({"value", "largest_cell"})
"""Features of numbers in the data, which no size lets occur."""
_AXIS: Mapping[str, int] = {"size": 1}


@dataclass(frozen=True, slots=True)
class Rule:
    """A learned hypothesis: where a backend is wrong, or which cases it does not answer rightly.

    `places` are one or two conjunctions; what is in one of them is wrong. `manner` says how:
    values, or the case as a whole. `readings` are those that the backend follows. `instead` is what
    comes in place of right values, if that is known; of what is in a place, `some` may be right.
    """

    places: tuple[Conjunction, ...]
    manner: Manner = "values"
    readings: tuple[tuple[str, str], ...] = ()
    edges: tuple[Edge, ...] = ()
    bits: float = 0.0
    instead: Instead | None = None
    some: bool = False

    @property
    def words(self) -> str:
        """What is wrong, in words."""
        what = (_SOME if self.some else _MANNERS)[self.manner]
        if self.some and self.places == ((),):
            return what
        return f"{what} {'; also '.join(map(_place, self.places))}"

    @property
    def where(self) -> str:
        """In which cases something is wrong, in words that complete "where ..."; "" in all."""
        cases = (_in_words(place)[1] for place in self.places)
        return "; also where ".join(filter(None, cases))

    def wrong(self, vector: Vector) -> Bools | None:
        """Mark the defined elements of the first output that may be wrong; None if it has none."""
        layout = self._layout(vector)
        if self.manner not in OF_ELEMENTS or layout.expected is None:
            return None
        marked = np.zeros(layout.shape, np.bool_)
        for place in self.places:
            marked |= _holds(place, layout)
        return marked & layout.defined

    def shown(self, vector: Vector, *, told: bool = False) -> Bools | None:
        """Mark those of them that differ from what comes instead, so far as it is known.

        Those of which that says nothing are marked, too, unless only what is `told` is asked for.
        """
        wrong = self.wrong(vector)
        if wrong is None or self.instead is None or not wrong.any():
            return wrong
        differs = self.instead.shows(vector, dict(self.readings), told=told)
        return wrong if differs is None else wrong & differs

    def fails(self, vector: Vector) -> bool:
        """Say whether the backend fails a vector."""
        if self.manner in OF_ELEMENTS:
            shown = self.shown(vector)
            return shown is not None and bool(shown.any())
        layout = self._layout(vector)
        return any(bool(_holds(place, layout).all()) for place in self.places)

    @property
    def shorter(self) -> Iterator[Rule]:
        """The rules with one condition less."""
        for number, place in enumerate(self.places):
            for condition in place:
                rest = tuple(other for other in place if other is not condition)
                places = (*self.places[:number], rest, *self.places[number + 1 :])
                yield replace(self, places=places)

    def prediction(self, vector: Vector) -> bytes | bool:
        """Return what it says of a vector, to be compared with what another rule says."""
        if self.manner not in OF_ELEMENTS:
            return self.fails(vector)
        wrong = self.wrong(vector)
        return b"" if wrong is None or not wrong.any() else wrong.tobytes()

    def predicts(self, sample: Sample) -> bool:
        """Say whether the backend did so: what is wrong lies where it may be, and most is there."""
        if self.manner not in OF_ELEMENTS:
            return self.fails(sample.vector) == (manner_of(sample) == self.manner)
        sample = self.seen(sample)
        wrong, shown = self.wrong(sample.vector), self.shown(sample.vector)
        if shown is None or wrong is None or sample.wrong is None:
            return not sample.failed and (wrong is None or not wrong.any())
        if wrong.shape != sample.wrong.shape or (sample.failed and not sample.wrong.any()):
            return False
        if (sample.wrong & ~wrong).any():
            return False
        layout = self._layout(sample.vector)
        if self.instead is not None:
            alike, told = self.instead.matches(sample, layout)
            if alike < told:
                return False
        # A fault that misses a cell shows in a maximum where that cell is the largest; but where it
        # is known what the elements are, it is known which of them differ.
        known = self.instead is not None and not self.some
        share = _NEARLY_ALL if known else _SHARE[layout.operator.reduction.sums]
        return not layout.tells or int(sample.wrong.sum()) >= share * int(shown.sum())

    def seen(self, sample: Sample) -> Sample:
        """Return a sample with what is wrong in the output that the rule is about."""
        return sample.of_further if self.manner == "outputs" else sample

    def explains(self, sample: Sample) -> bool:
        """See Hypothesis."""
        return manner_of(sample) == self.manner and self.predicts(sample)

    def _layout(self, vector: Vector) -> Layout:
        return layout_of(vector, dict(self.readings))


_MANNERS: Mapping[Manner, str] = {
    "values": "wrong values",
    "exception": "an exception",
    "accepted": "a result for an invalid case",
    "shape": "an output of another shape",
    "type": "an output of another type",
    "outputs": "wrong values of a further output",
}


_SOME: Mapping[Manner, str] = {
    "values": "some values are wrong",
    "outputs": "some values of a further output are wrong",
}
"""What is said where of a place only some elements are wrong."""


def _place(place: Conjunction) -> str:
    """Return in words where something is wrong."""
    inside, where = _in_words(place)
    if not place:
        return "everywhere"
    return ", ".join(filter(None, (inside and f"in {inside}", where and f"where {where}")))


def _in_words(place: Conjunction) -> tuple[str, str]:
    """Return the conditions on elements and those on cases, in words.

    Those on some axis hold on the same one: only the first says "some axis".
    """
    ordered = sorted(place, key=lambda condition: not condition.is_of_elements)
    of_some = [c for c in ordered if c.over == "some"]
    said = [(c, c.in_words(same_axis=c in of_some[1:])) for c in ordered]
    inside = " and in ".join(words for c, words in said if c.is_of_elements)
    return inside, " and ".join(words for c, words in said if not c.is_of_elements)


def _holds(place: Conjunction, layout: Layout) -> Bools:
    return _all_hold((c, c.holds(layout.value(c.feature))) for c in place)


def _all_hold(held: Iterable[tuple[Condition, Bools]]) -> Bools:
    """Say where conditions hold all at once, those on some axis on one and the same."""
    marked, on_axes = np.ones((), np.bool_), []
    for condition, each in held:
        if condition.over == "some":
            on_axes.append(each)
        else:
            marked = marked & each
    if on_axes:
        of_axes = (reduce(np.logical_and, axis) for axis in zip(*on_axes, strict=False))
        marked = marked & reduce(np.logical_or, of_axes)
    return np.asarray(marked)


def manner_of(sample: Sample) -> Manner | None:
    """Return how a sample failed; None if it did not."""
    if not sample.failed:
        return None
    if sample.outputs is None:
        return "exception"
    if not sample.vector.values:
        return "accepted"
    if sample.further is not None:
        return "outputs"
    if sample.wrong is None:
        shapes = [[each.values.shape for each in o.outputs] for o in sample.vector.values]
        return "type" if [each.shape for each in sample.outputs] in shapes else "shape"
    return "values"


def learned(
    samples: Sequence[Sample],
    seed: int = 0,
    *,
    readings: Mapping[str, str] | None = None,
    others: Sequence[Instead] = (),
) -> list[Rule]:
    """Return the rules that fit samples, the shortest first; several where they fit alike.

    There are rules for each manner in which the backend failed. A rule that most of what is in
    its place contradicts is none. What comes instead of right values may be one of `others`.
    """
    rng = np.random.default_rng(seed)
    followed = tuple(sorted((readings or {}).items()))
    layouts = [layout_of(sample.vector, readings or {}) for sample in samples]
    manners = list(dict.fromkeys(m for s in samples if (m := manner_of(s)) is not None))
    rules: list[Rule] = []
    for manner in manners:
        if manner == "values":
            rules += _rules_of_elements(samples, layouts, followed, rng, others)
        elif manner == "outputs":
            seen = [sample.of_further for sample in samples]
            found = _rules_of_elements(seen, layouts, followed, rng, None)
            rules += [replace(rule, manner=manner) for rule in found]
        else:
            table = _Table.of_cases(layouts, [manner_of(sample) == manner for sample in samples])
            rules += [
                Rule(places, manner, followed, _edges(table, places), bits)
                for bits, places in _fitting(table)
            ]
    return [rule for rule in rules if _is_mostly_right(rule, samples)]


def rows_of(samples: Sequence[Sample]) -> int:
    """Return about how many rows rules are learned from."""
    sizes = (1 if s.wrong is None else min(s.wrong.size, _MOST_ROWS) for s in samples)
    return min(_ROWS, sum(sizes))


def _is_mostly_right(rule: Rule, samples: Sequence[Sample]) -> bool:
    """Say whether what a rule predicts to fail fails in that manner, as a rule."""
    fails = [sample for sample in samples if rule.fails(sample.vector)]
    hits = sum(manner_of(sample) == rule.manner for sample in fails)
    return 2 * hits >= len(fails)


def _rules_of_elements(
    samples: Sequence[Sample],
    layouts: Sequence[Layout],
    followed: tuple[tuple[str, str], ...],
    rng: np.random.Generator,
    others: Sequence[Instead] | None,
) -> list[Rule]:
    """Return the rules for wrong values, also with what comes instead unless `others` is None.

    They are learned from some elements; those that they get wrong are added, and they are learned
    again.
    """
    comparable = [
        (sample, layout)
        for sample, layout in zip(samples, layouts, strict=True)
        if sample.wrong is not None
        and sample.wrong.size > 0
        and sample.wrong.shape == layout.shape
        and (sample.wrong.any() or (not sample.failed and layout.tells))
    ]
    if not any(sample.failed for sample, _ in comparable):
        return []
    most = int(np.clip(_ROWS // len(comparable), _FEWEST_ROWS, _MOST_ROWS))
    instead = None
    if others is not None:
        failed = [sample for sample, _ in comparable]
        instead = instead_of(failed, readings=dict(followed), others=others)
    telling = [_telling(sample, instead, dict(followed)) for sample, _ in comparable]
    chosen = [
        _chosen(sample, tells, most, rng)
        for (sample, _), tells in zip(comparable, telling, strict=True)
    ]
    rules: list[Rule] = []
    for _ in range(_ROUNDS):
        table = _Table.of_elements(comparable, chosen)
        if not table.wrong.any():  # they are wrong where the first output is undefined
            return []
        rules = [
            Rule(places, "values", followed, _edges(table, places), bits)
            for bits, places in _fitting(table)
        ]
        missed = [
            _missed(sample, tells, rules)
            for (sample, _), tells in zip(comparable, telling, strict=True)
        ]
        if not any(part.size for part in missed):
            break
        chosen = [np.union1d(a, b) for a, b in zip(chosen, missed, strict=True)]
    judged = []
    for found in rules:
        rule = replace(found, instead=instead)
        rule = replace(rule, some=_some(rule, comparable))
        refuted = sum(not rule.predicts(sample) for sample, _ in comparable)
        judged.append(replace(rule, bits=rule.bits + _PER_SAMPLE * refuted))
    judged.sort(key=lambda rule: rule.bits)
    return [rule for rule in judged if rule.bits <= judged[0].bits + _ALIKE]


def _some(rule: Rule, comparable: Sequence[tuple[Sample, Layout]]) -> bool:
    """Say whether a share of what may be wrong is right in samples that failed."""
    hits = total = 0
    for sample, _ in comparable:
        marked = rule.shown(sample.vector) if sample.failed else None
        if marked is not None and sample.wrong is not None:
            hits += int((sample.wrong & marked).sum())
            total += int(marked.sum())
    return hits < _NEARLY_ALL * total


def _telling(sample: Sample, instead: Instead | None, readings: Mapping[str, str]) -> Bools:
    """Mark the defined elements of a sample that are wrong, or that would show what is."""
    assert sample.wrong is not None
    marked = np.ones_like(sample.wrong) if sample.defined is None else sample.defined
    differs = None if instead is None else instead.shows(sample.vector, readings)
    return marked if differs is None else marked & (sample.wrong | differs)


def _chosen(sample: Sample, tells: Bools, most: int, rng: np.random.Generator) -> Ints:
    """Return some elements by flat index that tell: at edges between wrong and right, and any."""
    assert sample.wrong is not None
    wrong = sample.wrong.ravel()
    places = np.flatnonzero(tells)
    if places.size <= most:
        return places
    steps = np.flatnonzero(np.diff(wrong[places]))
    ends = [places[[0, -1]]]
    for kind in (np.union1d(steps, steps + 1), np.flatnonzero(wrong[places])):
        if kind.size:
            ends += [places[kind[[0, -1]]], places[rng.choice(kind, min(kind.size, most // 3))]]
    return np.unique(np.concatenate([*ends, rng.choice(places, most // 3)]))


def _missed(sample: Sample, tells: Bools, rules: Sequence[Rule]) -> Ints:
    """Return a few wrong elements that rules leave out, and right ones where all but some are."""
    assert sample.wrong is not None
    missed: list[Ints] = []
    for rule in rules:
        marked = rule.wrong(sample.vector)
        if marked is not None:
            missed.append(np.flatnonzero(sample.wrong & ~marked)[:2])
            if not sample.failed:
                missed.append(np.flatnonzero(marked & tells)[:2])
    return np.unique(np.concatenate(missed)) if missed else np.zeros(0, np.int64)


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
        self._cases: dict[bytes, Ints] = {}
        self.wrong = wrong
        self.weights = np.ones(len(wrong))
        if index is not None:
            most = max(_LEAST_WEIGHT, _WEIGHT / len(layouts))
            for kind in (wrong, ~wrong):
                counts = np.bincount(owner[kind], minlength=len(layouts))
                self.weights[kind] = np.minimum(1.0, most / np.maximum(1, counts[owner[kind]]))

    @staticmethod
    def of_elements(comparable: Sequence[tuple[Sample, Layout]], chosen: Sequence[Ints]) -> _Table:
        """Return a row for each chosen element."""
        layouts = [layout for _, layout in comparable]
        owner = np.repeat(np.arange(len(chosen)), [part.size for part in chosen])
        wrong = np.concatenate(
            [s.wrong.ravel()[part] for (s, _), part in zip(comparable, chosen, strict=True)]  # type: ignore[union-attr]
        )
        index = [
            np.unravel_index(part, layout.shape)
            for part, layout in zip(chosen, layouts, strict=True)
        ]
        return _Table(layouts, owner, wrong, index)

    @staticmethod
    def of_cases(layouts: Sequence[Layout], failed: Sequence[bool]) -> _Table:
        """Return a row for each case."""
        return _Table(layouts, np.arange(len(layouts)), np.array(failed, np.bool_), None)

    def seen(self, feature: Feature, rows: Bools) -> Any:
        """Return the values that a feature has in some rows: of cases, one per case."""
        column = self._column(feature)
        if not KINDS[feature.name].of_elements:
            return column[..., self._owners(rows)]
        return column[..., rows]

    def _owners(self, rows: Bools) -> Ints:
        """Return the cases that some rows are of."""
        key = rows.tobytes()
        if key not in self._cases:
            self._cases[key] = np.unique(self._owner[rows])
        return self._cases[key]

    def rows(self, feature: Feature) -> Doubles:
        """Return a number per row; NaN where there is none."""
        column: Doubles = self._column(feature)
        return column if KINDS[feature.name].of_elements else column[self._owner]

    def weigh(self, rows: Bools) -> tuple[float, float]:
        """Return the weight of the wrong and of the right ones of some rows."""
        wrong = float(self.weights[rows & self.wrong].sum())
        return wrong, float(self.weights[rows].sum()) - wrong

    def holds(self, condition: Condition) -> Bools:
        """Say of each row whether a condition holds; of one on some axis, for each axis."""
        if condition not in self._held:
            held = condition.holds(self._column(condition.feature))
            self._held[condition] = held if condition.is_of_elements else held[..., self._owner]
        return self._held[condition]

    def within(self, place: Conjunction) -> Bools:
        """Say of each row whether all conditions hold."""
        return np.ones(len(self.wrong), np.bool_) & _all_hold((c, self.holds(c)) for c in place)

    def _column(self, feature: Feature) -> Any:
        """Return a feature of all elements, or all cases; NaN where there is none.

        Of all axes, there is one column for each.
        """
        if feature not in self._columns:
            kind = KINDS[feature.name]
            if kind.per_axis and feature.axis == ALL_AXES:
                axes = range(1, max(layout.axes for layout in self._layouts) + 1)
                of_axes = [self._column(Feature(feature.name, axis)) for axis in axes]
                self._columns[feature] = np.array(of_axes)
                return self._columns[feature]
            values = [layout.value(feature) for layout in self._layouts]
            if kind.of_elements:
                self._columns[feature] = self._of_elements(values)
            elif kind.style == "word":
                self._columns[feature] = np.array(["" if v is None else v for v in values])
            else:
                self._columns[feature] = np.array(
                    [np.nan if v is None else float(v) for v in values]
                )
        return self._columns[feature]

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
        axes = {self._layouts[i].axes for i in self._owners(rows).tolist()}
        alike = len(axes) == 1
        of_cases = features_of(min(axes), alike=alike, of_elements=False)
        if self._index is None:
            return of_cases
        return features_of(min(axes), alike=alike, of_elements=True) + of_cases


def _fitting(table: _Table) -> list[tuple[float, tuple[Conjunction, ...]]]:
    """Return the rules that fit a table, the shortest first, each with its length in bits."""
    single = _conjunctions(table, table.wrong)
    found: list[tuple[float, tuple[Conjunction, ...]]] = [(bits, (one,)) for bits, one in single]
    if found[0][0] > _LONG:
        found += _unions(table, found[0][0])
    found.sort(key=lambda rule: rule[0])
    return [rule for rule in found if rule[0] <= found[0][0] + _ALIKE][:_RULES]


def _unions(table: _Table, most: float) -> Iterator[tuple[float, tuple[Conjunction, ...]]]:
    """Yield rules of two conjunctions, shorter than `most` bits."""
    total = float(table.weights[table.wrong].sum())

    def bits_of(places: tuple[Conjunction, ...]) -> float:
        marked = np.any([table.within(place) for place in places], axis=0)
        left = float(table.weights[marked & ~table.wrong].sum())
        said = sum(condition.bits for place in places for condition in place)
        return said + _UNION + float(_exceptions(total, left))

    def pairs(part: Bools, *, rough: bool) -> list[tuple[float, tuple[Conjunction, ...]]]:
        parts = (part, table.wrong & ~part)
        both = [_conjunctions(table, rows, rough=rough)[:_PAIRED] for rows in parts]
        places = [
            tuple(sorted((one, other), key=_place)) for _, one in both[0] for _, other in both[1]
        ]
        return sorted(((bits_of(p), p) for p in places), key=lambda pair: pair[0])

    splits = _splits(table)
    rough = [(pairs(part, rough=True)[0][0], number) for number, part in enumerate(splits)]
    for bits, number in sorted(rough)[:_TRIED]:
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
        seen = table.seen(feature, table.wrong)
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
    return [part for _, part in sorted(parts.values(), key=lambda each: each[0])[:_SPLITS]]


def _tails(table: _Table, feature: Feature) -> Iterator[Condition]:
    """Yield from where on, and to where, nearly all values of a feature are wrong."""
    values = table.rows(feature)
    known = ~np.isnan(values)
    values, weights, wrong = values[known], table.weights[known], table.wrong[known]
    relations: tuple[tuple[Relation, int], ...] = (("from", -1), ("to", 1))
    for relation, sign in relations:
        order = np.argsort(sign * values)
        ranked = values[order]
        totals = np.cumsum((weights * wrong)[order])
        rights = np.cumsum((weights * ~wrong)[order])
        ends = np.append(ranked[1:] != ranked[:-1], np.ones(1, np.bool_))
        pure = np.flatnonzero(ends & (totals > 0) & (rights <= _BY_CHANCE * totals))
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
    step = max(1, right.size // _ROUGH) if rough else 1
    right = right[::step]
    candidates = _Candidates(table, wrong, right)
    conditions = candidates.conditions
    weights = table.weights[right].astype(np.float32) * step
    total, whole = float(table.weights[wrong].sum()), float(weights.sum())
    bits = np.array([condition.bits for condition in conditions])
    found: dict[tuple[int, ...], tuple[float, float]] = {(): (_exceptions(total, whole), whole)}
    for size, width in enumerate((1, _BEAM[0] // 4) if rough else (1, *_BEAM)):
        ranked = sorted((key for key in found if len(key) == size), key=lambda key: found[key])
        keys = [key for key in ranked[:width] if found[key][1] > 0]
        if not keys or not conditions:
            break
        for key, left in zip(keys, candidates.left(keys, weights), strict=True):
            lengths = bits + bits[list(key)].sum() + _exceptions(total, left)
            lengths[left < 0] = np.inf
            best = np.argsort(lengths)[:_WIDEST]
            for i in best[lengths[best] < found[key][0]].tolist():
                found[tuple(sorted({*key, i}))] = (float(lengths[i]), float(left[i]))
    shortest: list[tuple[int, ...]] = []
    for key in sorted(found, key=lambda key: (found[key][0], len(key))):
        if len(shortest) < 2 * _RULES and not any(set(other) < set(key) for other in shortest):
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
            seen = table.seen(feature, wrong)
            if seen.dtype == np.float64 and np.isnan(np.atleast_2d(seen)).all(axis=0).any():
                continue
            others = table.seen(feature, ~wrong) if seen.dtype.kind == "U" else seen[:0]
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
    if len(words) <= _WORDS:
        yield Condition(feature, "is", words)
    if len(words) > 1 and 0 < len(rest) <= _WORDS:
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
    for modulus in range(2, _LARGEST_CYCLE + 1) if apart else (2,):
        if gcd(apart, modulus) == modulus:
            yield Condition(feature, "modulo", float(first % modulus), modulus)


def _edges(table: _Table, places: Iterable[Conjunction]) -> tuple[Edge, ...]:
    """Return the edge of each threshold of a rule."""
    edges = []
    for place in places:
        for condition in place:
            if condition.relation not in {"from", "to"} or condition.feature.name in _OF_DATA:
                continue
            others = tuple(other for other in place if other is not condition)
            beyond = ~table.wrong & ~table.within((condition,)) & table.within(others)
            seen = table.seen(condition.feature, beyond)
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
