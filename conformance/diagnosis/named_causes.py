"""Confirmed causes as one word, for files of expected failures; and what such a word names.

    same-lower-as-upper                         a fault of the catalogue; + joins several
    same-lower-as-upper:dtype=float16           the same, where a condition holds alone
    every_dilation_taken_as_1                   a fault without a name, in the words of the report
    rule:values:channel>=16&dtype=float16:zero  a rule: wrong how, where, and what comes instead

A cause that is read explains a failure only where it says what was returned, so a line excuses
nothing else: a rule that says of values that they are wrong, and not which come instead, has no
word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args
from urllib.parse import quote, unquote

from conformance.cases.near import Feature
from conformance.diagnosis.conditions import (
    Condition,
    Conjunction,
    Quantifier,
    Relation,
    Where,
    holds_in,
)
from conformance.diagnosis.elements import KINDS, layout_of
from conformance.diagnosis.hypothesis import Hypothesis, Sample
from conformance.diagnosis.instead import Instead, constant
from conformance.diagnosis.planting import (
    FaultHypothesis,
    Planting,
    behaviour_of,
    with_gradients,
)
from conformance.diagnosis.rules import Manner, Rule, manner_of
from conformance.diagnosis.wrong_elements import Elements
from conformance.errors import UsageError
from conformance.faults.atoms import by_words
from conformance.faults.catalogue import CATALOGUE, fault_named
from conformance.faults.fault import Together
from conformance.text import did_you_mean, quoted
from conformance.vector import Combination, Vector

_RULE = "rule:"
_SIGNS: Mapping[Relation, str] = {"is": "=", "is not": "!=", "from": ">=", "to": "<="}
_CONDITION = re.compile(
    r"(?P<name>\w+)(\.(?P<axis>-?\d+))?(\.(?P<over>some|every))?"
    r"(?P<sign>!=|>=|<=|=|%(?P<modulus>\d+)=)(?P<value>.*)"
)
_WITHOUT_VALUES: tuple[Manner, ...] = ("exception", "accepted")
"""Manners that say all there is to say: what is raised, or returned for nothing, is not judged."""


@dataclass(frozen=True, slots=True)
class NamedCause:
    """What a word names: faults that are planted, in cases `where` conditions hold, or a rule."""

    faults: Together = ()
    where: Where = ()
    rule: Rule | None = None

    def applies_to(self, vector: Vector, readings: Combination) -> bool:
        """Say whether its conditions on cases hold in one."""
        return holds_in(self.where, layout_of(vector, readings))

    def explains(self, sample: Sample, planting: Planting) -> bool:
        """Say whether a failure is what it predicts."""
        readings = planting.readings(sample.vector)
        if self.rule is not None:
            return _is_as(replace(self.rule, readings=tuple(sorted(readings.items()))), sample)
        return self.applies_to(sample.vector, readings) and planting.reproduces(self.faults, sample)


def _is_as(rule: Rule, sample: Sample) -> bool:
    """Say whether a failure is what a rule predicts, to the bit where that is of values."""
    if manner_of(sample) != rule.manner:
        return False
    if rule.instead is None:
        return rule.fails(sample.vector)
    layout = layout_of(sample.vector, dict(rule.readings))
    marked, shown = rule.wrong(sample.vector), rule.shown(sample.vector, told=True)
    values = rule.instead.exact(layout)
    if marked is None or shown is None or values is None:
        return False
    assert sample.wrong is not None
    assert sample.outputs is not None
    wrong, got = sample.wrong, sample.outputs[0]
    if (wrong.shape, got.dtype) != (values.shape, values.dtype):
        return False
    same = (got == values) | ((got != got) & (values != values))  # noqa: PLR0124 - NaN of any type
    return bool(wrong.any() and not (wrong & ~(marked & same)).any() and not (shown & ~wrong).any())


def word_of(hypothesis: Hypothesis) -> str:
    """Return a cause as one word; "" for one that no word can name."""
    match hypothesis:
        case FaultHypothesis(faults=faults, condition=condition):
            return word_of_faults(faults, () if condition is None else (condition.places,))
        case Elements(rule=rule) | (Rule() as rule):
            return _word_of_rule(rule)
    return ""


def word_of_faults(faults: Together, where: Where = ()) -> str:
    """Return faults that are there where conditions hold as one word; "" for what has none."""
    word = "+".join(fault.name for fault in faults)
    if not all(fault.name for fault in faults):
        word = behaviour_of(faults).replace(" ", "_")
        if word not in _by_word():  # one that was learned, or several
            return ""
    return ":".join([word, *map(_word_of_places, where)])


def cause_named(word: str) -> NamedCause:
    """Return what a word names; ValueError, which says what would do, if that is nothing."""
    if word.startswith(_RULE):
        return NamedCause(rule=_rule_named(word))
    names, *conditions = word.split(":")
    where = tuple(map(_places_named, conditions))
    if names in _by_word():
        return NamedCause(_by_word()[names], where)
    faults = []
    for name in names.split("+"):
        try:
            faults.append(fault_named(name))
        except UsageError:
            meant = did_you_mean(name, [fault.name for fault in CATALOGUE])
            raise ValueError(f"no cause {quoted(name)}{meant}; see conformance faults") from None
        if faults[-1].remembers:
            raise ValueError(f"{name} depends on earlier calls: no answer alone shows this cause")
    return NamedCause(tuple(faults), where)


@cache
def _by_word() -> Mapping[str, Together]:
    every = [
        together
        for fault in by_words().values()
        for together in ((fault,), with_gradients((fault,)))
    ]
    return {behaviour_of(together).replace(" ", "_"): together for together in every}


def _word_of_rule(rule: Rule) -> str:
    if rule.manner not in _WITHOUT_VALUES and (rule.instead is None or rule.some):
        return ""
    instead = "" if rule.instead is None else f":{quote(rule.instead.key)}"
    word = f"{_RULE}{rule.manner}:{_word_of_places(rule.places)}{instead}"
    try:
        return word if _rule_named(word).words == rule.words else ""
    except ValueError:  # what comes instead was learned
        return ""


def _word_of_places(places: Sequence[Conjunction]) -> str:
    return "|".join("&".join(map(_word_of_condition, place)) for place in places)


def _word_of_condition(condition: Condition) -> str:
    feature, value = condition.feature, condition.value
    axis = f".{feature.axis}" if KINDS[feature.name].per_axis else ""
    over = f".{condition.over}" if condition.over else ""
    sign = f"%{condition.modulus}=" if condition.modulus else _SIGNS[condition.relation]
    if isinstance(value, frozenset):
        said = ",".join(map(_quoted, sorted(value)))
    else:
        said = ("no", "yes")[value] if isinstance(value, bool) else f"{value:.17g}"
    return f"{feature.name}{axis}{over}{sign}{said}"


def _quoted(word: str) -> str:
    return quote(word, safe="")


def _rule_named(word: str) -> Rule:
    parts = word.removeprefix(_RULE).split(":")
    if len(parts) not in {2, 3}:
        raise ValueError("a rule is rule:MANNER:PLACES, or rule:values:PLACES:INSTEAD")
    manner, places, *instead = parts
    if manner not in get_args(Manner):
        raise ValueError(f"no manner {quoted(manner)}: one of {', '.join(get_args(Manner))}")
    if bool(instead) != (manner == "values") or manner not in (*_WITHOUT_VALUES, "values"):
        raise ValueError(
            f"{quoted(word)} does not say what is returned, and would excuse anything; name the "
            "vectors, as in mismatch PATTERN # REASON, or what comes instead, as in "
            "rule:values:PLACES:zero"
        )
    return Rule(
        _places_named(places),
        next(each for each in get_args(Manner) if each == manner),
        instead=_instead_named(unquote(instead[0])) if instead else None,
    )


def _places_named(text: str) -> tuple[Conjunction, ...]:
    return tuple(_place_named(place) for place in text.split("|"))


def _place_named(text: str) -> Conjunction:
    return tuple(_condition_named(each) for each in text.split("&")) if text else ()


def _condition_named(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None or match["name"] not in KINDS:
        raise ValueError(f"no condition {quoted(text)}")
    relations: Mapping[str, Relation] = {sign: each for each, sign in _SIGNS.items()}
    kind, value = KINDS[match["name"]], match["value"]
    feature = Feature(match["name"], int(match["axis"] or 0))
    relation, modulus = relations.get(match["sign"], "modulo"), int(match["modulus"] or 0)
    over: Quantifier = "some" if match["over"] == "some" else "every" if match["over"] else ""
    if kind.style == "word":
        words = frozenset(map(unquote, value.split(",")))
        return Condition(feature, relation, words, modulus, over)
    if kind.style == "flag":
        if value not in {"yes", "no"}:
            raise ValueError(f"{quoted(text)}: yes or no")
        return Condition(feature, relation, value == "yes", modulus, over)
    try:
        return Condition(feature, relation, float(value), modulus, over)
    except ValueError:
        raise ValueError(f"{quoted(text)}: {quoted(value)} is no number") from None


def _instead_named(words: str) -> Instead:
    found = constant(words)
    if found is None:
        raise ValueError(f"{quoted(words)} is not known to come instead of right values")
    return found


def explaining(
    causes: Mapping[str, NamedCause],
    samples: Sequence[Sample],
    readings: Callable[[Vector], Combination],
) -> dict[str, list[str]]:
    """Return the names of the causes that explain a failure, by the id of its vector."""
    planting, found = Planting(readings), dict[str, list[str]]()
    for sample in samples:
        names = [name for name, cause in causes.items() if cause.explains(sample, planting)]
        if names:
            found[sample.vector.case.id] = names
    return found
