"""Our worker: a program of the protocol that calls a backend of Python.

    python -m conformance.workers.serve BACKEND

BACKEND is what `load_backend` takes; without it the callable itself is read before the protocol
begins. It may crash, hang, print, close files and change this process as it likes: what of it
reaches the harness is its answer, or the end of this process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from conformance.backends import load_backend
from conformance.errors import UsageError
from conformance.workers import protocol
from conformance.workers.answer import Answer, answer_raised, answer_returned, one_line
from conformance.workers.protocol import MAX_LINE, Call, ProtocolError
from conformance.workers.sending import received

_CHUNK = 1 << 16
_FAILED = 70  # EX_SOFTWARE
_LINE_BUFFERED = 1


def main() -> NoReturn:
    """Serve until the harness closes standard input."""
    channel = _Channel(*_take_pipes())
    with suppress(Exception):  # a comfort: a system without it has workers all the same
        _print_by_line()
    try:
        _serve(channel, sys.argv[1:])
    except ProtocolError as error:
        _end(str(error))
    except BaseException as error:  # noqa: BLE001 - the backend's doing: a signal handler, a thread
        _end(f"the worker cannot go on: {one_line(error)}")


def _serve(channel: _Channel, arguments: list[str]) -> NoReturn:
    name = arguments[0] if arguments else ""
    sent = b"" if name else channel.take(int(channel.line()))
    protocol.read_hello(channel.line())
    try:
        backend = load_backend(name) if name else received(sent)
    except UsageError as error:
        channel.write(protocol.write_refusal(str(error)))
        _end("")
    except BaseException as error:  # noqa: BLE001 - what a backend raises when it is imported
        what = f"backend {name!r}" if name else "the backend"
        channel.write(protocol.write_refusal(f"{what}: importing it raised {one_line(error)}"))
        _end("")
    del sent
    channel.write(protocol.write_welcome(name or "python", limited=True, ahead=True))
    with suppress(Exception):  # fd 2 may be gone
        faulthandler.enable()
    process, depth = os.getpid(), sys.getrecursionlimit()
    while True:
        call = protocol.read_call(channel.line())
        answer = _called(backend, call, channel.take(call.size))
        if os.getpid() != process:  # the backend forked, and this is the child
            os._exit(0)
        sys.setrecursionlimit(depth)
        _flush()
        channel.mark(call.number)
        channel.write(protocol.write_answer(call.number, answer))


def _called(backend: Callable[..., Any], call: Call, data: bytes) -> Answer:
    """Return what becomes of a call; all it made is gone when this returns."""
    inputs = call.arrays(data)
    try:
        output = backend(call.operator, inputs, call.attributes)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the backend raised it
        return answer_raised(error)
    return answer_returned(output, call.limit)


def _flush() -> None:
    """Let go what the backend printed: it belongs to this call."""
    with suppress(BaseException):  # the stream may be closed, or the backend's own
        sys.stdout.flush()


class _Channel:
    """The pipes to the harness, and what was read too early from one."""

    def __init__(self, source: int, sink: int, printed: int) -> None:
        self._source = source
        self._sink = sink
        self._printed = printed
        self._early = bytearray()

    def line(self) -> bytes:
        """Return the next line, without its line feed; exits at the end of the input."""
        while (end := self._early.find(b"\n")) < 0:
            if len(self._early) > MAX_LINE:
                raise ProtocolError(f"a line of more than {MAX_LINE} bytes")
            self._read()
        found = bytes(self._early[:end])
        del self._early[: end + 1]
        return found

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; exits at the end of the input."""
        while len(self._early) < size:
            self._read()
        found = bytes(self._early[:size])
        del self._early[:size]
        return found

    def write(self, message: bytes) -> None:
        """Write all of a message."""
        _write(self._sink, message)

    def mark(self, number: int) -> None:
        """Say where what was printed for a call ends."""
        _write(self._printed, protocol.mark(number))

    def _read(self) -> None:
        chunk = os.read(self._source, _CHUNK)
        if not chunk:
            # Not sys.exit: threads of the backend, or its exit handlers, may never end.
            os._exit(0)
        self._early += chunk


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
    """Exit at once, leaving a line on standard error."""
    with suppress(BaseException):
        if text:
            os.write(2, f"{text}\n".encode(errors="replace"))
    os._exit(_FAILED if text else 0)


if __name__ == "__main__":
    main()
