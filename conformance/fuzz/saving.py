"""Findings as vector files, which `check` takes and the next search tries first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from conformance.errors import UsageError
from conformance.files import folder_for
from conformance.fuzz.findings import FuzzReport
from conformance.vector import Case, Vector
from conformance.vectorfile import VectorWriter, open_vectors
from conformance.version import __version__

SOURCE = "found by fuzzing"


def save(report: FuzzReport, path: Path) -> list[Path]:
    """Write what was found to vector files and return their paths.

    A file holds one operator: where findings are of several, the name of each goes into that of
    its file. Vectors that a file holds already stay in it. Raises UsageError for a name that does
    not end in .h5, VectorFileError where a file cannot be read or written.
    """
    check_name(path)
    by_operator: dict[str, list[Vector]] = {}
    witnesses = (vector for vectors in report.witnesses.values() for vector in vectors)
    for vector in (*(finding.vector for finding in report.findings), *witnesses):
        by_operator.setdefault(vector.case.operator, []).append(vector)
    paths = []
    for operator, vectors in by_operator.items():
        name = path if len(by_operator) == 1 else path.with_name(f"{path.stem}-{operator}.h5")
        _write(name, operator, [*_stored(name, operator), *vectors])
        paths.append(name)
    return paths


def check_name(path: Path) -> None:
    """Raise UsageError unless a path can be that of a vector file."""
    if path.suffix != ".h5" or path.is_dir():
        raise UsageError(f"{path}: give the name of a file that ends in .h5")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}")


class Corpus:
    """A directory with the vectors that failed, a file per operator; None stores nothing.

    Cases are stored, not Hypothesis' own records of them: those mean something else as soon as the
    strategies change, and are of no use to `check`.
    """

    def __init__(self, directory: Path | None) -> None:
        if directory is not None and directory.exists() and not directory.is_dir():
            raise UsageError(f"{directory}: not a directory; failures are kept in one")
        self._directory = directory

    def cases(self, operator: str) -> list[Case]:
        """Return the cases of an operator that failed before."""
        if self._directory is None:
            return []
        return [vector.case for vector in _stored(_file_in(self._directory, operator), operator)]

    def store(self, operator: str, vectors: Sequence[Vector], *, whole: bool) -> None:
        """Store what fails; drop what fails no more, unless the search was cut off."""
        if self._directory is None:
            return
        path = _file_in(self._directory, operator)
        before = [] if whole else _stored(path, operator)
        if vectors or before:
            with folder_for(self._directory):
                _write(path, operator, [*vectors, *before])
        else:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"{path}: cannot be removed: {error.strerror}") from None


def _file_in(directory: Path, operator: str) -> Path:
    return directory / f"{operator}.h5"


def _write(path: Path, operator: str, vectors: Sequence[Vector]) -> None:
    """Write vectors to a file, in place of what is there; of several with one id, the last."""
    header = {"package": __version__, "made_by": "fuzz"}
    by_id = {vector.case.id: vector for vector in vectors}
    with VectorWriter(path, operator, header=header) as writer:
        for vector in by_id.values():
            case = vector.case
            source = case.source or SOURCE
            writer.add(replace(vector, case=replace(case, source=source)))


def _stored(path: Path, operator: str) -> list[Vector]:
    """Return the vectors of a file, if there is one; UsageError if they are of another operator."""
    if not path.exists():
        return []
    with open_vectors(path) as files:
        if files[0].operator != operator:
            raise UsageError(
                f"{path}: holds vectors of {files[0].operator}, found are some of {operator}; "
                "give another name"
            )
        return list(files[0])
