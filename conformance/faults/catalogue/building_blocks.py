"""What the modules of the catalogue share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.faults.atoms.lists import (
    EVERYWHERE,
    FIRST_FOR_ALL,
    LAST_FOR_ALL,
    OF_NEXT,
    REVERSED,
    Place,
    on_axis,
    read_lists,
)
from conformance.faults.behaviour import Behaviour, Faults, after, before
from conformance.operators.needs import Needs
from conformance.operators.params import Params

Change = Callable[[Params], Params]


def changed(field: str, change: Callable[[Any], Any]) -> Change:
    """Return a change of parameters that changes one field."""
    return lambda params: replace(params, **{field: change(getattr(params, field))})


def wrong_params(step: str, summary: str, needs: Needs, change: Change, bug: str = "") -> Behaviour:
    """Change the parameters for every step after `resolve`, or for one step of the geometry."""
    if step == "resolve":
        replaces = after(step, lambda params, _given: change(params))
    else:
        replaces = before(step, lambda params, *others: (change(params), *others))
    return Behaviour(summary, needs, replaces, bug)


# The same few mistakes in many lists -------------------------------------------------------------

OF_ANY_AXES = {"first-for-all": FIRST_FOR_ALL, "last-for-all": LAST_FOR_ALL, "reversed": REVERSED}
_OF_THREE = {
    "second-for-first": on_axis(0, OF_NEXT, axes=3),
    "third-for-second": on_axis(1, OF_NEXT, axes=3),
}


def mixed_up(lists: str, place: Place = EVERYWHERE, name: str = "") -> Faults:
    """Return a fault for each way to mix up the axes of a list: NAME-first-for-all and so on."""
    mix_ups = OF_ANY_AXES | _OF_THREE if place is EVERYWHERE else OF_ANY_AXES
    return {
        f"{name or lists}-{slip}": read_lists({lists: atom}, place)
        for slip, atom in mix_ups.items()
    }
