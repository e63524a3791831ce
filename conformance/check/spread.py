"""A run on the machines of an executor: each gets some vectors and sends back what came of them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.batch import Ints
from conformance.check.going import Run
from conformance.check.kept import Wanted, kept
from conformance.check.portion import Portion
from conformance.check.sources import InMemory, Selection
from conformance.errors import UsageError
from conformance.executors import Machines, completed
from conformance.vectorfile import VectorFile

_VECTORS = 8192
"""Vectors in a task, at most: a machine that dies has not done much in vain."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A file that travels with a task: a machine may have no disk in common with this one.

    It is read when the task leaves, so that files of tasks that wait take no memory.
    """

    path: Path
    content: bytes | None = None

    def read(self) -> bytes:
        """Return what is in the file, wherever this is."""
        return self.path.read_bytes() if self.content is None else self.content

    def __reduce__(self) -> tuple[Any, ...]:
        return Carried, (self.path, self.read())


@dataclass(frozen=True, slots=True)
class Task:
    """Vectors of a file, and the worker that a machine is to ask for them."""

    index: int
    worker: Wanted
    pins: Mapping[str, str]
    file: Carried
    numbers: Ints
    again: Ints


@dataclass(frozen=True, slots=True)
class Spread:
    """Runs vectors of files on machines; `backend` is a text, since each machine loads it."""

    machines: Machines
    backend: str
    timeout: float | None = None
    memory: int | None = None

    def all(
        self, selections: Sequence[Selection], pins: Mapping[str, str], tick: Callable[[int], None]
    ) -> tuple[Portion, bool]:
        """Run what is selected; also says whether the user interrupted it."""
        parts = [part for each in selections for part in each.portions(_VECTORS)]
        worker = Wanted(secrets.token_hex(8), self.backend, self.timeout, self.memory)
        tasks = [_task(index, part, worker, pins) for index, part in enumerate(parts)]
        portions: dict[int, Portion] = {}
        done, interrupted = 0, False
        try:
            for task, portion in completed(self.machines, perform, tasks):
                portions[task.index] = portion
                done += len(portion)
                tick(done)
        except KeyboardInterrupt:
            interrupted = True
        found = Portion(stopped="interrupted" if interrupted else "")
        for index in sorted(portions):
            portion = portions[index]
            source = parts[index].source
            portion.parts = [replace(part, source=source) for part in portion.parts]
            found.add(portion)
        return found, interrupted


def _task(index: int, part: Selection, worker: Wanted, pins: Mapping[str, str]) -> Task:
    if isinstance(part.source, InMemory):
        raise UsageError("vectors in memory cannot be run elsewhere: give a vector file")
    file = Carried(Path(part.source.path))
    return Task(index, worker, pins, file, part.numbers, part.again)


def perform(task: Task) -> Portion:
    """Run a task, on the machine that this is."""
    with kept(task.worker) as runner, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.h5")
        path.write_bytes(task.file.read())
        with VectorFile(path) as file:
            run = Run(runner, task.pins)
            run.all([Selection(file, task.numbers, task.again)])
            # Whoever asked has the vectors: only what came of them is sent back.
            nowhere = InMemory(file.operator, ())
            run.found.parts = [
                replace(part, source=nowhere, whole=None) for part in run.found.parts
            ]
            return run.found
