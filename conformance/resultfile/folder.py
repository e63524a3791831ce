"""Results as a folder: `<path of the vector>/output.npy`, and `status.tsv` for what has none.

Other outputs of a vector than its first are `output.1.npy`, `output.2.npy` and so on beside it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

from conformance.errors import ResultFileError
from conformance.resultfile.entry import Found, Refusal, Unsound, line_of
from conformance.resultfile.names import id_of
from conformance.resultfile.npy import read_npy
from conformance.workers.answer import MAX_OUTPUTS

OUTPUTS = ("output.npy", *(f"output.{number}.npy" for number in range(1, MAX_OUTPUTS)))
"""The names of the first, second, ... output."""
OUTPUT = OUTPUTS[0]
STATUS = "status.tsv"
_MAX_STATUS = 1 << 26
_STATUSES = {"raised": False, "unsupported": True}


class ResultFolder:
    """The results in a folder. Links are not followed: one where a result is looked for is refused.

    Raises ResultFileError, one line that names the file, for whatever is not sound; an output is
    looked at when it is asked for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._outputs: dict[str, list[Path]] = {}
        self._refusals: dict[str, Refusal] = {}
        with _guard(path):
            for files in _outputs(path):
                self._add(files)
        status = path / STATUS
        with _guard(status):
            if os.path.lexists(status):
                self._read_status(status)
        if not self.ids:
            raise ResultFileError(f"{path}: no {OUTPUT} in a folder in it and no {STATUS}")

    @property
    def ids(self) -> Collection[str]:
        """The ids of all vectors that something is stored for."""
        return {**self._outputs, **self._refusals}.keys()

    def find(self, vector_id: str, most: int) -> Found | None:
        """Return what is stored for a vector, without the elements if there are more than `most`.

        None if nothing is stored.
        """
        files = self._outputs.get(vector_id)
        if files is None:
            return self._refusals.get(vector_id)
        outputs = []
        for file in files:
            with _guard(file):
                outputs.append(read_npy(file, most))
            most -= prod(outputs[-1].shape)
        return tuple(outputs)

    def close(self) -> None:
        """Nothing is open."""

    def _add(self, files: list[Path]) -> None:
        """Note the outputs of a vector, in their order."""
        first = files[0]
        vector_id = id_of(first.parent.relative_to(self.path).as_posix())
        if vector_id in self._outputs:
            other = self._outputs[vector_id][0]
            raise ResultFileError(f"{first}: {other} is an output of the same vector")
        for file, wanted in zip(files, OUTPUTS, strict=False):
            if file.name != wanted:
                raise ResultFileError(f"{file}: there is no {wanted} beside it")
        self._outputs[vector_id] = files

    def _read_status(self, path: Path) -> None:
        if path.is_symlink() or not path.is_file():
            raise Unsound("not a regular file")
        if path.stat().st_size > _MAX_STATUS:
            raise Unsound(f"more than {_MAX_STATUS} bytes")
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            status, _, rest = line.partition("\t")
            vector_id, _, text = rest.partition("\t")
            vector_id = vector_id.rstrip("\r")
            if status not in _STATUSES or not vector_id:
                raise Unsound(
                    f"line {number} is not 'raised' or 'unsupported', a tab, the id of a vector, "
                    "a tab, and why"
                )
            if vector_id in self._refusals or vector_id in self._outputs:
                raise Unsound(f"line {number}: there is another result of {vector_id[:200]}")
            self._refusals[vector_id] = Refusal(_STATUSES[status], line_of(text))


def _outputs(root: Path) -> Iterator[list[Path]]:
    """Yield the outputs in each folder that has any, in the order of their paths."""
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            entries = sorted(found, key=lambda entry: entry.name)
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


@contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Turn what goes wrong inside into a ResultFileError of one line that names the file."""
    try:
        yield
    except OSError as error:
        raise ResultFileError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ResultFileError(f"{path}: {line_of(str(error))}") from error
