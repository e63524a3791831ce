"""Slips of the indices of maxima: which position is numbered, in planes of which sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from conformance.diagnosis.slips.cells import other_layouts
from conformance.diagnosis.slips.slip import Slip
from conformance.faults.atoms.indices import (
    FIELDS,
    INPUT,
    KEPT_IN,
    NUMBERED,
    PLANES,
    POSITION,
    POSITIONS,
    Number,
    at,
    changed,
    kept_in,
    meaning,
    numbered,
)
from conformance.faults.behaviour import INDEXED


def of_indices() -> Iterator[Slip]:
    """Yield slips of how the cells of maxima are numbered, and of what becomes of the numbers."""
    for position, plane in product(POSITIONS, PLANES):
        if (position, plane) != (POSITION, INPUT):
            words = f"{position.words}, for planes as large as {plane.words}"
            yield _numbered(words, at(position, plane))
    for other in NUMBERED:
        yield _numbered(f"the position {other.words}", other.of)
    for field in FIELDS:
        yield Slip(f"indices were {field.words}", "further", meaning(field), INDEXED)
    for words, change in other_layouts("the indices"):
        yield Slip(words, "further", changed(change), INDEXED)
    for kind in KEPT_IN:
        kept = changed(kept_in(kind))
        yield Slip(f"indices were kept in {kind}", "further", kept, INDEXED)


def _numbered(words: str, number: Number) -> Slip:
    return Slip(f"indices were made from {words}", "further", numbered(number), INDEXED)
