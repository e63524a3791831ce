"""Calling a backend: one answer per vector, copied out before the next call."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from conformance.batch import Batch
from conformance.vector import Array
from conformance.workers.answer import (
    ARRAY,
    CRASHED,
    MISSING,
    NO_ARRAY,
    NOT_RUN,
    RAISED,
    SMALL,
    TIMED_OUT,
    UNSUPPORTED,
    Returned,
    answer_raised,
    answer_returned,
)

__all__ = [
    "ARRAY",
    "CRASHED",
    "MISSING",
    "NOT_RUN",
    "NO_ARRAY",
    "RAISED",
    "SMALL",
    "TIMED_OUT",
    "UNSUPPORTED",
    "Answers",
    "Backend",
    "InProcess",
    "Runner",
    "Stopped",
    "largest_looked_at",
]

Backend = Callable[[str, Sequence[Array], Mapping[str, Any]], Any]


@dataclass(slots=True, eq=False)
class Answers:
    """What a backend returned for the vectors of a batch, one item each.

    `kind` is one of the codes above. For ARRAY, `outputs` are the arrays returned; their `data`
    is None where all of them have more elements than any outcome. `text` gives the exception of
    RAISED and UNSUPPORTED, the type of what NO_ARRAY returned, and what is known about a crash or
    a timeout, each on one line. `printed` is what the backend wrote to its standard streams
    during the call, at most the last few thousand characters.
    """

    kind: list[int]
    outputs: list[tuple[Returned, ...]]
    text: dict[int, str]
    printed: dict[int, str] = field(default_factory=dict)

    @classmethod
    def none_yet(cls, count: int) -> Answers:
        """Return answers of `count` vectors that were not run."""
        return cls([NOT_RUN] * count, [()] * count, {})


class Stopped(Exception):  # noqa: N818 - the run ends early, for a reason that is its text
    """Raised by a runner that cannot go on; vectors it has not run are NOT_RUN."""


class Runner(Protocol):
    """Runs the vectors of a batch, here or in another process."""

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Fill in `answers`, calling `tick(vectors done)` now and then.

        `order` are the vectors to run, by index in the batch; None is all, in their order. A
        KeyboardInterrupt leaves the vectors from the current one on as NOT_RUN. Raises Stopped.
        """


class InProcess:
    """Calls a backend in this process: nothing protects from a crash or a hang."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Call the backend for every vector; see `Runner.run`."""
        backend, operator = self._backend, batch.operator
        kinds, outputs = answers.kind, answers.outputs
        limits = largest_looked_at(batch)
        due = 0.0
        with _changes_undone():
            for done, index in enumerate(range(len(batch)) if order is None else order, 1):
                # Fresh, writable arguments: what a backend does to them is its own affair.
                inputs = [array.copy() for array in batch.inputs[index]]
                attributes = dict(batch.attributes[index])
                for name, value in attributes.items():
                    if type(value) is list:
                        attributes[name] = value.copy()
                try:
                    output = backend(operator, inputs, attributes)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # noqa: BLE001 - whatever it is, the backend raised it
                    answer = answer_raised(error)
                else:
                    answer = answer_returned(output, limits[index])
                kinds[index], outputs[index], text = answer
                if text:
                    answers.text[index] = text
                now = perf_counter()
                if now > due:
                    tick(done)
                    due = now + 0.1


def largest_looked_at(batch: Batch) -> list[int]:
    """Return per vector how many elements outputs may have to be compared with anything."""
    largest = np.full(len(batch), SMALL, np.int64)
    outcomes = batch.expected_size.reshape(-1, batch.outputs).sum(axis=1)
    np.maximum.at(largest, batch.expected_vector[:: batch.outputs], outcomes)
    limits: list[int] = largest.tolist()
    return limits


@contextmanager
def _changes_undone() -> Iterator[None]:
    """Give back what a backend may change of this process and the checker goes on to use."""
    streams = sys.stdin, sys.stdout, sys.stderr
    depth = sys.getrecursionlimit()
    directory = None
    with suppress(OSError):  # it may have been removed
        directory = Path.cwd()
    with np.errstate(), warnings.catch_warnings():
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams
            sys.setrecursionlimit(depth)
            with suppress(OSError):
                if directory is not None:
                    os.chdir(directory)
