"""Sets of combinations of readings, in a space that each operator has to itself.

A combination gives a reading to every disputed clause of an operator. A set of combinations is a
boolean array with one axis per clause and one index per reading; where one is stored per vector,
it is a bit set: an integer with the bit of each combination. Clauses of other operators take no
part in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from conformance.operators import Clause, disputed_of, operator_named
from conformance.vector import Combination

Bools = npt.NDArray[np.bool_]
BitSet = int
"""A set of combinations: bit n is the n-th of a flat array, in C order."""


@cache
def reading_space(operator: str) -> ReadingSpace:
    """Return the space of an operator's disputed clauses; UsageError for an unknown operator."""
    return ReadingSpace(disputed_of(operator_named(operator)))


@dataclass(frozen=True, eq=False)
class ReadingSpace:
    """All combinations of the readings of some disputed clauses, and sets of them."""

    clauses: tuple[Clause, ...]

    @cached_property
    def readings(self) -> dict[str, tuple[str, ...]]:
        """Names of the readings of each clause, in the order of the axes."""
        return {
            clause.name: tuple(reading.name for reading in clause.readings)
            for clause in self.clauses
        }

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of readings of each clause: the shape of a set."""
        return tuple(map(len, self.readings.values()))

    def disputed_in(self, clauses: Mapping[str, object]) -> tuple[str, ...]:
        """Return the disputed clauses of the operator among those that apply to a vector."""
        return tuple(name for name in self.readings if name in clauses)

    @cached_property
    def _sets(self) -> dict[str, dict[str, BitSet]]:
        """The combinations with each reading of each clause."""
        index = np.indices(self.shape)
        return {
            clause: {name: self.pack(axis == number) for number, name in enumerate(readings)}
            for axis, (clause, readings) in zip(index, self.readings.items(), strict=True)
        }

    def bits_of(self, combinations: Iterable[Combination]) -> BitSet:
        """Return the combinations that agree with one of some partial ones; KeyError if unknown."""
        united = 0
        for partial in combinations:
            agreeing = (1 << prod(self.shape)) - 1
            for clause, reading in partial.items():
                agreeing &= self._sets[clause][reading]
            united |= agreeing
        return united

    def allowed_by(self, pins: Mapping[str, str]) -> BitSet:
        """Return the combinations with the readings that are required of these clauses."""
        own = {clause: reading for clause, reading in pins.items() if clause in self.readings}
        return self.bits_of([own])

    def pack(self, members: Bools) -> BitSet:
        """Return a set as a bit set."""
        return int.from_bytes(np.packbits(members, bitorder="little"), "little")

    def unpack(self, bits: BitSet) -> Bools:
        """Undo `pack`."""
        size = prod(self.shape)
        packed = np.frombuffer(bits.to_bytes(-(-size // 8), "little"), np.uint8)
        flat = np.unpackbits(packed, count=size, bitorder="little")
        return flat.view(np.bool_).reshape(self.shape)

    def combinations_in(
        self, bits: BitSet, clauses: Iterable[str]
    ) -> tuple[Mapping[str, str], ...]:
        """Return a bit set as combinations of the readings of some clauses, first ones first.

        Thousands of results share them.
        """
        return _combinations_in(self, bits, frozenset(clauses))

    def readings_in(self, bits: BitSet, clause: str) -> tuple[str, ...]:
        """Return the readings of a clause that occur in a bit set."""
        return tuple(choice[clause] for choice in self.combinations_in(bits, [clause]))


@lru_cache(maxsize=4096)
def _combinations_in(
    space: ReadingSpace, bits: BitSet, clauses: frozenset[str]
) -> tuple[Mapping[str, str], ...]:
    chosen = {name: names for name, names in space.readings.items() if name in clauses}
    others = tuple(axis for axis, name in enumerate(space.readings) if name not in chosen)
    occurring: Bools = np.asarray(space.unpack(bits).any(axis=others))
    return tuple(
        dict(zip(chosen, readings, strict=True))
        for readings, occurs in zip(product(*chosen.values()), occurring.flat, strict=True)
        if occurs
    )
