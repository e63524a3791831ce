"""Processes that share work on this machine: `--jobs`. A cluster is in `conformance.cluster`."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeVar

from conformance.errors import ConformanceError
from conformance.files import Closable
from conformance.settings import check_jobs

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_TRIES = 3
_MOST_SUBMITTED = 64
"""Tasks submitted at a time: their results wait in memory until they are taken."""
_GRACE = 1.0
"""Seconds that a process has to end what it has started."""


def usable_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def completed(
    jobs: int, function: Callable[[_Task], _Result], tasks: Iterable[_Task]
) -> Iterator[tuple[_Task, _Result]]:
    """Yield each task with its result, as so many processes finish them.

    Raises what the function raises, and what `Processes` does.
    """
    waiting = iter(tasks)
    running: dict[Future[_Result], _Task] = {}
    with Processes(jobs) as processes:
        while True:
            for task in islice(waiting, _MOST_SUBMITTED - len(running)):
                running[processes.submit(function, task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def shared(
    jobs: int, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
) -> Iterator[tuple[_Task, _Result]]:
    """Yield each task with its result: in this process, in order, where one is all there is to it.

    Otherwise as `completed`.
    """
    if jobs == 1 or len(tasks) == 1:
        return zip(tasks, map(function, tasks), strict=True)
    return completed(jobs, function, tasks)


class Processes(Closable):
    """Up to so many processes, each with one task at a time; a context manager.

    They start when there are tasks for them. The task of one that dies is run again by another; a
    task with which three have died has a ConformanceError. Raises UsageError for a number of
    processes that cannot be.
    """

    def __init__(self, jobs: int) -> None:
        check_jobs(jobs)
        self._threads = ThreadPoolExecutor(jobs, "conformance jobs", _block_interrupts)
        self._of_thread = threading.local()
        self._processes: set[_Process] = set()
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, function: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
        """Return the future result of a function that a process can import."""
        return self._threads.submit(self._result, function, task)

    def close(self) -> None:
        """End the processes, whatever they do: a task may take minutes."""
        with self._lock:
            self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.end()
        self._threads.shutdown()

    def _result(self, function: Callable[[_Task], _Result], task: _Task) -> _Result:
        """Return the result of a task by the process of this thread."""
        for _ in range(_TRIES):
            process = self._process()
            try:
                returned, result = process.answer(function, task)
            except (EOFError, OSError):  # it died, which closes its end of the pipe
                process.end()
                del self._of_thread.process
                continue
            if returned:
                value: _Result = result
                return value
            raise result
        raise ConformanceError(f"{_TRIES} processes died in a row with the same task")

    def _process(self) -> _Process:
        """Return the process of this thread, started if there is none."""
        if not hasattr(self._of_thread, "process"):
            with self._lock:
                if self._closed:
                    raise ConformanceError("the processes were ended")
                self._of_thread.process = _Process()
                self._processes.add(self._of_thread.process)
        process: _Process = self._of_thread.process
        return process


class _Process:
    """A process that is given tasks over a pipe of its own.

    A queue that several share stays locked, or a message in it unfinished, where one of them dies.
    """

    def __init__(self) -> None:
        # A fresh interpreter: a fork would copy the locks of threads that it does not copy.
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def answer(self, function: Callable[[Any], Any], task: Any) -> tuple[bool, Any]:
        """Return whether the function returns, and what it returns or raises.

        Raises EOFError or OSError if the process dies.
        """
        self._pipe.send((function, task))
        returned, value = self._pipe.recv()
        return returned, value

    def terminate(self) -> None:
        """Ask the process to end."""
        self._process.terminate()

    def end(self) -> None:
        """Wait until the process has ended, by force if it goes on."""
        self._process.join(_GRACE)
        self._process.kill()
        self._process.join(_GRACE)


def _block_interrupts() -> None:
    """Have the processes that this thread starts inherit that Ctrl-C waits until they ignore it."""
    if hasattr(signal, "pthread_sigmask"):
        # Which the first process starts, and thereby lets Ctrl-C through again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(pipe: Connection) -> None:
    """Answer tasks until the other end is closed."""
    _obey_parent()
    while True:
        try:
            data = pipe.recv_bytes()
        except EOFError:
            return
        try:
            function, task = pickle.loads(data)  # noqa: S301 - the parent's own bytes
            answer = pickle.dumps((True, function(task)))
        except Exception as error:  # noqa: BLE001 - raised by who waits for the result
            error.add_note(traceback.format_exc())
            answer = pickle.dumps((False, error))
        pipe.send_bytes(answer)


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
