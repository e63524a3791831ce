"""A layer of a model with every extent a number, sound enough to make vectors of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import dtype_of
from conformance.errors import InvalidCase
from conformance.models.layer import MOST, Extent, Layer, NotExpressible
from conformance.operators import OPERATORS
from conformance.operators.attributes import Role
from conformance.operators.outcomes import undefined_as_a_whole
from conformance.operators.params import Params
from conformance.vector import Array

_MOST_AXES = 6  # where a document sets no limit
CELLS = 1 << 16
"""Cells of an exact case, unless one plane has more; channels and batch are cut to fit."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A layer with every extent a number; `chosen` says that the model left some of them open."""

    operator: str
    attributes: Mapping[str, Any]
    shape: tuple[int, ...]
    dtype: str
    output_size: tuple[int, ...] | None = None
    size_type: str = "int64"
    chosen: bool = False

    @property
    def axes(self) -> int:
        """Number of spatial axes."""
        return len(self.shape) - 2

    @property
    def planes(self) -> tuple[int, ...]:
        """The shape of its exact cases, with fewer channels and batches where it is large."""
        return fewer_planes(self.shape, CELLS)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two layers the same one."""
        attributes = {name: str(value) for name, value in sorted(self.attributes.items())}
        return (self.operator, *attributes.items(), self.shape, self.dtype, self.output_size)


def fixed(layer: Layer) -> Fixed:
    """Choose what the model leaves open; NotExpressible if there would be no sound vector."""
    shape, chosen = _shape(layer)
    size = None
    if OPERATORS[layer.operator].is_adaptive:
        wanted = layer.output_size or (None,) * (len(shape) - 2)
        if len(wanted) != len(shape) - 2:
            raise NotExpressible(
                f"an output of {len(wanted)} axes from an input of {len(shape) - 2}"
            )
        pairs = zip(wanted, shape[2:], strict=True)
        size = tuple(max(1, d // 2) if o is None else o for o, d in pairs)
        chosen |= None in wanted
    found = Fixed(layer.operator, layer.attributes, shape, layer.dtype, size, chosen=chosen)
    why = unsound(found)
    if why:
        raise NotExpressible(why)
    return found


def _shape(layer: Layer) -> tuple[tuple[int, ...], bool]:
    """Return the shape in numbers, and whether any was chosen."""
    shape: tuple[Extent, ...] | None = layer.shape
    if shape is None:
        known = said(layer, "kernel") or layer.output_size
        if not known:
            raise NotExpressible("neither its input's rank nor its kernel is known")
        shape = (None,) * (2 + len(known))
    fewest, most = OPERATORS[layer.operator].axes
    if not fewest <= len(shape) - 2 <= (most or _MOST_AXES):
        pools = f"{layer.operator} pools {fewest + 2} to {(most or _MOST_AXES) + 2}"
        raise NotExpressible(f"its input has {len(shape)} dimensions; {pools}")
    if 0 in shape:
        raise NotExpressible("its input is empty")
    inner = [_some_extent(layer, i) if d is None else d for i, d in enumerate(shape[2:])]
    return (shape[0] or 1, shape[1] or 3, *inner), None in shape


def _some_extent(layer: Layer, axis: int) -> int:
    """Return an extent with a few windows, and cells left over where there can be any."""
    operator = OPERATORS[layer.operator]
    if not operator.has_windows:
        return 2 * _at(layer.output_size, axis, 3) + 1
    k, s = _at(said(layer, "kernel"), axis, 1), _at(said(layer, "strides"), axis, 1)
    return k + 3 * s + (s > 1)


def _at(values: Any, axis: int, default: int) -> int:
    value = values[axis] if values is not None and axis < len(values) else None
    return default if value is None else max(1, value)


def said(layer: Layer | Fixed, role: Role) -> Any:
    """Return what the attribute of a role means, or its list; None where it has no value."""
    attribute = OPERATORS[layer.operator].attribute(role)
    if attribute is None:
        return None
    absent = None if attribute.required or attribute.is_list else attribute.default
    return attribute.meaning_of(layer.attributes.get(attribute.key, absent))


def asked(layer: Fixed) -> Params:
    """Return what a layer asks for; InvalidCase if it breaks a rule of its document."""
    size = () if layer.output_size is None else (np.array(layer.output_size, layer.size_type),)
    return OPERATORS[layer.operator].validate((_data(layer), *size), layer.attributes)


def _data(layer: Fixed) -> Array:
    """Return data of a layer that take no memory."""
    return np.broadcast_to(np.zeros((), dtype_of(layer.dtype)), layer.shape)


def unsound(layer: Fixed) -> str:
    """Say why there is no valid, defined vector of a bearable size; "" if there is one."""
    operator = OPERATORS[layer.operator]
    try:
        params = asked(layer)
    except InvalidCase as error:
        return str(error)
    undefined = undefined_as_a_whole(operator, params, _data(layer))
    if undefined:
        return f"nothing of its output is defined (clause {undefined})"
    pads = operator.pipeline.pads(params)
    padded = [d + begin + end for d, (begin, end) in zip(layer.shape[2:], pads, strict=True)]
    for what, extents in (
        ("input", layer.shape[2:]),
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
