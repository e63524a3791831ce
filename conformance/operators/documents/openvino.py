"""OpenVINO's AvgPool, MaxPool, AdaptiveAvgPool and AdaptiveMaxPool (spec: the file of each name).

A newer version of an operator adds attributes to the one before: 14 and 16 to 1 and 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.operators.attributes import (
    AUTO_PADS,
    INDEX_TYPES,
    NEWER_ROUNDINGS,
    ROUNDINGS,
    Attribute,
)
from conformance.operators.clause import ruling
from conformance.operators.examples import Example, Printed, printed_numbers
from conformance.operators.indices import INDICES, ChosenIndex
from conformance.operators.operator import ALL_TYPES, Operator, Output, adaptive, sliding
from conformance.operators.reduction import AVERAGE, MAXIMUM

# Attributes --------------------------------------------------------------------------------------


def _window_attributes(*further: Attribute) -> tuple[Attribute, ...]:
    """Return the attributes of AvgPool-1 and MaxPool-1, with those of one of them after kernel."""
    return (
        # The documents' range starts at 0; a stride of 0 is no distance (ruling stride-zero).
        Attribute("strides", "strides", "Attributes, strides", least=1),
        Attribute("pads_begin", "pads_begin", "Attributes, pads_begin"),
        Attribute("pads_end", "pads_end", "Attributes, pads_end"),
        Attribute("kernel", "kernel", "Attributes, kernel", least=1),
        *further,
        Attribute(
            "rounding_type",
            "rounding",
            "Attributes, rounding_type",
            default="floor",
            values=ROUNDINGS,
        ),
        Attribute(
            "auto_pad", "auto_pad", "Attributes, auto_pad", default="explicit", values=AUTO_PADS
        ),
    )


_EXCLUDE_PAD = Attribute(
    "exclude_pad", "include_pad", "Attributes, exclude-pad", values={True: False, False: True}
)
_DILATIONS = Attribute(
    # The documents' range starts at 0 (ruling dilation-zero).
    "dilations",
    "dilations",
    "Attributes, dilations",
    default=1,
    least=1,
)
_CEIL_TORCH = Attribute(
    "rounding_type",
    "rounding",
    "Attributes, rounding_type",
    default="floor",
    values=NEWER_ROUNDINGS,
)
_INDEX_TYPE = Attribute(
    "index_element_type",
    "index_type",
    "Attributes, index_element_type",
    default="i64",
    values=INDEX_TYPES,
)

# Clauses -----------------------------------------------------------------------------------------

_CLAUSES = (
    ruling(
        "output-extent-formula",
        "prints the division inside the wrong parentheses, and H for every axis",
        "floor((d + begin + end - k) / s) + 1, each axis with its own size",
        "the document's examples 3, 4 and 5 (10, 15 and 14) fit only this",
        document="AvgPool-1",
        section="Detailed description",
    ),
    ruling(
        "stride-zero",
        "strides start from 0",
        "a stride of 0 is invalid and must be rejected",
        "every engine rejects it",
        document="AvgPool-1",
        section="Attributes, strides",
    ),
)
_NEWER_CLAUSES = (
    *_CLAUSES,
    ruling(
        "valid-rounds-by-example",
        "the formula of valid has no rounding_type, the example of valid with ceil rounds up",
        "rounding_type applies with valid",
        "the example prints 2 x 2 from 3 x 3 with a kernel and strides of 2",
        settles="valid-rounds",
        document="MaxPool-8",
        section="Mathematical Formulation, example 5; Pooling shape rules, example 6",
    ),
    ruling(
        "left-overs",
        "name a pads_value, a type T_IND of averages, a division of H + pads - kernel that "
        "leaves out dilations, and an AvgPool without dilations",
        "no such attribute or output; the effective kernel; AvgPool-16 has dilations",
        "the attributes that the documents list",
        document="MaxPool-8",
        section="Outputs; AvgPool-14, Types; Pooling shape rules",
    ),
)
_PRINTED_MAXIMUM = ruling(
    "printed-maximum",
    "prints row 2 of the output as 4, 5, 5, -6 with indices 3, 4, 4, 5",
    "3 with index 2 in place of -6 with index 5",
    "the last window holds 3 and -6; the last rows of the same example have the maximum",
    document="MaxPool-8",
    section="Mathematical Formulation, example 1; Pooling shape rules, example 1",
)
_ADAPTIVE_SUM = ruling(
    "adaptive-sum",
    "the formula lacks its sum sign; the example has an undefined output_type and gives "
    "the second input's shape alone",
    "the mean of the block; output_type is ignored; the output size is (16, 16)",
    "the text",
    document="AdaptiveAvgPool-8",
    section="Detailed description; Examples",
)
_ADAPTIVE_OUTPUT_TYPE = ruling(
    "adaptive-output-type",
    "the example has an attribute output_type and gives the second input's shape alone",
    "index_element_type is meant; the output size is (16, 16)",
    "the attributes that the document lists; the printed output shapes",
    document="AdaptiveMaxPool-8",
    section="Examples",
)

# Examples ----------------------------------------------------------------------------------------

_SHAPE = (1, 3, 32, 32)


_AVERAGES = (
    ("same_upper", True, 2, 0, 1, 2, 1, 32),
    ("same_upper", False, 5, 0, 1, 2, 1, 32),
    ("explicit", True, 5, 1, 1, 3, 1, 10),
    ("explicit", False, 5, 1, 1, 2, 1, 15),
    ("valid", True, 5, 1, 1, 2, 1, 14),
    ("explicit", False, 5, 1, 1, 2, 2, 13),
)
"""auto_pad, exclude_pad, kernel, begin, end, stride, dilation and output extent of each example."""


def _lists(axes: int, **numbers: int) -> dict[str, Any]:
    """Return attributes that have one number for all axes."""
    return {key: [number] * axes for key, number in numbers.items()}


def _square(extent: int) -> Printed:
    """Return the shape of an output that is printed for data of `_SHAPE`."""
    return Printed(shape=(1, 3, extent, extent))


def _averages(document: str, *, dilated: bool = False) -> tuple[Example, ...]:
    """Return the examples of averages: five, and if they are `dilated` a sixth."""
    return tuple(
        Example(
            f"{document}, Examples, {number}",
            {
                "auto_pad": auto_pad,
                "exclude_pad": exclude,
                **_lists(2, kernel=kernel, pads_begin=begin, pads_end=end, strides=stride),
                **(_lists(2, dilations=dilation) if dilated else {}),
            },
            ("printed: attributes, input shape, output shape", "derived: values"),
            _SHAPE,
            outputs=(_square(extent),),
        )
        for number, (auto_pad, exclude, kernel, begin, end, stride, dilation, extent) in enumerate(
            _AVERAGES[: 5 + dilated], 1
        )
    )


def _layers(document: str) -> tuple[Example, ...]:
    """Return the examples of maxima that are layers: they print shapes alone."""
    return tuple(
        Example(
            f"{document}, Examples, {number}",
            {"auto_pad": auto_pad, **_lists(2, kernel=2, pads_begin=1, pads_end=1, strides=2)},
            ("printed: attributes, input shape, output shapes", "derived: values, indices"),
            _SHAPE,
            outputs=(_square(extent),) * 2,
        )
        for number, (auto_pad, extent) in enumerate(
            (("same_upper", 32), ("explicit", 17), ("valid", 16)), 1
        )
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


def _indexed(
    source: str,
    data: Sequence[Any],
    outputs: Sequence[Sequence[Any]],
    tags: tuple[str, ...] = _PRINTED,
    **attributes: Any,
) -> Example:
    """Return an example of maxima and indices; lists of attributes are alike on every axis."""
    shape = (1, *np.shape(data)) if np.ndim(data) == 3 else (1, 1, *np.shape(data))
    lists = {"kernel": 2, "strides": 1, "pads_begin": 0, "pads_end": 0}
    given = {
        key: [value] * (len(shape) - 2) if key in {*lists, "dilations"} else value
        for key, value in {**lists, **attributes}.items()
    }
    return printed_numbers(source, given, data, *outputs, tags=tags, shape=shape)


def _formulation(source: str, *, numbered: Sequence[int]) -> tuple[Example, ...]:
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
        _indexed(
            f"{source}, example {number}",
            outputs=outputs,
            **{"rounding_type": "floor", **example},
        )
        for number, example, outputs in zip(numbered, examples, _OUTPUTS, strict=True)
    )


# Operators ---------------------------------------------------------------------------------------

AVG_POOL = Operator(
    name="AvgPool-1",
    document="OpenVINO AvgPool-1",
    reduction=AVERAGE,
    attributes=_window_attributes(_EXCLUDE_PAD),
    pipeline=sliding(AVERAGE),
    clauses=_CLAUSES,
    examples=_averages("AvgPool-1"),
)
AVG_POOL_14 = AVG_POOL.extended(
    _CEIL_TORCH,
    name="AvgPool-14",
    document="OpenVINO AvgPool-14",
    dtypes=ALL_TYPES,
    clauses=_NEWER_CLAUSES,
    levels="few",
    examples=_averages("AvgPool-14"),
)
AVG_POOL_16 = AVG_POOL_14.extended(
    _DILATIONS,
    name="AvgPool-16",
    document="OpenVINO AvgPool-16",
    examples=_averages("AvgPool-16", dilated=True),
)
MAX_POOL = Operator(
    name="MaxPool-1",
    document="OpenVINO MaxPool-1",
    reduction=MAXIMUM,
    attributes=_window_attributes(),
    pipeline=sliding(MAXIMUM),
    dtypes=ALL_TYPES,
    clauses=_CLAUSES,
    examples=(
        Example(
            "MaxPool-1, Example",
            {"auto_pad": "same_upper", **_lists(2, kernel=3, pads_begin=0, pads_end=1, strides=2)},
            ("printed: attributes", "derived: shapes, values"),
            _SHAPE,
        ),
    ),
)
MAX_POOL_8 = MAX_POOL.extended(
    _DILATIONS,
    _INDEX_TYPE,
    Attribute("axis", "index_axis", "Attributes, axis", default=0),
    name="MaxPool-8",
    document="OpenVINO MaxPool-8",
    pipeline=sliding(MAXIMUM, further=ChosenIndex()),
    outputs=(*MAX_POOL.outputs, INDICES),
    clauses=(*_NEWER_CLAUSES, _PRINTED_MAXIMUM),
    levels="few",
    examples=(
        *_formulation("MaxPool-8, Mathematical Formulation", numbered=range(1, 8)),
        *_layers("MaxPool-8"),
    ),
)
MAX_POOL_14 = MAX_POOL_8.extended(
    _CEIL_TORCH,
    name="MaxPool-14",
    document="OpenVINO MaxPool-14",
    examples=(
        *_formulation("Pooling shape rules, Examples", numbered=(1, 2, 3, 4, 6, 7, 8)),
        _indexed(
            "Pooling shape rules, Examples, example 5",
            _COUNTED,
            (((1, 3), (7, 9)), ((0, 2), (6, 8))),
            strides=2,
            pads_begin=1,
            pads_end=1,
            rounding_type="ceil_torch",
        ),
        *_layers("MaxPool-14"),
    ),
)
ADAPTIVE_AVG_POOL = Operator(
    name="AdaptiveAvgPool-8",
    document="OpenVINO AdaptiveAvgPool-8",
    reduction=AVERAGE,
    # An example prints it, nothing defines it (ruling adaptive-sum).
    attributes=(Attribute("output_type", "ignored", "Examples", default=None),),
    pipeline=adaptive(AVERAGE),
    input_names=("data", "output_size"),
    clauses=(_ADAPTIVE_SUM,),
    examples=(
        Example(
            "AdaptiveAvgPool-8, Examples",
            {},
            ("printed: data and output shape", "derived: output size, values"),
            _SHAPE,
            output_size=(16, 16),
            outputs=(_square(16),),
        ),
    ),
)
ADAPTIVE_MAX_POOL = Operator(
    name="AdaptiveMaxPool-8",
    document="OpenVINO AdaptiveMaxPool-8",
    reduction=MAXIMUM,
    attributes=(_INDEX_TYPE,),
    pipeline=adaptive(MAXIMUM, further=ChosenIndex()),
    # "The values of indices are computed as if input spatial dimensions were flatten".
    constants={"index_axis": 2},
    input_names=("data", "output_size"),
    outputs=(Output("output"), INDICES),
    clauses=(_ADAPTIVE_OUTPUT_TYPE,),
    levels="few",
    examples=(
        Example(
            "AdaptiveMaxPool-8, Examples",
            {"index_element_type": "i64"},
            ("printed: data and output shapes, index type", "derived: output size, values"),
            _SHAPE,
            output_size=(16, 16),
            outputs=(_square(16),) * 2,
        ),
    ),
)
