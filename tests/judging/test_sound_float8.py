"""Averages of types of 8 bits: sums in float16 and wider are right in any order, in 8 bits not."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from support.paths import ROOT

from conformance import check
from conformance.dtypes import FLOATS8, float_format, name_of
from conformance.reference.rounding import narrow, widen
from conformance.vectorfile import open_vectors

VECTORS = ROOT / "vectors" / "TOSA-AVG_POOL2D.h5"


def in_turn(cells):
    """Add cells from the first to the last."""
    total = cells[0]
    for cell in cells[1:]:
        total = total + cell
    return total


def in_pairs(cells):
    """Add the sums of both halves."""
    half = len(cells) // 2
    return in_pairs(cells[:half]) + in_pairs(cells[half:]) if half else cells[0]


ORDERS = {"forwards": in_turn, "backwards": lambda cells: in_turn(cells[::-1]), "pairs": in_pairs}
DIVISIONS = {
    "quotient": lambda cells, n, add: add(cells) / n,
    "product": lambda cells, n, add: add(cells) * (n.dtype.type(1) / n),
    "first": lambda cells, n, add: add(cells / n),
}


def pooled(_operator, inputs, attributes, *, acc, add, divide):
    """Compute averages of data (N, H, W, C) in the type `acc`, and round the results."""
    data = inputs[0]
    kernel, stride, pad = (attributes[key] for key in ("kernel", "stride", "pad"))
    sizes = [
        (d + a + b - k) // s + 1
        for d, a, b, k, s in zip(data.shape[1:3], pad[::2], pad[1::2], kernel, stride, strict=True)
    ]
    wide = data.astype(acc)
    got = np.empty((data.shape[0], *sizes, data.shape[3]), acc)
    for y, x in product(*map(range, sizes)):
        begin = [at * s - a for at, s, a in zip((y, x), stride, pad[::2], strict=True)]
        rows, columns = (slice(max(b, 0), b + k) for b, k in zip(begin, kernel, strict=True))
        cells = np.moveaxis(wide[:, rows, columns], 3, 1)
        cells = np.moveaxis(cells.reshape(*cells.shape[:2], -1), 2, 0)
        with np.errstate(invalid="ignore"):
            got[:, y, x] = divide(cells, np.array(len(cells), acc), add)
    return narrow(widen(got), name_of(data.dtype))


def checked(**how):
    """Check a backend on the vectors of 8 bits."""
    return check(partial(pooled, **how), VECTORS, select="float8", diagnose="none")


@pytest.mark.parametrize("division", DIVISIONS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("acc", [np.float16, np.float32])
def test_sums_in_float16_and_wider_conform(acc, order, division):
    report = checked(acc=acc, add=ORDERS[order], divide=DIVISIONS[division])
    assert report.ok
    assert {each.verdict for each in report.results} == {"conforms"}


@pytest.mark.parametrize("name", FLOATS8)
def test_sums_in_8_bits_do_not_conform(name):
    def backend(operator, inputs, attributes):
        acc = inputs[0].dtype
        add, divide = ORDERS["forwards"], DIVISIONS["quotient"]
        return pooled(operator, inputs, attributes, acc=acc, add=add, divide=divide)

    report = check(backend, VECTORS, select=name, diagnose="none")
    assert report.counts["mismatch"] >= 3


def test_no_sum_of_a_vector_leaves_the_normal_numbers_of_float16():
    """What is right there no document says: see narrow_floats in conformance/cases/sweep."""
    limits = float_format("float16")
    (file,) = open_vectors(VECTORS)
    for vector in (vector for vector in file if "/float8" in vector.case.id):
        cells = np.abs(widen(vector.case.data))
        cells = cells[np.isfinite(cells) & (cells > 0)]
        n = np.prod(vector.case.attributes["kernel"])
        fmt = float_format(name_of(vector.case.data.dtype))
        # every cell is a multiple of the least of these, and so is every sum
        last_bits = np.maximum(np.ldexp(1.0, np.frexp(cells)[1] - fmt.precision), fmt.smallest)
        assert cells.max() * n < limits.largest
        assert last_bits.min() / n >= limits.smallest_normal
