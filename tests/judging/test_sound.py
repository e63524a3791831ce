"""The sound backends are right, each in its own way."""

import numpy as np
import pytest
from support.oracle import array
from support.random_cases import noise, pooling
from support.sound import SOUND, Sound

BY_NAME = dict(SOUND)
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("style", "left"),
    [("nan", NAN), ("inf", INF), ("zero", 0.0), ("minus-zero", -0.0), ("lowest", -65504.0)],
)
@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
def test_undefined_elements(operator, style, left):
    """Each style leaves its own value where a window holds nothing."""
    given = pooling([1], pads_begin=[1]) | (
        {"exclude_pad": True} if operator == "AvgPool-1" else {}
    )
    got = Sound("", undefined=style)(operator, [array([[[2]]], "float16")], given)
    np.testing.assert_array_equal(got, array([[[left, 2]]], "float16"))
    assert np.signbit(got[0, 0, 0]) == np.signbit(left)


def test_subnormals_are_flushed_where_the_name_says():
    """At the inputs, in the results, or everywhere."""
    normal = 2.0**-14  # the smallest normal float16
    data = [array([[[normal, normal / 2, normal, 0]]], "float16")]
    given = {"window_shape": [2]}
    flushed = {
        flush: Sound("", flush=flush)("nGraph-AvgPool", data, given)[0, 0].tolist()
        for flush in ("nothing", "inputs", "results", "everything")
    }
    assert flushed == {
        "nothing": [normal * 3 / 4, normal * 3 / 4, normal / 2],
        "inputs": [normal / 2] * 3,
        "results": [0, 0, 0],
        "everything": [0, 0, 0],
    }


def test_the_orders_of_summation_differ():
    """On noise no two ways to average in the element type agree everywhere."""
    data = [noise((1, 200, 6, 6), "float16", 1)]
    given = {"window_shape": [6, 6]}
    names = [name for name in BY_NAME if name.endswith("in the element type")]
    results = {BY_NAME[name]("nGraph-AvgPool", data, given).tobytes() for name in names}
    # a half type is emulated exactly, so fusing shows too
    assert len(results) == len(names) == 13
