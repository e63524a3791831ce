"""`exec:COMMAND`: a backend that is a program, in any language; see docs/protocol.md."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

from conformance.dtypes import is_known, name_of
from conformance.errors import Unsupported, UsageError
from conformance.vector import Array, Outputs, as_returned, outputs_of
from conformance.workers.answer import UNSUPPORTED, arrays_of, shortened
from conformance.workers.launch import Launch, python_worker
from conformance.workers.program import Program

_LIMIT = 1 << 28
"""Elements of an output that a call in this process reads."""


def words_of(command: str) -> tuple[str, ...]:
    """Return the words of a command; UsageError unless the first names a program."""
    name = _name(command)
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
        return words
    try:
        path = Path(program).absolute()
    except FileNotFoundError:
        raise UsageError(f"{name}: not found, and the current directory is gone") from None
    if "/" not in program:
        hint = f"; for the one in this directory write ./{program}" if path.exists() else ""
        raise UsageError(f"{name}: no such program on the PATH{hint}")
    what = f"{path} is not executable" if path.exists() else f"no file {path}"
    raise UsageError(f"{name}: {what}")


def _name(command: str) -> str:
    return f"exec:{shortened(command, 200)}"


def launch_of(backend: Callable[..., Any] | str) -> Launch:
    """Return how to start a backend apart: a program as it is, all else in a worker of ours."""
    if isinstance(backend, str) and backend.startswith("exec:"):
        backend = External(backend.removeprefix("exec:"))
    return backend.launch if isinstance(backend, External) else python_worker(backend)


class External:
    """A program as a backend; `launch` is how to start it.

    Called directly, it starts the program, and a fresh one after a crash, and lets it run until
    `close` or its own end. Calls from several threads wait for each other. Raises UsageError
    unless the command names a program.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.launch = Launch(words_of(command), name=_name(command))
        self._lock = Lock()
        self._programs: list[Program] = []  # the one that runs, if any
        finalize(self, _close, self._programs)

    def __repr__(self) -> str:
        return f"External({self.command!r})"

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case: an array, or a tuple of those of several outputs.

        Raises Unsupported where the program says so, RuntimeError with its words where it refuses
        and with what is known where it crashes, UsageError if it cannot be started.
        """
        with self._lock:
            program = self._running()
            assert program.welcome
            dtype = inputs[0].dtype
            if not (is_known(dtype) and program.welcome.offers(operator, name_of(dtype))):
                raise Unsupported(f"{operator} of {dtype}")
            answer = program.call(operator, inputs, attributes, limit=_LIMIT)
        if answer.kind == UNSUPPORTED:
            raise Unsupported(answer.text)
        returned = arrays_of(answer.outputs)
        if returned is None:
            output = "; ".join(f"{each.dtype} {each.shape}" for each in answer.outputs)
            raise RuntimeError(answer.text or f"an output of {output}")
        return as_returned(tuple(array.copy() for array in outputs_of(returned)))

    def close(self) -> None:
        """End the program, if it runs."""
        with self._lock:
            _close(self._programs)

    def _running(self) -> Program:
        if not self._programs or not self._programs[0].alive:
            _close(self._programs)
            program = Program(self.launch)
            program.greet()
            self._programs.append(program)
        return self._programs[0]


def _close(programs: list[Program]) -> None:
    while programs:
        programs.pop().close()
