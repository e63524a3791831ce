"""How to start a program: a command, and what it reads before the protocol begins."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.backends.answer import MAX_TEXT
from conformance.errors import UsageError
from conformance.text import one_line

PROGRAM_START_LIMIT = 10.0
"""Seconds that a program of a user has for the handshake, unless a call has more."""

_IF_SILENT = (
    ": is the output flushed? conformance probe COMMAND checks that; "
    "a program that takes longer to start needs a longer --timeout"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """The words of a command, and bytes written to its standard input before the first message.

    `name` is what errors call it, the command if it has none. `start_limit` is how many seconds it
    has for the handshake at least, `hint` what may be wrong with one that is silent.
    """

    command: tuple[str, ...]
    payload: bytes = b""
    name: str = ""
    start_limit: float = 120.0
    hint: str = ""

    def __str__(self) -> str:
        return self.name or one_line(shlex.join(self.command), MAX_TEXT)


def python_worker(backend: str | Callable[..., Any]) -> Launch:
    """Return how to start a worker of this package with a backend of Python.

    `backend` is what `load_backend` takes, loaded in the worker, or a callable, sent by value
    where the worker could not import it by name. The worker has this process's sys.path and
    current directory. Raises UsageError for a callable that cannot be sent.
    """
    if not sys.executable:
        raise UsageError("no Python to start a worker with: run the backend in this process")
    # Not -m: the package may be found by a sys.path that only this process has.
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from conformance.backends.worker import main; main()"
    )
    command = (sys.executable, "-c", start)
    if isinstance(backend, str):
        return Launch((*command, backend), name=f"backend {backend!r}")
    from conformance.backends.program.pickling import pickled  # noqa: PLC0415 - only for callables

    return Launch(command, pickled(backend), "the backend")


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
