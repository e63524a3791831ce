"""Outputs that a backend computed elsewhere: an HDF5 file or a folder (docs/results.md)."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.resultfile.entry import Found, Refusal
from conformance.resultfile.folder import ResultFolder
from conformance.resultfile.hdf5 import ResultFile
from conformance.resultfile.names import id_of, path_of

__all__ = [
    "Found",
    "Refusal",
    "ResultFile",
    "ResultFolder",
    "id_of",
    "open_results",
    "path_of",
]


def open_results(path: str | os.PathLike[str]) -> ResultFile | ResultFolder:
    """Open the results at a path, of either layout.

    Raises ResultFileError, one line that names the file, if they are not sound.
    """
    where = Path(path)
    return ResultFolder(where) if where.is_dir() else ResultFile(where)
