"""What became of one call, as plain values: the same from this process, a worker or a program.

Nothing here trusts what a backend returned or raised: only the type of an object is looked at,
and of arrays that are exactly numpy's what C code answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, dtype_of, is_known, name_of
from conformance.errors import Unsupported
from conformance.vector import Array, Outputs, as_returned

NOT_RUN, ARRAY, NO_ARRAY, RAISED, UNSUPPORTED, CRASHED, TIMED_OUT, MISSING = range(8)
"""Kinds of answers. MISSING: its output was to be stored and is not."""

SMALL = 1 << 16
"""Elements of an output that are kept whatever was expected: a case may expect nothing."""

MAX_OUTPUTS = 16
"""Arrays of one answer: an operator has far fewer outputs."""

_MAX_TEXT = 300
_MAX_NAME = 100
_TEXTS = 4096
"""Texts remembered: what a backend does not support it says thousands of times."""
_USUAL = {
    id(kind): kind.__name__
    for kind in (Unsupported, NotImplementedError, RuntimeError, TypeError, ValueError)
}
_KNOWN = frozenset((*FLOATS, *INTEGERS))
_NATIVE = {dtype_of(name): name for name in _KNOWN}


class Returned(NamedTuple):
    """One output: the name of its element type, its shape, and its elements.

    `data` are the elements in C order and native byte order; None where `dtype` is not a known
    element type or there are more elements than are looked at.
    """

    dtype: str
    shape: tuple[int, ...]
    data: bytes | None = None


class Answer(NamedTuple):
    """What became of a call; the fields are those of `conformance.check.runner.Answers`."""

    kind: int
    outputs: tuple[Returned, ...] = ()
    text: str = ""


def answer_returned(output: object, limit: int) -> Answer:
    """Return the answer that a returned object is; up to `limit` elements are copied.

    Only numpy.ndarray itself is an array, and only tuple itself holds several: what a subclass
    does when looked at is its own affair.
    """
    if type(output) is np.ndarray:
        return Answer(ARRAY, (_returned(output, limit),))
    if type(output) is not tuple:
        return Answer(NO_ARRAY, (), _type_name(type(output)))
    if not output:
        return Answer(NO_ARRAY, (), "an empty tuple")
    outputs = []
    for place, array in enumerate(output[:MAX_OUTPUTS]):
        if type(array) is not np.ndarray:
            return Answer(NO_ARRAY, (), f"a tuple with {_type_name(type(array))} at {place}")
        outputs.append(_returned(array, limit))
        limit -= array.size
    if len(output) > MAX_OUTPUTS:
        return Answer(NO_ARRAY, (), f"a tuple of {len(output)}")
    return Answer(ARRAY, tuple(outputs))


def _returned(output: Array, limit: int) -> Returned:
    name = _NATIVE.get(output.dtype) or _dtype_name(output.dtype)
    data = None
    if output.size <= limit and name in _KNOWN:
        if not output.dtype.isnative:
            output = output.astype(output.dtype.newbyteorder("="))
        data = output.tobytes()
    return Returned(name, output.shape, data)


def arrays_of(outputs: Sequence[Returned]) -> Array | Outputs | None:
    """Return outputs as a backend does, as read-only arrays; None if elements are missing."""
    arrays = []
    for output in outputs:
        if output.data is None:
            return None
        flat = np.frombuffer(output.data, dtype_of(output.dtype))
        arrays.append(flat.reshape(output.shape))
    return as_returned(tuple(arrays)) if arrays else None


def answer_raised(error: BaseException) -> Answer:
    """Return the answer that an exception is."""
    # Not isinstance, which asks the exception for its __class__.
    unsupported = issubclass(type(error), NotImplementedError)
    return Answer(UNSUPPORTED if unsupported else RAISED, (), one_line(error))


def one_line(error: BaseException) -> str:
    """Return an exception as one short line, even if its text cannot be made."""
    try:
        text = str(error)
        if type(text) is not str or len(text) > 4 * _MAX_TEXT:
            text = str.__getitem__(text, slice(0, 4 * _MAX_TEXT))
    except BaseException:  # noqa: BLE001 - a backend's exception may be as broken as the backend
        text = "(its text could not be made)"
    # By identity: to look a type up is to ask its metaclass for a hash.
    name = _USUAL.get(id(type(error))) or _plain_name(type(error), "__name__")
    return _described(name, text)


@lru_cache(maxsize=_TEXTS)
def shortened(text: str, most: int = _MAX_TEXT) -> str:
    """Return a text as one printable line of at most `most` characters."""
    text = printable(" ".join(text[: 4 * most].split()))
    return text if len(text) <= most else text[: most - 3] + "..."


def printable(text: str, *, keep: str = "") -> str:
    """Return a text with escapes in place of what a terminal must not get, but for `keep`."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in keep else each.encode("unicode_escape").decode()
        for each in text
    )


@lru_cache(maxsize=_TEXTS)
def _described(name: str, text: str) -> str:
    text = shortened(text)
    return f"{name}: {text}" if text else name


def _plain_name(kind: type, attribute: str) -> str:
    """Return a text that a type has, from `type` itself: its metaclass may answer anything."""
    found = type.__dict__[attribute].__get__(kind)
    if not issubclass(type(found), str):
        return ""
    return shortened(str.__getitem__(found, slice(0, _MAX_TEXT)), _MAX_NAME)


def _type_name(kind: type) -> str:
    module, name = _plain_name(kind, "__module__"), _plain_name(kind, "__qualname__")
    return name if module in {"", "builtins"} else f"{module}.{name}"


def _dtype_name(dtype: np.dtype[Any]) -> str:
    native = dtype if dtype.isnative else dtype.newbyteorder("=")
    return name_of(native) if is_known(native) else shortened(str(dtype), _MAX_NAME)
