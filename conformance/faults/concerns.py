"""What an operator must have for a fault to show in it; `&` asks for both."""

from __future__ import annotations

from functools import cache

from conformance.operators.needs import Needs

_and = cache(Needs.__and__)  # thousands of faults have few pairs of needs
EVERY = Needs()


def both(one: Needs, other: Needs) -> Needs:
    """Return `one & other`, the same object for the same pair."""
    if other is EVERY:
        return one
    return other if one is EVERY else _and(one, other)


WINDOWED = Needs(roles=("kernel",))
STRIDED = Needs(roles=("kernel", "strides"))
PADDED = Needs(roles=("kernel", "pads_begin", "pads_end"))
ONE_LIST = Needs(roles=("pads",))
MAY_LEAVE_REST = Needs(rest=True)
ROUNDED = Needs(roles=("kernel", "strides", "rounding"))
AUTO_PADDED = Needs(roles=("kernel", "strides", "auto_pad"))
PADS_IGNORED = Needs(without_clauses=("pads-with-auto-pad",))  # beside an auto_pad
INCLUDING = Needs(roles=("kernel", "include_pad"))
DILATED = Needs(roles=("kernel", "dilations"))
ADAPTIVE = Needs(roles=("output",))
SIZED = Needs(roles=("kernel", "fixed_output"))  # an output size may be given beside strides
WHOLE = Needs(without=("kernel", "output"))  # one window, the plane
SPREAD = Needs(some=("kernel", "output"))  # more outputs than one of a plane
EXTENT_VARIES = Needs(some=("pads_begin", "auto_pad", "rounding"))  # for one kernel and strides
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
SEVERAL_FURTHER = Needs(outputs=3)
SINGLE = Needs(one_axis=True)
SEVERAL_AXES = Needs(axes=2)
VOLUMETRIC = Needs(axes=3)
APART = Needs(uneven_pads=True)  # pads differ at the two ends of an axis
ANY_EXPONENT = Needs(roles=("exponent",))  # p is not fixed
ODD_EXPONENTS = Needs(odd_exponents=True)
DOUBLES = Needs(dtypes=("float64",))
ACTIVATED = Needs(roles=("activation",))
ROUNDING_INTEGERS = Needs(rounds_integers=True)  # averages of these
ZERO_POINTS = ROUNDING_INTEGERS & Needs(roles=("input_zero_point", "output_zero_point"))
SCALED = ZERO_POINTS & Needs(roles=("input_scale", "output_scale"))
UNSCALED = Needs(without=("input_scale", "output_scale"))
ONE_ENCODING = Needs(without=("output_scale",))
QUANTISED = Needs(roles=("input_scale", "input_zero_point"))
UNRULED = Needs(ruled=False)  # whatever is in its range is valid
IN_LISTS = Needs(split=False)  # no attribute for each axis
SAYS_ROUNDING = Needs(worded=("rounding",), without_clauses=("onnx-flags",))
SAYS_TORCH = Needs(says=(("rounding", "ceil_torch"),))
SAYS_CEIL = Needs(says=(("rounding", "ceil"),))
NO_POWERS = Needs(powers=False)
SAYS_NAN = Needs(roles=("nan",))
UNPOOLINGS = Needs(scatters=True)
INDICES_OF_PLANES = Needs(beyond_planes=False)
INDICES_OF_TENSORS = Needs(beyond_planes=True)  # they count the cells of all planes
GRADIENTS = Needs(gradient=True)
GRADIENTS_OF_AVERAGES = Needs(gradient=True, reduction="gradient of average")
GRADIENTS_OF_MAXIMA = Needs(gradient=True, reduction="gradient of maximum")
GRADIENTS_OF_NORMS = Needs(gradient=True, reduction="gradient of norm")
