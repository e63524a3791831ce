"""Calling a backend: one answer per vector, copied out before the next call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from conformance.batch import Batch
from conformance.dtypes import FLOATS, INTEGERS, dtype_of, is_known, name_of
from conformance.vector import Array

Backend = Callable[[str, Sequence[Array], Mapping[str, Any]], Any]

NOT_RUN, ARRAY, NO_ARRAY, RAISED, UNSUPPORTED, CRASHED, TIMED_OUT, MISSING = range(8)
"""What became of a call: `Answers.kind`. MISSING: its output was to be stored and is not."""

_MAX_TEXT = 300
# An output as small as this is kept whatever was expected: a case may expect nothing.
SMALL = 1 << 16
_KNOWN = frozenset((*FLOATS, *INTEGERS))
_NATIVE = {dtype_of(name): name for name in _KNOWN}


@dataclass(slots=True, eq=False)
class Answers:
    """What a backend returned for the vectors of a batch, one item each.

    `kind` is one of the codes above. For ARRAY, `dtype` is the name of the element type and
    `data` the elements in C order and native byte order; `data` is None where `dtype` is not a
    known element type or the array has more elements than any expected one. `text` gives the
    exception of RAISED and UNSUPPORTED, the type of what NO_ARRAY returned, and what is known
    about a crash or a timeout, each on one line. `printed` is what the backend wrote to its
    standard streams during the call, at most the last few thousand characters.
    """

    kind: list[int]
    dtype: list[str]
    shape: list[tuple[int, ...]]
    data: list[bytes | None]
    text: dict[int, str]
    printed: dict[int, str] = field(default_factory=dict)

    @classmethod
    def none_yet(cls, count: int) -> Answers:
        """Return answers of `count` vectors that were not run."""
        return cls([NOT_RUN] * count, [""] * count, [()] * count, [None] * count, {})


class Stopped(Exception):  # noqa: N818 - the run ends early, for a reason that is its text
    """Raised by a runner that cannot go on; vectors it has not run are NOT_RUN."""


class Runner(Protocol):
    """Runs the vectors of a batch, here or in another process."""

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Fill in `answers`, calling `tick(vectors done)` now and then.

        `order` are the vectors to run, by index in the batch; None is all, in their order. A
        KeyboardInterrupt leaves the vectors from the current one on as NOT_RUN. Raises Stopped.
        """


class InProcess:
    """Calls a backend in this process: nothing protects from a crash or a hang."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def run(
        self,
        batch: Batch,
        answers: Answers,
        tick: Callable[[int], None],
        order: Sequence[int] | None = None,
    ) -> None:
        """Call the backend for every vector; see `Runner.run`."""
        backend, operator = self._backend, batch.operator
        kinds, dtypes, shapes, data = answers.kind, answers.dtype, answers.shape, answers.data
        largest = np.full(len(batch), SMALL, np.int64)
        np.maximum.at(largest, batch.expected_vector, batch.expected_size)
        limits = largest.tolist()
        due = 0.0
        for done, index in enumerate(range(len(batch)) if order is None else order, 1):
            # Fresh, writable arguments: what a backend does to them is its own affair.
            inputs = [array.copy() for array in batch.inputs[index]]
            attributes = {
                name: value.copy() if type(value) is list else value
                for name, value in batch.attributes[index].items()
            }
            try:
                output = backend(operator, inputs, attributes)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it is, the backend raised it
                unsupported = isinstance(error, NotImplementedError)
                kinds[index] = UNSUPPORTED if unsupported else RAISED
                answers.text[index] = one_line(error)
            else:
                if type(output) is np.ndarray:
                    kinds[index] = ARRAY
                    shapes[index] = output.shape
                    dtypes[index] = name = _NATIVE.get(output.dtype) or _name(output.dtype)
                    if output.size <= limits[index] and name in _KNOWN:
                        if not output.dtype.isnative:
                            output = output.astype(output.dtype.newbyteorder("="))
                        data[index] = output.tobytes()
                else:
                    kinds[index] = NO_ARRAY
                    answers.text[index] = _type_name(type(output))
            now = perf_counter()
            if now > due:
                tick(done)
                due = now + 0.1


def one_line(error: BaseException) -> str:
    """Return an exception as one short line, even if its text cannot be made."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a backend's exception may be as broken as the backend
        text = "(its text could not be made)"
    return _shortened(type(error).__name__, text)


@lru_cache(maxsize=256)  # what a backend does not support it says thousands of times
def _shortened(name: str, text: str) -> str:
    text = " ".join(text.split())
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 3] + "..."
    return f"{name}: {text}" if text else name


def _name(dtype: np.dtype[Any]) -> str:
    native = dtype if dtype.isnative else dtype.newbyteorder("=")
    return name_of(native) if is_known(native) else str(dtype)


def _type_name(kind: type) -> str:
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
