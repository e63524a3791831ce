"""The ncnn backend against the oracle, and what it does not support or must not try."""

import numpy as np
import pytest
from support.engines import assert_equals_oracle, counts_pads
from support.random_cases import pooling

from conformance.errors import Unsupported

pytest.importorskip("ncnn")

from conformance.backends.engines import ncnn_backend
from conformance.backends.engines.ncnn_backend import backend

pytestmark = pytest.mark.needs_engine("ncnn")

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)
READINGS = {"overhang-divisor": "whole-kernel"}


def known(attributes, inputs):
    """Say whether ncnn counts cells wrongly, or pads the depth at the wrong end."""
    mode = attributes.get("auto_pad", "explicit")
    same = mode.startswith("same")
    if counts_pads(attributes):
        return attributes.get("rounding_type") == "ceil" or (mode == "same_lower")
    averages = "exclude_pad" in attributes
    return same and (averages or (mode == "same_lower" and inputs[0].ndim == 5))


@pytest.mark.parametrize(
    "operator", ["AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool"]
)
def test_equals_the_oracle_on_integers(operator):
    """Shapes, windows and divisors are those of the documents under the readings of ncnn."""
    assert_equals_oracle(backend, operator, readings=READINGS, known=known, factor=0.5)


def test_packed_channels():
    """Eight channels go through the packed kernels, and each is pooled by itself."""
    data = np.arange(64, dtype=np.float32).reshape(1, 8, 8)
    assert backend("MaxPool-1", [data], pooling([8])).ravel().tolist() == [
        7, 15, 23, 31, 39, 47, 55, 63
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("operator", "shape", "given", "reason"),
    [
        ("MaxPool-1", (1, 1, 4), pooling([6], pads_begin=[1]), "kernel 6 on an axis of 4"),
        (
            "MaxPool-1",
            (1, 1, 8, 96),
            pooling([3, 4], [3, 6], auto_pad="same_upper"),
            r"pads of \[1, -2\]",
        ),
        ("MaxPool-1", (1, 1, 4), pooling([2], pads_end=[-1]), "a negative pad"),
        ("AdaptiveAvgPool-8", (1, 4, 6, 6), {}, "4 channels"),
        ("AdaptiveAvgPool-8", (1, 1, 70001), {}, "40009"),
    ],
)
def test_what_would_crash(operator, shape, given, reason):
    """Cases that take ncnn's process down do not reach it."""
    size = [2, 2] if len(shape) == 4 else [40009]
    inputs = [np.ones(shape, np.float32), np.array(size)][: 1 + (operator != "MaxPool-1")]
    with pytest.raises(Unsupported, match=f"{reason}.*crash"):
        backend(operator, inputs, given)


def test_what_ncnn_cannot_say():
    """Other element types, more axes and other operators are unsupported."""
    with pytest.raises(Unsupported, match="float16"):
        backend("MaxPool-1", [ROW.astype(np.float16)], pooling([2]))
    for axes in (0, 4):
        with pytest.raises(Unsupported, match=f"{axes} spatial axes"):
            backend("nGraph-AvgPool", [np.ones((1, 1) + (1,) * axes)], {"window_shape": [1] * axes})
    with pytest.raises(Unsupported, match="SumPool-1"):
        backend("SumPool-1", [ROW], {})


def test_what_ncnn_would_take_for_something_else():
    """A number too few is its default, one too many is ignored, and -233 is the input's size."""
    for change in ({"kernel": [2, 2]}, {"strides": []}):
        with pytest.raises(Unsupported, match="a parameter for each axis"):
            backend("MaxPool-1", [ROW], pooling([2]) | change)
    for size in ([2, 2], [2.0], [-233]):
        with pytest.raises(Unsupported, match=r"output_size|-233"):
            backend("AdaptiveAvgPool-8", [ROW, np.array(size)], {})


@pytest.mark.parametrize("change", [{"strides": [0]}, {"kernel": [0]}, {"kernel": [-2]}], ids=str)
def test_invalid_attributes_raise(change):
    """Ncnn refuses what the document does not allow."""
    with pytest.raises(ValueError, match="ncnn refuses"):
        backend("MaxPool-1", [ROW], pooling([2]) | change)


def test_a_negative_output_size_is_refused():
    """By ncnn itself."""
    with pytest.raises(ValueError, match="ncnn refuses"):
        backend("AdaptiveAvgPool-8", [ROW, np.array([-1])], {})


def test_networks_are_made_once():
    """A second call with the same attributes takes the network there is, in any shape."""
    given = pooling([3], [2])
    backend("MaxPool-1", [ROW], given)
    made = ncnn_backend._net.cache_info().misses
    assert backend("MaxPool-1", [np.concatenate([ROW, ROW + 1], axis=2)], given).size == 3
    assert ncnn_backend._net.cache_info().misses == made
