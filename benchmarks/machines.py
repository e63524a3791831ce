"""Two processes beside one, and two workers of a Dask cluster, on this machine.

Everything is counted: opening the executor, sending files, starting workers. A cluster is there
before. Files that are checked hold 8,000 vectors each, as those of the exhaustive tier mostly do.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.paired import Effort, Row, measured
from benchmarks.scale import SMALLEST, Content, write
from conformance import check
from conformance.executors import Machines, completed, executor_named

MADE = [Content("nGraph-AvgPool", part) for part in range(8, 72, 8)]
CHECKED = [Content("AvgPool-1", part) for part in (15, 30, 45, 60)]


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows of making files, then of checking them."""
    made, checked = (MADE[:2], MADE[:2]) if effort.quick else (MADE, CHECKED)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        one = executor_named("process", 1)
        several = {"2 processes": executor_named("process", 2)}
        if not effort.quick:
            several["2 Dask workers"] = stack.enter_context(dask())
        counts = SMALLEST * len(made), sum(write(folder / each.name, each) for each in checked)
        works = {"generate": partial(generate, made), "check": partial(look, folder)}
        for (what, work), count in zip(works.items(), counts, strict=True):
            for name, machines in several.items():
                yield measured(
                    f"{what} {count:,} vectors, {name}",
                    "1 process",
                    partial(work, machines),
                    partial(work, one),
                    effort.rounds(3),
                    units=(count, count),
                    each="vector",
                )


@contextmanager
def dask() -> Iterator[Machines]:
    """Yield what opens a cluster of two workers on the loopback."""
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    options = {"processes": True, "dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster:
        yield executor_named(f"dask:{cluster.scheduler_address}")


def generate(files: list[Content], machines: Machines) -> None:
    """Generate files."""
    for _ in completed(machines, content, files):
        pass


def look(folder: Path, machines: Machines) -> None:
    """Check files."""
    options = {"tier": "exhaustive", "diagnose": False}
    assert check("numpy", folder, executor=machines, **options).ok


def content(each: Content) -> bytes:
    """Return a file, wherever this runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, each.name)
        write(path, each)
        return path.read_bytes()
