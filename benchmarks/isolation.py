"""What it costs to call a backend in a worker, and what more workers gain.

Runners alone are timed, without judging: the same vectors, already open and in memory, go to a
backend in this process and in workers, which are started before. Starting one is timed apart.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from benchmarks.paired import Effort, Row, measured
from benchmarks.start_up import IMPORT_NUMPY, interpreter
from conformance import load_backend, open_vectors
from conformance.backends.program import python_worker
from conformance.backends.program.isolated import Isolated
from conformance.backends.runner import Answers, InProcess, Runner

ROUNDS = {"numpy": 5, "torch": 9}
WORKING = 1000
"""Vectors that the working backend gets."""


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows of workers beside this process, of two beside one, and of a start."""
    with open_vectors() as files:
        batches = [batch for file in files for batch in file.batches()]
    few = [next(some(batch, WORKING) for batch in batches if len(batch) >= WORKING)]
    for name, rounds in ROUNDS.items():
        yield in_worker(name, few if effort.quick else batches, effort.rounds(rounds))
    yield two_jobs(few, effort.rounds(5))
    yield start(batches[0], effort.rounds(9))


def in_worker(name: str, batches: list[Any], rounds: int) -> Row:
    """Measure a worker beside this process."""
    backend = torch_alone if name == "torch" else load_backend(name)
    here, count = InProcess(backend), sum(map(len, batches))
    with Isolated(python_worker(torch_alone if name == "torch" else name), timeout=60) as worker:
        return measured(
            f"{name} in a worker, {count:,} calls",
            "in this process",
            lambda: call(worker, batches),
            lambda: call(here, batches),
            rounds,
            units=(count, count),
            each="call",
        )


def two_jobs(batches: list[Any], rounds: int) -> Row:
    """Measure two workers beside one, with a backend that works."""
    launch, count = python_worker(working), sum(map(len, batches))
    with Isolated(launch) as one, Isolated(launch, jobs=2) as two:
        return measured(
            f"2 workers, {count:,} calls of 1 ms",
            "1 worker",
            lambda: call(two, batches),
            lambda: call(one, batches),
            rounds,
            units=(count, count),
            each="call",
        )


def start(batch: Any, rounds: int) -> Row:
    """Measure a worker's start, one call and end beside an interpreter that imports numpy."""

    def ours() -> None:
        with Isolated(python_worker("numpy")) as worker:
            worker.run(batch, Answers.none_yet(len(batch)), lambda _: None, [0])

    theirs = interpreter(*IMPORT_NUMPY)
    return measured("worker: start, 1 call, end", "import numpy", ours, theirs, rounds)


def call(runner: Runner, batches: list[Any]) -> None:
    """Have a runner call its backend for some batches."""
    for batch in batches:
        runner.run(batch, Answers.none_yet(len(batch)), lambda _: None)


def some(batch: Any, count: int) -> Any:
    """Return the first vectors of a batch."""
    from conformance.batch import batch_of, vector_at  # noqa: PLC0415

    return batch_of([vector_at(batch, index) for index in range(count)])


def working(operator: str, inputs: Any, attributes: Any) -> Any:
    """Do about a millisecond of work, and then answer."""
    sum(range(50_000))
    return load_backend("numpy")(operator, inputs, attributes)


def torch_alone(operator: str, inputs: Any, attributes: Any) -> Any:
    """Call the torch backend on one thread: its threads would meet those of other workers."""
    importlib.import_module("torch").set_num_threads(1)
    return load_backend("torch")(operator, inputs, attributes)
