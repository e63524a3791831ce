"""`exec:COMMAND`: a backend that is a program in any language (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import finalize

from conformance.backends.answer import outputs_or_raise
from conformance.backends.program.launch import program_launch
from conformance.backends.program.program import Program
from conformance.dtypes import is_known, name_of
from conformance.errors import Unsupported
from conformance.vector import Array, Outputs

_LIMIT = 1 << 28
"""Elements of an output that a call in this process reads."""


class External:
    """A program as a backend; `launch` is how to start it.

    Called directly, it starts the program, and a fresh one after a crash, and lets it run until
    `close` or its own end. Calls from several threads wait for each other. Raises UsageError
    unless the command names a program.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.launch = program_launch(command)
        self._lock = Lock()
        self._program: Program | None = None
        self._finalizer: finalize[..., External] | None = None  # closes the program

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
            dtype = inputs[0].dtype
            if not (is_known(dtype) and program.offers(operator, name_of(dtype))):
                raise Unsupported(f"{operator} of {dtype}")
            answer = program.call(operator, inputs, attributes, limit=_LIMIT)
        return outputs_or_raise(answer)

    def close(self) -> None:
        """End the program, if it runs."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._finalizer is not None:
            self._finalizer()

    def _running(self) -> Program:
        if self._program is None or not self._program.alive:
            self._close()
            self._program = Program(self.launch)
            self._finalizer = finalize(self, self._program.close)
            self._program.greet()
        return self._program
