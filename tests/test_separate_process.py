"""Work in a process of its own."""

from __future__ import annotations

import os
import signal
import time

import pytest

from conformance.errors import UsageError
from conformance.separate_process import ProcessFailed, call_separately


def add(one, other):
    """Print to both streams, and add."""
    os.write(1, b"out")
    os.write(2, b"err")
    return one + other


def refuse():
    """Raise what users see."""
    raise UsageError("no")


def crash():
    """End as a bug in C does."""
    os.kill(os.getpid(), signal.SIGSEGV)


def fill_memory():
    """Take more than any file needs."""
    return len(bytearray(1 << 40))


def test_results_and_errors_come_back():
    """What is printed does not."""
    assert call_separately(add, 1, 2, seconds=60) == 3
    with pytest.raises(UsageError, match="no"):
        call_separately(refuse, seconds=60)
    with pytest.raises(RuntimeError, match="MemoryError"):
        call_separately(fill_memory, seconds=60)


def test_a_crash_and_a_hang_are_errors():
    """Each is said in words."""
    with pytest.raises(ProcessFailed, match="SIGSEGV"):
        call_separately(crash, seconds=60)
    with pytest.raises(ProcessFailed, match="took more than"):
        call_separately(time.sleep, 60, seconds=0.5)
