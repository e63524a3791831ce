"""Few shapes with many values: for engines that compile for each shape, seconds a vector."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, zip_longest
from math import prod

from conformance.cases.sweep.patterns import (
    AVERAGE_PATTERNS,
    INTEGER_PATTERNS,
    MAXIMUM_PATTERNS,
)
from conformance.cases.sweep.sweep_model import CaseSpec, Covered
from conformance.dtypes import FLOATS
from conformance.operators.operator import Operator

_CELLS = 4096
"""Cells of the largest data: many values of each window matter, not many windows."""


def few_shapes(operator: Operator, arrays: list[Covered], shapes: int) -> Iterator[CaseSpec]:
    """Yield the cases of so many combinations of shape, element type and attributes.

    They are those of the first rows of the covering arrays in turn, which cover the most
    interactions each. Every one has all patterns of data that its operator and element type have,
    but for those that would tell nothing.
    """
    sums = operator.reduction.sums
    for spec in islice(_specs(arrays), min(shapes, sys.maxsize)):
        floats = AVERAGE_PATTERNS if sums else MAXIMUM_PATTERNS
        for pattern in floats if spec.dtype in FLOATS else INTEGER_PATTERNS:
            yield replace(spec, pattern=pattern, tier="smoke", if_judgeable=True)


def _specs(arrays: list[Covered]) -> Iterator[CaseSpec]:
    """Yield different combinations of shape, type and attributes, without data."""
    seen = set()
    for turn, rows in enumerate(zip_longest(*(array.rows for array in arrays))):
        for array, row in zip(arrays, rows, strict=True):
            if row is None:
                continue
            spec = array.concrete(row, turn)
            key = repr((spec.shape, spec.dtype, sorted(spec.attributes.items()), spec.output_size))
            if prod(spec.shape) <= _CELLS and key not in seen:
                seen.add(key)
                yield spec
