"""A layer of a model as cases: exactly itself, and with each attribute one level away.

Exact cases have the layer's attributes and spatial extents. Neighbours differ in one attribute and
are about borders, so they use smaller planes that end at the same place of a stride.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from conformance.dtypes import FLOATS
from conformance.models.fixed import CELLS, Fixed, fewer_planes, unsound
from conformance.operators import OPERATORS
from conformance.operators.windows import ceil_div
from conformance.sweep.model import Blueprint
from conformance.sweep.neighbours import one_off
from conformance.sweep.patterns import INTEGER_PATTERNS

_PLANE = 1 << 14
"""Cells of a plane above which few patterns are as large as the layer."""

_EXACT = {
    "average": ("impulses", "normals", "index", "ones", "negative", "large", "nan", "infinity"),
    "maximum": ("index", "normals", "negative", "nan", "lowest", "minus-infinity", "subnormals"),
}
_LARGE = 3
"""How many of these are made of a plane that is large; the others of a small one."""
_NEAR = ("impulses", "normals", "negative", "integers")
_LISTS = ("kernel", "strides", "pads_begin", "pads_end")
_LEAST = {"kernel": 1, "strides": 1, "pads_begin": 0, "pads_end": 0}


@dataclass(frozen=True, slots=True)
class Near:
    """The plan of a case, and how it differs from its layer ("" if it does not)."""

    plan: Blueprint
    how: str


def cases(layer: Fixed, *, neighbours: bool = True) -> Iterator[Near]:
    """Yield the plans of a layer's cases: the exact ones first."""
    reduction = OPERATORS[layer.operator].reduction.name
    small, cut = _small(layer), replace(layer, shape=layer.planes)
    is_large = prod(layer.shape[2:]) > _PLANE
    for number, pattern in enumerate(_patterns(_EXACT[reduction], layer.dtype)):
        if is_large and number >= _LARGE:
            yield Near(_plan(small, pattern), "smaller plane")
        else:
            yield Near(_plan(cut, pattern), "")
    if not neighbours:
        return
    if cut.shape != layer.shape:
        channels = replace(small, shape=(*layer.shape[:2], *small.shape[2:]))
        if prod(channels.shape) <= 4 * CELLS:
            pattern = _patterns(_NEAR, layer.dtype)[0]
            yield Near(_plan(channels, pattern), "all channels, smaller plane")
    pads = _pads_reach_kernel(layer)
    for number, (how, other) in enumerate(_neighbours(layer)):
        near = _small(other)
        if not unsound(near) and (pads or not _pads_reach_kernel(near)):
            patterns = _patterns(_NEAR, near.dtype)
            yield Near(_plan(near, patterns[number % len(patterns)]), how)


def _pads_reach_kernel(layer: Fixed) -> bool:
    """Say whether pads are as long as the kernel, which engines may refuse."""
    if layer.attributes.get("auto_pad", "explicit") != "explicit":
        return False
    return any(
        max(begin, end) >= k
        for k, begin, end in zip(
            *(layer.attributes.get(name, ()) for name in ("kernel", "pads_begin", "pads_end")),
            strict=True,
        )
    )


def _small(layer: Fixed) -> Fixed:
    """Return a layer of few channels whose axes are shorter by whole strides."""
    inner = list(layer.shape[2:])
    if layer.output_size is None:
        for i, d in enumerate(inner):
            k, s = layer.attributes["kernel"][i], layer.attributes["strides"][i]
            inner[i] -= max(0, d - k - 3 * s) // s * s
    return replace(layer, shape=fewer_planes((1, min(2, layer.shape[1]), *inner), _PLANE))


def _plan(layer: Fixed, pattern: str) -> Blueprint:
    size = None
    if layer.output_size is None:
        volume = prod(layer.attributes["kernel"])
    else:
        pairs = zip(layer.shape[2:], layer.output_size, strict=True)
        volume = prod(ceil_div(d, o) + 1 for d, o in pairs)
        size = (layer.output_size, layer.size_type)
    return Blueprint(
        layer.operator, layer.attributes, layer.shape, layer.dtype, pattern, volume, size
    )


def _patterns(names: tuple[str, ...], dtype: str) -> tuple[str, ...]:
    return names if dtype in FLOATS else INTEGER_PATTERNS


def _neighbours(layer: Fixed) -> Iterator[tuple[str, Fixed]]:
    """Yield layers that differ in one attribute, not all of them valid."""
    yield from _other_numbers(layer)
    yield from _other_words(layer)
    for how, extents in _one_off([*layer.shape[2:]], 1):
        yield f"extent {how}", replace(layer, shape=(*layer.shape[:2], *extents))
    if layer.output_size is not None:
        for how, sizes in _one_off([*layer.output_size], 1):
            yield f"output size {how}", replace(layer, output_size=tuple(sizes))
        yield "output size int32", replace(layer, size_type="int32")
    for dtype in FLOATS if layer.dtype in FLOATS else ():
        if dtype != layer.dtype:
            yield dtype, replace(layer, dtype=dtype)


def _other_numbers(layer: Fixed) -> Iterator[tuple[str, Fixed]]:
    attributes = layer.attributes
    ignored = attributes.get("auto_pad", "explicit") != "explicit"
    for name in _LISTS:
        if name in attributes and not (ignored and name.startswith("pads")):
            for how, values in _one_off(attributes[name], _LEAST[name]):
                yield f"{name} {how}", replace(layer, attributes={**attributes, name: values})


def _other_words(layer: Fixed) -> Iterator[tuple[str, Fixed]]:
    for attribute in OPERATORS[layer.operator].attributes:
        choices = attribute.choices
        now = layer.attributes.get(attribute.key, attribute.default)
        for value in choices:
            if value != now:
                changed = {**layer.attributes, attribute.key: value}
                yield f"{attribute.key} {str(value).lower()}", replace(layer, attributes=changed)


def _one_off(values: list[int], least: int) -> Iterator[tuple[str, list[int]]]:
    """Yield a list with all of its numbers one more or less, and with each of them alone."""
    for step in (1, -1):
        every = [max(least, value + step) for value in values]
        if every != values:
            yield f"{step:+d}", every
        for axis, changed in one_off(values, step, least) if len(values) > 1 else ():
            yield f"{step:+d} on axis {axis}", changed
