"""OpenVINO AdaptiveAvgPool-8 (spec: AdaptiveAvgPool-8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.attributes import Attribute
from conformance.operators.operator import Operator, output_size_of
from conformance.vector import Array


def resolve(
    _attributes: Mapping[str, Any], sizes: tuple[int, ...], inputs: Sequence[Array]
) -> steps.Params:
    """Take the output extent from the second input; attributes change nothing."""
    return steps.Params(sizes=sizes, output=output_size_of(inputs, len(sizes)))


def no_pads(params: steps.Params) -> steps.Pads:
    """Pad nothing."""
    return ((0, 0),) * len(params.sizes)


def wanted_extent(params: steps.Params, _pads: steps.Pads) -> steps.Extent:
    """Return the output size asked for."""
    return params.output


def adaptive_windows(
    params: steps.Params, _pads: steps.Pads, extent: steps.Extent
) -> steps.Windows:
    """Divide each axis in exact integers (Detailed description)."""
    ranges = [axis.adaptive(d, o) for d, o in zip(params.sizes, extent, strict=True)]
    return steps.Windows(tuple(a for a, _ in ranges), tuple(b for _, b in ranges))


ADAPTIVE_AVG_POOL = Operator(
    name="AdaptiveAvgPool-8",
    document="OpenVINO AdaptiveAvgPool-8",
    reduction="average",
    # An example prints it, nothing defines it (ruling adaptive-sum).
    attributes=(Attribute("output_type", "ignored", "Examples", default=None),),
    input_names=("data", "output_size"),
    pipeline=steps.Pipeline(
        resolve=resolve,
        pads=no_pads,
        extent=wanted_extent,
        windows=adaptive_windows,
        gather=steps.clip,
        divide=steps.count_cells,
        reduce=steps.mean_of_cells,
    ),
)
