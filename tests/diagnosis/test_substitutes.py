"""What stands in wrong elements in place of the right values."""

import numpy as np
import pytest
from support.fakes import pool, vector
from support.samples import sample

from conformance.diagnosis.elements import layout_of
from conformance.diagnosis.substitutes import Instead, instead_of

PLANE = {"kernel": [2, 3], "strides": [1, 2], "pads_begin": [1, 0], "pads_end": [1, 1]}


def made(alter, operator="AvgPool-1", dtype="float32", *shapes):
    """Return samples of planes whose cells are all different."""
    rng = np.random.default_rng(0)
    found = []
    for shape in shapes or [(2, 5, 6, 7), (3, 4, 5, 8)]:
        data = rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype) / 7
        given = pool(operator, **PLANE)
        if operator == "AvgPool-1":
            given["exclude_pad"] = False
        found.append(sample(vector(data.astype(dtype), given, operator=operator), alter))
    assert all(each.failed for each in found)
    return found


def put(value):
    def alter(_vector, output):
        output[:, 2:] = value

    return alter


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (put(0), "zero"),
        (put(np.nan), "NaN"),
        (put(-np.inf), "minus infinity"),
        (put(2.5), "the constant 2.5"),
        (put(-np.finfo("float32").max), "the constant -3.40282e+38"),
    ],
)
def test_what_comes_instead_is_named(alter, words):
    """Where it is true of every wrong element."""
    found = instead_of(made(alter))
    assert found is not None
    assert found.words == words


def test_what_is_not_true_of_all_is_not_named():
    """Nor is anything made up for random values, or where nothing is wrong."""

    def half(_vector, output):
        output[:, 2] = 0
        output[:, 3:] += 7

    rng = np.random.default_rng(0)
    assert instead_of(made(half)) is None
    assert instead_of(made(lambda _v, output: output + rng.random(output.shape, "f"))) is None
    assert instead_of([]) is None


def test_it_says_where_it_does_not_show():
    """Where the right value is the same, an element that is right is no contradiction."""
    data = np.array([[[0.0, 0.0, 3.0, 5.0]]], np.float32)
    taken = sample(vector(data, pool()), lambda _v, output: -output)
    other = sample(vector(data * 2, pool()), lambda _v, output: -output)
    negated = Instead("as if negated", lambda layout: -layout.expected.values)
    assert instead_of([taken, other], others=[negated]) is negated
    assert negated.shows(layout_of(taken.vector, {})).tolist() == [[[False, True]]]


def test_what_changes_far_fewer_elements_is_named_in_place_of_what_is_simpler():
    """The first of those that change about as many is simple enough."""
    data = np.arange(-8.0, 8.0, dtype=np.float32).reshape(1, 1, 16)
    kernel = pool(kernel=[1], strides=[1], pads_begin=[0], pads_end=[0])
    taken = sample(vector(data, kernel), lambda _v, output: np.maximum(output, 0))
    relu = Instead("as if negative", lambda layout: np.maximum(layout.expected.values, 0.0))
    nearly_zero = Instead("zero but once", lambda layout: 0.0 * layout.expected.values)
    right = sample(vector(data + 8, kernel), lambda _v, _output: None)
    assert instead_of([taken, right], others=[relu]) is relu
    assert instead_of([taken, right], others=[nearly_zero]).words == "zero"


def test_of_elements_of_which_nothing_is_told_nothing_is_known():
    """They may be wrong, so they are marked unless only what is told is asked for."""
    data = np.array([[[1.0, 2.0, 3.0]]], np.float32)
    taken = vector(data, pool(kernel=[1], strides=[1], pads_begin=[0], pads_end=[0]))
    first = Instead("seven at first", lambda _layout: np.array([[[7.0, np.nan, np.nan]]]))
    assert first.shows(layout_of(taken, {})).tolist() == [[[True, True, True]]]
    assert first.shows(layout_of(taken, {}), told=True).tolist() == [[[True, False, False]]]


def test_of_elements_of_another_shape_nothing_is_told():
    """Where what was wrong was judged under a reading of another geometry."""
    (one, other) = made(put(0))
    zero = Instead("zero", lambda layout: np.zeros(layout.shape))
    told = zero.matches(one, layout_of(other.vector, {}))
    assert told == (0, int(one.wrong.sum()))
