"""Faults of averages of integers that a document defines: rounding, zero points, narrow sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from conformance.faults.behaviour import Behaviour, Faults, instead
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.fold import fold
from conformance.reference.mean import nearest
from conformance.vector import Array

Ints = npt.NDArray[np.int64]
_ROUNDED = Needs(rounds_integers=True)
_ZERO_POINTS = _ROUNDED & Needs(roles=("input_zero_point", "output_zero_point"))


def _reciprocal(sums: Ints, n: Ints) -> Ints:
    quotients = sums.astype(np.float32) * (np.float32(1) / n.astype(np.float32))
    rounded: Ints = np.rint(quotients).astype(np.int64)
    return rounded


def _cut_off(sums: Ints, n: Ints) -> Ints:
    rounded: Ints = np.sign(sums) * (np.abs(sums) // n)
    return rounded


_AWAY, _TO_EVEN, _UP = (partial(nearest, halves=halves) for halves in ("away", "even", "up"))
Rounding = Callable[[Ints, Ints], Ints]


def _averaged(
    summary: str,
    rounding: Rounding = _AWAY,
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
        means = rounding(sums + early * n, n) + (added - early)
        ends = np.iinfo(data.dtype)
        held = np.clip(means, ends.min, ends.max) if saturates else means
        return held.astype(data.dtype).reshape(*data.shape[:2], *divisor.shape)

    return Behaviour(summary, needs, instead("reduce", reduce))


FAULTS: Faults = {
    # Where there are no zero points, halves are a clause.
    "integers-halves-to-even": _averaged(
        "averages of integers with halves to even", _TO_EVEN, needs=_ZERO_POINTS
    ),
    "integers-halves-up": _averaged("averages of integers with halves up", _UP, needs=_ZERO_POINTS),
    "integers-truncated": _averaged("averages of integers cut off towards zero", _cut_off),
    "integers-rounded-down": _averaged("averages of integers rounded down", np.floor_divide),
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
