"""What AvgPool-1 and MaxPool-1 share: the attributes of OpenVINO's pooling documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.operators.attributes import Attribute
from conformance.operators.pipeline import Params
from conformance.vector import Array


def window_attributes(*own: Attribute) -> tuple[Attribute, ...]:
    """Return the attributes of both documents, a document's own after the kernel."""
    return (
        # The documents' range starts at 0; a stride of 0 is no distance (ruling stride-zero).
        Attribute("strides", "ints", "Attributes, strides", least=1),
        Attribute("pads_begin", "ints", "Attributes, pads_begin"),
        Attribute("pads_end", "ints", "Attributes, pads_end"),
        Attribute("kernel", "ints", "Attributes, kernel", least=1),
        *own,
        Attribute(
            "rounding_type",
            "enum",
            "Attributes, rounding_type",
            default="floor",
            choices=("ceil", "floor"),
        ),
        Attribute(
            "auto_pad",
            "enum",
            "Attributes, auto_pad",
            default="explicit",
            choices=("explicit", "same_upper", "same_lower", "valid"),
        ),
    )


def resolve(
    attributes: Mapping[str, Any], sizes: tuple[int, ...], _inputs: Sequence[Array]
) -> Params:
    """Translate complete attributes; a document without exclude_pad has no divisor to choose."""
    return Params(
        sizes=sizes,
        kernel=attributes["kernel"],
        strides=attributes["strides"],
        pads_begin=attributes["pads_begin"],
        pads_end=attributes["pads_end"],
        auto_pad=attributes["auto_pad"],
        ceil=attributes["rounding_type"] == "ceil",
        include_pad=not attributes.get("exclude_pad", True),
    )
