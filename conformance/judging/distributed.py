"""A run on the machines of an executor: each judges some vectors and sends back the verdicts."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.backends.warm_worker import WorkerSettings, warm_worker
from conformance.errors import UsageError
from conformance.executors import completed
from conformance.judging.run import Run
from conformance.judging.tally import INTERRUPTED, Tally
from conformance.settings import Settings
from conformance.vectorfile import VectorFile
from conformance.vectorfile.sources import InMemory, Selected

_VECTORS = 8192
"""Vectors in a task, at most: a machine that dies has not done much in vain."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file that travels with a task: a machine may have no disk in common with this one.

    It is read when the task leaves, so that files of tasks that wait take no memory.
    """

    path: Path
    content: bytes | None = None

    def read(self) -> bytes:
        """Return what is in the file, wherever this is."""
        return self.path.read_bytes() if self.content is None else self.content

    def __reduce__(self) -> tuple[Any, ...]:
        return FileContent, (self.path, self.read())


@dataclass(frozen=True, slots=True)
class Task:
    """Vectors of a file, and the worker that a machine is to ask for them.

    `variations` are those of `Run`.
    """

    index: int
    worker: WorkerSettings
    pins: Mapping[str, str]
    file: FileContent
    part: Selected
    variations: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Distributed:
    """Runs vectors of files on the machines of settings, which load `backend`, a text."""

    settings: Settings
    backend: str

    def ready(self) -> None:
        """Do nothing: each machine starts the backend with its first task."""

    def run(
        self,
        selected: Sequence[Selected],
        pins: Mapping[str, str],
        tick: Callable[[int], None],
        variations: Sequence[str] | None = None,
    ) -> Tally:
        """Run what is selected and return the tally; `tick(vectors done)` is called per task."""
        parts = [part for selection in selected for part in selection.split(_VECTORS)]
        worker = WorkerSettings(
            secrets.token_hex(8), self.backend, self.settings.timeout, self.settings.memory
        )
        tasks = [_task(index, part, worker, pins, variations) for index, part in enumerate(parts)]
        tallies: dict[int, Tally] = {}
        assert self.settings.executor is not None
        done = 0
        total = Tally()
        try:
            for task, tally in completed(self.settings.executor, perform, tasks):
                tallies[task.index] = tally
                done += len(tally)
                tick(done)
        except KeyboardInterrupt:
            total.stopped = INTERRUPTED
        for index in sorted(tallies):
            tally, source = tallies[index], parts[index].source
            tally.batches = [replace(batch, source=source) for batch in tally.batches]
            total.add(tally)
        return total


def _task(
    index: int,
    part: Selected,
    worker: WorkerSettings,
    pins: Mapping[str, str],
    variations: Sequence[str] | None,
) -> Task:
    if isinstance(part.source, InMemory):
        raise UsageError("vectors in memory cannot be run elsewhere: give a vector file")
    file = FileContent(Path(part.source.path))
    # Whoever has the task opens the file itself.
    part = replace(part, source=InMemory(part.source.operator, ()))
    return Task(index, worker, pins, file, part, variations)


def perform(task: Task) -> Tally:
    """Run a task, on the machine that this is."""
    runner = warm_worker(task.worker)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.h5")
        path.write_bytes(task.file.read())
        with VectorFile(path) as file:
            run = Run(runner, task.pins, variations=task.variations)
            tally = run.all([replace(task.part, source=file)])
            # Whoever asked has the vectors: only the verdicts are sent back.
            nowhere = InMemory(file.operator, ())
            tally.batches = [replace(b, source=nowhere) for b in tally.batches]
            return tally
