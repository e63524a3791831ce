"""Time and memory of making and checking a thousand vectors to a million.

Each size runs in a fresh process, which says how much memory it took at most. A million is what
`generate(..., tier="exhaustive")` makes; smaller sizes are even samples of it, with as many vectors
of each operator in proportion and in files of the same size.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import h5py

from benchmarks.paired import Effort, Row, exponent, megabytes, shown
from conformance import check
from conformance.cases.generate import generate
from conformance.cases.sweep.exhaustive import case_specs, parts
from conformance.cases.sweep.sweep_model import build
from conformance.operators import vector_of
from conformance.vectorfile import VectorWriter

SMALLEST = 1_000
LARGEST = 100_000
MILLION = 1_000_000
LENGTHS = {
    "nGraph-AvgPool": 1_000,
    "AvgPool-1": 8_000,
    "MaxPool-1": 4_000,
    "AdaptiveAvgPool-8": 6_144,
}
"""Vectors in a part of the product of each operator."""


@dataclass(frozen=True, slots=True)
class Content:
    """What one file holds: `count` vectors, evenly spread, of a part, counted from 1."""

    operator: str
    part: int
    count: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.operator}-{self.part:03}.h5"

    @classmethod
    def whole(cls, operator: str, part: int) -> Content:
        """Return a part with all its vectors."""
        return cls(operator, part, LENGTHS[operator])


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: seconds of the work itself, and bytes of memory at most."""

    vectors: int
    seconds: float
    peak: int


def rows(effort: Effort) -> Iterator[Row]:
    """Yield a row of time and one of memory for each step, and the exponents of time."""
    sizes = [SMALLEST] if effort.quick else [SMALLEST, 10_000, LARGEST]
    with tempfile.TemporaryDirectory() as folder:
        for work in ("generate", "check"):
            costs = [cost(work, Path(folder), SMALLEST) for _ in range(2)]
            yield from steps(work, costs)  # the smallest beside itself: the noise
            costs = costs[:1]
            for size in [*sizes[1:], *([MILLION] if effort.million else [])]:
                costs.append(cost(work, Path(folder), size))
                yield from steps(work, costs[-2:])
            if len(costs) > 1:
                yield fitted(work, costs)


def steps(work: str, costs: Sequence[Cost]) -> Iterator[Row]:
    """Yield how much more time and memory one size takes than another."""
    less, more = costs
    against = f"{less.vectors:,} vectors"
    what = f"{work} {more.vectors:,} vectors"
    yield Row(
        what,
        against,
        shown(more.seconds),
        shown(less.seconds),
        f"{more.seconds / less.seconds:.3g}",
    )
    yield Row(
        f"{what}, peak memory", against, megabytes(more.peak), megabytes(less.peak),
        f"{more.peak / less.peak:.3g}",
    )  # fmt: skip


def fitted(work: str, costs: Sequence[Cost]) -> Row:
    """Fit seconds = a * vectors ** exponent."""
    fit = exponent([(each.vectors, each.seconds) for each in costs])
    first, last = costs[0], costs[-1]
    return Row(
        f"{work}, exponent of time",
        f"{first.vectors:,} to {last.vectors:,} vectors",
        f"{shown(last.seconds / last.vectors)} a vector",
        f"{shown(first.seconds / first.vectors)} a vector",
        f"{fit:.3f}",
    )


def cost(work: str, folder: Path, size: int) -> Cost:
    """Run a size in a process of its own; what `check` reads, `generate` has written."""
    command = [sys.executable, "-m", "benchmarks.scale", work, str(folder / str(size)), str(size)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return Cost(int(said[0]), float(said[1]), int(said[2]))


def peak() -> int:
    """Return the most bytes of memory this process has had."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says there may be that of the process that started it
        (line,) = (each for each in status.read_text().splitlines() if each.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def contents(size: int) -> list[Content]:
    """Return the files that make a size."""
    share = size / sum(parts(operator) * length for operator, length in LENGTHS.items())
    found = []
    for operator, length in LENGTHS.items():
        count = round(share * parts(operator) * length)
        files = math.ceil(count / length)
        found += [
            Content(operator, 1 + (2 * index + 1) * parts(operator) // (2 * files), count // files)
            for index in range(files)
        ]
    return found


def write(path: Path, content: Content) -> None:
    """Write a file."""
    # Odd, so that no element type or attribute is passed over.
    step = (LENGTHS[content.operator] // content.count - 1) | 1
    plans = islice(case_specs(content.operator, content.part), 0, step * content.count, step)
    with VectorWriter(path, content.operator, header={"part": content.part}) as writer:
        writer.extend(vector_of(build(plan, seed=0)) for plan in plans)


def make(folder: Path, size: int) -> None:
    """Write the files of a size."""
    if size >= MILLION:
        generate(folder, tier="exhaustive")
        return
    folder.mkdir(exist_ok=True)
    for each in contents(size):
        write(folder / each.name, each)


def look(folder: Path) -> None:
    """Check all vectors of a folder."""
    report: Any = check("numpy", folder, tier="exhaustive", diagnose=False)
    assert report.ok


def vectors(folder: Path) -> int:
    """Return how many vectors are in the files of a folder."""
    return sum(int(h5py.File(path)["/"].attrs["vectors"]) for path in folder.iterdir())


def main(work: str, folder: str, size: str) -> None:
    """Do the work of a process; print the number of vectors, the seconds and the peak."""
    started = perf_counter()
    if work == "generate":
        make(Path(folder), int(size))
    else:
        look(Path(folder))
    took = perf_counter() - started
    print(vectors(Path(folder)), took, peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
