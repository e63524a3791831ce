"""What the smallest failure needs: whatever it has that is not as plain as can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.reference.rounding import widen
from conformance.vector import Case

_PLAIN_TYPE = "float32"


@dataclass(frozen=True, slots=True)
class Signature:
    """Numbers that are no smaller and words that hold in every failure of the same cause.

    A failure that was shrunk could not do without what is left in it. Another failure that lacks
    some of it has another cause.
    """

    numbers: Mapping[str, int]
    words: frozenset[str]

    @classmethod
    def of(cls, case: Case) -> Signature:
        """Return what a case has."""
        data = case.data
        numbers = {"axes": data.ndim - 2}
        if data.ndim > 1:
            numbers |= {"batch": data.shape[0], "channels": data.shape[1]}
        for key, value in case.attributes.items():
            if isinstance(value, list) and value:
                numbers[key] = max(value)
        return cls(numbers, frozenset(_words(case)))

    def within(self, other: Signature) -> bool:
        """Say whether another case has all of this."""
        # What is not there is as small as can be.
        enough = all(other.numbers.get(key, 0) >= n for key, n in self.numbers.items() if n > 1)
        return enough and self.words <= other.words


def _words(case: Case) -> Iterator[str]:
    yield from (tag for tag in case.tags if tag != "invalid")
    for attribute in operator_named(case.operator).attributes:
        value: Any = case.attributes.get(attribute.key)
        if attribute.is_list:
            if value and any(n > 0 for n in value) and attribute.least == 0:
                yield f"some {attribute.key}"
        elif value is not None and attribute.meaning_of(value) not in attribute.meanings[:1]:
            yield f"{attribute.key}={value}"
    data = case.data
    if name_of(data.dtype) != _PLAIN_TYPE:
        yield f"data of {name_of(data.dtype)}"
    wide = widen(data) if data.dtype.kind not in "iu" else data
    if data.dtype.kind not in "iu" and not np.isfinite(wide).all():
        yield "data that are not finite"
