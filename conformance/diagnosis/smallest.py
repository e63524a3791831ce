"""A call of a backend as a line of Python, for pasting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.dtypes import expression_of, name_of
from conformance.operators import as_called
from conformance.vector import Array, Case

_WRITTEN_OUT = 64
"""Elements of an array that are written out."""


def as_python(case: Case) -> str:
    """Return a call of `backend` with a case; "" where its data are too many to write out."""
    given, attributes = as_called(case)
    inputs = [_array(array) for array in given]
    if not all(inputs):
        return ""
    return f"backend({case.operator!r}, [{', '.join(inputs)}], {attributes!r})"


def _array(array: Array) -> str:
    """Return an expression that makes an array; "" if there is no short one."""
    dtype = expression_of(name_of(array.dtype))
    flat, shape = array.ravel(), tuple(array.shape)
    if len(flat) > 1 and len(set(flat.tolist())) == 1:
        return f"np.full({shape}, {_number(flat[0])}, {dtype})"
    if np.array_equal(flat, np.arange(1, len(flat) + 1)) and len(flat) > 2:
        return f"np.arange(1, {len(flat) + 1}).reshape{shape}.astype({dtype})"
    if len(flat) > _WRITTEN_OUT:
        return ""
    return f"np.array({_nested(array) if array.ndim else _number(flat[0])}, {dtype})"


def _nested(array: Array) -> str:
    return f"[{', '.join(_items(array))}]"


def _items(array: Array) -> Iterator[str]:
    for item in array:
        yield _number(item) if array.ndim == 1 else _nested(item)


def _number(value: np.generic) -> str:
    """Return a number, bit for bit but for the payload of a NaN."""
    text = str(value)
    if text == "nan" and np.signbit(value):
        text = "-nan"
    for word in ("nan", "inf"):
        text = text.replace(word, f"np.{word}")
    return text.removesuffix(".0")
