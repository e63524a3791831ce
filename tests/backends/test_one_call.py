"""What this package fails at when it calls a backend is no verdict on the backend."""

import threading

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import vector
from support.wrapping import right

import conformance
from conformance.backends.answer import NOT_RUN, RAISED, Answer
from conformance.backends.call import called
from conformance.backends.variations import AGAIN, VARIATIONS
from conformance.record.why import NotCalled

MANY = VARIATIONS["threads-8"]


INPUT = np.zeros((1, 1, 1))


def call(backend, variation=AGAIN, inputs=(INPUT,)):
    """Return the answer of a backend."""
    return called(backend, "AvgPool-1", inputs, {}, variation, 10)


class NoMemory:
    """An input of which there can be no copy."""

    def copy(self):
        raise MemoryError("1 TiB")


@pytest.fixture
def no_threads(monkeypatch):
    """Let no more than three threads start."""
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    return started


def test_what_the_backend_raises_is_its_answer():
    def backend(*_):
        raise MemoryError("no")

    assert call(backend).kind == RAISED


def test_inputs_that_do_not_fit_into_memory_are_not_given_to_it():
    answer = call(right, inputs=[NoMemory()])

    assert answer == Answer(NOT_RUN, why=NotCalled("again", "MemoryError: 1 TiB"))


def test_threads_that_do_not_start_are_not_called_from(no_threads):
    """Those that have started end."""
    answer = call(lambda *_: np.zeros(1), MANY)

    assert answer.kind == NOT_RUN
    assert answer.why.text.startswith("RuntimeError: can't start")
    for thread in no_threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in no_threads)


@pytest.mark.usefixtures("no_threads")
def test_a_run_without_threads_is_incomplete_and_fails_nothing():
    report = conformance.check(right, [vector()], variations="threads-8", diagnose="none")

    assert (report.ok, report.complete) == (False, False)
    assert report.stopped.startswith("not called from 8 threads at once")
    assert report.counts["conforms"] == 1


@pytest.mark.parametrize("memory", one_in(3, [200 << 20, 400 << 20, 600 << 20]))
def test_threads_start_in_a_small_address_space(memory):
    """A sound backend conforms in it: threads have small stacks, and share what they allocate."""
    options = {"tier": "smoke", "operators": "MaxPool-1", "diagnose": "none"}
    report = conformance.check("numpy", memory=memory, variations="threads-8", **options)

    assert report.ok, report.problems
