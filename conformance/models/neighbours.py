"""A layer of a model as cases: exactly itself, and with each attribute one level away.

Exact cases have the layer's attributes and spatial extents. Neighbours differ in one attribute and
are about borders, so they use smaller planes that end at the same place of a stride.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from conformance.dtypes import FLOATS
from conformance.models.fixed import CELLS, Fixed, asked, fewer_planes, said, unsound
from conformance.operators import OPERATORS
from conformance.operators.attributes import NUMBERS
from conformance.sweep.model import Blueprint
from conformance.sweep.neighbours import one_off
from conformance.sweep.patterns import INTEGER_PATTERNS

_PLANE = 1 << 14
"""Cells of a plane above which few patterns are as large as the layer."""

_SUMS = ("impulses", "normals", "index", "ones", "negative", "large", "nan", "infinity")
_CHOICES = ("index", "normals", "negative", "nan", "lowest", "minus-infinity", "subnormals")
"""Patterns of exact cases: of reductions that sum, and of those that choose a cell."""
_LARGE = 3
"""How many of these are made of a plane that is large; the others of a small one."""
_NEAR = ("impulses", "normals", "negative", "integers")


@dataclass(frozen=True, slots=True)
class Near:
    """The plan of a case, and how it differs from its layer ("" if it does not)."""

    plan: Blueprint
    how: str


def cases(layer: Fixed, *, neighbours: bool = True) -> Iterator[Near]:
    """Yield the plans of a layer's cases: the exact ones first."""
    exact = _SUMS if OPERATORS[layer.operator].reduction.sums else _CHOICES
    small, cut = _small(layer), replace(layer, shape=layer.planes)
    is_large = prod(layer.shape[2:]) > _PLANE
    for number, pattern in enumerate(_patterns(exact, layer.dtype)):
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
    params = asked(layer)
    pads = zip(params.kernel, params.pads_begin, params.pads_end, strict=False)
    return params.auto_pad == "explicit" and any(max(begin, end) >= k for k, begin, end in pads)


def _small(layer: Fixed) -> Fixed:
    """Return a layer of few channels whose axes are shorter by whole strides."""
    inner = list(layer.shape[2:])
    if OPERATORS[layer.operator].has_windows:
        ones = [1] * layer.axes
        numbers = zip(said(layer, "kernel") or ones, said(layer, "strides") or ones, strict=True)
        for i, (k, s) in enumerate(numbers):
            inner[i] -= max(0, inner[i] - k - 3 * s) // s * s
    return replace(layer, shape=fewer_planes((1, min(2, layer.shape[1]), *inner), _PLANE))


def _plan(layer: Fixed, pattern: str) -> Blueprint:
    size = None if layer.output_size is None else (layer.output_size, layer.size_type)
    return Blueprint(layer.operator, layer.attributes, layer.shape, layer.dtype, pattern, size)


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
        if dtype != layer.dtype and dtype in OPERATORS[layer.operator].dtypes:
            yield dtype, replace(layer, dtype=dtype)


def _other_numbers(layer: Fixed) -> Iterator[tuple[str, Fixed]]:
    given = layer.attributes
    ignored = said(layer, "auto_pad") not in {None, "explicit"}
    for role in NUMBERS:
        attribute = OPERATORS[layer.operator].attribute(role)
        if attribute is None or attribute.key not in given or (ignored and "pads" in role):
            continue
        key = attribute.key
        for how, values in _one_off(given[key], attribute.least):
            yield f"{key} {how}", replace(layer, attributes={**given, key: values})


def _other_words(layer: Fixed) -> Iterator[tuple[str, Fixed]]:
    for attribute in OPERATORS[layer.operator].attributes:
        now = layer.attributes.get(attribute.key, attribute.default)
        for value in attribute.choices:
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
