"""Executors for work that is too much for one process, as in concurrent.futures.

There are two kinds: processes on this machine, and a Dask cluster that runs already. Another kind
is a function that opens it, and a name in `executor_named`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn, TypeVar

from conformance.errors import ConformanceError, UsageError
from conformance.interrupts import held
from conformance.settings import Machines, check_jobs

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_TRIES = 3
_MOST_SUBMITTED = 64
"""Tasks submitted at a time: their results wait in memory until they are taken."""
_SECONDS = 10
"""How long a scheduler of Dask may take to answer."""
_GRACE = 1.0
"""Seconds that a process has to end what it has started."""


def usable_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def executor_named(name: str, jobs: int = 1) -> Machines:
    """Return a function that opens an executor: "process", with `jobs` of them, or "dask:ADDRESS".

    Raises UsageError for another name; opening raises it where there is no such cluster.
    """
    if name == "process":
        return partial(_processes, jobs)
    kind, colon, address = name.partition(":")
    if kind == "dask" and colon:
        if not address:
            raise UsageError("executor dask: name its scheduler, dask:tcp://HOST:PORT")
        return partial(_dask, address)
    raise UsageError(f"no executor {name!r}; there are process and dask:ADDRESS")


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    check_jobs(jobs)
    others = set(active_children())
    # Fresh interpreters: a fork would copy the locks of threads that it does not copy.
    with _Pool(jobs, get_context("spawn"), _obey_parent) as pool:
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


class _Pool(ProcessPoolExecutor):
    """A pool whose processes hear nothing of Ctrl-C, not even before they can ignore it."""

    def submit(self, *task: Any, **options: Any) -> Future[Any]:
        """See Executor; it may start a process, which inherits the signals that are blocked.

        An interrupt, which another thread may still get, waits until the process has been told
        what it is for.
        """
        with held():
            if not hasattr(signal, "pthread_sigmask"):
                return super().submit(*task, **options)
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                return super().submit(*task, **options)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _obey_parent() -> None:
    """Have a process ignore Ctrl-C, exit when its parent terminates it, and end with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # what a task starts may want its signals
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _exit_quietly)
    threading.Thread(target=_end_with_parent, name="conformance parent", daemon=True).start()


def _exit_quietly(*_: object) -> NoReturn:
    """Exit by an exception, which ends the programs that a task has started.

    Nobody hears of others that it turns into, in the middle of an import for example.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit()


def _end_with_parent() -> None:
    """Wait for the end of the parent, which may be killed, and end this process."""
    parent = parent_process()
    assert parent is not None
    parent.join()  # a pipe that only the parent holds open
    os._exit(1)  # what a task has started sees its own pipes close


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            "executor dask needs the package distributed: pip install distributed"
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

    If a machine dies, its tasks are run again by others or by new ones. Raises what the function
    raises, and ConformanceError if tasks kill the machines again and again.
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
            if len(running) >= _MOST_SUBMITTED:
                break
        if not running:
            return
        for future in wait(running, return_when=FIRST).done:
            yield running.pop(future), future.result()
