"""The digest of a wrong answer: the same for answers that no document tells apart."""

import ml_dtypes
import numpy as np
import pytest
from support.fakes import only, pool, ramp, vector

from conformance.dtypes import FLOATS, dtype_of

SHAPE = (1, 1, 3)


def digest(values, dtype="float32", case=None):
    """Return the digest of an answer to a case whose right answer is another."""
    answer = np.asarray(values).astype(dtype_of(dtype))
    case = case or vector(ramp(1, 1, 6, dtype=dtype))
    return only(lambda *_: answer, case).answer


def with_nothing_in_a_window():
    """Return a case whose last average is of no cell."""
    return vector(ramp(1, 1, 4), pool(pads_end=[2], kernel=[2]))


def test_it_is_twelve_digits_of_what_was_returned():
    """The same each time."""
    found = digest(np.zeros(SHAPE))
    assert len(found) == 12
    assert found == digest(np.zeros(SHAPE))


@pytest.mark.parametrize("other", [np.full(SHAPE, 7.5), np.full((1, 1, 2), 7.0)])
def test_other_values_and_shapes_have_another(other):
    assert digest(np.full(SHAPE, 7.0)) != digest(other)


def test_another_type_has_another():
    case = vector(ramp(1, 1, 6))
    assert digest(np.full(SHAPE, 7.0), "float64", case) != digest(np.full(SHAPE, 7.0), case=case)


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_are_alike_and_so_are_nan(dtype):
    """Machines differ in the sign of either, and in the bits of NaN."""
    zeros, signed = np.array([[[9.0, 0.0, np.nan]]]), np.array([[[9.0, -0.0, -np.nan]]])
    assert digest(zeros, dtype) == digest(signed, dtype)


def test_what_is_undefined_does_not_matter():
    """It may be what was in memory."""
    case = with_nothing_in_a_window()
    assert digest([[[7, 8, 1]]], case=case) == digest([[[7, 8, 2]]], case=case)
    assert digest([[[7, 8, 1]]], case=case) != digest([[[7, 9, 1]]], case=case)


@pytest.mark.parametrize(
    ("backend", "attributes"),
    [
        (lambda *_: 1 / 0, pool()),
        (lambda *_: "text", pool()),
        (lambda *_: np.array([[[1.5, 3.5, 5.5]]], np.float32), pool()),
        (lambda *_: np.zeros(SHAPE, np.float32), pool(kernel=[0])),
    ],
)
def test_only_a_mismatch_of_arrays_has_one(backend, attributes):
    """Not an exception, what is no array, what conforms, or a result of an invalid case."""
    assert only(backend, vector(attributes=attributes)).answer == ""


def test_a_type_that_no_document_has_goes_by_its_name():
    odd = np.zeros(SHAPE, ml_dtypes.float8_e3m4)
    assert only(lambda *_: odd, vector()).answer != digest(np.zeros(SHAPE))
