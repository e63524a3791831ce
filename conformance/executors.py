"""Where work runs that is too much for one process: executors as in concurrent.futures.

An engine is a function that opens one: worker processes here, or a Dask cluster that is there
already. Another one is a few lines in `executor_named`.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from conformance.errors import ConformanceError, UsageError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
Machines = Callable[[], AbstractContextManager[Executor]]

_TRIES = 3
_AHEAD = 64
"""Tasks handed over at a time: results wait in memory until they are taken."""
_SECONDS = 10
_GRACE = 1.0
"""Seconds that a process has to end what it has started."""


def executor_named(name: str, jobs: int = 1) -> Machines:
    """Return what opens an executor: "process", with `jobs` of them, or "dask:ADDRESS".

    Raises UsageError for another name; opening raises it where there is no such cluster.
    """
    if name == "process":
        return partial(_processes, jobs)
    engine, colon, address = name.partition(":")
    if engine == "dask" and colon:
        if not address:
            raise UsageError("executor dask: name its scheduler, dask:tcp://HOST:PORT")
        return partial(_dask, address)
    raise UsageError(f"no executor {name!r}; there are process and dask:ADDRESS")


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    others = set(active_children())
    # Fresh interpreters: a fork would copy the locks of threads that it does not copy.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _leave_interrupts_to_parent) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _end(set(active_children()) - others)  # a task may take minutes
            raise


def _end(processes: Iterable[BaseProcess]) -> None:
    """End processes, by force if they go on with another task."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(_GRACE)
        process.kill()
        process.join(_GRACE)


def _leave_interrupts_to_parent() -> None:
    """Make a process end in an orderly way when the parent says so, not with a Ctrl-C of its own.

    Programs that a task has started are ended by the exception.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            "executor dask needs the package distributed: pip install 'pooling-conformance[dask]'"
        ) from None
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"executor dask:{address}: no scheduler answers there ({type(error).__name__})"
        ) from None
    with client:
        # Tasks are pure, but equal ones must not be taken for one result: they may be retried.
        yield client.get_executor(pure=False, retries=_TRIES)


def completed(
    machines: Machines, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
) -> Iterator[tuple[_Task, _Result]]:
    """Yield each task with its result, as they are finished.

    A machine that dies loses nothing: its tasks are given to others, or to new ones. Raises what
    the function raises, and ConformanceError if tasks keep killing what runs them.
    """
    left = list(tasks)
    for _ in range(_TRIES):
        if not left:
            return
        try:
            with machines() as executor:
                for task, result in _once(executor, function, left):
                    left.remove(task)
                    yield task, result
        except BrokenExecutor:
            continue
    if left:
        raise ConformanceError(f"workers died {_TRIES} times in a row; {len(left)} tasks are left")


def _once(
    executor: Executor, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
) -> Iterator[tuple[_Task, _Result]]:
    waiting = iter(list(tasks))
    running: dict[Any, _Task] = {}
    while True:
        for task in waiting:
            running[executor.submit(function, task)] = task
            if len(running) >= _AHEAD:
                break
        if not running:
            return
        for future in wait(running, return_when=FIRST).done:
            yield running.pop(future), future.result()
