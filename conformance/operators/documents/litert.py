"""LiteRT's AVERAGE_POOL_2D and MAX_POOL_2D (spec: quantised).

Input and output have one scale and one zero point. No average depends on them, and the limits of an
activation do: a call says them where it is clamped, and leaves them out where it is not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conformance.operators.attributes import Attribute
from conformance.operators.call_convention import CallConvention
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.examples import Example, printed_numbers
from conformance.operators.operator import Operator, sliding
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import (
    AVERAGE,
    MAXIMUM,
    Clamped,
    RoundedMean,
    limits_of,
)
from conformance.operators.wraps import after, choosing
from conformance.reference.rounding import widen
from conformance.vector import Array, Case

_TYPES = ("float32", "int8", "uint8", "int16")
_ACTIVATIONS = {word: word.lower() for word in ("NONE", "RELU", "RELU_N1_TO_1", "RELU6")}
# Limits divided by these are no halves, and RELU6 has its limit within the type, or beyond it.
_SCALES = (0.25, 0.75, 5 / 128, 1.0)
_PADDING = {"VALID": "valid", "SAME": "same_upper"}
_ATTRIBUTES = (
    Attribute("filter", "kernel", "Pool2DOptions, filter_height, filter_width", least=1),
    Attribute("stride", "strides", "Pool2DOptions, stride_h, stride_w", least=1),
    Attribute("padding", "auto_pad", "Pool2DOptions, padding", values=_PADDING),
    Attribute(
        "fused_activation_function",
        "activation",
        "Pool2DOptions, fused_activation_function",
        default="NONE",
        values=_ACTIVATIONS,
    ),
    Attribute(
        "scale",
        "input_scale",
        "QuantizationParameters, scale",
        default=1.0,
        samples=_SCALES,
        of_types=("int8", "uint8", "int16"),
    ),
    Attribute(
        "zero_point",
        "input_zero_point",
        "QuantizationParameters, zero_point",
        default=0,
        of_types=("int8", "uint8"),
    ),
)
_FORM = CallConvention(
    channels_last=True,
    split={
        "filter": ("filter_height", "filter_width"),
        "stride": ("stride_h", "stride_w"),
    },
    of_types={"fused_activation_function": dict.fromkeys(_TYPES, tuple(_ACTIVATIONS))},
)
_MEAN = RoundedMean(early=True)  # of the integers as they are


def _of_one_encoding(params: Params) -> Params:
    """Take the scale and the zero point of the input for those of the output."""
    return replace(
        params, output_scale=params.input_scale, output_zero_point=params.input_zero_point
    )


def _nan_as(end: int, held: Array, gathered: Gathered, _divisor: Divisor, first: Array) -> Array:
    """Return what is clamped, with one of two limits for a NaN."""
    if gathered.params.activation == "none":
        return held
    limit = first.dtype.type(limits_of(gathered.params, first.dtype)[end])
    return np.where(np.isnan(widen(first)), limit, held)


def _holds_integers(case: Case) -> bool:
    return case.data.dtype.kind in "iu"


def _has_zero_point(case: Case) -> bool:
    return _holds_integers(case) and bool(case.attributes.get("zero_point"))


def _depends_on_quotient(case: Case) -> bool:
    """Say whether a limit over the scale is so near to a half that float32 takes it for one."""
    if not _holds_integers(case):
        return False
    attributes = case.attributes
    params = Params(
        sizes=(),
        activation=_ACTIVATIONS[attributes.get("fused_activation_function", "NONE")],
        output_scale=attributes.get("scale", 1.0),
        output_zero_point=attributes.get("zero_point", 0),
    )
    limits = [limits_of(params, case.data.dtype, quotient) for quotient in ("exact", "float32")]
    return limits[0] != limits[1]


def _may_clamp_nan(case: Case) -> bool:
    is_clamped = case.attributes.get("fused_activation_function", "NONE") != "NONE"
    return is_clamped and not np.isfinite(widen(case.data)).all()


_DOCUMENT = "LiteRT AVERAGE_POOL_2D, MAX_POOL_2D"
_ruling = partial(ruling, document=_DOCUMENT, section="padding")
_CLAUSES = (
    _ruling(
        "litert-same",
        "SAME without a formula",
        "(d + s - 1) / s windows, rounded down, and padding of max(0, (o - 1) s + k - d), the "
        "larger half at the end",
        "the functions that compute both for every kernel",
        settles="same-output-size",
    ),
    _ruling(
        "litert-same-never-crops",
        "SAME, nothing about a kernel below the stride",
        "nothing is cropped",
        "the total padding has a lower limit of 0",
        settles="same-never-crops",
    ),
    _ruling(
        "litert-activation",
        "the names of the activations alone",
        "results within 0 and infinity (RELU), -1 and 1 (RELU_N1_TO_1) or 0 and 6 (RELU6), after "
        "rounding; of integers, the zero point plus the limit over the scale, to the nearest, "
        "halves away from zero, within the type",
        "the kernels clamp so",
        section="ActivationFunctionType",
    ),
    Clause(
        name="activation-limits",
        kind="disputed",
        document=_DOCUMENT,
        section="ActivationFunctionType",
        says="nothing about how the limits of integers are computed",
        answer="whether a limit over the scale rounds to float32 before it does to an integer",
        evidence="the kernels divide in float32: 6 over 0.0470588244497776 is 127.4999974, and "
        "the half 127.5 there",
        concerns=_depends_on_quotient,
        readings=(
            Reading("exact", "it rounds once"),
            Reading(
                "float32", "it rounds twice", ("LiteRT",), {"clamp": choosing(quotient="float32")}
            ),
        ),
    ),
    Clause(
        name="activation-of-nan",
        kind="disputed",
        document=_DOCUMENT,
        section="ActivationFunctionType",
        says="the names of the activations alone",
        answer="what an activation makes of a NaN",
        evidence="comparisons with a NaN are false, so that a clamp gives it, or the limit that "
        "is compared with it, as the operands are ordered",
        concerns=_may_clamp_nan,
        readings=(
            Reading("propagates", "a NaN", ("LiteRT",)),
            Reading("lower", "the lower limit", (), {"clamp": after(_nan_as, 0)}),
            Reading("upper", "the upper limit", (), {"clamp": after(_nan_as, 1)}),
        ),
    ),
)
_OF_AVERAGES = (
    _ruling(
        "litert-average-of-padding",
        "nothing about what padding counts",
        "cells inside the input alone count in the divisor",
        "the kernels count the cells that they add",
    ),
    _ruling(
        "litert-integer-average",
        "input and output have one scale and one zero point, nothing about rounding",
        "the mean of the integers as they are, rounded to the nearest",
        "the reference kernels add half of the count and divide",
        settles="integer-average",
    ),
    Clause(
        name="integer-halves",
        kind="disputed",
        document="LiteRT AVERAGE_POOL_2D",
        section="8-bit quantization specification",
        says="nothing about how a mean that ends in a half rounds",
        answer="which integer a half becomes",
        evidence="the reference kernels move halves away from zero; vector units and other "
        "runtimes round to even, or up",
        concerns=_holds_integers,
        readings=(
            Reading("away", "away from zero", ("LiteRT",)),
            Reading("even", "to the even one", (), {"reduce": choosing(halves="even")}),
            Reading("up", "up", (), {"reduce": choosing(halves="up")}),
        ),
    ),
    Clause(
        name="integer-halves-of-zero-point",
        kind="disputed",
        document="LiteRT AVERAGE_POOL_2D",
        section="8-bit quantization specification",
        says="nothing about how a mean that ends in a half rounds",
        answer="whether the integers round, or their distances from the zero point",
        evidence="the reference kernels average integers as they are; TOSA subtracts the zero "
        "point first, and models are lowered to it with zero points of 0 for that reason",
        concerns=_has_zero_point,
        readings=(
            Reading("integers", "the integers", ("LiteRT",)),
            Reading("distances", "the distances", (), {"reduce": choosing(early=False)}),
        ),
    ),
)


def _operator(kind: str, reduction: Any, *, steps: dict[str, Any], **others: Any) -> Operator:
    return Operator(
        name=f"LiteRT-{kind}_POOL_2D",
        document=f"LiteRT {kind}_POOL_2D",
        reduction=reduction,
        pipeline=sliding(reduction, resolve=_of_one_encoding, clamp=Clamped(), **steps),
        attributes=_ATTRIBUTES,
        convention=_FORM,
        axes=(2, 2),
        levels="few",
        has_gradient=False,
        dtypes=_TYPES,
        **others,
    )


_FIRST_ROWS = ((0, -24, 8, 16), (12, 8, -40, 28))
_OTHER_ROWS = ((12, -24, 32, 16), (12, 8, 40, 28))


def _example(
    what: str, data: Any, rows: Any, stride: tuple[int, int], padding: str = "VALID", **others: Any
) -> Example:
    """Return an example of the tests of the kernels: two rows, and windows of two by two."""
    attributes = {"filter": [2, 2], "stride": [*stride], "padding": padding, **others}
    return printed_numbers(f"pooling tests, {what}", attributes, data, rows, dtype="int8")


OPERATORS = (
    _operator(
        "AVERAGE",
        AVERAGE,
        steps={"reduce": _MEAN},
        constants={"include_pad": False},
        clauses=(*_CLAUSES, *_OF_AVERAGES),
        examples=(
            _example("average of int8", _FIRST_ROWS, ((-1, 3),), (2, 2)),
            _example(
                "average of int8, RELU",
                _FIRST_ROWS,
                ((0, 0, 3),),
                (2, 1),
                fused_activation_function="RELU",
                scale=0.25,
            ),
            _example(
                "average of int8, RELU6",
                _OTHER_ROWS,
                ((2, 24),),
                (2, 2),
                fused_activation_function="RELU6",
                scale=0.25,
            ),
        ),
    ),
    _operator("MAX", MAXIMUM, steps={}, clauses=_CLAUSES),
)
