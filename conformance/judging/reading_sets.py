"""Sets of combinations of readings, in a space that each operator has to itself.

A combination gives a reading to every disputed clause of an operator. A set of combinations is a
boolean array with one axis per clause and one index per reading; where one is stored per vector,
its bits are packed into unsigned 64-bit words. Clauses of other operators take no part in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from conformance.batch import distinct
from conformance.errors import VectorFileError
from conformance.operators import Clause, disputed_of, operator_named
from conformance.vector import Combination

Bools = npt.NDArray[np.bool_]
Packed = npt.NDArray[np.uint64]


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

    @cached_property
    def words(self) -> int:
        """The number of words of a packed set."""
        return -(-prod(self.shape) // 64)

    def disputed_in(self, clauses: Mapping[str, object]) -> tuple[str, ...]:
        """Return the disputed clauses of the operator among those that apply to a vector."""
        return tuple(name for name in self.readings if name in clauses)

    def set_of(self, combinations: Iterable[Combination]) -> Bools:
        """Return the combinations that agree with one of some partial ones; KeyError if unknown."""
        members = np.zeros(self.shape, np.bool_)
        for partial in combinations:
            for clause, reading in partial.items():
                if reading not in self.readings[clause]:
                    raise KeyError(reading)
            index = (
                readings.index(partial[clause]) if clause in partial else slice(None)
                for clause, readings in self.readings.items()
            )
            members[tuple(index)] = True
        return members

    def allowed_by(self, pins: Mapping[str, str]) -> Bools:
        """Return the combinations with the readings that are required of these clauses."""
        own = {clause: reading for clause, reading in pins.items() if clause in self.readings}
        return self.set_of([own])

    def pack(self, sets: Bools) -> Packed:
        """Return sets of shape (..., *shape) as words of shape (..., words)."""
        leading = sets.shape[: sets.ndim - len(self.shape)]
        bits = np.packbits(sets.reshape(*leading, prod(self.shape)), axis=-1)
        padded = np.zeros((*leading, self.words * 8), np.uint8)
        padded[..., : bits.shape[-1]] = bits
        return padded.view(np.uint64)

    def unpack(self, words: Packed) -> Bools:
        """Undo `pack`."""
        as_bytes = np.ascontiguousarray(words).view(np.uint8)
        bits = np.unpackbits(as_bytes, axis=-1, count=prod(self.shape)).view(np.bool_)
        return bits.reshape(*words.shape[:-1], *self.shape)

    def packed_table(
        self, column: Sequence[tuple[Combination, ...]]
    ) -> tuple[Packed, npt.NDArray[np.int64]]:
        """Return the distinct sets of a column of readings, packed, and which each row has.

        Raises VectorFileError where a row names a clause or reading that the operator has not.
        """
        table, rows = distinct(column)
        sets: list[Bools] = []
        for combinations in table:
            try:
                sets.append(self.set_of(combinations))
            except KeyError as error:
                raise VectorFileError(
                    f"a vector has the reading {list(map(dict, combinations))}: {error} is not "
                    "known to this version"
                ) from None
        return self.pack(np.array(sets, np.bool_).reshape(-1, *self.shape)), rows

    def combinations_in(
        self, words: bytes, clauses: Iterable[str]
    ) -> tuple[Mapping[str, str], ...]:
        """Return a packed set as combinations of the readings of some clauses, first ones first.

        Thousands of results share them.
        """
        return _combinations_in(self, words, frozenset(clauses))

    def readings_in(self, words: bytes, clause: str) -> tuple[str, ...]:
        """Return the readings of a clause that occur in a packed set."""
        return tuple(choice[clause] for choice in self.combinations_in(words, [clause]))


@lru_cache(maxsize=4096)
def _combinations_in(
    space: ReadingSpace, words: bytes, clauses: frozenset[str]
) -> tuple[Mapping[str, str], ...]:
    chosen = {name: names for name, names in space.readings.items() if name in clauses}
    others = tuple(axis for axis, name in enumerate(space.readings) if name not in chosen)
    occurring: Bools = np.asarray(space.unpack(np.frombuffer(words, np.uint64)).any(axis=others))
    return tuple(
        dict(zip(chosen, readings, strict=True))
        for readings, occurs in zip(product(*chosen.values()), occurring.flat, strict=True)
        if occurs
    )
