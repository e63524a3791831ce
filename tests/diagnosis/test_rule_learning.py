"""Rules are learned from what small backends with one stated fault each make of cases."""

from functools import cache

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import pool, ramp, vector
from support.samples import around, samples

from conformance.cases.perturb import Feature
from conformance.diagnosis.claim import Claim, Substitute
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.elements import ALL_AXES, layout_of
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.rule_learning import Edge, learned
from conformance.diagnosis.sample import Sample
from conformance.operators import vector_of
from conformance.vector import Case

PLANE = {"kernel": [3, 3], "strides": [1, 1], "pads_begin": [1, 0], "pads_end": [0, 1]}
AVERAGE = vector(ramp(1, 4, 6, 7), pool(**PLANE)).case
MAXIMUM = vector(ramp(1, 4, 6, 7), pool("MaxPool-1", **PLANE), operator="MaxPool-1").case
VOLUME = {"kernel": [2] * 3, "strides": [1] * 3, "pads_begin": [0] * 3, "pads_end": [1] * 3}
BASES = (
    AVERAGE,
    MAXIMUM,
    vector(ramp(1, 20, 4, 5), pool(**PLANE)).case,
    vector(ramp(2, 3, 12, 20), pool(**PLANE)).case,
    vector(ramp(1, 2, 4, 3, 3, dtype="float16"), pool(**VOLUME)).case,
)


@cache
def cases(seed=0, count=150):
    """Return cases near some that have what faults go by: channels, a wide plane, a volume."""
    return [*BASES, *around(BASES, count, seed)]


def from_channel_16(_vector, output):
    output[:, 16:] = 77


def from_channel_16_where_odd(vector, output):
    if vector.case.inputs[0].shape[-1] % 2:
        output[:, 16:] = 77


def every_eighth_position(_vector, output):
    output[..., 7::8] = 77


def last_position(_vector, output):
    output[..., -1] = 77


def from_row_8(_vector, output):
    if output.ndim > 3:
        output[..., 8:, :] = 77


def at_end_padding(vector, output):
    ends = layout_of(vector, {}).value(Feature("end_pad", ALL_AXES))
    for cells in ends:
        output[np.broadcast_to(cells > 0, output.shape)] = 77


def first_channel_of_later_batches(_vector, output):
    output[1:, 0] = 77


def all_of_float16(vector, output):
    if output.dtype == np.float16:
        output[...] = 77


def two_places(_vector, output):
    output[:, 16:] = 77
    output[..., 9:] = 77


def where_some_kernel_is_even(vector, output):
    kernel = vector.case.attributes.get("kernel", [])
    if any(k % 2 == 0 for k in kernel):
        output[...] = 77


def where_the_first_axis_is_long(vector, output):
    if vector.case.inputs[0].shape[2] > 6:
        output[...] = 77


def from_cells_above_100(vector, output):
    largest = layout_of(vector, {}).value(Feature("largest_cell"))
    output[largest >= 100] = 0


def refuses_float16_volumes(_vector, output):
    if output.dtype == np.float16 and output.ndim == 5:
        raise ValueError("not supported")


def shorter(_vector, output):
    return output[..., :-1] if output.shape[-1] > 4 else output


FAULTS = {
    from_channel_16: "wrong values in channels from 16 on",
    from_channel_16_where_odd: "wrong values in channels from 16 on, "
    "where the size of the last axis is odd",
    every_eighth_position: "wrong values in columns that are 7 modulo 8",
    last_position: "wrong values in the last column",
    from_row_8: "wrong values in rows from 8 on",
    at_end_padding: "wrong values in windows with at least 1 cell in the end padding of some axis",
    first_channel_of_later_batches: "wrong values in the first channel and in batches from 1 on",
    all_of_float16: "wrong values where the type is float16",
    two_places: "wrong values in channels from 16 on; also in columns from 9 on",
    where_some_kernel_is_even: "wrong values where the kernel on some axis is even",
    where_the_first_axis_is_long: "wrong values where the size of the first axis is at least 7",
    refuses_float16_volumes: "an exception where the type is float16 and "
    "the number of spatial axes is at least 3",
    shorter: "an output of another shape where the output size of the last axis is at least 5",
}
PREDICTIONS = Predictions(lambda _: {})
ALL = pytest.mark.parametrize("fault", one_in(2, FAULTS), ids=lambda fault: fault.__name__)


@cache
def rules_of(fault):
    return claims(samples(cases(), fault))


def claims(samples, seed=0):
    """Return the claims of the rules that are learned, the shortest first."""
    (manner,) = {sample.manner for sample in samples if sample.failed}
    return [rule.claim for rule in learned(samples, manner, seed)]


def test_a_code_path_fails_in_one_manner_or_another():
    """Where it raises exceptions for one type and returns wrong values of others, a rule says."""

    def channels_from_8(case, output):
        if case.case.data.shape[1] < 8:
            return output
        if case.case.data.dtype == np.float16:
            raise ValueError("not supported")
        return output + 1

    given = samples(cases(), channels_from_8)
    assert {sample.manner for sample in given if sample.failed} == {"exception", "values"}
    rule = learned(given, "any")[0]
    assert (
        rule.claim.words
        == "an exception or a wrong result where the number of channels is at least 8"
    )
    assert all(PREDICTIONS.predicts(rule.claim, sample) for sample in given)


@ALL
def test_the_shortest_rule_is_the_fault(fault):
    assert rules_of(fault)[0].words.partition(":")[0] == FAULTS[fault]


@ALL
def test_a_rule_predicts_cases_that_it_has_not_seen(fault):
    """Those that fail and those that do not."""
    claim = rules_of(fault)[0]
    fresh = samples(cases(seed=7), fault)
    assert any(s.failed for s in fresh)
    assert all(PREDICTIONS.predicts(claim, s) for s in fresh)
    assert [PREDICTIONS.fails(claim, s.vector) for s in fresh] == [s.failed for s in fresh]


@ALL
def test_a_right_backend_refutes_every_rule(fault):
    """Where a rule says that it fails, it does not."""
    claim = rules_of(fault)[0]
    sound = samples(cases(seed=7), lambda _vector, output: output)
    refuted = [s for s in sound if not PREDICTIONS.predicts(claim, s)]
    assert refuted
    assert all(PREDICTIONS.fails(claim, s.vector) for s in refuted)


@pytest.mark.parametrize(
    "fault", one_in(2, [from_channel_16, from_row_8, two_places, at_end_padding])
)
def test_another_fault_refutes_a_rule(fault):
    """Wrong elements outside of its place, or right ones inside."""
    fresh = samples(cases(seed=7), last_position)
    assert not all(PREDICTIONS.predicts(claim, s) for claim in rules_of(fault) for s in fresh)


def test_the_largest_cell_of_a_window_is_known():
    """A rule may go by it."""
    words = rules_of(from_cells_above_100)[0].words
    assert words.startswith("wrong values in windows whose largest cell is at least 1")


def test_a_rule_names_those_that_say_less():
    """Each lacks one condition."""
    conditions = Condition(Feature("channel"), "from", 9.0), Condition(Feature("rank"), "is", 2.0)
    assert [claim.words for claim in Claim(Substitute(), (conditions,)).shorter] == [
        "wrong values where the number of spatial axes is 2",
        "wrong values in channels from 9 on",
    ]


def test_conditions_on_one_and_the_same_axis_are_learned():
    """Each alone holds in cases that are right."""

    def alter(vector, output):
        case = vector.case.attributes
        pairs = zip(case.get("kernel", ()), case.get("strides", ()), strict=True)
        if any(kernel % 2 and stride == 2 for kernel, stride in pairs):
            output[:] = 77

    found = claims(samples(cases(), alter))
    fresh = [s for s in samples(cases(seed=8), alter) if s.vector.values]
    assert all(PREDICTIONS.predicts(found[0], s) for s in fresh)


def test_rules_that_the_data_cannot_tell_apart_are_all_returned():
    """The channel, the plane and the place in the output, where one batch fails."""
    failing = vector(ramp(1, 20, 3), pool(kernel=[1], strides=[1])).case
    fine = vector(ramp(1, 4, 3), pool(kernel=[1], strides=[1])).case
    found = claims(samples([failing, fine], from_channel_16))
    features = {c.feature.name for claim in found for place in claim.places for c in place}
    assert {"channel", "plane", "element_of_all"} <= features


def test_elements_that_are_right_by_chance_do_not_refute_a_rule():
    """Most of its place must be wrong; the words say that not all is."""

    def three_quarters(_vector, output):
        wrong = np.random.default_rng(output.size).random(output.shape) < 0.75
        wrong[:, :8] = False
        output[wrong] = 77

    claim = claims(samples(cases(), three_quarters))[0]
    assert claim.words.partition(":")[0] == "some values are wrong in channels from 8 on"
    assert all(PREDICTIONS.predicts(claim, s) for s in samples(cases(seed=7), three_quarters))


def test_an_edge_is_where_a_case_is_drawn():
    """Between the largest right and the smallest wrong value: bisection finds it."""

    def from_kernel_12(vector, output):
        if vector.case.attributes["kernel"][-1] >= 12:
            output[...] = 77

    made = [
        vector(ramp(1, 1, 60), pool(kernel=[kernel], strides=[1])).case for kernel in (2, 3, 5, 40)
    ]
    for _ in range(8):
        rules = learned(samples(made, from_kernel_12), "values")
        edges = [edge for rule in rules for edge in rule.edges if edge.feature.name == "kernel"]
        drawn = [case for edge in edges if (case := edge.case(made[-1])) is not None]
        if not drawn:
            break
        made += drawn[:1]
    assert Edge(Feature("kernel", 1), 11, 12) in edges


def test_data_that_are_not_finite_do_no_harm():
    """Infinities and NaN are values as any other."""
    data = ramp(1, 3, 8)
    data[:, 1] = np.inf
    data[:, 2, 3] = np.nan
    wrong = samples([vector(data, pool()).case, *cases(count=20)], first_infinity)
    assert claims(wrong)


def first_infinity(_vector, output):
    output[np.isinf(output)] = 0


def test_indices_are_wrong_in_places_of_their_own():
    """Where values are right, the rule says which elements of the further output are wrong."""

    def wrong_indices(case):
        made = vector_of(case)
        values, indices = (output.values for output in made.values[0].outputs)
        further = np.zeros(values.shape, np.bool_)
        further[:, 1:] = True
        none = np.zeros(values.shape, np.bool_)
        outputs = values, np.where(further, indices + 1, indices)
        return Sample(made, outputs, further.any(), none, ~none, further)

    case = Case("1", "MaxPool-8", pool("MaxPool-8"), (ramp(2, 3, 6),))
    near = [each for each in around([case], 40) if each.data.shape[1] > 1]
    found = [wrong_indices(each) for each in [case, *near]]
    assert {sample.manner for sample in found} == {"outputs"}
    claim = claims(found)[0]
    assert claim.words == "wrong values of a further output in channels from 1 on"
    assert PREDICTIONS.predicts(claim, found[0])


def test_a_further_output_of_another_shape_is_of_another_shape():
    """Its type is not what is wrong with it."""
    made = vector_of(Case("1", "MaxPool-8", pool("MaxPool-8"), (ramp(1, 1, 6),)))
    values, indices = (output.values for output in made.values[0].outputs)
    assert Sample(made, (values, indices[..., :1]), failed=True).manner == "shape"
    assert Sample(made, (values, indices.astype("int8")), failed=True).manner == "type"
