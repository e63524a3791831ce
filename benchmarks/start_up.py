"""How long the command line takes to answer, beside an interpreter that imports numpy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.paired import Effort, Row, Run, measured

IMPORT_NUMPY = ("-c", "import numpy")


def rows(effort: Effort) -> Iterator[Row]:
    """Yield one row."""
    ours, theirs = interpreter("-m", "conformance", "--help"), interpreter(*IMPORT_NUMPY)
    yield measured("conformance --help", "import numpy", ours, theirs, effort.rounds(15))


def interpreter(*arguments: str) -> Run:
    """Return what runs a new interpreter to its end."""
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
