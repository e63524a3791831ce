"""OpenVINO MaxPool-8 (spec: MaxPool-8): MaxPool-1 with dilations and indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.operators.attributes import Attribute
from conformance.operators.clause import Clause
from conformance.operators.examples import Example, Printed
from conformance.operators.indices import INDICES, ChosenIndex
from conformance.operators.max_pool import MAX_POOL
from conformance.operators.openvino_pooling import DILATIONS, INDEX_TYPE, NEWER_CLAUSES
from conformance.operators.operator import sliding
from conformance.operators.reduction import MAXIMUM

PRINTED_MAXIMUM = Clause(
    name="printed-maximum",
    kind="ruling",
    document="MaxPool-8",
    section="Mathematical Formulation, example 1; Pooling shape rules, example 1",
    says="prints row 2 of the output as 4, 5, 5, -6 with indices 3, 4, 4, 5",
    answer="3 with index 2 in place of -6 with index 5",
    evidence="the last window holds 3 and -6; the last rows of the same example have the maximum",
)

_SQUARE = ((-1, 2, 3), (4, 5, -6), (-7, 8, 9))
_ROW = (-1, 2, 3, 5, -7, 9, 1)
_TWO_PLANES = (_SQUARE, ((2, -1, 5), (6, -7, 1), (8, 2, -3)))
_COUNTED = ((1, 2, 3), (4, 5, 6), (7, 8, 9))
_TWO_COUNTED = (_COUNTED, ((10, 11, 12), (13, 14, 15), (16, 17, 18)))

# Values and indices that examples 1 to 7 print, but for what the erratum corrects.
_OUTPUTS = (
    (
        ((-1, 2, 3, 3), (4, 5, 5, ...), (4, 8, 9, 9), (-7, 8, 9, 9)),
        ((0, 1, 2, 2), (3, 4, 4, ...), (3, 7, 8, 8), (6, 7, 8, 8)),
    ),
    ((3, 5, 5, 9, 9), (2, 3, 3, 5, 5)),
    (((-1, 2, 3), (4, 5, 5), (4, 8, 9)), ((0, 1, 2), (3, 4, 4), (3, 7, 8))),
    (
        (((5, 5, 3), (8, 9, 9), (8, 9, 9)), ((6, 5, 5), (8, 2, 1), (8, 2, -3))),
        (((4, 4, 2), (7, 8, 8), (7, 8, 8)), ((12, 11, 11), (15, 16, 14), (15, 16, 17))),
    ),
    (((5, 3), (8, 9)), ((4, 2), (7, 8))),
    (((5, 6, 5), (8, 9, 8), (5, 6, 5)), ((4, 5, 4), (7, 8, 7), (4, 5, 4))),
    ((((5, 6), (8, 9)), ((14, 15), (17, 18))), (((4, 5), (7, 8)), ((4, 5), (7, 8)))),
)
_PRINTED = ("printed: attributes, data, both outputs",)
_ERRATUM = (
    "printed: attributes, data, both outputs but for one element",
    "erratum: row 2 ends in -6 with index 5; the window holds 3 and -6, so that it is 3, index 2",
)


def numbers(
    source: str,
    data: Sequence[Any],
    outputs: tuple[Printed, ...],
    tags: tuple[str, ...] = _PRINTED,
    **attributes: Any,
) -> Example:
    """Return an example that prints its numbers; lists of attributes are alike on every axis."""
    shape = np.shape(data)
    shape = (1, 1, *shape) if len(shape) < 3 else (1, *shape)
    lists = {"kernel": 2, "strides": 1, "pads_begin": 0, "pads_end": 0}
    given = {
        key: [value] * (len(shape) - 2) if key in {*lists, "dilations"} else value
        for key, value in {**lists, **attributes}.items()
    }
    return Example(source, given, tags, shape, pattern="printed", data=data, outputs=outputs)


def counted(source: str, **attributes: Any) -> Example:
    """Return an example of three rows of three cells that count from 1 to 9."""
    return numbers(source, _COUNTED, **attributes)


def layers(source: str) -> tuple[Example, ...]:
    """Return the examples of the section Examples, layers that print shapes alone."""
    return tuple(
        Example(
            f"{source}, Examples, {number}",
            {
                "auto_pad": auto_pad,
                "kernel": [2, 2],
                "pads_begin": [1, 1],
                "pads_end": [1, 1],
                "strides": [2, 2],
            },
            ("printed: attributes, input shape, output shapes", "derived: values, indices"),
            (1, 3, 32, 32),
            outputs=(Printed(shape=(1, 3, extent, extent)),) * 2,
        )
        for number, (auto_pad, extent) in enumerate(
            (("same_upper", 32), ("explicit", 17), ("valid", 16)), 1
        )
    )


def formulation(source: str, *, numbered: Sequence[int]) -> tuple[Example, ...]:
    """Return the examples of MaxPool-8's Mathematical Formulation, as a document numbers them.

    The document of shape rules, to which MaxPool-14 refers, repeats them.
    """
    examples: tuple[dict[str, Any], ...] = (
        {"data": _SQUARE, "tags": _ERRATUM, "pads_begin": 1, "pads_end": 1, "auto_pad": "explicit"},
        {"data": _ROW, "kernel": 3, "auto_pad": "valid"},
        {"data": _SQUARE, "auto_pad": "same_lower"},
        {"data": _TWO_PLANES, "auto_pad": "same_upper"},
        {"data": _SQUARE, "strides": 2, "rounding_type": "ceil", "auto_pad": "valid"},
        {"data": _COUNTED, "dilations": 2, "pads_begin": 1, "pads_end": 1, "auto_pad": "explicit"},
        {"data": _TWO_COUNTED, "dilations": 1, "auto_pad": "explicit", "axis": 2},
    )
    return tuple(
        numbers(
            f"{source}, example {number}",
            outputs=tuple(map(Printed, outputs)),
            **{"rounding_type": "floor", **example},
        )
        for number, example, outputs in zip(numbered, examples, _OUTPUTS, strict=True)
    )


MAX_POOL_8 = MAX_POOL.extended(
    DILATIONS,
    INDEX_TYPE,
    Attribute("axis", "index_axis", "Attributes, axis", default=0),
    name="MaxPool-8",
    document="OpenVINO MaxPool-8",
    pipeline=sliding(MAXIMUM, further=ChosenIndex()),
    outputs=(*MAX_POOL.outputs, INDICES),
    clauses=(*NEWER_CLAUSES, PRINTED_MAXIMUM),
    levels="few",
    examples=(
        *formulation("MaxPool-8, Mathematical Formulation", numbered=range(1, 8)),
        *layers("MaxPool-8"),
    ),
)
