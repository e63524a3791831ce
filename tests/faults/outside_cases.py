"""Cases of MinimumPool-1, the operator in tests/outside: varied enough to try faults on."""

from __future__ import annotations

import random

import numpy as np

from conformance.dtypes import dtype_of
from conformance.operators import OPERATORS, vector_of
from conformance.vector import Case, Vector

NAME = "MinimumPool-1"
MODES = ("explicit", "explicit", "explicit", "same_upper", "same_lower", "valid")


def minimum_vectors(count: int = 700) -> list[Vector]:
    """Return vectors of random windows over 1 to 3 axes, special ones and invalid ones."""
    rng = random.Random(0)
    drawn = (_drawn(rng, f"{NAME}/drawn-{n}") for n in range(count))
    return [vector_of(case) for case in (*drawn, *_special(), *_invalid())]


def _drawn(rng: random.Random, name: str) -> Case:
    axes = rng.choice((1, 2, 2, 3))
    sizes = [rng.randint(2, 7 if axes < 3 else 4) for _ in range(axes)]
    kernel = [rng.randint(1, 4) for _ in sizes]
    pads = [rng.randint(0, k - 1) for k in (*kernel, *kernel)]
    attributes = {
        "window": kernel,
        "step": [rng.randint(1, 3) for _ in sizes],
        "pads": pads if rng.random() < 0.7 else [0] * len(pads),
        "round_up": rng.randint(0, 1),
        "mode": rng.choice(MODES),
    }
    optional = [key for key in ("step", "pads", "round_up", "mode") if rng.random() < 0.15]
    given = {key: value for key, value in attributes.items() if key not in optional}
    shape = (rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 3, 8)), *sizes)
    return Case(name, NAME, given, (_numbers(rng, shape, rng.choice(OPERATORS[NAME].dtypes)),))


def _special() -> list[Case]:
    """Return large cases and special numbers."""
    rng = random.Random(1)
    row = {"window": [2], "step": [2]}
    shapes = [(3, 9, 33), (257, 5, 2), (1, 300, 2), (2, 40, 5), (1, 16, 4), (1, 1, 140000)]
    cases = [(f"row-{i}", row, _numbers(rng, shape, "float32")) for i, shape in enumerate(shapes)]
    long = {"window": [300], "step": [1]}
    cases.append(("long-window", long, -np.arange(301, dtype=np.float32).reshape(1, 1, 301)))
    wide = {"window": [20, 2], "step": [1, 1]}
    cases.append(("tall-window", wide, _numbers(rng, (1, 1, 24, 30), "float32")))
    seven = {"window": [7], "step": [1]}
    cases.append(("window-of-seven", seven, _numbers(rng, (1, 1, 12), "float32")))
    beyond = {"window": [1], "pads": [0, 1]}
    cases.append(("starts-in-end-padding", beyond, _numbers(rng, (1, 1, 4), "float32")))
    types = OPERATORS[NAME].dtypes
    cases += [(f"row-of-{dtype}", row, _numbers(rng, (1, 2, 16), dtype)) for dtype in types]
    for value in (np.nan, np.inf, -np.inf):
        data = _numbers(rng, (2, 3, 12), "float64")
        data[..., ::5] = value
        cases.append((f"holds-{value}", row, data))
    big = np.array([2**53 + 1, 2**53 + 3, 2**31 + 3, 2**31 + 1, 2**24 + 1, 2**24], np.int64)
    cases.append(("large-integers", row, big.reshape(1, 1, 6)))
    ends = np.array([-128, -127, 127, 126, -128, 5], np.int8)
    cases.append(("ends-of-int8", row, ends.reshape(1, 1, 6)))
    return [Case(f"{NAME}/{name}", NAME, given, (data,)) for name, given, data in cases]


def _invalid() -> list[Case]:
    """Return cases that break a rule each."""
    good = {"window": [2, 3], "step": [2, 1], "pads": [1, 0, 0, 1], "round_up": 0}
    broken = [
        {"window": [0, 3]},
        {"window": [-2, 3]},
        {"window": [2]},
        {"window": [2, 3, 1]},
        {"step": [0, 1]},
        {"step": [-2, 1]},
        {"step": [2]},
        {"pads": [-1, 0, 0, 1]},
        {"pads": [1, 0, 0, -1]},
        {"pads": [1, 0, 0]},
        {"round_up": 2},
        {"mode": "nearest"},
    ]
    data = np.arange(1, 31, dtype=np.float32).reshape(1, 1, 5, 6)
    cases = [Case(f"{NAME}/bad-{i}", NAME, {**good, **b}, (data,)) for i, b in enumerate(broken)]
    least = {key: value for key, value in good.items() if key != "window"}
    cases.append(Case(f"{NAME}/no-window", NAME, least, (data,)))
    six = {"window": [1] * 4}
    cases.append(Case(f"{NAME}/six", NAME, six, (data.reshape(1, 1, 5, 1, 1, 6),)))
    return cases


def _numbers(rng: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return numbers of both signs that differ."""
    size = int(np.prod(shape))
    values = np.array(rng.sample(range(-size, size + 1), size), np.float64)
    if dtype.startswith("uint"):
        values = np.abs(values)
    return values.reshape(shape).astype(dtype_of(dtype))
