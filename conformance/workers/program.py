"""A program that speaks the protocol, while it runs: calls, time limits, what it prints, its end.

Needs pipes that can be polled, and process groups: Linux or macOS.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, NoReturn

from conformance.errors import UsageError
from conformance.vector import Array
from conformance.workers import protocol
from conformance.workers.answer import CRASHED, SMALL, TIMED_OUT, Answer, printable, shortened
from conformance.workers.launch import Launch
from conformance.workers.protocol import MAX_LINE, ProtocolError, Welcome
from conformance.workers.watch import Watch

_CHUNK = 1 << 16
_PIPE = 1 << 20
"""Bytes that a pipe holds at most, unless an administrator allows more."""
_KEPT = 1 << 14  # bytes of standard error, enough for the characters below
_PRINTED = 4000
_TICK = 0.1
"""Seconds between looks at a silent program: its children may hold its pipes open."""
_GRACE = 1.0
"""Seconds that a program has to exit after its pipes are closed."""
START_LIMIT = 120.0
"""Seconds that a program has for the handshake, or the time limit of a call if that is longer."""


class _Lost(Exception):  # noqa: N818 - a state of the program
    """There is no answer and there will be none: CRASHED or TIMED_OUT."""

    def __init__(self, kind: int, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Program:
    """A running program. Use it from one thread; `interrupt` may come from another.

    `memory` limits its address space, in bytes (Linux). Raises UsageError if it cannot be started.
    After an answer that is CRASHED or TIMED_OUT, or a failed handshake, `alive` is False: the
    program and its process group are killed.
    """

    def __init__(self, launch: Launch, *, memory: int | None = None) -> None:
        self.welcome: Welcome | None = None
        self._launch = launch
        self._process = _started(launch)
        self._watch = Watch(self._process.pid)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._pipes = (stdin, stdout, stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        self._deadline: float | None = None
        self._timeout: float | None = None
        self._poller = select.poll()
        # In this order: what was printed before an answer is seen together with it.
        for fd in (self._out, self._err):
            os.set_blocking(fd, False)
            self._poller.register(fd, select.POLLIN)
        os.set_blocking(self._in, False)
        self._number = 0  # of the next call
        self._awaited = 0  # of the call whose answer comes next
        self._unsent = memoryview(b"")
        self._waits_to_write = False
        self._received = bytearray()
        self._tail = b""
        self._mark = b""  # ends what was printed for the call that is awaited
        self._before_mark: bytes | None = None
        self._heard_all = False
        self._killed = False
        self._interrupted = False
        if memory is not None:
            try:
                _limit_memory(self._process.pid, memory)
            except UsageError:
                self.kill()
                raise

    @property
    def alive(self) -> bool:
        """Whether it can be called, as far as is known."""
        return not (self._killed or self._interrupted)

    @property
    def works_ahead(self) -> bool:
        """Whether a call may be begun before the last is answered."""
        return self.welcome is not None and self.welcome.ahead

    @property
    def printed(self) -> str:
        """What the program wrote to standard error for the call received last: its end."""
        text = self._tail if self._before_mark is None else self._before_mark
        return printable(text.decode(errors="replace")[-_PRINTED:], keep="\n\t") if text else ""

    def greet(self, timeout: float | None = None) -> Welcome:
        """Shake hands; UsageError if the program does not.

        `timeout` is that of a call, in seconds; the handshake has `START_LIMIT` at least.
        """
        try:
            self._allow(max(START_LIMIT, timeout or 0.0))
            self._unsent = memoryview(self._launch.payload + protocol.hello())
            self._write()
            self.welcome = protocol.read_welcome(self._line())
            self._check_end()
        except (ProtocolError, _Lost) as error:
            self.kill()
            raise UsageError(f"{self._launch}: {error}{self.last_words}") from None
        except UsageError:
            self.kill()
            raise
        return self.welcome

    def call(
        self,
        operator: str,
        inputs: Sequence[Array],
        attributes: Mapping[str, Any] | str,
        *,
        limit: int = SMALL,
        timeout: float | None = None,
    ) -> Answer:
        """Return the answer of the program to a case, whatever becomes of it.

        `attributes` may be their `protocol.attributes_text`. Outputs of more than `limit`
        elements have no data. `timeout` is in seconds. `greet` comes first. Raises UsageError for
        attributes that cannot be written.
        """
        self.send(operator, inputs, attributes, limit=limit)
        return self.receive(limit, timeout)

    def send(
        self,
        operator: str,
        inputs: Sequence[Array],
        attributes: Mapping[str, Any] | str,
        *,
        limit: int = SMALL,
    ) -> None:
        """Begin a call; see `call`. Its answer is the next one that is received.

        Where the program works ahead, one more call may be begun before that.
        """
        assert self.welcome is not None
        message = protocol.write_call(
            self._number, operator, inputs, attributes, limit if self.welcome.limited else None
        )
        self._number += 1
        self._unsent = memoryview(bytes(self._unsent) + message)
        with suppress(_Lost, ProtocolError):  # seen again, and said, when the answer is awaited
            self._write()

    def receive(self, limit: int, timeout: float | None = None) -> Answer:
        """Return the answer to the call sent first of those without; its time begins here."""
        assert self.welcome is not None
        number = self._awaited
        self._awaited += 1
        if self._before_mark is None:
            self._tail = b""
        self._before_mark = None
        try:
            self._mark = protocol.mark(number) if self.works_ahead else b""
            self._seek_mark()
            self._allow(timeout)
            self._write()
            answer, size = protocol.read_answer(self._line(), number, limit)
            if size == protocol.TOO_MANY:
                self.kill()
            elif size is not None:
                answer = protocol.filled(answer, self._take(size))
            if self._mark:
                self._drain()  # the mark was written before the answer
            if self._awaited == self._number:
                self._check_end()
        except ProtocolError as error:
            self.kill()
            return Answer(CRASHED, text=f"protocol: {error}")
        except _Lost as lost:
            self.kill()
            return Answer(lost.kind, text=str(lost))
        return answer

    @property
    def last_words(self) -> str:
        """The last line that the program printed, to be put after the reason of its end."""
        lines = self.printed.split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"; the last line it printed: {shortened(last)}" if last else ""

    def close(self) -> None:
        """Let the program exit, or kill it a short while later."""
        if self.alive:
            self._pipes[0].close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        self.kill()

    def interrupt(self) -> None:
        """Kill the program from another thread; the one that uses it sees it end."""
        self._interrupted = True
        if self._process.returncode is None:
            self._signal()

    def kill(self) -> None:
        """Kill the program and whatever it started in its process group."""
        if self._killed:
            return
        self._killed = True
        self._drain()
        self._signal()
        with suppress(subprocess.TimeoutExpired):  # stuck in the kernel: no reason to be so too
            self._process.wait(_GRACE)
        self._watch.end()
        for pipe in self._pipes:
            pipe.close()

    # Messages ---------------------------------------------------------------------------------

    def _allow(self, timeout: float | None) -> None:
        """Give the program some seconds from now."""
        self._timeout = timeout
        self._deadline = None if timeout is None else monotonic() + timeout

    def _line(self) -> bytes:
        """Return the first line of the answer, without its line feed."""
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched >= MAX_LINE:
                raise ProtocolError(f"a line of more than {MAX_LINE} bytes{self._stray()}")
            self._wait()
        if end >= MAX_LINE:
            raise ProtocolError(f"a line of more than {MAX_LINE} bytes")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _take(self, size: int) -> bytes:
        """Return the bytes that follow a line."""
        while len(self._received) < size:
            self._wait()
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    def _check_end(self) -> None:
        """Raise ProtocolError if more than one message came, or it came too early."""
        if self._received:
            raise ProtocolError(f"bytes after the end of the answer{self._stray()}")
        if self._unsent:
            raise ProtocolError("an answer before the message was read")

    def _stray(self) -> str:
        return f": {protocol.shown(bytes(self._received[:400]))} (print to stderr)"

    # Bytes ------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Wait for the program to do something, and take in what it has done."""
        pause = _TICK
        if self._deadline is not None:
            pause = min(pause, self._deadline - monotonic())
            if pause <= 0:
                raise _Lost(TIMED_OUT, f"no answer within {self._timeout:g} s")
        events = self._poller.poll(max(1, round(pause * 1000)))
        if not events and self._process.poll() is not None:
            self._ended()
        for fd, _ in events:
            if fd == self._out:
                chunk = _read(fd)
                if chunk == b"":
                    self._ended()
                self._received += chunk or b""
            elif fd == self._err:
                self._listen()
            else:
                self._write()

    def _write(self) -> None:
        """Write what the pipe takes, and more when it takes more."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            if not self._waits_to_write:
                self._poller.register(self._in, select.POLLOUT)
            self._waits_to_write = True
            return
        except BrokenPipeError:
            self._ended()
        if self._waits_to_write:
            self._poller.unregister(self._in)
        self._waits_to_write = False

    def _listen(self) -> bool:
        """Take in some of what was printed; False if there is nothing now."""
        chunk = _read(self._err)
        if chunk == b"":  # nobody can print any more
            self._poller.unregister(self._err)
            self._heard_all = True
        if chunk:
            self._tail += chunk
            self._seek_mark()
            self._tail = self._tail[-_KEPT:]
        return bool(chunk)

    def _seek_mark(self) -> None:
        """Part what was printed for this call from what is printed for the next already."""
        if self._mark and self._mark in self._tail:
            before, _, self._tail = self._tail.partition(self._mark)
            self._before_mark, self._mark = before[-_KEPT:], b""

    def _drain(self) -> None:
        """Take in the rest of what was printed: to the mark, or as much as a pipe holds."""
        marked = bool(self._mark)
        for _ in range(_PIPE // _CHUNK):
            if self._heard_all or (marked and not self._mark) or not self._listen():
                break

    def _ended(self) -> NoReturn:
        """Say how the program ended, or that it closed a pipe without ending."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            raise ProtocolError("it closed its standard input or output") from None
        text = f"signal {_signal_name(-code)} ({-code})" if code < 0 else f"exit status {code}"
        if self._received:
            text += f" in an unfinished answer, {protocol.shown(bytes(self._received[-400:]))}"
        raise _Lost(CRASHED, text)

    def _signal(self) -> None:
        # A program that has exited may have left children in its group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _started(launch: Launch) -> subprocess.Popen[bytes]:
    if os.name != "posix":
        raise UsageError("processes of their own need Linux or macOS: run the backend in process")
    if not launch.command:
        raise UsageError("no command to start")
    try:
        return subprocess.Popen(  # noqa: S603 - the user's own command
            launch.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # no Ctrl-C of the terminal, and a group to kill
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot start {launch}: {reason}") from None


def _limit_memory(pid: int, memory: int) -> None:
    if sys.platform != "linux":
        raise UsageError("a limit of memory needs Linux")
    import resource  # noqa: PLC0415 - not everywhere

    try:
        resource.prlimit(pid, resource.RLIMIT_AS, (memory, memory))
    except ProcessLookupError:  # it has ended: the handshake will say how
        return
    except (OSError, ValueError, OverflowError) as error:
        raise UsageError(f"a limit of {memory} bytes of memory cannot be set: {error}") from None


def _read(fd: int) -> bytes | None:
    """Return what a pipe holds, b"" at its end, None if it holds nothing now."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return "unknown"
