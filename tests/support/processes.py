"""Processes by number: whether they run, and waiting for their end."""

import time
from pathlib import Path


def is_alive(pid):
    """Say whether a process runs; one that has ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is looked at
        return False


def wait_for_end(*pids):
    """Wait until no process of some runs; a machine may be busy, but not for a minute."""
    deadline = time.monotonic() + 60
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
