"""Faults of averages of integers that a document defines: rounding, zero points, narrow sums."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import numpy.typing as npt

from conformance.faults.behaviour import Behaviour, Faults, instead
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.fold import fold
from conformance.vector import Array

Ints = npt.NDArray[np.int64]
_ROUNDED = Needs(rounds_integers=True)
_ZERO_POINTS = _ROUNDED & Needs(roles=("input_zero_point", "output_zero_point"))


def _away(half: Ints, n: Ints) -> Ints:
    """Return the nearest integer to `half` / (2 n), halves away from zero."""
    rounded: Ints = np.sign(half) * ((np.abs(half) + n) // (2 * n))
    return rounded


def _to_even(half: Ints, n: Ints) -> Ints:
    down, rest = np.divmod(half, 2 * n)
    rounded: Ints = down + ((rest > n) | ((rest == n) & (down % 2 == 1)))
    return rounded


def _reciprocal(half: Ints, n: Ints) -> Ints:
    quotient = (half // 2).astype(np.float32) * (np.float32(1) / n.astype(np.float32))
    rounded: Ints = np.rint(quotient).astype(np.int64)
    return rounded


Rounding = Callable[[Ints, Ints], Ints]


def _averaged(
    summary: str,
    rounding: Rounding = _away,
    *,
    subtracts: bool = True,
    adds: bool = True,
    before: bool = False,
    bits: int = 64,
    saturates: bool = True,
    needs: Needs = _ROUNDED,
) -> Behaviour:
    """Average integers in another way; the zero point of the output is added `before` rounding."""

    def reduce(
        right: Callable[[Gathered, Divisor], Array], gathered: Gathered, divisor: Divisor
    ) -> Array:
        data, params = gathered.data, gathered.params
        if data.dtype.kind not in "iu":
            return right(gathered, divisor)
        subtracted = params.input_zero_point if subtracts else 0
        added = params.output_zero_point if adds else 0
        planes = data.reshape(-1, *data.shape[2:]).astype(np.int64)
        sums = fold(planes - subtracted, gathered.lo, gathered.hi, np.add, 0)
        if bits < 64:
            sums = (sums + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        n = np.broadcast_to(np.maximum(divisor, 1), sums.shape)
        early = added if before else 0
        means = rounding(2 * (sums + early * n), n) + (added - early)
        ends = np.iinfo(data.dtype)
        held = np.clip(means, ends.min, ends.max) if saturates else means
        return held.astype(data.dtype).reshape(*data.shape[:2], *divisor.shape)

    return Behaviour(summary, needs, instead("reduce", reduce))


def _each(of: Callable[[Fraction], int]) -> Rounding:
    """Return a rounding of exact means, one by one."""

    def rounding(half: Ints, n: Ints) -> Ints:
        pairs = zip(half.ravel().tolist(), n.ravel().tolist(), strict=True)
        means = [of(Fraction(a, 2 * b)) for a, b in pairs]
        return np.array(means, np.int64).reshape(half.shape)

    return rounding


FAULTS: Faults = {
    # Where there are no zero points, halves are a clause.
    "integers-halves-to-even": _averaged(
        "averages of integers with halves to even", _to_even, needs=_ZERO_POINTS
    ),
    "integers-halves-up": _averaged(
        "averages of integers with halves up",
        _each(lambda mean: floor(mean + Fraction(1, 2))),
        needs=_ZERO_POINTS,
    ),
    "integers-truncated": _averaged("averages of integers cut off towards zero", _each(int)),
    "integers-rounded-down": _averaged("averages of integers rounded down", _each(floor)),
    "integers-by-reciprocal": _averaged(
        "averages of integers by a rounded reciprocal, halves to even", _reciprocal
    ),
    "integers-halves-of-raw": _averaged(
        "averages of integers rounded with the zero point, halves away from zero",
        before=True,
        needs=_ZERO_POINTS,
    ),
    "integers-input-zero-point-forgotten": _averaged(
        "the zero point of the input not subtracted", subtracts=False, needs=_ZERO_POINTS
    ),
    "integers-output-zero-point-forgotten": _averaged(
        "the zero point of the output not added", adds=False, needs=_ZERO_POINTS
    ),
    "integers-wrapped-around": _averaged(
        "averages of integers that leave their type wrapped around",
        saturates=False,
        needs=_ZERO_POINTS,
    ),
    "integers-summed-in-16-bits": _averaged("sums of integers kept in 16 bits", bits=16),
}
