"""A program with a fault gets a verdict that names the fault, and is gone."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from fakes import pool, ramp

from conformance.errors import UsageError
from conformance.workers import Launch, program, python_worker
from conformance.workers.answer import (
    ARRAY,
    CRASHED,
    RAISED,
    TIMED_OUT,
    UNSUPPORTED,
    Answer,
    Returned,
)
from conformance.workers.program import Program

FAKE = (sys.executable, str(Path(__file__).parent.parent / "fake_program.py"))
MEAN = Answer(ARRAY, (Returned("float32", (1, 1, 1), np.float32(15.5).tobytes()),))


@pytest.fixture
def started():
    """Return a function that starts a program and shakes hands; all are killed in the end."""
    programs = []

    def start(*words, **options):
        programs.append(Program(Launch((*FAKE, *words)), **options))
        programs[-1].greet()
        return programs[-1]

    yield start
    for each in programs:
        each.kill()


def call(running, data=None, *, timeout=20, **options):
    """Return the answer of the fake program to an average of 13 to 18, at which its fault shows."""
    data = ramp(1, 1, 6) + np.float32(12) if data is None else data
    return running.call("AvgPool-1", [data], pool(kernel=[6]), timeout=timeout, **options)


def test_calls_follow_each_other(started):
    """A program is asked again and again, about arrays of any size."""
    running = started()
    for size in (6, 0, 5, 1 << 18, 6):
        data = np.full((1, 1, size), 15.5, np.float32)
        answer = running.call("AvgPool-1", [data], pool(kernel=[size]))
        assert answer == (MEAN if size else Answer(RAISED, text="nothing to pool"))
    assert running.alive


def test_a_program_may_refuse(started):
    """What a program does not support, and what it finds wrong, comes with its words."""
    running = started()
    unsupported = running.call("MaxPool-1", [ramp(1, 1, 6)], pool("MaxPool-1"))
    assert unsupported == Answer(UNSUPPORTED, text="no MaxPool-1 of float32")
    wrong = running.call("AvgPool-1", [ramp(1, 1, 6)], pool(kernel=[5]))
    assert wrong == Answer(RAISED, text="kernel [5]")


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("garbage", r"protocol: not an answer but 'Segmentation fault.*' \(print to stderr\)"),
        ("prints", r"protocol: not an answer but 'debug: kernel 2x2' \(print to stderr\)"),
        ("cut-off-line", r"exit status 0 in an unfinished answer, '.*outp'"),
        ("endless-line", r"protocol: a line of more than 1048576 bytes.*"),
        ("wrong-number", r"protocol: \"call\" is '1' instead of 0"),
        ("text-number", r"protocol: \"call\" is '0' instead of 0"),
        ("no-number", r"protocol: \"call\" is 'None' instead of 0"),
        ("cut-off-bytes", r"exit status 0 in an unfinished answer, .*"),
        ("too-many-bytes", r"protocol: bytes after the end of the answer.*"),
        ("negative-shape", r"protocol: an output of shape '\[1, 1, -1, 1\]'"),
        ("fractional-shape", r"protocol: an output of shape .*"),
        ("true-shape", r"protocol: an output of shape .*"),
        ("text-shape", r"protocol: an output of shape .*"),
        ("deep-shape", r"protocol: an output of shape .*"),
        ("unknown-dtype", r"protocol: bytes of an element type 'float128'.*"),
        ("dtype-is-a-number", r"protocol: \"output\" must have \"dtype\".*"),
        ("output-and-error", r"protocol: one of .* must be in the answer"),
        ("neither", r"protocol: one of .* must be in the answer"),
        ("error-is-a-number", r"protocol: \"error\" must be a string"),
        ("deeply-nested", r"protocol: not an answer but .*"),
        ("not-utf-8", r"protocol: not an answer but .*"),
        ("nan", r"protocol: not an answer but .*"),
        ("duplicate-keys", r"protocol: .*"),
        ("huge-number", r"protocol: not an answer but .*"),
        ("killed", r"signal SIGSEGV \(11\)"),
        ("exits", r"exit status 0"),
        ("exits-3", r"exit status 3"),
        ("closes-stdout", r"protocol: it closed its standard input or output"),
    ],
)
def test_faults(started, monkeypatch, fault, text):
    """A fault in an answer ends the program, and the verdict names it."""
    monkeypatch.setattr(program, "_GRACE", 0.2)
    running = started(fault)
    answer = call(running)
    assert answer.kind == CRASHED
    assert re.fullmatch(text, answer.text)
    assert answer.text.isprintable()
    assert not running.alive


@pytest.mark.parametrize("fault", ["hangs", "hangs-in-bytes", "hangs-in-line", "too-few-bytes"])
def test_hangs(started, fault):
    """A program that does not end its answer is not waited for."""
    running = started(fault)
    assert call(running, timeout=0.2) == Answer(TIMED_OUT, text="no answer within 0.2 s")
    assert not running.alive


@pytest.mark.parametrize(
    ("fault", "shape"),
    [("huge-shape", (1 << 62, 1 << 62)), ("terabyte-shape", (1 << 10, 1 << 30))],
)
def test_giants_are_judged_by_their_shape(started, fault, shape):
    """Nothing is allocated for an output that nobody expects; the program is ended."""
    running = started(fault)
    assert call(running) == Answer(ARRAY, (Returned("float32", shape),))
    assert not running.alive


def test_a_second_answer(started):
    """An answer that nobody asked for is a fault of this call or, if it is late, of the next."""
    for fault in ("answers-twice", "prints-afterwards"):
        running = started(fault)
        texts = [call(running).text]
        if running.alive:
            texts.append(call(running).text)
        assert re.match('protocol: (bytes after the end|"call" is|not an answer)', texts[-1])


def test_standard_error_is_kept(started):
    """What a program prints while it answers does not stop it, and its end is kept."""
    running = started("endless-stderr")
    for _ in range(3):
        assert call(running) == MEAN
    running = started("exits-3")
    call(running)
    assert running.printed == "out of memory\n"
    assert running.last_words == "; the last line it printed: out of memory"


def test_a_program_that_stays_is_killed(started, monkeypatch):
    """A program that does not exit when its input ends is ended."""
    monkeypatch.setattr(program, "_GRACE", 0.2)
    for fault in ("", "stays", "ignores-signals", "says-goodbye", "crashes-at-end"):
        running = started(fault)
        pid = running._process.pid
        running.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_answering_before_reading(started):
    """A program that answers before it has read a large input breaks the rule of turns."""
    running = started("answers-early")
    answer = call(running, np.ones((1, 1, 1 << 20), np.float32))
    assert answer.kind in {UNSUPPORTED, CRASHED}  # as it happens to be read


@pytest.mark.parametrize(
    "fault",
    ["wrong-version", "greets-a-person", "hello-is-a-list", "hello-has-no-version",
     "hello-is-cut-off", "hello-never-ends", "supports-is-a-list", "dies-before-hello"],
)  # fmt: skip
def test_no_handshake(started, fault):
    """A program that does not shake hands is a wrong argument, in one line that names it."""
    with pytest.raises(UsageError, match=rf"fake_program\.py {fault}: ") as caught:
        started(fault)
    assert str(caught.value).isprintable()


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
    assert (answer.kind, "MemoryError" in answer.text) == (RAISED, True)


def test_an_impossible_limit():
    """A limit that the system does not know is refused."""
    with pytest.raises(UsageError, match=r"^a limit of .* bytes of memory cannot be set: "):
        Program(Launch(("cat",)), memory=1 << 200)


def printing(operator, inputs, attributes):
    """Print before and after in both streams, as much as the first element says."""
    print("out", "x" * int(inputs[0].flat[0]))  # noqa: T201 - what is tested
    os.write(2, b"err %d\n" % inputs[0].flat[0])
    return inputs[0]


class TestAhead:
    """A worker of ours takes one more call before it has answered the last."""

    @pytest.fixture
    def worker(self):
        """Return a worker that prints, started; it is killed in the end."""
        running = Program(python_worker(printing))
        running.greet()
        yield running
        running.kill()

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
