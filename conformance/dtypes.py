"""Element types by name, and the parameters of floating-point formats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

DType = np.dtype[Any]

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

_BY_NAME: dict[str, DType] = {
    **{name: np.dtype(name) for name in (*FLOATS, *INTEGERS) if name != "bfloat16"},
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
_BY_DTYPE = {dtype: name for name, dtype in _BY_NAME.items()}


def dtype_of(name: str) -> DType:
    """Return the numpy dtype called `name`; KeyError if the suite has no such element type."""
    return _BY_NAME[name]


def name_of(dtype: DType) -> str:
    """Return the suite's name of `dtype`; KeyError if the suite has no such element type."""
    return _BY_DTYPE[dtype]


def is_known(dtype: DType) -> bool:
    """Say whether the suite has an element type `dtype`."""
    return dtype in _BY_DTYPE


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary floating-point format.

    `precision` is the number of significand bits p, the leading one counted; `smallest` is the
    smallest subnormal number.
    """

    name: str
    precision: int
    largest: float
    smallest_normal: float
    smallest: float

    @property
    def unit(self) -> float:
        """Unit roundoff u = 2**-p: half the spacing just above one."""
        return 2.0**-self.precision


@cache
def float_format(name: str) -> FloatFormat:
    """Return the format of a floating-point element type, by the type's name."""
    info: Any = ml_dtypes.finfo(dtype_of(name))  # type: ignore[no-untyped-call]
    return FloatFormat(
        name=name,
        precision=int(info.nmant) + 1,
        largest=float(info.max),
        smallest_normal=float(info.smallest_normal),
        smallest=float(info.smallest_subnormal),
    )
