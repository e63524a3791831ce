"""Work in a process of its own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.processes import wait_for_end

from conformance.errors import UsageError
from conformance.process import ProcessFailed, call_separately


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


def leave_a_child(path):
    """Return while a child runs on, whose number is in a file."""
    child = os.fork()
    if not child:
        time.sleep(600)
    Path(path).write_text(str(child))


def hang(path):
    """Say where this is called, and never return."""
    Path(path).with_suffix(".part").write_text(str(os.getpid()))
    Path(path).with_suffix(".part").rename(path)
    time.sleep(600)


def test_results_and_errors_come_back():
    """What is printed does not."""
    assert call_separately(add, 1, 2, seconds=60) == 3
    with pytest.raises(UsageError, match="no"):
        call_separately(refuse, seconds=60)
    with pytest.raises(RuntimeError, match="MemoryError"):
        call_separately(fill_memory, seconds=60)


def test_a_crash_and_a_hang_are_errors():
    with pytest.raises(ProcessFailed, match="SIGSEGV"):
        call_separately(crash, seconds=60)
    with pytest.raises(ProcessFailed, match="took more than"):
        call_separately(time.sleep, 60, seconds=0.5)


@pytest.mark.parametrize("status", [0, 1])
def test_an_exit_without_a_result_is_a_crash_whatever_the_status(status):
    with pytest.raises(ProcessFailed, match=f"^crashed with exit status {status}$"):
        call_separately(os._exit, status, seconds=60)


def test_a_child_that_lives_on_is_ended_and_not_waited_for(tmp_path):
    call_separately(leave_a_child, tmp_path / "child", seconds=60)
    wait_for_end(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_this_process_however_that_ends(tmp_path, end):
    place = tmp_path / "called"
    path = [str(Path(__file__).parent), *sys.path]
    script = f"""if True:
        import sys
        sys.path[:] = {path!r}
        from test_separate import hang
        from conformance.process import call_separately
        call_separately(hang, {str(place)!r}, seconds=600)
    """
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL) as harness:
        while not place.exists():
            assert harness.poll() is None
            time.sleep(0.01)
        harness.send_signal(end)
    wait_for_end(int(place.read_text()))
