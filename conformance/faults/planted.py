"""Operators with faults, and a backend of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.faults.call import Call, call_of
from conformance.faults.fault import Fault
from conformance.faults.wraps import Unchecked
from conformance.operators import OPERATORS
from conformance.operators.clauses import under
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pipeline, Plan, no_further, slacks
from conformance.vector import Array, Outputs, as_returned, own_inputs

LARGEST = 1 << 17
"""The largest kernel, stride or pad of a case on which faults are tried: it may be a stranger's."""
_MOST_WINDOWS = 1 << 24
"""Windows of a channel, at most: more would take too long or too much memory."""


@dataclass(frozen=True, eq=False)
class FaultyOperator:
    """An operator, but for its steps: `pipeline` holds those after `validate`."""

    right: Operator
    pipeline: Pipeline
    validate_call: Callable[[Call], Params] | None = None

    @cached_property
    def operator(self) -> Operator:
        """The operator with these steps; made when a call is to be validated."""
        return replace(self.right, pipeline=self.pipeline)

    def __call__(self, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Outputs:
        """Compute every output as the document says, but for the faults."""
        with np.errstate(all="ignore"):
            plan = self.plan(self.validate(inputs, attributes))
            data, *_ = own_inputs(self.right.name, inputs)
            return self.pipeline.values(data, plan, self.right.gradient_or_indices(inputs))

    def validate(self, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Params:
        """Check a call and return its parameters; InvalidCase says what is wrong."""
        if self.validate_call is None:
            return self.operator.validate(inputs, attributes)
        return self.validate_call(call_of(self.operator, inputs, attributes))

    def plan(self, params: Params) -> Plan:
        """Run the geometry steps; InvalidCase if there is nothing to pool, or far too much."""
        if 0 in params.sizes:
            raise InvalidCase(f"a spatial size of 0 has no windows: {params.sizes}")
        given = (*params.kernel, *params.strides, *params.pads_begin, *params.pads_end)
        if max(given, default=0) > LARGEST:
            raise InvalidCase(f"a number above {LARGEST}")
        pads = self.pipeline.pads(params)
        extent = self.pipeline.extent(params, pads)
        checked = not isinstance(extent, Unchecked)
        if checked and params.kernel and not self.right.scatters and min(slacks(params, pads)) < 0:
            raise InvalidCase(f"kernel {params.kernel} is larger than the padded input")
        if min(extent) < checked or prod(extent) > _MOST_WINDOWS:
            raise InvalidCase(f"nothing to pool: an output extent of {extent}")
        return self.pipeline.laid_out(params, pads, extent)


@dataclass(frozen=True, slots=True, eq=False)
class FaultyBackend:
    """A backend that computes every operator, with the faults that concern it.

    Elements that no document defines are NaN in averages, -inf or the lowest integer in maxima.
    Raises InvalidCase where `conformance.evaluate` does, unless a fault accepts the call.
    """

    faults: tuple[Fault, ...]
    readings: Mapping[str, str]
    _operators: dict[str, FaultyOperator] = field(default_factory=dict, init=False, repr=False)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute one case."""
        convention = OPERATORS[operator].convention_of(attributes)
        arrays, taken = convention.taken([np.asarray(array) for array in inputs], attributes)
        outputs = self.of(operator)(arrays, taken)
        return as_returned(tuple(map(convention.array_given, outputs)))

    def of(self, operator: str) -> FaultyOperator:
        """Return one operator with the faults."""
        if operator not in self._operators:
            right = OPERATORS[operator]
            self._operators[operator] = planted(self.faults, right, under(right, self.readings))
        return self._operators[operator]


def planted(faults: Sequence[Fault], operator: Operator, pipeline: Pipeline) -> FaultyOperator:
    """Return an operator that has those of the faults that concern it.

    A fault of `reduce` changes the first output alone: the others are computed from the right one.
    """
    concerning = [fault for fault in faults if fault.concerns(operator)]
    changes_first = any("reduce" in fault.replaces for fault in concerning)
    if changes_first and pipeline.further is not no_further:
        pipeline = pipeline.replace(further=partial(_from_right_first_output, pipeline))
    validate: Callable[[Call], Params] | None = None
    for fault in concerning:
        for step, wrap in fault.replaces.items():
            if step == "validate":
                validate = wrap(validate or Call.validated)
            else:
                pipeline = pipeline.replace(**{step: wrap(getattr(pipeline, step))})
    return FaultyOperator(operator, pipeline, validate)


def _from_right_first_output(
    right: Pipeline, gathered: Gathered, divisor: Divisor, _first: Array
) -> Outputs:
    return right.further(gathered, divisor, right.reduce(gathered, divisor))


def faulty(
    faults: Fault | Sequence[Fault] = (), readings: Mapping[str, str] | None = None
) -> FaultyBackend:
    """Return a backend that has the given faults, and is right without any.

    It follows `readings`, names of readings by names of disputed clauses, and the default readings
    of all other clauses. Where two faults replace one step, the later is made from the earlier.
    """
    planted_faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
    return FaultyBackend(planted_faults, dict(readings or {}))
