"""How to start what speaks the protocol: a worker of this package, or a program of a user."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.errors import UsageError
from conformance.process import Launch, python_launch
from conformance.text import one_line

_WORKER = ("conformance.backends.worker", "main")

PROGRAM_START_LIMIT = 10.0
"""Seconds that a program of a user has for the handshake, unless a call has more."""

_IF_SILENT = (
    ": is the output flushed? conformance probe COMMAND checks that; "
    "a program that takes longer to start needs a longer --timeout"
)


def python_worker(backend: str | Callable[..., Any]) -> Launch:
    """Return how to start a worker of this package with a backend of Python.

    `backend` is what `load_backend` takes, loaded in the worker, or a callable, sent by value
    where the worker could not import it by name. The worker has this process's sys.path and
    current directory. Raises UsageError for a callable that cannot be sent.
    """
    if isinstance(backend, str):
        return replace(python_launch(*_WORKER, backend), name=f"backend {backend!r}")
    from conformance.backends.program.pickling import pickled  # noqa: PLC0415 - only for callables

    data = pickled(backend)
    payload = b"%d\n%s" % (len(data), data)
    return replace(python_launch(*_WORKER, payload=payload), name="the backend")


def program_launch(command: str) -> Launch:
    """Return how to start the program of `exec:COMMAND`; UsageError unless it names one."""
    name = f"exec:{one_line(command, 200)}"
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    if not words or not words[0]:
        raise UsageError(f"{name}: name a program, with its arguments if it has any: exec:COMMAND")
    if "\0" in command:
        raise UsageError(f"{name}: a command has no zero bytes")
    program = words[0]
    if shutil.which(program):
        return Launch(words, name=name, start_limit=PROGRAM_START_LIMIT, hint=_IF_SILENT)
    try:
        path = Path(program).absolute()
    except FileNotFoundError:
        raise UsageError(f"{name}: not found, and the current directory is gone") from None
    if "/" not in program:
        hint = f"; for the one in this directory write ./{program}" if path.exists() else ""
        raise UsageError(f"{name}: no such program on the PATH{hint}")
    what = f"{path} is not executable" if path.exists() else f"no file {path}"
    raise UsageError(f"{name}: {what}")
