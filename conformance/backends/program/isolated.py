"""Calling a backend in other processes: a crash or a hang costs the answer to one vector."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from conformance.backends.answer import CRASHED, NOT_RUN, TIMED_OUT, UNSUPPORTED, Answer
from conformance.backends.program import Launch
from conformance.backends.program.program import Program
from conformance.backends.program.protocol import Welcome, attributes_text
from conformance.backends.runner import (
    Answers,
    Calls,
    Runner,
    Stopped,
    given,
    largest_looked_at,
    taken,
)
from conformance.backends.variations import AGAIN, VARIATIONS, Variation
from conformance.batch import Batch
from conformance.dtypes import name_of
from conformance.errors import UsageError
from conformance.process import SharedMemory, oom_kills
from conformance.record.why import Raised
from conformance.record.words import in_words
from conformance.settings import check_jobs, check_limits

_TICK = 0.1
_STARTS = 10
"""Starts in a row that may end without one answer, before the first answer of all."""


class Isolated(Runner):
    """Asks `jobs` copies of a program, each of them one vector at a time.

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
        check_jobs(jobs)
        check_limits(timeout, memory)
        self.launch, self.timeout, self.memory = launch, timeout, memory
        self.works = False  # whether some program has given an answer
        self._failures = 0  # starts in a row, before the first answer
        self._threads = [_ProgramThread(self) for _ in range(jobs)]

    def begin(
        self,
        batch: Batch,
        answers: Answers,
        order: Sequence[int] | None = None,
        variation: Variation = AGAIN,
    ) -> Calls:
        """Begin to ask for every vector; see `Runner.begin`.

        To wait for the answers raises UsageError if the program cannot be started, or does not
        work at all, and Stopped if it has worked and cannot be started again. To stop calls that
        have no answer yet kills every program.
        """
        calls = _Calls(batch, answers, order, variation, self._interrupt)
        for thread in self._threads:
            thread.batches.put(calls)
        return calls

    def _interrupt(self) -> None:
        for thread in self._threads:
            thread.interrupt()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Wait no longer than so many seconds for an answer."""
        timeout = self.timeout
        self.timeout = seconds if timeout is None else min(seconds, timeout)
        try:
            yield
        finally:
            self.timeout = timeout

    def ready(self) -> None:
        """Wait until the programs are started; UsageError if one cannot be."""
        for thread in self._threads:
            thread.ready.result()

    @property
    def engine(self) -> str:
        """What the first program says; see `Runner.engine`."""
        return self._welcome.engine if self._welcome is not None else ""

    @property
    def variations(self) -> frozenset[str]:
        """What the first program says, and to call it again; see `Runner.variations`."""
        own = self._welcome.variations if self._welcome is not None else frozenset()
        return super().variations | (own & VARIATIONS.keys())

    @property
    def _welcome(self) -> Welcome | None:
        """What the first program says of itself, None if it has not started."""
        ready = self._threads[0].ready
        if not ready.done() or ready.exception() is not None:
            return None
        return ready.result().welcome

    def close(self) -> None:
        """Let every program exit; those that do not are killed."""
        for thread in self._threads:
            thread.leave()
        for thread in self._threads:
            thread.join()

    def count_failure(self, program: Program, answer: Answer) -> None:
        """Note that a program gave no answer; UsageError if none of ten in a row ever did."""
        if self.works:
            return
        self._failures += 1
        if self._failures >= _STARTS:
            raise UsageError(
                f"{self.launch}: {_STARTS} starts in a row without one answer, the last with "
                f"{in_words(answer.why)}{program.last_words}"
            )


class _Calls(Calls):
    """The calls for a batch: which vector is next, the answers, and an error that ends the run."""

    def __init__(
        self,
        batch: Batch,
        answers: Answers,
        order: Sequence[int] | None,
        variation: Variation,
        interrupt: Callable[[], None],
    ) -> None:
        self.batch = batch
        self._variation = variation.name
        self.stopped = False
        self._done = 0
        self._error: BaseException | None = None
        self._started = 0.0
        self._finished = threading.Event()
        self._answers = answers
        self._interrupt = interrupt
        indices = range(len(batch)) if order is None else order
        self._total = len(indices)
        self._left = iter(indices)
        self._lock = threading.Lock()
        self.limits = largest_looked_at(batch)
        # Vectors share their attributes, which live as long as the batch.
        self._texts: dict[tuple[int, Any], str] = {}
        if not indices:
            self._finished.set()

    def wait(self, tick: Callable[[int], None]) -> None:
        """Wait for the answers; see `Isolated.begin`."""
        while not self._finished.wait(_TICK):
            tick(self._done)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """End the calls; programs that are asked for one are killed."""
        with self._lock:
            self.stopped = True
            if self._done == self._total:
                return
            self._finish()
        self._interrupt()

    def take(self) -> int | None:
        """Return a vector that no other thread has; None if none is left or the run is stopped."""
        with self._lock:
            self._started = self._started or perf_counter()
            return None if self.stopped else next(self._left, None)

    def refusal(self, program: Program, index: int) -> Answer | None:
        """Return the answer to a vector that a program does not want to be asked for."""
        inputs, operator = self.batch.inputs[index], self.batch.operator
        dtype = name_of(inputs[0].dtype) if inputs else ""
        if program.offers(operator, dtype):
            return None
        text = f"the program does not list {operator} of {dtype}"
        return Answer(UNSUPPORTED, why=Raised(text=text))

    def ask(self, program: Program, index: int) -> None:
        """Begin a call for a vector."""
        batch = self.batch
        inputs, attributes = given(batch, index)
        known = id(batch.attributes[index]), inputs[0].dtype if inputs else None
        text = self._texts.get(known)
        if text is None:
            text = self._texts[known] = attributes_text(attributes)
        program.send(
            batch.operator,
            inputs,
            text,
            limit=self.limits[index],
            variation=self._variation,
        )

    def put(self, index: int, answer: Answer, printed: str = "", seconds: float = 0.0) -> None:
        """Store the answer to a vector, unless the run was stopped meanwhile."""
        answer = taken(self.batch, index, answer)
        with self._lock:
            if self.stopped:
                return
            self._answers.put(index, answer, seconds)
            if printed:
                self._answers.printed[index] = printed
            self._done += 1
            if self._done == self._total:
                self._finish()

    def fail(self, error: BaseException) -> None:
        """End the run with an error, unless it has ended."""
        with self._lock:
            if not self.stopped:
                self._error, self.stopped = error, True
                self._finish()

    def _finish(self) -> None:
        self.seconds = perf_counter() - (self._started or perf_counter())
        self._finished.set()


class _ProgramThread(threading.Thread):
    """A thread with a program of its own, started as soon as the thread is and ended with it."""

    def __init__(self, runner: Isolated) -> None:
        super().__init__(name="conformance worker", daemon=True)
        self._runner = runner
        self._program: Program | None = None
        self._leaving = False
        self.ready: Future[Program] = Future()
        self.batches: SimpleQueue[_Calls | None] = SimpleQueue()
        self.start()

    def leave(self) -> None:
        """End the thread and its program; nobody waits for one that has not yet started."""
        self._leaving = True
        self.batches.put(None)
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
            self.ready.set_result(self._start_program(lambda: self._leaving))
        except Exception as error:  # noqa: BLE001 - raised where somebody waits
            self.ready.set_exception(error)
        while (calls := self.batches.get()) is not None:
            try:
                self._work(calls)
            except BaseException as error:  # noqa: BLE001 - raised where somebody waits
                calls.fail(error)
        if self._program is not None:
            self._program.close()

    def _start_program(
        self, is_over: Callable[[], bool], outputs: SharedMemory | None = None
    ) -> Program:
        if self._program is not None:
            self._program.kill()  # one that was interrupted between two calls has open pipes
        runner = self._runner
        program = self._program = Program(runner.launch, memory=runner.memory, outputs=outputs)
        if is_over():  # whoever ended it did not know of this program
            program.interrupt()
        program.greet(self._runner.timeout)
        return program

    def _start_again(self, calls: _Calls, outputs: SharedMemory | None = None) -> Program:
        try:
            return self._start_program(lambda: calls.stopped, outputs)
        except UsageError as error:
            if self._runner.works:
                raise Stopped(str(error)) from error
            raise

    def _work_alone(self, calls: _Calls) -> None:
        """Ask a program of its own for each vector, which leaves its outputs in shared memory.

        One that the system ended because memory ran out leaves the vector NOT_RUN.
        """
        timeout = self._runner.timeout
        while (index := calls.take()) is not None:
            killed = oom_kills()
            with SharedMemory() as outputs:
                program = self._start_again(calls, outputs)
                began = perf_counter()
                calls.ask(program, index)
                limit = timeout and timeout + calls.batch.handing_over
                answer = program.receive(calls.limits[index], limit)
                seconds = perf_counter() - began
                program.kill()
            self._runner.works = True
            if answer.kind == CRASHED and oom_kills() > killed:
                answer = Answer(NOT_RUN)
            calls.put(index, answer, program.printed, seconds)

    def _work(self, calls: _Calls) -> None:
        self.ready.result()
        if calls.batch.alone:
            self._work_alone(calls)
            return
        pending: deque[int] = deque()  # vectors that were sent and not answered
        to_resend: deque[int] = deque()  # vectors sent to a program that then ended
        while (program := self._ask(calls, pending, to_resend)) is not None:
            index = pending.popleft()
            began = perf_counter()
            answer = program.receive(calls.limits[index], self._runner.timeout)
            if answer.kind == NOT_RUN:
                program.kill()  # it may have another call already
                memory = self._runner.memory
                limit = f"; a worker has {memory >> 20} MiB of address space" if memory else ""
                raise Stopped(f"{in_words(answer.why)}{limit}")
            if answer.kind not in {CRASHED, TIMED_OUT}:
                self._runner.works = True
            elif not calls.stopped:
                self._runner.count_failure(program, answer)
            calls.put(index, answer, program.printed, perf_counter() - began)
            if not program.alive:
                to_resend.extend(pending)
                pending.clear()

    def _ask(self, calls: _Calls, pending: deque[int], to_resend: deque[int]) -> Program | None:
        """Ask for as many vectors as a program takes at once; None if there are no more.

        One that works ahead has the next call while it works, and never waits for it.
        """
        program = self._program
        while len(pending) <= (program is not None and program.works_ahead):
            index = to_resend.popleft() if to_resend else calls.take()
            if index is None or calls.stopped:
                break
            if program is None or not program.alive:
                program = self._start_again(calls)
            if (refusal := calls.refusal(program, index)) is not None:
                calls.put(index, refusal)
                continue
            calls.ask(program, index)
            pending.append(index)
        return program if pending else None
