"""Small backends that are right in a plain call and wrong in another, and odd sound ones."""

import threading
import time

import numpy as np

from conformance.backends import load_backend

right = load_backend("numpy")


def _memory(array):
    """Return all the memory that an array is a view of, and where it begins there, in bytes."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    flat = root.reshape(-1).view(np.uint8)
    return flat, array.ctypes.data - root.ctypes.data


def _read(array, start, strides):
    """Return an array read from the same memory in another way; beyond its end it begins anew."""
    flat, _ = _memory(array)
    cells = np.indices(array.shape).reshape(array.ndim, -1)
    places = start + sum(cells[axis] * step for axis, step in enumerate(strides))
    places = places[:, np.newaxis] + np.arange(array.itemsize)
    return flat[places % flat.size].copy().view(array.dtype).reshape(array.shape)


def _contiguous(array):
    return np.empty(array.shape, array.dtype).strides


def _reading(read):
    """Return a backend that reads its tensors in its own way."""

    def backend(operator, inputs, attributes):
        own = [read(a) if a.ndim > 1 and a.size else a for a in inputs]
        return right(operator, own, attributes)

    return backend


def _negative(result):
    """Return an output, or several, with other values."""
    return tuple(map(_negative, result)) if isinstance(result, tuple) else -result - 1


def _kept_by_address():
    kept = {}

    def backend(operator, inputs, attributes):
        data = inputs[-1] if inputs[-1].ndim > 1 else inputs[0]
        memory = _memory(data)[0]
        key = memory.ctypes.data, str(attributes), operator
        # The memory is kept, too: its address is nobody else's then.
        return kept.setdefault(key, (right(operator, inputs, attributes), memory))[0]

    return backend


def _left_by_other_shapes():
    """Use what the last call made, if it was the same but for axes that were longer by one."""
    last = [()]

    def backend(operator, inputs, attributes):
        result = right(operator, inputs, attributes)
        shape = inputs[0].shape
        said = (operator, str(attributes), str(inputs[0].dtype), *(d + 1 for d in shape[2:]))
        stale, last[0] = said == last[0], (*said[:3], *shape[2:])
        return _negative(result) if stale else result

    return backend


def _right_once():
    """Forget to clear what the same call has written before."""
    last = [b""]

    def backend(operator, inputs, attributes):
        result = right(operator, inputs, attributes)
        said = b"".join(array.tobytes() for array in inputs) + str(attributes).encode()
        repeated, last[0] = said == last[0], said
        return _negative(result) if repeated else result

    return backend


def _sharing(lock):
    """Keep the input of a call in a buffer that all threads share, behind a lock or not."""
    shared = {}

    def backend(operator, inputs, attributes):
        with lock:
            shared["inputs"] = inputs
            time.sleep(1e-4)
            return right(operator, shared["inputs"], attributes)

    return backend


class NoLock:
    """A lock that locks nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


WRONG = {
    "strides ignored": (
        lambda: _reading(lambda a: _read(a, _memory(a)[1], _contiguous(a))),
        "strides of inputs are ignored",
    ),
    "offset ignored": (
        lambda: _reading(lambda a: _read(a, 0, a.strides)),
        "offsets of inputs are ignored",
    ),
    "both ignored": (
        lambda: _reading(lambda a: _read(a, 0, _contiguous(a))),
        "offsets and strides of inputs are ignored",
    ),
    "kept by address": (_kept_by_address, "results are kept by the addresses of inputs"),
    "left by other shapes": (_left_by_other_shapes, "state that calls with other shapes leave"),
    "right once": (_right_once, "state that the same call leaves"),
    "buffer shared by threads": (
        lambda: _sharing(NoLock()),
        "calls from several threads disturb each other",
    ),
}
"""What makes each backend, and what a report is to say of it."""


def _refusing(operator, inputs, attributes):
    if not all(array.flags.c_contiguous and array.flags.aligned for array in inputs):
        raise ValueError("only contiguous arrays")
    return right(operator, inputs, attributes)


def _writing(operator, inputs, attributes):
    result = right(operator, inputs, attributes)
    for array in inputs:
        if array.flags.writeable:
            array.fill(0)
    return result


def _strided(operator, inputs, attributes):
    result = right(operator, inputs, attributes)
    if isinstance(result, tuple):
        return tuple(map(np.asfortranarray, result))
    return np.asfortranarray(result)


SOUND = {
    "refuses layouts": lambda: _refusing,
    "writes to its inputs": lambda: _writing,
    "returns views": lambda: _strided,
    "locks its buffer": lambda: _sharing(threading.Lock()),
}
