"""What the documents say of operators: one file a standard, and the order of their operators."""

from __future__ import annotations

from conformance.operators.documents import (
    litert,
    ngraph,
    onnx,
    onnx_runtime,
    onnx_versions,
    openvino,
    pytorch,
    tosa,
    webnn,
)

OWN = (
    openvino.AVG_POOL,
    openvino.MAX_POOL,
    openvino.ADAPTIVE_AVG_POOL,
    ngraph.AVG_POOL,
    openvino.AVG_POOL_14,
    openvino.AVG_POOL_16,
    openvino.MAX_POOL_8,
    openvino.MAX_POOL_14,
    openvino.ADAPTIVE_MAX_POOL,
    *onnx.OPERATORS,
    *pytorch.OPERATORS,
    *webnn.OPERATORS,
    *tosa.OPERATORS,
    *litert.OPERATORS,
    *onnx_runtime.OPERATORS,
    *onnx_versions.OPERATORS,
)
"""The operators of this package, in the order in which they are listed."""
