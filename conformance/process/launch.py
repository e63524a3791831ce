"""How to start a process: a command, and what it reads first."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.errors import UsageError
from conformance.text import one_line

_LONGEST = 300
"""Characters of a command in an error."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The words of a command, and bytes written to its standard input before the first message.

    `name` is what errors call it, the command if it has none. `start_limit` is how many seconds it
    has for the handshake at least, `hint` what may be wrong with one that is silent. `environment`
    are variables that it has besides those of this process, or in their place, and `descriptors`
    the open files that it shares.
    """

    command: tuple[str, ...]
    payload: bytes = b""
    name: str = ""
    start_limit: float = 120.0
    hint: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name or one_line(shlex.join(self.command), _LONGEST)


def python_launch(module: str, function: str, *words: str, payload: bytes = b"") -> Launch:
    """Return how to start this Python with a function of a module, and words for its sys.argv.

    It has this process's sys.path and current directory. Raises UsageError without a Python.
    """
    if not sys.executable:
        raise UsageError("no Python to start a worker with: run the backend in this process")
    # Not -m: the package may be found by a sys.path that only this process has.
    start = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function}; {function}()"
    return Launch((sys.executable, "-c", start, *words), payload)
