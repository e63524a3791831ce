"""Cases that differ from one another in one thing each.

A backend that keeps what it has worked out for one case, under a key that leaves something out,
takes it for the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any

from conformance.sweep import adaptive
from conformance.sweep.model import Blueprint, build
from conformance.vector import Case

# Sizes at which one more of anything, at either end, changes the windows or what they count.
_PLANES, _SIZES, _KERNEL, _STRIDES = (1, 2), (6, 8), [3, 3], [2, 2]
_WORDS: dict[str, tuple[Any, ...]] = {
    "rounding_type": ("floor", "ceil"),
    "auto_pad": ("explicit", "same_upper", "same_lower", "valid"),
    "exclude_pad": (False, True),
    "include_padding_in_avg_computation": (True, False),
}
_OPENVINO = ("kernel", "strides", "pads_begin", "pads_end")
_NAMES = {
    "AvgPool-1": (_OPENVINO, ("rounding_type", "auto_pad", "exclude_pad")),
    "MaxPool-1": (_OPENVINO, ("rounding_type", "auto_pad")),
    "nGraph-AvgPool": (
        ("window_shape", "window_movement_strides", "padding_below", "padding_above"),
        ("include_padding_in_avg_computation",),
    ),
}
"""Attributes that are lists, and words; there is a base for each value of the first word."""


def neighbours(operator: str, seed: int) -> Iterator[Case]:
    """Yield bases of an operator, each followed by what differs from it in one thing."""
    for base in _bases(operator):
        for plan in (base, *_near(base)):
            yield build(replace(plan, tags=("one thing apart",)), seed=seed)


def one_off(values: list[int], step: int, least: int = 0) -> Iterator[tuple[int, list[int]]]:
    """Yield an axis and the values with `step` more there, where that is not below `least`."""
    for axis, value in enumerate(values):
        if value + step >= least:
            yield axis, [*values[:axis], value + step, *values[axis + 1 :]]


def _bases(operator: str) -> Iterator[Blueprint]:
    if operator == "AdaptiveAvgPool-8":
        yield adaptive.blueprint(_PLANES, [(6, 4), (8, 3)], "float32", "normals")
        return
    names, (first, *others) = _NAMES[operator]
    numbers = dict(zip(names, (_KERNEL, _STRIDES, [0, 0], [0, 0]), strict=True))
    for word in _WORDS[first]:
        attributes = {**numbers, first: word, **{name: _WORDS[name][0] for name in others}}
        shape = (*_PLANES, *_SIZES)
        yield Blueprint(operator, attributes, shape, "float32", "normals", prod(_KERNEL))


def _near(base: Blueprint) -> Iterator[Blueprint]:
    for name, value in base.attributes.items():
        changed = (
            [values for _, values in one_off(value, 1)]
            if isinstance(value, list)
            else [word for word in _WORDS[name] if word != value]
        )
        for other in changed:
            yield replace(base, attributes={**base.attributes, name: other})
    for _, shape in one_off(list(base.shape), 1):
        yield replace(base, shape=tuple(shape))
    if base.output_size is not None:
        size, _ = base.output_size
        for _, sizes in one_off(list(size), 1):
            yield replace(base, output_size=(tuple(sizes), "int64"))
        yield replace(base, output_size=(size, "int32"))
    yield replace(base, dtype="float64")
