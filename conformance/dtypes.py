"""Element types by name, and the parameters of floating-point formats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

DType = np.dtype[Any]

HALVES = ("float16", "bfloat16")
FLOATS8 = ("float8_e4m3fn", "float8_e5m2")
"""Types of 8 bits, of which float8_e4m3fn has no infinities. A document takes them by name only."""
WIDE_FLOATS = (*HALVES, "float32", "float64")
"""Types of 16 bits and more, as most documents mean by floating point."""
FLOATS = (*WIDE_FLOATS, *FLOATS8)
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

OF_ML_DTYPES = ("bfloat16", *FLOATS8)
"""Types that numpy itself does not have."""

_BY_NAME: dict[str, DType] = {
    name: np.dtype(getattr(ml_dtypes, name) if name in OF_ML_DTYPES else name)
    for name in (*FLOATS, *INTEGERS)
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


def bits_of(dtype: DType) -> DType:
    """Return the type that stores another: unsigned integers for one that numpy does not have."""
    return np.dtype(f"u{dtype.itemsize}") if dtype.name in OF_ML_DTYPES else dtype


def expression_of(name: str) -> str:
    """Return a Python expression of the dtype called `name`, of the modules np and ml_dtypes."""
    return f"{'ml_dtypes' if name in OF_ML_DTYPES else 'np'}.{name}"


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary floating-point format.

    `precision` is the number of significand bits p, the leading one counted; `smallest` is the
    smallest subnormal number. Not every format has infinities.
    """

    name: str
    precision: int
    largest: float
    smallest_normal: float
    smallest: float
    has_infinity: bool = True

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
        has_infinity=bool(np.isinf(np.array(np.inf).astype(dtype_of(name)))),
    )
