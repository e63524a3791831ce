"""Faults of averages of integers that a document defines: rounding, what they stand for, sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import frexp, ldexp
from typing import Any

import numpy as np

from conformance.faults.behaviour import Behaviour, Faults, instead, wrong_params
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, outer
from conformance.operators.reduction import encoding_of
from conformance.reference.fold import fold
from conformance.reference.quantised import Encoding, Ints, nearest
from conformance.vector import Array

_ROUNDED = Needs(rounds_integers=True)
_ZERO_POINTS = _ROUNDED & Needs(roles=("input_zero_point", "output_zero_point"))
_SCALED = _ZERO_POINTS & Needs(roles=("input_scale", "output_scale"))
# Beside scales, halves are a clause, and a mean may be computed in float32.
_UNSCALED = Needs(without=("input_scale", "output_scale"))
_ONE_ENCODING = Needs(without=("output_scale",))


def _reciprocal(sums: Ints, n: Ints) -> Ints:
    quotients = sums.astype(np.float32) * (np.float32(1) / n.astype(np.float32))
    rounded: Ints = np.rint(quotients).astype(np.int64)
    return rounded


def _cut_off(sums: Ints, n: Ints) -> Ints:
    rounded: Ints = np.sign(sums) * (np.abs(sums) // n)
    return rounded


def _wrapped(numbers: Ints, bits: int, *, signed: bool = True) -> Ints:
    """Return numbers as a type of so many bits holds them."""
    below = 1 << bits - 1 if signed else 0
    wrapped: Ints = (numbers + below) % (1 << bits) - below
    return wrapped


_AWAY, _TO_EVEN, _UP = (partial(nearest, halves=halves) for halves in ("away", "even", "up"))
Rounding = Callable[[Ints, Ints], Ints]


# Quotients in steps of the output, (planes, o1..or): from a divisor of at least 1 -----------------

Quotients = Callable[[Gathered, Ints, Encoding], tuple[Ints, Ints]]


def _of_sums(gathered: Gathered, n: Ints, encoding: Encoding) -> tuple[Ints, Ints]:
    return encoding.scaled(encoding.sums(gathered.data, gathered.lo, gathered.hi), n)


def _of_rounded_means(gathered: Gathered, n: Ints, encoding: Encoding) -> tuple[Ints, Ints]:
    sums = encoding.sums(gathered.data, gathered.lo, gathered.hi)
    return encoding.scaled(_AWAY(sums, n), np.ones_like(n))


def _of_sums_times_counts(gathered: Gathered, n: Ints, encoding: Encoding) -> tuple[Ints, Ints]:
    sums, n = _of_sums(gathered, n, encoding)
    return _wrapped(sums * n, 32), n * n


def _of_requantised_cells(gathered: Gathered, n: Ints, encoding: Encoding) -> tuple[Ints, Ints]:
    cells = gathered.data.reshape(-1, *gathered.data.shape[2:]).astype(np.int64)
    cells -= encoding.input_zero_point
    requantised = _AWAY(*encoding.scaled(cells, np.ones_like(cells)))
    return fold(requantised, gathered.lo, gathered.hi, np.add, 0), n


def _of_padding_of_raw_zeros(gathered: Gathered, n: Ints, encoding: Encoding) -> tuple[Ints, Ints]:
    sums = encoding.sums(gathered.data, gathered.lo, gathered.hi)
    inside = outer([hi - lo for lo, hi in zip(gathered.lo, gathered.hi, strict=True)])
    return encoding.scaled(sums - encoding.input_zero_point * (n - inside), n)


def _averaged(
    summary: str,
    rounding: Rounding = _AWAY,
    *,
    quotients: Quotients = _of_sums,
    before: bool = False,
    bits: int = 64,
    saturates: bool = True,
    needs: Needs = _ROUNDED,
) -> Behaviour:
    """Average integers in another way; the zero point of the output is added `before` rounding."""

    def reduce(
        right: Callable[[Gathered, Divisor], Array], gathered: Gathered, divisor: Divisor
    ) -> Array:
        data, encoding = gathered.data, encoding_of(gathered.params)
        if data.dtype.kind not in "iu":
            return right(gathered, divisor)
        sums, n = quotients(gathered, np.maximum(divisor, 1), encoding)
        if bits < 64:
            sums = _wrapped(sums, bits, signed=data.dtype.kind == "i")
        n = np.broadcast_to(n, sums.shape)
        added = encoding.output_zero_point
        early = added if before else 0
        means = rounding(sums + early * n, n) + (added - early)
        ends = np.iinfo(data.dtype)
        kept = np.clip(means, ends.min, ends.max) if saturates else means
        return kept.astype(data.dtype).reshape(*data.shape[:2], *divisor.shape)

    return Behaviour(summary, needs, instead("reduce", reduce))


def _encoded(summary: str, needs: Needs, **wrong: Callable[[Params], Any]) -> Behaviour:
    """Take integers for other numbers: scales and zero points are as the functions say.

    Halves still go where the operator, or a reading, lets them go.
    """

    def other(params: Params) -> Params:
        fields: dict[str, Any] = {field: of(params) for field, of in wrong.items()}
        return replace(params, **fields)

    return wrong_params("reduce", summary, needs, other)


def _in_bits(number: float, bits: int) -> float:
    """Return a number rounded to so many bits of its significand."""
    significand, exponent = frexp(number)
    return ldexp(round(ldexp(significand, bits)), exponent - bits)


def _with_ratio(of: Callable[[float], float]) -> Callable[[Params], float]:
    """Return the scale of the input that gives scales another ratio."""
    return lambda scales: scales.output_scale * of(scales.input_scale / scales.output_scale)


FAULTS: Faults = {
    # Where there are no zero points, halves are a clause.
    "integers-halves-to-even": _averaged(
        "averages of integers with halves to even", _TO_EVEN, needs=_ZERO_POINTS & _UNSCALED
    ),
    "integers-halves-up": _averaged(
        "averages of integers with halves up", _UP, needs=_ZERO_POINTS & _UNSCALED
    ),
    "integers-truncated": _averaged("averages of integers cut off towards zero", _cut_off),
    "integers-rounded-down": _averaged("averages of integers rounded down", np.floor_divide),
    "integers-by-reciprocal": _averaged(
        "averages of integers by a rounded reciprocal, halves to even",
        _reciprocal,
        needs=_ROUNDED & _UNSCALED,
    ),
    "integers-halves-of-raw": _averaged(
        "averages of integers rounded with the zero point, halves away from zero",
        before=True,
        needs=_ZERO_POINTS & _UNSCALED,
    ),
    "integers-input-zero-point-forgotten": _encoded(
        "the zero point of the input not subtracted",
        needs=_ZERO_POINTS,
        input_zero_point=lambda _: 0,
    ),
    "integers-output-zero-point-forgotten": _encoded(
        "the zero point of the output not added",
        needs=_ZERO_POINTS,
        output_zero_point=lambda _: 0,
    ),
    "integers-wrapped-around": _averaged(
        "averages of integers that leave their type wrapped around",
        saturates=False,
        needs=_ZERO_POINTS,
    ),
    "integers-summed-in-16-bits": _averaged(
        "sums of integers kept in 16 bits", bits=16, needs=_ROUNDED & _ONE_ENCODING
    ),
    "integers-times-count-in-32-bits": _averaged(
        "sums of integers times their count kept in 32 bits",
        quotients=_of_sums_times_counts,
        needs=_ROUNDED & _ONE_ENCODING,
    ),
    "integers-zero-point-as-signed": _encoded(
        "zero points read as signed bytes",
        needs=_SCALED & Needs(dtypes=("uint8",)),
        input_zero_point=lambda points: (points.input_zero_point + 128) % 256 - 128,
        output_zero_point=lambda points: (points.output_zero_point + 128) % 256 - 128,
    ),
    "integers-zero-points-swapped": _encoded(
        "the zero points of input and output swapped",
        needs=_SCALED,
        input_zero_point=lambda points: points.output_zero_point,
        output_zero_point=lambda points: points.input_zero_point,
    ),
    "integers-input-scale-forgotten": _encoded(
        "integers not multiplied by the scale of the input",
        needs=_SCALED,
        input_scale=lambda _: 1.0,
    ),
    "integers-output-scale-forgotten": _encoded(
        "means not divided by the scale of the output", needs=_SCALED, output_scale=lambda _: 1.0
    ),
    "integers-scales-forgotten": _encoded(
        "neither of the scales of input and output applied",
        needs=_SCALED,
        input_scale=lambda _: 1.0,
        output_scale=lambda _: 1.0,
    ),
    "integers-scales-swapped": _encoded(
        "the scales of input and output swapped",
        needs=_SCALED,
        input_scale=lambda scales: scales.output_scale,
        output_scale=lambda scales: scales.input_scale,
    ),
    "integers-scaled-twice": _encoded(
        "both scales applied twice",
        needs=_SCALED,
        input_scale=lambda scales: scales.input_scale**2,
        output_scale=lambda scales: scales.output_scale**2,
    ),
    "integers-scaled-by-shift": _encoded(
        "the ratio of the scales rounded to a power of two",
        needs=_SCALED,
        input_scale=_with_ratio(lambda ratio: 2.0 ** round(np.log2(ratio))),
    ),
    "integers-scaled-in-8-bits": _encoded(
        "the ratio of the scales rounded to 8 bits",
        needs=_SCALED,
        input_scale=_with_ratio(lambda ratio: _in_bits(ratio, 8)),
    ),
    "integers-rounded-before-scaling": _averaged(
        "means rounded to integers before they are scaled, and again after that",
        quotients=_of_rounded_means,
        needs=_SCALED,
    ),
    "integers-requantised-before-sum": _averaged(
        "cells rounded to integers of the output before they are averaged",
        quotients=_of_requantised_cells,
        needs=_SCALED,
    ),
    "integers-padded-with-raw-zeros": _averaged(
        "padding that counts holds the integer 0, not the zero point",
        quotients=_of_padding_of_raw_zeros,
        needs=_SCALED & Needs(roles=("include_pad",)),
    ),
}
