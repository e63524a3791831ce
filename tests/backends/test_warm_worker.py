"""Warm workers: which task gets which, and when they end."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from support.fakes import ramp, vector
from support.fuzzed import HERE
from support.processes import is_alive, wait_for_end
from support.provoked import FINE, verdicts

from conformance.backends import warm_worker as module
from conformance.backends.warm_worker import WorkerSettings, warm_worker
from conformance.errors import UsageError

RUN = WorkerSettings("a run", "numpy", None, None)


@pytest.fixture(autouse=True)
def _close_worker():
    """Close the worker of this thread when a test is over."""
    yield
    if hasattr(module._thread, "warm"):
        module._thread.warm[1].close()
        del module._thread.warm


def pid_of(worker):
    """Return the number of the process of a worker."""
    (thread,) = worker._threads
    return thread._program.pid


def test_the_next_task_of_a_run_gets_the_same_process():
    """An engine is started once."""
    worker = warm_worker(RUN)
    pid = pid_of(worker)
    for _ in range(2):
        assert verdicts(warm_worker(RUN), [vector()])[0] == [FINE]
    assert pid_of(warm_worker(RUN)) == pid


def test_threads_have_workers_of_their_own():
    """A machine may have several tasks at once."""
    both = Barrier(2)

    def task(_):
        worker = warm_worker(RUN)
        both.wait(60)
        return worker

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(task, range(2))
    assert one is not other
    one.close()
    other.close()


def test_another_run_gets_another_process():
    """The code of the backend may have changed since; the process of the last run ends."""
    pid = pid_of(warm_worker(RUN))
    other = warm_worker(WorkerSettings("another run", "numpy", None, None))
    assert pid_of(other) != pid
    assert not is_alive(pid)


def test_a_task_that_was_interrupted_leaves_a_worker_that_answers():
    """The process that was in the middle of a call is killed, and the next task starts another."""
    hangs = WorkerSettings("a run", f"{HERE}:hangs", None, None)
    worker = warm_worker(hangs)
    pid = pid_of(worker)

    def interrupt(_done):
        raise KeyboardInterrupt

    attributes = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    two_batches = vector(ramp(2, 1, 6), attributes, operator="MaxPool-1")
    with pytest.raises(KeyboardInterrupt):
        verdicts(worker, [two_batches], tick=interrupt)
    wait_for_end(pid)
    assert verdicts(warm_worker(hangs), [vector()])[0] == [FINE]


def test_a_process_that_has_no_task_ends(monkeypatch):
    """The machine may stay for days; the next task starts another process."""
    monkeypatch.setattr(module, "_IDLE", 0.5)
    worker = warm_worker(RUN)
    wait_for_end(pid_of(worker))
    assert verdicts(warm_worker(RUN), [vector()])[0] == [FINE]


def test_a_backend_that_cannot_be_started_is_an_error():
    """As it is where workers are not reused."""
    with pytest.raises(UsageError, match="no_such_module"):
        warm_worker(WorkerSettings("a run", "no_such_module:backend", None, None))
