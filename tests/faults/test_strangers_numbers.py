"""Faults tried on cases of a stranger, whose numbers need not mean anything."""

import tracemalloc
from dataclasses import replace

import pytest
from support.fakes import pool, ramp, vector

from conformance.faults import CATALOGUE
from conformance.faults.baseline import Baseline, PlantedFaults, right_operator
from conformance.operators import OPERATORS


@pytest.mark.parametrize(
    "attributes",
    [
        pool(strides=[10**30]),
        pool(pads_begin=[10**12]),
        pool(kernel=[10**9], pads_begin=[10**9], pads_end=[10**9], strides=[10**9]),
        pool(kernel=[2**62], pads_begin=[2**62], pads_end=[2**62]),
        pool(kernel=[2**70], pads_begin=[2**70]),
    ],
    ids=str,
)
@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
def test_no_fault_takes_memory_for_them(operator, attributes):
    """Each is tried on them, or is not; none raises."""
    case = replace(vector(ramp(1, 1, 6), operator=operator).case, attributes=attributes)
    tracemalloc.start()
    try:
        for fault in CATALOGUE:
            if fault.concerns(OPERATORS[operator]):
                planted = PlantedFaults((fault,), operator)
                planted.answer(Baseline(case, right_operator(operator, None)))
        assert tracemalloc.get_traced_memory()[1] < 1 << 28
    finally:
        tracemalloc.stop()
