"""The probe's side of a conversation: requests, replies, and in words what was wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.errors import UsageError
from conformance.vector import Array
from conformance.workers.answer import ARRAY, RAISED, UNSUPPORTED, shortened
from conformance.workers.protocol import (
    MAX_LINE,
    TOO_MANY,
    ProtocolError,
    Welcome,
    filled,
    hello,
    read_answer,
    read_welcome,
    write_call,
)
from conformance.workers.talk import Ended, Silence, Talk, status_in_words

_KINDS = {RAISED: "error", UNSUPPORTED: "unsupported"}
_LIMIT = 1 << 22
"""Elements of an output that are read; the probe asks for fewer."""


class Broken(Exception):  # noqa: N818 - what was found, not what failed
    """A rule is broken; the text says by what."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a program is asked for."""

    operator: str
    inputs: tuple[Array, ...]
    attributes: Mapping[str, Any]

    def with_inputs(self, *inputs: Array) -> Request:
        """Return the same with other inputs."""
        return replace(self, inputs=inputs)

    def with_attribute(self, name: str, value: object) -> Request:
        """Return the same with another value of an attribute, without it for None."""
        changed = {**self.attributes, name: value}
        if value is None:
            del changed[name]
        return replace(self, attributes=changed)


@dataclass(frozen=True, slots=True)
class Reply:
    """What it answered: `kind` is "output", "error" or "unsupported"."""

    kind: str
    text: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    data: bytes | None = None

    @property
    def in_words(self) -> str:
        """The answer on a line."""
        if self.kind != "output":
            return f"{self.kind}, {self.text!r}"
        return f"an output of {self.dtype}, shape {list(self.shape)}"


class Manners:
    """A program that is started, talked to and ended, again and again.

    `strays` are what it wrote to standard output that were no messages, `noted` the bytes it
    wrote to standard error. Whatever is wrong is raised as Broken.
    """

    def __init__(self, command: tuple[str, ...], timeout: float) -> None:
        self.command = command
        self.timeout = timeout
        self.strays: list[str] = []
        self.noted = 0
        self.last_note = ""
        self._talk: Talk | None = None
        self._next = 0

    def start(self, extra: Mapping[str, Any] | None = None) -> Welcome:
        """Start the program, shake hands and return what it said; `extra` is added to hello."""
        self._talk = Talk(self.command, timeout=self.timeout)
        self._next = 0
        self._talk.send(_with(hello(), extra))
        line = self._line()
        try:
            return read_welcome(line)
        except UsageError as refusal:
            raise Broken(f"it refused to work: {refusal}") from None
        except ProtocolError as what:
            raise self._misread(line, what) from None

    def ensure(self) -> Talk:
        """Return a running program."""
        if self._talk is None:
            self.start()
        assert self._talk
        return self._talk

    def write(self, request: Request, extra: Mapping[str, Any] | None = None) -> bytes:
        """Return the next call as bytes; `extra` is added to it and to what describes inputs."""
        self.ensure()
        message = write_call(self._next, request.operator, request.inputs, request.attributes)
        self._next += 1
        return _with(message, extra)

    def ask(self, request: Request, extra: Mapping[str, Any] | None = None) -> Reply:
        """Send a call and return the answer."""
        self.send(self.write(request, extra))
        return self.read()

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.ensure().send(data)

    def listen(self, seconds: float) -> str:
        """Return what has been written after a while, in words; "" if nothing was."""
        talk = self.ensure()
        talk.listen(seconds)
        return _quoted(talk.unread[:200]) if talk.unread else ""

    def read(self) -> Reply:
        """Return the answer to the last call."""
        line = self._line()
        try:
            answer, size = read_answer(line, self._next - 1, _LIMIT)
        except ProtocolError as what:
            raise self._misread(line, what) from None
        if answer.kind != ARRAY:
            return Reply(_KINDS.get(answer.kind, "no array"), answer.text)
        if size == TOO_MANY:
            raise Broken(f"it announces an output of shape {list(answer.outputs[0].shape)}")
        first = filled(answer, self._bytes(size or 0)).outputs[0]
        return Reply("output", "", first.dtype, first.shape, first.data)

    def offer(self, version: int) -> str:
        """Offer another version; return what the program did if it was right."""
        self.end()
        talk = self._talk = Talk(self.command, timeout=self.timeout)
        talk.send(_with(hello(), {"version": version}))
        try:
            line = talk.line(MAX_LINE)
            read_welcome(line)
        except Silence:
            raise Broken(self._nothing()) from None
        except Ended:
            status = talk.status
            if status is None or status < 0 or talk.unread:
                after = f" after {self.listen(0)}" if talk.unread else ""
                raise Broken(f"{status_in_words(status)}{after}") from None
            return f"{status_in_words(status)} for version {version}"
        except UsageError:
            return f"it refuses to work with version {version}"
        except ProtocolError:
            raise Broken(f"it answers version {version} with {_quoted(line)}") from None
        finally:
            self.end()
        return f"it answers version {version} with its own"

    def finish(self) -> str:
        """Close the program's input; return how it ended if that was right."""
        talk = self.ensure()
        try:
            status = talk.finish()
        except Silence:
            raise Broken(f"it runs on {self.timeout:g} seconds after its input has ended") from None
        if talk.unread:
            self.strays.append(f"after its input had ended it wrote {self.listen(0)}")
            raise Broken(self.strays[-1])
        if status != 0:
            raise Broken(status_in_words(status))
        if talk.held_open:
            raise Broken("it exits, but a process that it started keeps its standard output open")
        self.end()
        return status_in_words(status)

    def end(self) -> None:
        """End the program if it runs."""
        if self._talk is not None:
            self._note()
            self._talk.kill()
            self._talk = None

    def join(self, other: Manners) -> None:
        """Take over what was noted of another."""
        self.noted += other.noted
        self.strays += other.strays

    def _note(self) -> None:
        talk = self._talk
        if talk and talk.noted:
            self.noted += talk.noted
            lines = talk.notes.decode(errors="replace").split("\n")
            last = next((line for line in reversed(lines) if line.strip()), "")
            self.last_note = f"'{shortened(last, 100)}'"
            talk.noted = 0

    def _line(self) -> bytes:
        talk = self.ensure()
        try:
            line = talk.line(MAX_LINE)
        except (Silence, Ended) as what:
            cut = f" after {self.listen(0)} without a line feed" if talk.unread else ""
            raise self._lost(what, cut) from None
        if not line.endswith(b"\n"):
            raise Broken(f"a line of more than 1 MiB, which begins {_quoted(line[:60])}")
        return line

    def _bytes(self, count: int) -> bytes:
        talk = self.ensure()
        try:
            return talk.take(count)
        except (Silence, Ended) as what:
            raise self._lost(what, f" after {len(talk.unread):,} of {count:,} bytes") from None

    def _lost(self, what: Silence | Ended, where: str) -> Broken:
        assert self._talk
        if isinstance(what, Silence):
            return Broken(f"{self._nothing()}{where}; is the output flushed?")
        self._note()
        note = f"; standard error ends with {self.last_note}" if self.last_note else ""
        return Broken(f"{status_in_words(self._talk.status)}{where}{note}")

    def _nothing(self) -> str:
        return f"nothing came for {self.timeout:g} seconds"

    def _misread(self, line: bytes, what: ProtocolError) -> Broken:
        if not line.lstrip().startswith(b"{"):
            self.strays.append(f"it wrote {_quoted(line[:200])}")
        return Broken(str(what))


def _quoted(data: bytes | bytearray) -> str:
    return f"'{shortened(data.decode(errors='replace'), 60)}'"


def _with(message: bytes, extra: Mapping[str, Any] | None) -> bytes:
    """Return a message with more keys, before the others, and in what describes its inputs."""
    if not extra:
        return message
    line, feed, data = message.partition(b"\n")
    found = json.loads(line)
    inputs = [{**extra, **each} for each in found.get("inputs", ())]
    changed = {**extra, **found, **({"inputs": inputs} if inputs else {})}
    changed |= {key: value for key, value in extra.items() if key in found}
    return json.dumps(changed).encode() + feed + data
