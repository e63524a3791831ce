"""A conversation with a program byte by byte: what a look at its manners needs.

Unlike `Program`, which keeps the protocol, this sends and reads whatever it is told to.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import Self

from conformance.errors import UsageError
from conformance.workers.watch import Watch

_CHUNK = 1 << 16
_MOST_UNREAD = 1 << 26
_TAIL = 2000
_GRACE = 1.0  # seconds that an exit may take
_LOOK_AGAIN = 0.05  # seconds between two looks at whether the program still runs


class Silence(Exception):  # noqa: N818 - what was heard, not what failed
    """Nothing came for longer than allowed."""


class Ended(Exception):  # noqa: N818 - likewise
    """The program ended, or closed its output, before it had written what was waited for."""


class Talk:
    """A running program, its input and its output, read and written together.

    `unread` is what it wrote and nobody has taken yet, `noted` the number of bytes it wrote to
    standard error and `notes` the last of them. Raises UsageError if it cannot be started.
    """

    def __init__(self, command: Sequence[str], *, timeout: float) -> None:
        self.unread = bytearray()
        self.noted = 0
        self.notes = b""
        self._timeout = timeout
        self._unsent = bytearray()
        self._silent = False  # the output is at its end
        if os.name != "posix":
            raise UsageError("a probe needs process groups: Linux or macOS")
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the program the user named
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or error
            raise UsageError(f"cannot start {command[0]!r}: {what}") from None
        self._watch = Watch(self._process.pid)
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._stdin, self._stdout, self._stderr = (
            self._process.stdin,
            self._process.stdout,
            self._process.stderr,
        )
        self._selector = selectors.DefaultSelector()
        for stream, events in (
            (self._stdin, selectors.EVENT_WRITE),
            (self._stdout, selectors.EVENT_READ),
            (self._stderr, selectors.EVENT_READ),
        ):
            os.set_blocking(stream.fileno(), False)
            if stream is not self._stdin:
                self._selector.register(stream, events)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def send(self, data: bytes) -> None:
        """Send bytes; they are written while output is read, or before it."""
        if not self._stdin.closed:
            if not self._unsent:
                self._selector.register(self._stdin, selectors.EVENT_WRITE)
            self._unsent += data
            self._step(0)

    def line(self, limit: int) -> bytes:
        """Return what comes up to a line feed and the feed; without it if there is none in time.

        Longer than `limit`, it is cut off there. Raises Silence or Ended.
        """
        self._until(lambda: b"\n" in self.unread or len(self.unread) > limit)
        end = self.unread.find(b"\n") + 1 or limit
        return self._taken(min(end, limit))

    def take(self, count: int) -> bytes:
        """Return the next bytes. Raises Silence or Ended."""
        self._until(lambda: len(self.unread) >= count)
        return self._taken(count)

    def listen(self, seconds: float) -> None:
        """Let the program write for a while, or until it writes anything or ends."""
        try:
            self._until(lambda: bool(self.unread), seconds)
        except (Silence, Ended):
            return

    def finish(self) -> int:
        """Close its input and return its exit status. Raises Silence if it does not exit."""
        self._close_stdin()
        with suppress(Ended):
            self._until(lambda: False)
        try:
            return self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            raise Silence from None

    @property
    def held_open(self) -> bool:
        """Whether another process may still write to its output."""
        return not self._silent

    @property
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None if it runs on for a while."""
        try:
            return self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the program and every process of its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._watch.end()
        self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()

    def _taken(self, count: int) -> bytes:
        taken = bytes(self.unread[:count])
        del self.unread[:count]
        return taken

    def _until(self, enough: Callable[[], bool], seconds: float | None = None) -> None:
        deadline = monotonic() + (self._timeout if seconds is None else seconds)
        while not enough():
            if self._silent:
                raise Ended
            left = deadline - monotonic()
            if left <= 0:
                raise Silence
            exited = self._process.poll() is not None
            if not self._step(min(left, _LOOK_AGAIN)) and exited:
                raise Ended

    def _step(self, seconds: float) -> bool:
        """Move bytes in whatever direction they can go; False if none could for a while."""
        ready = self._selector.select(seconds) if self._selector.get_map() else []
        for key, _ in ready:
            if key.fileobj is self._stdin:
                self._write()
            elif key.fileobj is self._stdout:
                self._read()
            else:
                self._note()
        return bool(ready)

    def _write(self) -> None:
        try:
            sent = os.write(self._stdin.fileno(), self._unsent[:_CHUNK])
        except BrokenPipeError:
            self._close_stdin()
            return
        del self._unsent[:sent]
        if not self._unsent:
            self._selector.unregister(self._stdin)

    def _close_stdin(self) -> None:
        if not self._stdin.closed:
            if self._unsent:
                self._selector.unregister(self._stdin)
                self._unsent.clear()
            self._stdin.close()

    def _read(self) -> None:
        data = os.read(self._stdout.fileno(), _CHUNK)
        self.unread += data
        if not data or len(self.unread) > _MOST_UNREAD:
            self._selector.unregister(self._stdout)
            self._silent = True

    def _note(self) -> None:
        data = os.read(self._stderr.fileno(), _CHUNK)
        self.noted += len(data)
        self.notes = (self.notes + data)[-_TAIL:]
        if not data:
            self._selector.unregister(self._stderr)


def status_in_words(status: int | None) -> str:
    """Return how a program ended: by a signal or with a status."""
    if status is None:
        return "its output was closed"
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name} ({-status})"
    except ValueError:  # a real-time signal
        return f"signal {-status}"
