"""Conditions on one feature of an element or a case: where they hold, and in words.

Each can be written as one word, too: `channels>=16`, `kernel.1%2=0` of the last axis,
`strides.some>=2` of axes, `dtype!=bfloat16,float16`, `padded.1=yes`. Those that & joins hold all at
once, and of conjunctions that | joins, one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, Literal
from urllib.parse import quote, unquote

import numpy as np

from conformance.cases.perturb import Feature, at
from conformance.cases.sweep.levels import types
from conformance.diagnosis.elements import (
    ALL_AXES,
    GROUPS,
    KINDS,
    Layout,
    on_axis,
)
from conformance.diagnosis.sample import Bools
from conformance.operators import operator_named
from conformance.text import quoted
from conformance.vector import Case

Relation = Literal["is", "is not", "from", "to", "modulo"]
Quantifier = Literal["", "some", "every"]

_FURTHER_AXIS = 1.5
_RARE_AXIS = 3.0
"""Beyond two axes: that there are so many is said as well, for which there are plainer words."""
_LONG_NUMBER = 1e7
_FEW = 4
"""The largest number that kernels often specialise on."""
_COMMON = 2
"""The largest number that thresholds often are."""
_EQUALS = (1, 2, 3, 4, 6)
"""Numbers that two features are given which are equal."""
_SIGNS: Mapping[Relation, str] = {"is": "=", "is not": "!=", "from": ">=", "to": "<="}
_WRITTEN = re.compile(
    r"(?P<name>\w+)(\.(?P<axis>-?\d+))?(\.(?P<over>some|every))?"
    r"(?P<sign>!=|>=|<=|=|%(?P<modulus>\d+)=)(?P<value>.*)"
)


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
        if self.feature.name in OF_DATA or not isinstance(self.value, float):
            return
        value = int(self.value)
        numbers: Mapping[Relation, Sequence[int]] = {
            "to": (value + 1, 2 * value + 2),
            "from": (value - 1, value // 2),
            "modulo": (value + self.modulus, value + 2 * self.modulus),
            "is": (value + 1, value - 1, *(value + group for group in GROUPS)),
        }
        yield from (
            case_at(case, self.feature, number) for number in numbers.get(self.relation, ())
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
                yield case_at(case, Feature(self.feature.name, axis), number)

    def _as_equal(self, case: Case) -> Iterator[Case | None]:
        """Yield the case with other numbers, where the condition is that two of them are equal."""
        one, is_equal, other = self.feature.name.partition("_equal_")
        for number in _EQUALS if is_equal else ():
            changed = at(case, Feature(one, self.feature.axis), number)
            if changed is not None:
                yield at(changed, Feature(other, self.feature.axis), number)

    @property
    def is_of_elements(self) -> bool:
        """Whether it tells the elements of one output apart."""
        return KINDS[self.feature.name].of_elements

    @property
    def bits(self) -> float:
        """How much it takes to say, and how unlikely faults go by it."""
        axis = self.feature.axis
        further = _FURTHER_AXIS * max(0, axis - 1) + _RARE_AXIS * (axis > 2)
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
    def written(self) -> str:
        """The condition as one word."""
        axis = f".{self.feature.axis}" if KINDS[self.feature.name].per_axis else ""
        over = f".{self.over}" if self.over else ""
        sign = f"%{self.modulus}=" if self.modulus else _SIGNS[self.relation]
        if isinstance(self.value, frozenset):
            said = ",".join(quote(word, safe="") for word in sorted(self.value))
        else:
            is_flag = isinstance(self.value, bool)
            said = ("no", "yes")[self.value] if is_flag else f"{self.value:.17g}"
        return f"{self.feature.name}{axis}{over}{sign}{said}"

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
            said = kind.flagged(holds=self.value or none)
            return on_axis(said, self.feature.axis, "no" if none else which)
        if kind.style == "index":
            numbered = self._numbered(kind.words, from_end=kind.from_end)
            return on_axis(f"{numbered} {kind.within}".strip(), self.feature.axis, which)
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
            # All numbers are within these ends: what is left out is a NaN.
            is_any = self.relation == ("to" if self.value > 0 else "from")
            return "no NaN" if is_any else number
        ends = {"is": "", "from": "at least ", "to": "at most "}
        return f"{ends.get(self.relation, self.relation)}{number}"

    def _numbered(self, noun: str, *, from_end: bool) -> str:
        side, number = " from the end" if from_end else "", _shown(self.value)
        plural = f"{_plural(noun)}{side}"
        if self.relation == "is":
            end = f"the {'last' if from_end else 'first'} {noun}"
            return end if self.value == 0 else f"{noun}{side} {number}"
        if self.modulus == 2:
            return f"{('even', 'odd')[int(self.value)]} {plural}"
        if self.relation == "modulo":
            return f"{plural} that are {number} modulo {self.modulus}"
        if self.relation == "to":
            return f"{plural} to {number}"
        if from_end:
            return f"{_plural(noun)} before the last{f' {number}' if self.value > 1 else ''}"
        return f"{plural} from {number} on"


def _shown(value: Any) -> str:
    return str(int(value)) if abs(value) < _LONG_NUMBER and value == int(value) else f"{value:g}"


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("ch") else "s")


Conjunction = tuple[Condition, ...]
Places = tuple[Conjunction, ...]
"""One or more conjunctions of conditions, of which one holds."""


def written(places: Places) -> str:
    """Return places as one word."""
    return "|".join("&".join(condition.written for condition in place) for place in places)


def places_written(text: str) -> Places:
    """Return the places that are written as a word; ValueError if it is none."""
    return tuple(
        tuple(map(condition_written, place.split("&") if place else ()))
        for place in text.split("|")
    )


def condition_written(text: str) -> Condition:
    """Return the condition that is written as a word; ValueError if it is none."""
    match = _WRITTEN.fullmatch(text)
    if match is None or match["name"] not in KINDS:
        raise ValueError(f"no condition {quoted(text)}")
    relations: Mapping[str, Relation] = {sign: each for each, sign in _SIGNS.items()}
    style, said = KINDS[match["name"]].style, match["value"]
    value: Any
    if style == "word":
        value = frozenset(map(unquote, said.split(",")))
    elif style == "flag":
        if said not in {"yes", "no"}:
            raise ValueError(f"{quoted(text)}: yes or no")
        value = said == "yes"
    else:
        try:
            value = float(said)
        except ValueError:
            raise ValueError(f"{quoted(text)}: {quoted(said)} is no number") from None
    return Condition(
        Feature(match["name"], int(match["axis"] or 0)),
        relations.get(match["sign"], "modulo"),
        value,
        int(match["modulus"] or 0),
        "some" if match["over"] == "some" else "every" if match["over"] else "",
    )


def case_at(case: Case, feature: Feature, value: Any) -> Case | None:
    """Return a case, or one of which elements, have a value of a feature, and no larger one."""
    name, more = _SHOWN_BY.get(feature.name, (feature.name, 0))
    axis = feature.axis if KINDS[feature.name].per_axis else int(name == "size")
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
OF_DATA = frozenset({"value", "largest_cell"})
"""Features of numbers in the data, which no size lets occur."""


def place_words(place: Conjunction) -> str:
    """Return in words where something is wrong."""
    inside, where = in_words(place)
    if not place:
        return "everywhere"
    return ", ".join(filter(None, (inside and f"in {inside}", where and f"where {where}")))


def in_words(place: Conjunction) -> tuple[str, str]:
    """Return the conditions on elements and those on cases, in words.

    Those on some axis hold on the same one: only the first says "some axis".
    """
    ordered = sorted(place, key=lambda condition: not condition.is_of_elements)
    of_some = [c for c in ordered if c.over == "some"]
    said = [(c, c.in_words(same_axis=c in of_some[1:])) for c in ordered]
    inside = " and in ".join(words for c, words in said if c.is_of_elements)
    return inside, " and ".join(words for c, words in said if not c.is_of_elements)


def holding(place: Conjunction, layout: Layout) -> Bools:
    """Say where all conditions of a place hold."""
    return all_hold((c, c.holds(layout.value(c.feature))) for c in place)


def any_holds(places: Iterable[Conjunction], layout: Layout) -> Bools:
    """Mark the elements for which all conditions of one of some places hold."""
    marked = np.zeros(layout.shape, np.bool_)
    for place in places:
        marked |= holding(place, layout)
    return marked


def where_words(places: Iterable[Conjunction]) -> str:
    """Return conditions on cases in words that complete "where ..."; "" for none."""
    return "; also where ".join(filter(None, (in_words(place)[1] for place in places)))


def all_hold(held: Iterable[tuple[Condition, Bools]]) -> Bools:
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
