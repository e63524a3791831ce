"""The exhaustive tier: a full product of small numbers on one axis, in parts.

Geometry is separable, so every combination of size, kernel, stride and pads of one axis under
every attribute is what the covering arrays sample; here nothing is left out. About a million
cases: each part can be made alone, in any order and on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from conformance.dtypes import FLOATS
from conformance.sweep import adaptive
from conformance.sweep.model import Blueprint, build
from conformance.vector import Case

_SIZES, _KERNELS, _STRIDES, _PADS = range(1, 13), range(1, 7), range(1, 6), range(5)
_MODES = ("explicit", "same_upper", "same_lower", "valid")
_ADAPTIVE, _ADAPTIVE_STEP = range(1, 65), 8
_CHANNELS = 4
"""As no case of the smaller tiers has: so none of them is made twice."""


def parts(operator: str) -> int:
    """Return how many parts the product of an operator has."""
    if operator == "AdaptiveAvgPool-8":
        return len(_ADAPTIVE) // _ADAPTIVE_STEP
    return len(_SIZES) * len(_KERNELS)


def exhaustive(operator: str, seed: int, part: int) -> Iterator[Case]:
    """Yield the cases of one part, counted from 1."""
    for plan in blueprints(operator, part):
        yield build(plan, seed=seed, tier="exhaustive")


def blueprints(operator: str, part: int) -> Iterator[Blueprint]:
    """Yield one part without data: each element type, while data patterns take turns."""
    return _adaptive(part) if operator == "AdaptiveAvgPool-8" else _pooling(operator, part)


def _adaptive(part: int) -> Iterator[Blueprint]:
    sizes = _ADAPTIVE[(part - 1) * _ADAPTIVE_STEP : part * _ADAPTIVE_STEP]
    patterns = ("impulses", "index", "normals")
    for d, o, dtype, pattern in product(sizes, _ADAPTIVE, FLOATS, patterns):
        yield adaptive.blueprint((1, _CHANNELS), [(d, o)], dtype, pattern)


def _pooling(operator: str, part: int) -> Iterator[Blueprint]:
    size, kernel = list(product(_SIZES, _KERNELS))[part - 1]
    patterns = ("index", "impulses", "negative")
    for turn, given in enumerate(_attributes(operator, kernel)):
        for shift, dtype in enumerate(FLOATS):
            pattern = patterns[(turn + shift) % len(patterns)]
            yield Blueprint(operator, given, (1, _CHANNELS, size), dtype, pattern, kernel)


def _attributes(operator: str, kernel: int) -> Iterator[dict[str, Any]]:
    for stride, begin, end in product(_STRIDES, _PADS, _PADS):
        if operator == "nGraph-AvgPool":
            for include in (False, True):
                yield {
                    "window_shape": [kernel],
                    "window_movement_strides": [stride],
                    "padding_below": [begin],
                    "padding_above": [end],
                    "include_padding_in_avg_computation": include,
                }
            continue
        for mode, rounding in product(_MODES, ("floor", "ceil")):
            for exclude in (True, False) if operator == "AvgPool-1" else (None,):
                yield {
                    "kernel": [kernel],
                    "strides": [stride],
                    "pads_begin": [begin],
                    "pads_end": [end],
                    "rounding_type": rounding,
                    "auto_pad": mode,
                    **({} if exclude is None else {"exclude_pad": exclude}),
                }
