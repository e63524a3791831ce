"""Faults that atoms make, on calls small enough to compute by hand."""

from collections import Counter

import numpy as np
import pytest

from conformance.faults import fault_named, faulty
from conformance.faults.atoms import KINDS, by_words, faults_of

INF, NAN = np.inf, np.nan


def answer(words, operator, inputs, attributes):
    """Return what a backend returns that has the fault of these words."""
    return faulty(by_words()[words])(operator, inputs, attributes)


def pooled(words, operator, row, kernel, dtype="float32", **attributes):
    """Return what a fault makes of a row of cells, by default with strides of 1 and no pads."""
    data = np.array(row, dtype).reshape(1, 1, -1)
    default = {"kernel": [kernel], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    if operator == "AvgPool-1":
        default["exclude_pad"] = True
    return answer(words, operator, [data], default | attributes)[0, 0].tolist()


PADDED = {"pads_begin": [1], "pads_end": [1]}
READ_ALONE = ", for the cells that are read alone"
OF_THE_SIZE = ", for the output size alone"
TIMES_DILATION = "every kernel size taken as kernel times dilation"
IF_DILATED = " where that is above 1"
SLIDES = "what a window can slide"


@pytest.mark.parametrize(
    ("words", "row", "kernel", "expected"),
    [
        ("results are at least -1", [-5, 3], 1, [-1, 3]),
        ("results are without their sign", [-5, 3], 1, [5, 3]),
        ("results are kept in the range of int8", [-500, 3, 500], 1, [-128, 3, 127]),
        ("results are cut off to integers", [-1.5, 1.5], 1, [-1, 1]),
        ("results are rounded to float16", [2049, 3], 1, [2048, 3]),
        (
            "results are the largest number where they are infinity",
            [INF],
            1,
            [3.4028234663852886e38],
        ),
        ("cells are 0 where they are NaN", [NAN, -1], 2, [0]),
        ("cells are minus infinity where they are NaN", [NAN, -1], 2, [-1]),
        ("cells that are NaN are left out", [NAN, -1], 2, [-1]),
        (
            "NaN are ignored in columns beyond the last whole group of 2",
            [NAN, 1, 2, NAN],
            2,
            [NAN, 2, 2],
        ),
        ("NaN are ignored in columns of whole groups of 2", [NAN, 1, 2, NAN], 2, [1, 2, NAN]),
        ("NaN are ignored in the last of all columns", [1, NAN, 2], 2, [NAN, 2]),
        ("NaN that come first in their window are ignored", [NAN, 1, NAN], 2, [1, NAN]),
        ("NaN that do not come last in their window are ignored", [NAN, 1, NAN], 2, [1, NAN]),
        (
            "windows of the first half of all end where the other half begins",
            [1, 2, 3, 4, 5],
            2,
            [2, 2, 4, 5],
        ),
        ("windows of a group of 2 end where the next group begins", [1, 2, 3, 4], 2, [2, 2, 4]),
        ("windows that are alone in their plane hold all of its cells", [1, 2, 3], 2, [2, 3]),
        ("windows that come last in their row end one cell earlier", [1, 2, 3, 4], 2, [2, 3, 3]),
        ("cells that come last in their window are left out", [1, 2, 3], 2, [1, 2]),
        ("the result is the smallest cell of its window", [2, 1, 3], 2, [1, 1]),
        ("the result is the last cell of its window", [2, 1, 3], 2, [1, 3]),
        ("the result is the middle cell of its window", [3, 1, 2], 3, [1]),
        (
            "a cell takes the place of the one before unless that is larger",
            [NAN, 1, NAN],
            2,
            [1, NAN],
        ),
        ("a cell takes the place of the first only if it is larger", [NAN, 1, NAN], 2, [NAN, 1]),
        (
            "a cell takes the place of another only if its magnitude is larger",
            [-3, 2, 1],
            2,
            [-3, 2],
        ),
        ("floating-point numbers are compared as signed integers", [-1, -2], 2, [-2]),
        (
            "a maximum starts from that of the window before it in its row",
            [3, 1, 4],
            1,
            [3, 3, 4],
        ),
        ("a maximum starts from the first cell of its plane", [3, 1, 4], 1, [3, 3, 4]),
    ],
)
def test_faults_of_a_maximum(words, row, kernel, expected):
    """Other numbers are compared, they are compared in another way, or another one is returned."""
    np.testing.assert_array_equal(pooled(words, "MaxPool-1", row, kernel), expected)


@pytest.mark.parametrize(
    ("words", "row", "expected"),
    [
        ("integers are converted to int8 and back before they are compared", [200, 1], [1]),
        ("results that are integers are kept in the range of int8", [200, 1], [127]),
        ("signed and unsigned integers are compared as the others", [-1, 1], [-1]),
        (
            "results that are integers are converted to float32 and back, the largest at most",
            [2**31 - 1, 2**24 + 1],
            [2**31 - 1],
        ),
    ],
)
def test_faults_of_integers(words, row, expected):
    """They wrap, are kept in a range, or are compared with another sign."""
    assert pooled(words, "MaxPool-1", row, 2, "int32") == expected


@pytest.mark.parametrize(
    ("words", "row", "kernel", "expected"),
    [
        ("sums are rounded to float16 before the division", [65504, 65504], 2, [INF]),
        ("sums are 0 where they are negative before the division", [-1, -2, 4], 2, [0, 1]),
        ("a mean is the first cell and the mean of differences from it", [1, 3], 2, [2]),
        ("a mean is the first cell and the mean of differences from it", [INF, 3], 2, [NAN]),
        ("running sums are 0 where they are negative", [-2, 4], 2, [2]),
        ("running sums are rounded to float16", [2048, 1, 1, 2], 4, [512.5]),
        ("sums are multiplied by reciprocals cut off to 8 bits", [3, 3, 3], 3, [2.98828125]),
        ("a mean is that of the means of groups of 8 cells", [*[0] * 8, 2, 2], 10, [1]),
        ("cells that are 0 are left out of divisors", [0, 4], 2, [4]),
        ("cells that are negative are left out of sums", [-2, 4], 2, [2]),
        ("cells that are NaN are left out of sums and divisors", [NAN, 4], 2, [4]),
        ("cells that come first in their window are added twice", [1, 3], 2, [2.5]),
        ("the result is the sum of its window", [1, 3], 2, [4]),
        ("the result is the largest cell of its window", [1, 3], 2, [3]),
        ("a sum starts from that of the window before it in its row", [1, 3, 5], 2, [2, 6]),
        ("sums are slid along the last axis, in its own type", [INF, 1], 1, [INF, NAN]),
        (
            "sums are differences of running sums along the last axis, in float32",
            [1e9, 1],
            1,
            [1e9, 0],
        ),
        ("divisors are one more", [1, 3], 2, [4 / 3]),
        ("divisors are rounded up to a power of two", [1, 1, 6], 3, [2]),
        ("windows begin one cell later, for the cells that are read alone", [1, 2, 3], 2, [1, 1.5]),
        ("windows end one cell earlier", [1, 2, 3], 2, [1, 2]),
        ("windows lie one cell later", [1, 2, 3], 2, [2.5, 3]),
        (
            "windows of more than 2 cells end with their last whole group of 2",
            [1, 2, 6],
            3,
            [1.5],
        ),
        ("windows have at most 2 cells, for the cells that are read alone", [3, 3, 9], 3, [2]),
        (
            "cells beyond the first 4 of their window are left out of sums",
            [1, 1, 1, 1, 9],
            5,
            [0.8],
        ),
    ],
)
def test_faults_of_an_average(words, row, kernel, expected):
    """Sums, divisors, windows or the cells that are read are other ones."""
    found = pooled(words, "AvgPool-1", row, kernel)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the divisor of a window made from all its cells", [2, 4, 10 / 3]),
        (
            "the divisor of a window made from all its cells, in the last of all columns",
            [3, 4, 10 / 3],
        ),
        (
            (
                "the divisor of a window made from all its cells, in the first of all columns, "
                "where padding does not count"
            ),
            [2, 4, 5],
        ),
        (
            (
                "the divisor of a window made from all its cells, in columns of whole groups of 2, "
                "where padding counts"
            ),
            [3, 4, 5],
        ),
        (
            "the divisor of a window made from its cells but those before the input",
            [3, 4, 10 / 3],
        ),
        (
            "the divisor of a window made from its cells in the input and its end padding",
            [3, 4, 10 / 3],
        ),
        (
            "the divisor of a window made from its cells in the input and its begin padding",
            [2, 4, 5],
        ),
        ("the divisor of a window made from the cells of the input", [2, 4, 10 / 3]),
        ("divisors are that of the first window", [3, 6, 5]),
        ("divisors are the largest of all", [2, 4, 10 / 3]),
        ("divisors are that of the first of 2 windows of a row", [3, 6, 5]),
        ("divisors are that of the last of 2 windows of a row", [2, 4, 5]),
        ("windows that begin in the padding are shifted into the input", [4, 4, 5]),
        ("every begin pad taken as 0, for the divisor alone", [2, 6, 10]),
    ],
)
def test_faults_of_divisors_at_the_border(words, expected):
    """The cells 2, 4, 6 with a pad at either end, and windows of three cells."""
    found = pooled(words, "AvgPool-1", [2, 4, 6], 3, **PADDED)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("padding holds zeros", [0, -1, 0]),
        ("padding before the input holds zeros", [0, -1, -4]),
        ("padding holds NaN", [NAN, -1, NAN]),
        ("padding holds the other end of the input", [-3, -1, -3]),
        ("padding holds the input mirrored at its first and last cell", [-2, -1, -1]),
        ("padding holds what lies there in memory", [-3, -1, -3]),
    ],
)
def test_faults_of_padding(words, expected):
    """The cells -3, -2, -1, -4 with a pad at either end, two by two."""
    found = pooled(words, "MaxPool-1", [-3, -2, -1, -4], 2, **PADDED, strides=[2])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "block i begins at i d / o rounded down and ends at (i + 1) d / o rounded down",
            [1, 2.5, 4.5],
        ),
        (
            "block i begins at i times (d / o rounded down) and ends at (i + 1) d / o rounded up",
            [1.5, 3, 4],
        ),
        (
            "block i begins at i d / o rounded up and ends at (i + 1) d / o rounded up",
            [1.5, 3.5, 5],
        ),
        ("the divisor of a block made from d / o rounded down", [3, 9, 9]),
        (
            (
                "block i begins at i d / o rounded down and ends at (i + 1) d / o rounded down, "
                "one cell after its begin at least, of more outputs than cells"
            ),
            [1.5, 3, 4.5],
        ),
        (
            f"block i ends at its begin plus (d / o rounded down){READ_ALONE}",
            [1 / 2, 2 / 3, 4 / 2],
        ),
    ],
)
def test_faults_of_blocks(words, expected):
    """Five cells 1 to 5 in three blocks."""
    inputs = [np.arange(1.0, 6.0).reshape(1, 1, 5), np.array([3])]
    found = answer(words, "AdaptiveAvgPool-8", inputs, {})
    np.testing.assert_allclose(found[0, 0], expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("in place of each channel of the data, the first read", [[1, 2], [1, 2]]),
        ("in place of each channel of the output, the last returned", [[3, 4], [3, 4]]),
        (
            "in place of each slice along the last axis of the data, the next read",
            [[2, 2], [4, 4]],
        ),
        ("in place of each cell of the data, those in reverse order read", [[4, 3], [2, 1]]),
        (
            "the data are laid out with channels and the spatial axes exchanged",
            [[1, 3], [2, 4]],
        ),
    ],
)
def test_faults_of_entries(words, expected):
    """Two channels of two cells, each a window of its own."""
    data = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    attributes = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    assert answer(words, "MaxPool-1", [data], attributes)[0].tolist() == expected


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("the list of pads taken as pairs of begin and end", (5, 3)),
        ("the list of pads taken as ends, then begins", (4, 4)),
        ("every pad taken as the larger one", (5, 5)),
        ("every begin pad taken as 0", (3, 3)),
        ("every pad taken as kept in 4 bits", (4, 4)),
        ("every stride taken as that of the next axis on the first axis", (4, 4)),
        ("every kernel size taken as at most 1", (5, 5)),
        (f"every output size taken as {SLIDES} over the stride, rounded down plus 1", (4, 4)),
        (f"every output size taken as {SLIDES} plus 1 over the stride, rounded up", (4, 4)),
    ],
)
def test_faults_of_numbers_that_change_the_shape(words, shape):
    """Four rows and columns, windows of two by two and a begin pad on each axis."""
    attributes = {
        "kernel": [2, 2],
        "strides": [1, 1],
        "pads_begin": [1, 1],
        "pads_end": [0, 0],
    }
    found = answer(words, "MaxPool-1", [np.zeros((1, 1, 4, 4))], attributes)
    assert found.shape == (1, 1, *shape)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "indices made from the padded position, for planes as large as the input",
            [[5, 6], [9, 10]],
        ),
        (
            "indices made from the position, for planes as large as the padded input",
            [[0, 1], [5, 6]],
        ),
        (
            "indices made from the position in the window, for planes as large as the kernel",
            [[3, 2], [1, 0]],
        ),
        ("indices are in column-major order", [[0, 3], [1, 4]]),
        (
            (
                "indices made from the first cell in the input and the distance from the start of "
                "the window, for planes as large as the input"
            ),
            [[5, 5], [5, 5]],
        ),
        ("indices are returned as int32", [[0, 1], [4, 5]]),
        ("the last two axes of the indices are exchanged", [[0, 4], [1, 5]]),
    ],
)
def test_faults_of_indices(words, expected):
    """Three rows of four cells, whose maxima are the cells 0, 1, 4 and 5."""
    data = np.array([[9.0, 8, 0, 0], [7, 6, 0, 0], [0, 0, 0, 0]])
    attributes = {
        "kernel": [2, 2],
        "strides": [2, 2],
        "pads_begin": [1, 1],
        "pads_end": [0, 0],
        "dilations": [1, 1],
    }
    _, indices = answer(words, "MaxPool-14", [data.reshape(1, 1, 3, 4)], attributes)
    assert indices[0, 0].tolist() == expected


def test_indices_of_a_padded_plane_after_planes_that_are_not():
    """Two planes of two cells and a pad at either end, of which the second cell is the largest."""
    words = "indices made from the position in the padded input, after planes as large as the input"
    attributes = {"kernel": [2], "strides": [1], "dilations": [1], **PADDED}
    _, indices = answer(words, "MaxPool-14", [np.array([[[1.0, 2], [3, 4]]])], attributes)
    assert indices[0].tolist() == [[1, 2, 2], [3, 4, 4]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "in place of each cell of a plane of gradients of the output, the first read",
            [2, 4, 2],
        ),
        ("gradients of the output are negated", [-2, -6, -4]),
        ("gradients of the output are 1", [0.5, 1, 0.5]),
        ("the last window of a plane gives nothing", [2, 2, 0]),
        ("a cell gets what its last window gives alone", [2, 4, 4]),
        ("a cell gets what its first window gives alone", [2, 2, 4]),
        ("what windows give to a cell is divided by their number", [2, 3, 4]),
    ],
)
def test_faults_of_gradients(words, expected):
    """Three cells in two windows of two: the gradients 4 and 8 of their averages are shared out."""
    attributes = {
        "kernel": [2],
        "strides": [1],
        "pads_begin": [0],
        "pads_end": [0],
        "exclude_pad": True,
    }
    inputs = [np.array([[[4.0, 8.0]]]), np.array([[[1.0, 2.0, 3.0]]])]
    assert answer(words, "AvgPool-1-backward", inputs, attributes)[0, 0].tolist() == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("every dilation taken as 1", [4, 5, 6, 6]),
        (f"every dilation taken as 1{OF_THE_SIZE}", [5, 6, 5, 6]),
        ("every stride taken as the dilation, and dilation taken as the stride", [4, 6]),
        (f"{TIMES_DILATION}{IF_DILATED}, and dilation taken as 1{OF_THE_SIZE}", [5, 6]),
    ],
)
def test_faults_of_dilations(words, expected):
    """Five cells, and windows of two that lie two apart."""
    data = np.array([[[3.0, 4, 5, 6, 4]]])
    attributes = {
        "kernel": [2],
        "strides": [1],
        "dilations": [2],
        "pads_begin": [0],
        "pads_end": [0],
    }
    values, _ = answer(words, "MaxPool-14", [data], attributes)
    assert values[0, 0].tolist() == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("all its cells", [4, 5, 4.5]),
        ("the cells that it spans", [8 / 3, 10 / 3, 3]),
    ],
)
def test_faults_of_divisors_of_dilated_windows(words, expected):
    """The cells 3, 4, 5, 6, 4, and windows of two that lie two apart: they span three."""
    attributes = {"kernel": [2], "strides": [1], "dilations": [2], "exclude_pad": True}
    attributes |= {"pads_begin": [0], "pads_end": [0]}
    said = f"the divisor of a window made from {words}"
    values = answer(said, "AvgPool-16", [np.array([[[3.0, 4, 5, 6, 4]]])], attributes)
    np.testing.assert_allclose(values[0, 0], expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the divisor of a window made from 1 along every axis but the first", [9]),
        ("the divisor of a window made from 1 along every axis but the last", [6]),
    ],
)
def test_faults_of_divisors_along_some_axes(words, expected):
    """One window of two rows and three columns whose sum is 18."""
    attributes = {"kernel": [2, 3], "strides": [1, 1], "exclude_pad": True}
    attributes |= {"pads_begin": [0, 0], "pads_end": [0, 0]}
    values = answer(words, "AvgPool-1", [np.full((1, 1, 2, 3), 3.0)], attributes)
    assert values.ravel().tolist() == expected


def test_faults_on_the_second_of_three_axes():
    """Rows are pooled with the kernel of columns; of two axes, nothing changes."""
    words = "every kernel size taken as that of the last axis on the second of three axes"
    data = np.arange(9.0).reshape(1, 1, 1, 3, 3)
    for axes, expected in ((3, [8]), (2, [2, 5, 8])):
        attributes = {"kernel": [1, 1, 3][-axes:], "strides": [1] * axes}
        attributes |= {"pads_begin": [0] * axes, "pads_end": [0] * axes}
        shape = data.shape[:2] + data.shape[-axes:]
        found = answer(words, "MaxPool-1", [data.reshape(shape)], attributes)
        assert found.ravel().tolist() == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("auto_pad=same_lower taken as same_upper on the first axis", [3, 4, 3, 4]),
        ("auto_pad=same_lower taken as same_upper on the first of three axes", [3, 4, 3, 4]),
        ("auto_pad=same_lower taken as same_upper on the last axis", [2, 2, 4, 4]),
        ("every pad taken as that at the other end, that of same_* too", [4, 4, 4, 4]),
        (
            "every pad taken as that at the other end on the last axis, that of same_* too",
            [2, 2, 4, 4],
        ),
    ],
)
def test_faults_of_the_end_that_is_padded(words, expected):
    """Two planes of one row, 1 2 and 3 4: where padding comes first, cells are their own maxima."""
    attributes = {"kernel": [2, 1, 2], "strides": [1, 1, 1], "auto_pad": "same_lower"}
    attributes |= {"pads_begin": [0, 0, 0], "pads_end": [0, 0, 0]}
    data = np.arange(1.0, 5).reshape(1, 1, 2, 1, 2)
    assert answer(words, "MaxPool-1", [data], attributes).ravel().tolist() == expected


def test_faults_of_where_windows_of_same_begin():
    """Cells 1 to 7 and three of them two apart: one is padded instead of two, for seven windows."""
    words = "every dilation taken as 1, for where windows of same_* begin alone"
    attributes = {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_UPPER"}
    found, _ = answer(words, "ONNX-MaxPool-10", [np.arange(1.0, 8).reshape(1, 1, 7)], attributes)
    assert found.ravel().tolist() == [4, 5, 6, 7, 6, 7, 6]


@pytest.mark.parametrize(
    ("words", "mode", "expected"),
    [
        ("auto_pad=valid taken as explicit", "valid", [1, 2, 3]),
        ("auto_pad=explicit taken as valid", "explicit", [2, 3, 4, 4, -INF]),
    ],
)
def test_faults_of_where_windows_of_another_mode_begin(words, mode, expected):
    """Four cells two by two, a pad given at either end: there are as many windows as is right."""
    words = f"{words}, for where windows begin alone"
    assert pooled(words, "MaxPool-1", [1, 2, 3, 4], 2, auto_pad=mode, **PADDED) == expected


def test_faults_of_dilated_windows_that_begin_in_the_padding():
    """Three of four cells and pads, two apart: 1 and 3 from the first pad on, or else 0 and 2."""
    words = "cells of windows that begin in the padding lie dilations from the first of the input"
    attributes = {"kernel": [3], "strides": [1], "dilations": [2], **PADDED}
    found, _ = answer(words, "MaxPool-8", [np.array([[[5.0, 1, 2, 3]]])], attributes)
    assert found[0, 0].tolist() == [5, 5]


@pytest.mark.parametrize(("where", "outputs"), [("", 3), (IF_DILATED, 4)])
def test_faults_of_lengths_of_kernels(where, outputs):
    """Five cells and windows of two, not dilated: one fault is of every kernel, one of dilated."""
    length = f"kernel and (kernel - 1) times dilation{where}"
    words = f"every kernel size taken as {length}, and dilation taken as 1{OF_THE_SIZE}"
    attributes = {"kernel": [2], "strides": [1], "dilations": [1], "exclude_pad": True}
    attributes |= {"pads_begin": [0], "pads_end": [0]}
    assert answer(words, "AvgPool-16", [np.ones((1, 1, 5))], attributes).shape == (1, 1, outputs)


def test_windows_are_read_elsewhere_and_divided_where_they_lie():
    """The last of three windows, of a cell and a pad, is divided by 1 and reads two cells."""
    words = "every dilation taken as 1, for where cells are read alone"
    attributes = {"kernel": [2], "strides": [1], "dilations": [2], "exclude_pad": True}
    attributes |= {"pads_begin": [0], "pads_end": [1]}
    found = answer(words, "AvgPool-16", [np.array([[[3.0, 4, 5, 6]]])], attributes)
    assert found[0, 0].tolist() == [3.5, 4.5, 11]


def test_faults_of_the_cells_of_a_window():
    """They lie two apart, and what lies beyond the input is left out."""
    words = "cells of a window lie 2 cells apart"
    assert pooled(words, "MaxPool-1", [1, 2, 3, 2], 2) == [3, 2, 3]


def test_no_two_faults_read_alike():
    """Each is said in words of its own, in whichever modules they are."""
    words = Counter(fault.summary for kind in KINDS for fault in faults_of(kind))
    assert [each for each, count in words.items() if count > 1] == []


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("every pad taken as that of the last axis on the first axis", (5, 3)),
        ("every pad taken as that of the first axis on the last axis", (3, 1)),
        (
            "every kernel size, stride and pad taken as that of the last axis on the first axis",
            (4, 3),
        ),
    ],
)
def test_faults_of_one_axis_take_several_lists(words, shape):
    """Both pads, or all lists: an axis of 3 cells is read as that of 2 cells, or the reverse."""
    attributes = {"pads_begin": [0, 1], "pads_end": [0, 1], "kernel": [1, 2], "strides": [1, 1]}
    data = np.zeros((1, 1, 3, 2), np.float32)
    assert answer(words, "MaxPool-1", [data], attributes).shape[2:] == shape


@pytest.mark.parametrize(
    ("words", "row", "expected"),
    [
        (
            "the p-th root of the sum of cells to the power of p, with their sign",
            [-1, 2],
            7 ** (1 / 3),
        ),
        ("the sum of magnitudes to the power of p", [-1, 2], 9),
        ("the square root of the sum of magnitudes to the power of p", [-1, 2], 3),
        ("the p-th root of the sum of squares", [-2, 2], 2),
        ("the p-th root of the sum of squares to the power of p // 2", [-2, 2], 2),
        (
            "the p-th root of the sum of magnitudes to the power of p over the cells of the input",
            [2, 2],
            2,
        ),
        ("the p-th root of the magnitude of the sum of cells", [-2, 1], 1),
    ],
)
def test_a_norm_made_in_another_way(words, row, expected):
    """Of two cells, p = 3, by hand."""
    data, attributes = np.array(row, "float64").reshape(1, 1, 2), {"p": 3}
    got = answer(f"norms are {words}", "ONNX-GlobalLpPool-22", [data], attributes)
    assert got.item() == pytest.approx(expected)


def test_blocks_computed_in_a_narrow_type():
    """2 / 22 in float16 is below 1 / 11: block 11 begins at cell 0, where it should at cell 1."""
    data, output = np.array([[[4.0, 2.0]]], "float32"), np.array([22])
    words = (
        "block i begins at i times (d / o in float16), rounded down "
        "and ends at (i + 1) times (d / o in float16), rounded up"
    )
    got = answer(words, "AdaptiveAvgPool-8", [data, output], {})
    assert got[0, 0, [10, 11, 12]].tolist() == [4, 3, 2]


def test_indices_are_those_of_the_cells_that_are_kept():
    """A NaN that comes first stays, one that comes later is no larger than what is there."""
    attributes = {"kernel": [3], "strides": [3], "pads_begin": [0], "pads_end": [0]}
    fault = by_words()[
        "a cell takes the place of the first only if it is larger, for values and indices"
    ]
    row = np.array([[[NAN, 1, 2, 1, NAN, 2]]], np.float32)
    values, indices = faulty(fault)("MaxPool-8", [row], attributes)
    assert np.array_equal(values, [[[NAN, 2]]], equal_nan=True)
    assert indices.tolist() == [[[0, 5]]]


def test_memory_in_blocks_of_channels_is_read_as_it_lies():
    """Four channels of two cells: of a block, the channels of a cell lie together."""
    data = np.arange(8.0).reshape(1, 4, 2)
    given = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    of_output = "the output laid out in blocks of 4 channels, which come last"
    found = answer(of_output, "MaxPool-1", [data], given)
    assert found[0].tolist() == [[0, 2], [4, 6], [1, 3], [5, 7]]
    for way in ("laid out", "read"):
        words = f"the data are {way} in blocks of 4 channels, which come last"
        found = answer(words, "MaxPool-1", [found], given)
    assert found[0].tolist() == [[0, 2], [4, 6], [1, 3], [5, 7]]  # one undoes the other


@pytest.mark.parametrize(
    ("words", "attributes", "shape"),
    [
        ("an output size of None taken as the size of the last axis", [None, 2], (5, 2)),
        ("an output size of None taken as the number of channels", [None, 2], (1, 2)),
        ("an output size of None taken as 1", [2, None], (2, 1)),
    ],
)
def test_faults_of_output_sizes_that_are_left_out(words, attributes, shape):
    """A plane of three rows and five columns."""
    data = np.zeros((1, 1, 3, 5), np.float32)
    operator, given = "PyTorch-adaptive_avg_pool2d", {"output_size": attributes}
    assert answer(words, operator, [data], given).shape == (1, 1, *shape)


def test_one_number_for_all_axes_may_be_that_of_one():
    """A stride of 1 is that of the rows: columns have the kernel, as where no stride is given."""
    words = "a stride that is one number taken for the first axis, and the kernel for others"
    given = {"kernel_size": [2, 2], "stride": 1}
    data = np.zeros((1, 1, 4, 4), np.float32)
    assert answer(words, "PyTorch-avg_pool2d", [data], given).shape == (1, 1, 3, 2)
    given |= {"stride": [1, 1]}
    assert answer(words, "PyTorch-avg_pool2d", [data], given).shape == (1, 1, 3, 3)


def test_windows_that_rounding_up_adds_may_give_nothing():
    """Three cells in windows of two with a stride of two: the last window is cut off."""
    words = "windows that rounding up adds give nothing"
    gradient, data = np.array([[[4.0, 8.0]]]), np.zeros((1, 1, 3))
    given = {"kernel_size": [2], "ceil_mode": True}
    found = answer(words, "PyTorch-avg_pool1d-backward", [gradient, data], given)
    assert found[0, 0].tolist() == [2, 2, 0]


def test_windows_of_zeros_and_small_norms_may_be_divided_otherwise():
    """The gradient of a 2-norm of one cell is its sign; of zeros, what is given is divided by 0."""
    operator, given = "PyTorch-lp_pool1d-backward", {"kernel_size": 1, "norm_type": 2}
    inputs = [np.array([[[3.0, 3.0]]]), np.array([[[0.0, 1e-7]]])]
    found = answer("what a window of zeros gives is divided by its norm", operator, inputs, given)
    np.testing.assert_array_equal(found[0, 0], [NAN, 3])
    words = "norms are 1e-06 at least where gradients are divided by them"
    np.testing.assert_allclose(answer(words, operator, inputs, given)[0, 0], [0, 0.3])


def test_the_power_of_a_cell_may_be_divided_by_the_norm_itself():
    """The squares of 1 and 2 over the 3-norm, 9 ** (1 / 3), and not over its square."""
    given = {"kernel_size": 2, "norm_type": 3}
    inputs = [np.array([[[1.0]]]), np.array([[[1.0, -2.0]]])]
    backend = faulty(fault_named("gradient-divided-by-norm"))
    found = backend("PyTorch-lp_pool1d-backward", inputs, given)
    np.testing.assert_allclose(found[0, 0], [9 ** (-1 / 3), -4 * 9 ** (-1 / 3)])
