"""The published pooling tests of ONNX and PyTorch as cases of the operators here.

A case counts if the right operator, under the readings the project follows, passes it by the
project's own tolerance; what is left out is kept by name and reason. Of a case that returns
indices too only the values are compared. ONNX's GlobalAveragePool and GlobalMaxPool are pooling
with a kernel as large as the input. torch expects of its samples what it computes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from conformance.errors import Unsupported
from conformance.faults import Fault
from conformance.faults.baseline import Answer, Baseline, PlantedFaults, Raised, right_operator
from conformance.judging.profiles import PROFILES
from conformance.operators import OPERATORS
from conformance.vector import Array, Case

Tolerance = Callable[[np.dtype[Any]], tuple[float, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A case of another suite and what it expects, None for an exception."""

    case: Case
    expected: Array | None


@dataclass(slots=True, eq=False)
class Suite:
    """The cases of another suite; `tolerance` gives rtol and atol of an element type.

    `left_out` maps why a case is not used to the names of such cases, `values_only` counts the
    used ones whose indices are not compared.
    """

    name: str
    tolerance: Tolerance
    tolerance_text: str
    readings: Mapping[str, str]
    examples: list[tuple[Example, Baseline]] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    values_only: int = 0

    def add(self, name: str, translated: Callable[[], Example], *, indices: bool) -> None:
        """Take a case in if an operator expresses it and the right one passes it."""
        try:
            example = translated()
        except Unsupported as error:
            self.left_out.setdefault(str(error), []).append(name)
            return
        baseline = Baseline(example.case, right_operator(example.case.operator, self.readings))
        if self.passes(example, baseline.right):
            self.examples.append((example, baseline))
            self.values_only += indices
        else:
            refused = "refused there, valid here"
            why = refused if example.expected is None else "the exact result does not pass"
            self.left_out.setdefault(why, []).append(name)

    def passes(self, example: Example, answer: Answer) -> bool:
        """Say whether the first output of an answer passes by the rule of this suite."""
        expected = example.expected
        if expected is None or isinstance(answer, Raised):
            return expected is None and isinstance(answer, Raised)
        got = answer[0]
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return False
        rtol, atol = self.tolerance(expected.dtype)
        wide = got.astype(np.float64), expected.astype(np.float64)
        return np.allclose(*wide, rtol=rtol, atol=atol, equal_nan=True)

    @property
    def operators(self) -> list[str]:
        """The operators it has cases of."""
        return [name for name in OPERATORS if name in {e.case.operator for e, _ in self.examples}]

    def catches(self, fault: Fault, operator: str) -> bool:
        """Say whether a case of the operator fails with a fault in it."""
        planted = PlantedFaults((fault,), operator, self.readings)
        mine = [each for each in self.examples if each[0].case.operator == operator]
        if not fault.remembers:  # what is remembered depends on the order of calls
            mine.sort(key=lambda each: sum(array.size for array in each[1].case.inputs))
        answers = ((example, planted.answer(baseline)) for example, baseline in mine)
        return any(got is not None and not self.passes(example, got) for example, got in answers)


def pooling(operator: str, axes: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes of AvgPool-1 or MaxPool-1; what has a default and is absent stays absent.

    `given` has kernel, strides, begin, end, and maybe ceil, auto_pad and include_pad.
    """
    if any(d != 1 for d in given.get("dilations", [])):
        raise Unsupported("dilations")
    attributes: dict[str, Any] = {
        "kernel": given["kernel"],
        "strides": given.get("strides", [1] * axes),
        "pads_begin": given.get("begin", [0] * axes),
        "pads_end": given.get("end", [0] * axes),
    }
    if "ceil" in given:
        attributes["rounding_type"] = "ceil" if given["ceil"] else "floor"
    if "auto_pad" in given:
        attributes["auto_pad"] = given["auto_pad"]
    if operator == "AvgPool-1":
        attributes["exclude_pad"] = not given["include_pad"]
    return attributes


# ---------------------------------------------------------------------------------------------
# ONNX


def onnx_suite() -> Suite:
    """Return the pooling cases among ONNX's node tests."""
    from onnx.backend.test.loader import load_model_tests  # noqa: PLC0415 - may be missing

    suite = Suite(
        "ONNX node tests", lambda _: (1e-3, 1e-7), "rtol 1e-3, atol 1e-7", PROFILES["onnx"]
    )
    for test in load_model_tests(kind="node"):
        (node, *_) = test.model.graph.node
        if node.op_type.removeprefix("Global") not in {"AveragePool", "MaxPool"}:
            continue
        assert (test.rtol, test.atol) == (1e-3, 1e-7)
        for inputs, outputs in test.data_sets:
            suite.add(
                test.name,
                lambda n=node, i=inputs, o=outputs, t=test.name: from_onnx(t, n, i[0], o[0]),
                indices=len(outputs) > 1,
            )
    return suite


def from_onnx(name: str, node: Any, data: Array, expected: Array) -> Example:
    """Translate one node."""
    from onnx.helper import get_attribute_value  # noqa: PLC0415

    axes = data.ndim - 2
    operator = "AvgPool-1" if node.op_type.endswith("AveragePool") else "MaxPool-1"
    of_node = {each.name: get_attribute_value(each) for each in node.attribute}
    given: dict[str, Any] = {"include_pad": bool(of_node.get("count_include_pad", 0))}
    if node.op_type.startswith("Global"):
        given["kernel"] = list(data.shape[2:])
    else:
        given["kernel"] = of_node["kernel_shape"]
    if "pads" in of_node:
        given |= {"begin": of_node["pads"][:axes], "end": of_node["pads"][axes:]}
    if "ceil_mode" in of_node:
        given["ceil"] = of_node["ceil_mode"]
    if "auto_pad" in of_node:
        auto = of_node["auto_pad"].decode().lower()
        given["auto_pad"] = "explicit" if auto == "notset" else auto
    given |= {key: of_node[key] for key in ("strides", "dilations") if key in of_node}
    case = Case(name, operator, pooling(operator, axes, given), (data,))
    return Example(case, expected)


# ---------------------------------------------------------------------------------------------
# PyTorch

_POOLS = [f"{kind}_pool{axes}d" for kind in ("avg", "max", "adaptive_avg") for axes in (1, 2, 3)]
_WINDOWED = ("kernel_size", "stride", "padding")
_PARAMETERS = {
    "avg": (*_WINDOWED, "ceil_mode", "count_include_pad", "divisor_override"),
    "max": (*_WINDOWED, "dilation", "ceil_mode", "return_indices"),
    "adaptive_avg": ("output_size",),
}


def torch_suite() -> Suite:
    """Return the samples and error inputs of torch's OpInfo, in every type it has on the CPU."""
    import torch  # noqa: PLC0415 - may be missing
    from torch.testing._comparison import default_tolerances  # noqa: PLC0415
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415

    torch.manual_seed(0)
    torch.set_num_threads(1)

    def tolerance(dtype: np.dtype[Any]) -> tuple[float, float]:
        return default_tolerances(getattr(torch, dtype.name))

    suite = Suite("PyTorch OpInfo", tolerance, "float32 1.3e-6, 1e-5", PROFILES["torch"])
    for info in op_db:
        name = info.name.removeprefix("nn.functional.")
        if name not in _POOLS:
            continue
        for what, sample, fails in torch_samples(info):
            indices = bool(sample.kwargs.get("return_indices"))
            suite.add(
                f"{name} {what}",
                lambda i=info, n=name, s=sample, f=fails: from_torch(i, n, s, fails=f),
                indices=indices,
            )
    return suite


def torch_samples(info: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield type or "errors", sample, and whether an exception is expected."""
    for dtype in sorted(info.supported_dtypes("cpu"), key=str):
        for sample in info.sample_inputs("cpu", dtype):
            yield str(dtype).removeprefix("torch."), sample, False
    for error in info.error_inputs("cpu"):
        yield "errors", error.sample_input, True


def from_torch(info: Any, name: str, sample: Any, *, fails: bool) -> Example:
    """Translate one sample; a plane without a batch gets a batch of one."""
    kind, axes = name[: -len("_pool1d")], int(name[-2])
    given = dict(zip(_PARAMETERS[kind], sample.args, strict=False)) | sample.kwargs
    if given.get("divisor_override") is not None:
        raise Unsupported("divisor_override")
    batched = sample.input.ndim != axes + 1
    data = array_of(sample.input if batched else sample.input.unsqueeze(0))
    if data.dtype.kind in "iu" and kind != "max":
        raise Unsupported("averages of integers")
    expected = None
    if not fails:
        result = info(sample.input, *sample.args, **sample.kwargs)
        values = result[0] if isinstance(result, tuple) else result
        expected = array_of(values if batched else values.unsqueeze(0))
    case = (
        adaptive(data, axes, given)
        if kind == "adaptive_avg"
        else sliding("AvgPool-1" if kind == "avg" else "MaxPool-1", data, axes, given)
    )
    return Example(case, expected)


def adaptive(data: Array, axes: int, given: Mapping[str, Any]) -> Case:
    """Return a case of adaptive pooling; an output size of None is that of the input."""
    wanted = per_axis(given["output_size"], axes)
    if len(wanted) == axes == data.ndim - 2:
        wanted = [d if o is None else o for o, d in zip(wanted, data.shape[2:], strict=True)]
    return Case("", "AdaptiveAvgPool-8", {}, (data, np.array(wanted, np.int64)))


def sliding(operator: str, data: Array, axes: int, given: Mapping[str, Any]) -> Case:
    """Return a case of pooling with a kernel; no stride is that of the kernel."""
    kernel = per_axis(given["kernel_size"], axes)
    pads = per_axis(given.get("padding", 0), axes)
    options = {
        "kernel": kernel,
        "strides": per_axis(given.get("stride"), axes) or kernel,
        "begin": pads,
        "end": pads,
        "dilations": per_axis(given.get("dilation", 1), axes),
        "include_pad": given.get("count_include_pad", True),
    }
    if "ceil_mode" in given:
        options["ceil"] = given["ceil_mode"]
    return Case("", operator, pooling(operator, axes, options), (data,))


def per_axis(value: Any, axes: int) -> list[Any]:
    """Return a list as torch reads it: one number goes for all axes, None is nothing."""
    if value is None:
        return []
    several = list(value) if isinstance(value, Iterable) else [value]
    return several * axes if len(several) == 1 else several


def array_of(tensor: Any) -> Array:
    """Return a tensor as an array."""
    import torch  # noqa: PLC0415

    if tensor.dtype is torch.bfloat16:
        bits: Array = tensor.detach().view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    values: Array = tensor.detach().numpy()
    return values
