"""The exhaustive tier: a full product of small numbers on one axis, streamed.

Geometry is separable, so every combination of size, kernel, stride and pads of one axis under
every attribute is what the covering arrays sample; here nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from conformance.dtypes import FLOATS
from conformance.sweep import adaptive
from conformance.sweep.model import Blueprint, build
from conformance.vector import Case

_SIZES, _KERNELS, _STRIDES, _PADS = range(1, 12), range(1, 7), range(1, 6), range(5)
_MODES = ("explicit", "same_upper", "same_lower", "valid")
_ADAPTIVE = range(1, 65)


def exhaustive(operator: str, seed: int) -> Iterator[Case]:
    """Yield the full product of one operator; element types and patterns take turns."""
    if operator == "AdaptiveAvgPool-8":
        for turn, (d, o) in enumerate(product(_ADAPTIVE, _ADAPTIVE)):
            for pattern in ("impulses", "index", "normals"):
                plan = adaptive.blueprint((1, 1), [(d, o)], FLOATS[turn % 4], pattern)
                yield build(plan, seed=seed, tier="exhaustive")
        return
    for turn, attributes in enumerate(_attributes(operator)):
        size, given = attributes
        kernel = next(given[key][0] for key in ("kernel", "window_shape") if key in given)
        pattern = ("index", "impulses", "negative")[turn % 3]
        plan = Blueprint(operator, given, (1, 1, size), FLOATS[turn // 3 % 4], pattern, kernel)
        yield build(plan, seed=seed, tier="exhaustive")


def _attributes(operator: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for d, k, s, begin, end in product(_SIZES, _KERNELS, _STRIDES, _PADS, _PADS):
        if operator == "nGraph-AvgPool":
            for include in (False, True):
                yield (
                    d,
                    {
                        "window_shape": [k],
                        "window_movement_strides": [s],
                        "padding_below": [begin],
                        "padding_above": [end],
                        "include_padding_in_avg_computation": include,
                    },
                )
            continue
        for mode, rounding in product(_MODES, ("floor", "ceil")):
            for exclude in (True, False) if operator == "AvgPool-1" else (None,):
                yield (
                    d,
                    {
                        "kernel": [k],
                        "strides": [s],
                        "pads_begin": [begin],
                        "pads_end": [end],
                        "rounding_type": rounding,
                        "auto_pad": mode,
                        **({} if exclude is None else {"exclude_pad": exclude}),
                    },
                )
