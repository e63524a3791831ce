"""Two processes beside one, and two workers of a Dask cluster, on this machine.

Everything is counted: sending files, starting processes and workers. A cluster is there before.
Files that are checked hold 8,000 vectors each, as those of the exhaustive tier mostly do.
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
from conformance.cluster import connected
from conformance.executors import completed

MADE = [Content.whole("nGraph-AvgPool", part) for part in range(8, 72, 8)]
CHECKED = [Content.whole("AvgPool-1", part) for part in (15, 30, 45, 60)]
WORKING = "benchmarks.isolation:working"

Where = Mapping[str, int | str]
"""The argument of `check` that says where work is done: jobs or cluster."""


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows of making files, and of checking them with a fast and a slow backend."""
    with ExitStack() as stack:
        several: dict[str, Where] = {"2 processes": {"jobs": 2}}
        if not effort.quick:
            several["2 Dask workers"] = {"cluster": stack.enter_context(dask())}
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
    work: Callable[[Where], None],
    files: Sequence[Content],
    several: Mapping[str, Where],
    effort: Effort,
) -> Iterator[Row]:
    """Yield a row for each kind of two processes, beside one."""
    count = sum(each.count for each in files)
    for name, where in several.items():
        yield measured(
            f"{what.format(count)}, {name}",
            "1 process",
            partial(work, where),
            partial(work, {"jobs": 1}),
            effort.rounds(3),
            units=(count, count),
            each="vector",
        )


@contextmanager
def dask() -> Iterator[str]:
    """Yield the address of a cluster of two workers on the loopback."""
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    options = {"processes": True, "dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster:
        yield cluster.scheduler_address


def generate(files: Sequence[Content], where: Where) -> None:
    """Generate files."""
    if "cluster" not in where:
        list(completed(int(where["jobs"]), content, files))
        return
    with connected(str(where["cluster"])) as cluster:
        list(cluster.completed(content, files))


def look(backend: str, folder: Path, where: Where) -> None:
    """Check files."""
    options = {"tier": "exhaustive", "diagnose": False, "isolate": True}
    assert check(backend, folder, **where, **options).ok


def content(each: Content) -> bytes:
    """Return a file, wherever this runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, each.name)
        write(path, each)
        return path.read_bytes()
