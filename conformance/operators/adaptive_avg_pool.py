"""OpenVINO AdaptiveAvgPool-8 (spec: AdaptiveAvgPool-8)."""

from __future__ import annotations

from conformance.operators.attributes import Attribute
from conformance.operators.clause import Clause
from conformance.operators.examples import Example, Printed
from conformance.operators.operator import Operator, adaptive
from conformance.operators.reduction import AVERAGE

CLAUSES = (
    Clause(
        name="adaptive-sum",
        kind="ruling",
        document="AdaptiveAvgPool-8",
        section="Detailed description; Examples",
        says="the formula lacks its sum sign; the example has an undefined output_type and gives "
        "the second input's shape alone",
        answer="the mean of the block; output_type is ignored; the output size is (16, 16)",
        evidence="the text",
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
    clauses=CLAUSES,
    examples=(
        Example(
            "AdaptiveAvgPool-8, Examples",
            {},
            ("printed: data and output shape", "derived: output size, values"),
            (1, 3, 32, 32),
            output_size=(16, 16),
            outputs=(Printed(shape=(1, 3, 16, 16)),),
        ),
    ),
)
