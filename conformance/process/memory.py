"""Memory that two processes share, and whether the system has ended a process for want of it."""

from __future__ import annotations

import mmap
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from conformance.errors import UsageError
from conformance.files import Closable

_OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


class SharedMemory(Closable):
    """A file without a name: another process writes it, and nothing of it stays after both.

    `descriptor` is that of both processes.
    """

    def __init__(self) -> None:
        self.descriptor = _descriptor()

    @property
    def size(self) -> int:
        """Bytes that it has now."""
        return os.fstat(self.descriptor).st_size

    def read(self) -> memoryview:
        """Return what it holds, which is not copied."""
        if not self.size:
            return memoryview(b"")
        return memoryview(mmap.mmap(self.descriptor, self.size, prot=mmap.PROT_READ))

    def close(self) -> None:
        """Give it back, when nobody looks at it any more."""
        os.close(self.descriptor)


def _descriptor() -> int:
    """Return a new file, which on Linux cannot shrink: to read what is gone would be a crash."""
    try:
        if not hasattr(os, "memfd_create"):
            with tempfile.TemporaryFile() as file:
                return os.dup(file.fileno())
        import fcntl  # noqa: PLC0415 - not on every system

        descriptor = os.memfd_create("conformance", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    except OSError as error:
        raise UsageError(f"no memory can be shared with a worker: {error.strerror}") from None
    return descriptor


def oom_kills() -> int:
    """Return how many processes the system has ended since it started because memory ran out.

    Those of this process's group of limits where the system counts them, else all; 0 where it
    counts none.
    """
    for counter in _counters():
        with suppress(OSError):
            if found := _OOM_KILLS.search(counter.read_text(encoding="ascii", errors="replace")):
                return int(found[1])
    return 0


def _counters(system: Path = Path("/")) -> Iterator[Path]:
    """Yield files that may count them, the closest first: those of cgroups, and the kernel's."""
    groups = ""
    with suppress(OSError):
        groups = (system / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace")
    mounts = system / "sys/fs/cgroup"
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        # A container may see its group at the top, whatever it is called outside.
        for place in dict.fromkeys((path.lstrip("/"), "")):
            if not controllers:
                yield mounts / place / "memory.events"
            elif "memory" in controllers.split(","):
                yield mounts / "memory" / place / "memory.oom_control"
    yield system / "proc/vmstat"
