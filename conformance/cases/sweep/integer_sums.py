"""Averages of integers whose sums, or sums times counts, leave a type that is too narrow.

Every cell of a plane is the end of its element type, so that a sum grows as fast as it can and the
average is known. The least windows that pass a width follow from the type.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isqrt

import numpy as np

from conformance.cases.sweep import suited
from conformance.cases.sweep.sweep_model import case_of, case_of_axes
from conformance.dtypes import INTEGERS, dtype_of
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case

_SUM_BITS, _PRODUCT_BITS = 16, 32
"""Widths, in bits, that sums pass, and that sums times counts pass, whatever their sign."""


def integer_sums(operator: Operator) -> Iterator[Case]:
    """Yield windows of each narrow type of integers whose averages a document defines."""
    if not operator.rounds_integers:
        return
    words = next(suited.word_choices(operator))
    for dtype in (name for name in INTEGERS if name in operator.dtypes):
        ends = np.iinfo(dtype_of(dtype))
        for cells in _passing(ends.bits, int(ends.max)):
            spec = case_of_axes(operator, (1, 2), _window(operator, cells), words, dtype, "")
            data = np.empty(spec.shape, dtype_of(dtype))
            data[:, 0], data[:, 1] = ends.max, ends.min
            yield case_of(
                operator.name,
                spec.attributes,
                spec.own_inputs(data),
                pattern="ends",
                tier=suited.kind_tier(operator),
                tags=("sum beyond a narrower type",),
            )


def _passing(bits: int, most: int) -> Iterator[int]:
    """Yield the least cells whose sum passes 16 bits, and whose sum times their count 32.

    Of types of so many bits, a sum passes them anywhere, and of wider ones, both.
    """
    if bits < _SUM_BITS:
        yield 2**_SUM_BITS // most + 1
    if bits <= _SUM_BITS:
        yield isqrt(2**_PRODUCT_BITS // most) + 1


def _window(operator: Operator, cells: int) -> list[Axis]:
    """Return one window of at least so many cells, about square where there are two axes."""
    if not operator.takes_axes(2):
        return [Axis(cells, cells)]
    rows = isqrt(cells)
    return [Axis(side, side) for side in (rows, ceil(cells / rows))]
