"""The messages between the harness and a program, to and from bytes: docs/protocol.md.

A message is one line of JSON and the raw bytes it announces. Here are the lines and what they say
of the bytes; nothing here reads or writes. Whatever a line says is checked before it is believed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, dtype_of, name_of
from conformance.errors import UsageError
from conformance.vector import Array
from conformance.workers.answer import (
    ARRAY,
    MAX_OUTPUTS,
    NO_ARRAY,
    RAISED,
    SMALL,
    UNSUPPORTED,
    Answer,
    Returned,
    shortened,
)

PROTOCOL, VERSION = "pooling-conformance", 1
MAX_LINE = 1 << 20
"""Bytes of the longest line, with its line feed."""

TOO_MANY = -1
"""In place of the size of data that are too large to be read."""

_MAX_RANK = 64
_LARGEST = 2**63 - 1
_MAX_TEXT = 500
# What nearly every answer looks like: read without JSON it costs a fifth of the time.
_USUAL = re.compile(
    rb'\{"call": (\d{1,18}), "output": \{"dtype": "([a-z]+\d{1,2})", '
    rb'"shape": \[((?:0|[1-9]\d{0,17})(?:, (?:0|[1-9]\d{0,17})){0,7})\]\}\}'
)
_KNOWN = frozenset((*FLOATS, *INTEGERS))
_TEXTS = {"error": RAISED, "unsupported": UNSUPPORTED, "no_array": NO_ARRAY}
_ANSWERS = frozenset(("output", "outputs", *_TEXTS))


class ProtocolError(Exception):
    """A message is not what the protocol allows; the text says in what."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """A program's side of the handshake.

    `supports` maps operators to the element types of their first input ("*" is all), None if the
    program wants to be asked for everything. `limited` says that it wants a `limit` in calls, and
    `ahead` that it takes a call before it has answered the last, and marks what it prints.
    """

    name: str
    supports: Mapping[str, frozenset[str]] | None = None
    limited: bool = False
    ahead: bool = False

    def offers(self, operator: str, dtype: str) -> bool:
        """Say whether the program is to be asked for an operator on an element type."""
        if self.supports is None:
            return True
        dtypes = self.supports.get(operator, frozenset())
        return dtype in dtypes or "*" in dtypes


class Call(NamedTuple):
    """A call as a program reads it: `inputs` are pairs of element type and shape.

    `limit` is the number of elements up to which an output is looked at.
    """

    number: int
    operator: str
    attributes: dict[str, Any]
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    limit: int = SMALL

    @property
    def size(self) -> int:
        """Bytes that follow the line."""
        return sum(prod(shape) * dtype_of(name).itemsize for name, shape in self.inputs)

    def arrays(self, data: bytes) -> list[Array]:
        """Return the inputs as arrays of their own, writable."""
        found, start = [], 0
        for name, shape in self.inputs:
            # The copy is aligned, and owns its memory as an array in this process would.
            array = np.ndarray(shape, dtype_of(name), data, start).copy()
            start += array.nbytes
            found.append(_little_endian(array))
        return found


# Both sides -----------------------------------------------------------------------------------


def _line(message: Mapping[str, Any]) -> bytes:
    return (_ENCODE(message) + "\n").encode()


def _plain(value: object) -> Any:
    """Return what JSON has in place of a number of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_ENCODE = json.JSONEncoder(default=_plain).encode
_PLAIN = json.JSONDecoder()
_DECODE = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant).decode


def _object(line: bytes) -> dict[str, Any] | None:
    """Return the object on a line, None if there is none."""
    try:
        found = _DECODE(line.decode())
    except (ValueError, RecursionError):
        return None
    return found if type(found) is dict else None


def _described(dtype: str, shape: Sequence[int]) -> str:
    """Return the JSON of an array of a known element type."""
    return f'{{"dtype": "{dtype}", "shape": {list(shape)}}}'


def _little_endian(array: Array) -> Array:
    return array if sys.byteorder == "little" else array.byteswap()


# What the harness writes and reads ------------------------------------------------------------


def hello() -> bytes:
    """Return the first message."""
    return _line({"protocol": PROTOCOL, "version": VERSION})


def read_welcome(line: bytes) -> Welcome:
    """Return what a program answered to `hello`.

    Raises ProtocolError, and UsageError with the program's own words where it refuses to work.
    """
    found = _object(line)
    if found is None or type(found.get("version")) is not int:
        raise ProtocolError(
            f'the first line must be {{"version": {VERSION}, "name": ...}}, not {shown(line)}'
        )
    if found["version"] != VERSION:
        raise ProtocolError(f"version {found['version']} of the protocol; this is {VERSION}")
    if type(found.get("refused")) is str:
        raise UsageError(shortened(found["refused"], 2000))
    name, supports = found.get("name"), found.get("supports")
    if type(name) is not str:
        raise ProtocolError('the first line has no "name", a string')
    if supports is not None:
        supports = _supports(supports)
    limited, ahead = (found.get(key) is True for key in ("limited", "ahead"))
    return Welcome(shortened(name), supports, limited, ahead)


def _supports(found: object) -> Mapping[str, frozenset[str]]:
    if isinstance(found, dict) and all(
        type(names) is list and all(type(name) is str for name in names) for names in found.values()
    ):
        return {operator: frozenset(names) for operator, names in found.items()}
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
    inputs: Sequence[Array],
    attributes: Mapping[str, Any] | str,
    limit: int | None = None,
) -> bytes:
    """Return a call.

    `attributes` may be their `attributes_text`. `limit` is for programs that want it. Raises
    UsageError for attributes that JSON does not have.
    """
    if not isinstance(attributes, str):
        attributes = attributes_text(attributes)
    end = "]}" if limit is None else f'], "limit": {limit}}}'
    described = ", ".join([_described(name_of(each.dtype), each.shape) for each in inputs])
    line = (
        f'{{"call": {number}, "operator": {encode_basestring_ascii(operator)}, '
        f'"attributes": {attributes}, "inputs": [{described}{end}\n'
    )
    return b"".join([line.encode(), *[_little_endian(each).tobytes() for each in inputs]])


def read_answer(line: bytes, number: int, limit: int) -> tuple[Answer, int | None]:
    """Return the answer to call `number`, without its data, and how many bytes of data follow.

    That is None where there are no data, and TOO_MANY where more elements than `limit` follow,
    which are not to be read. Outputs whose data follow have b"" in place of them: see `filled`.
    Raises ProtocolError.
    """
    if (usual := _USUAL.fullmatch(line)) and int(usual[1]) == number:
        shape = [int(each) for each in usual[3].split(b", ")]
        output = _output({"dtype": usual[2].decode(), "shape": shape}, limit)
        return _announced((output,), limit)
    found = _object(line)
    if found is None:
        raise ProtocolError(f"not an answer but {shown(line)} (print to stderr)")
    called = found.get("call")
    if type(called) is not int or called != number:
        raise ProtocolError(f'"call" is {shown(called)} instead of {number}')
    keys = _ANSWERS & found.keys()
    if len(keys) != 1:
        raise ProtocolError('one of "output", "error", "unsupported" must be in the answer')
    (key,) = keys
    value = found[key]
    if key == "output":
        output = _output(value, limit, data=found.get("data") is not False)
        return _announced((output,), limit)
    if key == "outputs":
        return _announced(_outputs(value, limit), limit)
    if type(value) is not str:
        raise ProtocolError(f'"{key}" must be a string')
    return Answer(_TEXTS[key], text=shortened(value, _MAX_TEXT) or "no reason given"), None


def filled(answer: Answer, data: bytes) -> Answer:
    """Return an answer with the data that `read_answer` said would follow."""
    outputs, start = [], 0
    for output in answer.outputs:
        content = output.data
        if content is not None:
            stop = start + _bytes_of(output)
            content, start = native(data[start:stop], output.dtype), stop
        outputs.append(output._replace(data=content))
    return answer._replace(outputs=tuple(outputs))


def _announced(outputs: tuple[Returned, ...], limit: int) -> tuple[Answer, int | None]:
    """Return the answer that announced outputs are, and the size of their data."""
    following = [output for output in outputs if output.data is not None]
    if sum(prod(output.shape) for output in following) > limit:
        without = tuple(output._replace(data=None) for output in outputs)
        return Answer(ARRAY, without), TOO_MANY
    return Answer(ARRAY, outputs), sum(map(_bytes_of, following)) if following else None


def _bytes_of(output: Returned) -> int:
    return prod(output.shape) * dtype_of(output.dtype).itemsize


def _outputs(found: object, limit: int) -> tuple[Returned, ...]:
    if type(found) is not list or not 1 <= len(found) <= MAX_OUTPUTS:
        raise ProtocolError(f'"outputs" must be a list of 1 to {MAX_OUTPUTS} outputs')
    outputs = []
    for each in found:
        data = type(each) is not dict or each.get("data") is not False
        outputs.append(_output(each, limit, data=data))
        limit -= prod(outputs[-1].shape)
    return tuple(outputs)


def _output(found: object, limit: int, *, data: bool = True) -> Returned:
    """Return an announced output, with b"" as its data if `data` follow."""
    if type(found) is not dict or type(found.get("dtype")) is not str:
        raise ProtocolError('"output" must have "dtype", a string, and "shape"')
    name, shape = shortened(found["dtype"]), found.get("shape")
    if type(shape) is not list or len(shape) > _MAX_RANK or not all(map(_is_length, shape)):
        raise ProtocolError(f"an output of shape {shown(shape)}")
    size = prod(shape)
    if not data:
        if size <= limit and name in _KNOWN:
            raise ProtocolError(f'"data" is false for an output of {size} {name}')
        return Returned(name, tuple(shape))
    if name not in _KNOWN:
        raise ProtocolError(f"bytes of an element type {name!r}, which is none of the suite's")
    return Returned(name, tuple(shape), b"")


def _is_length(value: object) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def native(data: bytes, dtype: str) -> bytes:
    """Return little-endian elements in the byte order of this machine."""
    if sys.byteorder == "little":
        return data
    return np.frombuffer(data, dtype_of(dtype)).byteswap().tobytes()


def shown(found: object) -> str:
    """Return a stranger's line or value for an error message."""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return repr(shortened(text[:400].strip(), 100))


# What a program reads and writes --------------------------------------------------------------


def read_hello(line: bytes) -> None:
    """Check the first message of a harness; ProtocolError if it is none."""
    found = _object(line)
    if found is None or found.get("protocol") != PROTOCOL:
        raise ProtocolError(f"not a harness that speaks {PROTOCOL}: {shown(line)}")


def write_welcome(
    name: str,
    supports: Mapping[str, Sequence[str]] | None = None,
    *,
    limited: bool = False,
    ahead: bool = False,
) -> bytes:
    """Return a program's side of the handshake; see `Welcome`."""
    message: dict[str, Any] = {"version": VERSION, "name": name}
    if supports is not None:
        message["supports"] = {operator: list(names) for operator, names in supports.items()}
    if limited:
        message["limited"] = True
    if ahead:
        message["ahead"] = True
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
        found, _ = _PLAIN.raw_decode(line.decode())
        return Call(
            found["call"],
            found["operator"],
            found["attributes"],
            tuple([(each["dtype"], tuple(each["shape"])) for each in found["inputs"]]),
            found.get("limit", SMALL),
        )
    except (ValueError, RecursionError, LookupError, TypeError):
        raise ProtocolError(f"not a call: {shown(line)}") from None


def write_answer(number: int, answer: Answer) -> bytes:
    """Return the message that an answer is: its data follow if it has any."""
    if answer.kind != ARRAY:
        key = next(key for key, kind in _TEXTS.items() if kind == answer.kind)
        return _line({"call": number, key: answer.text})
    several = len(answer.outputs) > 1
    described = [_shown_output(output, nested=several) for output in answer.outputs]
    announced = f'"outputs": [{", ".join(described)}]' if several else f'"output": {described[0]}'
    data = [native(each.data, each.dtype) for each in answer.outputs if each.data is not None]
    end = "" if several or data else ', "data": false'
    return b"".join([f'{{"call": {number}, {announced}{end}}}\n'.encode(), *data])


def _shown_output(output: Returned, *, nested: bool) -> str:
    """Return the JSON of an output; one of several says itself that no data follow."""
    if output.data is not None:
        return _described(output.dtype, output.shape)
    message = {"dtype": output.dtype, "shape": output.shape}
    return _ENCODE(message | {"data": False} if nested else message)
