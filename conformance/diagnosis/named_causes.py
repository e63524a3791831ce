"""Confirmed causes as one word, for files of expected failures; and what such a word names.

    same-lower-as-upper                         a fault of the catalogue; + joins several
    same-lower-as-upper:dtype=float16           the same, where a condition holds alone
    every_dilation_taken_as_1                   a fault without a name, in the words of the report
    rule:values:channel>=16&dtype=float16:zero  a rule: wrong how, where, and what comes instead
    rule:values:row>=8:the%20fault%20minimum    the same; what a fault gives comes instead

A cause that is read explains a failure only where it says what was returned, so a line excuses
nothing else: a rule that says of values that they are wrong, and not which come instead, has no
word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, product
from typing import get_args
from urllib.parse import quote, unquote

from conformance.diagnosis.claim import (
    EVERYWHERE,
    Claim,
    Planted,
    Substitute,
    behaviour_of,
    planted,
    with_gradients,
)
from conformance.diagnosis.conditions import places_written, written
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Manner, Sample
from conformance.diagnosis.substitutes import Instead, constant
from conformance.errors import UsageError
from conformance.faults.atoms import by_words
from conformance.faults.catalogue import CATALOGUE, fault_named
from conformance.faults.fault import Together
from conformance.text import did_you_mean, quoted
from conformance.vector import Combination, Vector

_RULE = "rule:"
_FAULT = "the fault "
_WITHOUT_VALUES: tuple[Manner, ...] = ("exception", "accepted")
"""Manners that say all there is to say: what is raised, or returned for nothing, is not judged."""


def word_of(claim: Claim) -> str:
    """Return a cause as one word; "" for one that no word can name."""
    what = claim.what
    if isinstance(what, Substitute):
        return _word_of_rule(claim, what)
    word = "+".join(fault.name for fault in what.faults)
    if not all(fault.name for fault in what.faults):
        word = behaviour_of(what.faults).replace(" ", "_")
        if word not in _by_word():  # one that was learned, or several
            return ""
    return word if claim.places == EVERYWHERE else f"{word}:{written(claim.places)}"


def cause_named(word: str) -> Claim:
    """Return what a word names; ValueError, which says what would do, if that is nothing."""
    if word.startswith(_RULE):
        return _rule_named(word)
    names, *conditions = word.split(":")
    # Every one of several conditions has to hold.
    places = tuple(tuple(chain(*each)) for each in product(*map(places_written, conditions)))
    return Claim(Planted(_by_word().get(names) or _faults_named(names)), places)


def _faults_named(names: str) -> Together:
    faults = []
    for name in names.split("+"):
        try:
            faults.append(fault_named(name))
        except UsageError:
            meant = did_you_mean(name, [fault.name for fault in CATALOGUE])
            raise ValueError(f"no cause {quoted(name)}{meant}; see conformance faults") from None
        if faults[-1].remembers:
            raise ValueError(f"{name} depends on earlier calls: no answer alone shows this cause")
    return tuple(faults)


@cache
def _by_word() -> Mapping[str, Together]:
    every = [
        together
        for fault in by_words().values()
        for together in ((fault,), with_gradients((fault,)))
    ]
    return {behaviour_of(together).replace(" ", "_"): together for together in every}


def _word_of_rule(claim: Claim, what: Substitute) -> str:
    if what.manner not in _WITHOUT_VALUES and (what.instead is None or what.some):
        return ""
    instead = "" if what.instead is None else f":{quote(what.instead.key)}"
    word = f"{_RULE}{what.manner}:{written(claim.places)}{instead}"
    try:
        return word if _rule_named(word).words == claim.words else ""
    except ValueError:  # what comes instead was learned
        return ""


def _rule_named(word: str) -> Claim:
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
    what = Substitute(
        next(each for each in get_args(Manner) if each == manner),
        instead=_instead_named(unquote(instead[0])) if instead else None,
    )
    return Claim(what, places_written(places))


def of_fault(faults: Together, predictions: Predictions) -> Instead:
    """Return as what comes instead the values that faults give."""
    word = word_of(planted(*faults))
    return Instead(
        f"those of this fault: {behaviour_of(faults)}",
        lambda layout: predictions.values(faults, layout.vector),
        key=f"{_FAULT}{word}" if word else "",
    )


def _instead_named(words: str) -> Instead:
    if words.startswith(_FAULT):
        return of_fault(cause_named(words.removeprefix(_FAULT)).faults, Predictions(lambda _: {}))
    found = constant(words)
    if found is None:
        raise ValueError(f"{quoted(words)} is not known to come instead of right values")
    return found


def explaining(
    causes: Mapping[str, Claim],
    samples: Sequence[Sample],
    readings: Callable[[Vector], Combination],
) -> dict[str, list[str]]:
    """Return the names of the causes that explain a failure, by the id of its vector."""
    predictions, found = Predictions(readings), dict[str, list[str]]()
    for sample in samples:
        names = [name for name, cause in causes.items() if predictions.is_exactly(cause, sample)]
        if names:
            found[sample.vector.case.id] = names
    return found
