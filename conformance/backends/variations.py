"""Variations of a call: the same case, called differently, has the same answer.

A variation is performed where the backend is: memory layouts do not travel, but their names do. All
of them are in `VARIATIONS`; a new one is one more entry there.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.errors import UsageError
from conformance.record.words import how_called
from conformance.repeated import Repeated
from conformance.settings import ALL, NONE, SAMPLE, Variations
from conformance.text import listed
from conformance.vector import Array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.backends.answer import Answer

CallOnce = Callable[[list[Array]], "Answer"]
"""Calls the backend with inputs of its own and returns the answer, whatever becomes of it."""
Strides = Callable[[Array], tuple[int, ...]]

_UNWRITTEN = 0xFF
"""Each byte around an input: of floating-point numbers NaN, of integers -1."""
_ALIGNED = 64
_ROUNDS = 2
"""Calls of each thread."""
_SWITCHING = 1e-5
"""Seconds after which Python turns to another thread: also short functions meet then."""


@dataclass(frozen=True, slots=True)
class Variation:
    """A way to call a backend.

    `perform(call, inputs)` returns the answer to inputs, which it leaves as they are.
    `applies(data)` says of the data whether anything is different then. An exception is right, too,
    if it `may_be_refused`. One that is `unbatched` is of operators that take data without a batch.
    In a sample of a file, `sampled` vectors are called so.
    """

    name: str
    perform: Callable[[CallOnce, Sequence[Any]], Answer]
    applies: Callable[[Array], bool] = lambda data: data.size > 0
    may_be_refused: bool = False
    unbatched: bool = False
    sampled: int = 3

    @property
    def how(self) -> str:
        """How the backend is called, to be put after "called"."""
        return how_called(self.name)


def _copies(inputs: Iterable[Array | Repeated]) -> list[Array]:
    return [array.copy() for array in inputs]


# Calls before and beside ----------------------------------------------------------------------


def _again(call: CallOnce, inputs: Sequence[Array | Repeated]) -> Answer:
    return call(_copies(inputs))


def _twice(call: CallOnce, inputs: Sequence[Array]) -> Answer:
    call(_copies(inputs))
    return call(_copies(inputs))


def _rewritten(call: CallOnce, inputs: Sequence[Array]) -> Answer:
    """Call with other data first, and then with the right ones at the same addresses."""
    memory = [np.empty(max(1, array.nbytes), np.uint8) for array in inputs]
    answers = []
    for given in (_with_other_data(inputs), inputs):
        # views of their own: a backend may make its arguments read-only
        views = [np.ndarray(a.shape, a.dtype, m) for a, m in zip(given, memory, strict=True)]
        for view, array in zip(views, given, strict=True):
            view[...] = array
        answers.append(call(views))
    return answers[-1]


def _after_other_shapes(call: CallOnce, inputs: Sequence[Array]) -> Answer:
    """Call with a larger batch first, and with longer spatial axes, whatever becomes of these."""
    for longer in ((1, 0, 0), (0, 0, 1)):
        call([_enlarged(array, longer) for array in inputs])
    return call(_copies(inputs))


def _enlarged(array: Array, longer: tuple[int, int, int]) -> Array:
    """Return a tensor with a longer batch axis, channel axis or spatial axes."""
    if array.ndim < 2:
        return array.copy()
    shape = [d + longer[min(axis, 2)] for axis, d in enumerate(array.shape)]
    return np.resize(array, shape)


def _with_other_data(inputs: Sequence[Array]) -> list[Array]:
    """Return inputs of the same shapes and types, each tensor with its elements in reverse."""
    return [
        array.copy() if array.ndim < 2 else array.ravel()[::-1].reshape(array.shape).copy()
        for array in inputs
    ]


def _from_threads(call: CallOnce, inputs: Sequence[Array], *, count: int) -> Answer:
    """Call from some threads at once, every other one with other data.

    Returns an answer that no call alone has, if some thread had one. Two calls alone show answers
    that vary without threads.
    """
    alone, *others = (call(_copies(inputs)) for _ in range(2))
    known = [answer[:2] for answer in (alone, *others)]
    other = _with_other_data(inputs)
    differing: list[Answer] = []
    raised: list[BaseException] = []
    start = threading.Barrier(count + 1)

    def work(number: int) -> None:
        try:
            start.wait()
            for _ in range(_ROUNDS):
                answer = call(_copies(other if number % 2 else inputs))
                # not the text of an exception, which may hold an address
                if not number % 2 and answer[:2] not in known:
                    differing.append(answer)
        except BaseException as error:  # noqa: BLE001 - an interrupt: raised where it is awaited
            raised.append(error)

    threads = [
        # with what numpy and others keep per context, as in the thread that calls otherwise
        threading.Thread(target=copy_context().run, args=(work, number), daemon=True)
        for number in range(count)
    ]
    try:
        for thread in threads:
            thread.start()
    except BaseException:
        start.abort()  # those that have started wait for all
        raise
    with _switching_often():
        start.wait()
        for thread in threads:
            thread.join()
    if raised:
        raise raised[0]
    return differing[0] if differing else alone


@contextmanager
def _switching_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCHING)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def _without_a_batch(call: CallOnce, inputs: Sequence[Array]) -> Answer:
    """Call with the only entry of a batch, and return its outputs as a batch again."""
    answer = call(_copies(array[0] if array.ndim > 1 else array for array in inputs))
    batched = (output._replace(shape=(1, *output.shape)) for output in answer.outputs)
    return answer._replace(outputs=tuple(batched))


# Layouts --------------------------------------------------------------------------------------


def _laid_out(
    array: Array, strides: Strides, *, before: int = 0, shift: int = 0, writable: bool = True
) -> Array:
    """Return a copy of a tensor with some strides, in memory with as much again behind it.

    It begins about `before` times its own size after the beginning of the memory, and `shift`
    bytes more. What reads it as if it was contiguous there stays within the memory.
    """
    if array.ndim < 2 or not array.size:
        return array.copy()
    steps = strides(array)
    ends = [(d - 1) * step for d, step in zip(array.shape, steps, strict=True)]
    low, high = sum(min(0, end) for end in ends), sum(max(0, end) for end in ends)
    margin = -(-array.nbytes // _ALIGNED) * _ALIGNED
    first = before * margin + shift - low
    memory = np.full(first + high + array.itemsize + margin, _UNWRITTEN, np.uint8)
    view: Array = np.ndarray(array.shape, array.dtype, memory, first, steps)
    view[...] = array
    view.flags.writeable = writable
    return view


def _of_axes(order: Sequence[int], shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return the strides of an array of a shape whose axes lie in memory in some order."""
    sizes = [shape[axis] for axis in order]
    steps = dict(zip(reversed(order), accumulate([itemsize, *sizes[:0:-1]], mul), strict=True))
    return tuple(steps[axis] for axis in range(len(shape)))


def _contiguous(array: Array) -> tuple[int, ...]:
    return _of_axes(range(array.ndim), array.shape, array.itemsize)


def _channels_last(array: Array) -> tuple[int, ...]:
    return _of_axes((0, *range(2, array.ndim), 1), array.shape, array.itemsize)


def _fortran(array: Array) -> tuple[int, ...]:
    return _of_axes(range(array.ndim)[::-1], array.shape, array.itemsize)


def _negative(array: Array) -> tuple[int, ...]:
    return tuple(-step for step in _contiguous(array))


def _in_larger(array: Array) -> tuple[int, ...]:
    """Return the strides of a box in an array that is longer by one on each axis."""
    return _of_axes(range(array.ndim), [d + 1 for d in array.shape], array.itemsize)


def _broadcast(array: Array) -> tuple[int, ...]:
    """Return strides that are 0 along the axes on which several elements are the same."""
    bits = array.view(f"u{array.itemsize}")  # -0.0 is not 0.0
    return tuple(
        0 if array.shape[axis] > 1 and (bits == bits.take([0], axis)).all() else step
        for axis, step in enumerate(_contiguous(array))
    )


def _layout(
    name: str,
    strides: Strides,
    *,
    before: int = 0,
    shift: int = 0,
    writable: bool = True,
    least_item: int = 1,
    one_channel: bool = False,
) -> Variation:
    """Return the variation in which all tensors among the inputs have some strides.

    It changes nothing for element types of fewer than `least_item` bytes. Strides of axes with one
    entry count: engines take the layout from them, though numpy calls the array contiguous. Where
    several batches have `one_channel` each, such a layout is easily read wrong.
    """
    place = partial(_laid_out, strides=strides, before=before, shift=shift, writable=writable)

    def applies(data: Array) -> bool:
        if data.ndim < 2 or not data.size or data.itemsize < least_item:
            return False
        if one_channel and not (data.shape[0] > 1 == data.shape[1]):
            return False
        return strides is _contiguous or strides(data) != _contiguous(data)

    def perform(call: CallOnce, inputs: Sequence[Array]) -> Answer:
        return call([place(array) for array in inputs])

    return Variation(name, perform, applies, may_be_refused=True)


# All of them ----------------------------------------------------------------------------------

AGAIN = Variation("again", _again, lambda _: True)
"""After all other vectors, in another order."""

VARIATIONS: dict[str, Variation] = {
    variation.name: variation
    for variation in (
        AGAIN,
        Variation("twice", _twice),
        Variation("rewritten", _rewritten),
        Variation("after-other-shapes", _after_other_shapes),
        _layout("offset", _contiguous, before=1, shift=16),
        _layout("slice", _in_larger, before=1),
        _layout("channels-last", _channels_last),
        _layout("one-channel-last", _channels_last, one_channel=True),
        _layout("fortran", _fortran),
        _layout("negative-strides", _negative),
        _layout("broadcast", _broadcast),
        _layout("read-only", _contiguous, writable=False),
        _layout("unaligned", _contiguous, shift=1, least_item=2),
        *(
            Variation(
                f"threads-{count}",
                partial(_from_threads, count=count),
                sampled=sampled,
            )
            for count, sampled in ((2, 2), (8, 1))
        ),
        # Only where it is asked for: no vector says that there are such calls.
        Variation(
            "unbatched",
            _without_a_batch,
            lambda data: data.ndim > 1 and data.shape[0] == 1,
            may_be_refused=True,
            unbatched=True,
            sampled=0,
        ),
    )
}


def wanted_variations(wanted: Variations) -> tuple[str, ...] | None:
    """Return the names of the variations asked for, None for a sample of every file in all of them.

    A text may have several names with commas. Raises UsageError for a name that there is not.
    """
    names = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    if names == [SAMPLE]:
        return None
    if names == [NONE]:
        return ()
    if names == [ALL]:
        return tuple(VARIATIONS)
    for name in names:
        if name not in VARIATIONS:
            known = listed([*VARIATIONS, ALL, NONE, SAMPLE])
            raise UsageError(f"no variation {name!r} of a call; there are {known}")
    return tuple(dict.fromkeys(names))
