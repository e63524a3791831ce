"""nGraph AvgPool (spec: nGraph-AvgPool)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.operators import pipeline as steps
from conformance.operators.attributes import Attribute
from conformance.operators.operator import ALL_TYPES, Operator
from conformance.vector import Array

ATTRIBUTES = (
    Attribute("window_shape", "ints", "Attributes, w", least=1),
    Attribute("window_movement_strides", "ints", "Attributes, s", default=None, least=1, fill=1),
    Attribute("padding_below", "ints", "Attributes, p", default=None),
    Attribute("padding_above", "ints", "Attributes, q", default=None),
    Attribute("include_padding_in_avg_computation", "bool", "Attributes, i", default=False),
)


def resolve(
    attributes: Mapping[str, Any], sizes: tuple[int, ...], _inputs: Sequence[Array]
) -> steps.Params:
    """Translate complete attributes; this operator rounds down and pads explicitly."""
    return steps.Params(
        sizes=sizes,
        kernel=attributes["window_shape"],
        strides=attributes["window_movement_strides"],
        pads_begin=attributes["padding_below"],
        pads_end=attributes["padding_above"],
        include_pad=attributes["include_padding_in_avg_computation"],
    )


NGRAPH_AVG_POOL = Operator(
    name="nGraph-AvgPool",
    document="nGraph AvgPool",
    reduction="average",
    attributes=ATTRIBUTES,
    axes=(1, None),
    dtypes=ALL_TYPES,
    pipeline=steps.Pipeline(
        resolve=resolve,
        pads=steps.resolve_pads,
        extent=steps.count_windows,
        windows=steps.slide,
        gather=steps.clip,
        divide=steps.count_cells,
        reduce=steps.mean_of_cells,
    ),
)
