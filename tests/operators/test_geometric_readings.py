"""The geometry under all readings at once is that of each combination alone."""

import dataclasses

import numpy as np
import pytest

from conformance.operators import OPERATORS, Params
from conformance.operators import pipeline as steps
from conformance.operators.clauses import under
from conformance.operators.geometric_readings import (
    GeometricReadings,
    combinations,
    geometric_readings,
    told_apart,
)

AVERAGE = OPERATORS["AvgPool-1"]
PARAMS = Params(
    sizes=(5, 7),
    kernel=(3, 2),
    strides=(2, 3),
    pads_begin=(1, 0),
    pads_end=(2, 1),
    rounding="ceil",
)


@pytest.mark.parametrize("name", ["AvgPool-1", "ONNX-MaxPool-22", "AdaptiveAvgPool-8"])
@pytest.mark.parametrize("auto_pad", ["explicit", "same_upper", "valid"])
def test_each_combination_has_its_own_plan(name, auto_pad):
    """The numbers of plans follow the order of the combinations."""
    operator = OPERATORS[name]
    params = dataclasses.replace(PARAMS, auto_pad=auto_pad)
    if operator.is_adaptive:
        params = Params(sizes=(5, 7), output=(2, 3))
    readings = geometric_readings(operator)
    plans, which = readings.plans(params)
    alone = [under(operator, chosen).plan(params) for chosen in combinations(readings.clauses)]
    assert [plans[number].key for number in which] == [plan.key for plan in alone]
    assert readings.extents(params) == {plan.extent for plan in alone}


def test_a_step_runs_once_for_what_differs():
    """However many combinations of readings there are."""
    calls = []

    def divide(*given):
        calls.append(given)
        return steps.count_cells(*given)

    pipeline = AVERAGE.pipeline.replace(divide=divide)
    readings = GeometricReadings(dataclasses.replace(AVERAGE, pipeline=pipeline))
    plans, which = readings.plans(dataclasses.replace(PARAMS, rounding="floor"))
    assert len(which) > 100
    assert len(calls) < len(which) / 10
    assert len(plans) < len(which) / 10


class TestToldApart:
    """Clauses that make a difference are those of which a reading gives something else."""

    CLAUSES = geometric_readings(AVERAGE).clauses[:2]

    def which(self, numbers):
        counts = [len(clause.readings) for clause in self.CLAUSES]
        return np.broadcast_to(numbers, counts).ravel()

    def test_no_clause_touches_where_all_is_the_same(self):
        """Two things with one key are the same."""
        given = [(1, "a"), (1, "b")]
        which = self.which(np.zeros((1, 1), np.int64))
        assert told_apart(self.CLAUSES, given, which, lambda each: each[0]) == (
            [({}, (1, "a"))],
            {},
        )

    def test_the_clause_that_touches_is_named_with_its_readings(self):
        """And each of its readings with what it gives, the other clause at its default."""
        clause = self.CLAUSES[1]
        names = [reading.name for reading in clause.readings]
        which = self.which(np.arange(len(names)))
        apart, touching = told_apart(self.CLAUSES, names, which, str)
        assert apart == [({clause.name: name}, name) for name in names]
        assert touching == {clause.name: tuple(names)}
