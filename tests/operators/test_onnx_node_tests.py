"""The node tests inside the onnx package, run against `evaluate`."""

import warnings
from functools import cache

import numpy as np
import pytest

from conformance import evaluate
from conformance.operators import OPERATORS

pytestmark = pytest.mark.needs_engine("onnx")

OPSET = 22


@cache
def node_tests():
    """Return the pooling node tests of onnx by name: operator, inputs, attributes and outputs."""
    import onnx  # noqa: PLC0415 - only where it is installed
    from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its other tests
        cases = collect_testcases(None)
    found = {}
    for case in cases:
        (node, *more) = case.model.graph.node
        operator = f"ONNX-{node.op_type}-{OPSET}"
        if operator in OPERATORS and not more:
            assert case.model.opset_import[0].version == OPSET
            attributes = {
                attribute.name: onnx.helper.get_attribute_value(attribute)
                for attribute in node.attribute
            }
            words = {k: v.decode() for k, v in attributes.items() if isinstance(v, bytes)}
            ((inputs, outputs),) = case.data_sets
            found[case.name] = operator, inputs, attributes | words, outputs
    return found


READINGS = {"test_maxunpool_export_with_output_shape": {"unpool-index-space": "inferred"}}
"""Of a test that follows a reading which is not the default."""


def disagreement(operator, inputs, attributes, outputs, readings):
    """Say how `evaluate` differs from a node test; "" if it does not."""
    got = evaluate(operator, inputs, attributes, readings)
    arrays = got if isinstance(got, tuple) else (got,)
    for ours, theirs in zip(arrays, outputs, strict=False):
        if ours.shape != theirs.shape:
            return f"shape {ours.shape}, not {theirs.shape}"
        # The tolerance of onnx's own runner.
        if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-7):
            return f"{np.count_nonzero(~np.isclose(ours, theirs, rtol=1e-3))} elements"
    return ""


def test_every_pooling_node_test_is_agreed_with():
    """All of them have the outputs that the default readings give, but for `READINGS`."""
    tests = node_tests()
    assert len(tests) >= 51
    assert {test[0] for test in tests.values()} >= {
        "ONNX-AveragePool-22",
        "ONNX-MaxPool-22",
        "ONNX-LpPool-22",
        "ONNX-GlobalAveragePool-22",
        "ONNX-GlobalMaxPool-22",
    }
    differing = {name: disagreement(*test, READINGS.get(name)) for name, test in tests.items()}
    assert {name: why for name, why in differing.items() if why} == {}
