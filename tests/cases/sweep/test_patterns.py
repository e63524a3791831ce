"""Data patterns hold what their names promise, the same on every machine."""

import hashlib

import numpy as np
import pytest

from conformance.cases.sweep.patterns import (
    AVERAGE_PATTERNS,
    FURTHER_PATTERNS,
    MAXIMUM_PATTERNS,
    OF_INTEGERS,
    SPECIAL_PATTERNS,
    fill,
)
from conformance.dtypes import FLOATS, FLOATS8, INTEGERS, WIDE_FLOATS, dtype_of, float_format
from conformance.reference.rounding import narrow, widen

SHAPE = (2, 5, 6, 7)
EVERY = sorted({*AVERAGE_PATTERNS, *MAXIMUM_PATTERNS} - {"extremes"})


def filled(pattern, name, shape=SHAPE, window_cells=6, key="key", seed=0):
    return fill(pattern, shape, name, window_cells=window_cells, key=key, seed=seed)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("pattern", [*EVERY, *SPECIAL_PATTERNS, *FURTHER_PATTERNS])
def test_every_pattern_fills_every_float_type(pattern, name):
    """A pattern gives an array of the asked shape and type."""
    data = filled(pattern, name)
    assert (data.shape, data.dtype) == (SHAPE, dtype_of(name))


@pytest.mark.parametrize("name", [n for n in INTEGERS if n in {"int8", "uint8", "int32", "int64"}])
@pytest.mark.parametrize("pattern", OF_INTEGERS)
def test_every_integer_pattern_fills_every_integer_type(pattern, name):
    """An integer pattern gives an array of the asked shape and type."""
    data = filled(pattern, name)
    assert (data.shape, data.dtype) == (SHAPE, dtype_of(name))


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


@pytest.mark.parametrize("pattern", ["normals", "impulses", "integers", "index", "lossy"])
@pytest.mark.parametrize("distance", [1, 4, 8, 16, 32, 256])
def test_channels_a_register_apart_differ(pattern, distance):
    """A channel read modulo a vector width, or modulo 256, is seen."""
    data = filled(pattern, "float32", (1, 264, 5, 6))
    same = [np.array_equal(data[0, c], data[0, c + distance]) for c in range(264 - distance)]
    assert not any(same)


@pytest.mark.parametrize("pattern", ["normals", "impulses", "integers", "index", "lossy"])
def test_batches_differ(pattern):
    """The batch index cannot be lost unseen."""
    data = filled(pattern, "float32", (3, 2, 5, 6))
    assert not np.array_equal(data[0], data[1])
    assert not np.array_equal(data[1], data[2])


@pytest.mark.parametrize(("name", "down"), [("float64", "float32"), ("float32", "bfloat16")])
def test_lossy_numbers_do_not_survive_a_narrower_type(name, down):
    """No number of the pattern is representable one type down."""
    data = widen(filled("lossy", name))
    assert not (widen(narrow(data, down)) == data).any()


@pytest.mark.parametrize("name", [name for name in FLOATS if name != "bfloat16"])
def test_overflow_overflows_sums_but_not_numbers(name):
    """Each number is finite; the sum of any three is beyond the type."""
    data = np.sort(widen(filled("overflow", name)).ravel() / 4)
    largest = float_format(name).largest / 4
    assert data[-1] <= largest
    assert data[:3].sum() > largest


@pytest.mark.parametrize("name", FLOATS)
def test_large_numbers_never_overflow_a_window(name):
    """The sum of the magnitudes of a whole window stays finite."""
    window_cells = 27
    data = np.abs(widen(filled("large", name, window_cells=window_cells)))
    assert data.max() * window_cells < float_format(name).largest / 2


def test_impulses_are_sparse_and_at_every_corner():
    """Most cells are zero; each corner of each plane is not."""
    data = filled("impulses", "float16", (2, 3, 20, 21), window_cells=9)
    assert (data != 0).mean() < 0.2
    assert (data[:, :, [0, 0, -1, -1], [0, -1, 0, -1]] != 0).all()


def test_nan_stands_at_every_place_of_a_window():
    """Over a row of windows of three, NaN comes first, in the middle and last."""
    data = filled("nan", "float32", (1, 1, 200), window_cells=3)
    windows = np.lib.stride_tricks.sliding_window_view(np.isnan(data[0, 0]), 3)
    assert windows.any(axis=0).all()
    assert windows.sum(axis=1).max() == 1


def test_unsigned_negatives_are_above_the_sign_bit():
    """A signed comparison of unsigned numbers shows."""
    assert (filled("negative", "uint8") > 127).all()


def test_extremes_hold_the_ends_of_the_type_and_their_neighbours():
    """int64 extremes are not representable as doubles."""
    data = filled("extremes", "int64")
    ends = np.iinfo(np.int64)
    assert {ends.max, ends.max - 1, ends.min, ends.min + 1} <= set(data.ravel().tolist())


def test_empty_shapes_are_filled_with_nothing():
    """A size of zero gives an empty array."""
    assert filled("normals", "float32", (0, 3, 4)).size == 0


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64", "int8", "uint8"])
@pytest.mark.parametrize("distance", [1, 2, 3, 8, 255, 256, 1024, 32768, 65536])
def test_names_tell_a_cell_from_those_that_are_taken_for_it(name, distance):
    """An index off by one, or without its upper bits, shows in every element type."""
    data = filled("names", name, (1, 1, 70_000)).ravel()
    assert (data[distance:] != data[:-distance]).all()


@pytest.mark.parametrize("at", [0, -1])
def test_edges_show_cells_that_a_long_window_loses(at):
    """In a sum and in a maximum: in some plane the cell at the end counts most."""
    data = filled("edges", "float32", (1, 3, 5000), window_cells=5000)
    less = np.delete(data, at, axis=2)
    assert (data.sum(2) != less.sum(2)).any()
    assert (data.max(2) != less.max(2)).any()
    assert np.count_nonzero(data, axis=2).max() < 25


@pytest.mark.parametrize("name", WIDE_FLOATS)
def test_nan_has_both_signs_and_many_payloads(name):
    """All of them quiet; in the first, middle and last cell of every plane."""
    data = filled("nan-encodings", name, (2, 5, 30, 31), window_cells=4)
    bits = data.view(f"u{data.itemsize}")[np.isnan(data)]
    sign = 8 * data.itemsize - 1
    assert set((bits >> sign).tolist()) == {0, 1}
    assert len(set(bits.tolist())) >= 8
    quiet = 1 << (float_format(name).precision - 2)
    assert ((bits & quiet) != 0).all()
    assert {0, quiet - 1} <= set((bits & (quiet - 1)).tolist())
    planes = data.reshape(10, -1)
    assert np.isnan(planes[:, [0, planes.shape[1] // 2, -1]]).all()


def test_infinities_and_zeros_have_both_signs():
    """In the first, middle and last cell of every plane, and elsewhere."""
    infinities = filled("infinities", "float32").reshape(10, -1)
    assert np.isinf(infinities[:, [0, 21, -1]]).all()
    assert {-np.inf, np.inf} <= set(infinities.ravel().tolist())
    zeros = filled("signed-zeros", "float16")
    assert set(np.signbit(zeros[zeros == 0]).tolist()) == {False, True}
    assert (zeros <= 0).all()


@pytest.mark.parametrize("name", WIDE_FLOATS)
def test_contrasts_are_one_number_a_window_and_far_apart(name):
    """Some number of a plane is above the root of the range, and some below its inverse."""
    data = np.abs(widen(filled("contrasts", name, (1, 7, 8, 9), window_cells=9)))
    root = float_format(name).largest ** 0.5
    for plane in data.reshape(7, -1):
        assert np.count_nonzero(plane) == 8
        assert plane.max() > root
        assert plane[plane > 0].min() < 1 / root


def test_numbers_near_the_largest_are_finite_and_their_norms_are_not():
    """Two of them have a 3-norm beyond the range."""
    for name in WIDE_FLOATS:
        data = np.abs(widen(filled("near-largest", name))) / float_format(name).largest
        assert data.max() < 1
        assert data.min() * 2 ** (1 / 3) > 1.1


@pytest.mark.parametrize("name", FLOATS8)
def test_codes_are_every_finite_number_of_8_bits(name):
    """Subnormal numbers, the ends of the range and zeros of both signs are among them."""
    every = np.arange(256, dtype=np.uint8).view(dtype_of(name))
    finite = set(every[np.isfinite(widen(every))].tobytes())
    assert set(filled("codes", name, (1, 1, 16, 16)).tobytes()) == finite


@pytest.mark.parametrize(
    ("name", "codes"), [("float8_e4m3fn", {0x7F}), ("float8_e5m2", {0x7E, 0x7F})]
)
def test_nan_of_8_bits_has_both_signs_and_the_payloads_that_there_are(name, codes):
    """Of float8_e4m3fn there is one; of float8_e5m2, quiet ones alone."""
    data = filled("nan-encodings", name, (2, 5, 30, 31), window_cells=4)
    assert set(data[np.isnan(data)].tobytes()) == codes | {code | 0x80 for code in codes}
