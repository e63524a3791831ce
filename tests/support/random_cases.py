"""Random valid cases, and comparison with the oracle: shared by the tests of backends."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.oracle import FORMATS, ONNX_SINCE, ONNX_VERSIONS, OracleResult, array

from conformance.vector import outputs_of

Array = np.ndarray[Any, np.dtype[Any]]
Case = tuple[str, list[Array], dict[str, Any]]

OPERATORS = ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
NEWER = ("AvgPool-14", "AvgPool-16", "MaxPool-8", "MaxPool-14", "AdaptiveMaxPool-8")
TORCH = tuple(f"PyTorch-{kind}_pool{r}d" for kind in ("avg", "max", "lp") for r in (1, 2, 3))
TORCH_ADAPTIVE = tuple(
    f"PyTorch-adaptive_{kind}_pool{r}d" for kind in ("avg", "max") for r in (1, 2, 3)
)
ONNX = ("ONNX-AveragePool-22", "ONNX-MaxPool-22", "ONNX-LpPool-22")
GLOBAL = ("ONNX-GlobalAveragePool-22", "ONNX-GlobalMaxPool-22", "ONNX-GlobalLpPool-22")
WEBNN = ("WebNN-averagePool2d", "WebNN-l2Pool2d", "WebNN-maxPool2d")
OLDER = tuple(
    f"ONNX-{kind}-{version}" for kind, versions in ONNX_VERSIONS.items() for version in versions
)
EVERY = (*OPERATORS, *NEWER, *ONNX, *GLOBAL, *TORCH, *TORCH_ADAPTIVE, *WEBNN, *OLDER)

_FLAGS = ("ceil_mode", "count_include_pad", "storage_order")
INVALID: dict[str, dict[str, Any]] = {
    "stride-zero": {"strides": [0]},
    "stride-negative": {"strides": [-1]},
    "kernel-zero": {"kernel": [0]},
    "kernel-long": {"kernel": [2, 2]},
    "kernel-fraction": {"kernel": [1.5]},
    "strides-empty": {"strides": []},
    "pads-long": {"pads_begin": [0, 0], "pads_end": [0, 0]},
    "pads-negative": {"pads_begin": [-1], "pads_end": [-1]},
    "pad-negative": {"pads_begin": [-1]},
    "rounding": {"rounding_type": "round"},
    "auto-pad": {"auto_pad": "same"},
    "exclude-pad": {"exclude_pad": "true"},
}
"""Changes that make AvgPool-1 attributes of one axis invalid, by name."""


def pooling(kernel: list[int], strides: list[int] | None = None, **others: Any) -> dict[str, Any]:
    """Return attributes common to AvgPool-1 and MaxPool-1; no pads unless told otherwise."""
    zeros = [0] * len(kernel)
    strides = strides or [1] * len(kernel)
    return {"kernel": kernel, "strides": strides, "pads_begin": zeros, "pads_end": zeros} | others


def small_integers(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return integers from -8 to 8: every sum is exact in every element type."""
    values = np.random.default_rng(seed).integers(-8, 9, shape)
    return array(np.abs(values) if dtype.startswith("uint") else values, dtype)


def noise(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return numbers of mixed sign and magnitude, a third of them zero."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) * 2.0 ** rng.integers(-6, 7, shape)
    return array(np.where(rng.random(shape) < 1 / 3, 0, values), dtype)


@st.composite
def cases(
    draw: st.DrawFn,
    operators: Sequence[str] = EVERY,
    dtypes: Sequence[str] = tuple(FORMATS),
    fill: Any = small_integers,
    symmetric: bool = False,
) -> Case:
    """Draw a case with valid attributes; it may still be undefined as a whole.

    `symmetric` draws the same pads for both ends, at most half of the kernel.
    """
    operator = draw(st.sampled_from(operators))
    axes = draw(_numbers_of_axes(operator, symmetric=symmetric))
    each = st.tuples(*[st.integers(1, 4)] * axes).map(list)
    sizes = draw(st.tuples(*[st.integers(1, 8 if axes == 1 else 9 - 2 * axes)] * axes))
    batch, channels = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    dtype = draw(st.sampled_from(_types(operator, dtypes)))
    inputs = [fill((batch, channels, *sizes), dtype, draw(st.integers(0, 2**32)))]
    index_type = st.sampled_from(["i32", "i64"])
    if "daptive" in operator:
        return _adaptive(draw, operator, inputs, draw(each))
    exponent = {"p": draw(st.sampled_from([1, 2, 3, 4, 7]))} if "LpPool" in operator else {}
    if operator in ("ONNX-LpPool-1", "ONNX-GlobalLpPool-1"):
        exponent = {"p": float(exponent["p"])}
    if "-Global" in operator:
        return operator, inputs, _some(draw, {}, **exponent)
    kernel, strides = draw(each), draw(each)
    symmetric |= operator in TORCH
    begin = [draw(st.integers(0, k // 2 if symmetric else 3)) for k in kernel]
    end = begin if symmetric else [draw(st.integers(0, 3)) for _ in kernel]
    if operator == "nGraph-AvgPool":
        include = draw(st.booleans())
        return (
            operator,
            inputs,
            _some(
                draw,
                {"window_shape": kernel},
                window_movement_strides=strides,
                padding_below=begin,
                padding_above=end,
                include_padding_in_avg_computation=include,
            ),
        )
    if operator in (*TORCH, *WEBNN):
        own = partial(_torch, operator) if operator in TORCH else _webnn
        return operator, inputs, own(draw, kernel, strides, begin, end)
    if operator.startswith("ONNX"):
        kind, version = operator.split("-")[1], int(operator.split("-")[2])
        later = {
            "dilations": draw(st.tuples(*[st.integers(1, 3)] * axes).map(list)),
            **{name: draw(st.integers(0, 1)) for name in _FLAGS},
            **exponent,
        }
        modes = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]
        return (
            operator,
            inputs,
            _some(
                draw,
                {"kernel_shape": kernel},
                strides=strides,
                pads=[*begin, *end],
                auto_pad=draw(st.sampled_from(modes)),
                **{name: later[name] for name, v in ONNX_SINCE[kind].items() if v <= version},
            ),
        )
    required = {"kernel": kernel, "strides": strides, "pads_begin": begin, "pads_end": end}
    if operator.startswith("Avg"):
        required["exclude_pad"] = draw(st.booleans())
    more: dict[str, Any] = {}
    if operator in ("AvgPool-16", "MaxPool-8", "MaxPool-14"):
        more["dilations"] = draw(st.tuples(*[st.integers(1, 3)] * axes).map(list))
    if operator in ("MaxPool-8", "MaxPool-14"):
        more["index_element_type"] = draw(index_type)
        more["axis"] = draw(st.integers(-axes - 2, axes + 1))
    roundings = ["floor", "ceil", *(["ceil_torch"] if operator.endswith(("-14", "-16")) else [])]
    return (
        operator,
        inputs,
        _some(
            draw,
            required,
            rounding_type=draw(st.sampled_from(roundings)),
            auto_pad=draw(st.sampled_from(["explicit", "same_upper", "same_lower", "valid"])),
            **more,
        ),
    )


def _adaptive(draw: st.DrawFn, operator: str, inputs: list[Array], output: list[Any]) -> Case:
    """Draw how a case of an adaptive operator says its output size, and the type of indices."""
    if operator in TORCH_ADAPTIVE:
        forms = [output, output[0], [None, *output[1:]]] if len(output) > 1 else [output]
        return operator, inputs, {"output_size": draw(st.sampled_from(forms))}
    inputs = [*inputs, np.array(output, draw(st.sampled_from(["int32", "int64"])))]
    has_indices = operator == "AdaptiveMaxPool-8"
    types = {"index_element_type": draw(st.sampled_from(["i32", "i64"]))} if has_indices else {}
    return operator, inputs, _some(draw, {}, **types)


def _types(operator: str, dtypes: Sequence[str]) -> Sequence[str]:
    """Return those of some types that an operator has, or one that it has."""
    if operator in OLDER:
        integer = ["int8", "uint8"] if operator == "ONNX-MaxPool-12" else []
        known = [*(name for name in FORMATS if name != "bfloat16"), *integer]
        return [name for name in dtypes if name in known] or ["float32"]
    if operator not in WEBNN:
        return dtypes
    return [name for name in dtypes if name in ("float16", "float32")] or ["float32"]


def _numbers_of_axes(operator: str, *, symmetric: bool) -> st.SearchStrategy[int]:
    if operator in (*TORCH, *TORCH_ADAPTIVE, *WEBNN):
        return st.just(int(operator[-2]))
    return st.integers(1, 4 if operator[0] in "nO" and not symmetric else 3)


def _webnn(
    draw: st.DrawFn, kernel: list[int], strides: list[int], begin: list[int], end: list[int]
) -> dict[str, Any]:
    return _some(
        draw,
        {},
        windowDimensions=kernel,
        padding=[begin[0], end[0], begin[1], end[1]],
        strides=strides,
        dilations=draw(st.tuples(st.integers(1, 3), st.integers(1, 3)).map(list)),
        outputShapeRounding=draw(st.sampled_from(["floor", "ceil"])),
    )


def _torch(
    operator: str,
    draw: st.DrawFn,
    kernel: list[int],
    strides: list[int],
    padding: list[int],
    _end: list[int],
) -> dict[str, Any]:
    """Draw attributes of which one number stands for all axes."""
    axes = len(kernel)
    if "lp" in operator:
        return _some(
            draw,
            {
                "norm_type": draw(st.sampled_from([1, 2, 3, 4])),
                "kernel_size": draw(st.sampled_from([kernel, kernel[0]])),
            },
            stride=draw(st.sampled_from([strides, strides[:1], strides[0], []])),
            ceil_mode=draw(st.booleans()),
        )
    more: dict[str, Any] = {"dilation": draw(st.tuples(*[st.integers(1, 3)] * axes).map(list))}
    if "avg" in operator:
        more = {"count_include_pad": draw(st.booleans())}
    if "avg" in operator and axes > 1:
        more["divisor_override"] = draw(st.sampled_from([None, 1, 3, 300]))
    return _some(
        draw,
        {"kernel_size": draw(st.sampled_from([kernel, kernel[0]])) if axes == 1 else kernel},
        stride=draw(st.sampled_from([strides, strides[:1], strides[0], []])),
        padding=padding,
        ceil_mode=draw(st.booleans()),
        **more,
    )


def _some(draw: st.DrawFn, required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Leave out some of the attributes that have a default."""
    given = {name: value for name, value in optional.items() if draw(st.booleans())}
    return required | given


def assert_equals(got: Array | tuple[Array, ...], result: OracleResult) -> None:
    """Assert shape, type and every defined element equal the oracle's; zeros have no sign.

    Of several outputs, each.
    """
    if isinstance(got, tuple):
        got, indices = got
        assert result.indices is not None
        assert (indices.dtype, indices.shape) == (result.indices.dtype, result.indices.shape)
        chosen = result.indices >= 0
        np.testing.assert_array_equal(indices[chosen], result.indices[chosen])
    assert (got.dtype, got.shape) == (result.expected.dtype, result.expected.shape)
    defined = ~result.undefined
    np.testing.assert_array_equal(
        got[defined].astype(np.float64), result.expected[defined].astype(np.float64)
    )


def worst_share(
    got: Array | tuple[Array, ...], result: OracleResult, axes: int, *, flushes: bool = False
) -> float:
    """Return the largest error of the first output as a share of what rounding explains.

    Of finite results only. An average of m non-zero addends over r axes rounds at most m + 2r
    times, each by u relative or by the smallest subnormal (`flushes`: the smallest normal).
    """
    got = outputs_of(got)[0]
    assert (got.dtype, got.shape) == (result.expected.dtype, result.expected.shape)
    precision, lowest, _ = FORMATS[got.dtype.name]
    tiny = Fraction(2) ** (lowest + precision - 1 if flushes else lowest)
    shares = [Fraction(0)]
    for index in np.ndindex(got.shape):
        exact = result.exact[index]
        if isinstance(exact, Fraction):
            steps = int(result.addends[index]) + 2 * axes
            relative = steps * Fraction(2) ** -precision
            allowed = relative / (1 - relative) * result.magnitude[index] + (steps + 1) * tiny
            shares.append(abs(Fraction(float(got[index])) - exact) / allowed)
    return float(max(shares))
