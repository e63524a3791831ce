"""Conditions under which something is wrong: what holds of the parameters of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from conformance.faults import behaviour
from conformance.faults.behaviour import ADAPTIVE, EVERY, WINDOWED, Behaviour
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

        def wrapped(right: Callable[..., Any]) -> Callable[..., Any]:
            wrong: Callable[..., Any] = wrap(right)
            return lambda *given: (wrong if self.holds(_params_in(given)) else right)(*given)

        return wrapped

    def of(self, fault: Behaviour) -> Behaviour:
        """Restrict a fault of steps after `validate` to calls that meet the condition."""
        replaces = {step: self.only(wrap) for step, wrap in fault.replaces.items()}
        return Behaviour(f"{fault.summary}{self.words}", fault.needs & self.needs, replaces)


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


def _slides(params: Params, kernel: int, stride: int) -> bool:
    return set(params.kernel) == {kernel} and set(params.strides) == {stride}


def sliding(kernel: int, stride: int) -> Condition:
    """Return the condition that a kernel and its strides have one length on all axes."""
    words = f", for a kernel of {kernel} and strides of {stride}"
    return Condition(words, lambda p: _slides(p, kernel, stride), behaviour.STRIDED)


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
CHANNELS_LAST = Condition(
    ", where channels are last", lambda p: p.channels_last, _has("channels_last")
)
ONE_AXIS = Condition(", with one spatial axis", lambda p: len(p.sizes) == 1, behaviour.SINGLE)
VOLUMES = Condition(
    ", with three or more spatial axes", lambda p: len(p.sizes) > 2, behaviour.VOLUMETRIC
)
GLOBAL = Condition(", for a kernel as large as the input", lambda p: p.kernel == p.sizes, WINDOWED)
TILES = Condition(
    ", for strides equal to a kernel above 1",
    lambda p: p.kernel == p.strides and min(p.kernel) > 1,
    behaviour.STRIDED,
)
ONE_ROW = Condition(
    ", for a kernel of one row",
    lambda p: p.kernel[-1] > 1 and set(p.kernel[:-1]) == {1},
    WINDOWED,
)
ONE_COLUMN = Condition(
    ", for a kernel of one column",
    lambda p: p.kernel[0] > 1 and set(p.kernel[1:]) == {1},
    WINDOWED,
)
KERNEL_1 = Condition(", for a kernel of 1", lambda p: set(p.kernel) == {1}, WINDOWED)
KERNEL_3_PAD_1 = Condition(
    ", for a kernel of 3, strides of 1 and pads of 1",
    lambda p: _slides(p, 3, 1) and set(p.pads_begin + p.pads_end) == {1},
    behaviour.STRIDED & behaviour.PADDED,
)
ONE_NORM = Condition(", for p = 1", lambda p: p.exponent == 1, behaviour.NORMS)
ONE_OUTPUT = Condition(", for an output of one cell", lambda p: set(p.output) == {1}, ADAPTIVE)
DIVIDED = Condition(
    ", where every output has as many cells of its own",
    lambda p: all(d % o == 0 for d, o in zip(p.sizes, p.output, strict=True)),
    ADAPTIVE,
)
TALL = Condition(", where the first axis has more than 64 cells", lambda p: p.sizes[0] > 64)
WIDE = Condition(", where the last axis has more than 64 cells", lambda p: p.sizes[-1] > 64)
THREE_AXES = Condition(
    ", with three spatial axes", lambda p: len(p.sizes) == 3, behaviour.VOLUMETRIC
)
