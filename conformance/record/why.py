"""Why a vector has its verdict: facts, which are compared, grouped and saved.

`record/words.py` makes sentences of them; nothing reads a sentence back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

Shape = tuple[int, ...]

_PYTHONS_FORM = re.compile(r"((?:\w+\.)*[A-Z]\w*)(?:: (.*))?", re.DOTALL)


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class Fact(Struct, frozen=True, omit_defaults=True, tag_field="fact", tag=_kebab):
    """One of the facts in `Why`; saved as an object that names it, such as `wrong-shape`."""


class OnlyUnder(Struct, frozen=True):
    """The readings of a disputed clause under which alone something is right."""

    clause: str
    readings: tuple[str, ...]


class Raised(Fact, frozen=True):
    """An exception, or a refusal: its `type`, "" where only a text is known, and its `text`.

    `only_under` has the readings under which alone an exception is right, where the backend does
    not follow them.
    """

    type: str = ""
    text: str = ""
    only_under: tuple[OnlyUnder, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Raised:
        """Return the exception that a program or a file tells of, as Python does: TYPE: TEXT."""
        found = _PYTHONS_FORM.fullmatch(text)
        return cls(found[1], found[2] or "") if found else cls("", text)


class NotCalled(Fact, frozen=True):
    """No memory or thread for the call in the process that was to make it; `how` it was called."""

    how: str
    text: str


class Exited(Fact, frozen=True):
    """The process ended in the call, with an exit `status`, which is negative for a signal.

    `unfinished` is the beginning of an answer that it had not finished.
    """

    status: int
    unfinished: str = ""


class BrokeProtocol(Fact, frozen=True):
    """What a program did against the protocol, in words."""

    what: str


class TimedOut(Fact, frozen=True):
    """No answer within so many seconds."""

    seconds: float


class NotStored(Fact, frozen=True):
    """No output is stored for a vector that was exported."""


class NotArrays(Fact, frozen=True):
    """What was `returned` is no array, nor a tuple of them."""

    returned: str


class WrongCount(Fact, frozen=True):
    """More arrays were returned than the operator has outputs."""

    got: int
    expected: int


class WrongShape(Fact, frozen=True):
    """An output has none of the shapes `expected`; `output` is its name if there are several."""

    got: Shape
    expected: tuple[Shape, ...]
    output: str = ""


class WrongType(Fact, frozen=True):
    """An output has none of the element types `expected`; `output` as in `WrongShape`."""

    got: str
    expected: tuple[str, ...]
    output: str = ""


class Differing(Struct, frozen=True, omit_defaults=True):
    """So many elements of an output are wrong, of those that are defined."""

    wrong: int
    total: int
    output: str = ""


class WrongElements(Fact, frozen=True):
    """The outputs that have wrong elements; the worst element of the first is `Result.worst`."""

    outputs: tuple[Differing, ...]


class AcceptedInvalid(Fact, frozen=True):
    """An invalid case was answered; `rule` is what its document says of it."""

    rule: str


class OtherReading(Struct, frozen=True):
    """The readings of a clause that an answer follows, and the one that is required."""

    clause: str
    followed: tuple[str, ...]
    required: str


class NotRequired(Fact, frozen=True):
    """The answer would conform, but under other readings than are required."""

    readings: tuple[OtherReading, ...]


class NoLonger(Fact, frozen=True):
    """An answer in a variation of the call that is wrong, and nobody has said why."""


class Told(Fact, frozen=True):
    """A sentence of a report that has no facts, since an earlier version wrote it."""

    text: str


Why: TypeAlias = (
    Raised
    | NotCalled
    | Exited
    | BrokeProtocol
    | TimedOut
    | NotStored
    | NotArrays
    | WrongCount
    | WrongShape
    | WrongType
    | WrongElements
    | AcceptedInvalid
    | NotRequired
    | NoLonger
    | Told
)


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return texts without those that come again."""
    return tuple(dict.fromkeys(values))
