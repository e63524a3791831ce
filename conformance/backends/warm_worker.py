"""Warm workers, reused between the tasks of a run: an engine may take seconds to start."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from conformance.backends.named_backend import parse_backend
from conformance.backends.program.isolated import Isolated

_IDLE = 10.0
"""Seconds without a task after which a worker ends: a machine may outlive those who use it."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker is started for.

    `run` is a name that no other run has: the backend's code may change between two runs.
    `timeout` is in seconds for each call, `memory` in bytes; None is no limit.
    """

    run: str
    backend: str
    timeout: float | None
    memory: int | None


_thread = threading.local()  # a thread has one task at a time


def warm_worker(settings: WorkerSettings) -> Isolated:
    """Return the worker of this thread, ready to be asked.

    It is that of the thread's last task if its settings are the same; else that one is closed. Its
    process ends when no task comes for ten seconds, or when it is killed; the next task starts
    another. Raises UsageError if it cannot be started.
    """
    warm: tuple[WorkerSettings, Isolated] | None = getattr(_thread, "warm", None)
    if warm is not None:
        if warm[0] == settings:
            return warm[1]
        warm[1].close()
        del _thread.warm
    launch = parse_backend(settings.backend).launch
    worker = Isolated(launch, timeout=settings.timeout, memory=settings.memory, idle=_IDLE)
    try:
        worker.ready()
    except BaseException:
        worker.close()
        raise
    _thread.warm = settings, worker
    return worker
