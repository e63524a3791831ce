"""Several vector files together: a file, a directory of them, or the suite this package ships."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import overload

import numpy as np

from conformance.errors import UsageError, VectorFileError
from conformance.files import Closable
from conformance.operators import operators_named
from conformance.process import ProcessFailed, call_separately, seconds_to_read
from conformance.vector import Vector
from conformance.vectorfile import layout
from conformance.vectorfile.hdf5_columns import ColumnFile
from conformance.vectorfile.older_vectors import older_vectors
from conformance.vectorfile.vector_file import VectorFile, first_repeated

MANIFEST = "SHA256SUMS"
"""The digests of the bytes of shipped files, beside them, as sha256sum writes and reads them."""


class VectorSet(Closable, Sequence[VectorFile]):
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

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that have vectors."""
        return tuple(dict.fromkeys(file.operator for file in self.files))

    @property
    def digests(self) -> dict[str, str]:
        """The digest of the vectors of each operator, in however many files they are."""
        groups = groupby(self.files, key=lambda file: file.operator)
        return {name: joint_digest([file.digest for file in group]) for name, group in groups}

    def vector(self, operator: str, vector_id: str) -> tuple[VectorFile, Vector]:
        """Return a vector by its id, and the file that holds it; KeyError if there is none."""
        for file in self.files:
            if file.operator == operator:
                with suppress(KeyError):
                    return file, file.vector(file.index_of(vector_id))
        raise KeyError(vector_id)

    def matching(self, text: str) -> dict[str, tuple[VectorFile, int]]:
        """Return the vectors that a text means: by id, each with its file and its number there.

        The text is an id; else what ids begin with; else a part of ids, or a pattern with * or ?.
        """
        by_id = {
            vector_id: (file, n) for file in self.files for n, vector_id in enumerate(file.ids)
        }
        ids = [text] if text in by_id else [name for name in by_id if name.startswith(text)]
        ids = ids or [name for name in by_id if fnmatchcase(name, text) or text in name]
        return {name: by_id[name] for name in ids}

    def find(self, text: str) -> Vector:
        """Return the one vector that a text means, see `matching`; UsageError unless it is one."""
        found = self.matching(text)
        if len(found) != 1:
            some = f", {next(iter(found))} for one: give more of the id" if found else ""
            raise UsageError(f"{text!r} matches {len(found):,} vectors{some}")
        ((file, number),) = found.values()
        return file.vector(number)

    def close(self) -> None:
        """Close every file."""
        for file in self.files:
            file.close()


def open_vectors(
    path: str | os.PathLike[str] | None = None,
    operators: str | Sequence[str] | None = None,
    *,
    unchecked: bool = False,
) -> VectorSet:
    """Open a vector file, the *.h5 files of a directory, or (None) the shipped suite.

    Only the files of `operators` (None: all) are in the set: names, globs or families.

    Raises UsageError for a directory without any, VectorFileError, naming the file, if it is not
    there or not sound. Files that were not shipped are first read by another process: crafted ones
    can crash HDF5. Content that is left `unchecked` is checked before its first use.
    """
    selected, others = _opened(path, operators, unchecked=unchecked)
    for file in others:
        file.close()
    return VectorSet(selected)


def open_suite(
    path: str | os.PathLike[str] | None = None, operators: str | Sequence[str] | None = None
) -> VectorSet:
    """Open what `open_vectors` opens, and the files of other operators, which a run leaves out.

    The content of these is checked before its first use.
    """
    selected, others = _opened(path, operators, unchecked=False)
    return VectorSet([*selected, *others])


def _opened(
    path: str | os.PathLike[str] | None, operators: str | Sequence[str] | None, *, unchecked: bool
) -> tuple[list[VectorFile], list[VectorFile]]:
    """Return the files of some operators, and the others."""
    where = shipped_suite() if path is None else Path(path)
    if where.is_dir():
        paths = sorted(where.glob(f"*{layout.SUFFIX}"))
        if not paths:
            raise UsageError(f"{where}: no vector files (*{layout.SUFFIX}) in this directory")
    else:
        paths = [where]
    shipped = [path for path in paths if path.resolve().parent == shipped_suite()]
    unchanged = _unchanged(shipped)
    examined = _examined([path for path in paths if path not in unchanged])
    files = [
        VectorFile(each, unchanged=each in unchanged, columns=examined.get(each)) for each in paths
    ]
    if where.is_dir():
        files += older_vectors([file for file in files if file.path in unchanged])
    names = operators_named(operators, list(dict.fromkeys(file.operator for file in files)))
    selected = [file for file in files if file.operator in names]
    for file in () if unchecked else selected:
        file.check()
    return selected, [file for file in files if file.operator not in names]


def _unchanged(paths: Sequence[Path]) -> frozenset[Path]:
    """Return the shipped files that have the bytes that MANIFEST says, so their content is sound.

    A file that was made again, or that it does not list, is checked as anybody's.
    """
    listed: dict[str, str] = {}
    if paths:
        with suppress(OSError, ValueError):
            lines = (paths[0].parent / MANIFEST).read_text("ascii").splitlines()
            listed = {name: digest for digest, name in map(str.split, lines)}
    return frozenset(
        path
        for path in paths
        if path.name in listed and sha256(path.read_bytes()).hexdigest() == listed[path.name]
    )


def joint_digest(digests: Sequence[str]) -> str:
    """Return the digest of a file; of several files, the digest of their digests."""
    return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()


def _examined(paths: Sequence[Path]) -> dict[Path, ColumnFile]:
    """Let another process ask HDF5 about files; VectorFileError for one that ends it."""
    if not paths:
        return {}
    try:
        files = call_separately(examine, paths, seconds=seconds_to_read(paths))
        return dict(zip(paths, files, strict=True))
    except ProcessFailed as failure:
        if len(paths) == 1:
            what = f"damaged or not a vector file (the HDF5 library {failure} on it)"
            raise VectorFileError(f"{paths[0]}: {what}") from None
        return {path: file for each in paths for path, file in _examined([each]).items()}


def examine(paths: Sequence[Path]) -> list[ColumnFile]:
    """Ask HDF5 for all that is asked of it; VectorFileError for the first damaged file."""
    files = []
    for path in paths:
        with ColumnFile(path) as file:
            _ = file.lengths
            files.append(file)
    return files


def _refuse_equal_ids(files: Sequence[VectorFile]) -> None:
    """Raise VectorFileError, naming it, for a vector that is in two of some files."""
    if len(files) == 1:  # it is not read for this
        return
    again = first_repeated(np.concatenate([file.id_hashes for file in files]))
    if again is not None:
        vectors = [(file, number) for file in files for number in range(len(file))]
        (other, _), (file, number) = (vectors[place] for place in again)
        raise VectorFileError(
            f"{file.path}: vector {file.ids[number][:200]} is also in {other.path.name}"
        )


def shipped_suite() -> Path:
    """Return the directory of the suite: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_vectors"
    return installed if installed.is_dir() else package.parent / "vectors"
