"""PyTorch's functions of torch.nn.functional (spec: pytorch), an operator for each rank."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import gt
from typing import Any

from conformance.dtypes import WIDE_FLOATS
from conformance.operators.attributes import Attribute, Role
from conformance.operators.axis import Axis
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.documents.onnx import LP_EXPONENT
from conformance.operators.examples import Example, printed_numbers, printed_unpooling
from conformance.operators.indices import ChosenIndex
from conformance.operators.operator import Operator, Output, adaptive, sliding, unpooling
from conformance.operators.params import Params
from conformance.operators.pipeline import Pipeline, count_cells
from conformance.operators.reduction import AVERAGE, MAXIMUM, NORM
from conformance.operators.rule import Rule
from conformance.operators.unpooling import UNPOOLING
from conformance.operators.wraps import choosing
from conformance.reference.rounding import widen


def _list(key: str, role: Role, **others: Any) -> Attribute:
    """Return an attribute of one integer for each axis, or of one for all."""
    others = {"one_for_all": "in a list", **others}
    return Attribute(key, role, f"Args, {key}", **others)


_FLAGS = {False: False, True: True}
_CEIL_MODE = Attribute(
    "ceil_mode",
    "rounding",
    "Args, ceil_mode",
    default=False,
    values={False: "floor", True: "ceil_torch"},
)
_WINDOWS = (
    _list("kernel_size", "kernel", least=1),
    _list("stride", "strides", default="kernel", least=1),
    _list("padding", "pads", default=0, order="both"),
)
# Their kernels are no number in a list, and of one axis no list.
_WINDOWS_OF_NORMS = (replace(_WINDOWS[0], one_for_all="alone"), _WINDOWS[1])
# Nor are those of unpoolings.
_WINDOWS_OF_UNPOOLING = (
    *(replace(attribute, one_for_all="alone") for attribute in _WINDOWS),
    _list("output_size", "fixed_output", default=0, least=1, one_for_all=""),
)
_COUNT_INCLUDE_PAD = Attribute(
    "count_include_pad", "include_pad", "Args, count_include_pad", default=True, values=_FLAGS
)
_DIVISOR_OVERRIDE = Attribute(
    "divisor_override", "fixed_divisor", "Args, divisor_override", default=None
)
_NORM_TYPE = Attribute("norm_type", "exponent", "Args, norm_type", samples=(2, 4, 6))
_DILATION = _list("dilation", "dilations", default=1, least=1)


def _at_most_half(axis: Axis) -> Axis:
    pad = min(axis.pads_begin, axis.kernel // 2)
    return axis._replace(pads_begin=pad, pads_end=pad)


def _more_than_half(axis: Axis) -> Axis:
    pad = axis.kernel // 2 + 1
    return axis._replace(pads_begin=pad, pads_end=pad)


HALF_A_KERNEL = Rule(
    says="padding is at most half of the kernel",
    section="Args, padding",
    mended=_at_most_half,
    broken=_more_than_half,
)


_ruling = partial(ruling, document="PyTorch avg_pool2d, max_pool2d", section="Args; Shape")
_CLAUSES = (
    _ruling(
        "torch-ceil",
        "with ceil_mode, windows may go off bounds if they start within the left padding or the "
        "input; windows that would start in the right padded region are ignored",
        "one window less where (o - 1) s >= d + p, once: padding of at most half a kernel leaves "
        "no second one",
        "the function that computes the sizes of all of them",
        settles="ceil-torch-start",
    ),
    _ruling(
        "torch-half-a-kernel",
        "padding is at most kernel_size / 2, in one place of the effective kernel",
        "floor(k / 2) whatever the dilation; more is refused",
        "torch refuses a padding of 2 for a kernel of 3 with a dilation of 3",
        settles="pads-not-below-kernel",
    ),
    _ruling(
        "torch-half-a-dilated-kernel",
        "padding is at most half of the kernel",
        "no padding reaches the kernel, so that none is between it and the dilated one",
        "the limit",
        settles="pads-not-below-undilated-kernel",
    ),
)


def _refusing_large_kernels(_pipeline: Pipeline, params: Params) -> tuple[str, ...]:
    return ("refused",) if any(map(gt, params.kernel, params.sizes)) else ()


_KERNEL_ABOVE_INPUT = Clause(
    name="kernel-above-input",
    kind="disputed",
    refusing=_refusing_large_kernels,
    document="PyTorch avg_pool3d",
    section="Shape",
    says="nothing about a kernel that is larger than the input, where padding holds it",
    answer="whether such a call is refused",
    evidence="torch refuses it in avg_pool3d alone",
    readings=(
        Reading("accepted", "the padded input is what a kernel has to fit into"),
        Reading("refused", "an exception", ("PyTorch, avg_pool3d",)),
    ),
)
_AVERAGE_CLAUSES = (
    *_CLAUSES,
    _ruling(
        "torch-overhang",
        "the formula has 1 / (kH kW), and count_include_pad includes the zero-padding",
        "cells beyond input and padding never count",
        "1, ..., 6 with k = 3, s = 2, p = 1 and ceil_mode end in 3, which is 6 / 2",
        settles="overhang-divisor",
    ),
)


_BLOCKS = _ruling(
    "torch-adaptive-blocks",
    "the number of windows, and nothing about which cells they have",
    "from floor(j d / o) to ceil((j + 1) d / o), in exact integers",
    "the functions that compute starts and ends of all of them",
)


def _within_a_stride(axis: Axis) -> Axis:
    given, size, less = axis.fixed_output, axis.inferred, axis.strides - 1
    return axis._replace(fixed_output=given and max(size - less, min(given, size + less)))


def _a_stride_more(axis: Axis) -> Axis:
    return axis._replace(fixed_output=max(1, axis.inferred + axis.strides))


WITHIN_A_STRIDE = Rule(
    says="output_size is less than a stride from the size that is inferred",
    section="Args, output_size",
    mended=_within_a_stride,
    broken=_a_stride_more,
)
_UNPOOLING_CLAUSES = (
    ruling(
        "torch-unpool-limits",
        "output_size resolves what pooling leaves open; nothing about its limits",
        "it is refused from a stride below or above the inferred size on",
        "pooling of sizes a stride apart gives different numbers of windows; the function that all "
        "of them call",
        document="PyTorch max_unpool1d, max_unpool2d, max_unpool3d",
        section="Args, output_size",
    ),
)


_NORM_CLAUSES = (
    *_CLAUSES[:1],
    LP_EXPONENT,
    Clause(
        name="lp-signed",
        kind="undefined",
        leaves_open=lambda _operator, params, inputs: (
            params.exponent % 2 == 1 and bool((widen(inputs[0]) < 0).any())
        ),
        document="PyTorch lp_pool1d, lp_pool2d, lp_pool3d",
        section="Description",
        says="the sum of x**p, and that at infinity it is max pooling, which is so of magnitudes "
        "alone",
        answer="the whole case of an odd p with a negative cell: powers with their sign or of "
        "magnitudes",
        evidence="torch adds powers with their sign, so that a sum below zero has no root; a "
        "change to magnitudes has been proposed",
    ),
    _ruling(
        "torch-gradient-of-no-sum",
        "if the sum to the power of p is zero, the gradient is set to zero",
        "a window of zeros gives zero to its cells, of a gradient that is finite",
        "the text",
        document="PyTorch lp_pool1d, lp_pool2d, lp_pool3d",
        section="Description; LPPool2d, Note",
    ),
    Clause(
        name="lp-overhang",
        kind="disputed",
        document="PyTorch lp_pool1d, lp_pool2d, lp_pool3d",
        section="Description",
        says="the sum over a window, nothing about one that reaches past the input with ceil_mode",
        answer="whether the cells that are missing weigh as the mean of those that exist",
        evidence="torch multiplies the average of the cells that exist by the kernel: of 1, ..., 6 "
        "with k = 3, s = 2, p = 1 and ceil_mode, the last window gives 16.5 and not 11",
        concerns=lambda case: bool(case.attributes.get(_CEIL_MODE.key)),
        readings=(
            Reading("cells", "the sum of the cells that exist"),
            Reading(
                "whole-kernel",
                "their mean times the cells of a kernel",
                ("PyTorch",),
                {"reduce": choosing(weighs="whole-kernel")},
            ),
        ),
    ),
)


def _operators(axes: int) -> tuple[Operator, ...]:
    """Return the operators of data with so many spatial axes."""
    shared: dict[str, Any] = {
        "axes": (axes, axes),
        "levels": "few" if axes == 2 else "least",
        "takes_unbatched": True,
    }
    override = () if axes == 1 else (_DIVISOR_OVERRIDE,)  # avg_pool1d has none
    output_size = _list("output_size", "output", one_for_all="alone", keeps_sizes=axes > 1)
    of_maximum: dict[str, Any] = {
        "constants": {"index_axis": 2},
        "outputs": (
            Output("output"),
            Output("indices", dtype="int64", undefined="index-of-nothing", is_index=True),
        ),
    }
    return (
        Operator(
            name=f"PyTorch-avg_pool{axes}d",
            document=f"PyTorch avg_pool{axes}d",
            reduction=AVERAGE,
            attributes=(*_WINDOWS, _CEIL_MODE, _COUNT_INCLUDE_PAD, *override),
            pipeline=sliding(AVERAGE),
            rules=(HALF_A_KERNEL,),
            clauses=(*_AVERAGE_CLAUSES, *((_KERNEL_ABOVE_INPUT,) if axes == 3 else ())),
            examples=_AVERAGES if axes == 1 else (),
            **shared,
        ),
        Operator(
            name=f"PyTorch-max_pool{axes}d",
            document=f"PyTorch max_pool{axes}d",
            reduction=MAXIMUM,
            attributes=(*_WINDOWS, _DILATION, _CEIL_MODE),
            pipeline=sliding(MAXIMUM, further=ChosenIndex()),
            rules=(HALF_A_KERNEL,),
            dtypes=(*WIDE_FLOATS, "int8", "uint8", "int32", "int64"),
            clauses=_CLAUSES,
            **of_maximum,
            **shared,
        ),
        Operator(
            name=f"PyTorch-adaptive_avg_pool{axes}d",
            document=f"PyTorch adaptive_avg_pool{axes}d",
            reduction=AVERAGE,
            attributes=(output_size,),
            pipeline=adaptive(AVERAGE),
            clauses=(_BLOCKS,),
            **shared,
        ),
        Operator(
            name=f"PyTorch-adaptive_max_pool{axes}d",
            document=f"PyTorch adaptive_max_pool{axes}d",
            reduction=MAXIMUM,
            attributes=(output_size,),
            pipeline=adaptive(MAXIMUM, further=ChosenIndex()),
            clauses=(_BLOCKS,),
            **of_maximum,
            **shared,
        ),
        Operator(
            name=f"PyTorch-lp_pool{axes}d",
            document=f"PyTorch lp_pool{axes}d",
            reduction=NORM,
            attributes=(_NORM_TYPE, *_WINDOWS_OF_NORMS, _CEIL_MODE),
            pipeline=sliding(NORM, divide=count_cells),  # of the mean power
            of_gradient={"at_zero": "nothing"},
            clauses=_NORM_CLAUSES,
            **shared,
        ),
        Operator(
            name=f"PyTorch-max_unpool{axes}d",
            document=f"PyTorch max_unpool{axes}d",
            reduction=UNPOOLING,
            attributes=_WINDOWS_OF_UNPOOLING,
            pipeline=unpooling(UNPOOLING),
            constants={"index_axis": 2},
            input_names=("data", "indices"),
            rules=(WITHIN_A_STRIDE,),
            clauses=_UNPOOLING_CLAUSES,
            examples=_UNPOOLINGS[axes],
            has_gradient=False,
            **shared,
        ),
    )


_AVERAGES = (
    printed_numbers(
        "avg_pool1d, Examples",
        {"kernel_size": [3], "stride": [2]},
        (1, 2, 3, 4, 5, 6, 7),
        (2, 4, 6),
    ),
)
_UNPOOLINGS: dict[int, tuple[Example, ...]] = {
    1: (
        printed_unpooling(
            "MaxUnpool1d, Examples",
            {"kernel_size": [2], "stride": [2]},
            data=(2, 4, 6, 8),
            indices=(1, 3, 5, 7),
            output=(0, 2, 0, 4, 0, 6, 0, 8),
        ),
        printed_unpooling(
            "MaxUnpool1d, Examples, output_size",
            {"kernel_size": [2], "stride": [2], "output_size": [9]},
            data=(2, 4, 6, 8),
            indices=(1, 3, 5, 7),
            output=(0, 2, 0, 4, 0, 6, 0, 8, 0),
        ),
    ),
    2: (
        printed_unpooling(
            "MaxUnpool2d, Examples",
            {"kernel_size": [2, 2], "stride": [2, 2]},
            data=((6, 8), (14, 16)),
            indices=((5, 7), (13, 15)),
            output=((0, 0, 0, 0), (0, 6, 0, 8), (0, 0, 0, 0), (0, 14, 0, 16)),
        ),
        printed_unpooling(
            "MaxUnpool2d, Examples, output_size",
            {"kernel_size": [2, 2], "stride": [2, 2], "output_size": [4, 5]},
            data=((7, 9), (17, 19)),
            indices=((6, 8), (16, 18)),
            output=((0, 0, 0, 0, 0), (0, 7, 0, 9, 0), (0, 0, 0, 0, 0), (0, 17, 0, 19, 0)),
        ),
    ),
    3: (),
}
"""By the number of axes: data and indices are what the pooling that is printed before gives."""
_BY_AXES = [_operators(axes) for axes in (1, 2, 3)]
OPERATORS: tuple[Operator, ...] = tuple(
    operator for family in zip(*_BY_AXES, strict=True) for operator in family
)
