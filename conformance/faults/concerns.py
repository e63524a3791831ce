"""What an operator must have for a fault to show in it: names for needs."""

from __future__ import annotations

from conformance.operators.needs import (
    INDICES,
    MAXIMUM,
    Needs,
    can_mean,
    has,
    has_any,
    is_gradient,
    is_no_gradient,
    lacks,
    lacks_clause,
    pools,
)
from conformance.operators.operator import Operator

_IN_PLANES = 2
"""The first axis of the data that indices count, if they count the cells of a plane."""


def _can_mean_odd_exponents(operator: Operator) -> bool:
    exponent = operator.attribute("exponent")
    return exponent is not None and (not exponent.samples or any(p % 2 for p in exponent.samples))


def _counts_beyond_planes(operator: Operator) -> bool:
    """Say whether an index may count slices of a volume, or planes: more than rows."""
    most = operator.axes[1]
    return not _counts_planes(operator) or most is None or most > _IN_PLANES


def _has_words_for_rounding(operator: Operator) -> bool:
    rounding = operator.attribute("rounding")
    return rounding is not None and not all(isinstance(value, bool) for value in rounding.values)


def _counts_planes(operator: Operator) -> bool:
    return "index_axis" not in operator.roles and operator.constants.get("index_axis") == _IN_PLANES


EVERY: Needs = ()
WINDOWED: Needs = (has("kernel"),)
STRIDED: Needs = (*WINDOWED, has("strides"))
PADDED: Needs = (*WINDOWED, has("pads_begin"), has("pads_end"))
MAY_LEAVE_REST: Needs = (lambda operator: not operator.leaves_no_rest,)
ROUNDED: Needs = (*STRIDED, has("rounding"))
AUTO_PADDED: Needs = (*STRIDED, has("auto_pad"))
PADS_IGNORED: Needs = (lacks_clause("pads-with-auto-pad"),)  # beside an auto_pad
INCLUDING: Needs = (*WINDOWED, has("include_pad"))
DILATED: Needs = (*WINDOWED, has("dilations"))
ADAPTIVE: Needs = (has("output"),)
SIZED: Needs = (*WINDOWED, has("fixed_output"))  # an output size may be given beside strides
WHOLE: Needs = (lacks("kernel", "output"),)  # one window, the plane
SPREAD: Needs = (has_any("kernel", "output"),)  # more outputs than one of a plane
EXTENT_VARIES: Needs = (
    has_any("pads_begin", "auto_pad", "rounding"),
)  # for one kernel and strides
BORDERED: Needs = (*WINDOWED, has_any("pads_begin", "auto_pad"))  # windows may reach into padding
SAYS_LOWER: Needs = (can_mean("auto_pad", "same_lower"),)
SAYS_VALID: Needs = (can_mean("auto_pad", "valid"),)
SAYS_EXPLICIT: Needs = (can_mean("auto_pad", "explicit"),)
CHOOSING: Needs = (lambda operator: not operator.reduction.sums,)
NORMS: Needs = (pools("norm"), is_no_gradient)
INDEXED: Needs = (*MAXIMUM, *INDICES)
FURTHER: Needs = (lambda operator: len(operator.outputs) > 1,)
SEVERAL_FURTHER: Needs = (lambda operator: len(operator.outputs) > 2,)
SINGLE: Needs = (lambda operator: operator.takes_axes(1),)
SEVERAL_AXES: Needs = (lambda operator: operator.axes[1] is None or operator.axes[1] > 1,)
VOLUMETRIC: Needs = (lambda operator: operator.axes[1] is None or operator.axes[1] > 2,)
APART: Needs = (lambda operator: not operator.pads_both_ends,)  # pads differ at the ends of an axis
ODD_EXPONENTS: Needs = (_can_mean_odd_exponents,)
ACTIVATED: Needs = (has("activation"),)
ROUNDING_INTEGERS: Needs = (lambda operator: operator.rounds_integers,)  # averages of these
ZERO_POINTS: Needs = (*ROUNDING_INTEGERS, has("input_zero_point"), has("output_zero_point"))
SCALED: Needs = (*ZERO_POINTS, has("input_scale"), has("output_scale"))
UNSCALED: Needs = (lacks("input_scale", "output_scale"),)
ONE_ENCODING: Needs = (lacks("output_scale"),)
UNRULED: Needs = (lambda operator: not operator.rules,)  # whatever is in its range is valid
IN_LISTS: Needs = (lambda operator: not operator.convention.split,)  # no attribute for each axis
SAYS_ROUNDING: Needs = (_has_words_for_rounding, lacks_clause("onnx-flags"))
SAYS_TORCH: Needs = (can_mean("rounding", "ceil_torch"),)
SAYS_CEIL: Needs = (can_mean("rounding", "ceil"),)
INDICES_OF_PLANES: Needs = (_counts_planes,)
BEYOND_PLANES: Needs = (_counts_beyond_planes,)
INDICES_OF_TENSORS: Needs = (lambda operator: not _counts_planes(operator),)
GRADIENTS: Needs = (is_gradient,)
GRADIENTS_OF_AVERAGES: Needs = (pools("average"), is_gradient)
