"""A program ends with the harness, however the harness ends."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.process import transport
from conformance.process.transport import watchdog

DEAF = """
trap "" HUP INT TERM
sleep 600 &
echo ready
wait
"""


@pytest.fixture
def deaf():
    """Start a program that ignores signals, with a child; its output ends with both."""
    with subprocess.Popen(
        ["/bin/sh", "-c", DEAF], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        os.killpg(process.pid, signal.SIGKILL)


def test_the_group_ends_with_the_process_that_watches_it(deaf):
    """Killed, it can do nothing itself; what the program has started ends too."""
    with watching(deaf.pid) as (harness, _):
        harness.kill()
        assert deaf.wait(30) == -signal.SIGKILL
    assert deaf.stdout.read() == b""  # which waits for the child


@pytest.mark.skipif(sys.platform != "linux", reason="signals that are ignored are told there")
def test_what_ends_a_job_does_not_end_the_watch(deaf):
    """It is there for what these signals do not end."""
    with watching(deaf.pid) as (harness, shell):
        while "SigIgn:\t0000000000004003\n" not in Path(f"/proc/{shell}/status").read_text():
            time.sleep(0.01)
        harness.kill()
        assert deaf.wait(30) == -signal.SIGKILL


@contextmanager
def watching(group):
    """Yield a process that watches a group, and the number of the shell that it does it with."""
    script = """if True:
        import sys, time
        from conformance.process.transport import watchdog
        shell = watchdog(int(sys.argv[1]))
        print(shell.pid, flush=True)
        time.sleep(600)
    """
    words = [sys.executable, "-c", script, str(group)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as harness:
        try:
            yield harness, int(harness.stdout.readline())
        finally:
            harness.kill()


def test_a_watch_that_has_ended_kills_nothing(deaf):
    """Another process may have the number by then."""
    shell = watchdog(deaf.pid)
    shell.kill()
    shell.communicate()
    assert deaf.poll() is None


def test_a_system_without_a_shell_has_no_watch(monkeypatch, deaf):
    """Programs run there all the same."""
    monkeypatch.setattr(transport, "_WATCHDOG", ("/no/such/shell",))
    assert watchdog(deaf.pid) is None
    assert deaf.poll() is None
