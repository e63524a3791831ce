"""What commands on the shipped suite take, beside a process that reads every column of its files.

Time, CPU time and peak memory of each command, in a process of its own; then what a vector costs to
evaluate by how many combinations of readings its operator has.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import prod
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from benchmarks.paired import Effort, Row, exponent, megabytes, shown
from conformance.operators import disputed_of, operator_named, vector_of
from conformance.vectorfile.sources import chosen, opened, vectors_in

READ = (
    "from pathlib import Path\n"
    "from conformance.vectorfile import open_vectors\n"
    "from conformance.vectorfile.hdf5_columns import ColumnFile\n"
    "for file in open_vectors(unchecked=True).files:\n"
    "    columns = ColumnFile(Path(file.path))\n"
    "    columns.load()\n"
    "    columns.close()\n"
)
"""Reads every column of the shipped suite, one file at a time."""
_FUZZ = "fuzz numpy --max-examples 3000 --seed 1 --database {folder}"
COMMANDS = {
    "generate": "generate {folder}",
    "list": "list",
    "check numpy, smoke": "check numpy --tier smoke",
    "check numpy": "check numpy",
    "verify": "verify",
    "strength": "strength",
    "export safetensors": "export safetensors {folder}",
    "check torch": "check torch",
    "fuzz numpy, 3,000 cases": _FUZZ,
    "fuzz numpy, two processes": f"{_FUZZ} --jobs 2",
}
QUICK = ("list", "check numpy, smoke", "check numpy")
_VECTORS = 40
"""Vectors of each operator that are evaluated again."""


class Cost(NamedTuple):
    """What a process took: seconds, those of its CPUs, and bytes of memory at most."""

    seconds: float
    cpu: float
    peak: int


def rows(effort: Effort) -> Iterator[Row]:
    """Yield three rows for each command, and one of the readings."""
    theirs = cost("-c", READ)
    for name in QUICK if effort.quick else COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            words = COMMANDS[name].format(folder=Path(folder, "new")).split()
            ours = cost("-m", "conformance", *words)
        yield _row(name, shown(ours.seconds), shown(theirs.seconds), ours.seconds / theirs.seconds)
        yield _row(f"{name}, CPU", shown(ours.cpu), shown(theirs.cpu), ours.cpu / theirs.cpu)
        peaks = megabytes(ours.peak), megabytes(theirs.peak)
        yield _row(f"{name}, peak memory", *peaks, ours.peak / theirs.peak)
    yield of_readings()


def _row(what: str, ours: str, theirs: str, ratio: float) -> Row:
    return Row(what, "reading all columns", ours, theirs, f"{ratio:.3g}")


def cost(*arguments: str) -> Cost:
    """Run an interpreter to its end; a backend that does not conform is no failure."""
    started = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise RuntimeError(f"{' '.join(arguments)} exits with {process.returncode}")
    took = perf_counter() - started
    return Cost(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def of_readings() -> Row:
    """Fit seconds a vector = a * combinations of readings ** exponent, over all operators."""
    points = []
    with opened(None) as sources:
        for each in chosen(sources, None, None, "smoke"):
            cases = [v.case for v in vectors_in(each.source, each.numbers[:_VECTORS])]
            clauses = disputed_of(operator_named(each.source.operator))
            combinations = prod(len(clause.readings) for clause in clauses)
            started = process_time()
            for case in cases:
                vector_of(case)
            points.append((combinations, (process_time() - started) / len(cases)))
    points.sort()
    (fewest, least), (most, slowest) = points[0], points[-1]
    return Row(
        "evaluate a vector, exponent of time",
        f"{fewest:,} to {most:,} combinations of readings",
        shown(slowest),
        shown(least),
        f"{exponent(points):.3f}",
    )
