"""Attributes and rulings that OpenVINO's documents of pooling share."""

from __future__ import annotations

from conformance.operators.attributes import (
    AUTO_PADS,
    INDEX_TYPES,
    NEWER_ROUNDINGS,
    ROUNDINGS,
    Attribute,
)
from conformance.operators.clause import Clause


def window_attributes(*further: Attribute) -> tuple[Attribute, ...]:
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


CLAUSES = (
    Clause(
        name="output-extent-formula",
        kind="ruling",
        document="AvgPool-1",
        section="Detailed description",
        says="prints the division inside the wrong parentheses, and H for every axis",
        answer="floor((d + begin + end - k) / s) + 1, each axis with its own size",
        evidence="the document's examples 3, 4 and 5 (10, 15 and 14) fit only this",
    ),
    Clause(
        name="stride-zero",
        kind="ruling",
        document="AvgPool-1",
        section="Attributes, strides",
        says="strides start from 0",
        answer="a stride of 0 is invalid and must be rejected",
        evidence="every engine rejects it",
    ),
)

NEWER_CLAUSES = (
    *CLAUSES,
    Clause(
        name="valid-rounds-by-example",
        kind="ruling",
        document="MaxPool-8",
        section="Mathematical Formulation, example 5; Pooling shape rules, example 6",
        says="the formula of valid has no rounding_type, the example of valid with ceil rounds up",
        answer="rounding_type applies with valid",
        evidence="the example prints 2 x 2 from 3 x 3 with a kernel and strides of 2",
        settles="valid-rounds",
    ),
    Clause(
        name="left-overs",
        kind="ruling",
        document="MaxPool-8",
        section="Outputs; AvgPool-14, Types; Pooling shape rules",
        says="name a pads_value, a type T_IND of averages, a division of H + pads - kernel that "
        "leaves out dilations, and an AvgPool without dilations",
        answer="no such attribute or output; the effective kernel; AvgPool-16 has dilations",
        evidence="the attributes that the documents list",
    ),
)

DILATIONS = Attribute(
    # The documents' range starts at 0 (ruling dilation-zero).
    "dilations",
    "dilations",
    "Attributes, dilations",
    default=1,
    least=1,
)
CEIL_TORCH = Attribute(
    "rounding_type",
    "rounding",
    "Attributes, rounding_type",
    default="floor",
    values=NEWER_ROUNDINGS,
)
INDEX_TYPE = Attribute(
    "index_element_type",
    "index_type",
    "Attributes, index_element_type",
    default="i64",
    values=INDEX_TYPES,
)
