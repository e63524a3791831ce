"""Two processes beside one, and two workers of a Dask cluster, on this machine.

Everything is counted: opening the executor, sending files, starting workers. A cluster is there
before. Files that are checked hold 8,000 vectors each, as those of the exhaustive tier mostly do.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.paired import Effort, Row, measured
from benchmarks.scale import Content, write
from conformance import check
from conformance.executors import Machines, completed, executor_named

MADE = [Content.whole("nGraph-AvgPool", part) for part in range(8, 72, 8)]
CHECKED = [Content.whole("AvgPool-1", part) for part in (15, 30, 45, 60)]
WORKING = "benchmarks.isolation:working"


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows of making files, and of checking them with a fast and a slow backend."""
    with ExitStack() as stack:
        several = {"2 processes": executor_named("process", 2)}
        if not effort.quick:
            several["2 Dask workers"] = stack.enter_context(dask())
        made = MADE[:2] if effort.quick else MADE
        yield from pairs("generate {:,} vectors", partial(generate, made), made, several, effort)
        for what, backend, files in (
            ("check {:,} vectors", "numpy", made if effort.quick else CHECKED),
            ("check {:,} vectors, 1 ms a call", WORKING, made[:4]),
        ):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for each in files:
                write(folder / each.name, each)
            yield from pairs(what, partial(look, backend, folder), files, several, effort)


def pairs(
    what: str,
    work: Callable[[Machines], None],
    files: Sequence[Content],
    several: Mapping[str, Machines],
    effort: Effort,
) -> Iterator[Row]:
    """Yield a row for each kind of two machines, beside one process."""
    count = sum(each.count for each in files)
    one = executor_named("process", 1)
    for name, machines in several.items():
        yield measured(
            f"{what.format(count)}, {name}",
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


def generate(files: Sequence[Content], machines: Machines) -> None:
    """Generate files."""
    for _ in completed(machines, content, files):
        pass


def look(backend: str, folder: Path, machines: Machines) -> None:
    """Check files."""
    options = {"tier": "exhaustive", "diagnose": False}
    assert check(backend, folder, executor=machines, **options).ok


def content(each: Content) -> bytes:
    """Return a file, wherever this runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, each.name)
        write(path, each)
        return path.read_bytes()
