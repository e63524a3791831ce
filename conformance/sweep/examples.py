"""The worked examples of the documents, as they print them.

What is printed and what is derived is kept apart in each case's tags: AvgPool-1 prints attributes
and shapes, never values; nGraph prints a corner of a matrix and two results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.sweep.adaptive import blueprint
from conformance.sweep.model import Blueprint, build, case_of
from conformance.vector import Case

_SHAPES = ("printed: attributes, input shape, output shape", "derived: values")

# kernel, strides, pads_begin, pads_end, auto_pad, exclude_pad of AvgPool-1's examples 1 to 5.
_AVG_POOL = (
    ((2, 2), (2, 2), (0, 0), (1, 1), "same_upper", True),
    ((5, 5), (2, 2), (0, 0), (1, 1), "same_upper", False),
    ((5, 5), (3, 3), (1, 1), (1, 1), "explicit", True),
    ((5, 5), (2, 2), (1, 1), (1, 1), "explicit", False),
    ((5, 5), (2, 2), (1, 1), (1, 1), "valid", True),
)
# The visible corner of nGraph's T_in.
_NGRAPH = ((1, 3, 5), (7, 11, 13), (17, 19, 23))


def examples(seed: int) -> Iterator[Case]:
    """Yield every worked example, printed provenance, in the smoke tier."""
    for number, example in enumerate(_AVG_POOL, start=1):
        kernel, strides, begin, end, auto_pad, exclude = example
        attributes: dict[str, Any] = {
            "auto_pad": auto_pad,
            "exclude_pad": exclude,
            "kernel": list(kernel),
            "pads_begin": list(begin),
            "pads_end": list(end),
            "strides": list(strides),
        }
        yield _printed(
            Blueprint("AvgPool-1", attributes, (1, 3, 32, 32), "float32", "integers", 25),
            f"AvgPool-1, Examples, {number}",
            seed,
            _SHAPES,
        )
    yield _printed(
        Blueprint(
            "MaxPool-1",
            {
                "auto_pad": "same_upper",
                "kernel": [3, 3],
                "pads_begin": [0, 0],
                "pads_end": [1, 1],
                "strides": [2, 2],
            },
            (1, 3, 32, 32),
            "float32",
            "integers",
            9,
        ),
        "MaxPool-1, Example",
        seed,
        ("printed: attributes", "derived: shapes, values"),
    )
    yield _printed(
        blueprint((1, 3), [(32, 16), (32, 16)], "float32", "integers"),
        "AdaptiveAvgPool-8, Examples",
        seed,
        ("printed: data and output shape", "derived: output size, values"),
    )
    data = np.array(_NGRAPH, np.float32).reshape(1, 1, 3, 3)
    for include in (False, True):
        yield case_of(
            "nGraph-AvgPool",
            {
                "window_shape": [2, 2],
                "window_movement_strides": [1, 1],
                "padding_below": [1, 1],
                "include_padding_in_avg_computation": include,
            },
            (data,),
            pattern="printed-matrix",
            tier="smoke",
            source=f"nGraph AvgPool, Example, i = {str(include).lower()}",
            provenance="printed",
            tags=("printed: attributes, matrix corner, first result", "derived: other results"),
        )


def _printed(plan: Blueprint, source: str, seed: int, tags: tuple[str, ...]) -> Case:
    case = build(plan, seed=seed, tier="smoke", source=source, provenance="printed")
    return case_of(
        case.operator,
        case.attributes,
        case.inputs,
        pattern=case.pattern,
        tier="smoke",
        source=source,
        provenance="printed",
        tags=tags,
    )
