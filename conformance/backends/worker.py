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
import resource
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from conformance.backends.answer import Answer, error_line, native_bytes, native_view
from conformance.backends.call import called
from conformance.backends.named_backend import engine_version, load_backend
from conformance.backends.program import protocol
from conformance.backends.program.pickling import unpickled
from conformance.backends.program.protocol import MAX_LINE, Call, ProtocolError
from conformance.backends.python_callable import version_given_by
from conformance.backends.variations import VARIATIONS
from conformance.errors import UsageError

_FAILED = 70  # EX_SOFTWARE
_LINE_BUFFERED = 1
_STACK = 2 << 20
_ARENA_MAX = -8
"""M_ARENA_MAX of malloc.h in glibc."""


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
    with suppress(Exception):  # another C library
        _spare_address_space()  # which is limited before the harness says hello
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
        inputs, variation = call.arrays(channel.take(call.size)), VARIATIONS[call.variation]
        elements = native_bytes if call.into is None else native_view
        answer = called(
            backend, call.operator, inputs, call.attributes, variation, call.limit, elements
        )
        del inputs
        if os.getpid() != process:  # the backend forked, and this is the child
            _end("")
        sys.setrecursionlimit(depth)
        _flush()
        channel.answer(call, answer)


def _spare_address_space() -> None:
    """Have the threads of this package take little of an address space that is limited.

    The C library reserves 64 MiB or more for each thread that allocates, and as a rule 8 MiB for
    its stack.
    """
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    threading.stack_size(_STACK)
    ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


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

    def answer(self, call: Call, answer: Answer) -> None:
        """Write an answer, after the mark that ends what was printed for the call."""
        if call.into is None:
            message = protocol.write_answer(call.number, answer)
        else:
            for data in protocol.answer_data(answer):
                _write(call.into, data)
            message = protocol.answer_line(call.number, answer)
        _write(self._printed, protocol.mark(call.number))
        self.write(message)


def _write(descriptor: int, message: bytes | memoryview) -> None:
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
