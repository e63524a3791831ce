"""The public strategies: what they draw is valid, reaches far, and shrinks to the plainest."""

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from support.effort import examples, one_in

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.strategies import MIXES, arrays, attributes, cases, invalid_cases

SHRINK = settings(
    max_examples=5000,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
)

DRAW = settings(SHRINK, phases=[Phase.generate])


def smallest(strategy, condition=lambda _: True):
    return find(strategy, condition, settings=SHRINK)


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_plainest_case_is_as_small_as_can_be(operator):
    """One batch, one channel, axes of one cell, which is zero; attributes absent or plain."""
    case = smallest(cases(operator))
    axes = OPERATORS[operator].axes[0]
    assert np.array_equal(case.inputs[0], np.zeros((1, 1, *[1] * axes)))
    assert case.inputs[0].dtype == np.float32
    listed = [value for value in case.attributes.values() if isinstance(value, list)]
    assert all(set(value) in ({0}, {1}) for value in listed)
    assert {"auto_pad", "rounding_type", "padding_below"}.isdisjoint(case.attributes)


@pytest.mark.parametrize(
    ("condition", "shape"),
    one_in(2, [
        (lambda c: c.inputs[0].ndim == 5, (1, 1, 1, 1, 1)),
        (lambda c: c.inputs[0].shape[1] > 4, (1, 5, 1)),
        (lambda c: c.inputs[0].shape[0] > 2, (3, 1, 1)),
        (lambda c: max(c.attributes["kernel"]) > 8, (1, 1, 9)),
        (lambda c: max(c.attributes["strides"]) > 12, (1, 1, 1)),
        (lambda c: any(p >= k for p, k in zip(c.attributes["pads_end"], c.attributes["kernel"],
                                             strict=True)), (1, 1, 1)),
        (lambda c: c.attributes.get("auto_pad") == "valid", (1, 1, 1)),
        (lambda c: max(c.inputs[0].shape[2:]) > 40, (1, 1, 41)),
        (lambda c: max(c.inputs[0].shape[2:]) > 126, (1, 1, 127)),
        (lambda c: max(c.attributes["kernel"]) > 255, (1, 1, 256)),
        pytest.param(
            lambda c: c.inputs[0].shape[0] > 256, (257, 1, 1),
            marks=pytest.mark.slow("a large kernel shrinks in the same way"),
        ),
    ]),
    ids=["axes", "channels", "batch", "kernel", "stride", "pad", "auto_pad", "size", "long",
         "large kernel", "large batch"],
)  # fmt: skip
def test_one_thing_asked_for_leaves_the_rest_small(condition, shape):
    """What does not matter shrinks to nothing, whatever it is that matters."""
    case = smallest(cases("AvgPool-1"), condition)
    assert case.inputs[0].shape == shape
    assert not case.inputs[0].any()


def test_windows_are_square_now_and_then():
    """Kernels have fast ways for these: equal strides above 1, and a pad at one place alone."""

    def square(case):
        given = case.attributes
        pads = [*given["pads_begin"], *given["pads_end"]]
        same = len(set(given["kernel"])) == len(set(given["strides"])) == 1
        return same and given["kernel"][0] > 1 < given["strides"][0] and sum(map(bool, pads)) == 1

    case = smallest(cases("AvgPool-1", axes=2), square)
    assert (case.attributes["kernel"], case.attributes["strides"]) == ([2, 2], [2, 2])


def test_data_shrink_to_the_cell_that_matters():
    """A NaN that is needed is all that is left."""
    data = smallest(
        cases("AvgPool-1", dtypes=["float32"]), lambda case: np.isnan(case.inputs[0]).any()
    ).inputs[0]
    assert (data.shape, np.isnan(data).all()) == ((1, 1, 1), True)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@given(data=st.data())
@examples(0.3)
def test_arrays_have_the_type_and_shape_asked_for(dtype, data):
    """In every mix that the type can hold."""
    drawn = data.draw(arrays(dtype, (2, 1, 3)))
    assert (drawn.dtype, drawn.shape) == (dtype_of(dtype), (2, 1, 3))


@pytest.mark.parametrize("mix", MIXES)
def test_every_mix_starts_from_zeros(mix):
    """Whatever the data are, nothing is plainer than zeros."""
    assert smallest(arrays("float16", (1, 1, 4), mixes=[mix])).tolist() == [[[0.0] * 4]]


@pytest.mark.parametrize(
    ("mix", "condition"),
    [
        ("integers", lambda x: (x == -8).any()),
        ("special", np.isnan),
        ("special", np.isinf),
        ("special", lambda x: x == np.finfo(np.float32).max),
        ("special", lambda x: x == -np.finfo(np.float32).max),
        ("extremes", lambda x: (x != 0) & (np.abs(x) < np.finfo(np.float32).tiny)),
        ("extremes", lambda x: np.abs(x) > 1e38),
        ("any", lambda x: (x != 0) & (np.abs(x) < 1e-30)),
        ("any", lambda x: np.abs(x) > 1e30),
        ("ties", lambda x: x == 1 + np.finfo(np.float32).eps),
    ],
)
def test_mixes_reach_what_they_are_for(mix, condition):
    """Subnormal numbers, infinities, the ends of the range, neighbours of 1."""
    found = smallest(arrays("float32", (1, 1, 1), mixes=[mix]), lambda x: np.any(condition(x)))
    assert found.shape == (1, 1, 1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: cases("Pool"), "unknown operator"),
        (lambda: cases("AvgPool-1", dtypes=["int8"]), "does not take int8"),
        (lambda: cases("AvgPool-1", dtypes=["float8"]), "unknown element type"),
        (lambda: cases("AvgPool-1", dtypes=[]), "empty"),
        (lambda: cases("AvgPool-1", axes=4), "1 to 3"),
        (lambda: cases("AvgPool-1", mixes=["noise"]), "unknown mix"),
        (lambda: cases("AvgPool-1", max_elements=0), "max_elements"),
        (lambda: arrays("int8", (1,), mixes=["special"]), "unknown mix"),
        (lambda: attributes("MaxPool-1", axes=0), "1 to 3"),
    ],
)
def test_wrong_arguments_are_refused_at_once(wrong, said):
    """Before anything is drawn, and with what is allowed."""
    with pytest.raises(UsageError, match=said):
        wrong()


@given(cases("MaxPool-1", mixes=["special"]))
@examples(0.5)
def test_types_that_cannot_hold_a_mix_are_left_out(case):
    """Infinities and NaN are asked for: no case is of integers."""
    assert case.inputs[0].dtype.name in FLOATS


@pytest.mark.parametrize(
    ("operator", "condition"),
    [
        ("LiteRT-AVERAGE_POOL_2D", lambda case: case.data.dtype == np.int8),
        ("TOSA-AVG_POOL2D", lambda case: case.data.dtype == np.int16),
        ("TOSA-MAX_POOL2D", lambda case: case.data.dtype.name == "float8_e5m2"),
        ("WebNN-averagePool2d", lambda case: "outputSizes" in case.attributes),
    ],
)
def test_what_a_document_defines_is_drawn(operator, condition):
    """Averages of integers whose rounding it says, float8, an output size that a caller gives."""
    find(cases(operator), condition, settings=DRAW)


def test_a_maximum_may_be_below_zero():
    """Data with no number above zero come up, whatever else they are."""
    found = smallest(arrays("float32", (1, 1, 4), mixes=["normals"]), lambda x: (x < 0).all())
    assert (found < 0).all()


@pytest.mark.parametrize(
    ("strategy", "shown"),
    [
        (cases("MaxPool-1"), "x=Case(id='MaxPool-1/float32/1x1x1/k1-s1-b0-e0/"),
        pytest.param(
            invalid_cases("AdaptiveAvgPool-8"),
            "x=Case(id='AdaptiveAvgPool-8/float32/1x1x1/",
            marks=pytest.mark.slow("other strategies are shown"),
        ),
        (attributes("MaxPool-1", axes=1), "x={'kernel': [1],"),
        (arrays("float32", (1, 1, 1)), "x=array([[[0.]]], dtype=float32)"),
    ],
)
def test_a_failing_example_is_shown_as_what_it_is(strategy, shown):
    """Not as the calls and draws that it was made of."""

    @given(x=strategy)
    @settings(database=None, max_examples=5)
    def fails(x):
        raise ValueError(type(x))

    with pytest.raises(ValueError, match="class") as caught:
        fails()
    assert shown in "\n".join(caught.value.__notes__)


def test_cases_of_any_operator_are_of_all():
    """Without a name, any operator comes up: here a few."""
    for operator in [*OPERATORS][::30]:
        find(cases(), lambda case, operator=operator: case.operator == operator, settings=DRAW)
