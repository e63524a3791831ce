"""A program in a process of its own: its pipes, one deadline, and how it ends.

All that this package starts is started here: workers, `exec:` programs, `conformance probe`, calls
in a process of their own, installers. Needs pipes that can be polled, and process groups: Linux or
macOS.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from time import monotonic, sleep

from conformance.errors import UsageError
from conformance.process.launch import Launch

_CHUNK = 1 << 16
_PIPE = 1 << 20
"""Bytes that a pipe holds at most, unless an administrator allows more."""
_ERRORS = 1 << 14
"""Bytes of standard error that are stored, the last ones."""
_TICK = 0.1
"""Seconds between looks at a silent program: its children may hold its pipes open."""
_GRACE = 1.0
"""Seconds that a program has to exit after its pipes are closed."""
_LOOK = 0.01
"""Seconds between looks at a group of processes that were killed."""

# Waits at a pipe from this process, and kills the group when that ends.
_WATCHDOG = ("/bin/sh", "-c", 'trap "" HUP INT TERM; read -r _ || kill -s KILL -- "-$1"', "watch")


class Silent(Exception):  # noqa: N818 - a state of the program
    """Nothing came before the deadline, so many `seconds` later."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"no {what} within {seconds:g} s")
        self.seconds = seconds


class Ended(Exception):  # noqa: N818 - a state of the program
    """The program ended, or closed a pipe, before it had written what was waited for.

    `status` is its exit status, negative for a signal; None if it runs on.
    """

    def __init__(self, status: int | None) -> None:
        super().__init__(status_in_words(status))
        self.status = status


class StandardError:
    """What a program prints to standard error: how many bytes, and the last of them.

    A program that works ahead writes a mark after what it prints for a call; `text` ends there.
    """

    def __init__(self) -> None:
        self.total = 0
        self._printed = b""
        self._mark = b""

    @property
    def text(self) -> bytes:
        """The last bytes printed for the current call."""
        return self._split()[0]

    @property
    def last_line(self) -> str:
        """The last line of the text that is not blank, "" if there is none."""
        lines = self.text.decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "")

    @property
    def mark_is_due(self) -> bool:
        """Whether the mark that ends the text has not come yet."""
        return self._mark not in self._printed

    def next_call(self, mark: bytes) -> None:
        """Go on to the text of the next call, which ends with a mark unless that is empty."""
        _, _, self._printed = self._split()
        self._mark = mark

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        self.total += len(data)
        self._printed += data
        before, mark, after = self._split()
        self._printed = before[-_ERRORS:] + mark + after[-_ERRORS:]

    def _split(self) -> tuple[bytes, bytes, bytes]:
        return self._printed.partition(self._mark) if self._mark else (self._printed, b"", b"")


class Transport:
    """A running program and its pipes. Use it from one thread; `interrupt` may come from another.

    `received` is what the program has written to standard output and nobody has taken yet,
    `errors` what it has printed to standard error. `memory` limits its address space, in bytes
    (Linux). Raises UsageError if the program cannot be started.
    """

    def __init__(self, launch: Launch, *, memory: int | None = None) -> None:
        self.received = bytearray()
        self.errors = StandardError()
        self._process = _started(launch)
        self._watchdog = watchdog(self._process.pid)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._pipes = (stdin, stdout, stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        self._poller = select.poll()
        self._polled: set[int] = set()
        for fd in (self._in, self._out, self._err):
            os.set_blocking(fd, False)
        # In this order: what was printed before an answer is seen together with it.
        self._poll(self._out, select.POLLIN)
        self._poll(self._err, select.POLLIN)
        self._seconds: float | None = None
        self._deadline: float | None = None
        self._unsent = memoryview(b"")
        self._input_is_broken = False
        self._killed = False
        self._interrupted = False
        if memory is not None:
            try:
                _limit_memory(self._process.pid, memory)
            except UsageError:
                self.kill()
                raise

    @property
    def pid(self) -> int:
        """The number of the process, and of its process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be used, as far as is known."""
        return not (self._killed or self._interrupted)

    @property
    def output_is_open(self) -> bool:
        """Whether the program, or a child, may write more to its standard output."""
        return self._out in self._polled

    @property
    def has_unsent(self) -> bool:
        """Whether the program has not yet read all that was sent."""
        return bool(self._unsent)

    # Bytes ------------------------------------------------------------------------------------

    def allow(self, seconds: float | None) -> None:
        """Give the program some seconds from now for all that is read next; None is no limit."""
        self._seconds = seconds
        self._deadline = None if seconds is None else monotonic() + seconds

    def send_bytes(self, data: bytes) -> None:
        """Send bytes: what the pipe does not take now is written while output is read."""
        self._unsent = memoryview(bytes(self._unsent) + data)
        self._write()

    def line(self, most: int) -> bytes:
        """Return the next line with its line feed, or `most` bytes of a longer one.

        Raises Silent or Ended.
        """
        searched = 0
        while (end := self.received.find(b"\n", searched)) < 0:
            searched = len(self.received)
            if searched >= most:
                return self.take(most)
            self.wait()
        return self.take(min(end + 1, most))

    def take(self, size: int) -> bytes:
        """Return the next bytes. Raises Silent or Ended."""
        while len(self.received) < size:
            self.wait()
        data = bytes(self.received[:size])
        del self.received[:size]
        return data

    def wait(self) -> None:
        """Wait for the program to do something, and move what the pipes hold and can take.

        Raises Silent or Ended.
        """
        if not self.output_is_open or self._input_is_broken:
            raise Ended(self._status())
        pause = _TICK
        if self._deadline is not None:
            pause = min(pause, self._deadline - monotonic())
            if pause <= 0:
                assert self._seconds is not None
                raise Silent("answer", self._seconds)
        events = self._poller.poll(max(1, round(pause * 1000)))
        if not events and self._process.poll() is not None:
            raise Ended(self._status())
        for fd, _ in events:
            if fd == self._out:
                self._read()
            elif fd == self._err:
                self._read_errors()
            else:
                self._write()

    def read_errors(self) -> None:
        """Take in what was printed until now: up to the mark that is due, or all that there is."""
        if self._killed:
            return
        is_marked = self.errors.mark_is_due
        for _ in range(_PIPE // _CHUNK):
            if not self._read_errors() or (is_marked and not self.errors.mark_is_due):
                break

    def _write(self) -> None:
        """Write what the pipe takes, and more when it takes more."""
        if self._input_is_broken:
            return
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            self._poll(self._in, select.POLLOUT)
            return
        except BrokenPipeError:
            self._input_is_broken = True
            # What it has written before it stopped to read is all that is waited for.
            for _ in range(_PIPE // _CHUNK):
                if not self._read():
                    break
        self._stop_polling(self._in)

    def _read(self) -> bool:
        """Take in some output; False if there is none now."""
        chunk = self._chunk(self._out)
        self.received += chunk
        return bool(chunk)

    def _read_errors(self) -> bool:
        """Take in some of what was printed; False if there is nothing now."""
        chunk = self._chunk(self._err)
        self.errors.add(chunk)
        return bool(chunk)

    def _chunk(self, fd: int) -> bytes:
        """Return some of what a pipe holds, b"" if it holds nothing now or is at its end."""
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return b""
        if not chunk:
            self._stop_polling(fd)
        return chunk

    def _poll(self, fd: int, event: int) -> None:
        self._poller.register(fd, event)
        self._polled.add(fd)

    def _stop_polling(self, fd: int) -> None:
        if fd in self._polled:
            self._poller.unregister(fd)
            self._polled.remove(fd)

    # The end ----------------------------------------------------------------------------------

    def finish(self, seconds: float | None) -> int:
        """Close its input, read on until it exits and return its exit status.

        `received` has the last of its output then. Raises Silent if it does not exit within some
        seconds after its output has ended; None is no limit.
        """
        self._close_input()
        self.allow(seconds)
        with suppress(Ended):
            while True:
                self.wait()
                del self.received[:-_PIPE]
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise Silent("exit", error.timeout) from None

    def close(self) -> None:
        """Let the program exit, or kill it a short while later."""
        if self.alive:
            self._close_input()
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
        self.read_errors()
        self._killed = True
        self._signal()
        with suppress(subprocess.TimeoutExpired):  # stuck in the kernel: no reason to be so too
            self._process.wait(_GRACE)
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
        for pipe in self._pipes:
            pipe.close()

    def wait_for_group(self) -> None:
        """Wait a short while until all that was killed has ended: it may write until then."""
        deadline = monotonic() + _GRACE
        with suppress(ProcessLookupError, PermissionError):
            while monotonic() < deadline:
                os.killpg(self._process.pid, 0)
                sleep(_LOOK)

    def _close_input(self) -> None:
        self._stop_polling(self._in)
        self._unsent = memoryview(b"")
        self._pipes[0].close()

    def _status(self) -> int | None:
        try:
            return self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return None

    def _signal(self) -> None:
        # A program that has exited may have left children in its group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def status_in_words(status: int | None) -> str:
    """Return how a program ended: by a signal or with a status; None if it runs on."""
    if status is None:
        return "it closed its standard input or output"
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name} ({-status})"
    except ValueError:  # a real-time signal
        return f"signal {-status}"


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
            env={**os.environ, **launch.environment},
            pass_fds=launch.descriptors,
            bufsize=0,
            start_new_session=True,  # no Ctrl-C of the terminal, and a group to kill
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot start {launch}: {reason}") from None


def watchdog(group: int) -> subprocess.Popen[bytes] | None:
    """Start what kills a process group when this process is gone, however it ended.

    A program that hangs does not see that its input has ended, and a process that is killed with
    SIGKILL cannot kill others first. None where the system has no shell.
    """
    with suppress(OSError):
        return subprocess.Popen(  # noqa: S603 - our own words and a number
            [*_WATCHDOG, str(group)],
            stdin=subprocess.PIPE,  # nobody writes to it: its end is that of this process
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
    return None


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
