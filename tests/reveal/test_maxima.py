"""Which of equal maxima wins, and what a NaN does."""

from functools import reduce

import numpy as np
import pytest
from support import sound
from support.sound import Sound

from conformance.errors import Unsupported
from conformance.operators import evaluate
from conformance.reveal import reveal


def revealed(backend, operator="MaxPool-1", dtype="float32"):
    """Return what is revealed of the maxima of a backend."""
    (found,) = reveal(backend, [], operators=[operator], dtypes=[dtype]).maxima
    return found


def scanning(keeps):
    """Return a maximum that keeps the first of two cells where `keeps(first, second)`."""
    return lambda cells: reduce(lambda a, b: np.where(keeps(a, b), a, b), np.moveaxis(cells, -1, 0))


@pytest.mark.parametrize(
    ("maximum", "zeros", "nan"),
    [
        (scanning(lambda a, b: (a >= b) | np.isnan(a)), "first", "everywhere"),
        (scanning(lambda a, b: ~(a < b)), "first", "in cell 0"),
        (scanning(lambda a, b: a > b), "last", "in cell 4"),
        (sound.ignoring_nan, None, "nowhere"),
        (sound.scanned, None, "everywhere"),
        (lambda cells: sound.scanned(cells) + 0.0, "+0", "everywhere"),
    ],
)
def test_zeros_and_nan(maximum, zeros, nan):
    found = revealed(Sound("", maximum=maximum))
    assert found.nan == nan
    assert zeros in {None, found.zeros}


def test_evidence_is_a_window_of_both_zeros():
    first, second = revealed(Sound("", maximum=scanning(lambda a, b: a >= b))).evidence
    assert [str(cell) for cell in first.cells[:2]] == ["-0.0", "0.0"]
    assert (str(first.output), str(second.output)) == ("-0.0", "0.0")


def last_index(operator, inputs, attributes):
    """Return the index of the last of equal cells."""
    values, index = evaluate(operator, inputs, attributes)
    flat = inputs[0].reshape(*inputs[0].shape[:2], -1)
    last = flat.shape[-1] - 1 - np.argmax(flat[..., ::-1], axis=-1)
    return values, last.reshape(index.shape).astype(index.dtype)


@pytest.mark.parametrize(
    ("backend", "index"),
    [
        (evaluate, "first"),
        (last_index, "last"),
        (lambda *case: evaluate(*case)[0], ""),
    ],
)
def test_index_of_equal_cells(backend, index):
    assert revealed(backend, "MaxPool-8").index == index


def test_integers_have_neither_zeros_nor_nan():
    found = revealed(evaluate, "MaxPool-8", "int32")
    assert (found.zeros, found.nan, found.index) == ("", "", "first")


def gradient_to(share):
    """Return a backend that gives the gradient of a window to equal maxima by `share`."""

    def backend(operator, inputs, attributes):
        if not operator.endswith("-backward"):
            return evaluate(operator, inputs, attributes)
        gradient, data = inputs
        return gradient * share(data == data.max(axis=-1, keepdims=True)).astype(data.dtype)

    return backend


@pytest.mark.parametrize(
    ("share", "gradient"),
    [
        (lambda equal: equal & (np.cumsum(equal, axis=-1) == 1), "first"),
        (lambda equal: equal & (np.cumsum(equal, axis=-1) == 2), "last"),
        (lambda equal: equal, "all"),
        (lambda equal: equal / equal.sum(axis=-1, keepdims=True), "shared"),
        (lambda equal: equal * 0.25, "mixed"),
        (np.ones_like, "mixed"),
    ],
)
def test_gradient_of_equal_cells(share, gradient):
    assert revealed(gradient_to(share)).gradient == gradient


def test_a_gradient_that_is_not_computed_is_not_told():
    def backend(operator, inputs, attributes):
        if operator.endswith("-backward"):
            raise Unsupported(operator)
        return evaluate(operator, inputs, attributes)

    assert revealed(backend).gradient == ""
