"""Rules are learned from what small backends with one stated fault each make of cases."""

from functools import cache

import numpy as np
import pytest
from support.fakes import pool, ramp, vector
from support.samples import around, sample, samples

from conformance.cases.near import Feature
from conformance.diagnosis.elements import ALL_AXES, FIRST_AXIS, layout_of
from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.rules import Condition, Edge, Rule, learned, manner_of
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
ALL = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)


@cache
def rules_of(fault):
    return learned(samples(cases(), fault))


@ALL
def test_the_shortest_rule_is_the_fault(fault):
    assert rules_of(fault)[0].words == FAULTS[fault]


@ALL
def test_a_rule_predicts_cases_that_it_has_not_seen(fault):
    """Those that fail and those that do not."""
    rule = rules_of(fault)[0]
    fresh = samples(cases(seed=7), fault)
    assert any(s.failed for s in fresh)
    assert all(rule.predicts(s) for s in fresh)
    assert [rule.fails(s.vector) for s in fresh] == [s.failed for s in fresh]


@ALL
def test_a_right_backend_refutes_every_rule(fault):
    """Where a rule says that it fails, it does not."""
    rule = rules_of(fault)[0]
    sound = samples(cases(seed=7), lambda _vector, output: output)
    refuted = [s for s in sound if not rule.predicts(s)]
    assert refuted
    assert all(rule.fails(s.vector) for s in refuted)


@pytest.mark.parametrize("fault", [from_channel_16, from_row_8, two_places, at_end_padding])
def test_another_fault_refutes_a_rule(fault):
    """Wrong elements outside of its place, or right ones inside."""
    fresh = samples(cases(seed=7), last_position)
    assert not all(rule.predicts(s) for rule in rules_of(fault) for s in fresh)


def test_the_largest_cell_of_a_window_is_known():
    """A rule may go by it."""
    words = rules_of(from_cells_above_100)[0].words
    assert words.startswith("wrong values in windows whose largest cell is at least 1")


def test_a_rule_names_those_that_say_less():
    """Each lacks one condition."""
    conditions = Condition(Feature("channel"), "from", 9.0), Condition(Feature("rank"), "is", 2.0)
    assert [rule.words for rule in Rule((conditions,)).shorter] == [
        "wrong values where the number of spatial axes is 2",
        "wrong values in channels from 9 on",
    ]


def channels_beyond(*condition):
    return [
        case.inputs[0].shape[1]
        for case in Condition(Feature("channels"), *condition).beyond(AVERAGE)
    ]


def test_cases_beyond_a_threshold_lie_on_the_other_side():
    """Near to it and far; none for a number in the data, which no size lets occur."""
    assert channels_beyond("to", 9.0) == [10, 20]
    assert channels_beyond("from", 9.0) == [8, 4]
    assert not list(Condition(Feature("largest_cell"), "to", np.inf).beyond(AVERAGE))


def test_cases_beyond_a_number_tell_it_from_a_remainder():
    """Some have a number of the same remainder, for either condition."""
    assert channels_beyond("modulo", 3.0, 16) == [19, 35]
    assert 19 in channels_beyond("is", 3.0)


def test_cases_beyond_a_word_have_another_one():
    """Of an attribute, or a type."""
    words = Condition(Feature("auto_pad"), "is", frozenset({"explicit"})).beyond(AVERAGE)
    assert {"valid", "same_upper"} <= {case.attributes.get("auto_pad") for case in words}
    types = Condition(Feature("dtype"), "is", frozenset({"float32"})).beyond(AVERAGE)
    assert "float16" in {case.inputs[0].dtype.name for case in types}


def test_cases_beyond_an_equality_are_as_equal():
    """Whether it is about equal numbers, or about these, shows with others."""
    equal = Condition(Feature("strides_equal_kernel", ALL_AXES), "is", value=True, over="every")
    made = [
        (case.attributes["strides"], case.attributes["kernel"]) for case in equal.beyond(AVERAGE)
    ]
    assert all(strides == kernel for strides, kernel in made)
    assert len({tuple(kernel) for _, kernel in made}) > 2


ODD = Condition(Feature("kernel", ALL_AXES), "modulo", 1.0, 2, over="some")
STRIDED = Condition(Feature("strides", ALL_AXES), "is", 2.0, over="some")


@pytest.mark.parametrize(("strides", "holds"), [([2, 1], True), ([1, 2], False)])
def test_conditions_on_some_axis_are_of_one_and_the_same(strides, holds):
    """Not one of one axis and one of another."""
    given = {**PLANE, "kernel": [3, 2], "strides": strides}
    where = Rule(((ODD, STRIDED),))
    assert where.fails(vector(ramp(1, 2, 6, 7), pool(**given))) == holds
    assert where.words == (
        "wrong values where the kernel on some axis is odd and the stride on that axis is 2"
    )


def test_conditions_on_one_and_the_same_axis_are_learned():
    """Each alone holds in cases that are right."""

    def alter(vector, output):
        case = vector.case.attributes
        pairs = zip(case.get("kernel", ()), case.get("strides", ()), strict=True)
        if any(kernel % 2 and stride == 2 for kernel, stride in pairs):
            output[:] = 77

    found = learned(samples(cases(), alter))
    fresh = [s for s in samples(cases(seed=8), alter) if s.vector.values]
    assert all(found[0].predicts(s) for s in fresh)


def test_nothing_is_learned_where_nothing_fails():
    """A rule needs a failure."""
    assert learned(samples(cases(), lambda _vector, output: output)) == []
    assert learned([]) == []


def test_the_same_samples_and_seed_give_the_same_rules():
    """So that a report can be made again."""
    made = samples(cases(), from_channel_16)
    assert [r.words for r in learned(made, 3)] == [r.words for r in learned(made, 3)]


def test_rules_that_the_data_cannot_tell_apart_are_all_returned():
    """The channel, the plane and the place in the output, where one batch fails."""
    failing = vector(ramp(1, 20, 3), pool(kernel=[1], strides=[1])).case
    fine = vector(ramp(1, 4, 3), pool(kernel=[1], strides=[1])).case
    rules = learned(samples([failing, fine], from_channel_16))
    features = {c.feature.name for rule in rules for place in rule.places for c in place}
    assert {"channel", "plane", "element_of_all"} <= features


def test_elements_that_are_right_by_chance_do_not_refute_a_rule():
    """Most of its place must be wrong; the words say that not all is."""

    def three_quarters(_vector, output):
        wrong = np.random.default_rng(output.size).random(output.shape) < 0.75
        wrong[:, :8] = False
        output[wrong] = 77

    rule = learned(samples(cases(), three_quarters))[0]
    assert rule.words == "some values are wrong in channels from 8 on"
    assert all(rule.predicts(s) for s in samples(cases(seed=7), three_quarters))


def test_an_edge_is_where_a_case_is_drawn():
    """Between the largest right and the smallest wrong value: bisection finds it."""

    def from_kernel_12(vector, output):
        if vector.case.attributes["kernel"][-1] >= 12:
            output[...] = 77

    made = [
        vector(ramp(1, 1, 60), pool(kernel=[kernel], strides=[1])).case for kernel in (2, 3, 5, 40)
    ]
    for _ in range(8):
        rules = learned(samples(made, from_kernel_12))
        edges = [edge for rule in rules for edge in rule.edges if edge.feature.name == "kernel"]
        drawn = [case for edge in edges if (case := edge.case(made[-1])) is not None]
        if not drawn:
            break
        made += drawn[:1]
    assert Edge(Feature("kernel", 1), 11, 12) in edges


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


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(Feature("channel"), "is", 0.0), "the first channel"),
        (Condition(Feature("channel_end"), "is", 0.0), "the last channel"),
        (Condition(Feature("batch_index"), "to", 3.0), "batches to 3"),
        (
            Condition(Feature("position", 2), "modulo", 1.0, 2),
            "odd rows",
        ),
        (
            Condition(Feature("overhang", 1), "from", 1.0),
            "windows that overhang the last axis by at least 1 cell",
        ),
        (
            Condition(Feature("kernel", 3), "modulo", 0.0, 2),
            "the kernel on the last axis but two is even",
        ),
        (
            Condition(Feature("padded", ALL_AXES), "is", value=False, over="every"),
            "there are pads on no axis",
        ),
        (
            Condition(Feature("kernel", ALL_AXES), "modulo", 0.0, 2, over="some"),
            "the kernel on some axis is even",
        ),
        (
            Condition(Feature("position", ALL_AXES), "is", 0.0, over="every"),
            "the first place along every axis",
        ),
        (
            Condition(Feature("position_end", FIRST_AXIS), "to", 2.0),
            "places from the end to 2 along the first axis",
        ),
        (
            Condition(Feature("position_tail_4", FIRST_AXIS), "is", value=False),
            "places before it along the first axis",
        ),
        (
            Condition(Feature("size", FIRST_AXIS), "from", 9.0),
            "the size of the first axis is at least 9",
        ),
        (Condition(Feature("dtype"), "is not", frozenset({"int8"})), "the type is not int8"),
        (Condition(Feature("value"), "from", 0.5), "elements whose right value is at least 0.5"),
    ],
)
def test_conditions_are_said_in_plain_words(condition, words):
    """A noun phrase for elements, a sentence for cases."""
    assert condition.words == words


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


def test_data_that_are_not_finite_do_no_harm():
    """Infinities and NaN are values as any other."""
    data = ramp(1, 3, 8)
    data[:, 1] = np.inf
    data[:, 2, 3] = np.nan
    wrong = samples([vector(data, pool()).case, *cases(count=20)], first_infinity)
    assert [rule.words for rule in learned(wrong)]


def first_infinity(_vector, output):
    output[np.isinf(output)] = 0


def test_a_rule_without_conditions_holds_everywhere():
    """Every element of every case."""
    rule = Rule(((),))
    made = vector_of(AVERAGE)
    assert rule.words == "wrong values everywhere"
    assert rule.wrong(made).all()
    assert rule.predicts(sample(made, lambda _vector, output: output - 1))


@pytest.mark.parametrize("over", ["some", "every"])
def test_a_condition_on_axes_holds_nowhere_without_axes(over):
    """An invalid case may have none."""
    condition = Condition(Feature("kernel", ALL_AXES), "from", 2.0, over=over)
    assert not condition.holds([])


def test_a_rule_explains_failures_of_its_own_manner_alone():
    """Wrong values are no exception, wherever exceptions come."""
    rule = Rule(((Condition(Feature("kernel", 1), "from", 3.0),),), "exception")
    made = sample(vector(ramp(1, 1, 6), pool(kernel=[2])), lambda _, got: got + 1)
    raised = Sample(vector(ramp(1, 1, 6), pool(kernel=[3])), None, failed=True)
    assert rule.explains(raised)
    assert not rule.explains(made)


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
    assert {manner_of(sample) for sample in found} == {"outputs"}
    rule = learned(found)[0]
    assert rule.words == "wrong values of a further output in channels from 1 on"
    assert rule.predicts(found[0])


def test_a_further_output_of_another_shape_is_of_another_shape():
    """Its type is not what is wrong with it."""
    made = vector_of(Case("1", "MaxPool-8", pool("MaxPool-8"), (ramp(1, 1, 6),)))
    values, indices = (output.values for output in made.values[0].outputs)
    assert manner_of(Sample(made, (values, indices[..., :1]), failed=True)) == "shape"
    assert manner_of(Sample(made, (values, indices.astype("int8")), failed=True)) == "type"
