"""The MNN backend: what its padding modes express, and what they do not."""

import numpy as np
import pytest
from support.oracle import oracle
from support.random_cases import pooling, worst_share

from conformance.errors import Unsupported

pytest.importorskip("MNN")

from conformance.backends.engines.mnn_backend import backend

pytestmark = pytest.mark.needs_engine("MNN")

PLANE = np.arange(35, dtype=np.float32).reshape(1, 1, 5, 7)
PADDED = {"pads_begin": [0, 1], "pads_end": [0, 1]}


@pytest.mark.parametrize(
    ("operator", "given"),
    [
        ("MaxPool-1", {}),
        ("AvgPool-1", {"exclude_pad": True}),
        ("AvgPool-1", {"auto_pad": "same_upper", "exclude_pad": True}),
        ("AvgPool-1", {**PADDED, "rounding_type": "ceil", "exclude_pad": False}),
    ],
)
def test_padding_modes(operator, given):
    """SAME and VALID leave padding out and round down, CAFFE counts it and rounds up."""
    case = (operator, [PLANE], pooling([2, 3], [2, 1]) | given)
    assert worst_share(backend(*case), oracle(*case), 2) <= 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"auto_pad": "same_lower"}, "SAME and VALID"),
        ({"pads_begin": [1, 0]}, "both ends alike"),
        ({**PADDED, "exclude_pad": False}, "rounds up"),
        ({"rounding_type": "ceil"}, "rounds down"),
        ({"auto_pad": "same_upper", "exclude_pad": False}, "padding mode decides"),
        ({"kernel": [2]}, "two spatial axes"),
    ],
)
def test_what_mnn_does_not_express(change, reason):
    """Unsupported says why."""
    given = pooling([2, 3], [2, 1], exclude_pad=True) | change
    with pytest.raises(Unsupported, match=reason):
        backend("AvgPool-1", [PLANE], given)


def test_types_and_operators():
    """It has float32, and neither adaptive pooling nor norms."""
    with pytest.raises(Unsupported, match="float64"):
        backend("MaxPool-1", [PLANE.astype(np.float64)], pooling([2, 2]))
    for operator in ("AdaptiveAvgPool-8", "ONNX-LpPool-22", "SumPool-1"):
        with pytest.raises(Unsupported, match=operator):
            backend(operator, [PLANE, np.array([2, 2])], {"kernel_shape": [2, 2]})
