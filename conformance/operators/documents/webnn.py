"""WebNN's pooling (spec: webnn)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from conformance.operators import pipeline as steps
from conformance.operators.attributes import ROUNDINGS, Attribute
from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.examples import Example, printed_numbers
from conformance.operators.operator import Operator, sliding
from conformance.operators.params import Params
from conformance.operators.reduction import AVERAGE, MAXIMUM, NORM, Reduction
from conformance.vector import Array

_SECTION = "MLPool2dOptions"
_FLOATS = ("float32", "float16")
_INTEGERS = ("int32", "uint32", "int64", "uint64", "int8", "uint8")
_ATTRIBUTES = (
    Attribute("windowDimensions", "kernel", _SECTION, default="sizes", least=1),
    Attribute("padding", "pads", _SECTION, default=0, order="axes"),
    Attribute("strides", "strides", _SECTION, default=1, least=1),
    Attribute("dilations", "dilations", _SECTION, default=1, least=1),
    Attribute("outputShapeRounding", "rounding", _SECTION, default="floor", values=ROUNDINGS),
    Attribute("outputSizes", "fixed_output", _SECTION, default=0, least=1),
    Attribute(
        "layout", "channels_last", _SECTION, default="nchw", values={"nchw": False, "nhwc": True}
    ),
)


_DOCUMENT = "WebNN pooling operations"
_STEPS = "MLPool2dOptions; calculate conv output size"
_ruling = partial(ruling, document=_DOCUMENT, section=_STEPS)


def _is_size_left_open(_operator: Operator, params: Params, _inputs: Sequence[Array]) -> bool:
    """Say whether an output size is not as of all readings: see the clause `output-sizes`."""
    if not any(params.fixed_output):
        return False
    below = all(o < s for o, s in zip(params.fixed_output, params.strides, strict=True))
    return not (below and all(steps.sizes_fit(params)))


_CLAUSES = (
    _ruling(
        "webnn-dilated-output-size",
        "the returned size is printed without dilations, and computed with them",
        "with them: the steps of the algorithm decide",
        "implementations follow the steps",
    ),
    _ruling(
        "webnn-ceil",
        "the output size is the ceiling of an exact quotient; no window is left out",
        "all windows are kept",
        "the steps",
        settles="ceil-window-past-input",
    ),
    _ruling(
        "webnn-output-sizes-of-both",
        "outputSizes are all rounded down or all rounded up; outputShapeRounding is ignored",
        "one of each is refused",
        "the steps",
    ),
    Clause(
        name="webnn-output-sizes",
        kind="undefined",
        leaves_open=_is_size_left_open,
        document=_DOCUMENT,
        section=_STEPS,
        says="outputSizes that are not smaller than the strides are refused",
        answer="anything, also where sizes are those of windows with the padding alone, or without",
        evidence="an error of the text since August 2023: webnn-baseline accepts such sizes, as "
        "its tests ask for; about the padding, see webnn-output-sizes-clear-padding",
    ),
    Clause(
        name="webnn-output-sizes-clear-padding",
        kind="disputed",
        document=_DOCUMENT,
        section=_STEPS,
        says="the padding becomes zeros where outputSizes are given",
        answer="whether it does",
        evidence="webnn-baseline pads, and an editor calls the step bogus (webnn, pull request "
        "770)",
        readings=(
            Reading("cleared", "no padding beside outputSizes"),
            Reading(
                "kept",
                "the padding that is given",
                (),
                {"pads": lambda _cleared: steps.resolve_pads},
            ),
        ),
    ),
)
_OF_PADDING = _ruling(
    "webnn-average-of-padding",
    "the average of patches, nothing about cells that padding adds",
    "padding never counts in the divisor",
    "webnn-baseline and its tests: the average of 4x4 with one pad and a window of 4 is 9, which "
    "is the sum of nine cells over 9; a backend that counts them fails the tests of browsers",
)
_OF_NOTHING = _ruling(
    "webnn-norm-of-nothing",
    "the square root of a sum of squares, nothing about a window of padding alone",
    "0: the sum of no square",
    "ONNX's norms; webnn-baseline raises",
)


def _operator(
    kind: str, reduction: Reduction, examples: Sequence[Example], **others: Any
) -> Operator:
    others = {"dtypes": _FLOATS, "clauses": _CLAUSES, **others}
    return Operator(
        name=f"WebNN-{kind}Pool2d",
        document=f"WebNN {kind}Pool2d",
        reduction=reduction,
        attributes=_ATTRIBUTES,
        pipeline=sliding(
            reduction,
            resolve=steps.sized,
            pads=steps.no_pads_of_sized,
            extent=steps.sized_extent,
        ),
        axes=(2, 2),
        levels="few",
        examples=tuple(examples),
        **others,
    )


def _counted(side: int, what: str, rows: Any, **attributes: Any) -> Example:
    """Return an example of webnn-baseline: cells count from 1, row by row."""
    data = np.arange(1.0, side * side + 1).reshape(side, side).tolist()
    return printed_numbers(f"webnn-baseline, {what}", attributes, data, rows)


_LAST = {
    "windowDimensions": [4, 4],
    "padding": [2, 1, 2, 1],
    "strides": [2, 2],
    "layout": "nhwc",
}
_PADDED = {"windowDimensions": [4, 4], "padding": [1, 1, 1, 1], "strides": [2, 2]}
OPERATORS = (
    _operator(
        "average",
        AVERAGE,
        (
            _counted(4, "average, 3x3", ((6, 7), (10, 11)), windowDimensions=[3, 3]),
            _counted(
                7,
                "average, rounded down",
                ((9, 10.5, 12.5), (19.5, 21, 23), (33.5, 35, 37)),
                **_PADDED,
            ),
            _counted(
                7,
                "average, rounded up",
                (
                    (9, 10.5, 12.5, 13.5),
                    (19.5, 21, 23, 24),
                    (33.5, 35, 37, 38),
                    (40.5, 42, 44, 45),
                ),
                **_PADDED,
                outputShapeRounding="ceil",
            ),
            _counted(
                7,
                "average, channels last",
                ((5, 6, 8, 9.5), (12, 13, 15, 16.5), (26, 27, 29, 30.5), (36.5, 37.5, 39.5, 41)),
                **_LAST,
            ),
        ),
        constants={"include_pad": False},
        clauses=(*_CLAUSES, _OF_PADDING),
    ),
    _operator(
        "l2",
        NORM,
        (
            _counted(
                4,
                "l2, 3x3",
                (
                    (20.639767440550294, 23.302360395462088),
                    (31.654383582688826, 34.51086785347479),
                ),
                windowDimensions=[3, 3],
            ),
            _counted(
                5,
                "l2, padding of one axis each",
                (
                    (12.767145334803704, 17.175564037317667, 11.180339887498949),
                    (38.1051177665153, 43.81780460041329, 26.92582403567252),
                    (48.19751030914356, 53.056573579529235, 32.01562118716424),
                ),
                windowDimensions=[3, 3],
                padding=[1, 0, 0, 1],
                strides=[2, 2],
                outputShapeRounding="ceil",
            ),
        ),
        constants={"exponent": 2},
        clauses=(*_CLAUSES, _OF_NOTHING),
    ),
    _operator(
        "max",
        MAXIMUM,
        (
            _counted(
                4,
                "max, dilated",
                ((11, 12), (15, 16)),
                windowDimensions=[2, 2],
                dilations=[2, 2],
            ),
            _counted(
                5,
                "max, padded",
                (
                    (13, 14, 15, 15, 15),
                    (18, 19, 20, 20, 20),
                    *((23, 24, 25, 25, 25),) * 3,
                ),
                windowDimensions=[5, 5],
                padding=[2, 2, 2, 2],
            ),
            _counted(
                7,
                "max, channels last",
                ((9, 11, 13, 14), (23, 25, 27, 28), (37, 39, 41, 42), (44, 46, 48, 49)),
                **_LAST,
            ),
        ),
        dtypes=(*_FLOATS, *_INTEGERS),
    ),
)
