"""How the backend is called: here or in a worker, and with less patience while a hang shrinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from time import perf_counter

from conformance.backends import Backend
from conformance.backends.answer import CRASHED, TIMED_OUT
from conformance.backends.choose_runner import runner_of
from conformance.backends.named_backend import name_of, parsed
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import Answers, Runner
from conformance.batch import Batch
from conformance.errors import UsageError
from conformance.files import Closable

_PATIENCE = 20.0  # times what slow answers took
_LEAST = 0.5  # seconds: a machine may be busy


class Called(Closable):
    """A backend that is called for one vector after the other; a context manager.

    Raises UsageError for a backend that there is not, or of which only results are stored.
    """

    def __init__(
        self, backend: Backend | str, timeout: float | None, memory: int | None, *, apart: bool
    ) -> None:
        self.name = backend if isinstance(backend, str) else name_of(backend)
        self._backend = parsed(backend)
        self._timeout, self._memory, self._apart = timeout, memory, apart
        self._took: deque[float] = deque(maxlen=200)
        self._harmless: tuple[Batch, int] | None = None
        self._hurried: Runner | None = None
        with ExitStack() as stack:
            self._stack = stack
            self._patient = self._runner = self._called(timeout)
            if isinstance(self._patient, StoredResults):
                raise UsageError(f"{self.name}: stored results answer no new cases; give a backend")
            self._stack = stack.pop_all()

    @property
    def runner(self) -> Runner:
        """What calls the backend with all the patience that was asked for."""
        return self._patient

    def close(self) -> None:
        """End the workers."""
        self._stack.close()

    def run(self, batch: Batch, answers: Answers, until: Callable[[], bool]) -> None:
        """Fill in the answers to a batch, up to the first crash or hang, or until told."""
        for vector in range(len(batch)):
            began = perf_counter()
            self._runner.run(batch, answers, lambda _done: None, [vector])
            if answers.kind[vector] in {TIMED_OUT, CRASHED}:
                return
            self._harmless = (batch, vector)
            self._took.append(perf_counter() - began)
            if until():
                return

    def hurry(self) -> None:
        """Wait no longer than answers have taken so far, with room to spare."""
        # The slowest few waited for a worker to start again.
        usual = sorted(self._took)[: max(1, len(self._took) * 9 // 10)]
        timeout = max(_LEAST, _PATIENCE * max(usual, default=0.0))
        if self._harmless is not None and self._timeout is not None and timeout < self._timeout:
            if self._hurried is None:
                self._hurried = self._called(timeout)
                # A worker that never answered would be taken for one that does not work.
                batch, vector = self._harmless
                answers = Answers.none_yet(len(batch))
                self._hurried.run(batch, answers, lambda _done: None, [vector])
            self._runner = self._hurried

    def take_time(self) -> None:
        """Be as patient as at first."""
        self._runner = self._patient

    def _called(self, timeout: float | None) -> Runner:
        """Return what calls the backend, with so many seconds for each answer."""
        calling = runner_of(self._backend, timeout, self._memory, 1, apart=self._apart)
        runner = self._stack.enter_context(calling)
        runner.ready()  # an engine's start is not the time of its answers
        return runner
