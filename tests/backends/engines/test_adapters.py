"""The contract of an adapter, for every engine: a table of cases, and what becomes of each.

An engine computes what the oracle computes under its readings. What it cannot be told, or would
take for something else, is unsupported, with the reason; what is invalid it refuses itself.
What one engine alone has is in the file of its name.
"""

import importlib

import numpy as np
import pytest
from support.engines import (
    assert_equals_oracle,
    counts_pads,
    marks_of,
    same_crops,
)
from support.oracle import FORMATS, array, oracle
from support.random_cases import OPERATORS, assert_equals, pooling, worst_share

from conformance.backends import load_backend
from conformance.errors import Unsupported

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)
FIVE = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
PLANE = np.arange(35, dtype=np.float32).reshape(1, 1, 5, 7)
VOLUME = np.arange(60, dtype=np.float32).reshape(1, 1, 3, 4, 5)
FOURS = np.ones((1, 1, 4, 4), np.float32)
SQUARE = np.ones((1, 1, 2, 2), np.float32)
SLIDING = ("AvgPool-1", "MaxPool-1", "nGraph-AvgPool")
INTEGERS = ("int8", "uint8", "int32", "int64")
SHORT = [[[1, 5, 3]]]
FLOATS = ("float16", "bfloat16", "float32")
OTHER = ("SumPool-1", [ROW], {})


def largest(data=ROW, **change):
    return "MaxPool-1", [data], pooling([2]) | change


def average(data=ROW, **change):
    return "AvgPool-1", [data], pooling([2], exclude_pad=True) | change


def blocks(size, data=ROW, operator="AdaptiveAvgPool-8"):
    return operator, [data, np.array(size)], {}


def of_axes(axes, operator="nGraph-AvgPool"):
    given = {"window_shape": [1] * axes} if operator == "nGraph-AvgPool" else pooling([1] * axes)
    return operator, [np.ones((1, 1) + (1,) * axes, np.float32)], given


def of_plane(operator="AvgPool-1", data=PLANE, kernel=(2, 3), strides=(2, 1), **change):
    return operator, [data], pooling([*kernel], [*strides]) | change


def of_volume(operator, **change):
    return of_plane(operator, VOLUME, (2, 3, 3), (2, 1, 2), **change)


def ncnn_is_wrong(attributes, inputs):
    """Say whether ncnn counts cells wrongly, or pads the depth at the wrong end."""
    mode = attributes.get("auto_pad", "explicit")
    same = mode.startswith("same")
    if counts_pads(attributes):
        return attributes.get("rounding_type") == "ceil" or (mode == "same_lower")
    averages = "exclude_pad" in attributes
    return same and (averages or (mode == "same_lower" and inputs[0].ndim == 5))


def paddle_forgets_end(attributes, _inputs):
    """Say whether the pads differ and count: paddle divides by too few cells."""
    return counts_pads(attributes) and (
        attributes.get("auto_pad") == "same_upper"
        or attributes.get("pads_begin", attributes.get("padding_below"))
        != attributes.get("pads_end", attributes.get("padding_above"))
    )


def rows(table):
    """Return the lines of a table by engine as parameters."""
    return [
        pytest.param(engine, *line, marks=marks_of(engine), id=f"{engine}-{number}")
        for engine, lines in table.items()
        for number, line in enumerate(lines)
    ]


RANDOM = {
    "openvino": (
        OPERATORS,
        {"readings": {"same-with-ceil": "rounding-applied", "overhang-divisor": "whole-kernel"}},
    ),
    "onnxruntime": (
        SLIDING,
        {"readings": {"ceil-window-past-input": "dropped"}, "known": same_crops, "factor": 0.4},
    ),
    "jax": (SLIDING, {"readings": {}, "factor": 0.15}),
    "tensorflow": (SLIDING, {"readings": {}, "factor": 0.15}),
    "mlx": (SLIDING, {"readings": {}, "factor": 0.3}),
    "ncnn": (
        OPERATORS,
        {"readings": {"overhang-divisor": "whole-kernel"}, "known": ncnn_is_wrong, "factor": 0.5},
    ),
    "paddle": (
        OPERATORS,
        {
            "readings": {"same-with-ceil": "rounding-applied"},
            "known": paddle_forgets_end,
            "factor": 0.5,
        },
    ),
}


@pytest.mark.parametrize(
    ("engine", "operator", "how"),
    rows({name: [(each, how) for each in of] for name, (of, how) in RANDOM.items()}),
)
def test_shapes_windows_and_divisors_are_those_of_the_oracle(engine, operator, how):
    """Under the readings of the engine."""
    assert_equals_oracle(load_backend(engine), operator, **how)


def typed(*dtypes, of=largest, values=SHORT):
    return [(of(array(values, dtype)),) for dtype in dtypes]


EXACT = {
    "torch": [
        (largest(array([[[[1, 5], [3, 2]]]], dtype), **pooling([2, 2])),)
        for dtype in ("int8", "uint8", "int16", "int32", "int64")
    ],
    "openvino": [
        *typed("int8", "uint8", "int32"),
        *((average(array([[[1, 3, 8, 4]]], d), strides=[2]),) for d in FLOATS),
        *((blocks([2], array([[[1, 3, 8, 4]]], d)),) for d in FLOATS),
        # The second input decides, although only the first one is fed.
        *((blocks([size]),) for size in (1, 2, 4)),
    ],
    "onnxruntime": [
        *typed("float16", "float32", "float64", "int8", "uint8"),
        *((blocks([1, 1], array([[[[1, 3], [5, 7]]]], d)),) for d in ("float16", "float32")),
    ],
    "jax": typed(*FORMATS, *INTEGERS),
    "tensorflow": typed(*FORMATS, *INTEGERS),
    "paddle": typed("float16", "float32", "float64", of=average, values=[[[1, 3, 8]]]),
    "tinygrad": typed("float16", "bfloat16", "float64", "int8"),
    "mlx": typed(*FORMATS, *INTEGERS),
    "tract": typed("float16", "float32", "float64", "int8", "uint8"),
    "opencv": typed("float32"),
    "keras": [
        *typed("float16", "bfloat16", "float32", "int8", "uint8", "int32"),
        (blocks([2], FIVE),),
        (blocks([2], FIVE, "AdaptiveMaxPool-8"),),
    ],
}


@pytest.mark.parametrize(("engine", "case"), rows(EXACT))
def test_values_and_their_type_are_those_of_the_oracle(engine, case):
    assert_equals(load_backend(engine)(*case), oracle(*case))


ENDS = {"pads_begin": [1, 0], "pads_end": [0, 2]}
COUNTED = {"pads_begin": [0, 1], "pads_end": [0, 1]}
DEEP = {"pads_begin": [1, 0, 0], "pads_end": [0, 1, 2]}
LOWER = {"auto_pad": "same_lower", "exclude_pad": True}
NEAR = {
    # SAME and VALID of MNN leave padding out and round down, CAFFE counts it and rounds up.
    "mnn": [
        (of_plane("MaxPool-1"),),
        (of_plane(exclude_pad=True),),
        (of_plane(auto_pad="same_upper", exclude_pad=True),),
        (of_plane(**COUNTED, rounding_type="ceil", exclude_pad=False),),
    ],
    "tinygrad": [
        (of_plane("MaxPool-1", **ENDS),),
        (of_plane(**ENDS, exclude_pad=True),),
        (of_plane(**ENDS, exclude_pad=False),),
        (of_plane(**LOWER),),
    ],
    "tvm": [
        (of_volume("MaxPool-1", **DEEP),),
        (of_volume("AvgPool-1", **DEEP, exclude_pad=True),),
        (of_volume("AvgPool-1", **DEEP, exclude_pad=False),),
        (of_volume("AvgPool-1", **LOWER),),
    ],
    "keras": [
        (of_volume("MaxPool-1"),),
        (of_plane("MaxPool-1", auto_pad="same_upper"),),
        (of_plane(auto_pad="same_upper", exclude_pad=True),),
        (of_plane(auto_pad="valid", exclude_pad=False),),
    ],
}


@pytest.mark.parametrize(("engine", "case"), rows(NEAR))
def test_pads_are_those_of_the_axis_and_the_end_that_they_are_for(engine, case):
    """These engines compile or build each case, so they get a few in place of random ones."""
    assert worst_share(load_backend(engine)(*case), oracle(*case), case[1][0].ndim - 2) <= 1


CROPPED = (largest(pads_end=[-1]), [[[3, 5]]])
ANSWERS = {
    "torch": [
        # same_* with an even total is symmetric padding: d = 4, k = 3, s = 1, T = 3 + 3 - 4 = 2
        (largest(kernel=[3], auto_pad="same_lower", rounding_type="floor"), [[[3, 5, 5, 5]]]),
        (largest(kernel=[3], auto_pad="same_lower", rounding_type="ceil"), [[[3, 5, 5, 5]]]),
        (
            largest(
                kernel=[3], strides=[2], auto_pad="valid", pads_begin=[9], rounding_type="ceil"
            ),
            [[[5, 5]]],
        ),
    ],
    "jax": [
        (largest(ROW[..., :2], strides=[3], rounding_type="ceil"), [[[3]]]),
        # It is more general than the document: a negative pad crops, and any rank will do.
        CROPPED,
        (of_axes(4, "MaxPool-1"), [[[[[[1]]]]]]),
    ],
    "paddle": [CROPPED],
    "tensorflow": [
        (largest(), [[[3, 5, 5]]]),
        (average(), [[[2, 4, 4.5]]]),
        (largest(pads_begin=[1]), [[[1, 3, 5, 5]]]),
        (blocks([2], FIVE), [[[1, 3]]]),
        (blocks([2], FIVE, "AdaptiveMaxPool-8"), [[[2, 4]]]),
    ],
    "tvm": [(blocks([3]), [[[2, 4, 4.5]]])],
    "ncnn": [
        # Eight channels go through the packed kernels, and each is pooled by itself.
        (
            largest(np.arange(64, dtype=np.float32).reshape(1, 8, 8), kernel=[8]),
            [[[last] for last in range(7, 64, 8)]],
        )
    ],
}


@pytest.mark.parametrize(("engine", "case", "expected"), rows(ANSWERS))
def test_what_an_engine_answers_is_handed_on(engine, case, expected):
    assert load_backend(engine)(*case).tolist() == expected


NO_PAIRS = ("no pairs", largest(pads_end=[0, 0]))
NO_WORD = ("auto_pad='same'", largest(auto_pad="same"))
UNKNOWN = ("SumPool-1", OTHER)
FOUR_AXES = ("4 spatial axes", of_axes(4))
NO_NORM = ("ONNX-LpPool-22", ("ONNX-LpPool-22", [ROW], {"kernel_shape": [2]}))
UNSUPPORTED = {
    "torch": [
        UNKNOWN,
        FOUR_AXES,
        ("0 spatial axes", of_axes(0)),
        # Torch would take one number for every axis.
        ("every axis", largest(FOURS, **pooling([2, 2]) | {"kernel": [2]})),
        ("every axis", largest(FOURS, **pooling([2, 2]) | {"strides": [1]})),
        ("both ends alike", largest(pads_end=[1])),
        ("at most half of", largest(kernel=[3], pads_begin=[2], pads_end=[2])),
        (r"pads \[0\] and \[1\]", largest(auto_pad="same_upper")),
        (r"pads \[1\] and \[0\]", largest(auto_pad="same_lower")),
    ],
    "openvino": [
        UNKNOWN,
        FOUR_AXES,
        # The device would round them without a word.
        ("float64.*no primitives", largest(ROW.astype(np.float64))),
        ("int64.*no primitives", largest(ROW.astype(np.int64))),
    ],
    "onnxruntime": [
        UNKNOWN,
        FOUR_AXES,
        ("NOT_IMPLEMENTED", average(ROW.astype(np.float64))),
        ("NOT_IMPLEMENTED", average(array([[[1, 2]]], "bfloat16"))),
        ("NOT_IMPLEMENTED", largest(array([[[1, 2]]], "bfloat16"))),
        ("ONNX has no MaxPool", largest(ROW.astype(np.int32))),
        ("ONNX has no MaxPool", largest(ROW.astype(np.int64))),
        ("global", blocks([1, 2], SQUARE)),
        # Global pooling has no output size: none but ones is supported, right or wrong.
        *(
            ("output_size", blocks(size, SQUARE))
            for size in ([1], [1, 1, 1], [[1, 1]], [-1, 1], [1.0, 1.0])
        ),
        # Pads in one list are begins and ends whatever they were; words become others.
        ("in the middle", largest(pads_begin=[], pads_end=[0, 0])),
        NO_WORD,
        ("rounding_type='round'", largest(rounding_type="round")),
    ],
    "jax": [
        UNKNOWN,
        ("AdaptiveAvgPool-8", blocks([2])),
        ("rounding_type=ceil", largest(strides=[3], rounding_type="ceil")),
        NO_PAIRS,
        NO_WORD,
        ("pads_end", largest(auto_pad="valid", pads_end=[-1])),
    ],
    "mnn": [
        UNKNOWN,
        NO_NORM,
        ("AdaptiveAvgPool-8", blocks([2, 2], PLANE)),
        ("SAME and VALID", of_plane(auto_pad="same_lower", exclude_pad=True)),
        ("both ends alike", of_plane(pads_begin=[1, 0], exclude_pad=True)),
        ("rounds up", of_plane(**COUNTED, exclude_pad=False)),
        ("rounds down", of_plane(rounding_type="ceil", exclude_pad=True)),
        ("padding mode decides", of_plane(auto_pad="same_upper", exclude_pad=False)),
        ("two spatial axes", average(PLANE, strides=[2, 1], pads_begin=[0, 0], pads_end=[0, 0])),
        ("float64", largest(PLANE.astype(np.float64), **pooling([2, 2]))),
    ],
    "mlx": [
        UNKNOWN,
        FOUR_AXES,
        NO_NORM,
        ("AdaptiveAvgPool-8", blocks([2])),
        ("both ends alike", largest(pads_end=[1])),
        ("MLX counts it", average(pads_begin=[1], pads_end=[1])),
        ("rounds down", largest(strides=[2], kernel=[3], rounding_type="ceil")),
        ("dilations", ("MaxPool-8", [ROW], pooling([2], dilations=[2]))),
        ("complex128", largest(ROW.astype(np.complex128))),
    ],
    "ncnn": [
        UNKNOWN,
        FOUR_AXES,
        ("0 spatial axes", of_axes(0)),
        ("float16", largest(ROW.astype(np.float16))),
        # A number too few is its default, one too many is ignored, -233 is the input's size.
        ("a parameter for each axis", largest(kernel=[2, 2])),
        ("a parameter for each axis", largest(strides=[])),
        *((r"output_size|-233", blocks(size)) for size in ([2, 2], [2.0], [-233])),
        # These would take down the process.
        ("kernel 6 on an axis of 4.*crash", largest(ROW, kernel=[6], pads_begin=[1])),
        (
            r"pads of \[1, -2\].*crash",
            of_plane(
                "MaxPool-1",
                np.ones((1, 1, 8, 96), np.float32),
                (3, 4),
                (3, 6),
                auto_pad="same_upper",
            ),
        ),
        ("a negative pad.*crash", largest(pads_end=[-1])),
        ("4 channels.*crash", blocks([2, 2], np.ones((1, 4, 6, 6), np.float32))),
        ("40009.*crash", blocks([40009], np.ones((1, 1, 70001), np.float32))),
    ],
    "paddle": [
        UNKNOWN,
        FOUR_AXES,
        ("0 spatial axes", of_axes(0, "MaxPool-1")),
        ("same_lower", largest(auto_pad="same_lower")),
        ("int32", largest(ROW.astype(np.int32))),
        ("no pairs", largest(pads_begin=[0, 0])),
        NO_WORD,
    ],
    "tract": [
        UNKNOWN,
        ("tract does not implement it", ("ONNX-LpPool-22", [ROW], {"kernel_shape": [2]})),
        ("bfloat16.*no such type", largest(array([[[1, 2]]], "bfloat16"))),
        ("ONNX has no MaxPool", largest(ROW.astype(np.int32))),
        ("global", blocks([1, 2], SQUARE)),
    ],
    "opencv": [
        UNKNOWN,
        FOUR_AXES,
        NO_NORM,
        ("ONNX-GlobalMaxPool-22 of 3 axes", ("ONNX-GlobalMaxPool-22", [VOLUME], {})),
        ("float64", largest(ROW.astype(np.float64))),
        ("cells", largest(np.ones((0, 1, 4), np.float32))),
    ],
    "keras": [
        UNKNOWN,
        FOUR_AXES,
        ("0 spatial axes", of_axes(0)),
        NO_NORM,
        ("pads of numbers", largest(pads_begin=[1])),
        ("SAME and VALID", largest(auto_pad="same_lower")),
        ("rounds down", average(rounding_type="ceil", strides=[3])),
        ("out of divisors", average(auto_pad="same_upper", exclude_pad=False)),
        ("a number for each axis", average(pads_begin=[], pads_end=[])),
        ("dilations", ("MaxPool-8", [ROW], pooling([2], dilations=[2]))),
        ("output_size", blocks([2.0], FIVE)),
    ],
    "tensorflow": [
        ("maxima of one or two axes", average(pads_begin=[1])),
        ("SAME and VALID", average(auto_pad="same_lower")),
        ("rounds down", average(rounding_type="ceil", strides=[3])),
        ("out of divisors", average(auto_pad="same_upper", exclude_pad=False)),
        ("a number for each axis", average(strides=[1, 1])),
        ("no pairs", average(pads_end=[0, 0])),
        # Of three axes it has float32 and bfloat16; it dilates with strides of 1 alone.
        ("float64", largest(np.ones((1, 1, 2, 2, 2)), **pooling([1, 1, 1]))),
        ("dilations", ("MaxPool-8", [ROW], pooling([2], [2], dilations=[2]))),
        ("output_size", blocks([2.0], FIVE)),
    ],
    "tinygrad": [
        UNKNOWN,
        NO_NORM,
        ("AdaptiveAvgPool-8", blocks([2])),
        # It would pool over other axes than the document says.
        ("last axes", largest(kernel=[2, 2])),
        NO_PAIRS,
    ],
    "tvm": [
        ("AdaptiveMaxPool-8", blocks([3], operator="AdaptiveMaxPool-8")),
        *(
            ("number for each axis", largest(**{name: value}))
            for name, value in (("kernel", [2, 2]), ("pads_end", [0, 0]), ("strides", [1, 1]))
        ),
    ],
}


@pytest.mark.parametrize(("engine", "reason", "case"), rows(UNSUPPORTED))
def test_what_an_engine_cannot_be_told_is_unsupported_with_the_reason(engine, reason, case):
    """The right exception would be no merit of the engine."""
    with pytest.raises(Unsupported, match=reason):
        load_backend(engine)(*case)


def changes(reason, *changes):
    return [(reason, largest(**change)) for change in changes]


REFUSED = {
    "openvino": changes(
        "src/",
        {"strides": [0]},
        {"kernel": [0]},
        {"kernel": [2, 2]},
        {"auto_pad": "same"},
        {"rounding_type": "round"},
    ),
    "onnxruntime": [
        *changes(
            "ShapeInferenceError",
            {"strides": [0]},
            {"kernel": [0]},
            {"pads_begin": [-1]},
            {"pads_begin": [0, 0]},
            {"strides": []},
            {"kernel": []},
        ),
        # Integers that no document has are no want of support.
        (None, blocks([1], np.ones((1, 1, 2), np.int32))),
    ],
    "jax": changes("reduce_window", {"strides": [0]}, {"kernel": [0]}, {"kernel": [2, 2]}),
    "mlx": changes(
        "must be",
        {"strides": [0]},
        {"kernel": [0]},
        {"kernel": [2, 2]},
        {"pads_begin": [-1], "pads_end": [-1]},
    ),
    "ncnn": [
        *changes("ncnn refuses", {"strides": [0]}, {"kernel": [0]}, {"kernel": [-2]}),
        ("ncnn refuses", blocks([-1])),
    ],
    "tract": changes("non-negative", {"strides": [-1]}, {"kernel": [-1]}, {"pads_begin": [-1]}),
    "opencv": changes("kshape", {"kernel": [0]}, {"kernel": [2, 2]}),
    "keras": [
        *changes("reduce_window", {"strides": [0]}, {"kernel": [0]}),
        ("negative dimensions", blocks([-1], FIVE)),
    ],
    "paddle": [
        *changes("stride|length must be 1", {"strides": [0]}, {"kernel": [2, 2]}, {"strides": []}),
        *((None, blocks(size, SQUARE)) for size in ([1], [1, 1, 1], [1.0, 1.0], [-1, 1])),
    ],
}


@pytest.mark.parametrize(("engine", "message", "case"), rows(REFUSED))
def test_what_is_invalid_is_refused_by_the_engine_itself(engine, message, case):
    with pytest.raises(Exception, match=message) as caught:  # the class is the engine's own
        load_backend(engine)(*case)
    assert not isinstance(caught.value, NotImplementedError)


CACHES = {
    "openvino": [("_compiled", ROW + 1, [[[6]]])],
    "onnxruntime": [("session_of", ROW + 1, [[[6]]])],
    "jax": [("_pool", ROW + 1, [[[6]]])],
    "tract": [("_runnable", ROW + 1, [[[6]]])],
    # Of ncnn a network has no shape.
    "ncnn": [("_net", np.concatenate([ROW, ROW + 1], axis=2), [[[5, 5, 6]]])],
}


@pytest.mark.parametrize(("engine", "cache", "data", "expected"), rows(CACHES))
def test_a_second_call_with_other_values_takes_what_was_compiled(engine, cache, data, expected):
    backend, given = load_backend(engine), pooling([3], [2])
    compiled = getattr(
        importlib.import_module(f"conformance.backends.engines.{engine}_backend"), cache
    )
    assert backend("MaxPool-1", [ROW], given).tolist() == [[[5]]]
    misses = compiled.cache_info().misses
    assert backend("MaxPool-1", [data], given).tolist() == expected
    assert compiled.cache_info().misses == misses
