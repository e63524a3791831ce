"""Confirmed causes as one word, for files of expected failures; and what such a word names.

    same-lower-as-upper                         a fault of the catalogue; + joins several
    answers_as_if_every_dilation_were_1         a slip, in the words of the report
    rule:values:channel>=16&dtype=float16:zero  a rule: wrong how, where, and what comes instead

A cause that is read explains a failure only if it holds for what was returned, so a line excuses
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import get_args
from urllib.parse import quote, unquote

from conformance.cases.near import Feature
from conformance.diagnosis.conditions import Condition, Conjunction, Quantifier, Relation
from conformance.diagnosis.elements import KINDS
from conformance.diagnosis.hypothesis import Hypothesis, Sample
from conformance.diagnosis.instead import Instead, constant
from conformance.diagnosis.planting import (
    FaultHypothesis,
    Planting,
    Together,
    behaviour_of,
    with_gradients,
)
from conformance.diagnosis.rules import Manner, Rule
from conformance.diagnosis.slips import SlipFault, slips
from conformance.diagnosis.wrong_elements import Elements
from conformance.errors import UsageError
from conformance.faults.catalogue import CATALOGUE, fault_named
from conformance.text import quoted
from conformance.vector import Combination, Vector

_RULE = "rule:"
_SOME = "some-"
_SIGNS: Mapping[Relation, str] = {"is": "=", "is not": "!=", "from": ">=", "to": "<="}
_CONDITION = re.compile(
    r"(?P<name>\w+)(\.(?P<axis>-?\d+))?(\.(?P<over>some|every))?"
    r"(?P<sign>!=|>=|<=|=|%(?P<modulus>\d+)=)(?P<value>.*)"
)


@dataclass(frozen=True, slots=True)
class NamedCause:
    """What a word names: faults that are planted, or a rule."""

    faults: Together = ()
    rule: Rule | None = None

    def explains(self, sample: Sample, planting: Planting) -> bool:
        """Say whether a failure is what it predicts."""
        if self.rule is None:
            return planting.reproduces(self.faults, sample)
        readings = tuple(sorted(planting.readings(sample.vector).items()))
        rule = replace(self.rule, readings=readings)
        return (Elements(rule, 1.0) if rule.some else rule).explains(sample)


def word_of(hypothesis: Hypothesis) -> str:
    """Return a cause as one word; "" for one that no word can name."""
    match hypothesis:
        case FaultHypothesis(faults=faults):
            return _word_of_faults(faults)
        case Elements(rule=rule) | (Rule() as rule):
            return _word_of_rule(rule)
    return ""


def cause_named(word: str) -> NamedCause:
    """Return what a word names; ValueError, which says what would do, if that is nothing."""
    if word.startswith(_RULE):
        return NamedCause(rule=_rule_named(word))
    if word in _slips_by_word():
        return NamedCause(_slips_by_word()[word])
    faults = []
    for name in word.split("+"):
        try:
            faults.append(fault_named(name))
        except UsageError:
            close = get_close_matches(name[:80], [fault.name for fault in CATALOGUE], n=1)
            meant = f" (did you mean {close[0]}?)" if close else ""
            raise ValueError(f"no cause {quoted(name)}{meant}; docs/faults.md lists them") from None
        if faults[-1].remembers:
            raise ValueError(f"{name} depends on earlier calls: no answer alone shows this cause")
    return NamedCause(tuple(faults))


def _word_of_faults(faults: Together) -> str:
    if any(isinstance(fault, SlipFault) for fault in faults):
        word = behaviour_of(faults).replace(" ", "_")
        return word if word in _slips_by_word() else ""  # one that was learned, or several
    return "+".join(fault.name for fault in faults)


@cache
def _slips_by_word() -> Mapping[str, Together]:
    every = [together for slip in slips() for together in ((slip,), with_gradients((slip,)))]
    return {behaviour_of(together).replace(" ", "_"): together for together in every}


def _word_of_rule(rule: Rule) -> str:
    places = "|".join("&".join(map(_word_of_condition, place)) for place in rule.places)
    instead = "" if rule.instead is None else f":{quote(rule.instead.words)}"
    word = f"{_RULE}{_SOME * rule.some}{rule.manner}:{places}{instead}"
    try:
        return word if _rule_named(word).words == rule.words else ""
    except ValueError:  # what comes instead was learned
        return ""


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
        raise ValueError("a rule is rule:MANNER:PLACES, or rule:MANNER:PLACES:INSTEAD")
    manner, places, *instead = parts
    some, manner = manner.startswith(_SOME), manner.removeprefix(_SOME)
    if manner not in get_args(Manner):
        raise ValueError(f"no manner {quoted(manner)}: one of {', '.join(get_args(Manner))}")
    return Rule(
        tuple(_place_named(place) for place in places.split("|")),
        next(each for each in get_args(Manner) if each == manner),
        instead=_instead_named(unquote(instead[0])) if instead else None,
        some=some,
    )


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
