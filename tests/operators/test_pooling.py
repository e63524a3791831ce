"""A windowed operator in terms of any engine: explicit pads, divisors, whether rounding matters."""

import numpy as np
import pytest
from hypothesis import given
from support.drawn_params import hard_cases
from support.fakes import pool, ramp
from support.made_up import registered

from conformance import Unsupported, evaluate, pooling_of
from conformance.operators import MAXIMUM, OPERATORS, Attribute, Operator, sliding
from conformance.operators.outcomes import undefined_as_a_whole

MAX = "MaxPool-1"


def of(operator, cells, *, takes=(), **attributes):
    """Return the pooling of one axis of some cells."""
    return pooling_of(operator, [ramp(1, 1, cells)], pool(operator, **attributes), takes=takes)


@given(hard_cases())
def test_explicit_pads_and_rounding_say_the_same(case):
    """What is handed on gives the divisors of the operator, without its words."""
    operator, inputs, attributes = case
    definition = OPERATORS[operator]
    if definition.is_adaptive or definition.scatters:
        with pytest.raises(Unsupported):
            pooling_of(operator, inputs, attributes)
        return
    params = definition.validate(inputs, attributes)
    if undefined_as_a_whole(definition, params, inputs):
        return
    takes = ("dilations", "ceil", "ceil_torch", "fixed_divisor", "rules")
    found = pooling_of(operator, inputs, attributes, takes=takes)
    plan = definition.pipeline.plan(params)
    assert tuple(zip(found.pads_begin, found.pads_end, strict=True)) == plan.pads
    assert np.array_equal(found.divisor, plan.divisor)
    sizes = inputs[0].shape[2:]
    numbers = zip(sizes, plan.pads, found.kernel, found.strides, found.dilations, strict=True)
    axes = [(d + begin, end - (k - 1) * n - 1, s) for d, (begin, end), k, s, n in numbers]
    up = [-(-(size + rest) // s) + 1 for size, rest, s in axes]
    if params.rounding == "ceil_torch":
        up = [o - ((o - 1) * s >= size) for o, (size, _, s) in zip(up, axes, strict=True)]
    down = [(size + rest) // s + 1 for size, rest, s in axes]
    assert [*plan.extent] == (up if found.ceil else down)
    assert found.ceil_matters == (params.ceil and up != down)


class TestWhatNotEveryEngineHas:
    """Dilations and ceil_torch are refused, unless an adapter says that it takes them."""

    def test_dilations(self):
        """Ones mean nothing; others would be lost on an engine that has none."""
        given = pool("MaxPool-8", kernel=[2], dilations=[1])
        assert of("MaxPool-8", 6, **given).dilations == (1,)
        with pytest.raises(Unsupported, match=r"dilations \[2\]"):
            of("MaxPool-8", 6, **given | {"dilations": [2]})
        assert of("MaxPool-8", 6, takes=["dilations"], dilations=[2]).dilations == (2,)

    def test_ceil_torch(self):
        """It is ceil where no window is left out."""
        given = {"kernel": [2], "strides": [2], "rounding_type": "ceil_torch"}
        assert of("MaxPool-14", 5, **given).params.rounding == "ceil"
        # Three cells, a pad at each end: windows at 0, 2 and 4, where the padding begins.
        given |= {"pads_begin": [1], "pads_end": [1]}
        with pytest.raises(Unsupported, match="starts in padding"):
            of("MaxPool-14", 3, **given)
        taken = of("MaxPool-14", 3, takes=["ceil_torch"], **given)
        assert (taken.params.rounding, taken.extent) == ("ceil_torch", (2,))

    def test_the_windows_of_each_axis_are_counted(self):
        """Only one of two axes has a window that ceil_torch leaves out."""
        given = {"kernel": [2, 2], "strides": [2, 2], "rounding_type": "ceil_torch"}
        given |= {"pads_begin": [1, 0], "pads_end": [1, 0]}
        attributes = pool("MaxPool-14", **given)
        taken = pooling_of("MaxPool-14", [ramp(1, 1, 3, 5)], attributes, takes=["ceil_torch"])
        assert taken.extent == (2, 3)


def test_an_adapter_needs_no_more():
    """A sum of padded windows by the divisors is the average."""
    attributes = pool(kernel=[3], auto_pad="same_lower", exclude_pad=True)
    found = of("AvgPool-1", 6, **attributes)
    padded = np.pad(ramp(6), (found.pads_begin[0], found.pads_end[0]))
    windows = np.lib.stride_tricks.sliding_window_view(padded, found.kernel)[:: found.strides[0]]
    expected = evaluate("AvgPool-1", [ramp(1, 1, 6)], attributes)
    assert ((windows.sum(axis=1) / found.divisor) == expected[0, 0]).all()
    assert (found.reduction, of(MAX, 6).reduction) == ("average", "maximum")


def test_whether_it_matters_that_padding_counts():
    """Not without padding, and never for a maximum."""
    assert of("AvgPool-1", 6, pads_begin=[1]).include_pad_matters
    assert not of("AvgPool-1", 6).include_pad_matters
    assert not of(MAX, 6, pads_begin=[1]).include_pad_matters


@pytest.mark.parametrize(
    "attributes",
    [{"strides": [0]}, {"kernel": [0]}, {"strides": []}, {"kernel": [2, 2]}],
)
@pytest.mark.parametrize("auto_pad", ["explicit", "same_upper", "valid"])
def test_what_is_invalid_is_left_to_the_engine(attributes, auto_pad):
    """It is handed on as it is given."""
    found = of(MAX, 6, auto_pad=auto_pad, rounding_type="ceil", **attributes)
    assert [*found.kernel] == attributes.get("kernel", [2])
    assert [*found.strides] == attributes.get("strides", [2])
    assert found.ceil_matters in {True, False}
    assert len(found.pads_begin) == len(found.pads_end)


def test_pads_that_a_word_replaces_are_not_lost():
    """Explicit ones are the engine's to refuse; in place of others it would see none of them."""
    assert of(MAX, 6, pads_begin=[-9]).pads_begin == (-9,)
    with pytest.raises(Unsupported, match=r"pads_begin=\[-9\]"):
        of(MAX, 6, pads_begin=[-9], auto_pad="valid")
    given = pool(MAX, pads_begin=[-9], auto_pad="valid")
    found = pooling_of(MAX, [ramp(1, 1, 6)], given, as_given=("pads_begin",))
    assert found.params.pads_begin == (-9,)


@pytest.mark.parametrize("given", [{"auto_pad": "same"}, {"rounding_type": 1}])
def test_a_value_that_means_nothing_is_for_engines_that_have_such_values(given):
    """For others there is nothing that it could be translated to."""
    (key,) = given
    with pytest.raises(Unsupported, match=key):
        of(MAX, 6, **given)
    attributes, roles = pool(MAX, **given), ("auto_pad", "rounding")
    params = pooling_of(MAX, [ramp(1, 1, 6)], attributes, as_given=roles).params
    assert given[key] in {params.auto_pad, params.rounding}


def test_other_operators_are_unsupported():
    """Those that divide their input, and those that nobody knows."""
    for operator in ("AdaptiveAvgPool-8", "SumPool-99"):
        with pytest.raises(Unsupported, match=operator):
            pooling_of(operator, [ramp(1, 1, 6), np.array([2])], {})


def test_a_whole_plane_is_one_window():
    """Its kernel has as many cells."""
    found = pooling_of("ONNX-GlobalLpPool-22", [ramp(1, 1, 4, 3)], {"p": 3})
    assert (found.kernel, found.strides, found.pads_end) == ((4, 3), (1, 1), (0, 0))
    assert (found.reduction, found.exponent) == ("norm", 3)


@pytest.mark.parametrize("given", [{"axis": 4}, {"axis": "1"}, {"index_element_type": "i16"}])
def test_how_indices_are_counted_is_checked(given):
    """An engine that counts in one way only would not see it."""
    (key,) = given
    with pytest.raises(Unsupported, match=key):
        of("MaxPool-8", 6, **given)


def test_a_document_without_some_attributes(made_up):
    """Strides are 1 and pads 0 where it has none."""
    found = pooling_of(made_up.name, [ramp(1, 1, 4, 4)], {"window": [2, 2]})
    assert (found.kernel, found.strides) == ((2, 2), (1, 1))
    assert (found.pads_begin, found.pads_end, found.ceil) == ((0, 0), (0, 0), False)


@pytest.fixture
def made_up():
    """Return an operator of a kernel alone, while it is among those there are."""
    operator = Operator(
        "Tallest-1", "one list", MAXIMUM, (Attribute("window", "kernel", "s"),), sliding(MAXIMUM)
    )
    with registered(operator):
        yield operator
