"""nGraph's AvgPool (spec: nGraph-AvgPool)."""

from __future__ import annotations

from functools import partial

from conformance.operators.attributes import Attribute
from conformance.operators.clause import ruling
from conformance.operators.examples import Example, Printed
from conformance.operators.operator import ALL_TYPES, Operator, sliding
from conformance.operators.reduction import AVERAGE

_ruling = partial(ruling, document="nGraph AvgPool")
_CLAUSES = (
    _ruling(
        "ngraph-index",
        "indexes T_in by padded coordinates, misprints the product's index, and defines "
        "T_sum / T_div for i = false only",
        "T_in at j - p; the product of w_i; i = true divides by that product",
        "the document's own example (1.0 and 0.25)",
        section="Formal definition",
    ),
    _ruling(
        "ngraph-defaults",
        "marks attributes optional without defaults; four attributes, then lists five",
        "strides default to ones, paddings to zeros, include-padding to false",
        "the text",
        section="Attributes",
    ),
    _ruling(
        "printed-w-bound",
        "w_i <= d_i",
        "w_i <= p_i + d_i + q_i",
        "nGraph's own tests",
        section="Attributes, w",
    ),
)

AVG_POOL = Operator(
    name="nGraph-AvgPool",
    document="nGraph AvgPool",
    reduction=AVERAGE,
    attributes=(
        Attribute("window_shape", "kernel", "Attributes, w", least=1),
        Attribute("window_movement_strides", "strides", "Attributes, s", default=1, least=1),
        Attribute("padding_below", "pads_begin", "Attributes, p", default=0),
        Attribute("padding_above", "pads_end", "Attributes, q", default=0),
        Attribute(
            "include_padding_in_avg_computation",
            "include_pad",
            "Attributes, i",
            default=False,
            values={True: True, False: False},
        ),
    ),
    pipeline=sliding(AVERAGE),
    axes=(1, None),
    dtypes=ALL_TYPES,
    clauses=_CLAUSES,
    examples=tuple(
        Example(
            f"nGraph AvgPool, Example, i = {str(include).lower()}",
            {
                "window_shape": [2, 2],
                "window_movement_strides": [1, 1],
                "padding_below": [1, 1],
                "include_padding_in_avg_computation": include,
            },
            ("printed: attributes, matrix corner, first result", "derived: other results"),
            data=((1, 3, 5), (7, 11, 13), (17, 19, 23)),  # the visible corner of T_in
            pattern="printed-matrix",
            outputs=(Printed(((first, ..., ...), (..., ..., ...), (..., ..., ...))),),
        )
        for include, first in ((False, 1.0), (True, 0.25))
    ),
)
