"""What both layouts of results check of a stored value: shapes, element types and texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from conformance.backends.answer import (
    ARRAY,
    MAX_TEXT,
    MISSING,
    NO_REASON,
    RAISED,
    SUITE_TYPES,
    UNSUPPORTED,
    Answer,
    Returned,
)
from conformance.dtypes import DType, is_known, name_of
from conformance.errors import ResultFileError
from conformance.files import Closable
from conformance.record.why import Raised
from conformance.text import cut, one_line
from conformance.vectorfile.layout import MAX_EXTENT

REFUSALS = {"raised": RAISED, "unsupported": UNSUPPORTED}
"""Why a vector has no output, by the word that is stored."""
_MAX_RANK = 32
_Place = TypeVar("_Place")


class Unsound(ValueError):  # noqa: N818 - a state of the file, not of the program
    """Something stored is not what it has to be; the text says what."""


class Layout(Closable, Generic[_Place]):
    """Stored results, by the ids of vectors: where the outputs of each are, or its refusal.

    Raises ResultFileError, one line that names the file, for whatever is not sound; an output is
    looked at when it is asked for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[str, list[_Place]] = {}
        self.exported: frozenset[str] | None = None
        """The ids of all vectors that were exported; None if that is not known."""

    @property
    def ids(self) -> Collection[str]:
        """The ids of all vectors that a result is stored for."""
        return self.places.keys()

    def find(self, vector_id: str, most: int) -> Answer:
        """Return the answer that is stored for a vector, MISSING if none is.

        Elements are left out if the outputs have more than `most`.
        """
        outputs: list[Returned] = []
        for place in self.places.get(vector_id, ()):
            with guarded(self.path, vector_id):
                stored = self.read(place, most)
            if isinstance(stored, Answer):
                return stored
            outputs.append(stored)
            most -= prod(stored.shape)
        return Answer(ARRAY, tuple(outputs)) if outputs else Answer(MISSING)

    @abstractmethod
    def read(self, place: _Place, most: int) -> Returned | Answer:
        """Return an output, or the refusal that is in its place."""


@contextmanager
def guarded(path: Path, vector_id: str = "") -> Iterator[None]:
    """Turn what goes wrong inside into a ResultFileError of one line that names the file."""
    try:
        yield
    except ResultFileError:
        raise
    except Exception as error:  # h5py raises most types there are when a file is damaged
        reason = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        what = one_line(reason.partition("\n")[0], MAX_TEXT)
        if isinstance(error, OSError) and error.strerror:
            what = one_line(error.strerror, MAX_TEXT)
        elif not isinstance(error, Unsound):
            what = f"damaged ({what})"
        where = f"{vector_id[:200]}: " if vector_id else ""
        raise ResultFileError(f"{path}: {where}{what}") from error


def refusal(status: str, text: str) -> Answer:
    """Return the answer of a backend without outputs; `status` is one of REFUSALS."""
    return Answer(REFUSALS[status], why=Raised.parse(one_line(text, MAX_TEXT) or NO_REASON))


def is_read(dtype: str, shape: tuple[int, ...], most: int) -> bool:
    """Say whether elements are read: of a type that the suite has, and `most` of them at most."""
    return dtype in SUITE_TYPES and prod(shape) <= most


def shape_of(shape: Sequence[Any]) -> tuple[int, ...]:
    """Return a stored shape; Unsound unless it is one that an output can have."""
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise Unsound(f"shape {cut(str(shape), MAX_TEXT)} is not one of integers from 0")
    if len(shape) > _MAX_RANK or prod(max(extent, 1) for extent in shape) > MAX_EXTENT:
        raise Unsound(
            f"shape {cut(str(tuple(shape)), MAX_TEXT)} has more than {_MAX_RANK} axes or "
            f"{MAX_EXTENT} elements"
        )
    return tuple(shape)


def type_name(dtype: DType) -> str:
    """Return the name of a stored element type, also of one that the suite does not have.

    Two bytes without a meaning are bfloat16: that is how numpy stores its arrays.
    """
    native = dtype.newbyteorder("=")
    if native == np.dtype("V2"):
        return "bfloat16"
    return name_of(native) if is_known(native) else cut(str(dtype), MAX_TEXT)
