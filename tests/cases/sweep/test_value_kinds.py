"""Every kind of number is in the vectors of every operator, in every element type that holds it."""

import numpy as np
import pytest

from conformance import open_vectors
from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import cases_of
from conformance.cases.sweep.value_kinds import value_kinds
from conformance.dtypes import WIDE_FLOATS, float_format, name_of
from conformance.operators import OPERATORS, vector_of
from conformance.reference.rounding import widen
from conformance.vectorfile import shipped_suite

FORWARD = [
    operator.name
    for operator in OPERATORS.values()
    if not operator.is_gradient and operator.levels != "least"
]
AVERAGES = [name for name in FORWARD if OPERATORS[name].reduction.name == "average"]
NORMS = [name for name in FORWARD if OPERATORS[name].reduction.powers]
MAXIMA_BACKWARD = [
    operator.name
    for operator in OPERATORS.values()
    if operator.reduction.name == "gradient of maximum" and "float64" in operator.dtypes
]


def cases(operator, pattern, dtype):
    """Return the cases of a kind that an operator has of every kind of number."""
    return [
        case
        for case in cases_of(value_kinds(OPERATORS[operator]))
        if case.pattern == pattern and name_of(case.data.dtype) == dtype
    ]


@pytest.mark.parametrize("operator", [name for name in FORWARD if not OPERATORS[name].scatters])
def test_every_type_has_every_kind(operator):
    """What the covering arrays hold and what is added to them leaves nothing out."""
    definition = OPERATORS[operator]
    with open_vectors(shipped_suite() / f"{operator}.h5") as (file,):
        stored = (vector.case for vector in file)
        held = {(name_of(case.data.dtype), case.pattern) for case in stored}
    integers = () if definition.reduction.sums else ("int8", "uint8", "int64")
    wanted = {
        (dtype, pattern)
        for dtype in (*WIDE_FLOATS, *integers)
        if dtype in definition.dtypes
        for pattern in (*levels.patterns(definition), "contrasts", "nan-encodings", "infinities")
        if levels.holds(dtype, pattern)
        # Beside an infinity, a norm may seem to be about to overflow: some are left out.
        and not (definition.reduction.powers and "infinit" in pattern)
    }
    assert wanted - held == set()


@pytest.mark.parametrize("operator", NORMS)
def test_finite_cells_have_an_infinite_norm(operator):
    """A norm of numbers near the ends of the range is beyond it."""
    for case in cases(operator, "near-largest", "float16"):
        (outcome, *_) = vector_of(case).values
        assert np.isfinite(case.data).all()
        assert np.isposinf(outcome.outputs[0].values).any()


@pytest.mark.parametrize("operator", AVERAGES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_pass_the_range_where_averages_do_not(operator, dtype):
    """The average is finite, and so many times it is not."""
    if dtype not in OPERATORS[operator].dtypes:
        return
    with open_vectors(shipped_suite() / f"{operator}.h5") as (file,):
        vectors = list(file)
        overflowing = [
            vector
            for vector in vectors
            if vector.case.pattern == "overflow" and name_of(vector.case.data.dtype) == dtype
        ]
    assert overflowing
    assert any(
        (np.isfinite(widen(output.values)).all())
        and (output.magnitude * output.divisor > float_format(dtype).largest).any()
        for vector in overflowing
        for output in vector.values[0].outputs
    )


@pytest.mark.parametrize("operator", NORMS)
def test_norms_of_one_tensor_lie_far_apart(operator):
    """Far more than any sum of powers in float32 can hold at once."""
    for case in cases(operator, "contrasts", "float32"):
        values = vector_of(case).values[0].outputs[0].values
        finite = values[np.isfinite(values) & (values > 0)].astype(np.float64)
        assert finite.max() > 7e8 * finite.min()


@pytest.mark.parametrize("operator", MAXIMA_BACKWARD)
def test_maxima_are_chosen_among_cells_that_float32_takes_for_equal(operator):
    """The cells of float64 differ, and some of them do not in float32."""
    lossy = [
        case
        for case in cases_of(value_kinds(OPERATORS[operator]))
        if case.pattern.endswith("by lossy") and case.data.dtype == np.float64
    ]
    assert lossy
    for case in lossy:
        assert len(np.unique(case.data.astype(np.float32))) < len(np.unique(case.data))
