"""OpenVINO AdaptiveMaxPool-8 (spec: AdaptiveMaxPool-8)."""

from __future__ import annotations

from conformance.operators.clause import Clause
from conformance.operators.examples import Example, Printed
from conformance.operators.indices import INDICES, ChosenIndex
from conformance.operators.openvino_pooling import INDEX_TYPE
from conformance.operators.operator import Operator, Output, adaptive
from conformance.operators.reduction import MAXIMUM

CLAUSES = (
    Clause(
        name="adaptive-output-type",
        kind="ruling",
        document="AdaptiveMaxPool-8",
        section="Examples",
        says="the example has an attribute output_type and gives the second input's shape alone",
        answer="index_element_type is meant; the output size is (16, 16)",
        evidence="the attributes that the document lists; the printed output shapes",
    ),
)

ADAPTIVE_MAX_POOL = Operator(
    name="AdaptiveMaxPool-8",
    document="OpenVINO AdaptiveMaxPool-8",
    reduction=MAXIMUM,
    attributes=(INDEX_TYPE,),
    pipeline=adaptive(MAXIMUM, further=ChosenIndex()),
    # "The values of indices are computed as if input spatial dimensions were flatten".
    constants={"index_axis": 2},
    input_names=("data", "output_size"),
    outputs=(Output("output"), INDICES),
    clauses=CLAUSES,
    levels="few",
    examples=(
        Example(
            "AdaptiveMaxPool-8, Examples",
            {"index_element_type": "i64"},
            ("printed: data and output shapes, index type", "derived: output size, values"),
            (1, 3, 32, 32),
            output_size=(16, 16),
            outputs=(Printed(shape=(1, 3, 16, 16)),) * 2,
        ),
    ),
)
