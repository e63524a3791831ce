"""How to start a worker: a command, and what it reads before the protocol begins."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.backends import load_backend
from conformance.errors import UsageError
from conformance.workers.answer import shortened


@dataclass(frozen=True, slots=True)
class Launch:
    """The words of a command, and bytes written to its standard input before the first message.

    `name` is what errors call it, the command if it has none.
    """

    command: tuple[str, ...]
    payload: bytes = b""
    name: str = ""

    def __str__(self) -> str:
        return self.name or shortened(shlex.join(self.command))


def python_worker(backend: str | Callable[..., Any]) -> Launch:
    """Return how to start our own worker with a backend of Python.

    `backend` is what `load_backend` takes, loaded in the worker, or a callable, sent by value
    where the worker could not import it by name. The worker has this process's sys.path and
    current directory. Raises UsageError for a callable that cannot be sent.
    """
    if not sys.executable:
        raise UsageError("no Python to start a worker with: run the backend in this process")
    # Not -m: the package may be found by a sys.path that only this process has.
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from conformance.workers.serve import main; main()"
    )
    command = (sys.executable, "-c", start)
    if isinstance(backend, str):
        if not backend:
            load_backend(backend)  # which says what would do
        return Launch((*command, backend), name=f"backend {backend!r}")
    from conformance.workers.sending import sent  # noqa: PLC0415 - only for callables

    return Launch(command, sent(backend), "the backend")
