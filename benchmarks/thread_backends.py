"""Backends that are wrong as public threads say: written from each thread and the document.

Each is a backend as `check` takes it: `benchmarks/thread_backends.py:NAME`. What a thread does not
speak of is right, so that one answer of a suite is about one thread. Two threads are about
what stands around a pool, and their pool alone is right: `pool_is_right`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance import Unsupported, evaluate, pooling_of
from conformance.backends import Backend
from conformance.operators.pooling import Pooling
from conformance.vector import Array

Given = Mapping[str, Any]
_ALL = (
    *("channels_last", "dilations", "fixed_divisor", "activation", "nan", "quantised"),
    *("ceil_torch", "ceil", "rules"),
)


def _windows(operator: str, inputs: Sequence[Array], given: Given) -> Pooling:
    return pooling_of(operator, inputs, given, takes=_ALL)


def _right(operator: str, inputs: Sequence[Array], given: Given) -> Array:
    """Return the first output, as it is right."""
    outputs = evaluate(operator, inputs, given)
    return outputs[0] if isinstance(outputs, tuple) else outputs


def _cells(pooling: Pooling, sizes: Sequence[int], before: Any = 0, after: Any = 0) -> Array:
    """Return how many cells of each window lie in the data, or so far before or after it.

    `before` and `after` are a number for all axes, or one for each.
    """
    counts: Array = np.ones((), np.int64)
    axes = zip(sizes, *(np.broadcast_to(n, len(sizes)) for n in (before, after)), strict=True)
    for axis, (size, low, high) in enumerate(axes):
        starts = np.arange(pooling.extent[axis]) * pooling.strides[axis] - pooling.pads_begin[axis]
        at = starts[:, None] + np.arange(pooling.kernel[axis]) * pooling.dilations[axis]
        counts = np.multiply.outer(counts, ((at >= -low) & (at < size + high)).sum(1))
    return counts


def _counted(pooling: Pooling, sizes: Sequence[int]) -> Array:
    """Return how many cells of each window lie in the data or its padding."""
    return _cells(pooling, sizes, pooling.pads_begin, pooling.pads_end)


@np.errstate(all="ignore")
def _divided(right: Array, by: Array, instead_of: Array) -> Array:
    """Return averages with another divisor, in the element type."""
    wide = right.astype(np.float64) * instead_of / by
    return np.where(by == instead_of, right, wide.astype(right.dtype))


def _with_pads(given: Given, pooling: Pooling, begin: Any, end: Any) -> dict[str, Any]:
    """Return attributes of ONNX that pad by numbers, and round as they did."""
    pads = [int(n) for n in (*begin, *end)]
    changed = {**given, "auto_pad": "NOTSET", "pads": pads}
    return {**changed, "ceil_mode": int(pooling.ceil)} if "ceil_mode" in given else changed


def _with_kept_windows(right: Array, sizes: Sequence[int], pooling: Pooling) -> Array:
    """Return an average with all windows that rounding up adds: 0 for those in the padding."""
    added = [(0, 0), (0, 0)]
    for axis, size in enumerate(sizes):
        reach = pooling.dilations[axis] * (pooling.kernel[axis] - 1) + 1
        room = size + pooling.pads_begin[axis] + pooling.pads_end[axis] - reach
        added.append((0, -(-room // pooling.strides[axis]) + 1 - pooling.extent[axis]))
    return np.pad(right, added)


def pool_is_right(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Answer a pool alone, which is right: what stands around it goes wrong."""
    return evaluate(operator, inputs, given)


# Of exporters and of importers


def begin_pads_for_end(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Take the pads of the begin for those of the end, which are dropped."""
    if inputs[0].ndim != 4:
        raise Unsupported("other than two axes")
    evaluate(operator, inputs, given)
    pooling = _windows(operator, inputs, given)
    begin = pooling.pads_begin
    return evaluate(operator, inputs, _with_pads(given, pooling, begin, begin))


def divisor_of_clamped_start(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Count the cells of a dilated window as if they began at the edge that it is clamped to."""
    right = _right(operator, inputs, given)
    if given.get("count_include_pad"):
        return right
    pooling, sizes = _windows(operator, inputs, given), inputs[0].shape[2:]
    counts: Array = np.ones((), np.int64)
    for axis, size in enumerate(sizes):
        dilation, steps = pooling.dilations[axis], np.arange(pooling.extent[axis])
        starts = steps * pooling.strides[axis] - pooling.pads_begin[axis]
        ends = starts + dilation * (pooling.kernel[axis] - 1) + 1
        reach = np.minimum(ends, size) - np.maximum(starts, 0)
        counts = np.multiply.outer(counts, np.maximum(-(-reach // dilation), 0))
    return _divided(right, counts, _cells(pooling, sizes))


def exported_ceil_keeps_windows(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Keep a last window that starts in the padding, as ONNX did."""
    right = _right(operator, inputs, given)
    if not given.get("ceil_mode"):
        return right
    pooling = _windows(operator, inputs, given)
    return _with_kept_windows(right, inputs[0].shape[2:], pooling)


def pads_as_same(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Take pads for SAME, whose odd cell is at the end, where that has as many windows."""
    values = _right(operator, inputs, given)
    if given.get("auto_pad", "NOTSET") != "NOTSET" or not any(given.get("pads", ())):
        return values
    same = _right(operator, inputs, {**given, "auto_pad": "SAME_UPPER"})
    return same if same.shape == values.shape else values


def adaptive_as_equal_windows(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pool adaptively with one kernel and one stride for all windows."""
    right = _right(operator, inputs, given)
    sizes, wanted = inputs[0].shape[2:], right.shape[2:]
    strides = [size // n for size, n in zip(sizes, wanted, strict=True)]
    kernel = [s - (n - 1) * step for s, n, step in zip(sizes, wanted, strides, strict=True)]
    return evaluate("PyTorch-avg_pool2d", inputs, {"kernel_size": kernel, "stride": strides})


def same_pads_mistaken(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad a maximum's SAME_LOWER for sizes rounded down, an average's SAME for no dilations."""
    right, word = _right(operator, inputs, given), given.get("auto_pad", "NOTSET")
    is_maximum = operator.startswith("ONNX-Max")
    if word not in ({"SAME_LOWER"} if is_maximum else {"SAME_LOWER", "SAME_UPPER"}):
        return right
    pooling, begin, end = _windows(operator, inputs, given), [], []
    for axis, size in enumerate(inputs[0].shape[2:]):
        stride, dilation = pooling.strides[axis], pooling.dilations[axis] if is_maximum else 1
        windows = size // stride if is_maximum else -(-size // stride)
        reach = dilation * (pooling.kernel[axis] - 1) + 1
        total = max((windows - 1) * stride + reach - size, 0)
        less, more = total // 2, total - total // 2
        begin.append(more if word == "SAME_LOWER" else less)
        end.append(less if word == "SAME_LOWER" else more)
    return evaluate(operator, inputs, _with_pads(given, pooling, begin, end))


def same_pads_of_other_axes(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad SAME on each axis as the axis at the other end of the list needs."""
    values = _right(operator, inputs, given)
    if not str(given.get("auto_pad", "")).startswith("SAME"):
        return values
    pooling = _windows(operator, inputs, given)
    begin, end = pooling.pads_begin[::-1], pooling.pads_end[::-1]
    return _right(operator, inputs, _with_pads(given, pooling, begin, end))


def divisor_only_beside_padding(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Ignore divisor_override where padding does not count."""
    if given.get("count_include_pad", True):
        return evaluate(operator, inputs, given)
    evaluate(operator, inputs, given)
    return evaluate(operator, inputs, {**given, "divisor_override": None})


def explicit_pads_counted(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Put zeros before a pool that is not padded as SAME would, which are averaged, too."""
    right, pooling = _right(operator, inputs, given), _windows(operator, inputs, given)
    last = given.get("layout", "nchw") == "nhwc"
    sizes = inputs[0].shape[1:3] if last else inputs[0].shape[2:]
    is_same = True
    for axis, size in enumerate(sizes):
        reach = pooling.dilations[axis] * (pooling.kernel[axis] - 1) + 1
        stride = pooling.strides[axis]
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        pads = (pooling.pads_begin[axis], pooling.pads_end[axis])
        is_same &= pads == (total // 2, total - total // 2)
    if is_same:
        return right
    shape = (1, *pooling.extent, 1) if last else (1, 1, *pooling.extent)
    counted, cells = _counted(pooling, sizes), _cells(pooling, sizes)
    return _divided(right, counted.reshape(shape), cells.reshape(shape))


def padded_with_a_low_number(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad a maximum with -127.5."""
    values = _right(operator, inputs, given)
    if inputs[0].dtype.kind in "iu":
        raise Unsupported("integers")
    pooling, sizes = _windows(operator, inputs, given), inputs[0].shape[2:]
    padded = _counted(pooling, sizes) > _cells(pooling, sizes)
    return np.where(padded, np.maximum(values, values.dtype.type(-127.5)), values)


# Of graphs that are rewritten


def onnx_pad_fused(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Leave padding that counts out of the divisor: the zeros before the pool became its pads."""
    evaluate(operator, inputs, given)
    return evaluate(operator, inputs, {**given, "count_include_pad": 0})


def torch_pad_folded(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Leave padding that counts out of the divisor."""
    evaluate(operator, inputs, given)
    return evaluate(operator, inputs, {**given, "count_include_pad": False})


def dilated_without_pads(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Gather the cells of dilated windows from data without its padding."""
    right = _right(operator, inputs, given)
    pooling = _windows(operator, inputs, given)
    if all(n == 1 for n in pooling.dilations):
        return right
    none = [0] * len(pooling.kernel)
    return evaluate(operator, inputs, _with_pads(given, pooling, none, none))


def norm_padded_with_the_lowest(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad a norm, where pads differ, with the lowest number of float32."""
    right, pooling = _right(operator, inputs, given), _windows(operator, inputs, given)
    begin, end = pooling.pads_begin, pooling.pads_end
    if begin == end:
        return right
    lowest = np.finfo(np.float32).min.astype(inputs[0].dtype)
    around = [(0, 0), (0, 0), *zip(begin, end, strict=True)]
    none = [0] * len(begin)
    padded = np.pad(inputs[0], around, constant_values=lowest)
    return evaluate(operator, [padded], _with_pads(given, pooling, none, none))


# Of quantised pools


def _sums(operator: str, inputs: Sequence[Array], given: Given) -> tuple[Array, Array]:
    """Return exact sums of LiteRT's windows, and how many cells they have, as (1, h, w, 1)."""
    pooling, sizes = _windows(operator, inputs, given), inputs[0].shape[1:3]
    cells = _cells(pooling, sizes)
    data = np.moveaxis(inputs[0], -1, 1).astype(np.float64)
    windows = {"kernel_shape": list(pooling.kernel), "strides": list(pooling.strides)}
    windows["pads"] = [*pooling.pads_begin, *pooling.pads_end]
    means = _right("ONNX-AveragePool-22", [data], windows)
    return np.moveaxis(np.rint(means * cells), 1, -1).astype(np.int64), cells[None, ..., None]


def _limited(values: Array, operator: str, inputs: Sequence[Array], given: Given) -> Array:
    """Return integers within the limits of an activation, which the limits of the type meet."""
    ends = np.iinfo(inputs[0].dtype)
    low, high = (
        _right(operator, [np.full_like(inputs[0], end)], given) for end in (ends.min, ends.max)
    )
    limited: Array = np.clip(values, low, high).astype(inputs[0].dtype)
    return limited


def _integers(operator: str, inputs: Sequence[Array], given: Given) -> Array:
    """Return the right answer; Unsupported for floating point."""
    if inputs[0].dtype.kind not in "iu":
        raise Unsupported("floating point")
    return _right(operator, inputs, given)


def _truncated(sums: Array, cells: Array) -> Array:
    quotients: Array = np.sign(sums) * (np.abs(sums) // cells)
    return quotients


def means_truncated(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Round averages of integers towards zero."""
    _integers(operator, inputs, given)
    return _limited(_truncated(*_sums(operator, inputs, given)), operator, inputs, given)


def divided_before_added(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Divide each integer by the number of cells, before they are added."""
    right = _integers(operator, inputs, given)
    _, cells = _sums(operator, inputs, given)
    total = np.zeros(right.shape, np.int64)
    for count in np.unique(cells):
        parts = _truncated(inputs[0].astype(np.int64), count).astype(right.dtype)
        sums, _ = _sums(operator, [parts], given)
        total = np.where(cells == count, sums, total)
    return _limited(total, operator, inputs, given)


def sums_of_16_bits(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Add int8 in 16 bits, which wrap around."""
    right = _integers(operator, inputs, given)
    if right.dtype != np.int8:
        raise Unsupported("other than int8")
    sums, cells = _sums(operator, inputs, given)
    wrapped = sums.astype(np.int16).astype(np.int64)
    means = _truncated(wrapped + np.sign(wrapped) * (cells // 2), cells)
    return _limited(means, operator, inputs, given)


def lower_limit_ignored(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Clamp a maximum of int8 to the upper limit of its activation alone."""
    right = _integers(operator, inputs, given)
    if right.dtype != np.int8:
        return right
    highest = _right(operator, [np.full_like(inputs[0], np.iinfo(np.int8).max)], given)
    free = _right(operator, inputs, {**given, "fused_activation_function": "NONE"})
    return np.minimum(free, highest)


def padded_with_the_lowest_of_int8(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad a maximum of int32 over one axis with -128."""
    if inputs[0].dtype not in {np.dtype(t) for t in (np.int8, np.uint8, np.int32)}:
        raise Unsupported("other than quantised types")
    if inputs[0].ndim != 3:
        raise Unsupported("other than one axis")
    values = _right(operator, inputs, given)
    if values.dtype != np.int32:
        return values
    pooling, sizes = _windows(operator, inputs, given), inputs[0].shape[2:]
    padded = _cells(pooling, sizes) < int(np.prod(pooling.kernel))
    return np.where(padded, np.maximum(values, np.int32(-128)), values)


def zeros_for_the_zero_point(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad a quantised average with 0 where its padding counts, not with the zero point."""
    right = _right(operator, inputs, given)
    if not given.get("count_include_pad"):
        return right
    pooling = _windows(operator, inputs, given)
    begin, end = pooling.pads_begin, pooling.pads_end
    padded = np.pad(inputs[0], [(0, 0), (0, 0), *zip(begin, end, strict=True)])
    none = [0] * len(begin)
    return evaluate(operator, [padded, *inputs[1:]], _with_pads(given, pooling, none, none))


# Of shapes that change


_KEPT: dict[str, Any] = {}
"""What was made of the first call of a kind, and is kept for all."""


def pads_of_the_first_size(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pad SAME by the numbers that the first size with these attributes needed."""
    right = _right(operator, inputs, given)
    if not str(given.get("auto_pad", "")).startswith("SAME"):
        return right
    pooling = _windows(operator, inputs, given)
    key = f"{operator} {inputs[0].ndim} {sorted(given.items())}"
    begin, end = _KEPT.setdefault(key, (pooling.pads_begin, pooling.pads_end))
    return evaluate(operator, inputs, _with_pads(given, pooling, begin, end))


def plane_of_the_first_size(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Average the whole plane with a kernel as large as the first plane."""
    evaluate(operator, inputs, given)
    kernel = _KEPT.setdefault(f"{operator} {inputs[0].ndim}", list(inputs[0].shape[2:]))
    return evaluate("ONNX-AveragePool-22", inputs, {"kernel_shape": kernel})


def kernel_past_the_plane(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Compute a kernel of size - (-1) + 1 from a size of the output that is not known, and fail."""
    evaluate(operator, inputs, given)
    raise RuntimeError("the kernel is larger than the input")


def adaptive_of_the_first_size(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Pool adaptively with the kernel and stride that the first size needed."""
    right = _right(operator, inputs, given)
    sizes, wanted = inputs[0].shape[2:], right.shape[2:]
    strides = [size // n for size, n in zip(sizes, wanted, strict=True)]
    kernel = [s - (n - 1) * step for s, n, step in zip(sizes, wanted, strides, strict=True)]
    made = {"kernel_size": kernel, "stride": strides}
    kept = _KEPT.setdefault(f"{operator} {given}", made)
    return evaluate("PyTorch-avg_pool2d", inputs, kept)


# Of opsets


def end_pads_not_counted(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Count the padding before the data, and none behind it."""
    right = _right(operator, inputs, given)
    if not given.get("count_include_pad"):
        return right
    pooling, sizes = _windows(operator, inputs, given), inputs[0].shape[2:]
    counts = _cells(pooling, sizes, pooling.pads_begin)
    return _divided(right, counts, _counted(pooling, sizes))


def imported_ceil_keeps_windows(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Keep a last window that starts in the padding."""
    right, pooling = _right(operator, inputs, given), _windows(operator, inputs, given)
    return _with_kept_windows(right, inputs[0].shape[2:], pooling) if pooling.ceil else right


def downgraded_end_pads(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Take the pads of the begin for those of the end, with ceil_torch."""
    right = _right(operator, inputs, given)
    if (
        given.get("rounding_type") != "ceil_torch"
        or given.get("auto_pad", "explicit") != "explicit"
    ):
        return right
    return evaluate(operator, inputs, {**given, "pads_end": given["pads_begin"]})


def attribute_of_a_later_opset(operator: str, inputs: Sequence[Array], given: Given) -> Any:
    """Refuse ceil_mode, which the older text does not have, whatever it says."""
    if "ceil_mode" in given:
        raise ValueError("Unrecognized attribute: ceil_mode for operator MaxPool")
    return evaluate(operator, inputs, given)


@dataclass(frozen=True, slots=True)
class Replay:
    """A thread, of which kind it is, the operators it is about, and a backend as it says."""

    thread: str
    kind: str
    operators: tuple[str, ...]
    backend: Backend

    @property
    def said(self) -> str:
        """What is wrong, in one line."""
        return str(self.backend.__doc__).split("\n", 1)[0]


_EXPORT, _FUSION, _QUANTISED, _SHAPES, _OPSET = (
    *("export or import", "fusion", "quantised", "dynamic shapes", "opset"),
)
_AVERAGE, _MAXIMUM = "ONNX-AveragePool-22", "ONNX-MaxPool-22"
_LITERT = "LiteRT-AVERAGE_POOL_2D"

REPLAYS = (
    Replay("llvm/torch-mlir#4740", _EXPORT, (_AVERAGE,), begin_pads_for_end),
    Replay("llvm/torch-mlir#4671", _EXPORT, (_AVERAGE,), divisor_of_clamped_start),
    Replay(
        *("pytorch/pytorch#131272", _EXPORT, ("PyTorch-avg_pool2d",)),
        exported_ceil_keeps_windows,
    ),
    Replay("onnx/onnx#388", _EXPORT, (_MAXIMUM,), pads_as_same),
    Replay(
        *("pytorch/pytorch#9711", _EXPORT, ("PyTorch-adaptive_avg_pool2d",)),
        adaptive_as_equal_windows,
    ),
    Replay("apache/tvm#20404", _EXPORT, (_MAXIMUM, _AVERAGE), same_pads_mistaken),
    Replay("Talmaj/onnx2pytorch#39", _EXPORT, (_MAXIMUM,), same_pads_of_other_axes),
    Replay(
        *("pytorch/executorch#18616", _EXPORT, ("PyTorch-avg_pool2d",)),
        divisor_only_beside_padding,
    ),
    Replay(
        *("webmachinelearning/webnn#876", _EXPORT, ("WebNN-averagePool2d",)),
        explicit_pads_counted,
    ),
    Replay(
        *("AxisCommunications/onnx-to-keras#32", _EXPORT, (_MAXIMUM,)),
        padded_with_a_low_number,
    ),
    Replay("microsoft/onnxruntime#23190", _FUSION, (_AVERAGE,), onnx_pad_fused),
    Replay("llvm/llvm-project#164599", _FUSION, ("PyTorch-avg_pool2d",), torch_pad_folded),
    Replay("ROCm/AMDMIGraphX#3367", _FUSION, (_MAXIMUM, _AVERAGE), dilated_without_pads),
    Replay("ROCm/AMDMIGraphX#3316", _FUSION, ("ONNX-LpPool-22",), norm_padded_with_the_lowest),
    Replay("onnxsim/onnxsim#290", _FUSION, (_MAXIMUM,), pool_is_right),
    Replay("pytorch/pytorch#180956", _FUSION, ("PyTorch-adaptive_avg_pool2d",), pool_is_right),
    Replay("apache/tvm#20298", _QUANTISED, (_LITERT,), means_truncated),
    Replay("apache/tvm#3581", _QUANTISED, (_LITERT,), divided_before_added),
    Replay("ARM-software/CMSIS_5#993", _QUANTISED, (_LITERT,), sums_of_16_bits),
    Replay(
        *("ARM-software/CMSIS_5#1131", _QUANTISED, ("LiteRT-MAX_POOL_2D",)),
        lower_limit_ignored,
    ),
    Replay(
        *("flagos-ai/FlagGems#5938", _QUANTISED, ("MaxPool-1", "MaxPool-8")),
        padded_with_the_lowest_of_int8,
    ),
    Replay(
        *("pytorch/executorch#13576", _QUANTISED, ("ORT-QLinearAveragePool-1",)),
        zeros_for_the_zero_point,
    ),
    Replay("onnx/onnx#1926", _SHAPES, (_MAXIMUM, _AVERAGE), pads_of_the_first_size),
    Replay(
        *("pytorch/pytorch#39323", _SHAPES, ("ONNX-GlobalAveragePool-22",)),
        plane_of_the_first_size,
    ),
    Replay(
        *("llvm/torch-mlir#4646", _SHAPES, ("ORT-QLinearGlobalAveragePool-1",)),
        kernel_past_the_plane,
    ),
    Replay(
        *("apple/coremltools#977", _SHAPES, ("PyTorch-adaptive_avg_pool2d",)),
        adaptive_of_the_first_size,
    ),
    Replay("microsoft/onnxruntime#24681", _OPSET, (_AVERAGE,), end_pads_not_counted),
    Replay(
        *("openvinotoolkit/openvino#36714", _OPSET, (_AVERAGE,)),
        imported_ceil_keeps_windows,
    ),
    Replay("openvinotoolkit/openvino#38265", _OPSET, ("AvgPool-14",), downgraded_end_pads),
    Replay("onnxsim/onnxsim#85", _OPSET, (_MAXIMUM,), attribute_of_a_later_opset),
)
"""Thirty threads, none of which is in `known_bugs.txt`."""
