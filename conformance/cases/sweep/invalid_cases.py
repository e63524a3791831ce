"""Cases that break one rule of a document each: the right answer is an exception.

Of a number that a document leaves open, any answer is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.cases.gradients import with_gradient
from conformance.cases.sweep import levels
from conformance.cases.sweep.rules import Broken, broken
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of_axes, given
from conformance.dtypes import dtype_of
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case

_AXES = (Axis(5, 2, 2, 1, 0, 3), Axis(6, 3, 1, 0, 1, 2))
"""Two axes, which others repeat."""


def invalid(operator: Operator, *, apart: bool = False) -> Iterator[CaseSpec]:
    """Yield one case per rule of an operator's document, with that rule broken alone.

    The first ways to break a rule are in the smoke tier. Cases `apart` are those of attributes
    that the other cases leave out: see `layouts`, `output_sizes` and `activations`.
    """
    valid = valid_case(operator)
    turns: Counter[str] = Counter()
    for way in broken(operator, valid.attributes, valid.inputs):
        if not way.fixed or _is_apart(operator, way) is not apart:
            continue
        attribute = way.attribute
        section = "Inputs" if attribute is None else attribute.section
        few = 4 if attribute is None else 3 + attribute.required
        about = "" if attribute is None else attribute.key
        yield given(
            operator.name,
            way.attributes,
            way.inputs,
            "invalid",
            tier="smoke" if turns[about] < few else "standard",
            source=f"{operator.document}, {section}",
            tags=("undefined" if way.is_left_open else "invalid", f"{way.what}: {way.exactly}"),
        )
        turns[about] += 1


def _is_apart(operator: Operator, way: Broken) -> bool:
    role = "" if way.attribute is None else way.attribute.role
    return role in levels.APART or (role == "fixed_output" and operator.has_windows)


def valid_case(operator: Operator) -> Case:
    """Return a case with all attributes given, two axes if it can, and small numbers."""
    swept = levels.axes(operator)
    axes = [_AXES[i % 2] for i in range(2 if 2 in swept else swept[0])]
    if operator.rules:  # that no other number than the wrong one breaks one of these
        axes = [axis._replace(pads_begin=0, pads_end=0) for axis in axes]
    if operator.scatters:
        short = [axis._replace(size=2) for axis in axes]
        axes = [axis._replace(fixed_output=axis.unpooled) for axis in short]
    varied = levels.words(operator)
    words: dict[str, Any] = {a.role: a.meanings[0] for a in operator.attributes if a.role in varied}
    words |= {
        role: levels.scalar_values(a, len(axes))[0] for role, a in levels.scalars(operator).items()
    }
    words["dilations"] = (1,) * len(axes)
    roles = ("kernel", "strides", "pads_begin", "pads_end", "output", "fixed_output")
    spec = case_of_axes(operator, (1, 1), axes, "", words=words, roles=roles)
    data = np.arange(1, np.prod(spec.shape) + 1).reshape(spec.shape).astype(dtype_of(spec.dtype))
    inputs = with_gradient(operator, data, spec.own_inputs(data), spec.attributes)
    return build(replace(spec, inputs=inputs), seed=0)
