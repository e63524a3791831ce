"""Attributes and clauses that ONNX's pooling documents share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.operators.attributes import Attribute
from conformance.operators.clause import Clause, Reading
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, Pipeline, reaches, rooms
from conformance.reference import is_judged

AXES = (1, None)
"""Numbers of spatial axes: "(N x C x D1 x D2 ... Dn)"."""
EXPONENT = Attribute("p", "exponent", "Attributes, p", default=2)
CEIL: Mapping[int, str] = {0: "floor", 1: "ceil"}
CEIL_WITHOUT_PADDING: Mapping[int, str] = {0: "floor", 1: "ceil_torch"}
"""Windows that would start in the right padding are ignored, as AveragePool and MaxPool say."""


FLAGS = Clause(
    name="onnx-flags",
    kind="undefined",
    document="ONNX AveragePool-22",
    section="Attributes, ceil_mode, count_include_pad",
    says="integers that say whether to round up, and whether to count padding; no range",
    answer="the whole case, if one of them is neither 0 nor 1",
    evidence="ONNX Runtime takes a ceil_mode of 2 for 0, and for 1 until 1.20.1, and a "
    "count_include_pad of 2 for 1",
)
COUNT_INCLUDE_PAD = Attribute(
    "count_include_pad",
    "include_pad",
    "Attributes, count_include_pad",
    default=0,
    values={0: False, 1: True},
    left_open=FLAGS.name,
)


def window_attributes(*further: Attribute, rounding: Mapping[int, str]) -> tuple[Attribute, ...]:
    """Return the attributes of every document with windows, and further ones of one document.

    `rounding` says what ceil_mode means.
    """
    return (
        Attribute("kernel_shape", "kernel", "Attributes, kernel_shape", least=1),
        Attribute("strides", "strides", "Attributes, strides", default=1, least=1),
        Attribute("dilations", "dilations", "Attributes, dilations", default=1, least=1),
        Attribute("pads", "pads", "Attributes, pads", default=0),
        *further,
        Attribute(
            "ceil_mode",
            "rounding",
            "Attributes, ceil_mode",
            default=0,
            values=rounding,
            left_open=FLAGS.name,
        ),
        Attribute(
            "auto_pad",
            "auto_pad",
            "Attributes, auto_pad",
            default="NOTSET",
            values={
                "NOTSET": "explicit",
                "SAME_UPPER": "same_upper",
                "SAME_LOWER": "same_lower",
                "VALID": "valid",
            },
        ),
    )


def _with_given_pads(step: Callable[..., Any]) -> Callable[..., Any]:
    """Let a step of the geometry take pads as they are given, and leave out what auto_pad says."""

    def with_given_pads(params: Params, *others: Any) -> Any:
        return step(replace(params, auto_pad="explicit") if params.pads_beside else params, *others)

    return with_given_pads


def _one_window_at_least(extent: Callable[..., Extent]) -> Callable[..., Extent]:
    given = _with_given_pads(extent)

    def one_at_least(params: Params, pads: Pads) -> Extent:
        windows: Extent = given(params, pads)
        return tuple(max(1, o) for o in windows) if params.pads_beside else windows

    return one_at_least


def _no_window_unless_it_fits(extent: Callable[..., Extent]) -> Callable[..., Extent]:
    given = _with_given_pads(extent)

    def none_unless_it_fits(params: Params, pads: Pads) -> Extent:
        windows: Extent = given(params, pads)
        fits = not params.pads_beside or min(rooms(params, pads)) >= 0
        return windows if fits else (0,) * len(windows)

    return none_unless_it_fits


def _refusing_both(_pipeline: Pipeline, params: Params) -> tuple[str, ...]:
    """Return the readings under which pads are refused beside an auto_pad."""
    if not params.pads_beside:
        return ()
    pads = tuple(zip(params.pads_begin, params.pads_end, strict=True))
    also = (
        ("zeros-alone", any(map(any, pads))),
        ("checked", reaches(pads, params.kernel)),
    )
    return ("refused", *(name for name, holds in also if holds))


WINDOW_CLAUSES = (
    FLAGS,
    Clause(
        name="onnx-same-output-size",
        kind="ruling",
        settles="same-output-size",
        document="ONNX AveragePool-22",
        section="Summary; Attributes, auto_pad",
        says="output_shape[i] = ceil(input_shape[i] / strides[i])",
        answer="o = ceil(d / s)",
        evidence="the formula",
    ),
    Clause(
        name="onnx-same-with-ceil",
        kind="ruling",
        settles="same-with-ceil",
        document="ONNX AveragePool-22",
        section="Summary",
        says="prints ceil(d / s) with ceil_mode, and floor((d - 1) / s) + 1 without",
        answer="o = ceil(d / s) whatever ceil_mode: the two are the same number",
        evidence="the formulas",
    ),
    Clause(
        name="pads-with-auto-pad",
        kind="disputed",
        refusing=_refusing_both,
        document="ONNX AveragePool-22",
        section="Attributes, pads",
        says="pads cannot be used simultaneously with auto_pad",
        answer="whether pads beside an auto_pad other than NOTSET are ignored, refused, or used in "
        "its place",
        evidence="ONNX Runtime ignores them, but refuses those that reach the kernel, and tract "
        "ignores auto_pad; nothing says that such a node is invalid. ONNX's reference evaluator "
        "adds them to MaxPool with VALID, and ignores them elsewhere",
        readings=(
            Reading("ignored", "auto_pad says how much is padded"),
            Reading("refused", "an exception"),
            Reading("zeros-alone", "an exception, but for zeros, as pads are by default"),
            Reading(
                "checked",
                "an exception for pads as long as the kernel; others are ignored",
                ("ONNX Runtime",),
            ),
            Reading(
                "used",
                "as with NOTSET: pads are as given, zeros too, and ceil_mode applies; a kernel "
                "larger than the input with them has one window, of what there is",
                ("tract",),
                {"pads": _with_given_pads, "extent": _one_window_at_least},
            ),
            Reading(
                "used-or-refused",
                "the same, and an exception for such a kernel",
                (),
                {"pads": _with_given_pads, "extent": _no_window_unless_it_fits},
            ),
        ),
    ),
)
LP_EXPONENT = Clause(
    name="lp-exponent",
    kind="undefined",
    leaves_open=lambda _operator, params, _inputs: not is_judged(params.exponent),
    document="ONNX LpPool-22",
    section="Attributes, p",
    says="any integer, where only p >= 1 makes a norm",
    answer="the whole case if p < 1, or p > 1,024: powers of all cells but those close to one "
    "leave the range of every type",
    evidence="of p = 0, ONNX Runtime computes infinity, and ONNX's reference evaluator raises",
)
LP_CLAUSES = (
    LP_EXPONENT,
    Clause(
        name="lp-absolute",
        kind="ruling",
        document="ONNX LpPool-22",
        section="Summary",
        says="the Lp norm, without a formula",
        answer="the p-th root of the sum of |x|**p: absolute values, for an odd p, too",
        evidence="that is what a norm is; ONNX Runtime and ONNX's reference evaluator",
    ),
    Clause(
        name="lp-of-padding",
        kind="ruling",
        document="ONNX LpPool-22",
        section="Summary",
        says="nothing about a window of padding alone",
        answer="0: a sum of no power, and as well one of padding that is zero",
        evidence="ONNX's reference evaluator; ONNX Runtime refuses such pads",
    ),
)
