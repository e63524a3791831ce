"""Calling a backend in other processes: a crash, a hang or a print is one vector's affair."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from conformance.batch import Batch
from conformance.check.runner import (
    CRASHED,
    TIMED_OUT,
    UNSUPPORTED,
    Answers,
    Stopped,
    largest_looked_at,
)
from conformance.dtypes import name_of
from conformance.errors import UsageError
from conformance.workers import Launch
from conformance.workers.answer import Answer
from conformance.workers.program import Program
from conformance.workers.protocol import attributes_text

_TICK = 0.1
_STARTS = 10
"""Starts in a row that may end without one answer, before the first answer of all."""


class Isolated:
    """A Runner that asks `jobs` copies of a program, each of them one vector at a time.

    A call has `timeout` seconds (None: no limit), a program `memory` bytes of address space
    (Linux). A program that crashes or hangs is killed, and a fresh one gets the next vector. The
    programs are started at once and live until `close`, or the end of a `with` block. Raises
    UsageError for an argument that is wrong, and `run` does for a program that does not work.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        jobs: int = 1,
        timeout: float | None = None,
        memory: int | None = None,
    ) -> None:
        if jobs < 1:
            raise UsageError(f"jobs is {jobs}: at least 1")
        if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
            raise UsageError(f"timeout is {timeout} s: above 0, or None for no limit")
        if memory is not None and memory < 1:
            raise UsageError(f"memory is {memory} bytes: at least 1, or None for no limit")
        starts = _Starts(launch, timeout, memory)
        self._slots = [_Slot(starts) for _ in range(jobs)]

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Ask for every vector; see `Runner.run`.

        Raises UsageError if the program cannot be started, or does not work at all, and Stopped
        if it has worked and cannot be started again. Whatever is raised, every program is killed
        first.
        """
        job = _Job(batch, answers, order)
        for slot in self._slots:
            slot.take(job)
        try:
            while not job.finished.wait(_TICK):
                tick(job.done)
        finally:
            if job.stop():
                self._interrupt()
        if job.error is not None:
            raise job.error

    def ready(self) -> None:
        """Wait until the programs are started; UsageError if one cannot be."""
        for slot in self._slots:
            slot.wait()

    def close(self) -> None:
        """Let every program exit; those that do not are killed."""
        for slot in self._slots:
            slot.leave()
        for slot in self._slots:
            slot.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._interrupt()
        self.close()

    def _interrupt(self) -> None:
        for slot in self._slots:
            slot.interrupt()


class _Starts:
    """How programs are started, and how many in a row gave no answer."""

    def __init__(self, launch: Launch, timeout: float | None, memory: int | None) -> None:
        self.timeout = timeout
        self._launch = launch
        self._memory = memory
        self._in_vain = 0

    @property
    def works(self) -> bool:
        """Whether some program has given an answer."""
        return self._in_vain < 0

    def start(self) -> Program:
        """Start a program."""
        return Program(self._launch, memory=self._memory)

    def answered(self) -> None:
        """Note that a program works, if not always."""
        self._in_vain = -1

    def failed(self, program: Program, answer: Answer) -> None:
        """Note that a program gave no answer; UsageError if none ever did."""
        if self.works:
            return
        self._in_vain += 1
        if self._in_vain >= _STARTS:
            raise UsageError(
                f"{self._launch}: {_STARTS} starts in a row without one answer, the last with "
                f"{answer.text}{program.last_words}"
            )


class _Job:
    """A batch while it is run: which vector is next, and what went wrong."""

    def __init__(self, batch: Batch, answers: Answers, order: Sequence[int] | None) -> None:
        self.batch = batch
        self.done = 0
        self.stopped = False
        self.error: BaseException | None = None
        self.finished = threading.Event()
        self._answers = answers
        indices = range(len(batch)) if order is None else order
        self._total = len(indices)
        self._left = iter(indices)
        self._lock = threading.Lock()
        self.limits = largest_looked_at(batch)
        # Vectors share their attributes, which live as long as the batch.
        self._texts: dict[int, str] = {}
        if not indices:
            self.finished.set()

    def take(self) -> int | None:
        """Return a vector that nobody else has, None if there is none or the run is stopped."""
        with self._lock:
            return None if self.stopped else next(self._left, None)

    def refusal(self, program: Program, index: int) -> Answer | None:
        """Return the answer to a vector that a program does not want to be asked for."""
        inputs, operator = self.batch.inputs[index], self.batch.operator
        assert program.welcome is not None
        dtype = name_of(inputs[0].dtype) if inputs else ""
        if program.welcome.offers(operator, dtype):
            return None
        return Answer(UNSUPPORTED, text=f"the program does not list {operator} of {dtype}")

    def ask(self, program: Program, index: int) -> None:
        """Begin a call for a vector."""
        batch = self.batch
        given = batch.attributes[index]
        text = self._texts.get(id(given))
        if text is None:
            text = self._texts[id(given)] = attributes_text(given)
        program.send(batch.operator, batch.inputs[index], text, limit=self.limits[index])

    def put(self, index: int, answer: Answer, printed: str) -> None:
        """Keep the answer to a vector, unless the run was stopped meanwhile."""
        with self._lock:
            if self.stopped:
                return
            answers = self._answers
            answers.kind[index], answers.outputs[index] = answer.kind, answer.outputs
            if answer.text:
                answers.text[index] = answer.text
            if printed:
                answers.printed[index] = printed
            self.done += 1
            if self.done == self._total:
                self.finished.set()

    def fail(self, error: BaseException) -> None:
        """End the run with an error, unless it has ended."""
        with self._lock:
            if not self.stopped:
                self.error, self.stopped = error, True
                self.finished.set()

    def stop(self) -> bool:
        """End the run: no answer is kept from here on. Says whether any is missing."""
        with self._lock:
            self.stopped = True
            return self.done < self._total


class _Slot(threading.Thread):
    """A thread with a program of its own, started as soon as the thread is and ended with it."""

    def __init__(self, starts: _Starts) -> None:
        super().__init__(name="conformance worker", daemon=True)
        self._starts = starts
        self._program: Program | None = None
        self._failure: Exception | None = None
        self._leaving = False
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._settled = threading.Event()
        self.start()

    def wait(self) -> None:
        """Wait until the program was started, and raise what went wrong."""
        self._settled.wait()
        if self._failure is not None:
            raise self._failure

    def take(self, job: _Job) -> None:
        """Work at a job together with other threads."""
        self._jobs.put(job)

    def leave(self) -> None:
        """End the thread and its program; nobody waits for one that has not yet started."""
        self._leaving = True
        self._jobs.put(None)
        program = self._program
        if program is not None and program.welcome is None:
            program.interrupt()

    def interrupt(self) -> None:
        """Kill the program, whatever it does."""
        program = self._program
        if program is not None:
            program.interrupt()

    def run(self) -> None:
        """See threading.Thread."""
        try:
            self._start_program(lambda: self._leaving)
        except Exception as error:  # noqa: BLE001 - raised where somebody waits
            self._failure = error
        self._settled.set()
        while (job := self._jobs.get()) is not None:
            try:
                self._work(job)
            except BaseException as error:  # noqa: BLE001 - raised where somebody waits
                job.fail(error)
        if self._program is not None:
            self._program.close()

    def _start_program(self, is_over: Callable[[], bool]) -> Program:
        program = self._program = self._starts.start()
        if is_over():  # whoever ended it did not know of this program
            program.interrupt()
        program.greet(self._starts.timeout)
        return program

    def _start_again(self, job: _Job) -> Program:
        try:
            return self._start_program(lambda: job.stopped)
        except UsageError as error:
            if self._starts.works:
                raise Stopped(str(error)) from error
            raise

    def _work(self, job: _Job) -> None:
        if self._failure is not None:
            raise self._failure
        program = self._program
        asked: deque[int] = deque()  # and not answered
        again: deque[int] = deque()  # asked of a program that then ended
        while (program := self._ask(job, program, asked, again)) is not None:
            index = asked.popleft()
            answer = program.receive(job.limits[index], self._starts.timeout)
            if answer.kind not in {CRASHED, TIMED_OUT}:
                self._starts.answered()
            elif not job.stopped:
                self._starts.failed(program, answer)
            job.put(index, answer, program.printed)
            if not program.alive:
                again.extend(asked)
                asked.clear()

    def _ask(
        self, job: _Job, program: Program | None, asked: deque[int], again: deque[int]
    ) -> Program | None:
        """Ask for as many vectors as a program takes at once; None if there are no more.

        One that works ahead has the next call while it works, and never waits for it.
        """
        while len(asked) <= (program is not None and program.works_ahead):
            index = again.popleft() if again else job.take()
            if index is None or job.stopped:
                break
            if program is None or not program.alive:
                program = self._start_again(job)
            if (refusal := job.refusal(program, index)) is not None:
                job.put(index, refusal, "")
                continue
            job.ask(program, index)
            asked.append(index)
        return program if asked else None
