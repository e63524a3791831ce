"""Work on a stranger's file in a process of its own, where a crash or a hang is only an error."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from conformance.errors import ConformanceError
from conformance.files import size_of

_Result = TypeVar("_Result")
_START = 60.0
"""Seconds that the process may take to start and to hand over its result, besides its work."""
_MEMORY = 2 << 30
"""Bytes that the work may take besides those of its modules, unless it is given more."""
_SECONDS = 30
_BYTES_PER_SECOND = 1 << 20
"""How long a library may take to find all parts of files, and how fast it reads at least."""


class ProcessFailed(Exception):  # noqa: N818 - what became of the process, for callers to word
    """The process ended without a result; the text says how: `crashed (SIGSEGV)`."""


def call_separately(
    function: Callable[..., _Result],
    *arguments: Any,
    seconds: float,
    memory: int = _MEMORY,
) -> _Result:
    """Return what a function of this package returns for arguments, in a process of its own.

    The process has this one's sys.path. Its time counts from when the function's module is
    imported. Raises the ConformanceError that the function raises, and ProcessFailed where it
    crashes or takes more than `seconds`. Without a Python to start the call is made here.
    """
    if not sys.executable:
        return function(*arguments)
    # Not -m: the package may be found by a sys.path that only this process has.
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from conformance.separate_process import _serve; _serve()"
    )
    try:
        done = subprocess.run(  # noqa: S603 - this Python, with code of this package
            [sys.executable, "-c", start],
            input=pickle.dumps((function, arguments, seconds, memory)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds + _START,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProcessFailed(f"took more than {seconds:.0f} seconds") from None
    if not done.stdout:
        raise ProcessFailed(_ending(done.returncode, seconds))
    result, error = pickle.loads(done.stdout)  # noqa: S301 - from our own process
    if error is not None:
        raise error
    returned: _Result = result
    return returned


def seconds_to_read(paths: Iterable[Path]) -> float:
    """Return how many seconds a library may take to read some files."""
    return _SECONDS + sum(map(size_of, paths)) / _BYTES_PER_SECOND


def _ending(code: int, seconds: float) -> str:
    """Return in words how a process without a result ended."""
    if code == 1:  # that of the watchdog
        return f"took more than {seconds:.0f} seconds"
    with suppress(ValueError):
        return f"crashed ({signal.Signals(-code).name})"
    return f"crashed (exit code {code})"


def _serve() -> None:
    """Make the call that standard input describes; what it prints goes nowhere."""
    out = os.dup(1)
    os.dup2(2, 1)
    with suppress(KeyboardInterrupt):  # the process that waits is interrupted, too
        function, arguments, seconds, memory = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own
        _limit(memory)
        # A thread of C that ends this process also from the middle of a library.
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
        try:
            answer = pickle.dumps((function(*arguments), None))
        except ConformanceError as error:
            answer = pickle.dumps((None, error))
        except Exception as error:  # noqa: BLE001 - a bug, which the caller shows
            answer = pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
        faulthandler.cancel_dump_traceback_later()
        with os.fdopen(out, "wb") as stream:
            stream.write(answer)
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
