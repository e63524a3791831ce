"""The messages between the harness and a program, to and from bytes: docs/protocol.md.

A message is one line of JSON and the raw bytes it announces. Lines are made and parsed here, and
nothing is read or written. What a program writes is checked before it is used.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from json.encoder import encode_basestring_ascii
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conformance.backends.answer import (
    ARRAY,
    MAX_OUTPUTS,
    MAX_TEXT,
    NO_ARRAY,
    NO_REASON,
    NOT_RUN,
    RAISED,
    SMALL,
    SUITE_TYPES,
    UNSUPPORTED,
    Answer,
    Returned,
)
from conformance.backends.variations import AGAIN
from conformance.dtypes import dtype_of, name_of
from conformance.errors import UsageError
from conformance.record.why import NotArrays, Raised
from conformance.record.words import in_words
from conformance.repeated import Repeated, Run
from conformance.text import one_line
from conformance.vector import Array

PROTOCOL, VERSION = "pooling-conformance", 1
MAX_LINE = 1 << 20
"""Bytes of the longest line, with its line feed."""

TOO_MANY = -1
"""In place of the size of data that are too large to be read."""

_MAX_RANK = 64
_LARGEST = 2**63 - 1
_MAX_REASON = 500
# The form of nearly all answers: to match it takes a fifth of the time of parsing JSON.
_USUAL = re.compile(
    rb'\{"call": (\d{1,18}), "output": \{"dtype": "([a-z]+\d{1,2})", '
    rb'"shape": \[((?:0|[1-9]\d{0,17})(?:, (?:0|[1-9]\d{0,17})){0,7})\]\}\}'
)
_TEXTS = {
    "error": RAISED,
    "unsupported": UNSUPPORTED,
    "no_array": NO_ARRAY,
    "not_called": NOT_RUN,
}
_ANSWERS = frozenset(("output", "outputs", *_TEXTS))


class ProtocolError(Exception):
    """A message is not what the protocol allows; the text says in what."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """A program's side of the handshake.

    `engine` is the version of what computes, by default the `name`, "" if it is not known.
    `supports` maps operators to the element types of their first input ("*" is all), None if the
    program wants to be asked for everything. `limited` says that it wants a `limit` in calls, and
    `ahead` that it takes a call before it has answered the last, and marks what it prints.
    `variations` are the names of the variations in which it can call its engine.
    """

    name: str
    supports: Mapping[str, frozenset[str]] | None = None
    limited: bool = False
    ahead: bool = False
    engine: str = ""
    variations: frozenset[str] = frozenset()

    def offers(self, operator: str, dtype: str) -> bool:
        """Say whether the program is to be asked for an operator on an element type."""
        if self.supports is None:
            return True
        dtypes = self.supports.get(operator, frozenset())
        return dtype in dtypes or "*" in dtypes


class Call(NamedTuple):
    """A call as a program reads it: `inputs` are pairs of element type and shape.

    `limit` is the number of elements up to which an output is looked at, `variation` the name of
    the one that is asked for. `runs` are, for some inputs, what is repeated of each axis, as three
    numbers: they are made by whoever calls the engine. `into` is the open file in which outputs
    are left, and not sent.
    """

    number: int
    operator: str
    attributes: dict[str, Any]
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    limit: int = SMALL
    variation: str = AGAIN.name
    runs: tuple[tuple[Run, ...] | None, ...] = ()
    into: int | None = None

    @property
    def size(self) -> int:
        """Bytes that follow the line."""
        return sum(prod(shape) * dtype_of(name).itemsize for name, shape in self.inputs)

    def arrays(self, data: bytes) -> list[Array | Repeated]:
        """Return the inputs as views of the data: read-only, and hardly aligned."""
        arrays: list[Array | Repeated] = []
        start = 0
        for (name, shape), runs in zip_longest(self.inputs, self.runs):
            array: Array = np.ndarray(shape, dtype_of(name), data, start)
            start += array.nbytes
            array = _little_endian(array)
            arrays.append(Repeated(array, runs) if runs else array)
        return arrays


# Both sides -----------------------------------------------------------------------------------


def _line(message: Mapping[str, Any]) -> bytes:
    return (_ENCODE(message) + "\n").encode()


def _plain(value: object) -> Any:
    """Return a scalar of numpy as a value that JSON has."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    message = dict(pairs)
    if len(message) < len(pairs):
        raise ValueError("a key comes twice")
    return message


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_ENCODE = json.JSONEncoder(default=_plain).encode
_PLAIN = json.JSONDecoder()
_DECODE = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant).decode


def _object(line: bytes) -> dict[str, Any] | None:
    """Return the object on a line, None if there is none."""
    try:
        message = _DECODE(line.decode())
    except (ValueError, RecursionError):
        return None
    return message if type(message) is dict else None


def _described(dtype: str, shape: Sequence[int]) -> str:
    """Return the JSON of an array of a known element type."""
    return f'{{"dtype": "{dtype}", "shape": {list(shape)}}}'


def _little_endian(array: Array) -> Array:
    return array if sys.byteorder == "little" else array.byteswap()


# What the harness writes and reads ------------------------------------------------------------


def hello(version: int = VERSION) -> bytes:
    """Return the first message."""
    return _line({"protocol": PROTOCOL, "version": version})


def read_welcome(line: bytes) -> Welcome:
    """Return what a program answered to `hello`.

    Raises ProtocolError, and UsageError with the program's own words where it refuses to work.
    """
    message = _object(line)
    if message is None or type(message.get("version")) is not int:
        raise ProtocolError(
            f'the first line must be {{"version": {VERSION}, "name": ...}}, not {shown(line)}'
        )
    if message["version"] != VERSION:
        raise ProtocolError(f"version {message['version']} of the protocol; this is {VERSION}")
    if type(message.get("refused")) is str:
        raise UsageError(one_line(message["refused"], 2000))
    name, supports = message.get("name"), message.get("supports")
    if type(name) is not str:
        raise ProtocolError('the first line has no "name", a string')
    if supports is not None:
        supports = _supports(supports)
    limited, ahead = (message.get(key) is True for key in ("limited", "ahead"))
    engine = message["engine"] if type(message.get("engine")) is str else name
    named = message.get("variations")
    variations = frozenset(named if type(named) is list and all(map(_is_text, named)) else ())
    name, engine = one_line(name, MAX_TEXT), one_line(engine, MAX_TEXT)
    return Welcome(name, supports, limited, ahead, engine, variations)


def _supports(value: object) -> Mapping[str, frozenset[str]]:
    if isinstance(value, dict) and all(
        type(names) is list and all(type(name) is str for name in names) for names in value.values()
    ):
        return {operator: frozenset(names) for operator, names in value.items()}
    raise ProtocolError('"supports" must be an object from operators to lists of element types')


def attributes_text(attributes: Mapping[str, Any]) -> str:
    """Return attributes as they are written; UsageError if JSON does not have them."""
    try:
        return _ENCODE(attributes)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"attributes cannot be sent to another process: {error}") from None


def write_call(
    number: int,
    operator: str,
    inputs: Sequence[Array | Repeated],
    attributes: Mapping[str, Any] | str,
    limit: int | None = None,
    variation: str = AGAIN.name,
    into: int | None = None,
) -> bytes:
    """Return a call.

    `attributes` may be their `attributes_text`. `limit` is for programs that want it, `variation`
    for those that have it; inputs that are repeated, and `into`, are for workers of this package.
    Raises UsageError for attributes that JSON does not have.
    """
    if not isinstance(attributes, str):
        attributes = attributes_text(attributes)
    end = "]" if limit is None else f'], "limit": {limit}'
    end += "" if variation == AGAIN.name else f', "variation": "{variation}"'
    end += "}" if into is None else f', "into": {into}}}'
    arrays = [array.small if isinstance(array, Repeated) else array for array in inputs]
    described = ", ".join(map(_described_input, inputs))
    line = (
        f'{{"call": {number}, "operator": {encode_basestring_ascii(operator)}, '
        f'"attributes": {attributes}, "inputs": [{described}{end}\n'
    )
    return b"".join([line.encode(), *[_little_endian(array).tobytes() for array in arrays]])


def _described_input(array: Array | Repeated) -> str:
    """Return the JSON of an input."""
    if not isinstance(array, Repeated):
        return _described(name_of(array.dtype), array.shape)
    small = _described(name_of(array.small.dtype), array.small.shape)
    runs = [[run.start, run.stop, run.times] for run in array.runs]
    return f'{small[:-1]}, "runs": {runs}}}'


def read_answer(line: bytes, number: int, limit: int) -> tuple[Answer, int]:
    """Return the answer to call `number`, without its data, and how many bytes of data follow.

    That is TOO_MANY where more elements than `limit` follow, which are not to be read. Outputs
    whose data follow have b"" in place of them: see `filled`. Raises ProtocolError.
    """
    if (usual := _USUAL.fullmatch(line)) and int(usual[1]) == number:
        shape = [int(extent) for extent in usual[3].split(b", ")]
        return _announced([{"dtype": usual[2].decode(), "shape": shape}], limit)
    message = _object(line)
    if message is None:
        raise ProtocolError(f"not an answer but {shown(line)} (print to stderr)")
    answered = message.get("call")
    if type(answered) is not int or answered != number:
        raise ProtocolError(f'"call" is {shown(answered)} instead of {number}')
    keys = _ANSWERS & message.keys()
    if len(keys) != 1:
        raise ProtocolError('one of "output", "error", "unsupported" must be in the answer')
    (key,) = keys
    value = message[key]
    if key == "output":
        only = {**value, "data": message.get("data")} if type(value) is dict else value
        return _announced([only], limit)
    if key == "outputs":
        return _announced(value, limit)
    if type(value) is not str:
        raise ProtocolError(f'"{key}" must be a string')
    text = one_line(value, _MAX_REASON) or NO_REASON
    why = NotArrays(text) if key == "no_array" else Raised.parse(text)
    return Answer(_TEXTS[key], why=why), 0


def filled(answer: Answer, data: bytes | memoryview) -> Answer:
    """Return an answer with the data that `read_answer` said would follow."""
    outputs, start = [], 0
    for output in answer.outputs:
        content = output.data
        if content is not None:
            stop = start + _bytes_of(output)
            content, start = native(data[start:stop], output.dtype), stop
        outputs.append(output._replace(data=content))
    return answer._replace(outputs=tuple(outputs))


def _announced(outputs: object, limit: int) -> tuple[Answer, int]:
    """Return the answer that announced outputs are, and the size of their data."""
    if type(outputs) is not list or not 1 <= len(outputs) <= MAX_OUTPUTS:
        raise ProtocolError(f'"outputs" must be a list of 1 to {MAX_OUTPUTS} outputs')
    announced: list[Returned] = []
    left = limit
    for output in outputs:
        announced.append(_output(output, left))
        left -= prod(announced[-1].shape)
    following = [output for output in announced if output.data is not None]
    if sum(prod(output.shape) for output in following) > limit:
        return Answer(ARRAY, tuple(output._replace(data=None) for output in announced)), TOO_MANY
    return Answer(ARRAY, tuple(announced)), sum(map(_bytes_of, following))


def _bytes_of(output: Returned) -> int:
    return prod(output.shape) * dtype_of(output.dtype).itemsize


def _output(value: object, limit: int) -> Returned:
    """Return an announced output, with b"" as its data if they follow."""
    if type(value) is not dict or type(value.get("dtype")) is not str:
        raise ProtocolError('"output" must have "dtype", a string, and "shape"')
    name, shape = one_line(value["dtype"], MAX_TEXT), value.get("shape")
    if type(shape) is not list or len(shape) > _MAX_RANK or not all(map(_is_length, shape)):
        raise ProtocolError(f"an output of shape {shown(shape)}")
    size = prod(shape)
    if value.get("data") is False:
        if size <= limit and name in SUITE_TYPES:
            raise ProtocolError(f'"data" is false for an output of {size} {name}')
        return Returned(name, tuple(shape))
    if name not in SUITE_TYPES:
        raise ProtocolError(f"bytes of an element type {name!r}, which is none of the suite's")
    # No array can have a shape like (0, 2**62): there is nothing but the shape to be looked at.
    exists = prod(filter(None, shape)) * dtype_of(name).itemsize <= _LARGEST
    return Returned(name, tuple(shape), b"" if exists or size else None)


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_length(value: object) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def native(data: bytes | memoryview, dtype: str) -> bytes | memoryview:
    """Return little-endian elements in the byte order of this machine."""
    if sys.byteorder == "little":
        return data
    return np.frombuffer(data, dtype_of(dtype)).byteswap().tobytes()


def shown(value: object) -> str:
    """Return a line or a value that a program wrote, quoted and shortened for an error message."""
    if isinstance(value, bytes | bytearray):
        value = value[:400].decode(errors="replace")
    return repr(one_line(str(value)[:400].strip(), 100))


# What a program reads and writes --------------------------------------------------------------


def read_hello(line: bytes) -> None:
    """Check the first message of a harness; ProtocolError if it is none."""
    message = _object(line)
    if message is None or message.get("protocol") != PROTOCOL:
        raise ProtocolError(f"not a harness that speaks {PROTOCOL}: {shown(line)}")


def write_welcome(
    name: str,
    supports: Mapping[str, Sequence[str]] | None = None,
    *,
    limited: bool = False,
    ahead: bool = False,
    engine: str | None = None,
    variations: Sequence[str] = (),
) -> bytes:
    """Return a program's side of the handshake; see `Welcome`."""
    message: dict[str, Any] = {"version": VERSION, "name": name}
    if supports is not None:
        message["supports"] = {operator: list(names) for operator, names in supports.items()}
    if limited:
        message["limited"] = True
    if ahead:
        message["ahead"] = True
    if engine is not None:
        message["engine"] = engine
    if variations:
        message["variations"] = list(variations)
    return _line(message)


def mark(number: int) -> bytes:
    """Return what ends all that a program printed for a call, where it works ahead."""
    return b"\0%d\0" % number


def write_refusal(text: str) -> bytes:
    """Return the answer to `hello` of a program that cannot work, and why."""
    return _line({"version": VERSION, "refused": text})


def read_call(line: bytes) -> Call:
    """Return the call on a line; ProtocolError if there is none."""
    try:
        message, _ = _PLAIN.raw_decode(line.decode())
        return Call(
            message["call"],
            message["operator"],
            message["attributes"],
            tuple([(array["dtype"], tuple(array["shape"])) for array in message["inputs"]]),
            message.get("limit", SMALL),
            message.get("variation", AGAIN.name),
            tuple([_runs(array.get("runs")) for array in message["inputs"]]),
            message.get("into"),
        )
    except (ValueError, RecursionError, LookupError, TypeError):
        raise ProtocolError(f"not a call: {shown(line)}") from None


def _runs(value: Sequence[Sequence[int]] | None) -> tuple[Run, ...] | None:
    return None if value is None else tuple(Run(*numbers) for numbers in value)


def write_answer(number: int, answer: Answer) -> bytes:
    """Return the message that an answer is: its data follow if it has any."""
    return b"".join([answer_line(number, answer), *answer_data(answer)])


def answer_data(answer: Answer) -> list[bytes | memoryview]:
    """Return the data of an answer, output by output."""
    return [native(out.data, out.dtype) for out in answer.outputs if out.data is not None]


def answer_line(number: int, answer: Answer) -> bytes:
    """Return the line that an answer is, without its data."""
    if answer.kind != ARRAY:
        key = next(key for key, kind in _TEXTS.items() if kind == answer.kind)
        why = answer.why
        text = why.returned if isinstance(why, NotArrays) else in_words(why)
        return _line({"call": number, key: text})
    several = len(answer.outputs) > 1
    described = [_shown_output(output, nested=several) for output in answer.outputs]
    announced = f'"outputs": [{", ".join(described)}]' if several else f'"output": {described[0]}'
    end = "" if several or answer.outputs[0].data is not None else ', "data": false'
    return f'{{"call": {number}, {announced}{end}}}\n'.encode()


def _shown_output(output: Returned, *, nested: bool) -> str:
    """Return the JSON of an output; one of several says itself that no data follow."""
    if output.data is not None:
        return _described(output.dtype, output.shape)
    message = {"dtype": output.dtype, "shape": output.shape}
    return _ENCODE(message | {"data": False} if nested else message)
