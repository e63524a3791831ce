"""Elements and arrays as Python text: they make the same bits again."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.literals import array_expression, exact


def evaluated(array):
    """Return the array that the expression of another makes."""
    begin, elements, end = array_expression(array)
    return eval(f"{begin}{', '.join(elements)}{end}", {"np": np, "ml_dtypes": ml_dtypes})


@given(st.sampled_from(FLOATS), st.integers(0, 2**64 - 1))
def test_exact_reads_back_as_the_same_element(dtype, bits):
    """The decimal of any element is the element again, sign of zero included."""
    width = dtype_of(dtype).itemsize
    element = np.array(bits % 2 ** (8 * width), f"u{width}").view(dtype_of(dtype))[()]
    again = np.array(eval(exact(element, dtype), vars(np)), dtype_of(dtype))[()]
    with np.errstate(invalid="ignore"):  # bfloat16 warns of some NaNs
        nan = bool(np.isnan(element))
    if nan:
        assert np.isnan(again)
    else:
        assert again.tobytes() == element.tobytes()


def test_exact_writes_whole_numbers_plainly():
    """A half-precision 7504 is not 7.504e+03."""
    assert exact(np.float16(7504), "float16") == "7504"


@given(st.sampled_from((*FLOATS, *INTEGERS)), st.integers(0, 2**32), st.integers(0, 20))
def test_an_expression_is_the_array_bit_for_bit(dtype, seed, size):
    """Special values, signed zeros and every element type survive; NaNs stay NaN."""
    width = dtype_of(dtype).itemsize
    bits = np.random.default_rng(seed).integers(
        0, 2 ** (8 * width), 2 * size, f"u{width}", endpoint=False
    )
    array = bits.view(dtype_of(dtype)).reshape(1, -1, 2)
    again = evaluated(array)
    assert (again.shape, again.dtype) == (array.shape, array.dtype)
    with np.errstate(invalid="ignore"):  # bfloat16 warns of some NaNs
        number = array == array  # noqa: PLR0124 - false for NaN alone
        assert (again[~number] != again[~number]).all()
    assert again[number].tobytes() == array[number].tobytes()


def test_a_signalling_nan_of_bfloat16_warns_of_nothing():
    """As numbers drawn by bits may be; a comparison of such warns on some machines."""
    array = np.array([0x7F81, 0xFF81, 0x3F80], np.uint16).view(dtype_of("bfloat16"))
    assert np.isnan(evaluated(array)[:2].astype(np.float32)).all()


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros((1, 0, 2), np.int8), "np.zeros((1, 0, 2), np.int8)"),
        (np.array(3.5, np.float32), "np.array(3.5, np.float32)"),
        (np.full((1, 2), -0.0), "np.full((1, 2), -0.0, np.float64)"),
        (np.float16([[1, 2], [3, 4]]), "np.arange(1, 5).reshape(2, 2).astype(np.float16)"),
        (np.int8([[[1, 2]], [[3, 5]]]), "np.array([[[1, 2]], [[3, 5]]], np.int8)"),
    ],
)
def test_an_expression_is_as_short_as_its_array_allows(array, text):
    """Alike elements and ramps are not written out; nested lists show the shape."""
    begin, elements, end = array_expression(array)
    assert f"{begin}{', '.join(elements)}{end}" == text
    assert evaluated(array).tobytes() == array.tobytes()
    assert (evaluated(array).shape, evaluated(array).dtype) == (array.shape, array.dtype)
