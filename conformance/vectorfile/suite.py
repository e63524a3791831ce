"""Several vector files together: a file, a directory of them, or the suite this package ships."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

import numpy as np

from conformance.errors import VectorFileError
from conformance.vectorfile import layout
from conformance.vectorfile.reader import VectorFile

if TYPE_CHECKING:
    import os
    from types import TracebackType

    from conformance.vector import Vector


_RESIDENT = 160 << 20  # bytes of all files together that are kept in memory, about


class VectorSet(Sequence[VectorFile]):
    """Vector files by operator, in the order of the suite, then by name; a context manager.

    An operator may be in several files, but no vector in two of them: VectorFileError.
    """

    def __init__(self, files: Sequence[VectorFile]) -> None:
        order = layout.operators()
        self.files = tuple(
            sorted(files, key=lambda file: (order.index(file.operator), file.path.name))
        )
        for _, group in groupby(self.files, key=lambda file: file.operator):
            _refuse_equal_ids(list(group))

    def __len__(self) -> int:
        return len(self.files)

    @overload
    def __getitem__(self, index: int) -> VectorFile: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[VectorFile, ...]: ...

    def __getitem__(self, index: int | slice) -> VectorFile | tuple[VectorFile, ...]:
        return self.files[index]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that have vectors."""
        return tuple(dict.fromkeys(file.operator for file in self.files))

    def vector(self, operator: str, vector_id: str) -> tuple[VectorFile, Vector]:
        """Return a vector by its id, and the file that holds it; KeyError if there is none."""
        for file in self.files:
            if file.operator == operator and file.holds(vector_id):
                return file, file.vector(file.index_of(vector_id))
        raise KeyError(vector_id)

    def close(self) -> None:
        """Close every file."""
        for file in self.files:
            file.close()


def open_vectors(path: str | os.PathLike[str] | None = None) -> VectorSet:
    """Open a vector file, the *.h5 files of a directory, or (None) the shipped suite.

    Raises VectorFileError, naming the file, if there is none or one of them is not sound.
    """
    where = shipped_suite() if path is None else Path(path)
    if where.is_dir():
        paths = sorted(where.glob(f"*{layout.SUFFIX}"))
        if not paths:
            raise VectorFileError(f"{where}: no vector files (*{layout.SUFFIX}) in this directory")
    else:
        paths = [where]
    files: list[VectorFile] = []
    room = _RESIDENT
    try:
        for each in paths:
            files.append(VectorFile(each, resident=room))
            room -= files[-1].resident
        return VectorSet(files)
    except BaseException:
        for file in files:
            file.close()
        raise


def _refuse_equal_ids(files: Sequence[VectorFile]) -> None:
    """Raise VectorFileError, naming it, for a vector that is in two of some files."""
    hashes = [file.id_hashes for file in files]
    unique, counts = np.unique(np.concatenate(hashes), return_counts=True)
    suspects = unique[counts > 1]
    if not suspects.size:
        return
    seen: dict[str, VectorFile] = {}
    for file, each in zip(files, hashes, strict=True):
        if np.isin(each, suspects).any():
            for vector_id in file.ids:
                if (other := seen.setdefault(vector_id, file)) is not file:
                    raise VectorFileError(
                        f"{file.path}: vector {vector_id[:200]} is also in {other.path.name}"
                    )


def shipped_suite() -> Path:
    """Return the directory of the suite: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_vectors"
    return installed if installed.is_dir() else package.parent / "vectors"
