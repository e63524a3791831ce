"""Shared memory, and what the system says when memory runs out."""

import os
import sys

import pytest

from conformance.process import Launch, SharedMemory, run_command
from conformance.process.memory import _counters, oom_kills

WRITE = "import os, sys; os.write(int(sys.argv[1]), b'written there')"


def test_what_another_process_writes_is_read_here():
    with SharedMemory() as memory:
        words = (sys.executable, "-c", WRITE, str(memory.descriptor))
        run_command(Launch(words, descriptors=(memory.descriptor,)))
        assert (memory.size, bytes(memory.read())) == (13, b"written there")


def test_nothing_written_is_nothing_to_read():
    with SharedMemory() as memory:
        assert bytes(memory.read()) == b""


@pytest.mark.skipif(sys.platform != "linux", reason="files are sealed there")
def test_it_cannot_be_taken_away_from_who_reads_it():
    with SharedMemory() as memory:
        os.write(memory.descriptor, b"here")
        with pytest.raises(PermissionError):
            os.ftruncate(memory.descriptor, 0)


@pytest.mark.parametrize(
    ("groups", "place", "content"),
    [
        ("0::/jobs/one\n", "sys/fs/cgroup/jobs/one/memory.events", "oom 7\noom_kill 5\n"),
        ("0::/jobs/one\n", "sys/fs/cgroup/memory.events", "oom 7\noom_kill 5\n"),
        ("5:cpu:/\n4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill 5\n"),
        ("", "proc/vmstat", "pgfault 9\noom_kill 5\n"),
    ],
)
def test_processes_ended_for_want_of_memory_are_counted(
    tmp_path, monkeypatch, groups, place, content
):
    """By the group of this process, else by the kernel."""
    for path, text in {"proc/self/cgroup": groups, place: content}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr("conformance.process.memory._counters", lambda: _counters(tmp_path))

    assert oom_kills() == 5


def test_a_system_that_counts_nothing_has_ended_none(tmp_path, monkeypatch):
    monkeypatch.setattr("conformance.process.memory._counters", lambda: _counters(tmp_path))
    assert oom_kills() == 0
