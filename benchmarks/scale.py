"""Time and memory of making and checking a thousand vectors to a million.

Each size runs in a fresh process, which says how much memory it took at most. The vectors are
whole parts of the exhaustive tier, spread evenly over the product, a file each. A million is what
`generate(..., tier="exhaustive")` makes.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.paired import Effort, Row, shown
from conformance import check
from conformance.generate import generate
from conformance.operators import vector_of
from conformance.sweep.exhaustive import exhaustive, parts
from conformance.vectorfile import VectorWriter

SMALLEST = 1_000
LARGEST = 100_000
MILLION = 1_000_000
_NGRAPH, _AVG = "nGraph-AvgPool", "AvgPool-1"
_SHARES = {10_000: {_NGRAPH: 2, _AVG: 1}, 100_000: {_NGRAPH: 20, _AVG: 10}}
"""Parts of the exhaustive tier that make a size: 1,000 vectors each, and 8,000."""


@dataclass(frozen=True, slots=True)
class Content:
    """What one file holds: a part, counted from 1, of the exhaustive tier of an operator."""

    operator: str
    part: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.operator}-{self.part:03}.h5"


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
        f"{what}, peak memory", against, megabytes(more), megabytes(less),
        f"{more.peak / less.peak:.3g}",
    )  # fmt: skip


def fitted(work: str, costs: Sequence[Cost]) -> Row:
    """Fit seconds = a * vectors ** exponent."""
    x = [math.log(each.vectors) for each in costs]
    y = [math.log(each.seconds) for each in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    exponent = products / sum((a - mean_x) ** 2 for a in x)
    first, last = costs[0], costs[-1]
    return Row(
        f"{work}, exponent of time",
        f"{first.vectors:,} to {last.vectors:,} vectors",
        f"{shown(last.seconds / last.vectors)} a vector",
        f"{shown(first.seconds / first.vectors)} a vector",
        f"{exponent:.3f}",
    )


def megabytes(each: Cost) -> str:
    """Return the peak of a process."""
    return f"{each.peak / 1e6:.0f} MB"


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
    return [
        Content(operator, 1 + (2 * index + 1) * parts(operator) // (2 * count))
        for operator, count in _SHARES.get(size, {_NGRAPH: size // SMALLEST}).items()
        for index in range(count)
    ]


def write(path: Path, content: Content) -> int:
    """Write a file and return how many vectors are in it."""
    with VectorWriter(path, content.operator, header={"part": content.part}) as writer:
        for case in exhaustive(content.operator, 0, content.part):
            writer.add(vector_of(case))
    return len(writer)


def make(folder: Path, size: int) -> int:
    """Write the files of a size and return how many vectors are in them."""
    if size >= MILLION:
        generate(folder, tier="exhaustive", resume=True)
        return size
    folder.mkdir(exist_ok=True)
    return sum(write(folder / each.name, each) for each in contents(size))


def look(folder: Path) -> int:
    """Check all vectors of a folder and return how many there were."""
    report: Any = check("numpy", folder, tier="exhaustive", diagnose=False)
    assert report.ok
    return len(report.results)


def main(work: str, folder: str, size: str) -> None:
    """Do the work of a process; print the number of vectors, the seconds and the peak."""
    started = perf_counter()
    count = make(Path(folder), int(size)) if work == "generate" else look(Path(folder))
    print(count, perf_counter() - started, peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
