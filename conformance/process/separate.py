"""Work on a stranger's file in a process of its own, where a crash or a hang is only an error."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from conformance.errors import ConformanceError
from conformance.files import size_of
from conformance.interrupts import held
from conformance.process.launch import python_launch
from conformance.process.transport import Ended, Silent, Transport

_Result = TypeVar("_Result")
_START = 60.0
"""Seconds that the process may take to start, besides its work."""
_MEMORY = 2 << 30
"""Bytes that the work may take besides those of its modules, unless it is given more."""
_SECONDS = 30
_BYTES_PER_SECOND = 1 << 20
"""How long a library may take to find all parts of files, and how fast it reads at least."""
_NUMBER = 20
"""Bytes of the line that says how many follow, at most."""


class ProcessFailed(Exception):  # noqa: N818 - what became of the process, for callers to word
    """The process ended without a result; the text says how."""


def call_separately(
    function: Callable[..., _Result],
    *arguments: Any,
    seconds: float,
    memory: int = _MEMORY,
) -> _Result:
    """Return what a function of this package returns for arguments, in a process of its own.

    The process has this one's sys.path. Its time counts from when the function's module is
    imported. Raises the ConformanceError that the function raises, and ProcessFailed where it
    crashes or takes more than `seconds`. Where no process can be started the call is made here.
    """
    if not sys.executable or os.name != "posix":
        return function(*arguments)
    call = pickle.dumps((function, arguments, memory))
    process: Transport | None = None
    try:
        with held():  # until somebody knows of it
            process = Transport(python_launch("conformance.process.separate", "_serve"))
        process.allow(_START)
        process.send_bytes(call)
        process.line(_NUMBER)
        process.allow(seconds)
        result, error = pickle.loads(process.take(int(process.line(_NUMBER))))  # noqa: S301 - ours
    except Silent:
        raise ProcessFailed(f"took more than {seconds:.0f} seconds") from None
    except Ended as end:
        how = "crashed" if end.status is None else f"crashed with {end}"
        raise ProcessFailed(how) from None
    finally:
        if process is not None:
            process.kill()
    if error is not None:
        raise error
    returned: _Result = result
    return returned


def seconds_to_read(paths: Iterable[Path]) -> float:
    """Return how many seconds a library may take to read some files."""
    return _SECONDS + sum(map(size_of, paths)) / _BYTES_PER_SECOND


def _serve() -> None:
    """Make the call that standard input describes; what it prints is not the result."""
    out = os.dup(1)
    os.dup2(2, 1)
    function, arguments, memory = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own
    _limit(memory)
    with os.fdopen(out, "wb") as stream:
        stream.write(b"ready\n")
        stream.flush()
        try:
            answer = pickle.dumps((function(*arguments), None))
        except ConformanceError as error:
            answer = pickle.dumps((None, error))
        except Exception as error:  # noqa: BLE001 - a bug, which the caller shows
            answer = pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
        stream.write(b"%d\n%s" % (len(answer), answer))
    os._exit(0)  # a damaged heap may crash what is left to do


def _limit(memory: int) -> None:
    """Limit the address space to what is used now and `memory` more, where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # no /proc, or a limit that is lower already
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, hard))
