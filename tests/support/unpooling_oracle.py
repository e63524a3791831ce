"""A slow oracle of unpooling: plain loops, written from the documents alone.

It shares no code with the package, so that a mistake there cannot hide here.
"""

import itertools
import math

import numpy as np


def inferred_sizes(sizes, kernel, strides, begins, ends):
    """Return the size of each axis as the documents infer it."""
    axes = zip(sizes, kernel, strides, begins, ends, strict=True)
    return [(d - 1) * s + k - begin - end for d, k, s, begin, end in axes]


def values_by_cell(data, indices, sizes, inferred, *, whole, reading):
    """Return, by place in the output of `sizes`, the values that go there, the last one last.

    Indices count the `whole` tensor or each plane of it, in the output or, under the reading
    "inferred", in the inferred size. None where an index is of no cell.
    """
    space = [max(0, size) for size in inferred] if reading == "inferred" else sizes
    shape = [*data.shape[:2], *space]
    counted = shape if whole else shape[2:]
    found = {}
    for place in itertools.product(*map(range, data.shape)):
        number = int(indices[place])
        if not 0 <= number < math.prod(counted):
            return None
        target = []
        for length in reversed(counted):
            number, at = divmod(number, length)
            target.insert(0, at)
        target = target if whole else [*place[:2], *target]
        found.setdefault(tuple(target), []).append(data[place])
    return found


def bits(value):
    """Return the bytes of a number."""
    return np.asarray(value).tobytes()
