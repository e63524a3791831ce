"""Attributes with few values: a word that is read as another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.faults.atoms.conditions import ALWAYS, Condition
from conformance.faults.behaviour import (
    ACTIVATED,
    AUTO_PADDED,
    EVERY,
    INCLUDING,
    ROUNDED,
    Behaviour,
)
from conformance.faults.wraps import before
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.text import listed

_NEEDS = {
    "auto_pad": AUTO_PADDED,
    "rounding": ROUNDED,
    "include_pad": INCLUDING,
    "activation": ACTIVATED,
}
PLACES_OF_WORDS = {
    "resolve": "",
    "extent": ", for the output size alone",
    "divide": ", for the divisor alone",
}


def in_words(role: str, meaning: Any) -> str:
    """Return a role and its meaning, as role=word."""
    return f"{role}={_word(meaning)}"


def _word(meaning: Any) -> str:
    return str(meaning).lower() if isinstance(meaning, bool) else str(meaning)


def taken_as(nouns: Mapping[Any, str], others: Mapping[Any, str]) -> str:
    """Say what is taken as what: those that are taken as the same are named together."""
    together: dict[str, list[str]] = {}
    for name, other in others.items():
        together.setdefault(other, []).append(nouns[name])
    said = [f"{listed(those)} taken as {other}" for other, those in together.items()]
    return ", and ".join(said)


def meaning(role: str, others: Mapping[Any, Any]) -> StepWrap:
    """Give a step other words in place of some."""

    def change(params: Params) -> Params:
        word = getattr(params, role)
        return replace(params, **{role: others[word]}) if word in others else params

    return before(lambda params, *given: (change(params), *given))


def mean(
    role: str,
    others: Mapping[Any, Any],
    step: str = "resolve",
    *,
    where: Condition = ALWAYS,
    needs: Needs = EVERY,
) -> Behaviour:
    """Read some values of a role, the keys of `others`, as other ones."""
    words = {one: _word(other) for one, other in others.items()}
    said = taken_as({one: _word(one) for one in others}, words)
    return Behaviour(
        f"{role}={said}{PLACES_OF_WORDS[step]}{where.words}",
        _NEEDS[role] & needs & where.needs,
        {step: where.only(meaning(role, others))},
    )
