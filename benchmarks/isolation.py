"""What it costs to call a backend in a worker, and what more workers gain.

Runners alone are timed, without judging: the same vectors, already open and in memory, go to a
backend in this process and in workers, which are started before. Runs take turns, so that a slow
moment of the machine meets both. Starting a worker is timed apart.

    python benchmarks/isolation.py [VECTORS]
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from conformance import load_backend, open_vectors
from conformance.check.isolated import Isolated
from conformance.check.runner import Answers, InProcess, Runner
from conformance.workers import python_worker

ROUNDS = {"numpy": 5, "torch": 9}
WORKING = 1000
"""Vectors that the working backend gets."""


def working(_operator: str, inputs: Any, _attributes: Any) -> Any:
    """Do about a millisecond of work, and return something."""
    sum(range(50_000))
    return inputs[0]


def torch_alone(operator: str, inputs: Any, attributes: Any) -> Any:
    """Call the torch backend on one thread: its threads would meet those of other workers."""
    importlib.import_module("torch").set_num_threads(1)
    return load_backend("torch")(operator, inputs, attributes)


def seconds(runner: Runner, batches: list[Any]) -> float:
    """Return how long a runner takes for some batches."""
    started = perf_counter()
    for batch in batches:
        runner.run(batch, Answers.none_yet(len(batch)), lambda _: None)
    return perf_counter() - started


def paired(first: Callable[[], float], second: Callable[[], float], rounds: int) -> list[Any]:
    """Return seconds of both and their ratio per round, after one round to warm up."""
    first()
    second()
    measured = []
    for _ in range(rounds):
        one, other = first(), second()
        measured.append((one, other, one / other))
    return list(zip(*measured, strict=True))


def isolated(backend: Any, batches: list[Any], rounds: int) -> list[Any]:
    """Measure a worker beside this process."""
    here = InProcess(backend if callable(backend) else load_backend(backend))
    with Isolated(python_worker(backend), timeout=60) as worker:
        return paired(lambda: seconds(worker, batches), lambda: seconds(here, batches), rounds)


def two_jobs(batches: list[Any], rounds: int) -> list[Any]:
    """Measure one worker beside two, with a backend that works."""
    launch = python_worker(working)
    with Isolated(launch) as one, Isolated(launch, jobs=2) as two:
        return paired(lambda: seconds(one, batches), lambda: seconds(two, batches), rounds)


def start_up(batch: Any, rounds: int) -> list[Any]:
    """Measure a worker's start, one call and end beside an interpreter that imports numpy."""

    def ours() -> float:
        started = perf_counter()
        with Isolated(python_worker("numpy")) as worker:
            worker.run(batch, Answers.none_yet(len(batch)), lambda _: None, [0])
        return perf_counter() - started

    def theirs() -> float:
        started = perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy"], check=True)
        return perf_counter() - started

    return paired(ours, theirs, rounds)


def some(batches: list[Any], least: int) -> list[Any]:
    """Return the first batches that hold a number of vectors."""
    count, found = 0, []
    for batch in batches:
        if count < least:
            found.append(batch)
            count += len(batch)
    return found


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    table = Table("what", "against", "ms", "ms", "ratio (quartiles)", "us a call more")

    def add(what: str, against: str, columns: list[Any], calls: int = 0) -> None:
        ours, theirs, ratios = columns
        low, middle, high = statistics.quantiles(ratios, n=4)
        more = statistics.median(a - b for a, b in zip(ours, theirs, strict=True))
        table.add_row(
            what,
            against,
            f"{statistics.median(ours) * 1e3:.0f}",
            f"{statistics.median(theirs) * 1e3:.0f}",
            f"{middle:.2f} ({low:.2f}-{high:.2f})",
            f"{more / calls * 1e6:.0f}" if calls else "",
        )

    with open_vectors(sys.argv[1] if len(sys.argv) > 1 else None) as files:
        batches = [batch for file in files for batch in file.batches()]
        count = sum(map(len, batches))
        for name, rounds in ROUNDS.items():
            try:
                load_backend(name)
            except Exception as error:  # noqa: BLE001 - an engine that is not installed
                table.add_row(f"{name} in a worker", str(error), "", "", "", "")
                continue
            backend = torch_alone if name == "torch" else name
            columns = isolated(backend, batches, rounds)
            add(f"{name} in a worker, {count:,} calls", "in this process", columns, count)
        few = some(batches, WORKING)
        calls = sum(map(len, few))
        add(f"1 worker, {calls:,} calls of 1 ms", "2 workers", two_jobs(few, 5))
        add("start, 1 call, end", "python -c 'import numpy'", start_up(batches[0], 9))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
