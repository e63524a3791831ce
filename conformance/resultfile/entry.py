"""What is stored for one vector, and what both layouts check of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import DType, is_known, name_of
from conformance.vectorfile.layout import MAX_EXTENT
from conformance.workers.answer import Returned

_MAX_RANK = 32
_MAX_TEXT = 300


class Unsound(ValueError):  # noqa: N818 - a state of the file, not of the program
    """Something stored is not what it has to be; the text says what."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """No arrays: the backend raised, or said that it does not support the case."""

    unsupported: bool
    text: str


Found = tuple[Returned, ...] | Refusal
"""The outputs of a vector, as many as are stored, or why there are none."""


def shape_of(shape: Sequence[Any]) -> tuple[int, ...]:
    """Return a stored shape; Unsound unless it is one that an output can have."""
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise Unsound(f"shape {_short(str(shape))} is not one of integers from 0")
    if len(shape) > _MAX_RANK or prod(max(extent, 1) for extent in shape) > MAX_EXTENT:
        raise Unsound(
            f"shape {_short(str(tuple(shape)))} has more than {_MAX_RANK} axes or "
            f"{MAX_EXTENT} elements"
        )
    return tuple(shape)


def type_name(dtype: DType) -> str:
    """Return the name of a stored element type, also of one that the suite does not have.

    Two bytes without a meaning are bfloat16: that is how numpy stores its arrays.
    """
    native = dtype.newbyteorder("=")
    if native == np.dtype("V2"):
        return "bfloat16"
    return name_of(native) if is_known(native) else _short(str(dtype))


def line_of(text: str) -> str:
    """Return a stored text as one line of bounded length."""
    return _short(" ".join(text.split()))


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."
