"""What an operator and its gradient may read differently shows in the smoke tier of both."""

import pytest

from conformance import open_vectors
from conformance.cases.sweep.clause_probes import shared_with_gradient, told_by
from conformance.operators import OPERATORS
from conformance.vectorfile import shipped_suite

SHARING = [operator.name for operator in OPERATORS.values() if shared_with_gradient(operator)]


def cannot_show(operator):
    """Return the clauses that make no difference, whatever the case."""
    rounding = operator.attribute("rounding")
    return set() if "ceil" in rounding.meanings else {"ceil-window-past-input"}


@pytest.mark.parametrize("operator", SHARING)
def test_smoke_tells_the_readings_of_shared_clauses_apart(operator):
    """Each clause has a vector whose outcomes differ by its reading alone."""
    definition = OPERATORS[operator]
    with open_vectors(shipped_suite() / f"{operator}.h5") as (file,):
        vectors = list(file)
    told = {
        clause for vector in vectors if vector.case.tier == "smoke" for clause in told_by(vector)
    }
    wanted = shared_with_gradient(definition)
    assert wanted - told <= (cannot_show(definition) if "rounding" in definition.roles else set())


def test_a_gradient_and_its_operator_share_most_clauses_of_geometry():
    """Both have them, or neither."""
    average = OPERATORS["AvgPool-1"]
    backward = OPERATORS["AvgPool-1-backward"]
    assert shared_with_gradient(average) == shared_with_gradient(backward)
    assert "overhang-divisor" in shared_with_gradient(average)
