"""Faults of floating-point types of 8 bits: one taken for the other, numbers that are lost."""

from __future__ import annotations

from conformance.dtypes import FLOATS8, name_of
from conformance.faults.atoms.numbers import (
    LARGEST_IF_INFINITE,
    ZERO_IF_SUBNORMAL,
    Number,
    of_floats,
    on_cells,
    rounded_to,
)
from conformance.faults.behaviour import Behaviour, Faults
from conformance.operators.needs import Needs


def _cells(number: Number, *types: str) -> Behaviour:
    """Take cells of some types as other numbers; other types are right."""
    change = of_floats(number)
    return Behaviour(
        f"as if cells of {' and '.join(types)} were {number.words}",
        Needs(dtypes=types),
        {"reduce": on_cells(lambda a: change(a) if name_of(a.dtype) in types else a)},
    )


FAULTS: Faults = {
    "float8-subnormals-as-zero": _cells(ZERO_IF_SUBNORMAL, *FLOATS8),
    "float8_e4m3fn-through-float8_e5m2": _cells(rounded_to("float8_e5m2"), "float8_e4m3fn"),
    "float8_e5m2-through-float8_e4m3fn": _cells(rounded_to("float8_e4m3fn"), "float8_e5m2"),
    "float8_e5m2-without-infinities": _cells(LARGEST_IF_INFINITE, "float8_e5m2"),
}
