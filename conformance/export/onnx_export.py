"""Vectors as ONNX backend tests: `pooling/test_*/model.onnx` with `test_data_set_0` beside it.

An ONNX test has one expectation, and one tolerance for all of its elements that covers the bound of
each. The outputs are those under the readings that the text of ONNX follows. Where that text is
silent and the outputs differ, and where a vector has no such form, it is left out. MaxPool has its
indices, too, unless one of them is undefined.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from onnx import numpy_helper

from conformance.backends.engines.onnx_node import (
    INPUTS,
    NAMES,
    Node,
    has_type,
    inputs_of,
    kind_of,
    model,
    node_of,
    opset_of,
)
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.errors import InvalidCase, Unsupported
from conformance.export.limits import limits
from conformance.judging.profiles import PROFILES
from conformance.operators import Operator, as_called, operator_named
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Anything, Array, Expected, Raises, Values, Vector

# ONNX Runtime rejects pads that reach the kernel; the text of ONNX has no such rule. Pads beside
# auto_pad are not written.
READINGS: Final = PROFILES["onnx"] | {
    "pads-not-below-kernel": "accepted",
    "pads-not-below-undilated-kernel": "accepted",
    "pads-with-auto-pad": "ignored",
}
# A runner compares in the element type itself, and rounds there.
_SLACK = 1.01


class Inexpressible(Exception):  # noqa: N818 - a statement about a vector, not a failure
    """A vector has no form in ONNX; the text says why, alike for all vectors of a kind."""


def write_onnx(folder: Path, vectors: Iterator[Vector]) -> tuple[Counter[str], dict[str, str]]:
    """Write vectors as tests of kind `pooling`.

    Returns how many there are of each operator, and the vectors that have no such form, with why.
    For `node` the loader of ONNX takes its own tests, whatever folder it is given.
    """
    names: set[str] = set()
    written: Counter[str] = Counter()
    left_out: dict[str, str] = {}
    for vector in vectors:
        try:
            _write(folder, vector, names)
        except Inexpressible as why:
            left_out[vector.case.id] = str(why)
        else:
            written[vector.case.operator] += 1
    return written, left_out


def _write(folder: Path, vector: Vector, names: set[str]) -> None:
    """Write the test of a vector under a name that is not among `names`."""
    case = vector.case
    operator = operator_named(case.operator)
    _kind(operator)  # whatever the case
    outcomes = _followed_values(vector)
    node = _node(vector)
    if any(_has_undefined(output) for outcome in outcomes for output in outcome.outputs[1:]):
        node = replace(node, outputs=1)  # indices are optional
    expected = _expected(vector, outcomes, node.outputs)
    inputs, _ = as_called(case)
    about = {
        "producer_name": "pooling-conformance",
        "doc_string": f"{case.id}\n{case.source}".strip(),
    }
    proto = model(node, opset_of(operator), inputs_of(node, inputs), expected[0].shape, **about)
    rtol, atol = _tolerance(vector, outcomes)
    name = _name(case.id, names)
    test = folder / "pooling" / name
    sets = test / "test_data_set_0"
    sets.mkdir(parents=True)
    (test / "model.onnx").write_bytes(proto.SerializeToString())
    (test / "data.json").write_text(json.dumps({"rtol": rtol, "atol": atol}) + "\n", "utf-8")
    arrays = [
        *((f"input_{i}", *each) for i, each in enumerate(zip(inputs, INPUTS, strict=False))),
        *((f"output_{i}", *each) for i, each in enumerate(zip(expected, NAMES, strict=False))),
    ]
    for file, array, tensor in arrays:
        content = numpy_helper.from_array(np.ascontiguousarray(array), tensor)
        (sets / f"{file}.pb").write_bytes(content.SerializeToString())


def _name(vector_id: str, names: set[str]) -> str:
    """Add to the names that of a vector's test: unique, and a valid name of a Python function."""
    base = name = f"test_{re.sub('[^0-9A-Za-z]+', '_', vector_id)}"
    number = 1
    while name.lower() in names:
        number += 1
        name = f"{base}_{number}"
    names.add(name.lower())
    return name


def _kind(operator: Operator) -> str:
    """Return the operator of ONNX for one of ours; Inexpressible if it has none."""
    try:
        kind = kind_of(operator)
    except Unsupported:
        raise Inexpressible(f"ONNX has no {operator.name}") from None
    return kind


def _followed_values(vector: Vector) -> list[Values]:
    """Return the outcomes under the readings of ONNX; Inexpressible if one has no values."""
    outcomes = [outcome for outcome in vector.outcomes if any(map(_followed, outcome.readings))]
    kinds = set(map(type, outcomes))
    if Raises in kinds:
        raise Inexpressible("an exception is right, and an ONNX test expects an output")
    if Anything in kinds:
        raise Inexpressible("no document defines the output")
    return [outcome for outcome in outcomes if isinstance(outcome, Values)]


def _expected(vector: Vector, outcomes: Sequence[Values], outputs: int) -> list[Array]:
    """Return the first outputs, in which outcomes agree; Inexpressible if they do not.

    The outcomes differ in their bounds at most.
    """
    asked = [outcome.outputs[:outputs] for outcome in outcomes]
    if any(_has_undefined(output) for each in asked for output in each):
        raise Inexpressible("some element is undefined, and an ONNX test compares all of them")
    arrays = {tuple((o.values.shape, o.values.tobytes()) for o in each) for each in asked}
    if len(arrays) != 1:
        open_ones = [name for name in vector.clauses if name not in READINGS]
        raise Inexpressible(f"ONNX leaves {' and '.join(open_ones)} open, and outputs differ")
    return [output.values for output in asked[0]]


def _has_undefined(output: Expected) -> bool:
    return bool((output.addends == UNDEFINED).any())


def _followed(combination: Mapping[str, str]) -> bool:
    return all(READINGS.get(clause, reading) == reading for clause, reading in combination.items())


def _node(vector: Vector) -> Node:
    """Return the node of a vector."""
    case = vector.case
    data = case.data
    operator = operator_named(case.operator)
    kind = _kind(operator)
    if operator.attribute("output") is not None:
        raise Inexpressible(f"ONNX has no output size that is an attribute, as {case.operator} has")
    if operator.is_adaptive and (case.inputs[1] != 1).any():
        raise Inexpressible("ONNX has no adaptive pooling but to a size of 1")
    if not has_type(kind, opset_of(operator), data.dtype):
        raise Inexpressible(f"ONNX has no {kind} of {name_of(data.dtype)}")
    try:
        params = operator.validate(case.inputs, case.attributes)
    except InvalidCase as error:  # a stranger's file may expect an output of it
        raise Inexpressible(str(error)) from None
    attributes = dict(case.attributes)
    pads = operator.attribute("pads")
    if params.auto_pad == "valid" and params.ceil:
        # ONNX's VALID ignores ceil_mode; without auto_pad it does not.
        none = (0,) * len(params.kernel)
        words = {"auto_pad": "explicit", "pads_begin": none, "pads_end": none}
        attributes |= operator.attributes_of(words)
    elif params.auto_pad != "explicit" and pads is not None:
        attributes.pop(pads.key, None)  # ONNX has none beside auto_pad
    try:
        return node_of(operator, *operator.convention.given(case.inputs, attributes))
    except Unsupported as error:
        raise Inexpressible(str(error)) from None


def _tolerance(vector: Vector, outcomes: Sequence[Values]) -> tuple[float, float]:
    """Return rtol and atol that admit what the bounds admit, with as little more as they can."""
    average = operator_named(vector.case.operator).reduction.sums
    axes = vector.case.data.ndim - 2
    all_limits = [
        limits(outcome.outputs[0], axes, outcome.arithmetic, average=average)
        for outcome in outcomes
    ]
    if any(bounds.mask.any() for bounds in all_limits):
        named = [name for name in ("sum-overflow", "lp-range") if name in vector.clauses]
        raise Inexpressible(f"ONNX leaves {' and '.join(named)} open")
    expected = outcomes[0].outputs[0].values
    if name_of(expected.dtype) not in FLOATS:
        return 0.0, 0.0
    center = widen(expected)
    center[~np.isfinite(center)] = 0.0
    largest = np.zeros(center.shape)
    for bounds in all_limits:
        for limit in map(widen, (bounds.lower, bounds.upper)):
            distance = np.abs(limit - center)
            np.maximum(largest, distance, out=largest, where=np.isfinite(distance))
    if not largest.any():
        return 0.0, 0.0
    fmt = float_format(name_of(expected.dtype))
    rtol = 2 * fmt.unit
    atol = float(np.max(largest - rtol * np.abs(center), initial=0.0))
    return rtol * _SLACK, atol * _SLACK + fmt.smallest
