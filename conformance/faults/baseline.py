"""What a right backend makes of a case, and what planted faults change of it.

Hundreds of faults meet thousands of vectors; most leave most vectors alone. What a right backend
makes of a vector (parameters, plan, cells, outputs) is computed once and used wherever the steps
of a fault are still fed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.faults.fault import Fault
from conformance.faults.planted import FaultyOperator, faulty, planted
from conformance.operators import OPERATORS, under
from conformance.operators.gradients import Gradient, check_gradient
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Plan, as_given
from conformance.operators.reduction import encoding_of
from conformance.operators.unpooling import Scatter
from conformance.vector import Array, Case, Outputs

_ATTRIBUTES = frozenset({"validate", "resolve"})
_GEOMETRY = frozenset({"pads", "extent", "windows", "divide"})
_VALUES = frozenset({"gather", "reduce", "further", "clamp"})
_RESULTS = frozenset({"reduce", "further", "clamp"})
_REMEMBERED = 64
"""Results of a step for one case that are kept: faults that gather the same are tried together."""


class Raised:
    """The answer of a backend that raised an exception."""


RAISED = Raised()
Answer = Outputs | Raised


def outputs_or_none(answer: Answer) -> Outputs | None:
    """Return an answer as the judge takes it: None stands for an exception."""
    return None if isinstance(answer, Raised) else answer


@dataclass(frozen=True, slots=True)
class Wanted:
    """First outputs that matter: of one shape, and of values that `may_be` some."""

    shape: tuple[int, ...]
    may_be: Callable[[Array], bool]


class PlantedFaults:
    """An operator with faults, to be tried on many vectors of it under some readings."""

    def __init__(
        self, faults: tuple[Fault, ...], operator: str, readings: Mapping[str, str] | None = None
    ) -> None:
        self.faults = faults
        self.operator = operator
        self.steps = frozenset(step for fault in faults for step in fault.replaces)
        self.remembers = any(fault.remembers for fault in faults)
        right = OPERATORS[operator]
        pipeline = under(right, readings or {})
        self._takes_as_given = pipeline.resolve is as_given
        self._known = _KnownReduce(pipeline.reduce)
        self.wrong = planted(faults, right, pipeline.replace(reduce=self._known))

    def answer(self, baseline: Baseline, wanted: Wanted | None = None) -> Answer | None:
        """Return the answer to a case; None where it is that of the right operator.

        Where only an answer that starts with a `wanted` first output matters, another one holds no
        values, or no other output.
        """
        try:
            with np.errstate(all="ignore"):
                return self._answer(baseline, wanted)
        except Exception:  # noqa: BLE001 - a fault may fail in any way
            return None if isinstance(baseline.right, Raised) else RAISED

    def _answer(self, baseline: Baseline, wanted: Wanted | None) -> Answer | None:
        case, right = baseline.case, baseline.pooled
        if right is None or self.remembers:
            if not self.remembers and not self.steps & _ATTRIBUTES:
                return None
            return _if_other(self.wrong(case.inputs, case.attributes), baseline)
        params, plan = self._geometry(case, right)
        own = (*case.data.shape[:2], *plan.extent)
        known = case.gradient is None and "reduce" not in self.steps
        if wanted is not None and wanted.shape != own and known:
            return (np.broadcast_to(np.zeros((), case.data.dtype), own),)
        same_values = plan.key == right.plan.key and _of_values(params) == _of_values(right.params)
        if plan is not right.plan and not self.steps & _VALUES and same_values:
            return None
        wrong = self._outputs(case, right, plan, wanted)
        return None if wrong is None else _if_other(wrong, baseline)

    def _geometry(self, case: Case, right: Pooled) -> tuple[Params, Plan]:
        """Run the steps up to the plan that are not those of the right operator."""
        params, plan = right.params, right.plan
        if "resolve" in self.steps and "validate" not in self.steps and self._takes_as_given:
            params = self.wrong.pipeline.resolve(params)
            self.wrong.right.check_rules(params)
        elif self.steps & _ATTRIBUTES:
            params = self.wrong.validate(case.inputs, case.attributes)
        if self.steps & _GEOMETRY or params != right.params:
            plan = self.wrong.plan(params)
        return params, plan

    def _outputs(
        self, case: Case, right: Pooled, plan: Plan, wanted: Wanted | None
    ) -> Outputs | None:
        """Run the steps that compute values; None where all of them are the right operator's."""
        gathered = right.gathered
        if plan is not right.plan or "gather" in self.steps:
            other = self.wrong.pipeline.gathered(case.data, plan, right.gradient_or_indices)
            gathered = gathered if _key(other) == _key(gathered) else other
        same = gathered is right.gathered and plan is right.plan
        if same and not self.steps & _RESULTS:
            return None
        self._known.right = right
        reduced = self.wrong.pipeline.reduce(gathered, plan.divisor)
        first = self.wrong.pipeline.clamp(gathered, plan.divisor, reduced)
        if wanted is not None and not wanted.may_be(first):
            return (first,)
        return (first, *self.wrong.pipeline.further(gathered, plan.divisor, reduced))


class Baseline:
    """A case and what a right operator, under the readings of planted faults, makes of it."""

    def __init__(self, case: Case, right: FaultyOperator) -> None:
        self.case = case
        self._right = right

    @cached_property
    def pooled(self) -> Pooled | None:
        """What the right operator computes; None where it refuses the case."""
        try:
            params = self._right.validate(self.case.inputs, self.case.attributes)
            plan = self._right.plan(params)
            if self.case.gradient is not None:
                check_gradient(self.case.gradient, plan.extent)
            return Pooled(self.case, self._right, params, plan)
        except InvalidCase:
            return None

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two that read the same cells and make the same of them."""
        right = self.right
        if isinstance(right, Raised) or self.pooled is None:
            return ()
        return (self.pooled.plan.key, *((o.dtype, o.shape, o.tobytes()) for o in right))

    @property
    def right(self) -> Answer:
        """The right answer."""
        try:
            return RAISED if self.pooled is None else self.pooled.outputs
        except InvalidCase:  # some powers are refused when they are computed
            return RAISED


class Pooled:
    """What the steps of a right operator give for a case that it accepts.

    `reductions` holds what its step `reduce` gave last for what faults gather, by a key of that.
    """

    def __init__(self, case: Case, right: FaultyOperator, params: Params, plan: Plan) -> None:
        self.reductions: dict[tuple[Any, ...], Array] = {}
        self.params = params
        self.plan = plan
        self.gradient_or_indices = right.right.gradient_or_indices(case.inputs)
        self._data = case.data
        self._pipeline = right.pipeline

    @cached_property
    def gathered(self) -> Gathered:
        """The cells that each window reads."""
        return self._pipeline.gathered(self._data, self.plan, self.gradient_or_indices)

    @cached_property
    def reduced(self) -> Array:
        """The right first output before it is clamped."""
        with np.errstate(all="ignore"):
            return self._pipeline.reduce(self.gathered, self.plan.divisor)

    @cached_property
    def outputs(self) -> Outputs:
        """The right outputs."""
        steps, given = self._pipeline, (self.gathered, self.plan.divisor, self.reduced)
        with np.errstate(all="ignore"):
            return (steps.clamp(*given), *steps.further(*given))


class _KnownReduce:
    """A step `reduce` that takes its results for the case of `right` from there."""

    def __init__(self, reduce: Callable[[Gathered, Divisor], Array]) -> None:
        self._reduce = reduce
        self.right: Pooled | None = None
        if isinstance(reduce, Gradient):
            self.terms = reduce.terms
        if isinstance(reduce, Scatter):
            self.places = reduce.places

    def __call__(self, gathered: Gathered, divisor: Divisor) -> Array:
        right = self.right
        if right is None:
            return self._reduce(gathered, divisor)
        own, known = _key(gathered), right.reductions
        if own == _key(right.gathered) and divisor is right.plan.divisor:
            return right.reduced.copy()
        key = (*own, divisor.tobytes())
        if key not in known:
            if len(known) >= _REMEMBERED:
                del known[next(iter(known))]
            known[key] = self._reduce(gathered, divisor)
        return known[key].copy()


def right_operator(operator: str, readings: Mapping[str, str] | None) -> FaultyOperator:
    """Return an operator without any fault, under readings."""
    return faulty((), readings).of(operator)


def _of_values(params: Params) -> tuple[Any, ...]:
    """Return the parameters that steps after the geometry depend on."""
    inferred = (params.kernel, params.strides, params.pads_begin, params.pads_end)
    return (
        *(params.exponent, params.index_axis, params.index_type, params.storage_order),
        *(params.nan, params.activation, encoding_of(params)),
        inferred if any(params.fixed_output) else (),  # which a reading counts indices in
    )


@lru_cache(maxsize=4)  # those of a right operator again and again
def _key(gathered: Gathered) -> tuple[Any, ...]:
    """Return what the values of a step depend on, besides divisors.

    A window without a number that is largest may have chosen what lies beyond the input.
    """
    ranges = (*gathered.lo, *gathered.hi, *gathered.positions, *gathered.windows.lengths)
    data = gathered.data, gathered.gradient_or_indices
    return (
        *(each.tobytes() for each in ranges),
        *((each.dtype, each.shape, each.tobytes()) for each in data if each is not None),
        _of_values(gathered.params),
        gathered.params.sizes,
    )


def _equal(one: Array, other: Array) -> bool:
    """Say whether two arrays have the same bits, zeros of either sign aside."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    bits = np.dtype(f"u{one.itemsize}")
    differ = np.ascontiguousarray(one).view(bits) != np.ascontiguousarray(other).view(bits)
    if not differ.any():
        return True
    zero = one.dtype.type(0)
    return bool(((one == zero) & (other == zero))[differ].all())


def _if_other(outputs: Outputs, baseline: Baseline) -> Answer | None:
    right = baseline.right
    if isinstance(right, Raised) or len(outputs) != len(right):
        return outputs
    same = all(_equal(got, known) for got, known in zip(outputs, right, strict=True))
    return None if same else outputs
