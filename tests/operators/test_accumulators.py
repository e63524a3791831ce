"""Sums that a caller asks for in the type of the data: TOSA's acc_type FP16 of float16."""

import numpy as np
import pytest
from support.oracle import array

from conformance import check
from conformance.cases.perturb import near
from conformance.cases.sweep.activations import activations
from conformance.cases.sweep.sweep_model import cases_of
from conformance.fuzz.drawing import Place, group_at
from conformance.operators import OPERATORS, as_called, vector_of
from conformance.vector import Case

NAME = "TOSA-AVG_POOL2D"
OPERATOR = OPERATORS[NAME]
CELLS = [1.5, 2.25, 3.125, 7.0625]


def vector(acc_type, cells=CELLS, dtype="float16"):
    """Return the vector of one window; an acc_type of None is left out."""
    attributes = {"kernel": [1, len(cells)], "stride": [1, 1], "pad": [0] * 4}
    attributes |= {"input_zp": 0, "output_zp": 0}
    if acc_type is not None:
        attributes["acc_type"] = acc_type
    return vector_of(Case("one", NAME, attributes, (array(cells, dtype).reshape(1, 1, 1, -1),)))


@pytest.mark.parametrize(
    ("dtype", "default"),
    [
        *(("float16", "FP32"), ("bfloat16", "FP32"), ("float32", "FP32")),
        *(("int8", "INT32"), ("float8_e5m2", "FP16")),
    ],
)
def test_what_follows_from_the_type_is_handed_over_where_a_case_says_nothing(dtype, default):
    inputs, attributes = as_called(vector(None, [1, 2], dtype).case)
    assert attributes["acc_type"] == default
    assert "acc_type" not in OPERATOR.convention.taken(inputs, attributes)[1]


def in_float16(operator, inputs, attributes, *, narrowest=np.float16):
    """Return averages of windows without padding, summed in float16 or a wider type."""
    assert (operator, attributes["acc_type"]) == (NAME, "FP16")
    data, (height, width) = inputs[0], attributes["kernel"]
    rows, columns = attributes["stride"]
    total = sum(
        data[:, y : data.shape[1] - height + 1 + y : rows, x:][:, :, : data.shape[2] - width + 1]
        [:, :, ::columns].astype(narrowest)
        for y in range(height)
        for x in range(width)
    )  # fmt: skip
    return (total / narrowest(height * width)).astype(np.float16)


@pytest.mark.parametrize("narrowest", [np.float16, np.float32, np.float64])
def test_backends_that_sum_in_float16_or_wider_conform(narrowest):
    """An overflow of such sums is a dispute, as of others."""

    def backend(*call):
        with np.errstate(all="ignore"):
            return in_float16(*call, narrowest=narrowest)

    vectors = [
        vector_of(case)
        for case in cases_of(activations(OPERATOR))
        if not any(case.attributes["pad"])
    ]
    report = check(backend, vectors, diagnose="none", isolate=False)
    assert (report.ok, len(vectors) > 6) == (True, True)


def test_fuzz_and_cases_nearby_ask_for_it_of_float16_alone():
    drawn = [case for number in range(4) for case in group_at(Place(0, NAME, number))]
    asked = [case for case in drawn if case.attributes.get("acc_type") == "FP16"]
    assert {case.data.dtype.name for case in asked} == {"float16"}
    rng = np.random.default_rng(0)
    nearby = [made for case in asked * 20 if (made := near(case, rng)) is not None]
    assert len({(c.data.dtype.name, c.attributes.get("acc_type")) for c in nearby}) > 2
    for case in nearby:
        assert "acc_type" not in case.attributes or case.data.dtype == np.float16
        OPERATOR.validate(case.inputs, case.attributes)
