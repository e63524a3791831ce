"""A few hand-made cases, and a vector file of them: shared by the tests of reports and commands."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from conformance.operators import vector_of
from conformance.vector import Case, Vector
from conformance.vectorfile import VectorWriter

PLAIN = {"kernel": [2, 2], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0]}
PADDED = {"kernel": [3, 3], "strides": [2, 2], "pads_begin": [1, 1], "pads_end": [1, 1]}


def counted(*shape: int, dtype: str = "float32") -> np.ndarray[Any, np.dtype[Any]]:
    """Return 1, 2, 3, ... in an array."""
    return np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype)


def case(name: str, attributes: dict[str, Any], *shape: int, **others: Any) -> Case:
    """Return an AvgPool-1 case called AvgPool-1/`name`; exclude_pad is false unless given."""
    others = {"source": "AvgPool-1, Attributes", "pattern": "index"} | others
    dtype = others.pop("dtype", "float32")
    attributes = {"exclude_pad": False} | attributes
    inputs = (counted(*shape, dtype=dtype),)
    return Case(f"AvgPool-1/{name}", "AvgPool-1", attributes, inputs, **others)


def cases() -> list[Case]:
    """Return five AvgPool-1 cases: two plain, one disputed, one undefined, one invalid."""
    return [
        case("plain", PLAIN, 1, 1, 4, 4, tier="smoke", provenance="derived"),
        case("lower", PADDED | {"auto_pad": "same_lower"}, 1, 1, 6, 6),
        case("ceil", PADDED | {"rounding_type": "ceil"}, 1, 1, 6, 6),
        case(
            "empty-window",
            PLAIN | {"strides": [1, 1], "pads_end": [0, 2], "exclude_pad": True},
            *(1, 1, 4, 4),
        ),
        case("stride-zero", PLAIN | {"strides": [0, 2]}, 1, 1, 4, 4, tags=("invalid",)),
    ]


def write(path: Path, vectors: Iterable[Vector], **header: Any) -> Path:
    """Write vectors of AvgPool-1 to a file."""
    with VectorWriter(path, "AvgPool-1", header=header) as writer:
        for vector in vectors:
            writer.add(vector)
    return path


def write_cases(directory: Path) -> Path:
    """Write the cases above to AvgPool-1.h5 in a directory."""
    return write(directory / "AvgPool-1.h5", map(vector_of, cases()), strength=2)
