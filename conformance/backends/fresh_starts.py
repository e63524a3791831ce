"""Copies of a backend in fresh processes, called for sequences of vectors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conformance.backends.answer import NOT_RUN, Answer, Backend
from conformance.backends.choose_runner import launch_of
from conformance.backends.named_backend import NamedBackend
from conformance.backends.program.isolated import Isolated
from conformance.backends.runner import Answers, Runner
from conformance.batch import Batch
from conformance.budget import CALL, START, Share, Spent
from conformance.errors import UsageError
from conformance.executors import usable_cpus
from conformance.files import Closable
from conformance.progress import Progress

Start = Callable[[], Runner]
"""Starts a copy of a backend that nobody has called; it need not wait until it is ready."""

_MOST_AHEAD = 3
"""Copies that are started while another one works: a start takes longer than most calls."""


def fresh_starts_of(
    backend: Backend | NamedBackend, timeout: float | None = None, memory: int | None = None
) -> Start:
    """Return what starts copies of a backend, each as the backend is now; see `runner_of`.

    It raises UsageError, when it is called, where there can be no copy: of stored results, and of
    a callable that cannot be sent to another process.
    """
    try:
        launch = launch_of(backend)
    except UsageError as error:
        refusal = str(error)

        def refuse() -> Runner:
            raise UsageError(refusal)

        return refuse
    return lambda: Isolated(launch, timeout=timeout, memory=memory)


class FreshStarts(Closable):
    """Starts copies of a backend one after the other, as a `share` of a budget allows.

    Starts and calls are counted in it. The next ones are started ahead. `progress` counts the
    copies that are called.
    """

    def __init__(self, start: Start, share: Share, progress: Progress | None = None) -> None:
        self.called = 0
        self._start = start
        self.share = share
        self._progress = progress
        self._ahead: deque[Runner] = deque()
        self._most_ahead = max(1, min(_MOST_AHEAD, usable_cpus() - 1))

    def close(self) -> None:
        """End the copies that nobody has called."""
        while self._ahead:
            self._ahead.pop().close()

    @contextmanager
    def reserving(self, steps: float) -> Iterator[None]:
        """Keep so many steps for what follows, for the length of a `with` block."""
        whole = self.share
        self.share = whole.but(steps)
        try:
            yield
        finally:
            self.share = whole

    @contextmanager
    def copy(self) -> Iterator[Copy]:
        """Yield a copy that was never called; raises Spent, and UsageError if none starts."""
        self.share.spend(START)
        while len(self._ahead) <= self._most_ahead:
            self._ahead.append(self._start())
        with self._ahead.popleft() as runner:
            runner.ready()
            self.called += 1
            if self._progress is not None:
                self._progress("fresh starts", self.called, 0)
            yield Copy(runner, self)


class Copy:
    """A copy of a backend; raises what `Runner.run` does, and Spent."""

    def __init__(self, runner: Runner, starts: FreshStarts) -> None:
        self._runner = runner
        self._starts = starts

    def call(self, batch: Batch, rows: Sequence[int]) -> Answers:
        """Call for the vectors in some rows of a batch, in their order; return the last answers."""
        answers = Answers.none_yet(len(batch))
        self._starts.share.spend(CALL * len(rows))
        self._runner.run(batch, answers, self._go_on, rows)
        return answers

    def answer(self, batch: Batch, rows: Sequence[int] = (0,)) -> Answer:
        """Call for the vectors in some rows, in their order; return the answer to the last."""
        return self.call(batch, rows).at(rows[-1])

    def answers(self, batch: Batch, count: int, heard: Callable[[Answer], None]) -> None:
        """Have `heard` called with each of so many answers to the only vector of a batch."""
        self._starts.share.spend(CALL * count)
        self._runner.run(batch, _Each(heard), self._go_on, [0] * count)

    def _go_on(self, _done: int) -> None:
        """Raise Spent when the seconds are over: what was counted before the calls is allowed."""
        if self._starts.share.budget.is_late:
            raise Spent


class _Each(Answers):
    """Passes on each answer to a vector, and keeps none: there may be thousands, or large ones."""

    def __init__(self, heard: Callable[[Answer], None]) -> None:
        super().__init__([NOT_RUN], [()], {})
        self._heard = heard

    def put(self, index: int, answer: Answer, seconds: float = 0.0) -> None:
        """Pass an answer on; it is of the only vector."""
        del index, seconds
        self._heard(answer)
