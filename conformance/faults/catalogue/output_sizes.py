"""Faults of an output size that the caller gives, of windows whose number follows without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

from conformance.faults.behaviour import (
    WINDOWED,
    Behaviour,
    Faults,
    Replaces,
    before,
    wrong_params,
)
from conformance.faults.call import Call
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.params import Params

Resolve = Callable[[Params], Params]
_SIZED = WINDOWED & Needs(roles=("fixed_output",))


def _resolved_by(resolve: Callable[[Resolve], Resolve]) -> Replaces:
    """Validate a call of an operator whose step `resolve` is another."""

    def change(call: Call) -> tuple[Call]:
        pipeline = call.operator.pipeline
        pipeline = pipeline.replace(resolve=resolve(pipeline.resolve))
        return (replace(call, operator=replace(call.operator, pipeline=pipeline)),)

    return before("validate", change)


def _axis_by_axis(right: Resolve) -> Resolve:
    """Take a size of each axis that is rounded down or up, whatever the others are."""

    def resolve(params: Params) -> Params:
        pads = (steps.resolve_pads(params), steps.no_pads(params))
        ways = product(pads, ("floor", "ceil"))
        rounded = [steps.rounded_extent(params, padding, way) for padding, way in ways]
        sizes = zip(params.fixed_output, zip(*rounded, strict=True), strict=True)
        return params if all(o in known for o, known in sizes) else right(params)

    return resolve


FAULTS: Faults = {
    "output-sizes-ignored": wrong_params(
        "resolve",
        "an output size that is given is ignored, beside windows",
        _SIZED,
        lambda params: replace(params, fixed_output=(0,) * len(params.sizes)),
    ),
    "output-sizes-reversed": wrong_params(
        "resolve",
        "an output size that is given is read from the last axis to the first, beside windows",
        _SIZED,
        lambda params: replace(params, fixed_output=params.fixed_output[::-1]),
    ),
    "accepts-output-sizes": Behaviour(
        "an output size that windows do not have is accepted",
        _SIZED,
        _resolved_by(lambda _right: steps.as_given),
    ),
    "accepts-output-sizes-mixed": Behaviour(
        "an output size that is rounded down on one axis and up on another is accepted",
        _SIZED,
        _resolved_by(_axis_by_axis),
    ),
}
