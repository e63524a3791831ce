"""Copies of a backend in fresh processes, called for sequences of vectors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from conformance.backends.answer import NOT_RUN, Answer, Backend
from conformance.backends.choose_runner import launch_of
from conformance.backends.named_backend import NamedBackend
from conformance.backends.program.isolated import Isolated
from conformance.backends.runner import Answers, Runner
from conformance.batch import Batch
from conformance.errors import UsageError
from conformance.executors import usable_cpus
from conformance.files import Closable
from conformance.progress import Progress

Start = Callable[[], Runner]
"""Starts a copy of a backend that nobody has called; it need not wait until it is ready."""

_MOST_AHEAD = 3
"""Copies that are started while another one works: a start takes longer than most calls."""


class TimeIsUp(Exception):  # noqa: N818 - no error: what is known by then is said
    """Raised by a call when the time for all of them is up."""


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
    """Starts copies of a backend one after the other, for so many `seconds` in all.

    The next ones are started ahead. `progress` counts the copies called.
    """

    def __init__(self, start: Start, seconds: float, progress: Progress | None = None) -> None:
        self.called = 0
        self._start = start
        self._end = perf_counter() + seconds
        self._progress = progress
        self._wait = 0.0
        self._ahead: deque[Runner] = deque()
        self._most_ahead = max(1, min(_MOST_AHEAD, usable_cpus() - 1))

    @property
    def seconds_left(self) -> float:
        """How many seconds are left."""
        return self._end - perf_counter()

    def close(self) -> None:
        """End the copies that nobody has called."""
        while self._ahead:
            self._ahead.pop().close()

    @contextmanager
    def reserving(self, seconds: float) -> Iterator[None]:
        """Have the time be up so many seconds earlier, for the length of a `with` block."""
        self._end -= seconds
        try:
            yield
        finally:
            self._end += seconds

    @contextmanager
    def copy(self) -> Iterator[Copy]:
        """Yield a copy that was never called; raises TimeIsUp, and UsageError if none starts.

        The time is up, too, if it is shorter than the last copy has taken to start.
        """
        if self.seconds_left <= self._wait:
            raise TimeIsUp
        while len(self._ahead) <= self._most_ahead:
            self._ahead.append(self._start())
        with self._ahead.popleft() as runner:
            began = perf_counter()
            runner.ready()
            self._wait = perf_counter() - began
            self.called += 1
            if self._progress is not None:
                self._progress("fresh starts", self.called, 0)
            yield Copy(runner, self._check_time)

    def _check_time(self, _done: int) -> None:
        if self.seconds_left <= 0:
            raise TimeIsUp


class Copy:
    """A copy of a backend; raises what `Runner.run` does, and TimeIsUp."""

    def __init__(self, runner: Runner, tick: Callable[[int], None]) -> None:
        self._runner = runner
        self._tick = tick

    def call(self, batch: Batch, rows: Sequence[int]) -> Answers:
        """Call for the vectors in some rows of a batch, in their order; return the last answers."""
        answers = Answers.none_yet(len(batch))
        self._tick(0)
        self._runner.run(batch, answers, self._tick, rows)
        return answers

    def answer(self, batch: Batch) -> Answer:
        """Return the answer to the only vector of a batch."""
        answers = self.call(batch, [0])
        return Answer(answers.kind[0], answers.outputs[0], answers.why.get(0))

    def answers(self, batch: Batch, count: int, heard: Callable[[Answer], None]) -> None:
        """Have `heard` called with each of so many answers to the only vector of a batch."""
        self._tick(0)
        self._runner.run(batch, _Each(heard), self._tick, [0] * count)


class _Each(Answers):
    """Passes on each answer to a vector, and keeps none: there may be thousands, or large ones."""

    def __init__(self, heard: Callable[[Answer], None]) -> None:
        super().__init__([NOT_RUN], [()], {})
        self._heard = heard

    def put(self, index: int, answer: Answer, seconds: float = 0.0) -> None:
        """Pass an answer on; it is of the only vector."""
        del index, seconds
        self._heard(answer)
