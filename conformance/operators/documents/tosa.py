"""TOSA 1.0's AVG_POOL2D and MAX_POOL2D (spec: tosa): exact divisions, exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from conformance.dtypes import FLOATS8
from conformance.operators.attributes import Attribute
from conformance.operators.axis import Axis
from conformance.operators.call_convention import CallConvention
from conformance.operators.clause import Clause, ruling
from conformance.operators.operator import Operator, sliding
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.reduction import (
    AVERAGE,
    MAXIMUM,
    encoding_of,
    maximum_as_asked,
    mean_of_cells,
)
from conformance.operators.rule import Rule
from conformance.reference import leaves_int32, reciprocal_mean
from conformance.vector import Array

_WINDOWS = (
    Attribute("kernel", "kernel", "Attributes, kernel", least=1),
    Attribute("stride", "strides", "Attributes, stride", least=1),
    Attribute("pad", "pads", "Attributes, pad", order="axes"),
)
_FLOATS = ("float32", "float16", "bfloat16")
_INTEGERS = ("int8", "int16")


def _below_kernel(axis: Axis) -> Axis:
    most = axis.kernel - 1
    return axis._replace(pads_begin=min(axis.pads_begin, most), pads_end=min(axis.pads_end, most))


def _as_long_as_the_kernel(axis: Axis) -> Axis:
    return axis._replace(pads_begin=axis.kernel)


def _with_a_size_that_divides(axis: Axis) -> Axis:
    """Return the axis with the next size that leaves no cell over, if the kernel fits into it."""
    left = axis.slack("explicit")
    return axis if left < 0 else axis._replace(size=axis.size + -left % axis.strides)


def _with_a_cell_left_over(axis: Axis) -> Axis:
    left = axis.slack("explicit")
    if left > 0:
        return axis._replace(strides=left + 1)
    return axis._replace(kernel=axis.kernel + 1, pads_end=axis.pads_end + 2, strides=2)


PADS_BELOW_KERNEL = Rule(
    says="each pad is below the kernel of its axis",
    section="Arguments, pad",
    mended=_below_kernel,
    broken=_as_long_as_the_kernel,
)
EXACT_DIVISION = Rule(
    says="the stride divides what the first window can slide",
    section="Operation, output size",
    mended=_with_a_size_that_divides,
    broken=_with_a_cell_left_over,
    leaves_no_rest=True,
)
_ruling = partial(ruling, document="TOSA 1.0", section="AVG_POOL2D, MAX_POOL2D")
_PADS = _ruling(
    "tosa-pads",
    "any pad of at least the kernel of its axis is an error",
    "it is refused",
    "the checks of both operators",
    settles="pads-not-below-kernel",
)


_ACCUMULATOR = _ruling(
    "tosa-accumulator-of-float8",
    "acc_type is FP16 for data of float8, and the bound on errors admits wider sums",
    "sums are kept in float16 or wider, never in 8 bits",
    "the types of AVG_POOL2D",
    settles="accumulator",
    of_types=FLOATS8,
)
_ACCUMULATOR_OF_HALVES = _ruling(
    "tosa-accumulator-of-halves",
    "acc_type is FP32, or for data of float16 FP16, and the bound on errors admits wider sums",
    "sums are kept in float32 or wider; where FP16 is asked for, in float16 or wider",
    "the types of AVG_POOL2D",
    settles="accumulator",
    of_types=("float16", "bfloat16"),
)
_SUBNORMALS = _ruling(
    "tosa-subnormals-of-float8",
    "subnormal numbers of other floating-point types alone may be flushed",
    "those of float8 keep their value",
    "the rules of compliance",
    settles="subnormals",
    of_types=FLOATS8,
)


def _leaves_int32(operator: Operator, params: Params, inputs: Sequence[Array]) -> bool:
    if inputs[0].dtype.kind not in "iu":
        return False
    gathered = operator.pipeline.gathered(inputs[0], operator.pipeline.plan(params))
    return leaves_int32(gathered.data, gathered.lo, gathered.hi, encoding_of(params))


_SUM_OVERFLOW = Clause(
    name="tosa-sum-overflow",
    kind="undefined",
    leaves_open=_leaves_int32,
    document="TOSA 1.0",
    section="AVG_POOL2D; apply_add_s",
    says="sums of integers are kept in int32, and the result is unpredictable where one leaves it",
    answer="the whole case where int32 does not hold the sum of a window, or of its first cells in "
    "row-major order",
    evidence="the text",
)


def _mean(gathered: Gathered, divisor: Divisor) -> Array:
    """Return the exact mean of each window, rounded once; of integers as the document says."""
    data, lo, hi = gathered.data, gathered.lo, gathered.hi
    if data.dtype.kind not in "iu":
        return mean_of_cells(gathered, divisor)
    return reciprocal_mean(data, lo, hi, divisor, encoding_of(gathered.params))


def _operator(name: str, reduction: Any, **others: Any) -> Operator:
    return Operator(
        name=f"TOSA-{name}",
        document=f"TOSA {name}",
        reduction=reduction,
        axes=(2, 2),
        rules=(PADS_BELOW_KERNEL, EXACT_DIVISION),
        levels="few",
        has_gradient=False,
        dtypes=(*_FLOATS, *_INTEGERS, *FLOATS8),
        **others,
    )


OPERATORS = (
    _operator(
        "AVG_POOL2D",
        AVERAGE,
        attributes=(
            *_WINDOWS,
            Attribute("input_zp", "input_zero_point", "Arguments", of_types=("int8",)),
            Attribute("output_zp", "output_zero_point", "Arguments", of_types=("int8",)),
            Attribute(
                "acc_type",
                "accumulator",
                "Attributes, acc_type",
                default="FP32",
                values={"FP32": "wider", "FP16": "element-type"},
                of_types=("float16",),
            ),
        ),
        pipeline=sliding(AVERAGE, reduce=_mean),
        constants={"include_pad": False},
        convention=CallConvention(
            channels_last=True,
            numbers=("input_zp", "output_zp"),
            of_types={
                "acc_type": {
                    **dict.fromkeys(_INTEGERS, ("INT32",)),
                    **dict.fromkeys(_FLOATS, ("FP32",)),
                    "float16": ("FP32", "FP16"),
                    **dict.fromkeys(FLOATS8, ("FP16",)),
                }
            },
        ),
        clauses=(
            _PADS,
            _ruling(
                "tosa-integer-average",
                "a reciprocal of the number of cells, a product and a shift, in integers",
                "these integers, plus the zero point of the output, to the nearest number of the "
                "type: for sums below 2**29, the sum less zero points over the number of cells, "
                "halves away from zero",
                "the reciprocal is above 1 / n by at most one part in 2**30: halves move away from "
                "zero, and nothing else moves past one, for sums below 2**29; 16,579 cells whose "
                "sum is 542,605,801 give 32,729, though the nearest integer is 32,728",
                settles="integer-average",
            ),
            _SUM_OVERFLOW,
            _ACCUMULATOR,
            _ACCUMULATOR_OF_HALVES,
            _SUBNORMALS,
        ),
    ),
    _operator(
        "MAX_POOL2D",
        MAXIMUM,
        attributes=(
            *_WINDOWS,
            Attribute(
                "nan_mode",
                "nan",
                "Attributes, nan_mode",
                default="PROPAGATE",
                values={"PROPAGATE": "propagates", "IGNORE": "ignored"},
            ),
        ),
        pipeline=sliding(MAXIMUM, reduce=maximum_as_asked),
        convention=CallConvention(channels_last=True),
        clauses=(
            _PADS,
            _ruling(
                "tosa-nan-mode",
                "PROPAGATE gives NaN for any NaN, IGNORE for nothing but NaN",
                "the attribute decides",
                "the attribute",
                settles="nan-in-maximum",
            ),
            _SUBNORMALS,
        ),
    ),
)
