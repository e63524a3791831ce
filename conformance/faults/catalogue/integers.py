"""Faults of integers that stand for other numbers: their averages, and activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import isinf
from typing import Any

import numpy as np

from conformance.faults.atoms.numbers import to_bits
from conformance.faults.fault import Fault
from conformance.faults.wraps import gathering
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, outer
from conformance.operators.reduction import LIMITS, encoding_of, limits_of
from conformance.operators.wraps import instead
from conformance.reference.fold import fold
from conformance.reference.quantised import Encoding, Ints, nearest
from conformance.reference.rounding import widen
from conformance.vector import Array

# Averages ----------------------------------------------------------------------------------------

Rounding = Callable[[Ints, Ints], Ints]
"""Whole numbers from sums and divisors."""
Sums = tuple[Ints, Ints]
"""Sums and divisors in steps of the output, (planes, o1..or)."""
Quotients = Callable[[Gathered, Ints, Encoding, Rounding], Sums]
"""Those from a divisor of at least 1."""


def _reciprocal(sums: Ints, n: Ints) -> Ints:
    quotients = sums.astype(np.float32) * (np.float32(1) / n.astype(np.float32))
    rounded: Ints = np.rint(quotients).astype(np.int64)
    return rounded


def _cut_off(sums: Ints, n: Ints) -> Ints:
    rounded: Ints = np.sign(sums) * (np.abs(sums) // n)
    return rounded


def _wrapped(numbers: Any, bits: int, *, signed: bool = True) -> Any:
    """Return whole numbers as a type of so many bits holds them."""
    below = 1 << bits - 1 if signed else 0
    return (numbers + below) % (1 << bits) - below


def _of_sums(gathered: Gathered, n: Ints, encoding: Encoding, *_: Any) -> Sums:
    return encoding.scaled(encoding.sums(gathered.data, gathered.lo, gathered.hi), n)


def _of_rounded_means(gathered: Gathered, n: Ints, encoding: Encoding, rounding: Rounding) -> Sums:
    sums = encoding.sums(gathered.data, gathered.lo, gathered.hi)
    return encoding.scaled(rounding(sums, n), np.ones_like(n))


def _of_sums_in(bits: int | None, *, raw: bool = False) -> Quotients:
    """Keep sums in so many bits, None for those of the data's type, perhaps with zero points."""

    def quotients(gathered: Gathered, n: Ints, encoding: Encoding, *_: Any) -> Sums:
        sums, n = _of_sums(gathered, n, encoding)
        kind, added = gathered.data.dtype, n * encoding.output_zero_point * raw
        kept = _wrapped(sums + added, bits or 8 * kind.itemsize, signed=kind.kind == "i")
        return kept - added, n

    return quotients


def _of_sums_times_counts(gathered: Gathered, n: Ints, encoding: Encoding, *_: Any) -> Sums:
    sums, n = _of_sums(gathered, n, encoding)
    return _wrapped(sums * n, 32), n * n


def _of_requantised(gathered: Gathered, n: Ints, encoding: Encoding, rounding: Rounding) -> Sums:
    cells = gathered.data.reshape(-1, *gathered.data.shape[2:]).astype(np.int64)
    cells -= encoding.input_zero_point
    requantised = rounding(*encoding.scaled(cells, np.ones_like(cells)))
    return fold(requantised, gathered.lo, gathered.hi, np.add, 0), n


def _of_padding_of_raw_zeros(gathered: Gathered, n: Ints, encoding: Encoding, *_: Any) -> Sums:
    sums = encoding.sums(gathered.data, gathered.lo, gathered.hi)
    inside = outer([hi - lo for lo, hi in zip(gathered.lo, gathered.hi, strict=True)])
    return encoding.scaled(sums - encoding.input_zero_point * (n - inside), n)


def _averaged(
    rounding: Rounding | None = None,
    quotients: Quotients = _of_sums,
    *,
    before: bool = False,
    saturates: bool = True,
    twice: bool = False,
) -> Fault:
    """Average integers in another way; the zero point of the output is added `before` rounding.

    Halves go where the right step lets them go, unless a `rounding` is given. Numbers are kept in
    the type unless nothing `saturates`, or `twice`: before that as well.
    """

    def reduce(
        right: Callable[[Gathered, Divisor], Array], gathered: Gathered, divisor: Divisor
    ) -> Array:
        data, encoding = gathered.data, encoding_of(gathered.params)
        if data.dtype.kind not in "iu":
            return right(gathered, divisor)
        # Another fault may have wrapped the right step.
        rounded = rounding or partial(nearest, halves=getattr(right, "halves", "away"))
        sums, n = quotients(gathered, np.maximum(divisor, 1), encoding, rounded)
        n = np.broadcast_to(n, sums.shape)
        added = encoding.output_zero_point
        early = added if before else 0
        means, ends = rounded(sums + early * n, n), np.iinfo(data.dtype)
        means = (np.clip(means, ends.min, ends.max) if twice else means) + (added - early)
        kept = np.clip(means, ends.min, ends.max) if saturates else means
        return kept.astype(data.dtype).reshape(*data.shape[:2], *divisor.shape)

    return Fault.of(reduce=instead(reduce))


_AVERAGES = {
    "integers-halves-to-even": _averaged(partial(nearest, halves="even")),
    "integers-halves-up": _averaged(partial(nearest, halves="up")),
    "integers-truncated": _averaged(_cut_off),
    "integers-rounded-down": _averaged(np.floor_divide),
    "integers-by-reciprocal": _averaged(_reciprocal),
    "integers-by-reciprocal-of-16-bits": _averaged(
        lambda sums, n: (sums * (65536 // n) + 32768) >> 16
    ),
    "integers-halves-of-raw": _averaged(before=True),
    "integers-wrapped-around": _averaged(saturates=False),
    "integers-kept-in-type-before-zero-point": _averaged(twice=True),
    "integers-summed-in-16-bits": _averaged(quotients=_of_sums_in(16)),
    "integers-summed-in-own-type": _averaged(quotients=_of_sums_in(None)),
    "integers-truncated-of-raw": _averaged(_cut_off, before=True),
    "integers-summed-in-16-bits-of-raw": _averaged(
        quotients=_of_sums_in(16, raw=True), before=True
    ),
    "integers-summed-in-own-type-of-raw": _averaged(
        quotients=_of_sums_in(None, raw=True), before=True
    ),
    "integers-times-count-in-32-bits": _averaged(quotients=_of_sums_times_counts),
    "integers-rounded-before-scaling": _averaged(quotients=_of_rounded_means),
    "integers-requantised-before-sum": _averaged(quotients=_of_requantised),
    "integers-padded-with-raw-zeros": _averaged(quotients=_of_padding_of_raw_zeros),
}

# Scales and zero points --------------------------------------------------------------------------


def _encoded(step: str = "reduce", **wrong: Callable[[Params], Any]) -> Fault:
    """Take integers for other numbers: scales and zero points are as the functions say.

    Halves still go where the operator, or a reading, lets them go.
    """

    def other(params: Params) -> Params:
        fields: dict[str, Any] = {field: of(params) for field, of in wrong.items()}
        return replace(params, **fields)

    return Fault.of(**{step: gathering(other)})


def _with_ratio(of: Callable[[float], float]) -> Callable[[Params], float]:
    """Return the scale of the input that gives scales another ratio."""
    return lambda scales: scales.output_scale * of(scales.input_scale / scales.output_scale)


_ENCODINGS = {
    "integers-input-zero-point-forgotten": _encoded(input_zero_point=lambda _: 0),
    "integers-output-zero-point-forgotten": _encoded(output_zero_point=lambda _: 0),
    "integers-input-zero-point-as-unsigned": _encoded(
        input_zero_point=lambda p: p.input_zero_point % 256
    ),
    "integers-output-zero-point-as-unsigned": _encoded(
        output_zero_point=lambda p: p.output_zero_point % 256
    ),
    "integers-zero-point-as-signed": _encoded(
        input_zero_point=lambda p: _wrapped(p.input_zero_point, 8),
        output_zero_point=lambda p: _wrapped(p.output_zero_point, 8),
    ),
    "integers-zero-points-swapped": _encoded(
        input_zero_point=lambda p: p.output_zero_point,
        output_zero_point=lambda p: p.input_zero_point,
    ),
    "integers-input-zero-point-for-both": _encoded(output_zero_point=lambda p: p.input_zero_point),
    "integers-output-zero-point-for-both": _encoded(input_zero_point=lambda p: p.output_zero_point),
    "integers-input-scale-forgotten": _encoded(input_scale=lambda _: 1.0),
    "integers-output-scale-forgotten": _encoded(output_scale=lambda _: 1.0),
    "integers-scales-forgotten": _encoded(input_scale=lambda _: 1.0, output_scale=lambda _: 1.0),
    "integers-scales-swapped": _encoded(
        input_scale=lambda p: p.output_scale, output_scale=lambda p: p.input_scale
    ),
    "integers-scaled-twice": _encoded(
        input_scale=lambda p: p.input_scale**2, output_scale=lambda p: p.output_scale**2
    ),
    "integers-scaled-by-shift": _encoded(
        input_scale=_with_ratio(lambda ratio: 2.0 ** round(np.log2(ratio)))
    ),
    "integers-scaled-in-8-bits": _encoded(
        input_scale=_with_ratio(lambda ratio: float(to_bits(np.array(ratio), 8, np.rint)))
    ),
    "activation-without-scale": _encoded("clamp", output_scale=lambda _: 1.0),
    "activation-without-zero-point": _encoded("clamp", output_zero_point=lambda _: 0),
}

# Activations -------------------------------------------------------------------------------------

Limits = Callable[[Params, np.dtype[Any]], Sequence[Any]]
"""The least and the largest value of a type under the activation of a call."""


def _clamped(clamp: Callable[[Array, Params, Divisor], Array]) -> Fault:
    """Make something else, `clamp(first output, parameters, divisor)`, of what is clamped."""

    def compute(
        right: Callable[..., Array], gathered: Gathered, divisor: Divisor, first: Array
    ) -> Array:
        if gathered.params.activation == "none":
            return right(gathered, divisor, first)
        return clamp(first, gathered.params, divisor).astype(first.dtype)

    return Fault.of(clamp=instead(compute))


def _before_division(first: Array, params: Params, divisor: Divisor) -> Array:
    n = np.maximum(divisor, 1)
    means: Array = np.clip(widen(first) * n, *limits_of(params, first.dtype)) / n
    return np.rint(means) if first.dtype.kind in "iu" else means


def _limited(limits: Limits) -> Fault:
    """Clamp to other limits; a lower limit above the upper one leaves the upper."""

    def clamp(first: Array, params: Params, _divisor: Divisor) -> Array:
        lower, upper = limits(params, first.dtype)
        clamped: Array = np.minimum(np.maximum(first, lower), upper)
        return clamped

    return _clamped(clamp)


def _one_limit(number: int, **wrong: Any) -> Fault:
    """Compute one of both limits by other numbers of the encoding."""

    def limits(params: Params, dtype: np.dtype[Any]) -> Sequence[Any]:
        both = [*limits_of(params, dtype)]
        both[number] = limits_of(replace(params, **wrong), dtype)[number]
        return both

    return _limited(limits)


def _of_floats_alone(params: Params, dtype: np.dtype[Any]) -> Sequence[Any]:
    return LIMITS["none" if dtype.kind in "iu" else params.activation]


def _limits_wrapped(params: Params, dtype: np.dtype[Any]) -> Sequence[Any]:
    limits = LIMITS[params.activation]
    if dtype.kind not in "iu":
        return limits
    ends, encoded = np.iinfo(dtype), map(encoding_of(params).encoded, limits)
    kept = zip((ends.min, ends.max), encoded, strict=True)
    return [end if isinf(limit) else np.int64(limit).astype(dtype) for end, limit in kept]


def _limits_cut_off(params: Params, dtype: np.dtype[Any]) -> Sequence[Any]:
    limits = LIMITS[params.activation]
    if dtype.kind not in "iu":
        return limits
    ends, point, scale = np.iinfo(dtype), params.output_zero_point, params.output_scale
    steps = [limit if isinf(limit) else point + int(limit / scale) for limit in limits]
    return [*np.clip(steps, ends.min, ends.max)]


FAULTS = {
    **_AVERAGES,
    **_ENCODINGS,
    "activation-before-division": _clamped(_before_division),
    "activation-without-lower-limit": _limited(lambda p, dtype: (-np.inf, limits_of(p, dtype)[1])),
    **{
        f"activation-{end}-limit-without-{what}": _one_limit(number, **wrong)
        for number, end in enumerate(("lower", "upper"))
        for what, wrong in (
            ("zero-point", {"output_zero_point": 0}),
            ("scale", {"output_scale": 1.0}),
        )
    },
    "activation-of-floats-alone": _limited(_of_floats_alone),
    "activation-limits-cut-off": _limited(_limits_cut_off),
    "activation-limits-wrapped": _limited(_limits_wrapped),
}
