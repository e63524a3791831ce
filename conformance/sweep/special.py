"""Cases no covering array of small numbers reaches: long axes, many planes, nothing to pool.

Each names what it is for in its tags. The lists are about kinds of numbers, not about faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.sweep import adaptive
from conformance.sweep.model import Blueprint, build, case_of
from conformance.vector import Case, Tier

_Ints = tuple[int, ...]
# Shape, kernel, strides, begin, end.
_Numbers = tuple[_Ints, _Ints, _Ints, _Ints, _Ints]

_LONG: dict[str, _Numbers] = {
    "more than 65,536 positions": ((1, 1, 65801), (3,), (1,), (1,), (0,)),
    "more than 65,536 in a plane": ((1, 1, 259, 263), (2, 5), (3, 4), (1, 0), (0, 2)),
    "more than 65,536 in a volume": ((1, 1, 41, 42, 43), (2, 1, 3), (3, 2, 4), (0, 0, 1), (1, 0, 1)),  # noqa: E501 - a row of numbers
    "more than 65,536 channels": ((1, 65539, 2), (2,), (1,), (0,), (0,)),
    "more than 256 in a batch": ((259, 2, 4, 3), (3, 2), (2, 1), (1, 0), (0, 1)),
    "more than 1,024 channels": ((2, 1031, 5), (3,), (2,), (1,), (1,)),
    "more than 255 cells in a window": ((1, 2, 20, 21), (17, 16), (1, 2), (2, 0), (0, 1)),
    "more than 65,536 cells in a window": ((1, 1, 257, 260), (257, 259), (1, 1), (0, 0), (0, 0)),
}  # fmt: skip

_IN_SMOKE = (
    "more than 65,536 in a plane",
    "more than 256 in a batch",
    "more than 1,024 channels",
    "more than 255 cells in a window",
    "i d beyond 2**24",
    "begin pads of a whole kernel",
    "a window past the input",
    "a window past the end padding",
)

# Layers of published networks, with small channel counts.
_COMMON: dict[str, _Numbers] = {
    "stem of ResNet": ((1, 2, 61, 56), (3, 3), (2, 2), (1, 1), (1, 1)),
    "halving": ((1, 2, 28, 30), (2, 2), (2, 2), (0, 0), (0, 0)),
    "Inception": ((1, 2, 35, 17), (3, 3), (1, 1), (1, 1), (1, 1)),
    "odd sizes, no pads": ((1, 2, 61, 29), (3, 3), (2, 2), (0, 0), (0, 0)),
    "large window": ((1, 2, 29, 30), (7, 7), (4, 4), (3, 3), (3, 3)),
    "global": ((1, 8, 7, 7), (7, 7), (1, 1), (0, 0), (0, 0)),
    "pyramid, 5": ((1, 2, 13, 13), (5, 5), (1, 1), (2, 2), (2, 2)),
    "pyramid, 9": ((1, 2, 13, 13), (9, 9), (1, 1), (4, 4), (4, 4)),
    "pyramid, 13": ((1, 2, 13, 13), (13, 13), (1, 1), (6, 6), (6, 6)),
    "stride alone": ((1, 3, 14, 13), (1, 1), (2, 2), (0, 0), (0, 0)),
    "neighbours": ((1, 3, 9, 10), (2, 2), (1, 1), (0, 0), (0, 0)),
    "thirds": ((1, 3, 20, 17), (3, 3), (3, 3), (0, 0), (0, 0)),
    "halving a volume": ((1, 2, 8, 9, 10), (2, 2, 2), (2, 2, 2), (0, 0, 0), (0, 0, 0)),
    "halving a volume with pads": ((1, 2, 7, 8, 9), (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)),
    "smallest": ((1, 1, 1), (1,), (1,), (0,), (0,)),
    "video": ((1, 2, 7, 14, 13), (2, 3, 3), (2, 2, 2), (0, 1, 1), (0, 1, 1)),
    "sequence": ((2, 3, 199), (5,), (3,), (2,), (2,)),
}

# Pads against kernels, one axis of two; every way a window of padding alone arises.
_ALL_PADDING: dict[str, _Numbers] = {
    "begin pads of a whole kernel": ((1, 2, 5, 4), (2, 3), (1, 2), (2, 0), (0, 1)),
    "end pads of a whole kernel": ((1, 2, 5, 4), (3, 2), (2, 1), (1, 0), (0, 2)),
    "pads above the kernel on both ends": ((1, 2, 3, 4), (2, 2), (1, 1), (3, 1), (3, 1)),
    "a corner of padding alone": ((1, 2, 4, 3), (2, 2), (1, 1), (2, 2), (2, 2)),
    "a window past the input": ((1, 2, 6, 5), (1, 2), (2, 3), (0, 0), (0, 0)),
    "a window past the end padding": ((1, 2, 5, 4), (3, 2), (4, 3), (1, 1), (1, 0)),
}

_TOO_LARGE: dict[str, _Numbers] = {
    "kernel above the padded input": ((1, 2, 3, 4), (2, 6), (1, 1), (0, 1), (0, 0)),
    "kernel above the padded input, stride above": ((1, 2, 3), (5,), (3,), (1,), (0,)),
}
_EMPTY: dict[str, _Numbers] = {
    f"empty {what}": (shape, (2, 2), (1, 2), (0, 0), (0, 0))
    for what, shape in (("batch", (0, 3, 4, 5)), ("channels", (2, 0, 4, 5)), ("axis", (1, 2, 0, 3)))
}

_LONG_ADAPTIVE: dict[str, tuple[tuple[int, int], list[adaptive.Sizes]]] = {
    "i d beyond 2**24": ((1, 1), [(6007, 4001)]),
    "i d beyond 2**31": ((1, 1), [(70001, 40009)]),
    "more than 65,536 positions": ((1, 1), [(301, 257), (2, 256)]),
    "more than 1,024 channels": ((1, 1031), [(5, 3)]),
    "more than 256 in a batch": ((259, 2), [(4, 3), (3, 2)]),
    "264 channels": ((1, 264), [(5, 3), (3, 2)]),
    "global": ((1, 8), [(7, 1), (7, 1)]),
    "more than 255 cells in a window": ((1, 2), [(300, 1)]),
    "more than 65,536 cells in a window": ((1, 1), [(257, 1), (260, 1)]),
    "more than 65,536 channels": ((1, 65539), [(2, 1)]),
    "17 channels of a volume": ((1, 17), [(3, 2), (4, 3), (2, 3)]),
    "2 to 83": ((1, 2), [(2, 83)]),
    "three hard pairs": ((1, 2), [(11, 7), (14, 13), (5, 3)]),
    # Where i d / o is right in doubles only if the product comes before the division.
    **{
        f"{d} to {o}, hard in doubles": ((1, 2), [(d, o)])
        for d, o in ((30, 22), (14, 50), (7, 49), (22, 22), (6, 10), (14, 6))
    },
}


def special(operator: str, seed: int) -> Iterator[Case]:
    """Yield the special cases of an operator, in the standard tier or, small ones, in smoke."""
    if operator == "AdaptiveAvgPool-8":
        yield from _special_adaptive(seed)
        return
    pattern = "index" if operator == "MaxPool-1" else "impulses"
    for tag, numbers in _LONG.items():
        attributes = next(_attributes(operator, numbers))
        yield _case(operator, attributes, numbers, "float32", pattern, seed, tag)
    for tag, numbers, attributes in _tagged(operator, _COMMON):
        for dtype in FLOATS[::2]:
            yield _case(operator, attributes, numbers, dtype, "integers", seed, tag)
    for tag, numbers, attributes in _tagged(operator, _ALL_PADDING):
        yield _case(operator, attributes, numbers, "float32", "negative", seed, tag)
        yield _case(operator, attributes, numbers, "float16", "integers", seed, tag)
    for tag, numbers, attributes in _tagged(operator, _TOO_LARGE):
        yield _case(operator, attributes, numbers, "float32", "integers", seed, tag)
    for tag, numbers, attributes in _tagged(operator, _EMPTY):
        yield _case(operator, attributes, numbers, "float32", "zeros", seed, tag)
    if operator == "nGraph-AvgPool":
        yield from _integer_averages()
    if operator == "MaxPool-1":
        yield from _integer_maxima(seed)


def _integer_maxima(seed: int) -> Iterator[Case]:
    numbers = _COMMON["stem of ResNet"]
    attributes = next(_attributes("MaxPool-1", numbers))
    for dtype, pattern in product(INTEGERS, ("extremes", "negative", "lowest")):
        yield _case("MaxPool-1", attributes, numbers, dtype, pattern, seed, f"type {dtype}")


def _special_adaptive(seed: int) -> Iterator[Case]:
    for tag, (planes, pairs) in _LONG_ADAPTIVE.items():
        pattern = "normals" if prod(d for d, _ in pairs) < 5_000 else "impulses"
        plan = adaptive.blueprint(planes, pairs, "float32", pattern, tags=(tag,))
        source = "AdaptiveAvgPool-8, Detailed description"
        tier: Tier = "smoke" if tag in _IN_SMOKE else "standard"
        yield build(plan, seed=seed, tier=tier, source=source)
    shapes = [numbers[0] for numbers in _EMPTY.values()]
    for shape, o in product((*shapes, (1, 2, 4, 5)), (2, 0)):
        pairs = [(d, o) for d in shape[2:]]
        tags = ("empty dimension",)
        yield build(
            adaptive.blueprint((shape[0], shape[1]), pairs, "float32", "zeros", tags=tags),
            seed=seed,
        )


def _tagged(
    operator: str, kinds: dict[str, _Numbers]
) -> Iterator[tuple[str, _Numbers, dict[str, Any]]]:
    for tag, numbers in kinds.items():
        for attributes in _attributes(operator, numbers):
            yield tag, numbers, attributes


def _attributes(operator: str, numbers: _Numbers) -> Iterator[dict[str, Any]]:
    _, kernel, strides, begin, end = (list(part) for part in numbers)
    if operator == "nGraph-AvgPool":
        for include in (False, True):
            yield {
                "window_shape": kernel,
                "window_movement_strides": strides,
                "padding_below": begin,
                "padding_above": end,
                "include_padding_in_avg_computation": include,
            }
        return
    for up in (False, True):
        for exclude in (True, False) if operator == "AvgPool-1" else (None,):
            yield {
                "kernel": kernel,
                "strides": strides,
                "pads_begin": begin,
                "pads_end": end,
                "rounding_type": "ceil" if up else "floor",
                **({} if exclude is None else {"exclude_pad": exclude}),
            }


def _case(
    operator: str,
    attributes: dict[str, Any],
    numbers: _Numbers,
    dtype: str,
    pattern: str,
    seed: int,
    tag: str,
) -> Case:
    shape, kernel = numbers[0], numbers[1]
    smoke = tag in _IN_SMOKE and (dtype, pattern) != ("float16", "integers")
    plan = Blueprint(operator, attributes, shape, dtype, pattern, prod(kernel), tags=(tag,))
    return build(plan, seed=seed, tier="smoke" if smoke else "standard")


def _integer_averages() -> Iterator[Case]:
    # The averages that engines dispute are halves and thirds.
    for name in ("int8", "uint8", "int32", "int64"):
        data = np.array([[1, 2, 4, 7], [2, 3, 5, 9]], dtype_of(name)).reshape(1, 1, 2, 4)
        yield case_of(
            "nGraph-AvgPool",
            {"window_shape": [1, 2], "window_movement_strides": [1, 2]},
            (data,),
            pattern="integers",
            source="nGraph AvgPool, Inputs, Element Type",
            tags=("integer average",),
        )
