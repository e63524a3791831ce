"""A layer of a model as cases: exactly itself, and with each attribute one level away.

Exact cases have the layer's attributes and spatial extents. Neighbours differ in one attribute and
are about borders, so they use smaller planes that end at the same place of a stride.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from conformance.cases.from_model.concrete import CELLS, exact_shape, fewer_planes, unsound
from conformance.cases.sweep.draft import Draft, Place, draft_of_spec, each_one_off
from conformance.cases.sweep.patterns import INTEGER_PATTERNS
from conformance.cases.sweep.sweep_model import CaseSpec
from conformance.dtypes import FLOATS, WIDE_FLOATS
from conformance.operators.attributes import NUMBERS, PADS
from conformance.operators.axis import Axis, sizes

_PLANE = 1 << 14
"""Cells of a plane above which few patterns are as large as the layer."""

_SUMS = ("impulses", "normals", "index", "ones", "negative", "large", "nan", "infinity")
_CHOICES = ("index", "normals", "negative", "nan", "lowest", "minus-infinity", "subnormals")
"""Patterns of exact cases: of reductions that sum, and of those that choose a cell."""
_LARGE = 3
"""How many of these are made of a plane that is large; the others of a small one."""
_NEAR = ("impulses", "normals", "negative", "integers")


def cases(layer: CaseSpec, *, neighbours: bool = True) -> Iterator[CaseSpec]:
    """Yield the cases of a layer: the exact ones first, in the smoke tier.

    The `source` of each other one says in words how it differs from the layer.
    """
    base = draft_of_spec(layer)
    exact = _SUMS if base.operator.reduction.sums else _CHOICES
    small, cut = _small(base), replace(layer, shape=exact_shape(layer))
    is_large = prod(layer.shape[2:]) > _PLANE
    for number, pattern in enumerate(_patterns(exact, layer.dtype)):
        if is_large and number >= _LARGE:
            yield small.spec(pattern, source="smaller plane")
        else:
            yield replace(cut, pattern=pattern, tier="smoke")
    if not neighbours:
        return
    if cut.shape != layer.shape:
        channels = replace(small, batch=base.batch, channels=base.channels)
        if prod(channels.shape) <= 4 * CELLS:
            pattern = _patterns(_NEAR, layer.dtype)[0]
            yield channels.spec(pattern, source="all channels, smaller plane")
    pads = _pads_reach_kernel(base)
    for number, (change, other) in enumerate(_neighbours(base)):
        near = _small(other)
        patterns = _patterns(_NEAR, near.dtype)
        spec = near.spec(patterns[number % len(patterns)], source=change)
        if not unsound(spec) and (pads or not _pads_reach_kernel(near)):
            yield spec


def _pads_reach_kernel(layer: Draft) -> bool:
    """Say whether pads are as long as the kernel, which engines may refuse."""
    explicit = layer.operator.has_windows and layer.auto_pad == "explicit"
    return explicit and any(
        max(axis.pads_begin, axis.pads_end) >= axis.kernel for axis in layer.axes
    )


def _small(layer: Draft) -> Draft:
    """Return a layer of few channels whose axes are shorter by whole strides."""
    axes = layer.axes
    if layer.operator.has_windows:
        axes = tuple(axis._replace(size=_shorter(axis)) for axis in axes)
    shape = (1, min(2, layer.channels), *sizes(axes))
    batch, channels, *_ = fewer_planes(shape, _PLANE)
    return replace(layer, batch=batch, channels=channels, axes=axes)


def _shorter(axis: Axis) -> int:
    """Return a size of few windows that ends at the same place of a stride."""
    s = axis.strides
    return axis.size - max(0, axis.size - axis.span - 3 * s) // s * s


def _patterns(names: tuple[str, ...], dtype: str) -> tuple[str, ...]:
    return names if dtype in FLOATS else INTEGER_PATTERNS


def _neighbours(layer: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield layers that differ in one attribute, not all of them valid."""
    operator = layer.operator
    for attribute in filter(None, map(operator.attribute, NUMBERS)):
        if attribute.role not in PADS or layer.auto_pad == "explicit":
            places = layer.places_of(attribute)
            yield from _one_off(layer, attribute.key, places, attribute.least)
    for attribute in operator.attributes:
        for value, meaning in attribute.values.items():
            if meaning != layer.words[attribute.role]:
                other = layer.with_word(attribute.role, meaning)
                yield f"{attribute.key} {str(value).lower()}", other
    yield from _one_off(layer, "extent", layer.places("size"), 1)
    if operator.takes_output_size:
        yield from _one_off(layer, "output size", layer.places("output"), 1)
        yield "output size int32", replace(layer, size_type="int32")
    for dtype in WIDE_FLOATS if layer.dtype in FLOATS else ():
        if dtype != layer.dtype and dtype in operator.dtypes:
            yield dtype, replace(layer, dtype=dtype)


def _one_off(
    layer: Draft, what: str, places: list[Place], least: int
) -> Iterator[tuple[str, Draft]]:
    """Yield a layer with all of some numbers one more or less, and with each of them alone."""
    for step in (1, -1):
        every = layer.put({place: max(least, layer.at(place) + step) for place in places})
        if every != layer:
            yield f"{what} {step:+d}", every
        for number, place in enumerate(places if len(places) > 1 else ()):
            for other in each_one_off(layer, [place], step, least):
                yield f"{what} {step:+d} on axis {number}", other
