"""PyTorch's functions of torch.nn.functional (spec: pytorch), an operator for each rank."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.dtypes import FLOATS
from conformance.operators.attributes import Attribute, Role
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.examples import Example, Printed
from conformance.operators.indices import ChosenIndex
from conformance.operators.operator import Operator, Output, sliding
from conformance.operators.reduction import AVERAGE, MAXIMUM
from conformance.operators.rule import Numbers, Rule


def _list(key: str, role: Role, **others: Any) -> Attribute:
    """Return an attribute of one integer for each axis, or of one for all."""
    return Attribute(key, role, f"Args, {key}", one_for_all=True, **others)


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
_COUNT_INCLUDE_PAD = Attribute(
    "count_include_pad", "include_pad", "Args, count_include_pad", default=True, values=_FLAGS
)
_DIVISOR_OVERRIDE = Attribute(
    "divisor_override", "fixed_divisor", "Args, divisor_override", default=None
)
_DILATION = _list("dilation", "dilations", default=1, least=1)


def _at_most_half(axis: Numbers) -> Numbers:
    pad = min(axis.pads_begin, axis.kernel // 2)
    return axis._replace(pads_begin=pad, pads_end=pad)


def _more_than_half(axis: Numbers) -> Numbers:
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
_KERNEL_ABOVE_INPUT = Clause(
    name="kernel-above-input",
    kind="disputed",
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


def _operators(axes: int) -> tuple[Operator, ...]:
    """Return the operators of data with so many spatial axes."""
    shared: dict[str, Any] = {
        "axes": (axes, axes),
        "rules": (HALF_A_KERNEL,),
        "levels": "few" if axes == 2 else "least",
        "takes_unbatched": True,
    }
    override = () if axes == 1 else (_DIVISOR_OVERRIDE,)  # avg_pool1d has none
    return (
        Operator(
            name=f"PyTorch-avg_pool{axes}d",
            document=f"PyTorch avg_pool{axes}d",
            reduction=AVERAGE,
            attributes=(*_WINDOWS, _CEIL_MODE, _COUNT_INCLUDE_PAD, *override),
            pipeline=sliding(AVERAGE),
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
            constants={"index_axis": 2},
            outputs=(
                Output("output"),
                Output("indices", dtype="int64", undefined="index-of-nothing", is_index=True),
            ),
            dtypes=(*FLOATS, "int8", "uint8", "int32", "int64"),
            clauses=_CLAUSES,
            **shared,
        ),
    )


_AVERAGES = (
    Example(
        "avg_pool1d, Examples",
        {"kernel_size": [3], "stride": [2]},
        ("printed: attributes, data, output",),
        (1, 1, 7),
        data=(1, 2, 3, 4, 5, 6, 7),
        pattern="printed",
        outputs=(Printed((2, 4, 6)),),
    ),
)
PYTORCH = tuple(operator for axes in (1, 2, 3) for operator in _operators(axes))
