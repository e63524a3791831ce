"""Attributes and rulings that OpenVINO's documents AvgPool-1 and MaxPool-1 share."""

from __future__ import annotations

from conformance.operators.attributes import AUTO_PADS, ROUNDINGS, Attribute
from conformance.operators.clause import Clause


def window_attributes(*further: Attribute) -> tuple[Attribute, ...]:
    """Return the attributes of both documents, with further ones of one document after kernel."""
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
