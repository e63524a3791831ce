"""Runners: calling a backend for the vectors of a batch, with one answer each."""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from conformance.backends.answer import (
    NOT_RUN,
    SMALL,
    Answer,
    Backend,
    Kind,
    Returned,
    native_bytes,
    native_view,
)
from conformance.backends.call import called
from conformance.backends.python_callable import version_given_by
from conformance.backends.variations import AGAIN, VARIATIONS, Variation
from conformance.batch import Batch
from conformance.dtypes import dtype_of
from conformance.files import Closable
from conformance.operators import operator_named
from conformance.record.why import Why
from conformance.record.words import in_words
from conformance.vector import Array

_BETWEEN_TICKS = 0.1  # seconds


@dataclass(slots=True, eq=False)
class Answers:
    """What a backend returned for the vectors of a batch, one item each.

    `kind` is one of the codes in `answer`. For ARRAY, `outputs` are the arrays returned; their
    `data` is None where all of them have more elements than any outcome. `why` gives the exception
    of RAISED and UNSUPPORTED, what NO_ARRAY returned, and what is known about a crash or a
    timeout. `printed` is what the backend wrote to its standard streams
    during the call, at most the last few thousand characters. `seconds` is how long it took.
    """

    kind: list[Kind]
    outputs: list[tuple[Returned, ...]]
    why: dict[int, Why]
    printed: dict[int, str] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)

    def put(self, index: int, answer: Answer, seconds: float = 0.0) -> None:
        """Store the answer to a vector, and how long it took."""
        self.kind[index], self.outputs[index], why = answer
        self.seconds[index] = seconds
        if why is not None:
            self.why[index] = why

    def at(self, index: int) -> Answer:
        """Return the answer to a vector."""
        return Answer(self.kind[index], self.outputs[index], self.why.get(index))

    @classmethod
    def none_yet(cls, count: int) -> Answers:
        """Return answers of `count` vectors that were not run."""
        return cls([NOT_RUN] * count, [()] * count, {})


class Stopped(Exception):  # noqa: N818 - the run ends early, for a reason that is its text
    """Raised by a runner that cannot go on; vectors it has not run are NOT_RUN."""


class Calls(ABC):
    """The calls for a batch that were begun; `seconds` is how long they have taken when waited for.

    Whoever began them waits for them, or stops them.
    """

    seconds = 0.0

    @abstractmethod
    def wait(self, tick: Callable[[int], None]) -> None:
        """Wait until all answers are there; see `Runner.run`."""

    @abstractmethod
    def stop(self) -> None:
        """End the calls: no answer is stored from here on."""


class Runner(Closable):
    """Runs the vectors of a batch, here or in another process; a context manager."""

    def ready(self) -> None:
        """Wait until the backend has started, so that its start is not the time of a vector.

        Raises UsageError if it cannot be started.
        """

    @property
    def engine(self) -> str:
        """The version of the engine, known when it is ready; "" if the backend gives none."""
        return ""

    @property
    def variations(self) -> frozenset[str]:
        """The names of the variations that a vector can be called in."""
        return frozenset({AGAIN.name})

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Wait no longer than so many seconds for an answer, where waiting can be ended at all."""
        del seconds
        return nullcontext()

    def close(self) -> None:
        """End what was started or opened to run vectors."""

    @abstractmethod
    def begin(
        self,
        batch: Batch,
        answers: Answers,
        order: Sequence[int] | None = None,
        variation: Variation = AGAIN,
    ) -> Calls:
        """Begin to fill in `answers`; another process does so while this one does something else.

        Batches are run in the order in which they were begun. See `run`.
        """

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
        variation: Variation = AGAIN,
    ) -> None:
        """Fill in `answers`, calling `tick(vectors done)` now and then.

        `order` are the vectors to run, by index in the batch; None is all, in their order. They
        are called in one of the `variations` that this runner has. A KeyboardInterrupt leaves the
        vectors from the current one on as NOT_RUN. A vector that is called `alone` stays so where
        there is no memory for it. Raises Stopped.
        """
        calls = self.begin(batch, answers, order, variation)
        try:
            calls.wait(tick)
        finally:
            calls.stop()


class OneByOne(Runner):
    """Has the answers to the vectors of a batch in this process, one after the other."""

    @abstractmethod
    def answer(self, batch: Batch, index: int, limit: int, variation: Variation) -> Answer:
        """Return the answer to a vector, with outputs of up to `limit` elements."""

    def begin(
        self,
        batch: Batch,
        answers: Answers,
        order: Sequence[int] | None = None,
        variation: Variation = AGAIN,
    ) -> Calls:
        """Have the answer to every vector stored when it is waited for; see `Runner.begin`."""
        indices = range(len(batch)) if order is None else order
        return _CallsHere(self, batch, answers, indices, variation)


class _CallsHere(Calls):
    """Calls in this process, which are made when they are waited for."""

    def __init__(
        self,
        runner: OneByOne,
        batch: Batch,
        answers: Answers,
        order: Sequence[int],
        variation: Variation,
    ) -> None:
        self._runner, self._batch, self._answers, self._order = runner, batch, answers, order
        self._variation = variation

    def wait(self, tick: Callable[[int], None]) -> None:
        """Store the answer to every vector; see `Calls.wait`."""
        limits = largest_looked_at(self._batch)
        started = before = perf_counter()
        due = 0.0
        try:
            with changes_undone():
                for done, index in enumerate(self._order, 1):
                    answer = self._runner.answer(self._batch, index, limits[index], self._variation)
                    if answer.kind == NOT_RUN and not self._batch.alone:
                        raise Stopped(in_words(answer.why))
                    now = perf_counter()
                    self._answers.put(index, taken(self._batch, index, answer), now - before)
                    before = now
                    if now > due:
                        tick(done)
                        due = now + _BETWEEN_TICKS
        finally:
            self.seconds = perf_counter() - started

    def stop(self) -> None:
        """Do nothing: the calls end as `wait` does."""


class InProcess(OneByOne):
    """Calls a backend in this process, without protection from a crash or a hang."""

    def __init__(self, backend: Backend, engine: str = "") -> None:
        self._backend = backend
        self._engine = engine

    @property
    def engine(self) -> str:
        """What is known of it, else what the callable or its module gives; see `Runner.engine`."""
        return self._engine or version_given_by(self._backend)

    @property
    def variations(self) -> frozenset[str]:
        """All of them: see `Runner.variations`."""
        return frozenset(VARIATIONS)

    def answer(self, batch: Batch, index: int, limit: int, variation: Variation) -> Answer:
        """Call the backend for a vector."""
        inputs, attributes = given(batch, index)
        return called(
            self._backend,
            batch.operator,
            inputs,
            attributes,
            variation,
            limit,
            native_view if batch.alone else native_bytes,
            passed_on=(KeyboardInterrupt,),
        )


def given(batch: Batch, index: int) -> tuple[Sequence[Array], Mapping[str, Any]]:
    """Return inputs and attributes of a vector as its document hands them over."""
    inputs, attributes = batch.inputs[index], batch.attributes[index]
    convention = operator_named(batch.operator).convention_of(attributes)
    return (inputs, attributes) if convention.is_plain else convention.given(inputs, attributes)


def taken(batch: Batch, index: int, answer: Answer) -> Answer:
    """Return an answer of a backend with its outputs as vectors have them: see `CallConvention`."""
    convention = operator_named(batch.operator).convention_of(batch.attributes[index])
    if not convention.channels_last:
        return answer
    outputs = []
    for output in answer.outputs:
        if output.data is not None:
            array = np.frombuffer(output.data, dtype_of(output.dtype)).reshape(output.shape)
            array = convention.array_taken(array)
            output = Returned(output.dtype, array.shape, array.tobytes())  # noqa: PLW2901
        outputs.append(output)
    return answer._replace(outputs=tuple(outputs))


def largest_looked_at(batch: Batch) -> list[int]:
    """Return per vector how many elements outputs may have to be compared with anything."""
    largest = np.full(len(batch), SMALL, np.int64)
    outcomes = batch.expected_size.reshape(-1, batch.outputs).sum(axis=1)
    np.maximum.at(largest, batch.expected_vector[:: batch.outputs], outcomes)
    limits: list[int] = largest.tolist()
    return limits


@contextmanager
def changes_undone() -> Iterator[None]:
    """Restore what a backend may change in this process and the checker needs afterwards."""
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
