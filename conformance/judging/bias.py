"""Whether results that conform, but are not correctly rounded, lie to one side.

How far they lie from the correctly rounded ones is told of all. That they lie to one side may come
of the data, of a rounded reciprocal of the divisor, or of sums that stagnate: all of it is sound.
So a bias is looked for where the last rounding alone can be the reason. A sum of two addends over a
power of two is rounded once, whatever the order, the type of the sum and the way to divide: who
rounds to nearest is right there, and who is wrong there rounds in some direction.
"""

from __future__ import annotations

import numpy as np

from conformance.dtypes import float_format
from conformance.judging.closeness import Bools, Doubles, spacing
from conformance.judging.conforming import ConformingElements
from conformance.operators import operator_named
from conformance.record.report import BIAS_STEPS, Bias
from conformance.vector import Expected


def bias_of(operator: str, elements: ConformingElements) -> Bias:
    """Return the bias of elements of an operator that conform."""
    if elements.near is None:
        return Bias(operator, elements.dtype)
    finite = np.isfinite(elements.near.got) & np.isfinite(elements.near.expected)
    off = finite & (elements.near.error != 0)
    near, vector = elements.near.at(off), elements.vector[off]
    count = len(vector)
    up = np.sign(near.got - near.expected)
    out = up * np.sign(near.expected)
    steps = np.rint(near.error / spacing(near.columns.magnitude, elements.dtype) * BIAS_STEPS)
    once = np.zeros(count, np.bool_)
    if not operator_named(operator).is_gradient:  # one that divides before it adds
        once = _are_rounded_once(near.expected, near.columns, elements.dtype)

    def vectors(side: Doubles) -> tuple[int, int]:
        """Return how many vectors lie to a side, and how many to the other."""
        sums = np.bincount(vector[once], weights=side[once])
        return int((sums > 0).sum()), int((sums < 0).sum())

    (above, below), (outward, inward) = vectors(up), vectors(out)
    return Bias(
        operator=operator,
        dtype=elements.dtype,
        off=count,
        mean_ulp=float((steps * up).sum()) / BIAS_STEPS / max(count, 1),
        mean_outward_ulp=float((steps * out).sum()) / BIAS_STEPS / max(count, 1),
        above=above,
        below=below,
        outward=outward,
        inward=inward,
    )


@np.errstate(over="ignore")
def _are_rounded_once(expected: Doubles, of: Expected, name: str) -> Bools:
    """Mask the averages that every sound way rounds once.

    These have two addends and a power of two as divisor. The result is so far above the smallest
    normal number that an addend which is subnormal, or becomes so when it is divided, is below a
    quarter of its ulp and changes nothing; and no sum overflows.
    """
    fmt = float_format(name)
    lowest = fmt.smallest_normal * 2.0 ** (fmt.precision + 1)
    two = (of.addends == 2) & (of.divisor > 0) & (of.divisor & (of.divisor - 1) == 0)
    once: Bools = two & (np.abs(expected) >= lowest) & (of.magnitude * of.divisor < fmt.largest)
    return once
