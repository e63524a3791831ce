"""A layer of a model with every extent a number, sound enough to make vectors of."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from conformance.cases.from_model.layer import MOST, Extent, Layer, NotExpressible
from conformance.cases.sweep.sweep_model import CaseSpec
from conformance.dtypes import dtype_of
from conformance.errors import InvalidCase
from conformance.operators import OPERATORS
from conformance.operators.attributes import Role
from conformance.operators.axis import Axis
from conformance.operators.outcomes import undefined_as_a_whole

_MOST_AXES = 6  # where a document sets no limit
CELLS = 1 << 16
"""Cells of an exact case, unless one plane has more; channels and batch are cut to fit."""


def concrete(layer: Layer) -> CaseSpec:
    """Choose what the model leaves open; NotExpressible if there would be no sound vector.

    The pattern of what is returned is "": data comes later.
    """
    shape = _shape(layer)
    size = None
    if OPERATORS[layer.operator].takes_output_size:
        output_size = layer.output_size or (None,) * (len(shape) - 2)
        if len(output_size) != len(shape) - 2:
            raise NotExpressible(
                f"an output of {len(output_size)} axes from an input of {len(shape) - 2}"
            )
        pairs = zip(output_size, shape[2:], strict=True)
        size = tuple(max(1, d // 2) if o is None else o for o, d in pairs), "int64"
    spec = CaseSpec(layer.operator, layer.attributes, shape, layer.dtype, "", size)
    why = unsound(spec)
    if why:
        raise NotExpressible(why)
    return spec


def exact_shape(spec: CaseSpec) -> tuple[int, ...]:
    """Return the shape of a layer's exact cases: fewer channels and batches where it is large."""
    return fewer_planes(spec.shape, CELLS)


def _shape(layer: Layer) -> tuple[int, ...]:
    """Return the shape in numbers."""
    shape: tuple[Extent, ...] | None = layer.shape
    if shape is None:
        per_axis = _value_of(layer, "kernel") or layer.output_size
        if not per_axis:
            raise NotExpressible("neither its input's rank nor its kernel is known")
        shape = (None,) * (2 + len(per_axis))
    fewest, most = OPERATORS[layer.operator].axes
    if not fewest <= len(shape) - 2 <= (most or _MOST_AXES):
        pools = f"{layer.operator} pools {fewest + 2} to {(most or _MOST_AXES) + 2}"
        raise NotExpressible(f"its input has {len(shape)} dimensions; {pools}")
    if 0 in shape:
        raise NotExpressible("its input is empty")
    inner = [_some_extent(layer, i) if d is None else d for i, d in enumerate(shape[2:])]
    return (shape[0] or 1, shape[1] or 3, *inner)


def _some_extent(layer: Layer, axis: int) -> int:
    """Return an extent with a few windows, and cells left over where there can be any."""
    operator = OPERATORS[layer.operator]
    if not operator.has_windows:
        return 2 * _at(layer.output_size, axis, 3) + 1
    k, s, n = (_at(_value_of(layer, role), axis, 1) for role in ("kernel", "strides", "dilations"))
    return Axis(0, k, s, dilations=n).least_size(4, "valid") + (s > 1)


def _at(values: Any, axis: int, default: int) -> int:
    value = values[axis] if values is not None and axis < len(values) else None
    return default if value is None else max(1, value)


def _value_of(layer: Layer, role: Role) -> Any:
    """Return the value of the list of a role; None where there is none."""
    attribute = OPERATORS[layer.operator].attribute(role)
    return None if attribute is None else layer.attributes.get(attribute.key)


def unsound(spec: CaseSpec) -> str:
    """Say why there is no valid, defined vector of a bearable size; "" if there is one."""
    operator = OPERATORS[spec.operator]
    # Zeros of the shape of the data, which take no memory.
    inputs = spec.own_inputs(np.broadcast_to(np.zeros((), dtype_of(spec.dtype)), spec.shape))
    try:
        params = operator.validate(inputs, spec.attributes)
    except InvalidCase as error:
        return str(error)
    undefined = undefined_as_a_whole(operator, params, inputs)
    if undefined:
        return f"nothing of its output is defined (clause {undefined})"
    pads = operator.pipeline.pads(params)
    padded = [d + begin + end for d, (begin, end) in zip(spec.shape[2:], pads, strict=True)]
    for what, extents in (
        ("input", spec.shape[2:]),
        ("padded input", padded),
        ("output", operator.pipeline.extent(params, pads)),
    ):
        if prod(extents) > MOST:
            return f"a plane of its {what} has more than {MOST:,} cells"
    return ""


def fewer_planes(shape: tuple[int, ...], cells: int) -> tuple[int, ...]:
    """Return a shape with as many channels and batches as fit into some cells, at least one."""
    plane = prod(shape[2:])
    channels = max(1, min(shape[1], cells // plane))
    return (max(1, min(shape[0], cells // (plane * channels))), channels, *shape[2:])
