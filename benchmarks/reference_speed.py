"""How long exact values take, beside engines that round as they go, on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.paired import Effort, Row, Run, measured
from conformance import evaluate


@dataclass(frozen=True)
class Pooling:
    """A pooling of square planes of shape batch x channels x size x size."""

    batch: int
    channels: int
    size: int
    kernel: int
    stride: int
    pad: int

    def __str__(self) -> str:
        """Return the shape and k, s, p."""
        shape = f"{self.batch}x{self.channels}x{self.size}x{self.size}"
        return f"{shape} k{self.kernel} s{self.stride} p{self.pad}"

    def attributes(self, **more: Any) -> dict[str, Any]:
        """Return what AvgPool-1 and MaxPool-1 share."""
        pads = [self.pad] * 2
        return {
            "kernel": [self.kernel] * 2,
            "strides": [self.stride] * 2,
            "pads_begin": pads,
            "pads_end": pads,
            **more,
        }

    def data(self, dtype: str = "float32", *, spread: int = 0) -> np.ndarray:
        """Draw a tensor around zero; `spread` widens its range of exponents."""
        rng = np.random.default_rng(0)
        values = rng.standard_normal((self.batch, self.channels, self.size, self.size))
        return np.ldexp(values, rng.integers(-spread, spread + 1, values.shape)).astype(dtype)


POOLINGS = (
    Pooling(1, 64, 224, 3, 2, 1),
    Pooling(1, 64, 112, 3, 1, 1),
    Pooling(8, 64, 56, 2, 2, 0),
)
SMALL = Pooling(1, 4, 56, 3, 2, 1)


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows beside torch, then beside the reference evaluator of ONNX."""
    import torch  # noqa: PLC0415 - an engine that may be missing

    torch.set_num_threads(1)
    rounds = effort.rounds(21)
    for pooling in POOLINGS[2:] if effort.quick else POOLINGS:
        data = pooling.data()
        yield measured(
            f"average {pooling}", "torch", average(pooling, data), torch_average(pooling, data),
            rounds,
        )  # fmt: skip
        yield measured(
            f"maximum {pooling}", "torch", maximum(pooling, data), torch_maximum(pooling, data),
            rounds,
        )  # fmt: skip
    if not effort.quick:
        pooling = POOLINGS[1]
        for name, data in (
            ("average of float16", pooling.data("float16")),
            ("average of float64", pooling.data("float64")),
            ("average of float32, exponents +-60", pooling.data(spread=60)),
        ):
            ours, theirs = average(pooling, data), torch_average(pooling, data)
            yield measured(f"{name} {pooling}", "torch", ours, theirs, 5)
    for pooling, often in ((SMALL, 3),) if effort.quick else ((SMALL, 5), (POOLINGS[0], 1)):
        data = pooling.data()
        ours, theirs = average(pooling, data), onnx_average(pooling, data)
        yield measured(f"average {pooling}", "ONNX reference", ours, theirs, often)


def average(pooling: Pooling, data: np.ndarray) -> Run:
    """Return the exact average."""
    return partial(evaluate, "AvgPool-1", [data], pooling.attributes(exclude_pad=True))


def maximum(pooling: Pooling, data: np.ndarray) -> Run:
    """Return the maximum."""
    return partial(evaluate, "MaxPool-1", [data], pooling.attributes())


def torch_average(pooling: Pooling, data: np.ndarray) -> Run:
    """Return torch's average without padding in the divisor."""
    return torch_pooling("avg_pool2d", pooling, data, count_include_pad=False)


def torch_maximum(pooling: Pooling, data: np.ndarray) -> Run:
    """Return torch's maximum."""
    return torch_pooling("max_pool2d", pooling, data)


def torch_pooling(name: str, pooling: Pooling, data: np.ndarray, **options: Any) -> Run:
    """Return one of torch's kernels for the same windows."""
    import torch  # noqa: PLC0415

    function = getattr(torch.nn.functional, name)
    tensor = torch.from_numpy(data)
    return partial(function, tensor, pooling.kernel, pooling.stride, pooling.pad, **options)


def onnx_average(pooling: Pooling, data: np.ndarray) -> Run:
    """Return the reference evaluator of ONNX."""
    from onnx import TensorProto, helper  # noqa: PLC0415 - an engine that may be missing
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415

    node = helper.make_node(
        "AveragePool",
        ["x"],
        ["y"],
        kernel_shape=[pooling.kernel] * 2,
        strides=[pooling.stride] * 2,
        pads=[pooling.pad] * 4,
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, data.shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)
    model = helper.make_model(helper.make_graph([node], "average", [x], [y]))
    session = ReferenceEvaluator(model)
    return lambda: session.run(None, {"x": data})
