"""The outcome of one call of a backend, as plain values, wherever it was called.

What a backend returned or raised is not trusted: of an object only its type is looked at, and of
an array that is exactly numpy.ndarray only what numpy's C code tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, dtype_of, is_known, name_of
from conformance.errors import Unsupported
from conformance.record.why import NotArrays, Raised, Why
from conformance.record.words import in_words, raised_in_words
from conformance.text import one_line
from conformance.vector import Array, Outputs, as_returned, outputs_of

Backend = Callable[[str, Sequence[Array], Mapping[str, Any]], Array | Outputs]
"""Computes one case: operator name, input arrays, attributes by the document's names.

It returns an array, or a tuple of them where the operator has several outputs.
"""


class Kind(IntEnum):
    """What kind of answer a call has. MISSING: its output was to be stored and is not."""

    NOT_RUN = 0
    ARRAY = 1
    NO_ARRAY = 2
    RAISED = 3
    UNSUPPORTED = 4
    CRASHED = 5
    TIMED_OUT = 6
    MISSING = 7


NOT_RUN, ARRAY, NO_ARRAY, RAISED, UNSUPPORTED, CRASHED, TIMED_OUT, MISSING = Kind

SMALL = 1 << 16
"""Elements of an output that are stored whatever was expected: a case may expect nothing."""

MAX_OUTPUTS = 16
"""Arrays of one answer: an operator has far fewer outputs."""

MAX_TEXT = 300
"""Characters of a text that a backend gave, as it is reported."""

NO_REASON = "no reason given"
"""What a refusal without a text says."""

_MAX_NAME = 100
_TEXTS = 4096
"""Texts in the cache: a backend may say thousands of times what it does not support."""
_USUAL = {
    id(kind): kind.__name__
    for kind in (Unsupported, NotImplementedError, RuntimeError, TypeError, ValueError)
}
SUITE_TYPES = frozenset((*FLOATS, *INTEGERS))
_NATIVE = {dtype_of(name): name for name in SUITE_TYPES}


class Returned(NamedTuple):
    """One output: the name of its element type, its shape, and its elements.

    `data` are the elements in C order and native byte order: bytes, or a view of the memory of
    outputs that are too large to be copied. None where `dtype` is not a known element type, there
    are more elements than are looked at, or no array can have this shape.
    """

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview | None = None


class Answer(NamedTuple):
    """The outcome of a call; the fields are those of `conformance.backends.runner.Answers`."""

    kind: Kind
    outputs: tuple[Returned, ...] = ()
    why: Why | None = None


def own_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes for one call: a backend may change them."""
    own = dict(attributes)
    for name, value in own.items():
        if type(value) is list:
            own[name] = value.copy()
    return own


def native_bytes(array: Array) -> bytes:
    """Return the elements of an array, in C order and native byte order."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array.tobytes()


def native_view(array: Array) -> memoryview:
    """Return a view of the elements of an array, in C order and native byte order.

    Only an array in another order is copied.
    """
    ordered = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return ordered.reshape(-1).view(np.uint8).data


def answer_returned(
    output: object, limit: int, elements: Callable[[Array], bytes | memoryview] = native_bytes
) -> Answer:
    """Return the answer that a returned object is; up to `limit` elements are stored.

    They are what `elements` returns of an array: a copy, unless there is only one call. Only
    numpy.ndarray itself is an array, and only tuple itself holds several: a subclass may run code
    of the backend when it is looked at.
    """
    if type(output) is np.ndarray:
        return Answer(ARRAY, (_returned(output, limit, elements),))
    if type(output) is not tuple:
        return _no_arrays(_type_name(type(output)))
    if not output:
        return _no_arrays("an empty tuple")
    outputs = []
    for place, array in enumerate(output[:MAX_OUTPUTS]):
        if type(array) is not np.ndarray:
            return _no_arrays(f"a tuple with {_type_name(type(array))} at {place}")
        outputs.append(_returned(array, limit, elements))
        limit -= array.size
    if len(output) > MAX_OUTPUTS:
        return _no_arrays(f"a tuple of {len(output)}")
    return Answer(ARRAY, tuple(outputs))


def _no_arrays(returned: str) -> Answer:
    return Answer(NO_ARRAY, why=NotArrays(returned))


def _returned(
    output: Array, limit: int, elements: Callable[[Array], bytes | memoryview]
) -> Returned:
    name = _NATIVE.get(output.dtype) or _dtype_name(output.dtype)
    data = elements(output) if output.size <= limit and name in SUITE_TYPES else None
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


def outputs_or_raise(answer: Answer) -> Array | Outputs:
    """Return what a backend with this answer returns, as arrays of its own, or raise.

    Raises Unsupported or RuntimeError in the words of the answer; RuntimeError too for an output
    without elements.
    """
    said = in_words(answer.why)
    if answer.kind == UNSUPPORTED:
        raise Unsupported(said)
    returned = arrays_of(answer.outputs)
    if returned is None:
        described = "; ".join(f"{output.dtype} {output.shape}" for output in answer.outputs)
        raise RuntimeError(said or f"an output of {described}")
    return as_returned(tuple(array.copy() for array in outputs_of(returned)))


def answer_raised(error: BaseException) -> Answer:
    """Return the answer that an exception is."""
    # Not isinstance, which asks the exception for its __class__.
    unsupported = issubclass(type(error), NotImplementedError)
    return Answer(UNSUPPORTED if unsupported else RAISED, why=exception(error))


def error_line(error: BaseException) -> str:
    """Return an exception as one short line, even if its text cannot be made."""
    return raised_in_words(exception(error))


def exception(error: BaseException) -> Raised:
    """Return type and text of an exception, which is one short line, even if it cannot be made."""
    try:
        text = str(error)
        if type(text) is not str or len(text) > 4 * MAX_TEXT:
            text = str.__getitem__(text, slice(0, 4 * MAX_TEXT))
    except BaseException:  # noqa: BLE001 - a backend's exception may be as broken as the backend
        text = "(its text could not be made)"
    # By identity: to look a type up is to ask its metaclass for a hash.
    name = _USUAL.get(id(type(error))) or _plain_name(type(error), "__name__")
    return _described(name, text)


@lru_cache(maxsize=_TEXTS)
def _described(name: str, text: str) -> Raised:
    return Raised(name, one_line(text, MAX_TEXT))


def _plain_name(kind: type, attribute: str) -> str:
    """Return a text that a type has, from `type` itself: its metaclass may answer anything."""
    text = type.__dict__[attribute].__get__(kind)
    if not issubclass(type(text), str):
        return ""
    return one_line(str.__getitem__(text, slice(0, MAX_TEXT)), _MAX_NAME)


def _type_name(kind: type) -> str:
    module, name = _plain_name(kind, "__module__"), _plain_name(kind, "__qualname__")
    return name if module in {"", "builtins"} else f"{module}.{name}"


def _dtype_name(dtype: np.dtype[Any]) -> str:
    native = dtype if dtype.isnative else dtype.newbyteorder("=")
    return name_of(native) if is_known(native) else one_line(str(dtype), _MAX_NAME)
