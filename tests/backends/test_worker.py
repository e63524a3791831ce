"""Our worker keeps the protocol when it is started by hand, and ends when nobody is there."""

import subprocess
import sys

import numpy as np
import pytest
from support.fakes import pool, ramp

from conformance.backends.answer import ARRAY, Answer, Returned
from conformance.backends.program import Launch
from conformance.backends.program.program import Program

SERVE = (sys.executable, "-m", "conformance.backends.worker", "numpy")


def test_as_a_command():
    """The worker is a program like any other: a command may start it, in another environment."""
    running = Program(Launch(SERVE))
    try:
        assert running.greet().name == "numpy"
        answer = running.call("AvgPool-1", [ramp(1, 1, 6)], pool())
    finally:
        running.kill()
    mean = Returned("float32", (1, 1, 3), np.float32([1.5, 3.5, 5.5]).tobytes())
    assert answer == Answer(ARRAY, (mean,))


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (b"", 0, ""),
        (b"hello?\n", 70, "not a harness that speaks pooling-conformance: 'hello?'\n"),
    ],
)
def test_nobody_there(sent, status, message):
    """Without a harness it ends, and says why."""
    ended = subprocess.run(SERVE, input=sent, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.decode()) == (status, b"", message)
