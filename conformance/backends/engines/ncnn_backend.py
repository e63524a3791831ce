"""ncnn's Pooling1D, Pooling and Pooling3D layers on the CPU, in float32.

Pads are handed over as begin and end of every axis. Rounding down is pad_mode 1 and up is pad_mode
0, same_upper is 2, same_lower is 3, and valid stands for pads of zero; whether padding counts is
avgpool_count_include_pad. An adaptive operator is adaptive_pooling. ncnn has no batch dimension: a
layer runs once per item, as its users run it.

ncnn's half-precision storage is an optimisation of float32 models and switched off here: other
element types are unsupported. So is what makes ncnn access memory outside its buffers and takes
the process down (docs/findings.md): a kernel that is longer than the padded axis, a negative pad,
same_* where one axis is padded and another one has a kernel below its stride and cells to spare,
and adaptive pooling of channels that ncnn packs by fours. ncnn has no norms and no indices: values
are computed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import ncnn
import numpy as np

from conformance.backends.engines.engine import (
    adaptive_params,
    counterpart,
    known_operator,
    of_axes,
    output_sizes,
)
from conformance.errors import Unsupported
from conformance.operators import Params, pooling_of
from conformance.vector import Array

_TYPES = {"maximum": 0, "average": 1}
_LAYERS = ("Pooling1D", "Pooling", "Pooling3D")
# Parameter numbers for each axis, the last axis (width) first: ncnn's operator table.
_KERNEL = (1, 11, 21)
_STRIDE = (2, 12, 22)
_BEGIN = (3, 13, 23)
_END = (14, 15, 16)
_OUTPUT = (8, 18, 28)
_SAME = {"same_upper": 2, "same_lower": 3}
_AS_INPUT = -233
_INT = 2**31 - 1  # the largest int32
_CRASH = "ncnn would leave its memory and crash"
_OFF = (
    "use_vulkan_compute",
    "use_fp16_packed",
    "use_fp16_storage",
    "use_fp16_arithmetic",
    "use_bf16_storage",
    "use_int8_inference",
)


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case, item by item; Unsupported says what ncnn cannot express."""
    data = inputs[0]
    definition = known_operator(operator)
    kind = counterpart(definition, _TYPES)
    layer = of_axes(_LAYERS, data.ndim - 2, "ncnn")
    if definition.is_adaptive:
        adaptive_params(definition, inputs, attributes)
        parameters = _adaptive(kind, data, inputs[1])
    else:
        params = pooling_of(operator, inputs, attributes).params
        parameters = _sliding(kind, params)
        _check_slack(params)
    if data.dtype != np.float32:
        raise Unsupported(f"{data.dtype}: ncnn computes float32")
    if data.size == 0:
        raise Unsupported("an empty dimension: ncnn has no empty images")
    net = _net(layer, parameters)
    return np.stack([_run(net, item) for item in data])


def _sliding(kind: int, params: Params) -> str:
    explicit = params.auto_pad == "explicit"
    zeros = (0,) * len(params.sizes)
    pairs = [(0, kind), (5, _SAME.get(params.auto_pad, int(not params.ceil)))]
    pairs.append((6, int(params.include_pad)))
    for keys, values in (
        (_KERNEL, params.kernel),
        (_STRIDE, params.strides),
        (_BEGIN, params.pads_begin if explicit else zeros),
        (_END, params.pads_end if explicit else zeros),
    ):
        if len(values) != len(params.sizes):
            raise Unsupported(f"{list(values)}: ncnn has a parameter for each axis")
        pairs += zip(keys, reversed(values), strict=False)
    return _text(pairs)


def _check_slack(params: Params) -> None:
    """Refuse what ncnn takes for negative sizes."""
    if params.auto_pad in _SAME:
        axes = zip(params.sizes, params.kernel, params.strides, strict=True)
        totals = [(d - 1) // s * s + k - d for d, k, s in axes if s > 0]
        if min(totals, default=0) < 0 < max(totals, default=0):
            raise Unsupported(f"{params.auto_pad} with pads of {totals}: {_CRASH}")
        return
    explicit = params.auto_pad == "explicit"
    if explicit and min(params.pads_begin + params.pads_end) < 0:
        raise Unsupported(f"a negative pad: {_CRASH}")
    ends = zip(params.sizes, params.kernel, params.pads_begin, params.pads_end, strict=True)
    for d, k, begin, end in ends:
        if k > d + (begin + end if explicit else 0):
            raise Unsupported(f"kernel {k} on an axis of {d}: {_CRASH}")


def _adaptive(kind: int, data: Array, size: Array) -> str:
    sizes = output_sizes(size, data.ndim - 2)
    if _AS_INPUT in sizes:
        raise Unsupported(f"adaptive pooling to {_AS_INPUT}: to ncnn that is the input's size")
    if len(sizes) == 2 and data.shape[1] % 4 == 0:
        raise Unsupported(f"adaptive pooling of {data.shape[1]} channels: {_CRASH}")
    if any(d * o + o > _INT for d, o in zip(data.shape[2:], sizes, strict=True)):
        raise Unsupported(f"adaptive pooling to {sizes}: {_CRASH}")
    return _text([(0, kind), (7, 1), *zip(_OUTPUT, reversed(sizes), strict=False)])


def _text(pairs: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{key}={value}" for key, value in pairs)


@lru_cache(maxsize=256)
def _net(layer: str, parameters: str) -> Any:
    """Return a network of one layer."""
    net = ncnn.Net()
    net.opt.num_threads = 1
    for option in _OFF:
        setattr(net.opt, option, False)
    refused = net.load_param_mem(
        f"7767517\n2 2\nInput input 0 1 x\n{layer} pooling 1 1 x y {parameters}\n"
    )
    if refused:
        raise ValueError(f"ncnn refuses {layer} {parameters}")
    return net


def _run(net: Any, item: Array) -> Array:
    extractor = net.create_extractor()
    extractor.input("x", ncnn.Mat(np.ascontiguousarray(item)))
    failed, result = extractor.extract("y")
    if failed:
        raise RuntimeError(f"ncnn's layer failed with {failed}")
    return np.array(result)
