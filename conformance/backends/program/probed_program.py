"""A program that is probed: a breach of the protocol is raised, in words for its author."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn

from conformance.backends.answer import ARRAY, RAISED, UNSUPPORTED, Answer
from conformance.backends.program.program import Program
from conformance.backends.program.protocol import ProtocolError, shown
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.operators.call_convention import PLAIN
from conformance.process import Launch
from conformance.process.transport import Ended, Silent
from conformance.record.words import in_words
from conformance.vector import Case

_LIMIT = 1 << 22
"""Elements of an output that are read; the probe asks for fewer."""


class Broken(Exception):  # noqa: N818 - what the probe reports, not what failed
    """A rule is broken; the text says by what."""


class ProbedProgram(Program):
    """A program whose handshake and calls raise Broken where it breaks the protocol.

    `timeout` is how many seconds a message may take. `strays` are what it wrote to standard output
    that were no messages. Raises UsageError if the program cannot be started.
    """

    def __init__(self, command: tuple[str, ...], timeout: float) -> None:
        super().__init__(Launch(command, name=repr(command[0]), start_limit=timeout))
        self.timeout = timeout
        self.strays: list[str] = []
        self._delivery: Delivery = whole
        self._size = 0  # of the data that are awaited
        self._printed_before = ""

    @property
    def last_printed(self) -> str:
        """The last line that it wrote to standard error."""
        return self.errors.last_line or self._printed_before

    def shake_hands(self, delivery: Delivery) -> None:
        """Have `welcome`, what the program says of itself."""
        self._delivery = delivery
        try:
            self.greet()
        except UsageError as refusal:
            raise Broken(f"it refused to work: {refusal}") from refusal

    def ask(self, case: Case, delivery: Delivery) -> Answer:
        """Return the answer to a case."""
        self._delivery = delivery
        operator = OPERATORS.get(case.operator)
        convention = PLAIN if operator is None else operator.convention_of(case.attributes)
        call = convention.given(case.inputs, case.attributes)
        answer = self.call(case.operator, *call, limit=_LIMIT, timeout=self.timeout)
        if not self.alive:
            raise Broken(f"it announces {described(answer)}")
        return answer

    def listen(self, seconds: float) -> str:
        """Return what has been written when anything was, or after a while; "" for nothing."""
        self.allow(seconds)
        with suppress(Silent, Ended):
            while not self.received:
                self.wait()
        return shown(self.received) if self.received else ""

    def send_bytes(self, data: bytes) -> None:
        """Deliver a message."""
        for part in self._delivery(self, data):
            super().send_bytes(part)
        self._printed_before = self.last_printed

    def _message_line(self) -> bytes:
        line = super()._message_line()
        if not line.lstrip().startswith(b"{"):
            self.strays.append(f"it wrote {shown(line)}")
        return line

    def _data(self, size: int) -> bytes | memoryview:
        self._size = size
        data = super()._data(size)
        self._size = 0
        return data

    def _check_end(self) -> None:
        """Let the next call find what follows a message: it may come late."""

    def _failure(self, error: ProtocolError | Silent | Ended) -> NoReturn:
        if isinstance(error, ProtocolError):
            raise Broken(str(error)) from error
        where = ""
        if self._size:
            where = f" after {len(self.received):,} of {self._size:,} bytes"
        elif self.received:
            where = f" after {shown(self.received)} without a line feed"
        if isinstance(error, Silent):
            silence = f"nothing came for {error.seconds:g} seconds"
            raise Broken(f"{silence}{where}; is the output flushed?") from error
        self.read_errors()
        last = self.last_printed
        note = f"; standard error ends with {shown(last)}" if last else ""
        raise Broken(f"{error}{where}{note}") from error


Delivery = Callable[[ProbedProgram, bytes], Iterable[bytes]]
"""Yields the bytes that are sent to a program in place of a message, one after another."""


def whole(_: ProbedProgram, message: bytes) -> Iterable[bytes]:
    """Deliver a message as it is."""
    return (message,)


def kind_of(answer: Answer) -> str:
    """Return the key under which an answer came."""
    kinds = {ARRAY: "output", RAISED: "error", UNSUPPORTED: "unsupported"}
    return kinds.get(answer.kind, "no array")


def described(answer: Answer) -> str:
    """Return an answer as one line."""
    if answer.kind != ARRAY:
        return f"{kind_of(answer)}, {in_words(answer.why)!r}"
    first = answer.outputs[0]
    return f"an output of {first.dtype}, shape {list(first.shape)}"
