"""Older versions of ONNX's pooling, each the next newer one without what came later.

They are what most models have. What their texts say otherwise is a clause here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.documents import onnx
from conformance.operators.documents.onnx import (
    CEIL,
    EXPONENT,
    LP_CLAUSES,
    WINDOW_CLAUSES,
    window_attributes,
)
from conformance.operators.operator import Operator, Output, sliding
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, slacks
from conformance.operators.reduction import MAXIMUM
from conformance.operators.wraps import after
from conformance.reference import is_judged
from conformance.vector import Array

_FLOATS = ("float16", "float32", "float64")


# Clauses -----------------------------------------------------------------------------------------


def _floor_of_valid(windows: Extent, params: Params, pads: Pads) -> Extent:
    if params.auto_pad != "valid" or params.rounding != "floor":
        return windows
    slides = zip(slacks(params, pads), params.strides, strict=True)
    return tuple((t + 1) // s for t, s in slides)


def _is_no_whole_exponent(_operator: Operator, params: Params, _inputs: Sequence[Array]) -> bool:
    return not (is_judged(params.exponent) and params.exponent == int(params.exponent))


_OLDER_SAME = ruling(
    "onnx-same-as-printed",
    "prints ceil(d / s), while auto_pad is to make the output match the input",
    "o = ceil(d / s), which matches the input where strides are ones",
    "the formula, which AveragePool-11 repeats in the text of auto_pad; ONNX Runtime",
    settles="same-output-size",
    document="ONNX AveragePool-10",
    section="Summary; Attributes, auto_pad",
)
_OLDER_SAME_WITH_CEIL = ruling(
    "onnx-same-rounds-once",
    "prints ceil(d / s) with same_* whether ceil_mode is there or not",
    "o = ceil(d / s) whatever ceil_mode",
    "the formula",
    settles="same-with-ceil",
    document="ONNX AveragePool-10",
    section="Summary",
)
_SAME_FLOOR = ruling(
    "onnx-same-floor",
    "prints ceil(d / s) with ceil_mode and floor(d / s) without, and in the text of auto_pad "
    "ceil(d / s)",
    "o = ceil(d / s) whatever ceil_mode",
    "the text of auto_pad, and AveragePool-19, which mends the formula",
    settles="same-with-ceil",
    document="ONNX AveragePool-11",
    section="Summary; Attributes, auto_pad",
)
_VALID_FLOOR = Clause(
    name="onnx-valid-floor",
    kind="disputed",
    document="ONNX AveragePool-11",
    section="Summary",
    says="prints floor((d - k + 1) / s) windows for VALID without ceil_mode; for pads, of which "
    "VALID has none, floor((d - k) / s) + 1",
    answer="whether a last window that fits is left out where d - k + 1 is no multiple of s",
    evidence="AveragePool-10 and 19 print what keeps it, and ONNX Runtime and ONNX's reference "
    "evaluator keep it in every opset",
    readings=(
        Reading("all-that-fit", "o = floor((d - k) / s) + 1", ("ONNX Runtime",)),
        Reading("as-printed", "o = floor((d - k + 1) / s)", (), {"extent": after(_floor_of_valid)}),
    ),
)
_NO_DILATIONS = ruling(
    "onnx-dilations-to-come",
    "formulas with dilations[i], and no such attribute",
    "a dilation of 1",
    "the attributes that the document lists; AveragePool-19 adds it",
    document="ONNX AveragePool-11",
    section="Summary",
)
_DEFAULTS = ruling(
    "onnx-older-defaults",
    "strides, dilations and pads may be left out; for some of them it does not say what they are "
    "then",
    "strides and dilations of 1, pads of 0",
    "the version after it says so; ONNX Runtime",
    document="ONNX MaxPool-10",
    section="Attributes, strides and dilations; LpPool-1, pads",
)
_STORAGE_ORDER = ruling(
    "onnx-older-storage-order",
    "the storage order of the tensor, which may be that of the data",
    "the order in which indices count; values do not depend on it",
    "MaxPool-12 says that it is for indices alone; ONNX Runtime",
    document="ONNX MaxPool-8",
    section="Attributes, storage_order",
)
_LP_ROUNDS_DOWN = ruling(
    "lp-older-rounds-down",
    "no formula of the output size",
    "floor((d + begin + end - k) / s) + 1",
    "AveragePool of the same opset and LpPool-18 print it; ONNX Runtime",
    document="ONNX LpPool-11",
    section="Summary",
)
_LP_FLOAT = Clause(
    name="lp-float-exponent",
    kind="undefined",
    leaves_open=_is_no_whole_exponent,
    document="ONNX LpPool-1",
    section="Attributes, p",
    says="any float, where only p >= 1 makes a norm",
    answer="the whole case unless p is one of the integers from 1 to 1,024; other norms are not "
    "tested",
    evidence="version 2 made it an integer",
)
_LP_WITHOUT_KERNEL = Clause(
    name="lp-without-kernel",
    kind="undefined",
    document="ONNX LpPool-1",
    section="Attributes, kernel_shape",
    says="kernel_shape may be left out; it does not say what the kernel is then",
    answer="the whole case",
    evidence="version 2 asks for it",
)
_ONE_BY_ONE = ruling(
    "lp-global-one-by-one",
    "an output of N x C x 1 x 1, of data of any rank",
    "1 on every spatial axis",
    "version 2",
    document="ONNX GlobalLpPool-1",
    section="Outputs",
)

# Operators ---------------------------------------------------------------------------------------

_FLAGS, _SAME, _SAME_WITH_CEIL, _PADS_BESIDE = WINDOW_CLAUSES
_, *_NORM = LP_CLAUSES
_NEWEST = {operator.name: operator for operator in onnx.OPERATORS}
_WINDOW = {attribute.key: attribute for attribute in window_attributes(rounding=CEIL)}
_CEIL_MODE, _KERNEL = _WINDOW["ceil_mode"], _WINDOW["kernel_shape"]
_P = replace(EXPONENT, default=2.0, is_float=True)

_AVERAGE_19 = _NEWEST["ONNX-AveragePool-22"].version(19, _CEIL_MODE, dtypes=_FLOATS)
_AVERAGE_11 = _AVERAGE_19.version(
    11,
    without=("dilations",),
    # Where pads are used in place of VALID, it does not round: readings of pads come later.
    clauses=(_FLAGS, _SAME, _SAME_FLOOR, _VALID_FLOOR, _PADS_BESIDE, _NO_DILATIONS),
)
_AVERAGE_10 = _AVERAGE_11.version(
    10, clauses=(_FLAGS, _OLDER_SAME, _PADS_BESIDE, _OLDER_SAME_WITH_CEIL, _DEFAULTS)
)
_AVERAGE_7 = _AVERAGE_10.version(
    7, without=("ceil_mode",), clauses=(_FLAGS, _OLDER_SAME, _PADS_BESIDE, _DEFAULTS)
)
_AVERAGE_1 = _AVERAGE_7.version(
    1,
    without=("count_include_pad",),
    constants={"include_pad": False},
    clauses=(_OLDER_SAME, _PADS_BESIDE, _DEFAULTS),
)
_MAX_12 = _NEWEST["ONNX-MaxPool-22"].version(12, _CEIL_MODE, dtypes=(*_FLOATS, "int8", "uint8"))
_MAX_11 = _MAX_12.version(
    11,
    dtypes=_FLOATS,
    clauses=(_FLAGS, _OLDER_SAME, _PADS_BESIDE, _OLDER_SAME_WITH_CEIL, _STORAGE_ORDER),
)
_MAX_10 = _MAX_11.version(10, clauses=(*_MAX_11.clauses, _DEFAULTS))
_MAX_8 = _MAX_10.version(
    8,
    without=("dilations", "ceil_mode"),
    clauses=(_OLDER_SAME, _PADS_BESIDE, _STORAGE_ORDER, _DEFAULTS),
)
_MAX_1 = _MAX_8.version(
    1,
    without=("storage_order",),
    constants={},
    outputs=(Output("Y"),),
    pipeline=sliding(MAXIMUM),
    clauses=(_OLDER_SAME, _PADS_BESIDE, _DEFAULTS),
)
_LP_18 = _NEWEST["ONNX-LpPool-22"].version(18, dtypes=_FLOATS)
_LP_11 = _LP_18.version(
    11,
    without=("dilations", "ceil_mode"),
    clauses=(_SAME, _PADS_BESIDE, *LP_CLAUSES, _LP_ROUNDS_DOWN),
)
_LP_2 = _LP_11.version(2, clauses=(_PADS_BESIDE, *LP_CLAUSES, _LP_ROUNDS_DOWN, _DEFAULTS))
_LP_1 = _LP_2.version(
    1,
    replace(_KERNEL, default="sizes", left_open=_LP_WITHOUT_KERNEL.name),
    _P,
    clauses=(_PADS_BESIDE, _LP_FLOAT, *_NORM, _LP_WITHOUT_KERNEL, _LP_ROUNDS_DOWN, _DEFAULTS),
)
_GLOBAL_LP_2 = _NEWEST["ONNX-GlobalLpPool-22"].version(2, dtypes=_FLOATS)
OPERATORS = (
    *(_AVERAGE_19, _AVERAGE_11, _AVERAGE_10, _AVERAGE_7, _AVERAGE_1),
    *(_MAX_12, _MAX_11, _MAX_10, _MAX_8, _MAX_1),
    *(_LP_18, _LP_11, _LP_2, _LP_1),
    _NEWEST["ONNX-GlobalAveragePool-22"].version(1, dtypes=_FLOATS),
    _NEWEST["ONNX-GlobalMaxPool-22"].version(1, dtypes=_FLOATS),
    *(_GLOBAL_LP_2, _GLOBAL_LP_2.version(1, _P, clauses=(_LP_FLOAT, *_NORM, _ONE_BY_ONE))),
)
