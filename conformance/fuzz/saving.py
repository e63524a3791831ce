"""Findings as vector files, which `check` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from conformance import __version__
from conformance.errors import UsageError
from conformance.fuzz.report import FuzzReport
from conformance.vector import Vector
from conformance.vectorfile import VectorWriter, open_vectors

SOURCE = "found by fuzzing"


def save(report: FuzzReport, path: Path) -> list[Path]:
    """Write what was found to vector files and return their paths.

    A file holds one operator: where findings are of several, the name of each goes into that of
    its file. Vectors that a file holds already stay in it. Raises UsageError for a name that does
    not end in .h5, VectorFileError where a file cannot be read or written.
    """
    check_name(path)
    found: dict[str, list[Vector]] = {}
    witnesses = (vector for each in report.witnesses.values() for vector in each)
    for vector in (*(finding.vector for finding in report.findings), *witnesses):
        found.setdefault(vector.case.operator, []).append(vector)
    paths = []
    for operator, vectors in found.items():
        name = path if len(found) == 1 else path.with_name(f"{path.stem}-{operator}.h5")
        every = {vector.case.id: vector for vector in (*held(name, operator), *vectors)}
        write(name, operator, list(every.values()))
        paths.append(name)
    return paths


def check_name(path: Path) -> None:
    """Raise UsageError unless a path can be that of a vector file."""
    if path.suffix != ".h5" or path.is_dir():
        raise UsageError(f"{path}: give the name of a file that ends in .h5")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}")


def write(path: Path, operator: str, vectors: Sequence[Vector]) -> None:
    """Write vectors to a file, in place of what is there."""
    header = {"package": __version__, "made_by": "fuzz"}
    with VectorWriter(path, operator, header=header) as writer:
        for vector in vectors:
            case = vector.case
            source = case.source or SOURCE
            writer.add(replace(vector, case=replace(case, source=source)))


def held(path: Path, operator: str) -> list[Vector]:
    """Return the vectors of a file that is there; UsageError if they are of another operator."""
    if not path.exists():
        return []
    with open_vectors(path) as files:
        if files[0].operator != operator:
            raise UsageError(
                f"{path}: holds vectors of {files[0].operator}, found are some of {operator}; "
                "give another name"
            )
        return [files[0].vector(number) for number in range(len(files[0]))]
