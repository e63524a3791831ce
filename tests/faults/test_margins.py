"""Faults that few vectors could catch are caught by five or more, of different shapes."""

import pytest
from support.effort import one_in

from conformance import open_vectors
from conformance.api.strength import not_conforming
from conformance.faults import CATALOGUE, fault_named
from conformance.faults.baseline import Baseline, PlantedFaults, right_operator
from conformance.operators import OPERATORS
from conformance.vectorfile import shipped_suite

THIN = (
    *("integers-through-float32", "integers-through-float64", "compares-opposite-sign"),
    *("columns-above-4096-unwritten", "first-output-kept-by-sum"),
    *("index-of-lowest-integer-missing", "index-of-opposite-sign"),
    *(fault.name for fault in CATALOGUE if fault.name.startswith("cells-in-fixed-point-of")),
)
CASES = [
    (name, operator.name)
    for name in THIN
    for operator in OPERATORS.values()
    if fault_named(name).concerns(operator) and operator.levels != "least"
]


@pytest.mark.parametrize(("fault", "operator"), one_in(50, CASES))
def test_a_thin_fault_has_a_margin(fault, operator):
    """Any one vector may go, and four more."""
    planted = PlantedFaults((fault_named(fault),), operator)
    right = right_operator(operator, None)
    with open_vectors(shipped_suite() / f"{operator}.h5") as (file,):
        failing = {
            (vector.case.data.shape, str(vector.case.attributes))
            for vector in file
            if not_conforming([planted], vector, Baseline(vector.case, right))
        }
    assert len(failing) >= 5
