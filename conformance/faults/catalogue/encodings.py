"""Faults of NaN that are encoded in another way than usual: with a sign, with a payload."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.dtypes import float_format, name_of
from conformance.faults.atoms.numbers import Change
from conformance.faults.behaviour import EVERY, Behaviour, Faults
from conformance.faults.catalogue.values import floats_alone, reducing
from conformance.reference.rounding import widen
from conformance.vector import Array

IsMeant = Callable[[Array, int], Any]
"""From the bits of numbers and the number of bits of a fraction: a mask, where they are NaN."""


def _nan_as(value: float, is_meant: IsMeant) -> Change:
    """Take some NaN as a number."""

    def change(data: Array) -> Array:
        fraction = float_format(name_of(data.dtype)).precision - 1
        bits = np.ascontiguousarray(data).view(f"u{data.itemsize}")
        mask = np.isnan(widen(data)) & is_meant(bits, fraction)
        return np.where(mask, data.dtype.type(value), data)

    return floats_alone(change)


def _is_negative(bits: Array, _fraction: int) -> Any:
    return bits >> (8 * bits.itemsize - 1) == 1


def _has_payload(bits: Array, fraction: int) -> Any:
    """Say whether the fraction has bits besides the first, which says that a NaN is quiet."""
    return bits & bits.dtype.type((1 << fraction - 1) - 1) != 0


_NAN = (
    ("negative-nan", "minus-infinity", _is_negative, "NaN with the sign bit", -np.inf),
    ("negative-nan", "zero", _is_negative, "NaN with the sign bit", 0.0),
    ("payload-nan", "infinity", _has_payload, "NaN with a payload", np.inf),
)

FAULTS: Faults = {
    f"{kind}-as-{name}": Behaviour(
        f"{words} taken as {name.replace('-', ' ')}", EVERY, reducing(_nan_as(value, is_meant))
    )
    for kind, name, is_meant, words, value in _NAN
}
