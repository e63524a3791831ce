"""A wrong behaviour, what operators need to have it, and ways to replace a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from conformance.faults import wraps
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params

# What an operator must have for a fault to show in it; `&` asks for both.
EVERY = Needs()
WINDOWED = Needs(roles=("kernel",))
STRIDED = Needs(roles=("kernel", "strides"))
PADDED = Needs(roles=("kernel", "pads_begin", "pads_end"))
ONE_LIST = Needs(roles=("pads",))
ROUNDED = Needs(roles=("kernel", "strides", "rounding"))
AUTO_PADDED = Needs(roles=("kernel", "strides", "auto_pad"))
PADS_IGNORED = Needs(without_clauses=("pads-with-auto-pad",))  # beside an auto_pad
INCLUDING = Needs(roles=("kernel", "include_pad"))
DILATED = Needs(roles=("kernel", "dilations"))
ADAPTIVE = Needs(roles=("output",))
WHOLE = Needs(without=("kernel", "output"))  # one window, the plane
SPREAD = Needs(some=("kernel", "output"))  # more outputs than one of a plane
UNEVEN = Needs(some=("pads_begin", "auto_pad", "rounding", "output"))  # windows differ in cells
BORDERED = WINDOWED & Needs(some=("pads_begin", "auto_pad"))  # windows may reach into padding
SAYS_LOWER = Needs(says=(("auto_pad", "same_lower"),))
SAYS_VALID = Needs(says=(("auto_pad", "valid"),))
SAYS_EXPLICIT = Needs(says=(("auto_pad", "explicit"),))
AVERAGES = Needs(reduction="average")
MAXIMUM = Needs(reduction="maximum")
CHOOSING = Needs(sums=False)
INTEGERS = Needs(integers=True)
NORMS = Needs(reduction="norm")
INDEXED = Needs(reduction="maximum", indices=True)
FURTHER = Needs(outputs=2)
SINGLE = Needs(one_axis=True)
VOLUMETRIC = Needs(axes=3)
APART = Needs(uneven_pads=True)  # pads differ at the two ends of an axis
ANY_EXPONENT = Needs(roles=("exponent",))  # p is not fixed
ODD_EXPONENTS = Needs(odd_exponents=True)
DOUBLES = Needs(dtypes=("float64",))
ACTIVATED = Needs(roles=("activation",))
UNRULED = Needs(ruled=False)  # whatever is in its range is valid

Replaces = dict[str, StepWrap]
"""Names of steps and the wrap around each; `|` joins the wraps of several steps."""


class Behaviour(NamedTuple):
    """A fault but for its name; see `Fault`."""

    summary: str
    needs: Needs
    replaces: Replaces
    bug: str = ""
    remembers: bool = False

    def needing(self, needs: Needs) -> Behaviour:
        """Return it for operators that meet other conditions, too."""
        return self._replace(needs=self.needs & needs)


Faults = dict[str, Behaviour]
"""Faults by name."""


class Refused(ValueError):  # noqa: N818 - says what happened
    """Raised by a fault that refuses a valid case."""


# Ways to replace a step --------------------------------------------------------------------------


def before(step: str, change: Callable[..., tuple[Any, ...]]) -> Replaces:
    """Run a step with other arguments; see `wraps`."""
    return {step: wraps.before(change)}


def after(step: str, change: Callable[..., Any]) -> Replaces:
    """Run a step and change what it returns; see `wraps`."""
    return {step: wraps.after(change)}


def instead(step: str, compute: Callable[..., Any]) -> Replaces:
    """Run something else in place of a step; see `wraps`."""
    return {step: wraps.instead(compute)}


def wrong_params(
    step: str, summary: str, needs: Needs, change: Callable[[Params], Params], bug: str = ""
) -> Behaviour:
    """Change the parameters for all steps after `resolve`, or for one, of geometry or values."""
    if step == "resolve":
        replaces = after(step, lambda params, _given: change(params))
    elif step in {"reduce", "clamp"}:
        replaces = before(
            step,
            lambda gathered, *others: (
                replace(gathered, params=change(gathered.params)),
                *others,
            ),
        )
    else:
        replaces = before(step, lambda params, *others: (change(params), *others))
    return Behaviour(summary, needs, replaces, bug)
