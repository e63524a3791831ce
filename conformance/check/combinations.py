"""Sets of combinations of readings: one boolean axis per disputed clause, packed into words.

A combination gives every disputed clause a reading. A set of them is a boolean array with one
axis per clause (`CLAUSE_NAMES`) and one index per reading, or, to keep one per vector, the same
bits packed into `WORDS` unsigned 64-bit words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from conformance.batch import distinct
from conformance.errors import UsageError, VectorFileError
from conformance.operators import CLAUSES
from conformance.operators.disputed import DISPUTED
from conformance.vector import Combination

Sets = npt.NDArray[np.bool_]
Packed = npt.NDArray[np.uint64]

CLAUSE_NAMES: tuple[str, ...] = tuple(clause.name for clause in DISPUTED)
READING_NAMES: tuple[tuple[str, ...], ...] = tuple(
    tuple(reading.name for reading in clause.readings) for clause in DISPUTED
)
SHAPE: tuple[int, ...] = tuple(map(len, READING_NAMES))
WORDS = -(-prod(SHAPE) // 64)
NESTED = frozenset({"accumulator", "subnormals"})
"""Clauses whose later readings accept every answer that the earlier ones accept."""

_AXIS = {name: axis for axis, name in enumerate(CLAUSE_NAMES)}


def set_of(readings: Iterable[Combination]) -> Sets:
    """Return the combinations that agree with one of some partial ones; KeyError if unknown."""
    found = np.zeros(SHAPE, np.bool_)
    for partial in readings:
        index: list[int | slice] = [slice(None)] * len(SHAPE)
        for clause, reading in partial.items():
            axis = _AXIS[clause]
            if reading not in READING_NAMES[axis]:
                raise KeyError(reading)
            index[axis] = READING_NAMES[axis].index(reading)
        found[tuple(index)] = True
    return found


def pack(sets: Sets) -> Packed:
    """Return sets of shape (..., *SHAPE) as words of shape (..., WORDS)."""
    leading = sets.shape[: sets.ndim - len(SHAPE)]
    bits = np.packbits(sets.reshape(*leading, prod(SHAPE)), axis=-1)
    room = np.zeros((*leading, WORDS * 8), np.uint8)
    room[..., : bits.shape[-1]] = bits
    return room.view(np.uint64)


def unpack(words: Packed) -> Sets:
    """Undo `pack`."""
    leading = words.shape[:-1]
    bits = np.unpackbits(
        np.ascontiguousarray(words).view(np.uint8), axis=-1, count=prod(SHAPE)
    ).view(np.bool_)
    return bits.reshape(*leading, *SHAPE)


def packed_table(
    readings: Sequence[tuple[Combination, ...]],
) -> tuple[Packed, npt.NDArray[np.int64]]:
    """Return the distinct sets of a column of readings, packed, and which of them each row has.

    Raises VectorFileError where a row names a clause or reading that is not known.
    """
    table, rows = distinct(readings)
    sets: list[Sets] = []
    for each in table:
        try:
            sets.append(set_of(each))
        except KeyError as error:
            raise VectorFileError(
                f"a vector has the reading {list(map(dict, each))}: {error} is not known to "
                "this version"
            ) from None
    return pack(np.array(sets, np.bool_).reshape(-1, *SHAPE)), rows


def combinations_in(words: Packed, touched: Iterable[str]) -> tuple[dict[str, str], ...]:
    """Return a packed set as combinations of the readings of some clauses, the first ones first."""
    return tuple(map(dict, _combinations_in(words.tobytes(), frozenset(touched))))


def readings_in(words: Packed, clause: str) -> tuple[str, ...]:
    """Return the readings of a clause that occur in a packed set."""
    return tuple(choice[clause] for choice in combinations_in(words, [clause]))


@lru_cache(maxsize=4096)
def _combinations_in(words: bytes, touched: frozenset[str]) -> tuple[dict[str, str], ...]:
    axes = [axis for axis, name in enumerate(CLAUSE_NAMES) if name in touched]
    others = tuple(axis for axis in range(len(SHAPE)) if axis not in axes)
    kept: Sets = np.asarray(unpack(np.frombuffer(words, np.uint64)).any(axis=others))
    return tuple(
        {CLAUSE_NAMES[a]: READING_NAMES[a][i] for a, i in zip(axes, index, strict=True)}
        for index in product(*(range(SHAPE[axis]) for axis in axes))
        if kept[index]
    )


def check_pins(pins: Mapping[str, str]) -> None:
    """Raise UsageError, saying what there is, unless every pin is a reading of its clause."""
    for clause, reading in pins.items():
        if clause not in _AXIS:
            why = f", it is {CLAUSES[clause].kind}" if clause in CLAUSES else ""
            raise UsageError(
                f"no disputed clause {clause!r}{why}; there are {', '.join(CLAUSE_NAMES)}"
            )
        names = READING_NAMES[_AXIS[clause]]
        if reading not in names:
            raise UsageError(
                f"clause {clause} has no reading {reading!r}; it has {', '.join(names)}"
            )
