"""The reference model of TOSA, of the package tosa-tools: AVG_POOL2D and MAX_POOL2D.

The adapter answers the operators of TOSA's own document alone, each a graph of one operation whose
constants are the inputs after the first. bfloat16 and float8, which no buffer of Python has, are
handed over as their bits. The sizes of the output, which a graph states, are those of the windows;
of a kernel, stride or pad that no document allows they are some size, for the model to refuse.

`backend` has no limits on sizes; `tosa-reference:level=EIGHTK` has those of the level 8K.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tosa_serializer as tosa
from tosa_reference_model import GraphStatus, run

from conformance.errors import Unsupported
from conformance.vector import Array

_DTYPES = {"float32": "FP32", "float16": "FP16", "bfloat16": "BF16", "int8": "INT8"}
_DTYPES |= {"int16": "INT16", "float8_e4m3fn": "FP8E4M3", "float8_e5m2": "FP8E5M2"}


@dataclass(frozen=True, slots=True)
class TosaReference:
    """A backend of one level of TOSA: "NONE" or "EIGHTK"."""

    level: str = "NONE"

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case; Unsupported for an operator of another document, or another type."""
        data, *_ = inputs
        graph = graph_of(operator, inputs, attributes)
        bits = data if data.dtype.isbuiltin == 1 else data.view(f"u{data.itemsize}")
        [output], status = run(graph, [np.ascontiguousarray(bits)], tosa_level=self.level)
        if status != GraphStatus.TOSA_VALID:
            raise ValueError(f"the reference model says {status.name}")
        result: Array = output.view(data.dtype)
        return result


backend = TosaReference()


def graph_of(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> bytes:
    """Return the serialised graph of a case; Unsupported as `backend` says."""
    publisher, _, name = operator.partition("-")
    data, *numbers = inputs
    if publisher != "TOSA" or name not in {"AVG_POOL2D", "MAX_POOL2D"}:
        raise Unsupported(f"operator {operator}: the adapter has those of TOSA's document")
    if data.dtype.name not in _DTYPES or data.ndim != 4:
        raise Unsupported(f"{data.dtype} of {data.ndim} axes: no data of the operation")
    dtype = tosa.DType.__members__[_DTYPES[data.dtype.name]]
    kernel, stride, pad = (attributes[key] for key in ("kernel", "stride", "pad"))
    options = tosa.TosaSerializerAttribute()
    if name == "AVG_POOL2D":
        accumulator = tosa.DType.__members__[attributes["acc_type"]]
        options.AvgPool2dAttribute(kernel, stride, pad, accumulator)
    else:
        mode = tosa.NanPropagationMode.__members__[attributes.get("nan_mode", "PROPAGATE")]
        options.MaxPool2dAttribute(kernel, stride, pad, mode)
    axes = zip(data.shape[1:3], kernel, stride, pad[::2], pad[1::2], strict=False)
    sizes = [max(0, (d + begin + end - k) // max(1, s) + 1) for d, k, s, begin, end in axes]
    graph = tosa.TosaSerializer()
    x = graph.addPlaceholder(data.shape, dtype, None)
    constants = [graph.addConst([1], dtype, number).name for number in numbers]
    y = graph.addOutput([data.shape[0], *sizes, data.shape[3]], dtype)
    graph.addOperator(tosa.Op.__members__[name], [x.name, *constants], [y.name], options)
    serialised: bytes = graph.serialize()
    return serialised
