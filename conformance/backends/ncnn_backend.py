"""ncnn's Pooling1D, Pooling and Pooling3D layers on the CPU, in float32.

Pads are handed over as begin and end of every axis. rounding_type=floor is pad_mode 1 and ceil is
pad_mode 0, same_upper is 2, same_lower is 3, and valid stands for pads of zero; exclude-pad is the
opposite of avgpool_count_include_pad. AdaptiveAvgPool-8 is adaptive_pooling. ncnn has no batch
dimension: a layer runs once per item, as its users run it.

ncnn's half-precision storage is an optimisation of float32 models and switched off here: other
element types are unsupported. So is what makes ncnn access memory outside its buffers and takes
the process down (docs/findings.md): a kernel that is longer than the padded axis, same_* where one
axis is padded and another one has a kernel below its stride and cells to spare, and adaptive
pooling of channels that ncnn packs by fours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import ncnn
import numpy as np

from conformance.backends.windowed import Windowed, windowed
from conformance.errors import Unsupported
from conformance.vector import Array

_LAYERS = ("Pooling1D", "Pooling", "Pooling3D")
# Parameter numbers for each axis, the last axis (width) first: ncnn's operator table.
_KERNEL = (1, 11, 21)
_STRIDE = (2, 12, 22)
_BEGIN = (3, 13, 23)
_END = (14, 15, 16)
_OUTPUT = (8, 18, 28)
_SAME = {"same_upper": 2, "same_lower": 3}
_INT = 2**31 - 1
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
    axes = data.ndim - 2
    if not 1 <= axes <= 3:
        if operator == "nGraph-AvgPool" and axes > 3:
            raise Unsupported(f"{axes} spatial axes: ncnn pools over one to three")
        raise ValueError(f"{operator} of {data.ndim} dimensions")
    what = windowed(operator, attributes, axes)
    if what is None:
        parameters = _adaptive(operator, inputs)
    else:
        what.check_lengths(axes)
        parameters = _windowed(what)
        _check_room(what, data.shape[2:])
    if data.dtype != np.float32:
        raise Unsupported(f"{data.dtype}: ncnn computes float32")
    if data.size == 0:
        raise Unsupported("an empty dimension: ncnn has no empty images")
    net = _net(_LAYERS[axes - 1], parameters)
    return np.stack([_run(net, item) for item in data])


def _windowed(what: Windowed) -> str:
    if min(what.begin + what.end, default=0) < 0:
        raise ValueError("a negative pad: ncnn has given such pads other meanings")
    explicit = what.auto_pad == "explicit"
    zeros = (0,) * len(what.kernel)
    pairs = [(0, int(what.average)), (5, _SAME.get(what.auto_pad, int(not what.ceil)))]
    pairs.append((6, int(what.average and not what.exclude_pad)))
    for keys, values in (
        (_KERNEL, what.kernel),
        (_STRIDE, what.strides),
        (_BEGIN, what.begin if explicit else zeros),
        (_END, what.end if explicit else zeros),
    ):
        pairs += zip(keys, reversed(values), strict=False)
    return _text(pairs)


def _check_room(what: Windowed, sizes: Sequence[int]) -> None:
    """Refuse what ncnn takes for negative sizes."""
    axes = list(zip(sizes, what.kernel, what.strides, what.begin, what.end, strict=True))
    if what.auto_pad in _SAME:
        totals = [(d - 1) // s * s + k - d for d, k, s, _, _ in axes if s > 0]
        if min(totals, default=0) < 0 < max(totals, default=0):
            raise Unsupported(f"{what.auto_pad} with pads of {totals}: {_CRASH}")
        return
    explicit = what.auto_pad == "explicit"
    for d, k, _, begin, end in axes:
        if k > d + (begin + end if explicit else 0):
            raise Unsupported(f"kernel {k} on an axis of {d}: {_CRASH}")


def _adaptive(operator: str, inputs: Sequence[Array]) -> str:
    if operator != "AdaptiveAvgPool-8":
        raise Unsupported(f"operator {operator}")
    data, size = inputs
    if size.shape != (data.ndim - 2,) or size.dtype.kind != "i":
        raise ValueError(f"output_size={size.tolist()}: one integer per spatial axis")
    if size.size == 2 and data.shape[1] % 4 == 0:
        raise Unsupported(f"adaptive pooling of {data.shape[1]} channels: {_CRASH}")
    if any(d * o + o > _INT for d, o in zip(data.shape[2:], size.tolist(), strict=True)):
        raise Unsupported(f"adaptive pooling to {size.tolist()}: {_CRASH}")
    return _text([(0, 1), (7, 1), *zip(_OUTPUT, reversed(size.tolist()), strict=False)])


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
