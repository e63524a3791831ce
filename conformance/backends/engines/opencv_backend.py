"""OpenCV's cv2.dnn on models of ONNX, on the CPU, in float32.

Every model is one node with static shapes, as it is for ONNX Runtime (`onnx_node`). A layer takes
float32 and one to three spatial axes, a global one two at most, and MaxUnpool has two. MaxPool has
indices for two axes, values are computed alone elsewhere. OpenCV has no norms, and no arrays
without cells. Inputs are copied into C order.

`opencv:opset=11` takes the operators from another opset of ONNX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from conformance.backends.engines.engine import check_most_axes, known_operator
from conformance.backends.engines.onnx_node import INPUTS, LATEST, given_inputs, model_of
from conformance.errors import Unsupported
from conformance.vector import Array, Outputs, as_returned

cv2.utils.logging.setLogLevel(0)  # what is wrong comes back as an exception
_LACKS = ("Can't create layer", "addedDims <= pads_begin.size()", "kernel_shape.size() == 2")
"""What is said without a layer, of three axes of a global one, and of one axis of MaxUnpool."""


@dataclass(frozen=True, slots=True)
class OpenCV:
    """A backend that takes the operators from one opset of ONNX."""

    opset: int = LATEST

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case with one node; Unsupported for what ONNX or OpenCV lacks."""
        definition, data = known_operator(operator, "ONNX"), inputs[0]
        check_most_axes(definition, data.ndim - 2, "OpenCV")
        if data.dtype != np.float32 or data.size == 0:
            raise Unsupported(f"{data.dtype} of shape {data.shape}: OpenCV pools cells of float32")
        outputs = 2 if data.ndim == 4 else 1
        model = model_of(definition, inputs, attributes, self.opset, most_outputs=outputs)
        try:  # a net for each call: threads may not share one
            net = cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8))
            for name, array in zip(INPUTS, given_inputs(definition, inputs), strict=False):
                net.setInput(np.ascontiguousarray(array), name)
            return as_returned(tuple(net.forward(net.getUnconnectedOutLayersNames())))
        except cv2.error as refusal:
            if any(text in str(refusal) for text in _LACKS):
                raise Unsupported(f"operator {operator} of {data.ndim - 2} axes") from None
            raise


backend = OpenCV()
