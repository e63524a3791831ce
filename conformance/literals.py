"""Elements and arrays as Python text."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.dtypes import OF_ML_DTYPES, dtype_of, expression_of, name_of
from conformance.vector import Array


def exact(value: Any, dtype: str) -> str:
    """Return the shortest decimal that reads back as this element of type `dtype`."""
    if dtype in OF_ML_DTYPES:
        # float32 holds all of these, and numpy knows its shortest decimals.
        dtype, value = "float32", float(value)
    element = dtype_of(dtype).type(value)
    if element == 0 and str(element).startswith("-"):
        return "-0.0"
    if abs(float(element)) < 1e6 and float(element).is_integer():
        return str(int(element))
    return str(element)


def array_expression(array: Array) -> tuple[str, list[str], str]:
    """Return an expression that makes an array: how it begins, its elements, and how it ends.

    It is the array bit for bit, but for the payload of a NaN; np and ml_dtypes are modules in it.
    The elements, with the brackets of nested lists, are to be joined by commas; there are none
    where a shorter form does without them.
    """
    name, shape = name_of(array.dtype), array.shape
    dtype = expression_of(name)
    elements = [_number(value, name) for value in array.ravel()]
    if not elements:
        return f"np.zeros({shape}, {dtype})", [], ""
    if not shape:
        return f"np.array({elements[0]}, {dtype})", [], ""
    if len(elements) > 1 and len(set(elements)) == 1:
        return f"np.full({shape}, {elements[0]}, {dtype})", [], ""
    count = len(elements) + 1
    with np.errstate(invalid="ignore"):  # bfloat16 warns of some NaNs
        is_ramp = count > 3 and np.array_equal(array.ravel(), np.arange(1, count))
    if is_ramp:
        return f"np.arange(1, {count}).reshape{shape}.astype({dtype})", [], ""
    size = 1
    for extent in reversed(shape[1:]):
        size *= extent
        for first in range(0, len(elements), size):
            elements[first] = f"[{elements[first]}"
            elements[first + size - 1] += "]"
    return "np.array([", elements, f"], {dtype})"


def _number(value: Any, dtype: str) -> str:
    text = exact(value, dtype)
    if text == "nan" and np.signbit(value):
        text = "-nan"
    return text.replace("nan", "np.nan").replace("inf", "np.inf")
