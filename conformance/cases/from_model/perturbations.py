"""A layer of a model as cases: exactly itself, and with each attribute one level away.

Exact cases have the layer's attributes and spatial extents. Neighbours differ in one attribute and
are about borders, so they use smaller planes that end at the same place of a stride.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from conformance.cases.from_model.concrete import (
    CELLS,
    exact_shape,
    fewer_planes,
    params_of,
    unsound,
    value_of,
)
from conformance.cases.sweep.neighbours import one_off
from conformance.cases.sweep.patterns import INTEGER_PATTERNS
from conformance.cases.sweep.sweep_model import CaseSpec
from conformance.dtypes import FLOATS
from conformance.operators import OPERATORS
from conformance.operators.attributes import NUMBERS, Role
from conformance.operators.windows import span_of

_PLANE = 1 << 14
"""Cells of a plane above which few patterns are as large as the layer."""

_SUMS = ("impulses", "normals", "index", "ones", "negative", "large", "nan", "infinity")
_CHOICES = ("index", "normals", "negative", "nan", "lowest", "minus-infinity", "subnormals")
"""Patterns of exact cases: of reductions that sum, and of those that choose a cell."""
_LARGE = 3
"""How many of these are made of a plane that is large; the others of a small one."""
_NEAR = ("impulses", "normals", "negative", "integers")


@dataclass(frozen=True, slots=True)
class Variant:
    """A case near a layer; `change` says in words how it differs from the layer, "" if not."""

    spec: CaseSpec
    change: str


def cases(layer: CaseSpec, *, neighbours: bool = True) -> Iterator[Variant]:
    """Yield the cases of a layer, without data: the exact ones first."""
    exact = _SUMS if OPERATORS[layer.operator].reduction.sums else _CHOICES
    small, cut = _small(layer), replace(layer, shape=exact_shape(layer))
    is_large = prod(layer.shape[2:]) > _PLANE
    for number, pattern in enumerate(_patterns(exact, layer.dtype)):
        if is_large and number >= _LARGE:
            yield Variant(replace(small, pattern=pattern), "smaller plane")
        else:
            yield Variant(replace(cut, pattern=pattern), "")
    if not neighbours:
        return
    if cut.shape != layer.shape:
        channels = replace(small, shape=(*layer.shape[:2], *small.shape[2:]))
        if prod(channels.shape) <= 4 * CELLS:
            pattern = _patterns(_NEAR, layer.dtype)[0]
            yield Variant(replace(channels, pattern=pattern), "all channels, smaller plane")
    pads = _pads_reach_kernel(layer)
    for number, (change, other) in enumerate(_neighbours(layer)):
        near = _small(other)
        if not unsound(near) and (pads or not _pads_reach_kernel(near)):
            patterns = _patterns(_NEAR, near.dtype)
            yield Variant(replace(near, pattern=patterns[number % len(patterns)]), change)


def _pads_reach_kernel(layer: CaseSpec) -> bool:
    """Say whether pads are as long as the kernel, which engines may refuse."""
    params = params_of(layer)
    pads = zip(params.kernel, params.pads_begin, params.pads_end, strict=False)
    return params.auto_pad == "explicit" and any(max(begin, end) >= k for k, begin, end in pads)


def _small(layer: CaseSpec) -> CaseSpec:
    """Return a layer of few channels whose axes are shorter by whole strides."""
    inner = list(layer.shape[2:])
    if OPERATORS[layer.operator].has_windows:
        ones = [1] * (len(layer.shape) - 2)
        roles: tuple[Role, ...] = ("kernel", "strides", "dilations")
        numbers = zip(*(value_of(layer, role) or ones for role in roles), strict=True)
        for i, (k, s, n) in enumerate(numbers):
            inner[i] -= max(0, inner[i] - span_of(k, n) - 3 * s) // s * s
    return replace(layer, shape=fewer_planes((1, min(2, layer.shape[1]), *inner), _PLANE))


def _patterns(names: tuple[str, ...], dtype: str) -> tuple[str, ...]:
    return names if dtype in FLOATS else INTEGER_PATTERNS


def _neighbours(layer: CaseSpec) -> Iterator[tuple[str, CaseSpec]]:
    """Yield layers that differ in one attribute, not all of them valid."""
    yield from _other_numbers(layer)
    yield from _other_words(layer)
    for change, extents in _one_off([*layer.shape[2:]], 1):
        yield f"extent {change}", replace(layer, shape=(*layer.shape[:2], *extents))
    if layer.output_size is not None:
        size, size_type = layer.output_size
        for change, sizes in _one_off([*size], 1):
            yield f"output size {change}", replace(layer, output_size=(tuple(sizes), size_type))
        yield "output size int32", replace(layer, output_size=(size, "int32"))
    for dtype in FLOATS if layer.dtype in FLOATS else ():
        if dtype != layer.dtype and dtype in OPERATORS[layer.operator].dtypes:
            yield dtype, replace(layer, dtype=dtype)


def _other_numbers(layer: CaseSpec) -> Iterator[tuple[str, CaseSpec]]:
    given, axes = layer.attributes, len(layer.shape) - 2
    ignored = value_of(layer, "auto_pad") not in {None, "explicit"}
    for role in NUMBERS:
        attribute = OPERATORS[layer.operator].attribute(role)
        if attribute is None or (ignored and "pads" in role):
            continue
        key = attribute.key
        now = given[key] if attribute.required else given.get(key, attribute.default_for(axes))
        for change, values in _one_off([*now], attribute.least):
            yield f"{key} {change}", replace(layer, attributes={**given, key: values})


def _other_words(layer: CaseSpec) -> Iterator[tuple[str, CaseSpec]]:
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
