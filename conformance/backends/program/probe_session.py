"""A program while it is probed: requests and replies, and in words what was wrong with them.

Unlike `Program`, which keeps the protocol, this sends whatever it is told to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.backends.answer import ARRAY, RAISED, UNSUPPORTED
from conformance.backends.program.protocol import (
    MAX_LINE,
    TOO_MANY,
    ProtocolError,
    Welcome,
    filled,
    hello,
    read_answer,
    read_welcome,
    shown,
    write_call,
)
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.operators.call_convention import PLAIN
from conformance.process import Launch
from conformance.process.transport import Ended, Silent, Transport
from conformance.record.words import in_words
from conformance.vector import Array

_KINDS = {RAISED: "error", UNSUPPORTED: "unsupported"}
_LIMIT = 1 << 22
"""Elements of an output that are read; the probe asks for fewer."""


class Broken(Exception):  # noqa: N818 - what the probe reports, not what failed
    """A rule is broken; the text says by what."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a program is asked for."""

    operator: str
    inputs: tuple[Array, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What it answered: `kind` is "output", "error" or "unsupported"."""

    kind: str
    text: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    data: bytes | memoryview | None = None

    @property
    def in_words(self) -> str:
        """The answer on a line."""
        if self.kind != "output":
            return f"{self.kind}, {self.text!r}"
        return f"an output of {self.dtype}, shape {list(self.shape)}"


class ProbeSession:
    """A program that is started, asked and ended, again and again.

    `timeout` is how many seconds a message may take. `strays` are what it wrote to standard output
    that were no messages, `printed` is the number of bytes it wrote to standard error and
    `last_printed` the last line of them, in quotes. Whatever is wrong is raised as Broken.
    """

    def __init__(self, command: tuple[str, ...], timeout: float) -> None:
        self.command = command
        self.timeout = timeout
        self.strays: list[str] = []
        self.printed = 0
        self.last_printed = ""
        self._transport: Transport | None = None
        self._next = 0

    def start(self, extra: Mapping[str, Any] | None = None) -> Welcome:
        """Start the program, shake hands and return what it said; `extra` is added to hello."""
        self._launch(_with(hello(), extra))
        line = self._line()
        try:
            return read_welcome(line)
        except UsageError as refusal:
            raise Broken(f"it refused to work: {refusal}") from None
        except ProtocolError as error:
            raise self._misread(line, error) from None

    def write(self, request: Request, extra: Mapping[str, Any] | None = None) -> bytes:
        """Return the next call as bytes; `extra` is added to it and to what describes inputs."""
        self._running()
        operator, attributes = OPERATORS.get(request.operator), request.attributes
        convention = PLAIN if operator is None else operator.convention_of(attributes)
        inputs, attributes = convention.given(request.inputs, attributes)
        message = write_call(self._next, request.operator, inputs, attributes)
        self._next += 1
        return _with(message, extra)

    def ask(self, request: Request, extra: Mapping[str, Any] | None = None) -> Reply:
        """Send a call and return the answer."""
        self.send(self.write(request, extra))
        return self.read()

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self._running().send_bytes(data)

    def listen(self, seconds: float) -> str:
        """Return what has been written when anything was, or after a while; "" for nothing."""
        transport = self._running()
        transport.allow(seconds)
        with suppress(Silent, Ended):
            while not transport.received:
                transport.wait()
        return shown(transport.received) if transport.received else ""

    def read(self) -> Reply:
        """Return the answer to the last call."""
        line = self._line()
        try:
            answer, size = read_answer(line, self._next - 1, _LIMIT)
        except ProtocolError as error:
            raise self._misread(line, error) from None
        if answer.kind != ARRAY:
            return Reply(_KINDS.get(answer.kind, "no array"), in_words(answer.why))
        if size == TOO_MANY:
            raise Broken(f"it announces an output of shape {list(answer.outputs[0].shape)}")
        first = filled(answer, self._read(size)).outputs[0]
        return Reply("output", "", first.dtype, first.shape, first.data)

    def offer(self, version: int) -> str:
        """Offer another version; return what the program did if it was right."""
        self.end()
        transport = self._launch(_with(hello(), {"version": version}))
        transport.allow(self.timeout)
        try:
            line = transport.line(MAX_LINE)
            read_welcome(line)
        except Silent:
            raise Broken(self._nothing()) from None
        except Ended as ended:
            written = self.listen(0)
            if ended.status is None or ended.status < 0 or written:
                after = f" after {written}" if written else ""
                raise Broken(f"{ended}{after}") from None
            return f"{ended} for version {version}"
        except UsageError:
            return f"it refuses to work with version {version}"
        except ProtocolError:
            raise Broken(f"it answers version {version} with {shown(line)}") from None
        finally:
            self.end()
        return f"it answers version {version} with its own"

    def finish(self) -> str:
        """Close the program's input; return how it ended if that was right."""
        transport = self._running()
        try:
            ended = Ended(transport.finish(self.timeout))
        except Silent:
            raise Broken(f"it runs on {self.timeout:g} seconds after its input has ended") from None
        if transport.received:
            self.strays.append(f"after its input had ended it wrote {self.listen(0)}")
            raise Broken(self.strays[-1])
        if ended.status != 0:
            raise Broken(str(ended))
        if transport.output_is_open:
            raise Broken("it exits, but a process that it started keeps its standard output open")
        self.end()
        return str(ended)

    def end(self) -> None:
        """End the program if it runs."""
        if self._transport is not None:
            self._transport.kill()
            self._note_errors(self._transport)
            self.printed += self._transport.errors.total
            self._transport = None

    def join(self, other: ProbeSession) -> None:
        """Add what another session has seen of the same program."""
        self.printed += other.printed
        self.strays += other.strays

    def _launch(self, message: bytes) -> Transport:
        """Start the program and send it the first message."""
        self._transport = Transport(Launch(self.command, name=repr(self.command[0])))
        self._next = 0
        self._transport.send_bytes(message)
        return self._transport

    def _running(self) -> Transport:
        """Return the program, started if it does not run."""
        if self._transport is None:
            self.start()
        assert self._transport
        return self._transport

    def _note_errors(self, transport: Transport) -> None:
        if transport.errors.total:
            self.last_printed = shown(transport.errors.last_line)

    def _line(self) -> bytes:
        line = self._read()
        if not line.endswith(b"\n"):
            raise Broken(f"a line of more than 1 MiB, which begins {shown(line[:60])}")
        return line

    def _read(self, size: int | None = None) -> bytes:
        """Return the next bytes, or a line."""
        transport = self._running()
        transport.allow(self.timeout)
        try:
            return transport.line(MAX_LINE) if size is None else transport.take(size)
        except (Silent, Ended) as error:
            part = f" after {len(transport.received):,} of {size:,} bytes" if size else ""
            if size is None and transport.received:
                part = f" after {self.listen(0)} without a line feed"
            raise self._lost(error, part) from None

    def _lost(self, error: Silent | Ended, where: str) -> Broken:
        if isinstance(error, Silent):
            return Broken(f"{self._nothing()}{where}; is the output flushed?")
        transport = self._running()
        transport.read_errors()
        self._note_errors(transport)
        note = f"; standard error ends with {self.last_printed}" if self.last_printed else ""
        return Broken(f"{error}{where}{note}")

    def _nothing(self) -> str:
        return f"nothing came for {self.timeout:g} seconds"

    def _misread(self, line: bytes, error: ProtocolError) -> Broken:
        if not line.lstrip().startswith(b"{"):
            self.strays.append(f"it wrote {shown(line)}")
        return Broken(str(error))


def _with(message: bytes, extra: Mapping[str, Any] | None) -> bytes:
    """Return a message with more keys, before the others, and in what describes its inputs."""
    if not extra:
        return message
    line, feed, data = message.partition(b"\n")
    keys = json.loads(line)
    inputs = [{**extra, **described} for described in keys.get("inputs", ())]
    changed = {**extra, **keys, **({"inputs": inputs} if inputs else {})}
    changed |= {key: value for key, value in extra.items() if key in keys}
    return json.dumps(changed).encode() + feed + data
