"""The worker: a program that speaks the protocol and calls a backend of Python.

    python -m conformance.backends.worker BACKEND

BACKEND is what `load_backend` takes; without it the pickled callable is read before the protocol
begins. The backend may crash, hang, print, close files and change this process: the harness sees
its answers, what it printed, or the end of this process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from conformance.backends.answer import (
    Answer,
    answer_raised,
    answer_returned,
    error_line,
    own_attributes,
)
from conformance.backends.named_backend import engine_version, load_backend
from conformance.backends.program import protocol
from conformance.backends.program.pickling import unpickled
from conformance.backends.program.protocol import MAX_LINE, Call, ProtocolError
from conformance.backends.python_callable import version_given_by
from conformance.backends.variations import VARIATIONS
from conformance.errors import UsageError
from conformance.vector import Array

_FAILED = 70  # EX_SOFTWARE
_LINE_BUFFERED = 1


def main() -> NoReturn:
    """Serve until the harness closes standard input."""
    channel = _Channel(*_take_pipes())
    with suppress(Exception):  # not needed: only what is printed before a crash may be lost
        _print_by_line()
    try:
        _serve(channel, sys.argv[1:])
    except ProtocolError as error:
        _end(str(error))
    except BaseException as error:  # noqa: BLE001 - a signal handler or a thread of the backend
        _end(f"the worker cannot go on: {error_line(error)}")


def _serve(channel: _Channel, arguments: list[str]) -> NoReturn:
    name = arguments[0] if arguments else ""
    pickled = b"" if name else channel.take(int(channel.line()))
    protocol.read_hello(channel.line())
    try:
        backend = load_backend(name) if name else unpickled(pickled)
    except UsageError as error:
        channel.write(protocol.write_refusal(str(error)))
        _end("")
    except BaseException as error:  # noqa: BLE001 - what a backend raises when it is imported
        what = f"backend {name!r}" if name else "the backend"
        channel.write(protocol.write_refusal(f"{what}: importing it raised {error_line(error)}"))
        _end("")
    del pickled
    engine = engine_version(name) or version_given_by(backend)
    welcome = protocol.write_welcome(
        name or "python", limited=True, ahead=True, engine=engine, variations=[*VARIATIONS]
    )
    channel.write(welcome)
    with suppress(Exception):  # fd 2 may be gone
        faulthandler.enable()
    process, depth = os.getpid(), sys.getrecursionlimit()
    while True:
        call = protocol.read_call(channel.line())
        answer = _called(backend, call, channel.take(call.size))
        if os.getpid() != process:  # the backend forked, and this is the child
            _end("")
        sys.setrecursionlimit(depth)
        _flush()
        channel.mark(call.number)
        channel.write(protocol.write_answer(call.number, answer))


def _called(backend: Callable[..., Any], call: Call, data: bytes) -> Answer:
    """Return the answer to a call; its arrays are freed when this returns."""

    def once(inputs: list[Array]) -> Answer:
        try:
            output = backend(call.operator, inputs, own_attributes(call.attributes))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the backend raised it
            return answer_raised(error)
        return answer_returned(output, call.limit)

    return VARIATIONS[call.variation].perform(once, call.arrays(data))


def _flush() -> None:
    """Write out what the backend printed: it belongs to this call."""
    with suppress(BaseException):  # the stream may be closed, or the backend's own
        sys.stdout.flush()


class _Channel:
    """The pipes to the harness."""

    def __init__(self, source: int, sink: int, printed: int) -> None:
        self._source = os.fdopen(source, "rb")
        self._sink = sink
        self._printed = printed

    def line(self) -> bytes:
        """Return the next line, without its line feed; exits at the end of the input."""
        line = self._source.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise ProtocolError(f"a line of more than {MAX_LINE} bytes")
        if not line.endswith(b"\n"):
            _end("")
        return line[:-1]

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; exits at the end of the input."""
        data = self._source.read(size)
        if len(data) < size:
            _end("")
        return data

    def write(self, message: bytes) -> None:
        """Write all of a message."""
        _write(self._sink, message)

    def mark(self, number: int) -> None:
        """Mark on standard error the end of what was printed for a call."""
        _write(self._printed, protocol.mark(number))


def _write(descriptor: int, message: bytes) -> None:
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _take_pipes() -> tuple[int, int, int]:
    """Move the protocol away from standard input and output, and return its descriptors.

    What the backend reads is empty then, and what it prints goes to standard error. The third is
    that one again: the backend may close its own.
    """
    source, sink, printed = os.dup(0), os.dup(1), os.dup(2)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return source, sink, printed


def _print_by_line() -> None:
    """Let no line that the backend prints wait in a buffer, which a crash would lose."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    libc = ctypes.CDLL(None)
    stdout = ctypes.c_void_p.in_dll(libc, "stdout" if sys.platform == "linux" else "__stdoutp")
    libc.setvbuf(stdout, None, _LINE_BUFFERED, 0)


def _end(text: str) -> NoReturn:
    """Exit at once, leaving a line on standard error if there is any.

    Not by sys.exit: threads of the backend, or its exit handlers, may never end.
    """
    with suppress(BaseException):
        if text:
            os.write(2, f"{text}\n".encode(errors="replace"))
    os._exit(_FAILED if text else 0)


if __name__ == "__main__":
    main()
