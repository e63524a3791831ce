"""The sound backends are right, each in its own way."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from cases import INVALID, OPERATORS, cases, noise, pooling, worst_share
from hypothesis import assume, given, settings
from oracle import FORMATS, WholeCaseUndefined, array, oracle
from sound import SOUND, Sound

BY_NAME = dict(SOUND)
NAN, INF = np.nan, np.inf


def outputs(case):
    """Yield each sound backend, its output, and what the oracle says under its readings.

    Backends that may refuse the case are left out where they do.
    """
    operator, inputs, attributes = case

    @functools.cache
    def expected(readings):
        return oracle(operator, inputs, attributes, dict(readings))

    for name, backend in SOUND:
        result = expected(tuple(backend.readings.items()))
        try:
            got = backend(operator, inputs, attributes)
        except ValueError:
            assert backend.refuses_wide_pads or result.undefined.any()
            continue
        assert (got.dtype, got.shape) == (result.expected.dtype, result.expected.shape), name
        yield backend, got, result


def defined(case):
    """Give up a case that is undefined as a whole."""
    try:
        oracle(*case)
    except WholeCaseUndefined:
        assume(False)


def differing(got, result, where):
    """Return the elements out of `where` that differ, got beside expected."""
    got, expected = got[where].astype(np.float64), result.expected[where].astype(np.float64)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    return list(zip(got[~same], expected[~same], strict=True))


@settings(max_examples=120)
@given(cases())
def test_integers_divided_by_powers_of_two(case):
    """Where nothing rounds, every sound backend gives the exact value."""
    defined(case)
    for backend, got, result in outputs(case):
        exact = ~result.undefined & ((result.divisor & (result.divisor - 1)) == 0)
        assert not differing(got, result, exact), backend.name


@settings(max_examples=100)
@given(cases([name for name in OPERATORS if name != "MaxPool-1"], fill=noise))
def test_averages_of_noise(case):
    """On any data every sound backend stays within what its roundings explain."""
    defined(case)
    for backend, got, result in outputs(case):
        share = worst_share(got, result, case[1][0].ndim - 2, flushes=backend.flush != "nothing")
        assert share <= 1, backend.name


@settings(max_examples=120)
@given(cases(["MaxPool-1"], [*FORMATS, "int8", "uint8", "int32", "int64", "uint64"]))
def test_maxima(case):
    """A maximum is exact in every type."""
    defined(case)
    for backend, got, result in outputs(case):
        assert not differing(got, result, ~result.undefined), backend.name


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
def test_special_values(operator, dtype):
    """NaN and infinities come out the same in every order."""
    data = array([[[1, NAN, INF, INF, -INF, -INF, 2, NAN, NAN, 3]]], dtype)
    given = pooling([2]) | ({"exclude_pad": True} if operator == "AvgPool-1" else {})
    for backend, got, result in outputs((operator, [data], given)):
        assert not differing(got, result, ~result.undefined), backend.name


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
