"""Workers that wait for the next task of their machine."""

from __future__ import annotations

from time import monotonic, sleep

import pytest

from conformance.check import kept as module
from conformance.check.kept import Wanted, kept
from conformance.errors import UsageError

RUN = Wanted("a run", "numpy", None, None)


@pytest.fixture(autouse=True)
def _none_left():
    """Close what waits when a test is over."""
    yield
    while module._waiting:
        _, worker, timer = module._waiting.pop()
        timer.cancel()
        worker.close()


def taken(wanted):
    """Return the worker of a task that does nothing."""
    with kept(wanted) as worker:
        return worker


def ended(worker):
    """Say whether the programs of a worker have ended, or do so within ten seconds."""
    limit = monotonic() + 10
    while any(slot.is_alive() for slot in worker._slots) and monotonic() < limit:
        sleep(0.01)
    return not any(slot.is_alive() for slot in worker._slots)


def test_the_next_task_of_a_run_gets_the_same_worker():
    """An engine is started once."""
    assert taken(RUN) is taken(RUN)


def test_tasks_at_once_get_workers_of_their_own():
    """As threads of a machine do; both wait afterwards."""
    with kept(RUN) as one, kept(RUN) as other:
        assert one is not other
    assert {taken(RUN), taken(RUN)} <= {one, other}


def test_another_run_gets_another_worker():
    """The code of the backend may have changed since."""
    assert taken(RUN) is not taken(Wanted("another run", "numpy", None, None))


def test_a_worker_of_a_task_that_raised_does_not_wait():
    """It may be in the middle of a call."""
    with pytest.raises(ZeroDivisionError), kept(RUN) as worker:
        raise ZeroDivisionError
    assert module._waiting == []
    assert ended(worker)


def test_a_worker_that_nobody_wants_any_more_ends(monkeypatch):
    """The machine may stay for days."""
    monkeypatch.setattr(module, "_IDLE", 0.01)
    assert ended(taken(RUN))
    assert module._waiting == []


def test_a_backend_that_cannot_be_started_is_an_error():
    """As it is where workers do not wait."""
    with pytest.raises(UsageError, match="no_such_module"):
        taken(Wanted("a run", "no_such_module:backend", None, None))
