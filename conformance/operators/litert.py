"""LiteRT's AVERAGE_POOL_2D and MAX_POOL_2D (spec: quantised), without a fused activation."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.operators.attributes import Attribute
from conformance.operators.clause import Clause, Reading, StepWrap, ruling
from conformance.operators.examples import Example, Printed
from conformance.operators.form import Form
from conformance.operators.operator import Operator, sliding
from conformance.operators.reduction import AVERAGE, MAXIMUM, rounded_mean_of_cells
from conformance.vector import Case

_TYPES = ("float32", "int8", "uint8", "int16")
_PADDING = {"VALID": "valid", "SAME": "same_upper"}
_ATTRIBUTES = (
    Attribute("filter", "kernel", "Pool2DOptions, filter_height, filter_width", least=1),
    Attribute("stride", "strides", "Pool2DOptions, stride_h, stride_w", least=1),
    Attribute("padding", "auto_pad", "Pool2DOptions, padding", values=_PADDING),
)
_FORM = Form(
    channels_last=True,
    split={
        "filter": ("filter_height", "filter_width"),
        "stride": ("stride_h", "stride_w"),
    },
    of_types={"fused_activation_function": dict.fromkeys(_TYPES, ("NONE",))},
)


def _rounding(halves: str) -> StepWrap:
    """Return a replacement of the step that averages, with other halves of integers."""
    return lambda _reduce: partial(rounded_mean_of_cells, halves=halves)


def _holds_integers(case: Case) -> bool:
    return case.data.dtype.kind in "iu"


_ruling = partial(ruling, document="LiteRT AVERAGE_POOL_2D, MAX_POOL_2D", section="padding")
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
            Reading("even", "to the even one", (), {"reduce": _rounding("even")}),
            Reading("up", "up", (), {"reduce": _rounding("up")}),
        ),
    ),
)


def _operator(kind: str, reduction: Any, **others: Any) -> Operator:
    return Operator(
        name=f"LiteRT-{kind}_POOL_2D",
        document=f"LiteRT {kind}_POOL_2D",
        reduction=reduction,
        attributes=_ATTRIBUTES,
        form=_FORM,
        axes=(2, 2),
        levels="few",
        has_gradient=False,
        dtypes=_TYPES,
        **others,
    )


def _example(what: str, data: Any, rows: Any, stride: int) -> Example:
    """Return an example of the tests of the kernels: two rows, and windows of two by two."""
    return Example(
        f"pooling tests, {what}",
        {"filter": [2, 2], "stride": [stride, stride], "padding": "VALID"},
        ("printed: attributes, data, output",),
        (1, 1, 2, 4),
        data=data,
        dtype="int8",
        pattern="printed",
        outputs=(Printed(rows),),
    )


LITERT = (
    _operator(
        "AVERAGE",
        AVERAGE,
        pipeline=sliding(AVERAGE, reduce=rounded_mean_of_cells),
        constants={"include_pad": False},
        clauses=(*_CLAUSES, *_OF_AVERAGES),
        examples=(_example("average of int8", ((0, -24, 8, 16), (12, 8, -40, 28)), ((-1, 3),), 2),),
    ),
    _operator("MAX", MAXIMUM, pipeline=sliding(MAXIMUM), clauses=_CLAUSES),
)
