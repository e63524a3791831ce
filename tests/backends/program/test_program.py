"""A program with a fault gets a verdict that names the fault, and is gone."""

import os

import numpy as np
import pytest
from support.fakes import pool, ramp
from support.programs import words

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    RAISED,
    UNSUPPORTED,
    Answer,
    Returned,
)
from conformance.backends.program import Launch, python_worker
from conformance.backends.program.program import Program
from conformance.errors import UsageError
from conformance.process import transport


@pytest.fixture
def started():
    """Return a function that starts a program and shakes hands; all are killed in the end."""
    programs = []

    def start(fault=""):
        programs.append(Program(Launch(words(fault))))
        programs[-1].greet()
        return programs[-1]

    yield start
    for each in programs:
        each.kill()


def call(running, data=None, *, timeout=20, **options):
    """Return the answer of the fake program to an average of 13 to 18, at which its fault shows."""
    data = ramp(1, 1, 6) + np.float32(12) if data is None else data
    return running.call("AvgPool-1", [data], pool(kernel=[6]), timeout=timeout, **options)


def test_nothing_is_allocated_for_an_output_that_nobody_expects(started):
    """It is judged by its shape; the program is ended."""
    running = started("terabyte-shape")
    assert call(running) == Answer(ARRAY, (Returned("float32", (1 << 10, 1 << 30)),))
    assert not running.alive


def test_a_program_that_stays_is_killed(started, monkeypatch):
    """A program that does not exit when its input ends is ended."""
    monkeypatch.setattr(transport, "_GRACE", 0.2)
    for fault in ("", "stays", "ignores-signals", "says-goodbye", "crashes-at-end"):
        running = started(fault)
        pid = running.pid
        running.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_answering_before_reading(started):
    """A program that answers before it has read a large input breaks the rule of turns."""
    running = started("answers-early")
    answer = call(running, np.ones((1, 1, 1 << 20), np.float32))
    assert answer.kind in {UNSUPPORTED, CRASHED}  # as it happens to be read


def test_memory():
    """A program has no more memory than it is given."""

    def backend(operator, inputs, attributes):
        return np.empty(1 << 34, np.uint8)[:1]

    running = Program(python_worker(backend), memory=8 << 30)
    try:
        running.greet()
        answer = call(running)
    finally:
        running.kill()
    assert (answer.kind, answer.why.type) == (RAISED, "MemoryError")


def test_an_impossible_limit():
    """A limit that the system does not know is refused."""
    with pytest.raises(UsageError, match=r"^a limit of .* bytes of memory cannot be set: "):
        Program(Launch(("cat",)), memory=1 << 200)


def printing(operator, inputs, attributes):
    """Print before and after in both streams, as much as the first element says."""
    print("out", "x" * int(inputs[0].flat[0]))  # noqa: T201 - what is tested
    os.write(2, b"err %d\n" % inputs[0].flat[0])
    return inputs[0]


@pytest.fixture(scope="module")
def worker():
    """Return a worker that prints, started; it is killed in the end."""
    running = Program(python_worker(printing))
    running.greet()
    yield running
    running.kill()


class TestAhead:
    """A worker of ours takes one more call before it has answered the last."""

    def test_answers_come_in_the_order_of_the_calls(self, worker):
        """Each with its own data."""
        arrays = [np.full((1, 1, 2), number, np.float32) for number in range(20)]
        worker.send("AvgPool-1", [arrays[0]], {})
        for this, following in zip(arrays, [*arrays[1:], None], strict=True):
            if following is not None:
                worker.send("AvgPool-1", [following], {})
            assert worker.receive(9, 20).outputs[0].data == this.tobytes()

    @pytest.mark.parametrize("sizes", [(3, 0, 5), (70_000, 3, 70_000, 200_000, 1)])
    def test_what_is_printed_stands_beside_its_call(self, worker, sizes):
        """Also where the next call has printed already, and where it is more than is kept."""
        arrays = [np.full((1, 1, 1), size, np.float32) for size in sizes]
        worker.send("AvgPool-1", [arrays[0]], {})
        for size, following in zip(sizes, [*arrays[1:], None], strict=True):
            if following is not None:
                worker.send("AvgPool-1", [following], {})
            worker.receive(9, 20)
            assert worker.printed == f"out {'x' * size}\nerr {size}\n"[-4000:]

    def test_inputs_larger_than_a_pipe_are_sent_while_it_works(self, worker):
        """Neither side waits for the other."""
        arrays = [np.full((1, 64, 32, 32), number, np.float32) for number in (1, 2)]
        for array in arrays:
            worker.send("AvgPool-1", [array], {})
        assert [worker.receive(1 << 20, 20).outputs[0].data for _ in arrays] == [
            array.tobytes() for array in arrays
        ]
