"""Workers that wait for the next task of their machine: an engine may take seconds to start."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from conformance.backends.external import launch_of
from conformance.check.isolated import Isolated

_IDLE = 10.0
"""Seconds that a worker waits: a machine may stay when whoever sends tasks is gone."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker is started for.

    `run` is a name of the run that no other has: the backend's code may change between two runs.
    """

    run: str
    backend: str
    timeout: float | None
    memory: int | None


_waiting: list[tuple[Wanted, Isolated, threading.Timer]] = []
_lock = threading.Lock()


@contextmanager
def kept(wanted: Wanted) -> Iterator[Isolated]:
    """Yield a worker that is ready, one that waits if there is any; afterwards it waits again.

    Threads may ask at once, each gets its own. A worker of a task that raised does not wait.
    Raises UsageError where a worker cannot be started.
    """
    with ExitStack() as stack:
        worker = stack.enter_context(_waited(wanted) or _started(wanted))
        worker.ready()
        yield worker
        stack.pop_all()  # all went well: the worker lives on
    timer = threading.Timer(_IDLE, _close, [worker])
    timer.daemon = True  # the process of a machine does not wait for it
    with _lock:
        _waiting.append((wanted, worker, timer))
    timer.start()


def _started(wanted: Wanted) -> Isolated:
    return Isolated(launch_of(wanted.backend), timeout=wanted.timeout, memory=wanted.memory)


def _waited(wanted: Wanted) -> Isolated | None:
    with _lock:
        for place, (known, worker, timer) in enumerate(_waiting):
            if known == wanted:
                del _waiting[place]
                timer.cancel()
                return worker
    return None


def _close(worker: Isolated) -> None:
    with _lock:
        before = len(_waiting)
        _waiting[:] = [each for each in _waiting if each[1] is not worker]
        taken = len(_waiting) == before
    if not taken:
        worker.close()
