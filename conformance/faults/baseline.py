"""What a right backend makes of a case, and what planted faults change of it.

Hundreds of faults meet thousands of vectors; most leave most vectors alone. What a right backend
makes of a vector (parameters, plan, cells, outputs) is computed once and used wherever the steps
of a fault are still fed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from conformance.errors import InvalidCase
from conformance.faults.fault import Fault, FaultyOperator, faulty
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Plan, as_given
from conformance.vector import Array, Case, Outputs

_ATTRIBUTES = frozenset({"validate", "resolve"})
_GEOMETRY = frozenset({"resolve", "pads", "extent", "windows", "divide"})
_VALUES = frozenset({"gather", "reduce", "further"})
_RESULTS = frozenset({"reduce", "further"})


class Raised:
    """The answer of a backend that raised an exception."""


RAISED = Raised()
Answer = Outputs | Raised


class PlantedFaults:
    """An operator with faults, to be tried on many vectors of it under some readings."""

    def __init__(
        self, faults: tuple[Fault, ...], operator: str, readings: Mapping[str, str] | None = None
    ) -> None:
        self.faults = faults
        self.operator = operator
        self.steps = frozenset(step for fault in faults for step in fault.replaces)
        self.remembers = any(fault.remembers for fault in faults)
        right = faulty((), readings).of(operator)
        self._takes_as_given = right.pipeline.resolve is as_given
        self._known = _KnownReduce(right.pipeline.reduce)
        self.wrong: FaultyOperator = faulty(faults, readings).of(
            operator, right.operator.pipeline.replace(reduce=self._known)
        )

    def answer(self, baseline: Baseline, shape: tuple[int, ...] | None = None) -> Answer | None:
        """Return the answer to a case; None where it is that of the right operator.

        Where only an answer whose first output has a given `shape` matters, one of another holds
        no values.
        """
        try:
            with np.errstate(all="ignore"):
                return self._answer(baseline, shape)
        except Exception:  # noqa: BLE001 - a fault may fail in any way
            return None if isinstance(baseline.right, Raised) else RAISED

    def _answer(self, baseline: Baseline, shape: tuple[int, ...] | None) -> Answer | None:
        case = baseline.case
        if baseline.plan is None or self.remembers:
            if not self.remembers and "validate" not in self.steps:
                return None
            return _if_other(self.wrong(case.inputs, case.attributes), baseline)
        params, plan = self._geometry(baseline)
        ours = (*case.inputs[0].shape[:2], *plan.extent)
        if shape is not None and shape != ours and "reduce" not in self.steps:
            return (np.broadcast_to(np.zeros((), case.inputs[0].dtype), ours),)
        if plan is not baseline.plan and not self.steps & _VALUES and plan.key == baseline.plan.key:
            return None
        return self._values(baseline, params, plan)

    def _geometry(self, baseline: Baseline) -> tuple[Params, Plan]:
        """Run the steps up to the plan that are not those of the right operator."""
        params, plan = baseline.params, baseline.plan
        assert params is not None
        assert plan is not None
        if "resolve" in self.steps and "validate" not in self.steps and self._takes_as_given:
            params = self.wrong.pipeline.resolve(params)
        elif self.steps & _ATTRIBUTES:
            params = self.wrong.validate(baseline.case.inputs, baseline.case.attributes)
        if self.steps & _GEOMETRY or params != baseline.params:
            plan = self.wrong.plan(params)
        return params, plan

    def _values(self, baseline: Baseline, params: Params, plan: Plan) -> Answer | None:
        """Run the steps that compute values."""
        assert baseline.plan is not None
        gathered = baseline.gathered
        if plan is not baseline.plan or "gather" in self.steps:
            gathered = _same_or(
                self.wrong.pipeline.gather(baseline.case.inputs[0], params, plan.windows), gathered
            )
        same = gathered is baseline.gathered and plan is baseline.plan
        if same and not self.steps & _RESULTS:
            return None
        self._known.inputs = (baseline.gathered, baseline.plan.divisor)
        self._known.result = baseline.right
        return _if_other(self.wrong.pipeline.outputs(gathered, plan.divisor), baseline)


class Baseline:
    """A case and what a right operator, under the readings of planted faults, makes of it."""

    def __init__(self, case: Case, right: FaultyOperator) -> None:
        self.case = case
        self._right = right
        self.cells = sum(array.size for array in case.inputs)

    @cached_property
    def params(self) -> Params | None:
        """The parameters; None where the case must be refused."""
        try:
            return self._right.validate(self.case.inputs, self.case.attributes)
        except InvalidCase:
            return None

    @cached_property
    def plan(self) -> Plan | None:
        """The geometry; None where there is nothing to pool."""
        try:
            return None if self.params is None else self._right.plan(self.params)
        except InvalidCase:
            return None

    @cached_property
    def gathered(self) -> Gathered:
        """The cells each window reads."""
        assert self.plan is not None
        return self._right.pipeline.gather(self.case.inputs[0], self.plan.params, self.plan.windows)

    @cached_property
    def right(self) -> Answer:
        """The right outputs."""
        if self.plan is None:
            return RAISED
        with np.errstate(all="ignore"):
            return self._right.pipeline.outputs(self.gathered, self.plan.divisor)


class _KnownReduce:
    """A step that knows its result for one pair of arguments."""

    def __init__(self, reduce: Callable[[Gathered, Divisor], Array]) -> None:
        self._reduce = reduce
        self.inputs: tuple[Gathered, Divisor] | None = None
        self.result: Answer = RAISED

    def __call__(self, gathered: Gathered, divisor: Divisor) -> Array:
        if self.inputs is not None and not isinstance(self.result, Raised):
            known, known_divisor = self.inputs
            if divisor is known_divisor and _same(gathered, known):
                return self.result[0].copy()
        return self._reduce(gathered, divisor)


def right_operator(operator: Operator | str, readings: Mapping[str, str] | None) -> FaultyOperator:
    """Return an operator without any fault, under readings."""
    return faulty((), readings).of(operator if isinstance(operator, str) else operator.name)


def _same(one: Gathered, other: Gathered) -> bool:
    return one.data is other.data and one.lo is other.lo and one.hi is other.hi


def _same_or(found: Gathered, right: Gathered) -> Gathered:
    """Return the right cells if what was found holds the same."""
    if type(found) is not Gathered or found.data.shape != right.data.shape:
        return found
    pairs = zip((*found.lo, *found.hi), (*right.lo, *right.hi), strict=True)
    if not all(np.array_equal(a, b) for a, b in pairs):
        return found
    return right if found.data is right.data or _equal(found.data, right.data) else found


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
