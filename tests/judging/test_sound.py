"""The sound backends are right, each in its own way."""

import numpy as np
import pytest
from support.oracle import array
from support.random_cases import INVALID, noise, pooling
from support.sound import SOUND, Sound

BY_NAME = dict(SOUND)
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("change", INVALID.values(), ids=INVALID)
def test_invalid_attributes_raise(change):
    """Every sound backend refuses what the document does not allow."""
    given = pooling([2], exclude_pad=True) | change
    for _, backend in SOUND:
        with pytest.raises(ValueError, match=r"."):
            backend("AvgPool-1", [np.ones((1, 1, 3), np.float32)], given)


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


def test_undefined_elements_may_raise():
    """One backend refuses a case with an undefined element."""
    given = pooling([1], pads_begin=[1])
    with pytest.raises(ValueError, match="holds nothing"):
        BY_NAME["undefined elements raise"]("MaxPool-1", [array([[[2]]])], given)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name.endswith("rejected")])
def test_wide_pads_are_refused(name):
    """Pads as large as the kernel are refused, smaller ones are not."""
    data = [array([[[1, 2, 3]]])]
    with pytest.raises(ValueError, match="smaller than the kernel"):
        BY_NAME[name]("MaxPool-1", data, pooling([2], pads_end=[2]))
    assert BY_NAME[name]("MaxPool-1", data, pooling([2], pads_end=[1])).tolist() == [[[2, 3, 3]]]


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


def test_element_type_sums_overflow():
    """A sum in float16 passes 65504 where one in float32 does not."""
    data = [array([[[65504, 65504]]], "float16")]
    values = {
        name: BY_NAME[name]("nGraph-AvgPool", data, {"window_shape": [2]}).item()
        for name in ("sequential sum in the element type", "sequential sum in float32")
    }
    assert list(values.values()) == [INF, 65504]


def test_every_zero_can_be_negative():
    """Zero has no sign that the documents speak of."""
    got = BY_NAME["every zero is -0"]("MaxPool-1", [array([[[0, 1]]])], pooling([1]))
    assert np.signbit(got).tolist() == [[[True, False]]]


def test_names_are_unique():
    """Each backend is odd in a way of its own."""
    assert len(BY_NAME) == len(SOUND)
