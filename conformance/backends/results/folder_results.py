"""Results as a folder: `<path of the vector>/output.npy`, and `status.tsv` for what has none.

Other outputs of a vector than its first are `output.1.npy`, `output.2.npy` and so on beside it.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from conformance.backends.answer import MAX_OUTPUTS, Answer, Returned, native_bytes
from conformance.backends.results import id_of
from conformance.backends.results.stored_values import (
    REFUSALS,
    Layout,
    Unsound,
    guarded,
    is_read,
    refusal,
    shape_of,
    type_name,
)
from conformance.errors import ResultFileError

OUTPUTS = ("output.npy", *(f"output.{number}.npy" for number in range(1, MAX_OUTPUTS)))
"""The names of the first, second, ... output."""
OUTPUT = OUTPUTS[0]
STATUS = "status.tsv"
INDEX = "index.tsv"
"""What an export writes: a line for each of its vectors, with the id in the last of four fields."""
_MAX_STATUS = 1 << 26
_LONGEST_HEADER = 1 << 16
_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Neither a link that was put there since the folder was looked at, nor a pipe to wait for.
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)


class ResultFolder(Layout[Path | Answer]):
    """The results in a folder. Links are not followed: one where a result is looked for is refused.

    See `Layout`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with guarded(path):
            for files in _outputs(path):
                self._add(files)
        status = path / STATUS
        with guarded(status):
            if os.path.lexists(status):
                self._read_status(status)
        index = path / INDEX
        with guarded(index):
            if os.path.lexists(index):
                self.exported = frozenset(_ids_of_index(index))
        if not self.ids:
            raise ResultFileError(f"{path}: no {OUTPUT} in a folder in it and no {STATUS}")

    def read(self, place: Path | Answer, most: int) -> Returned | Answer:
        """See `Layout.read`."""
        if isinstance(place, Answer):
            return place
        with guarded(place):
            return _read_npy(place, most)

    def close(self) -> None:
        """Nothing is open."""

    def _add(self, files: list[Path]) -> None:
        """Note the outputs of a vector, in their order."""
        first = files[0]
        vector_id = id_of(first.parent.relative_to(self.path).as_posix())
        if vector_id in self.places:
            other = self.places[vector_id][0]
            raise ResultFileError(f"{first}: {other} is an output of the same vector")
        for file, name in zip(files, OUTPUTS, strict=False):
            if file.name != name:
                raise ResultFileError(f"{file}: there is no {name} beside it")
        self.places[vector_id] = [*files]

    def _read_status(self, path: Path) -> None:
        for number, line in _lines(path):
            status, _, rest = line.partition("\t")
            vector_id, _, text = rest.partition("\t")
            vector_id = vector_id.rstrip("\r")
            if status not in REFUSALS or not vector_id:
                raise Unsound(
                    f"line {number} is not 'raised' or 'unsupported', a tab, the id of a vector, "
                    "a tab, and why"
                )
            if vector_id in self.places:
                raise Unsound(f"line {number}: there is another result of {vector_id[:200]}")
            self.places[vector_id] = [refusal(status, text)]


def _ids_of_index(path: Path) -> Iterator[str]:
    """Yield the ids of the vectors that were exported."""
    for number, line in _lines(path):
        fields = line.rstrip("\r").split("\t")
        if len(fields) != 4 or not fields[3]:
            raise Unsound(f"line {number} is not a path, an operator, a type and an id, with tabs")
        yield fields[3]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file that are not blank, with their numbers from 1."""
    if path.is_symlink() or not path.is_file():
        raise Unsound("not a regular file")
    if path.stat().st_size > _MAX_STATUS:
        raise Unsound(f"more than {_MAX_STATUS} bytes")
    lines = path.read_bytes().decode("utf-8-sig").split("\n")
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _outputs(root: Path) -> Iterator[list[Path]]:
    """Yield the outputs in each folder that has any, in the order of their paths."""
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        outputs: dict[str, Path] = {}
        for entry in entries:
            if entry.is_symlink() and (entry.name in OUTPUTS or entry.is_dir()):
                raise ResultFileError(f"{entry.path}: a symbolic link, which is not followed")
            if entry.name in OUTPUTS:
                outputs[entry.name] = Path(entry.path)
            elif entry.is_dir():
                waiting.append(Path(entry.path))
        if outputs:
            yield [outputs[name] for name in OUTPUTS if name in outputs]


def _read_npy(path: Path, most: int) -> Returned:
    """Return the array in a file, without its elements if there are more than `most`.

    No pickle is read, and nothing is allocated before sizes are checked.
    """
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unsound("not a regular file")
        head = BytesIO(file.read(_LONGEST_HEADER))
        header_shape, fortran, dtype = _header(head)
        if dtype.hasobject:
            raise Unsound("it holds Python objects, which are never read")
        shape = shape_of(header_shape)
        size, claimed = status.st_size - head.tell(), prod(shape) * dtype.itemsize
        if size != claimed:
            raise Unsound(f"it holds {size} bytes of elements and not {claimed}")
        name = type_name(dtype)
        if not is_read(name, shape, most):
            return Returned(name, shape)
        file.seek(head.tell())
        array = np.frombuffer(file.read(claimed), dtype)
    if fortran:
        array = array.reshape(shape, order="F")
    return Returned(name, shape, native_bytes(array))


def _header(head: BytesIO) -> tuple[Any, bool, np.dtype[Any]]:
    """Return shape, Fortran order and type; `head` is left where the elements begin."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's parser may warn about the header
            major, minor = np.lib.format.read_magic(head)
            if (major, minor) not in _HEADERS:
                raise Unsound(f"version {major}.{minor} of the format")  # noqa: TRY301 - see below
            header: tuple[Any, bool, np.dtype[Any]] = _HEADERS[major, minor](head)
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise Unsound(f"not a sound .npy file ({reason})") from error
    return header
