"""ONNX Runtime's QLinearAveragePool and QLinearGlobalAveragePool (spec: quantised).

They are operators of the domain com.microsoft, version 1; channels are second here.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.operators.attributes import Attribute
from conformance.operators.call_convention import CallConvention
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.documents.onnx import (
    AXES,
    CEIL,
    COUNT_INCLUDE_PAD,
    WINDOW_CLAUSES,
    window_attributes,
)
from conformance.operators.operator import Operator, sliding, whole
from conformance.operators.reduction import AVERAGE, RoundedMean
from conformance.operators.wraps import choosing

# Ratios of these scales have a numerator of 32 or 96 and an odd denominator: a mean of fewer than
# 64 cells is never a half, but at least one part in 242 times the number of cells away from any.
_X_SCALES, _Y_SCALES = (0.25, 0.75), (75 / 128, 31 / 128, 121 / 128)
_Y_ZERO_POINTS = (0, -3, 60, -101)
_INPUTS = (
    Attribute("x_scale", "input_scale", "Inputs, x_scale", samples=_X_SCALES),
    Attribute("y_scale", "output_scale", "Inputs, y_scale", samples=_Y_SCALES),
    Attribute("x_zero_point", "input_zero_point", "Inputs, x_zero_point"),
    Attribute("y_zero_point", "output_zero_point", "Inputs, y_zero_point", samples=_Y_ZERO_POINTS),
)
_FORM = CallConvention(
    numbers=("x_scale", "x_zero_point", "y_scale", "y_zero_point"),
    number_shape=(),
    scales=("x_scale", "y_scale"),
    optional=("x_zero_point", "y_zero_point"),
)
_MEAN = RoundedMean(halves="even")
_ruling = partial(ruling, document="ORT QLinearAveragePool-1")
_CLAUSES = (
    _ruling(
        "qlinear-average",
        "Dequantize, AveragePool on fp32 data, Quantize; of padding that counts, nothing",
        "the sum of x_scale (q - x_zero_point) over the divisor, over y_scale, to the nearest "
        "integer, plus y_zero_point, to the nearest number of the type; padding is the number 0",
        "AveragePool adds nothing for padding; its quantised zero is x_zero_point",
        settles="integer-average",
        section="Summary",
    ),
    _ruling(
        "qlinear-near-half",
        "fp32 data, and nothing about the order of a sum or when scales are multiplied",
        "either integer is right where the mean, in steps of the output, is nearer to a half than "
        "K u (M + 256) / (1 - K u), unless scales and divisor are powers of two; no case has such "
        "a mean. M is the mean magnitude, u = 2**-24, and K = c + 2 r + 8 for r axes and windows "
        "of c cells at most: 0.00034 for 2x2 cells with M = 100",
        "K roundings are off by u each: of cells that are dequantised, of additions and the "
        "division, and 8 of scales and the zero point; 256 is the range of the type. ONNX Runtime "
        "was seen to be off by one up to 5e-6 from a half",
        section="Summary",
    ),
    Clause(
        name="qlinear-halves",
        kind="disputed",
        document="ORT QLinearAveragePool-1",
        section="Summary, Quantize",
        says="nothing about how a mean between two integers of the output rounds",
        answer="which integer a half becomes, and whether y_zero_point is added before that",
        evidence="ONNX's QuantizeLinear rounds to even and adds the zero point after that; ONNX "
        "Runtime adds it before where windows slide, and after that where there is one",
        readings=(
            Reading("even", "to the even one, before y_zero_point is added"),
            Reading(
                "even-sum",
                "so that the sum with y_zero_point is even",
                ("ONNX Runtime",),
                {"reduce": choosing(early=True)},
            ),
            Reading(
                "away",
                "away from zero, before y_zero_point is added",
                (),
                {"reduce": choosing(halves="away")},
            ),
            Reading(
                "away-sum",
                "so that the sum with y_zero_point is farther from zero",
                (),
                {"reduce": choosing(halves="away", early=True)},
            ),
            Reading("up", "up", (), {"reduce": choosing(halves="up")}),
        ),
    ),
)


def _operator(name: str, attributes: tuple[Attribute, ...], **others: Any) -> Operator:
    return Operator(
        name=f"ORT-{name}-1",
        document=f"ORT {name}-1",
        reduction=AVERAGE,
        attributes=(*attributes, *_INPUTS),
        convention=_FORM,
        axes=AXES,
        levels="least",
        has_gradient=False,
        dtypes=("int8", "uint8"),
        **others,
    )


_WINDOWS = window_attributes(COUNT_INCLUDE_PAD, rounding=CEIL)
OPERATORS = (
    _operator(
        "QLinearAveragePool",
        tuple(each for each in _WINDOWS if each.role != "dilations"),
        pipeline=sliding(AVERAGE, reduce=_MEAN),
        clauses=(*WINDOW_CLAUSES, *_CLAUSES),
    ),
    _operator(
        "QLinearGlobalAveragePool", (), pipeline=whole(AVERAGE, reduce=_MEAN), clauses=_CLAUSES
    ),
)
