"""Subnormals that count as zero: a maximum may be any cell that is largest then, and no other."""

import ml_dtypes
import numpy as np
import pytest
from support import sound
from support.fakes import pool, ran, vector

from conformance.judging.judge import accepts
from conformance.operators import evaluate, vector_of
from conformance.vector import Case

NAN = np.nan
TINY = 1e-44


def case(values, operator="MaxPool-8", dtype=np.float32, **attributes):
    """Return a case on one axis, with a window of all cells unless told otherwise."""
    data = np.array(values).astype(dtype).reshape(1, 1, -1)
    given = {"kernel": [len(values)], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    return Case("a/case", operator, given | attributes, (data,))


def conforms(case, *outputs):
    """Say whether a backend conforms that returns these elements, a list for each output."""
    right = evaluate(case.operator, case.inputs, case.attributes)
    right = right if isinstance(right, tuple) else (right,)
    returned = tuple(
        np.array(values).astype(like.dtype).reshape(like.shape)
        for values, like in zip(outputs, right, strict=False)
    )
    return accepts(vector_of(case), returned)


class TestValues:
    """The value of a maximum."""

    @pytest.mark.parametrize("operator", ["MaxPool-1", "MaxPool-8", "MaxPool-14"])
    @pytest.mark.parametrize(
        ("values", "right"),
        [
            ([-3, 0, -1e9], {-3, 0}),
            ([-3, -1, -5], {-5, -3, -1, 0}),
            ([0, 1, 3], {0, 1, 3}),
            ([-2, 4, -1e40], {-2, 0, 4}),
        ],
    )
    def test_it_is_zero_or_a_cell_that_ties_with_zero(self, operator, values, right):
        """In multiples of 1e-44; a number that no cell has is not right, near as it may be."""
        made = case(np.array(values) * TINY, operator)
        found = {i for i in range(-7, 8) if conforms(made, [i * TINY])}
        assert found == right

    def test_padding_never_wins(self):
        """It is minus infinity, and no zero: the first window holds -1 alone."""
        made = case([-1.0, -TINY], "MaxPool-1", kernel=[2], pads_begin=[1])
        assert conforms(made, [-1.0, 0.0])
        assert not conforms(made, [0.0, 0.0])

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
    def test_numbers_are_subnormal_by_their_own_type(self, dtype):
        """The least normal number is not flushed; the next below it is."""
        least = float(ml_dtypes.finfo(dtype).smallest_normal)
        below = float(np.nextafter(dtype(least), dtype(0)))
        assert not conforms(case([0.0, least], "MaxPool-1", dtype), [0.0])
        assert conforms(case([0.0, below], "MaxPool-1", dtype), [0.0])


class TestIndices:
    """The index of a maximum."""

    @pytest.mark.parametrize(
        ("values", "right"),
        [
            ([0.0, TINY], {0, 1}),
            ([-TINY, -3 * TINY, -1.0], {0, 1}),
            ([TINY, 1.0, 0.0], {1}),
            ([-2.0, -1.0, -3.0], {1}),
            ([NAN, TINY, 0.0], {0}),
        ],
    )
    def test_it_is_that_of_any_cell_that_is_largest_if_flushed(self, values, right):
        """And of no other; maxima are as they should be."""
        made = case(values)
        value = evaluate(made.operator, made.inputs, made.attributes)[0]
        assert {i for i in range(-1, 4) if conforms(made, value, [i])} == right

    def test_value_and_index_may_come_from_different_ties(self):
        """Passes of their own compute them, each of which sees the same zeros."""
        made = case([-3 * TINY, -TINY])
        assert all(conforms(made, [v], [i]) for v in (0, -TINY, -3 * TINY) for i in (0, 1))


class TestGradients:
    """The gradient of a maximum goes to the cell that is chosen."""

    def gradients(self, values, gradient, **attributes):
        made = case(values, "MaxPool-1-backward", **attributes)
        given = np.array(gradient, np.float32).reshape(1, 1, -1)
        return Case(made.id, made.operator, made.attributes, (given, *made.inputs))

    @pytest.mark.parametrize(
        ("values", "right"),
        [([-TINY, 0, -1], {0, 1}), ([-TINY, 1, 0], {1}), ([-3 * TINY, -TINY, TINY], {0, 1, 2})],
    )
    def test_any_cell_that_is_largest_if_flushed_may_get_it(self, values, right):
        """And no other cell may."""
        made = self.gradients(values, [5])
        assert {i for i in range(3) if conforms(made, 5 * np.eye(3)[i])} == right

    def test_no_cell_gets_more_than_its_windows_give(self):
        """Of two windows that share a cell, one gives 5 and the other -3."""
        made = self.gradients([0, TINY, 0], [5, -3], kernel=[2])
        right = [[5, -3, 0], [5, 0, -3], [0, 2, 0], [0, 5, -3]]
        wrong = [[6, 2, 0], [0, 6, 0], [0, -4, 0], [-1, 2, 0], [0, 2, 1]]
        assert [conforms(made, gradient) for gradient in right + wrong] == [True] * 4 + [False] * 5


def test_an_unpooled_number_is_zero_or_itself():
    """Nothing is chosen: a smaller number is wrong."""
    data, indices = np.array([[[4 * TINY]]], np.float32), np.array([[[1]]], np.int64)
    attributes = {"kernel_shape": [2], "strides": [2]}
    made = Case("a/case", "ONNX-MaxUnpool-22", attributes, (data, indices))
    assert [conforms(made, [0, i * TINY]) for i in (0, 1, 4)] == [True, False, True]


def chosen(flush, last):
    """Return a backend whose comparison flushes and whose selection copies, or flushes too."""

    def backend(operator, inputs, attributes):
        cells = inputs[0][0, 0]
        compared = sound.flushed(cells)
        place = len(cells) - 1 - compared[::-1].argmax() if last else compared.argmax()
        value = (compared if flush else cells)[place]
        return value.reshape(1, 1, 1), np.full((1, 1, 1), place, np.int64)

    return backend


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_a_backend_that_compares_zeros_follows_flushed(flush, last):
    """Whichever tie it takes, and whatever it copies."""
    values = [[-3, -1, -9], [0, 4, 0], [-5, 0, -2]]
    made = [
        vector(
            np.array([[row]], np.float32) * np.float32(TINY),
            pool("MaxPool-8", kernel=[3]),
            operator="MaxPool-8",
            id=str(number),
        )
        for number, row in enumerate(values)
    ]
    report = ran(chosen(flush, last), *made)
    assert report.counts == {"conforms": 3}
    assert {each.clause: each.followed for each in report.readings}["subnormals"] == "flushed"


def test_a_backend_held_to_kept_may_not_flush():
    """Where the reading is required, another index is against it."""
    made = vector(
        np.array([[[0, TINY, 0]]], np.float32), pool("MaxPool-8", kernel=[3]), operator="MaxPool-8"
    )
    assert not ran(chosen(flush=False, last=False), made, require={"subnormals": "kept"}).ok
