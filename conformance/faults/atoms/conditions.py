"""Conditions under which something is wrong: what holds of the parameters of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from conformance.faults.behaviour import EVERY
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered


class Condition(NamedTuple):
    """A condition: words that follow what is wrong, whether it holds, and which operators may."""

    words: str
    holds: Callable[[Params], bool]
    needs: Needs = EVERY

    def only(self, wrap: StepWrap) -> StepWrap:
        """Replace a step after `validate` only for calls whose parameters meet the condition."""
        if self is ALWAYS:
            return wrap
        return only_where(self.holds, wrap)


def only_where(holds: Callable[[Params], bool], wrap: StepWrap) -> StepWrap:
    """Replace a step after `validate` only for calls of some parameters."""

    def wrapped(right: Callable[..., Any]) -> Callable[..., Any]:
        wrong: Callable[..., Any] = wrap(right)
        return lambda *given: (wrong if holds(_params_in(given)) else right)(*given)

    return wrapped


def _params_in(given: Iterable[Any]) -> Params:
    """Return the parameters among the arguments of a step after `validate`."""
    for argument in given:
        if isinstance(argument, Params):
            return argument
        if isinstance(argument, Gathered):
            return argument.params
    raise TypeError("no step after `validate`: it gets no parameters")


def _padded(params: Params) -> bool:
    return params.auto_pad == "explicit" and any(params.pads_begin + params.pads_end)


def _has(*roles: Any) -> Needs:
    return Needs(roles=roles)


ALWAYS = Condition("", lambda _: True)
SAME = Condition(", with same_*", lambda p: p.same, _has("auto_pad"))
COUNTED = Condition(", without same_*", lambda p: not p.same)
ROUNDED_UP = Condition(
    ", where the number of windows is rounded up", lambda p: p.ceil and not p.same, _has("rounding")
)
ROUNDED_DOWN = Condition(
    ", where the number of windows is rounded down",
    lambda p: not p.ceil and not p.same,
    _has("rounding"),
)
CEIL = Condition(", where sizes are rounded up", lambda p: p.ceil, _has("rounding"))
STRIDED = Condition(
    ", where a stride is above 1", lambda p: any(s > 1 for s in p.strides), _has("strides")
)
EXPLICITLY_PADDED = Condition(", with explicit pads", _padded, _has("pads_begin"))
NOT_EXPLICITLY_PADDED = Condition(
    ", without explicit pads", lambda p: not _padded(p), _has("pads_begin")
)
PADDED = Condition(
    ", where a pad is above 0", lambda p: any(p.pads_begin + p.pads_end), _has("pads_begin")
)
UNPADDED = Condition(
    ", where every pad is 0", lambda p: not any(p.pads_begin + p.pads_end), _has("pads_begin")
)
DILATED = Condition(
    ", where a dilation is above 1", lambda p: any(n > 1 for n in p.dilations), _has("dilations")
)
UNEQUALLY_DILATED = Condition(
    ", where dilations differ", lambda p: len(set(p.dilations)) > 1, _has("dilations")
)
INCLUDED = Condition(", where padding counts", lambda p: p.include_pad, _has("include_pad"))
EXCLUDED = Condition(
    ", where padding does not count", lambda p: not p.include_pad, _has("include_pad")
)
ONE_AXIS = Condition(", with one spatial axis", lambda p: len(p.sizes) == 1)
VOLUMES = Condition(", with three or more spatial axes", lambda p: len(p.sizes) > 2)
THREE_AXES = Condition(", with three spatial axes", lambda p: len(p.sizes) == 3)
