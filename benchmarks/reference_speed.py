"""How long exact values take, beside engines that round as they go.

    python benchmarks/reference_speed.py [--rounds N]

Each row pairs `conformance.evaluate` with another implementation on the same tensor. The two run
alternately, so that a slow moment of the machine hits both; a row gives the median time of each
and the ratio of paired runs: median, and in brackets the quarter and three-quarter points. One
thread. Needs torch; rows with the ONNX reference evaluator need onnx.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from conformance import evaluate

Run = Callable[[], Any]


@dataclass(frozen=True)
class Pair:
    """Two ways to compute the same; `rounds` overrides how often they run."""

    name: str
    against: str
    ours: Run
    other: Run
    rounds: int | None = None


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


def average(pooling: Pooling, data: np.ndarray) -> Run:
    """Return the exact average."""
    attributes = pooling.attributes(exclude_pad=True)
    return partial(evaluate, "AvgPool-1", [data], attributes)


def torch_pooling(function: Any, pooling: Pooling, data: np.ndarray, **options: Any) -> Run:
    """Return torch's kernel for the same windows."""
    tensor = torch.from_numpy(data)
    return partial(function, tensor, pooling.kernel, pooling.stride, pooling.pad, **options)


def torch_average(pooling: Pooling, data: np.ndarray) -> Run:
    """Return torch's average without padding in the divisor."""
    kernel = torch.nn.functional.avg_pool2d
    return torch_pooling(kernel, pooling, data, count_include_pad=False)


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


def pairs() -> Iterator[Pair]:
    """Yield what is measured."""
    for pooling in POOLINGS:
        data = pooling.data()
        yield Pair(
            f"average {pooling}", "torch", average(pooling, data), torch_average(pooling, data)
        )
    for pooling in POOLINGS:
        data = pooling.data()
        ours = partial(evaluate, "MaxPool-1", [data], pooling.attributes())
        other = torch_pooling(torch.nn.functional.max_pool2d, pooling, data)
        yield Pair(f"maximum {pooling}", "torch", ours, other)
    pooling = POOLINGS[1]
    for name, data in (
        ("average of float16", pooling.data("float16")),
        ("average of float64", pooling.data("float64")),
        ("average of float32, exponents +-60", pooling.data(spread=60)),
    ):
        yield Pair(
            f"{name} {pooling}", "torch", average(pooling, data), torch_average(pooling, data), 5
        )
    small, large = Pooling(1, 4, 56, 3, 2, 1), POOLINGS[0]
    for pooling, rounds in ((small, 3), (large, 1)):
        data = pooling.data()
        try:
            other = onnx_average(pooling, data)
        except ImportError:
            return
        yield Pair(f"average {pooling}", "ONNX reference", average(pooling, data), other, rounds)


def timed(run: Run) -> float:
    """Return the seconds one run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(pair: Pair, rounds: int) -> tuple[float, float, list[float]]:
    """Return both median times in seconds and the ratio of each pair of runs."""
    if rounds > 1:
        pair.ours()
        pair.other()
    times = [(timed(pair.ours), timed(pair.other)) for _ in range(rounds)]
    ours, others = zip(*times, strict=True)
    return statistics.median(ours), statistics.median(others), [a / b for a, b in times]


def spread_of(ratios: list[float]) -> str:
    """Return the median of ratios and, of several, where the middle half of them lies."""
    middle = statistics.median(ratios)
    if len(ratios) < 3:
        return f"{middle:.3g}"
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.3g} ({low:.3g}-{high:.3g})"


def main() -> None:
    """Measure every pair and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21, help="paired runs of each row")
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    table = Table(
        title=f"evaluate beside other implementations, one thread, torch {torch.__version__}"
    )
    for heading in ("what", "against"):
        table.add_column(heading)
    for heading in ("ours ms", "theirs ms", "ours / theirs"):
        table.add_column(heading, justify="right")
    for pair in pairs():
        ours, other, ratios = measure(pair, min(rounds, pair.rounds or rounds))
        table.add_row(
            pair.name, pair.against, f"{ours * 1e3:.3f}", f"{other * 1e3:.3f}", spread_of(ratios)
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
