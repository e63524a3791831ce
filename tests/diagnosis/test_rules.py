"""Rules say which elements of which cases are wrong, and which failures they explain."""

from support.fakes import pool, ramp, vector
from support.samples import sample

from conformance.cases.near import Feature
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.elements import ALL_AXES, layout_of
from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.rules import Edge, Rule, manner_of
from conformance.operators import vector_of

PLANE = {"kernel": [3, 3], "strides": [1, 1], "pads_begin": [1, 0], "pads_end": [0, 1]}
AVERAGE = vector(ramp(1, 4, 6, 7), pool(**PLANE)).case


def shorter(_vector, output):
    return output[..., :-1] if output.shape[-1] > 4 else output


def test_an_edge_between_neighbours_has_no_case():
    assert Edge(Feature("channel"), 15, 16).case(AVERAGE) is None
    case = Edge(Feature("channel"), 8, 16).case(AVERAGE)
    assert case is not None
    assert case.inputs[0].shape[1] == 13


def test_readings_that_a_backend_follows_decide_what_its_windows_are():
    """Where a reading drops a window, elements of the other shape are compared."""
    attributes = pool(kernel=[2], strides=[3], pads_end=[1], rounding_type="ceil")
    case = vector(ramp(1, 1, 9), attributes)
    readings = {"ceil-window-past-input": "dropped"}
    shapes = {layout_of(case, {}).shape, layout_of(case, readings).shape}
    assert shapes == {(1, 1, 4), (1, 1, 3)}


def test_conditions_on_cases_are_said_apart_from_those_on_elements():
    """A fault is there in such cases alone; only the first of conditions says "some axis"."""
    channels = Condition(Feature("channel"), "from", 8.0)
    even = Condition(Feature("kernel", ALL_AXES), "modulo", 0.0, 2, over="some")
    padded = Condition(Feature("padded", ALL_AXES), "is", value=True, over="some")
    rule = Rule(((even, channels, padded), (channels,)))
    where = "the kernel on some axis is even and there are pads on that axis"
    assert rule.where == where
    assert rule.words == (
        f"wrong values in channels from 8 on, where {where}; also in channels from 8 on"
    )


def test_failures_are_told_apart_by_manner():
    """Values, an exception, a result of an invalid case, another shape, another type."""
    right, broken = vector_of(AVERAGE), vector(ramp(1, 1, 6), pool(kernel=[0]))
    (output,) = right.values[0].outputs
    assert manner_of(sample(right, lambda _vector, output: output)) is None
    assert manner_of(sample(right, lambda _vector, output: output + 1)) == "values"
    assert manner_of(sample(right, shorter)) == "shape"
    assert manner_of(sample(right, lambda _vector, output: output.astype("float64"))) == "type"
    assert manner_of(Sample(right, None, failed=True)) == "exception"
    assert manner_of(Sample(broken, (output.values,), failed=True)) == "accepted"


def test_a_rule_without_conditions_holds_everywhere():
    """Every element of every case."""
    rule = Rule(((),))
    made = vector_of(AVERAGE)
    assert rule.words == "wrong values everywhere"
    assert rule.wrong(made).all()
    assert rule.predicts(sample(made, lambda _vector, output: output - 1))


def test_a_rule_explains_failures_of_its_own_manner_alone():
    """Wrong values are no exception, wherever exceptions come."""
    rule = Rule(((Condition(Feature("kernel", 1), "from", 3.0),),), "exception")
    made = sample(vector(ramp(1, 1, 6), pool(kernel=[2])), lambda _, got: got + 1)
    raised = Sample(vector(ramp(1, 1, 6), pool(kernel=[3])), None, failed=True)
    assert rule.explains(raised)
    assert not rule.explains(made)
