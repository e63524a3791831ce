"""OpenVINO AvgPool-16 (spec: AvgPool-16): AvgPool-14 with dilations."""

from __future__ import annotations

from dataclasses import replace

from conformance.operators.avg_pool_14 import AVG_POOL_14
from conformance.operators.examples import Printed
from conformance.operators.openvino_pooling import DILATIONS

# Examples 1 to 5 are those of AvgPool-14, with dilations of 1; the sixth is dilated.
_DILATIONS = (1, 1, 1, 1, 1, 2)

AVG_POOL_16 = AVG_POOL_14.extended(
    DILATIONS,
    name="AvgPool-16",
    document="OpenVINO AvgPool-16",
    examples=tuple(
        replace(
            example,
            source=f"AvgPool-16, Examples, {number}",
            attributes={**example.attributes, "dilations": [dilation, dilation]},
            outputs=(Printed(shape=(1, 3, 13, 13)),) if dilation > 1 else example.outputs,
        )
        for number, (example, dilation) in enumerate(
            zip((*AVG_POOL_14.examples, AVG_POOL_14.examples[3]), _DILATIONS, strict=True), 1
        )
    ),
)
