"""A fault: a wrong behaviour as the forbidden replacement of steps, and a backend that has it.

A fault wraps steps as a reading does. Besides the steps of a pipeline it may wrap `validate`, the
step before them: `validate(inputs, attributes)` checks a call and returns its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.faults.known_bugs import KNOWN_BUGS
from conformance.operators import OPERATORS
from conformance.operators.clause import StepWrap
from conformance.operators.clauses import under
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.operators.pipeline import Pipeline, Plan, rooms
from conformance.vector import Array

STEPS = ("validate", "resolve", "pads", "extent", "windows", "gather", "divide", "reduce")
"""Every step a fault may replace, in the order they run."""
_LARGEST = 1 << 16
"""Kernel, stride and pad of a case that a fault is tried on: a stranger may choose any."""
_MOST_WINDOWS = 1 << 24
"""Windows of a channel, likewise."""


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A wrong behaviour.

    `summary` completes the sentence "the mismatches are reproduced by: ...". `replaces` maps
    steps to wraps, each made from the step it replaces; the first is the step the fault belongs
    to. `bugs` names entries of KNOWN_BUGS. Where it `remembers`, answers depend on earlier
    calls: a wrap is called once per backend, so that state lives in what it returns.
    """

    name: str
    summary: str
    operators: tuple[str, ...]
    replaces: Mapping[str, StepWrap]
    bugs: tuple[str, ...] = ()
    remembers: bool = False

    @property
    def step(self) -> str:
        """The step the fault belongs to."""
        return next(iter(self.replaces))

    @property
    def threads(self) -> tuple[str, ...]:
        """Addresses of public reports of the same behaviour."""
        return tuple(thread for bug in self.bugs for thread in KNOWN_BUGS[bug])

    @property
    def geometric(self) -> bool:
        """Whether the fault shows only in which cells are read and by what they are divided."""
        return not self.replaces.keys() & {"validate", "gather", "reduce"}


@dataclass(frozen=True, slots=True, eq=False)
class FaultyOperator:
    """One operator with faults in some of its steps."""

    operator: Operator
    validate: Callable[[Sequence[Array], Mapping[str, Any]], Params]

    @property
    def pipeline(self) -> Pipeline:
        """The steps after `validate`."""
        return self.operator.pipeline

    def __call__(self, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        """Compute as the operator's document says but for the faults."""
        with np.errstate(all="ignore"):
            plan = self.plan(self.validate(inputs, attributes))
            return self.pipeline.values(inputs[0], plan)[0]

    def plan(self, params: Params) -> Plan:
        """Lay out the windows; InvalidCase where there is nothing to pool, or far too much."""
        if 0 in params.sizes:
            raise InvalidCase(f"a spatial size of 0 has no windows: {params.sizes}")
        given = (*params.kernel, *params.strides, *params.pads_begin, *params.pads_end)
        if max(given, default=0) > _LARGEST:
            raise InvalidCase(f"a number above {_LARGEST}")
        pads = self.pipeline.pads(params)
        if params.kernel and min(rooms(params, pads)) < 0:
            raise InvalidCase(f"kernel {params.kernel} is larger than the padded input")
        extent = self.pipeline.extent(params, pads)
        if min(extent) < 1 or prod(extent) > _MOST_WINDOWS:
            raise InvalidCase(f"nothing to pool: an output extent of {extent}")
        return self.pipeline.laid_out(params, pads, extent)


@dataclass(frozen=True, slots=True, eq=False)
class FaultyBackend:
    """A backend that computes every operator, with faults in some steps of some.

    Elements no document defines are NaN in averages, -inf or the lowest integer in maxima.
    Raises InvalidCase as `conformance.evaluate` does, unless a fault accepts the call.
    """

    faults: tuple[Fault, ...]
    readings: Mapping[str, str]
    _made: dict[str, FaultyOperator] = field(default_factory=dict, init=False, repr=False)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case."""
        return self.of(operator)([np.asarray(array) for array in inputs], attributes)

    def of(self, operator: str, pipeline: Pipeline | None = None) -> FaultyOperator:
        """Return one operator with the faults in place, in a given pipeline if there is one."""
        if pipeline is not None:
            return self._make(OPERATORS[operator], pipeline)
        if operator not in self._made:
            found = OPERATORS[operator]
            self._made[operator] = self._make(found, under(found, self.readings))
        return self._made[operator]

    def _make(self, operator: Operator, pipeline: Pipeline) -> FaultyOperator:
        here = [fault for fault in self.faults if operator.name in fault.operators]
        for fault in here:
            for step, wrap in fault.replaces.items():
                if step != "validate":
                    pipeline = pipeline.replace(**{step: wrap(getattr(pipeline, step))})
        changed = replace(operator, pipeline=pipeline)
        validate: Callable[..., Params] = partial(Operator.validate, changed)
        for fault in here:
            if "validate" in fault.replaces:
                validate = fault.replaces["validate"](validate)
        return FaultyOperator(changed, validate)


def faulty(
    faults: Fault | Sequence[Fault] = (), readings: Mapping[str, str] | None = None
) -> FaultyBackend:
    """Return a backend that has the given faults, of different steps, under `readings`.

    Without faults it is right. `readings` maps disputed clauses to readings, the default
    elsewhere. Where two faults replace one step, the later wraps the earlier.
    """
    several = (faults,) if isinstance(faults, Fault) else tuple(faults)
    return FaultyBackend(several, dict(readings or {}))
