"""A layout that an attribute chooses: of the arrays of a backend, and of nothing else."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import Unsupported, as_called, evaluate, pooling_of
from conformance.batch import batch_of
from conformance.cases.strategies import cases
from conformance.cases.sweep.layouts import layouts
from conformance.cases.sweep.sweep_model import cases_of
from conformance.errors import InvalidCase
from conformance.export import safetensors_export
from conformance.export.safetensors_export import Tensors
from conformance.operators import OPERATORS, vector_of
from conformance.vector import outputs_of

CHOOSING = [name for name, each in OPERATORS.items() if each.attribute("channels_last")]
LAYOUT = {"layout": "nhwc"}
WINDOWS = {"windowDimensions": [2, 3], "strides": [2, 1], "padding": [1, 0, 0, 1]}


def last(array):
    return np.moveaxis(array, 1, -1)


def named(operator, shape, **attributes):
    """Return the data and, for a gradient, the gradient of the output before them."""
    data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    if not operator.endswith("-backward"):
        return [data]
    output = evaluate(operator.removesuffix("-backward"), [data], attributes)
    return [np.cumsum(np.ones_like(output)).astype(np.float32).reshape(output.shape), data]


def test_the_operators_of_webnn_and_their_gradients_choose_a_layout():
    assert [name.split("-", 1)[0] for name in CHOOSING] == ["WebNN"] * 6


@pytest.mark.parametrize("operator", CHOOSING)
@pytest.mark.parametrize("attributes", [WINDOWS, {}], ids=["windows", "a window of the plane"])
def test_arrays_with_channels_last_give_the_same_with_channels_last(operator, attributes):
    inputs = named(operator, (2, 3, 4, 5), **attributes)
    expected = evaluate(operator, inputs, attributes)
    got = evaluate(operator, list(map(last, inputs)), {**attributes, **LAYOUT})
    np.testing.assert_array_equal(got, last(expected))
    said = evaluate(operator, inputs, {**attributes, "layout": "nchw"})
    np.testing.assert_array_equal(said, expected)


@given(st.sampled_from(CHOOSING).flatmap(cases))
def test_a_drawn_case_has_one_answer_in_both_layouts(case):
    answers = []
    for layout in ("nchw", "nhwc"):
        turned = replace(case, attributes={**case.attributes, "layout": layout})
        try:
            outputs = outputs_of(evaluate(case.operator, *as_called(turned)))
        except InvalidCase as error:
            answers.append(re.sub("nchw|nhwc", "", str(error)))
        else:
            answers.append([np.moveaxis(each, layout.index("c"), 1) for each in outputs])
    np.testing.assert_equal(answers[0], answers[1])


@pytest.mark.parametrize("layout", ["nearest", "", "NHWC", "nhwc ", None, True, ["nhwc"], {}, 1])
def test_a_layout_that_the_document_does_not_have_is_refused(layout):
    said = re.escape(f"layout={layout!r}: must be nchw or nhwc")
    with pytest.raises(InvalidCase, match=said):
        evaluate(CHOOSING[0], named(CHOOSING[0], (1, 2, 3, 4)), {"layout": layout})


def test_an_engine_that_knows_one_layout_gets_no_other():
    data = named(CHOOSING[0], (1, 2, 3, 4))
    assert pooling_of("WebNN-maxPool2d", data, {"layout": "nchw"}).kernel == (3, 4)
    with pytest.raises(Unsupported, match="channels last"):
        pooling_of("WebNN-maxPool2d", data, LAYOUT)
    with pytest.raises(Unsupported, match="layout='NCHW'"):
        pooling_of("WebNN-maxPool2d", data, {"layout": "NCHW"})


def test_an_engine_that_takes_channels_last_is_told_of_them():
    """Sizes are those of spatial axes, whatever the document calls its attributes."""
    said = {"filter_height": 2, "filter_width": 3, "stride_h": 1, "stride_w": 2, "padding": "SAME"}
    calls = {
        "WebNN-maxPool2d": LAYOUT | {"windowDimensions": [2, 3], "strides": [1, 2]},
        "LiteRT-MAX_POOL_2D": said | {"fused_activation_function": "NONE"},
        "TOSA-MAX_POOL2D": {"kernel": [2, 3], "stride": [1, 2], "pad": [0, 0, 0, 1]},
    }
    data = [np.zeros((1, 4, 6, 7), np.float32)]
    for operator, attributes in calls.items():
        pooling = pooling_of(operator, data, attributes, takes=("channels_last",))
        assert (pooling.channels_last, pooling.kernel, pooling.strides) == (True, (2, 3), (1, 2))
    assert pooling.extent == (3, 3)


@pytest.mark.parametrize(
    ("operator", "attributes", "needs"),
    [
        ("LiteRT-MAX_POOL_2D", {"fused_activation_function": "RELU"}, "activation"),
        ("LiteRT-MAX_POOL_2D", {"scale": 0.5}, "quantised"),
        ("TOSA-MAX_POOL2D", {"nan_mode": "IGNORE"}, "nan"),
    ],
)
def test_what_not_every_engine_has_is_refused_unless_it_is_taken(operator, attributes, needs):
    said = {"filter_height": 1, "filter_width": 1, "stride_h": 1, "stride_w": 1, "padding": "SAME"}
    said |= {"fused_activation_function": "NONE"}
    if "TOSA" in operator:
        said = {"kernel": [1, 1], "stride": [1, 1], "pad": [0, 0, 0, 0]}
    data = [np.zeros((1, 4, 5, 7), np.int8 if needs == "quantised" else np.float32)]
    call = operator, data, said | attributes
    with pytest.raises(Unsupported):
        pooling_of(*call, takes=("channels_last",))
    assert pooling_of(*call, takes=("channels_last", needs)).kernel == (1, 1)


def test_vectors_that_are_exported_are_those_of_a_backend():
    case = next(cases_of(layouts(OPERATORS["WebNN-maxPool2d-backward"])))
    tensors = Tensors()
    (stored,) = safetensors_export.cases_of(batch_of([vector_of(case)]), tensors)
    shapes = [tensors.by_name[name].shape for name in stored["inputs"]]
    (output,) = stored["accepted"][0]["outputs"]
    assert shapes == [(1, 2, 3, 3), (1, 4, 6, 3)]
    assert tensors.by_name[output["expected"]].shape == (1, 4, 6, 3)
