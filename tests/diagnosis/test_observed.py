"""Where wrong elements lie, in words."""

import numpy as np
import pytest
from support.fakes import pool, ramp, vector

from conformance.diagnosis.laboratory import samples_from
from conformance.diagnosis.observed import where_wrong
from conformance.diagnosis.sample import Sample

PLANE = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [1, 1], "pads_end": [0, 0]}


def wrong_at(*index, shape=(1, 5, 4, 4)):
    """Return what a backend makes of a vector that is right but at an index."""
    case = vector(ramp(*shape) / 3, pool(**PLANE))
    output = case.values[0].outputs[0].values.copy()
    output[index] += 7
    (failure,) = samples_from([(case, (output,))])
    return failure


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ((...,), "every element is wrong"),
        ((..., -1), "wrong only in the last column"),
        ((..., 0, slice(None)), "wrong only in the first row"),
        ((..., -1, -1), "wrong only in the last column and in the last row"),
        ((slice(None), slice(4, None)), "wrong only in channels from 4 on"),
        ((..., [0, -1]), "wrong only in the first column or the last column"),
        (
            (..., [0, 0, 1], [0, 1, 0]),
            (
                "wrong only in windows that reach out of the input along some axis "
                "and in columns before the last"
            ),
        ),
    ],
)
def test_a_place_that_all_wrong_elements_share_is_named(index, words):
    """The narrowest first; another if it says more."""
    assert where_wrong([wrong_at(*index), wrong_at(*index, shape=(2, 5, 3, 6))]) == words


def test_places_of_different_failures_may_have_nothing_in_common():
    """Which is said, too."""
    failures = [wrong_at(0, 0, 0, 0), wrong_at(0, 4, 3, 3), wrong_at(0, 2, 1, 2)]
    assert where_wrong(failures) == (
        "about 1% of the elements are wrong, in no place common to all"
    )


def test_an_output_of_another_shape_has_no_places():
    """Nor has an exception."""
    case = wrong_at(0).vector
    failures = [
        Sample(case, outputs, failed=True) for outputs in ((np.zeros((1, 2), np.float32),), None)
    ]
    assert where_wrong(failures) == ""
