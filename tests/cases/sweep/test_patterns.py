"""Data patterns hold what their names promise, the same on every machine."""

import hashlib

import numpy as np

from conformance.cases.sweep.patterns import (
    AVERAGE_PATTERNS,
    MAXIMUM_PATTERNS,
    fill,
)
from conformance.dtypes import WIDE_FLOATS

SHAPE = (2, 5, 6, 7)
EVERY = sorted({*AVERAGE_PATTERNS, *MAXIMUM_PATTERNS} - {"extremes"})


def filled(pattern, name, shape=SHAPE, window_cells=6, key="key", seed=0):
    return fill(pattern, shape, name, window_cells=window_cells, key=key, seed=seed)


def test_data_do_not_change_between_versions():
    """The bytes of every pattern are pinned: ids and digests of the suite rest on them."""
    digest = hashlib.sha256()
    for pattern in EVERY:
        for name in WIDE_FLOATS:
            if (pattern, name) != ("overflow", "bfloat16"):
                digest.update(filled(pattern, name).tobytes())
    assert digest.hexdigest()[:16] == "3ab5d96564488763"


def test_another_key_or_seed_gives_other_data():
    """Cases do not share their random data by accident."""
    first = filled("normals", "float32")
    assert not np.array_equal(first, filled("normals", "float32", key="other"))
    assert not np.array_equal(first, filled("normals", "float32", seed=1))


def test_empty_shapes_are_filled_with_nothing():
    """A size of zero gives an empty array."""
    assert filled("normals", "float32", (0, 3, 4)).size == 0
