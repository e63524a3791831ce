"""A claim says what is wrong and where; failures are told apart by their manner."""

from support.fakes import pool, ramp, vector
from support.samples import sample

from conformance.cases.perturb import Feature
from conformance.diagnosis.claim import Claim, Substitute
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.elements import ALL_AXES, layout_of
from conformance.diagnosis.rule_learning import Edge
from conformance.diagnosis.sample import Sample
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
    claim = Claim(Substitute(), ((even, channels, padded), (channels,)))
    where = "the kernel on some axis is even and there are pads on that axis"
    assert claim.where == where
    assert claim.words == (
        f"wrong values in channels from 8 on, where {where}; also in channels from 8 on"
    )
    assert Claim(Substitute()).words == "wrong values everywhere"


def test_failures_are_told_apart_by_manner():
    """Values, an exception, a result of an invalid case, another shape, another type."""
    right, broken = vector_of(AVERAGE), vector(ramp(1, 1, 6), pool(kernel=[0]))
    (output,) = right.values[0].outputs
    assert sample(right, lambda _vector, output: output).manner is None
    assert sample(right, lambda _vector, output: output + 1).manner == "values"
    assert sample(right, shorter).manner == "shape"
    assert sample(right, lambda _vector, output: output.astype("float64")).manner == "type"
    assert Sample(right, None, failed=True).manner == "exception"
    assert Sample(broken, (output.values,), failed=True).manner == "accepted"
