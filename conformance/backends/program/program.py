"""A running program that speaks the protocol: the handshake, then calls and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.backends.answer import CRASHED, MAX_TEXT, SMALL, TIMED_OUT, Answer
from conformance.backends.program import protocol
from conformance.backends.program.protocol import MAX_LINE, ProtocolError, Welcome
from conformance.backends.variations import AGAIN
from conformance.errors import UsageError
from conformance.process import Launch, SharedMemory
from conformance.process.transport import Ended, Silent, Transport
from conformance.record.why import BrokeProtocol, Exited, TimedOut
from conformance.record.words import in_words
from conformance.repeated import Repeated
from conformance.text import one_line, visible
from conformance.vector import Array

_PRINTED = 4000
"""Characters of what a program prints for a call that are reported, the last ones."""
USUAL_TIMEOUT = 60.0
"""Seconds that a call has unless a user says otherwise: no word on how a program starts."""


class Program(Transport):
    """A running program that is called; see `Transport`.

    A worker of this package leaves what it returns in `outputs`, for one call, if that is given:
    outputs that no pipe should take.

    After an answer that is CRASHED or TIMED_OUT, or a failed handshake, `alive` is False: the
    program and its process group are killed.
    """

    def __init__(
        self, launch: Launch, *, memory: int | None = None, outputs: SharedMemory | None = None
    ) -> None:
        if outputs is not None:
            launch = replace(launch, descriptors=(outputs.descriptor,))
        super().__init__(launch, memory=memory)
        self._outputs = outputs
        self.welcome: Welcome | None = None
        self._launch = launch
        self._number = 0  # of the next call
        self._awaited = 0  # of the call whose answer comes next

    @property
    def works_ahead(self) -> bool:
        """Whether a call may be begun before the last is answered."""
        return self.welcome is not None and self.welcome.ahead

    def offers(self, operator: str, dtype: str) -> bool:
        """Say whether it is to be asked for an operator on an element type; see `Welcome`."""
        return self.welcome is not None and self.welcome.offers(operator, dtype)

    @property
    def printed(self) -> str:
        """What the program wrote to standard error for the call received last: its end."""
        text = self.errors.text
        return visible(text.decode(errors="replace")[-_PRINTED:], keep="\n\t") if text else ""

    @property
    def last_words(self) -> str:
        """The last line that the program printed, to be put after the reason of its end."""
        last = one_line(self.errors.last_line, MAX_TEXT)
        return f"; the last line it printed: {last}" if last else ""

    def greet(self, timeout: float | None = None) -> Welcome:
        """Shake hands; UsageError if the program does not.

        `timeout` is that of a call, in seconds: the handshake has as long if a user asked for more
        than its launch allows.
        """
        limit = self._launch.start_limit
        if timeout is not None and timeout != USUAL_TIMEOUT:
            limit = max(limit, timeout)
        try:
            self.allow(limit)
            self.send_bytes(self._launch.payload + protocol.hello())
            self.welcome = protocol.read_welcome(self._message_line())
            self._check_end()
        except (ProtocolError, Silent, Ended) as error:
            why = self._failure(error).why
            reason = why.what if isinstance(why, BrokeProtocol) else in_words(why)
            if isinstance(error, Silent):
                reason = f"no answer to the handshake within {limit:g} s{self._launch.hint}"
            self.kill()
            raise UsageError(f"{self._launch}: {reason}{self.last_words}") from None
        except UsageError:
            self.kill()
            raise
        return self.welcome

    def call(
        self,
        operator: str,
        inputs: Sequence[Array | Repeated],
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
        inputs: Sequence[Array | Repeated],
        attributes: Mapping[str, Any] | str,
        *,
        limit: int = SMALL,
        variation: str = AGAIN.name,
    ) -> None:
        """Begin a call; see `call`. Its answer is the next one that is received.

        Where the program works ahead, one more call may be begun before that.
        """
        assert self.welcome is not None
        message = protocol.write_call(
            self._number,
            operator,
            inputs,
            attributes,
            limit if self.welcome.limited else None,
            variation,
            None if self._outputs is None else self._outputs.descriptor,
        )
        self._number += 1
        self.send_bytes(message)

    def receive(self, limit: int, timeout: float | None = None) -> Answer:
        """Return the answer to the call sent first of those without; its time begins here."""
        number = self._awaited
        self._awaited += 1
        self.errors.next_call(protocol.mark(number) if self.works_ahead else b"")
        try:
            self.allow(timeout)
            answer, size = protocol.read_answer(self._message_line(), number, limit)
            if size == protocol.TOO_MANY:
                self.kill()  # what it sends is not read: a fresh program gets the next call
                return answer
            if size:
                answer = protocol.filled(answer, self._data(size))
            if self.errors.mark_is_due:
                self.read_errors()  # the mark was written before the answer
            if self._awaited == self._number:
                self._check_end()
        except (ProtocolError, Silent, Ended) as error:
            answer = self._failure(error)
            self.kill()
        return answer

    def _data(self, size: int) -> bytes | memoryview:
        """Return so many bytes of outputs."""
        if self._outputs is None:
            return self.take(size)
        if self._outputs.size != size:
            raise ProtocolError(f"{self._outputs.size} bytes of outputs instead of {size}")
        return self._outputs.read()

    def _message_line(self) -> bytes:
        """Return the first line of a message, without its line feed."""
        line = self.line(MAX_LINE)
        if not line.endswith(b"\n"):
            raise ProtocolError(f"a line of more than {MAX_LINE} bytes{_unexpected(line)}")
        return line[:-1]

    def _check_end(self) -> None:
        """Raise ProtocolError if more than one message came, or it came too early."""
        received = self.received
        if received:
            raise ProtocolError(f"bytes after the end of the answer{_unexpected(received)}")
        if self.has_unsent:
            raise ProtocolError("an answer before the message was read")

    def _failure(self, error: ProtocolError | Silent | Ended) -> Answer:
        """Return the answer that a call without one has: what is known about the program."""
        if isinstance(error, Silent):
            return Answer(TIMED_OUT, why=TimedOut(error.seconds))
        if isinstance(error, ProtocolError) or error.status is None:
            return Answer(CRASHED, why=BrokeProtocol(str(error)))
        begun = self.received[-400:]
        return Answer(CRASHED, why=Exited(error.status, protocol.shown(begun) if begun else ""))


def _unexpected(data: bytes | bytearray) -> str:
    return f": {protocol.shown(data)} (print to stderr)"
