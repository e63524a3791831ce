"""OpenVINO AvgPool-1 (spec: AvgPool-1)."""

from __future__ import annotations

from conformance.operators.attributes import Attribute
from conformance.operators.examples import Example, Printed
from conformance.operators.openvino_pooling import CLAUSES, window_attributes
from conformance.operators.operator import Operator, sliding
from conformance.operators.reduction import AVERAGE

# kernel, strides, pads_begin, pads_end, auto_pad, exclude_pad, output extent of examples 1 to 5.
_EXAMPLES = (
    ((2, 2), (2, 2), (0, 0), (1, 1), "same_upper", True, 32),
    ((5, 5), (2, 2), (0, 0), (1, 1), "same_upper", False, 32),
    ((5, 5), (3, 3), (1, 1), (1, 1), "explicit", True, 10),
    ((5, 5), (2, 2), (1, 1), (1, 1), "explicit", False, 15),
    ((5, 5), (2, 2), (1, 1), (1, 1), "valid", True, 14),
)

AVG_POOL = Operator(
    name="AvgPool-1",
    document="OpenVINO AvgPool-1",
    reduction=AVERAGE,
    attributes=window_attributes(
        Attribute(
            "exclude_pad",
            "include_pad",
            "Attributes, exclude-pad",
            values={True: False, False: True},
        )
    ),
    pipeline=sliding(AVERAGE),
    clauses=CLAUSES,
    examples=tuple(
        Example(
            f"AvgPool-1, Examples, {number}",
            {
                "auto_pad": auto_pad,
                "exclude_pad": exclude,
                "kernel": list(kernel),
                "pads_begin": list(begin),
                "pads_end": list(end),
                "strides": list(strides),
            },
            ("printed: attributes, input shape, output shape", "derived: values"),
            (1, 3, 32, 32),
            outputs=(Printed(shape=(1, 3, extent, extent)),),
        )
        for number, (kernel, strides, begin, end, auto_pad, exclude, extent) in enumerate(
            _EXAMPLES, 1
        )
    ),
)
