"""Averages of integers whose sums leave a narrower type: such sums fail, in every type."""

from math import prod

import numpy as np
import pytest

from conformance.cases.sweep.narrow_types import integer_sums
from conformance.cases.sweep.sweep_model import cases_of
from conformance.dtypes import INTEGERS, name_of
from conformance.faults import fault_named, faulty
from conformance.judging.judge import accepted
from conformance.operators import OPERATORS, vector_of

AVERAGES = [
    name
    for name, operator in OPERATORS.items()
    if operator.reduction.divides and operator.rounds_integers
]


def averages(vector, kept):
    """Return averages of planes of equal cells with a divided `kept(sum, count, signed)`."""
    means, data = vector.values[0].outputs[0].values.copy(), vector.case.data
    count = prod(data.shape[2:])
    for channel in range(data.shape[1]):
        total = int(data[0, channel].flat[0]) * count
        share = kept(total, count, data.dtype.kind == "i") / (total or 1)
        means[:, channel] = np.rint(means[:, channel] * (share if total else 1))
    return (means,)


def wrapped(number, bits, signed):
    """Return a number as a type of so many bits holds it."""
    below = 1 << bits - 1 if signed else 0
    return (number + below) % (1 << bits) - below


def whole(total, _count, _signed):
    """Keep the sum as it is."""
    return total


def in_16_bits(total, _count, signed):
    """Keep the sum in 16 bits."""
    return wrapped(total, 16, signed)


def times_count_in_32_bits(total, count, signed):
    """Keep the sum times the count in 32 bits."""
    return wrapped(total * count, 32, signed) / count


@pytest.mark.parametrize("operator", AVERAGES)
@pytest.mark.parametrize("kept", [in_16_bits, times_count_in_32_bits])
def test_sums_in_a_narrow_type_fail_in_every_type(operator, kept):
    """Signed or not; where sums are kept whole, all conform."""
    vectors = [vector_of(case) for case in cases_of(integer_sums(OPERATORS[operator]))]
    assert all(accepted(vectors, [averages(vector, whole) for vector in vectors]))
    conform = accepted(vectors, [averages(vector, kept) for vector in vectors])
    failing = {
        name_of(vector.case.data.dtype)
        for vector, conforms in zip(vectors, conform, strict=True)
        if not conforms
    }
    assert failing == {name for name in INTEGERS if name in OPERATORS[operator].dtypes}


@pytest.mark.parametrize(
    ("fault", "end", "sides", "expected"),
    [
        ("integers-summed-in-16-bits", np.uint8(255), (6, 43), 1),
        ("integers-times-count-in-32-bits", np.int16(32767), (1, 257), -32260),
    ],
)
def test_a_sum_wraps(fault, end, sides, expected):
    """Of 258 cells, 254 is left of 65,790; of 257, 2^32 less than the product."""
    data = np.full((1, *sides, 1), end)
    windows = {"filter_height": sides[0], "filter_width": sides[1], "stride_h": 1, "stride_w": 1}
    given = {**windows, "padding": "VALID", "fused_activation_function": "NONE"}
    assert faulty()("LiteRT-AVERAGE_POOL_2D", [data], given).item() == end
    assert faulty(fault_named(fault))("LiteRT-AVERAGE_POOL_2D", [data], given).item() == expected
