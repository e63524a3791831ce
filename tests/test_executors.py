"""Processes that share work: every task has its result, whoever dies, and no process is left."""

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest
from support.paths import ROOT
from support.processes import wait_for_end

from conformance.errors import ConformanceError, UsageError
from conformance.executors import Processes, completed

_LARGE = 1 << 25  # bytes: far more than a pipe holds


def square(number):
    return number * number


def dies_once(folder, number):
    """Kill this process the first time that number 3 is asked for."""
    mark = Path(folder, "died")
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def dies_while_answering(folder, number):
    """Kill this process, the first time, when a part of its answer is in the pipe."""
    mark = Path(folder, "died")
    if not mark.exists():
        mark.touch()
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGKILL]).start()
        return _KillingPickle()
    return number * number


class _KillingPickle:
    """Has a large pickle, of which nobody reads the rest once the process is dead."""

    def __reduce__(self):
        os.write(_answering_pipe(), (_LARGE).to_bytes(4, "big") + bytes(1000))
        threading.Event().wait()


def _answering_pipe():
    """Return the descriptor of the pipe that answers of this process go to."""
    frame = sys._getframe()
    while "pipe" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["pipe"].fileno()


def dies(number):
    os.kill(os.getpid(), signal.SIGKILL)


def raises(number):
    raise ValueError(f"not {number}")


class TestCompleted:
    def test_every_task_comes_with_its_result(self):
        """In whatever order they are finished."""
        assert sorted(completed(2, square, range(100))) == [(n, n * n) for n in range(100)]

    def test_no_tasks_start_nothing(self):
        others = set(active_children())
        assert list(completed(2, square, [])) == []
        assert set(active_children()) <= others

    @pytest.mark.parametrize("dying", [dies_once, dies_while_answering])
    def test_a_killed_process_loses_nothing(self, tmp_path, dying):
        """Its task is done by another, and nobody waits for the rest of its answer."""
        found = sorted(completed(2, partial(dying, str(tmp_path)), range(8)))
        assert found == [(n, n * n) for n in range(8)]

    def test_an_exception_of_a_task_passes(self):
        """It is raised here, with a note of where it was raised there."""
        with pytest.raises(ValueError, match="not 5") as caught:
            list(completed(2, raises, [5]))
        assert "in raises" in caught.value.__notes__[0]

    def test_a_task_that_kills_every_process_ends(self):
        """It is said, and not tried for ever."""
        with pytest.raises(ConformanceError, match="3 processes died in a row with the same task"):
            list(completed(1, dies, [1, 2]))

    def test_a_number_of_processes_that_cannot_be_is_refused(self):
        with pytest.raises(UsageError, match="jobs is 0"):
            list(completed(0, square, [1]))


def _hangs(task):
    """Open a pipe for writing, which waits for its reader, and hang."""
    with Path(task).open("w"):
        threading.Event().wait()


def test_an_interrupt_waits_for_no_task(tmp_path):
    """Neither for those that run nor for those that are handed over; no process is left."""
    others = set(active_children())
    pipes = [tmp_path / str(number) for number in range(6)]
    for pipe in pipes:
        os.mkfifo(pipe)
    with pytest.raises(KeyboardInterrupt), Processes(1) as processes:  # noqa: PT012
        for pipe in pipes:
            processes.submit(_hangs, pipe)
        with pipes[0].open() as running:  # which waits until the task runs
            raise KeyboardInterrupt
    assert running.closed
    wait_for_end(*(process.pid for process in set(active_children()) - others))


_POOL = """
import time
from multiprocessing import active_children
from conformance.executors import Processes
with Processes(3) as processes:
    if {begun}:
        processes.submit(time.sleep, 0).result()
    for _ in range(6):
        processes.submit(time.sleep, 1000)
    while len(active_children()) < 3:
        time.sleep(0.01)
    print(*(process.pid for process in active_children()), flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_their_parent(begun, number):
    """Nobody has time to end them: neither while they start nor while they work."""
    with subprocess.Popen(
        [sys.executable, "-c", _POOL.format(begun=begun)], stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        pids = list(map(int, process.stdout.readline().split()))
        process.send_signal(number)
    assert len(pids) == 3
    wait_for_end(*pids)


def test_a_process_that_starts_hears_no_ctrl_c():
    """The terminal sends it to all of them; it is for the parent alone."""
    others = set(active_children())
    with Processes(1) as processes:
        task = processes.submit(square, 3)
        while not (started := set(active_children()) - others):
            pass
        for process in started:
            os.kill(process.pid, signal.SIGINT)
        assert task.result() == 9
