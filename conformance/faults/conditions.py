"""Conditions under which something is wrong: what holds of the parameters of a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import FLOATS8, name_of
from conformance.faults import concerns
from conformance.faults.concerns import ADAPTIVE, EVERY, WINDOWED
from conformance.operators.needs import Needs, has, takes
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered
from conformance.operators.wraps import StepWrap
from conformance.text import listed


class Condition(NamedTuple):
    """A condition: words that follow what is wrong, whether it holds, and which operators may.

    It holds of the parameters of a call, or of data of some `types`.
    """

    words: str
    holds: Callable[[Params], bool]
    needs: Needs = EVERY
    types: tuple[str, ...] = ()

    def only(self, wrap: StepWrap) -> StepWrap:
        """Replace a step after `validate` only for calls whose parameters meet the condition."""

        def wrapped(right: Callable[..., Any]) -> Callable[..., Any]:
            wrong: Callable[..., Any] = wrap(right)
            return lambda *given: (wrong if self._is_met(given) else right)(*given)

        return wrapped

    def _is_met(self, given: Sequence[Any]) -> bool:
        if self.types:
            return name_of(_argument(given, np.ndarray, "data").dtype) in self.types
        return self.holds(_argument(given, Params, "params"))


def _argument(given: Sequence[Any], kind: type, field: str) -> Any:
    """Return the argument of a type that a step gets, or that field of what was gathered."""
    for argument in given:
        if isinstance(argument, kind | Gathered):
            return getattr(argument, field) if isinstance(argument, Gathered) else argument
    raise TypeError(f"a step that gets no {field}")


def _padded(params: Params) -> bool:
    return params.auto_pad == "explicit" and any(params.pads_begin + params.pads_end)


def _slides(params: Params, kernel: int, stride: int) -> bool:
    return set(params.kernel) == {kernel} and set(params.strides) == {stride}


def _sliding(kernel: int, stride: int) -> Condition:
    """Return the condition that a kernel and its strides have one length on all axes."""
    words = f", for a kernel of {kernel} and strides of {stride}"
    return Condition(words, lambda p: _slides(p, kernel, stride), concerns.STRIDED)


def _counted(how: str, holds: Callable[[Params], bool], needs: Needs) -> Condition:
    """Return the condition that the number of windows, which same_* fixes, is rounded somehow."""
    words = f", where the number of windows is rounded {how}"
    return Condition(words, lambda p: holds(p) and not p.same, needs)


def _of_types(*types: str) -> Condition:
    """Return the condition that data are of some types, all of which the operator has."""
    return Condition(f", of {listed(types)}", lambda _: False, tuple(map(takes, types)), types)


_STRIDES, _DILATIONS, _PADS = (has("strides"),), (has("dilations"),), (has("pads_begin"),)
_ROUNDING, _COUNTING = (has("rounding"),), (has("include_pad"),)
CEIL = Condition(", where sizes are rounded up", lambda p: p.ceil, _ROUNDING)
STRIDED = Condition(
    ", where a stride is above 1", lambda p: max(p.strides, default=0) > 1, _STRIDES
)
INCLUDED = Condition(", where padding counts", lambda p: p.include_pad, _COUNTING)
EXCLUDED = Condition(", where padding does not count", lambda p: not p.include_pad, _COUNTING)
ONE_ROW = Condition(
    ", for a kernel of one row", lambda p: p.kernel[-1] > 1 and set(p.kernel[:-1]) == {1}, WINDOWED
)
ONE_COLUMN = Condition(
    ", for a kernel of one column", lambda p: p.kernel[0] > 1 and set(p.kernel[1:]) == {1}, WINDOWED
)
CONDITIONS = (
    *(_of_types("float64"), _of_types("float32", "float64"), _of_types("float16")),
    *(_of_types("bfloat16"), _of_types(*FLOATS8), *map(_of_types, FLOATS8)),
    *(_sliding(2, 2), _sliding(3, 2), _sliding(1, 1)),
    Condition(", with same_*", lambda p: p.same, (has("auto_pad"),)),
    Condition(", without same_*", lambda p: not p.same),
    _counted("up", lambda p: p.ceil, _ROUNDING),
    _counted("down", lambda p: not p.ceil, _ROUNDING),
    _counted("up as ceil_torch", lambda p: p.rounding == "ceil_torch", _STRIDES),
    CEIL,
    STRIDED,
    Condition(", with explicit pads", _padded, _PADS),
    Condition(", without explicit pads", lambda p: not _padded(p), _PADS),
    Condition(", where a pad is above 0", lambda p: any(p.pads_begin + p.pads_end), _PADS),
    Condition(", where every pad is 0", lambda p: not any(p.pads_begin + p.pads_end), _PADS),
    Condition(
        ", where a dilation is above 1", lambda p: max(p.dilations, default=0) > 1, _DILATIONS
    ),
    Condition(", where dilations differ", lambda p: len(set(p.dilations)) > 1, _DILATIONS),
    INCLUDED,
    EXCLUDED,
    Condition(", where channels are last", lambda p: p.channels_last, (has("channels_last"),)),
    Condition(", with one spatial axis", lambda p: len(p.sizes) == 1, concerns.SINGLE),
    Condition(", with three spatial axes", lambda p: len(p.sizes) == 3, concerns.VOLUMETRIC),
    Condition(", with three or more spatial axes", lambda p: len(p.sizes) > 2, concerns.VOLUMETRIC),
    Condition(", for a kernel as large as the input", lambda p: p.kernel == p.sizes, WINDOWED),
    Condition(
        ", for strides equal to a kernel above 1",
        lambda p: p.kernel == p.strides and min(p.kernel) > 1,
        concerns.STRIDED,
    ),
    ONE_ROW,
    ONE_COLUMN,
    Condition(", for a kernel of 1", lambda p: set(p.kernel) == {1}, WINDOWED),
    Condition(
        ", for a kernel of 3, strides of 1 and pads of 1",
        lambda p: _slides(p, 3, 1) and set(p.pads_begin + p.pads_end) == {1},
        (*concerns.STRIDED, *concerns.PADDED),
    ),
    Condition(", for p = 1", lambda p: p.exponent == 1, concerns.NORMS),
    Condition(", for an output of one cell", lambda p: set(p.output) == {1}, ADAPTIVE),
    Condition(
        ", where every output has as many cells of its own",
        lambda p: all(d % o == 0 for d, o in zip(p.sizes, p.output, strict=True)),
        ADAPTIVE,
    ),
    Condition(", where the first axis has more than 64 cells", lambda p: p.sizes[0] > 64),
    Condition(", where the last axis has more than 64 cells", lambda p: p.sizes[-1] > 64),
)
"""Every condition that the table of faults may name."""
