"""Faults of an activation: which limits, of which numbers, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isinf
from typing import Any

import numpy as np

from conformance.faults.atoms.words import mean
from conformance.faults.behaviour import (
    ACTIVATED,
    AVERAGES,
    Behaviour,
    Faults,
    instead,
    wrong_params,
)
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import LIMITS, encoding_of, limits_of
from conformance.reference.rounding import widen
from conformance.vector import Array

_QUANTISED = ACTIVATED & Needs(roles=("input_scale", "input_zero_point"))
_Clamp = Callable[[Gathered, Divisor, Array], Array]
_read = partial(mean, "activation")


def _clamped(
    summary: str, needs: Needs, clamp: Callable[[Array, Params, Divisor], Array]
) -> Behaviour:
    """Make something else, `clamp(first output, parameters, divisor)`, of what is clamped."""

    def compute(right: _Clamp, gathered: Gathered, divisor: Divisor, first: Array) -> Array:
        if gathered.params.activation == "none":
            return right(gathered, divisor, first)
        return clamp(first, gathered.params, divisor).astype(first.dtype)

    return Behaviour(summary, needs, instead("clamp", compute))


def _before_division(first: Array, params: Params, divisor: Divisor) -> Array:
    n = np.maximum(divisor, 1)
    means: Array = np.clip(widen(first) * n, *limits_of(params, first.dtype)) / n
    return np.rint(means) if first.dtype.kind in "iu" else means


def _upper_alone(first: Array, params: Params, _divisor: Divisor) -> Array:
    clamped: Array = np.minimum(first, limits_of(params, first.dtype)[1])
    return clamped


def _of_floats_alone(first: Array, params: Params, _divisor: Divisor) -> Array:
    if first.dtype.kind in "iu":
        return first
    clamped: Array = np.clip(first, *LIMITS[params.activation])
    return clamped


def _limits_wrapped(first: Array, params: Params, _divisor: Divisor) -> Array:
    limits: Any = LIMITS[params.activation]
    if first.dtype.kind in "iu":
        ends, encoding = np.iinfo(first.dtype), encoding_of(params)
        kept = zip((ends.min, ends.max), map(encoding.encoded, limits), strict=True)
        limits = [
            end if isinf(limit) else np.int64(limit).astype(first.dtype) for end, limit in kept
        ]
    # a lower limit above the upper one leaves the upper
    clamped: Array = np.minimum(np.maximum(first, limits[0]), limits[1])
    return clamped


def _limits_cut_off(first: Array, params: Params, _divisor: Divisor) -> Array:
    limits: Any = LIMITS[params.activation]
    if first.dtype.kind in "iu":
        ends = np.iinfo(first.dtype)
        point, scale = params.output_zero_point, params.output_scale
        steps = [limit if isinf(limit) else point + int(limit / scale) for limit in limits]
        limits = np.clip(steps, ends.min, ends.max)
    clamped: Array = np.clip(first, *limits)
    return clamped


FAULTS: Faults = {
    "activation-ignored": _read(dict.fromkeys(("relu", "relu_n1_to_1", "relu6"), "none")),
    "activation-none-as-relu": _read({"none": "relu"}),
    "activation-relu-as-relu6": _read({"relu": "relu6"}),
    "activation-relu6-as-relu": _read({"relu6": "relu"}),
    "activation-relu-n1-to-1-as-relu": _read({"relu_n1_to_1": "relu"}),
    "activation-before-division": _clamped(
        "sums clamped by an activation, and divided after that",
        ACTIVATED & AVERAGES,
        _before_division,
    ),
    "activation-without-lower-limit": _clamped(
        "the upper limit of an activation applied alone", ACTIVATED, _upper_alone
    ),
    "activation-of-floats-alone": _clamped(
        "an activation of integers ignored", _QUANTISED, _of_floats_alone
    ),
    "activation-without-scale": wrong_params(
        "clamp",
        "the limits of an activation not divided by the scale",
        _QUANTISED,
        lambda params: replace(params, output_scale=1.0),
    ),
    "activation-without-zero-point": wrong_params(
        "clamp",
        "the zero point not added to the limits of an activation",
        _QUANTISED,
        lambda params: replace(params, output_zero_point=0),
    ),
    "activation-limits-cut-off": _clamped(
        "the limits of an activation over the scale cut off towards zero",
        _QUANTISED,
        _limits_cut_off,
    ),
    "activation-limits-wrapped": _clamped(
        "the limits of an activation that leave the type wrapped around",
        _QUANTISED,
        _limits_wrapped,
    ),
}
