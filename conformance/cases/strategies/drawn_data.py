"""Data of every kind from one short block of bytes, so that any of it shrinks to the plainest.

A mix says what a byte of the block means: a small integer, an infinity, a number anywhere in the
range of the type. The block does not depend on the shape or on the mix: while Hypothesis makes
these simpler, the block keeps its meaning as far as it can, and it shrinks by itself, down to
nothing, which is zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from conformance.cases.strategies.choices import Choices, blocks, chosen
from conformance.cases.sweep.patterns import SMALL, above_one, cancelling
from conformance.dtypes import (
    FLOATS,
    INTEGERS,
    DType,
    FloatFormat,
    dtype_of,
    float_format,
    is_known,
    name_of,
)
from conformance.errors import UsageError
from conformance.reference.rounding import narrow
from conformance.vector import Array

_T = TypeVar("_T")
_D = TypeVar("_D")
Doubles = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]  # of shape (cells, _WIDTH + 1)

_WIDTH = 10
_PLACES = 13
_SIGNS = ("any",) * 4 + ("negative",)  # a maximum below 0 needs a whole window below it
_SMALL = np.array([*range(SMALL + 1), *range(-1, -SMALL - 1, -1)], np.float64)


def _integers(codes: Codes, _fmt: FloatFormat) -> Doubles:
    """Small integers, whose sums are exact in every type."""
    return _further(_SMALL[codes[:, 0] % len(_SMALL)], codes)


def _impulses(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Few small integers among zeros, for which the bound is narrow."""
    return np.where(codes[:, 0] % 8 == 1, _integers(codes[:, 1:], fmt), 0.0)


def _normals(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Numbers around 1 with all their bits."""
    return _scaled(codes, codes[:, 1] % 5 - 3.0, fmt)


def _special(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Infinities, NaN, both zeros, the largest and tiny numbers among small integers."""
    ends = [fmt.largest, -fmt.largest, fmt.smallest_normal, fmt.smallest, -fmt.smallest]
    odd = [np.nan, np.inf, -np.inf, -0.0, *ends]
    plain = [0.0, 1.0, -1.0, 2.0, -3.0, 0.0, 1.0, -1.0]
    table = np.array([*plain[:4], *odd, *plain[4:]])
    values = table[codes[:, 0] % len(table)]
    return np.where(np.isin(values, [1.0, -1.0, 2.0, -3.0]), _further(values, codes), values)


def _cancellation(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Large numbers of both signs, and small ones that are left of their sum."""
    large = cancelling(fmt)
    table = np.array([0.0, 1.0, large, -large, 0.5, -0.25, large + 1, -large])
    return table[codes[:, 0] % len(table)]


def _ties(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Neighbours of 1, whose averages lie halfway between two numbers."""
    ulps = codes[:, 0] % 16
    return np.where(ulps == 0, 0.0, above_one(ulps - 1.0, fmt))


def _extremes(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Numbers at both ends of the range: sums that overflow, subnormal numbers."""
    top, bottom = np.log2(fmt.largest) // 1, np.log2(fmt.smallest)
    below = codes[:, 1] % 4
    above = codes[:, 1] % (fmt.precision + 4)
    return _scaled(codes, np.where(codes[:, 0] % 4 < 2, top - below, bottom + above), fmt)


def _any(codes: Codes, fmt: FloatFormat) -> Doubles:
    """Numbers from the whole range of the type."""
    least, top = int(np.log2(fmt.smallest)), int(np.log2(fmt.largest) // 1)
    number = (codes[:, 1].astype(np.int64) | codes[:, 2].astype(np.int64) << 8) % (top - least + 1)
    # 0, -1, 1, -2, 2, ... as far as both go, so that simple bytes are numbers around 1.
    exponent = np.where(number % 2, -(number + 1) // 2, number // 2)
    if len(codes) and codes[0, 1] % 2 == 0:
        # Near each other, so that the large ones do not hide the others.
        exponent = exponent[0] + codes[:, 1] % 4
    return _scaled(codes, np.clip(exponent, least, top), fmt)


def _scaled(codes: Codes, exponent: npt.ArrayLike, fmt: FloatFormat) -> Doubles:
    """Return +-(1 + m) 2**exponent with every bit of m in use; 0 where the first byte is."""
    digits = codes[:, 3:_WIDTH].astype(np.float64) @ 2.0 ** -np.arange(8.0, 8 * (_WIDTH - 2), 8)
    sign = np.where(codes[:, 0] == 0, 0.0, np.where(codes[:, 0] % 2, 1.0, -1.0))
    with np.errstate(over="ignore", under="ignore"):
        values = np.ldexp((1.0 + digits), np.asarray(exponent).astype(np.int64))
    return sign * np.minimum(values, fmt.largest)


_FLOATING: dict[str, Callable[[Codes, FloatFormat], Doubles]] = {
    "integers": _integers,
    "impulses": _impulses,
    "normals": _normals,
    "special": _special,
    "cancellation": _cancellation,
    "ties": _ties,
    "extremes": _extremes,
    "any": _any,
}
_OFTEN = {"integers": 4, "impulses": 2, "normals": 4, "special": 4, "any": 2}

MIXES = tuple(_FLOATING)
"""What data may hold, the plainest first; integer types know the mixes in `WHOLE`."""
WHOLE = ("integers", "impulses", "extremes", "any")

FILLS: Choices = {"rising": (False, True), "sign": _SIGNS}
"""Choices of a filling, beside its mix; the rest is in the bytes that `FILL_BYTES` draws."""
FILL_BYTES = st.binary(max_size=48)


def arrays(
    dtype: str | DType, shape: Sequence[int], *, mixes: Sequence[str] | None = None
) -> st.SearchStrategy[Array]:
    """Return a strategy for data of one type and shape.

    `mixes` are names in `MIXES`, by default all that the type can hold. Shrinks to zeros, to
    equal numbers, to a short repeated block of small integers. Raises UsageError for an unknown
    type or mix.

        @given(arrays("float16", (1, 3, 8, 8), mixes=["integers", "special"]))
        def test_nan_stays(data): ...
    """
    name = known_dtype(dtype)
    choices: Choices = {"mix": mixes_of(name, mixes), **FILLS}
    return shown(
        st.tuples(blocks(choices), FILL_BYTES),
        lambda drawn: filled(drawn[1], name, tuple(shape), **next(chosen(drawn[0], choices))),
    )


@st.composite
def shown(draw: st.DrawFn, drawn: st.SearchStrategy[_D], made: Callable[[_D], _T]) -> _T:
    """Return a strategy for what is made of a draw; failing examples are shown as what they are.

    What `drawn.map(made)` makes, Hypothesis would show as calls.
    """
    return made(draw(drawn))


def mixes_of(dtype: str, mixes: Sequence[str] | None = None) -> list[str]:
    """Return the mixes to choose from, of those given or of all that an element type can hold.

    The plainest first, each as often as it is to come up; UsageError for what it cannot hold.
    """
    can = MIXES if dtype in FLOATS else WHOLE
    if unknown := [mix for mix in mixes or () if mix not in can]:
        raise UsageError(f"unknown mix {unknown[0]!r} of {dtype}; there are {', '.join(can)}")
    if mixes is not None and not mixes:
        raise UsageError("mixes is empty: it chooses nothing; None chooses everything")
    chosen_mixes = [mix for mix in can if mixes is None or mix in mixes]
    return [mix for mix in chosen_mixes for _ in range(_OFTEN.get(mix, 1))]


def known_dtype(dtype: str | DType) -> str:
    """Return the suite's name of an element type; UsageError if there is none."""
    if isinstance(dtype, str):
        if dtype in FLOATS or dtype in INTEGERS:
            return dtype
    elif is_known(np.dtype(dtype)):
        return name_of(np.dtype(dtype))
    raise UsageError(f"unknown element type {dtype!r}; there are {', '.join((*FLOATS, *INTEGERS))}")


def filled(
    block: bytes, dtype: str, shape: tuple[int, ...], *, mix: str, rising: bool, sign: str
) -> Array:
    """Return data of a type and shape that a block, a mix and the choices in `FILLS` stand for."""
    codes = _codes(block, prod(shape), rising=rising)
    if dtype in FLOATS:
        values = narrow(_FLOATING[mix](codes, float_format(dtype)), dtype)
    else:
        values = _whole(mix, codes, dtype_of(dtype))
    if sign == "negative" and values.dtype.kind != "u":
        with np.errstate(invalid="ignore"):  # NaN
            values = np.where(values > 0, -values, values)
    return values.reshape(shape)


def _codes(block: bytes, count: int, *, rising: bool) -> Codes:
    """Return the bytes of each cell, and its place if it is `rising`.

    The place tells a cell from others with the same bytes: by its magnitude, or the last bits of
    it. It adds no sign, no zero and nothing odd, else data would shrink to a long row of which
    the last cell matters.
    """
    codes = np.zeros((count, _WIDTH + 1), np.uint8)
    byte = np.arange(_WIDTH)
    if block:
        # A cell has the bytes from its own on, so that a short block makes as many numbers.
        cell = np.arange(min(count, len(block)))[:, np.newaxis]
        period = np.frombuffer(block, np.uint8)[(cell + 3 * byte) % len(block)]
        codes[:, :_WIDTH] = np.resize(period, (count, _WIDTH))
    if rising:
        place = np.resize(np.arange(1, _PLACES + 1, dtype=np.uint8), (count, 1))
        codes[:, 3:_WIDTH] += place * (2 * byte[3:] + 1).astype(np.uint8)
        codes[:, _WIDTH:] = place
    return codes


def _further(values: Doubles, codes: Codes) -> Doubles:
    """Return numbers moved away from zero by the place of each."""
    place = codes[:, -1].astype(np.float64)
    return values + np.where(values < 0, -place, place)


def _whole(mix: str, codes: Codes, dtype: DType) -> Array:
    ends = np.iinfo(dtype)
    if mix == "extremes":
        table = [0, 1, ends.max, ends.min, ends.max - 1, ends.min + 1, ends.max // 2 + 1, 2]
        return np.array(table, dtype)[codes[:, 0] % len(table)]
    if mix == "any":
        return np.ascontiguousarray(codes[:, : dtype.itemsize]).view(dtype)[:, 0]
    values = (_integers if mix == "integers" else _impulses)(codes, float_format("float32"))
    return np.asarray((np.abs(values) if ends.min == 0 else values).astype(dtype))
