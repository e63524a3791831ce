"""How the backend is called: here or in a worker, and with less patience while a hang shrinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter
from types import TracebackType
from typing import Self

from conformance.backends import load_backend
from conformance.backends.external import External, launch_of
from conformance.backends.stored import Stored
from conformance.batch import Batch
from conformance.check.checker import name_of
from conformance.check.isolated import Isolated
from conformance.check.runner import CRASHED, TIMED_OUT, Answers, Backend, InProcess, Runner
from conformance.errors import UsageError
from conformance.workers import Launch

_PATIENCE = 20.0  # times what slow answers took
_LEAST = 0.5  # seconds: a machine may be busy


class Called:
    """A backend that is called for one vector after the other; a context manager.

    Raises UsageError for a backend that there is not, or of which only results are stored.
    """

    def __init__(
        self, backend: Backend | str, timeout: float | None, memory: int | None, *, apart: bool
    ) -> None:
        self.name = backend if isinstance(backend, str) else name_of(backend)
        if isinstance(backend, str) and (not apart or backend.startswith(("exec:", "results:"))):
            backend = load_backend(backend)
        if isinstance(backend, Stored):
            raise UsageError(f"{self.name}: stored results answer no new cases; give a backend")
        self._stack = ExitStack()
        self._runner: Runner
        self._patient: Runner
        self._timeout, self._memory = timeout, memory
        self._launch: Launch | None = None
        self._took: deque[float] = deque(maxlen=200)
        self._hurried: Runner | None = None
        self._harmless: Batch | None = None
        if apart or isinstance(backend, External):
            self._launch = launch_of(backend)
            self._patient = self._worker(timeout)
        elif callable(backend):
            self._patient = InProcess(backend)
        else:
            raise UsageError(f"the backend is {type(backend).__name__}, not callable")
        self._runner = self._patient

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self, batch: Batch, answers: Answers) -> None:
        """Fill in the answers to a batch."""
        began = perf_counter()
        self._runner.run(batch, answers, lambda _done: None)
        if not {TIMED_OUT, CRASHED} & set(answers.kind):
            self._harmless = batch
            self._took.append(perf_counter() - began)

    def hurry(self) -> None:
        """Wait no longer than answers have taken so far, with room to spare."""
        # The slowest few waited for a worker to start.
        usual = sorted(self._took)[: max(1, len(self._took) * 9 // 10)]
        timeout = max(_LEAST, _PATIENCE * max(usual, default=0.0))
        harmless = self._harmless
        if harmless is not None and self._timeout is not None and timeout < self._timeout:
            if self._hurried is None:
                self._hurried = self._worker(timeout)
                # A worker that never answered would be taken for one that does not work.
                self._hurried.run(harmless, Answers.none_yet(len(harmless)), lambda _done: None)
            self._runner = self._hurried

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Be patient again at the end."""
        try:
            yield
        finally:
            self._runner = self._patient

    def _worker(self, timeout: float | None) -> Isolated:
        assert self._launch is not None
        return self._stack.enter_context(
            Isolated(self._launch, timeout=timeout, memory=self._memory)
        )
