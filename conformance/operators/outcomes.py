"""Every answer to a case that conforms: the pipeline under each combination of readings.

A clause *touches* a case when some of its readings lead to different answers. Whether it does is
found by running the steps, not by a second description of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, FloatFormat, float_format, name_of
from conformance.errors import InvalidCase
from conformance.operators import pipeline as steps
from conformance.operators.clause import Clause, Refusing
from conformance.operators.clauses import clauses_of, clauses_of_type, disputed_of, under
from conformance.operators.geometric_readings import (
    Clauses,
    combinations,
    geometric_readings,
    names_of,
    told_apart,
)
from conformance.operators.gradient_clauses import GRADIENT_OF_UNDEFINED
from conformance.operators.gradients import Gradient, GradientOfMaximum
from conformance.operators.operator import Operator, Output
from conformance.operators.params import Params
from conformance.operators.pipeline import Gathered, Pipeline, Plan
from conformance.operators.reduction import encoding_of
from conformance.operators.unpooling import Scatter
from conformance.reference import Measures, depends_on_order
from conformance.reference.bound import gamma, is_meaningful, leaves_range, wider_format
from conformance.reference.rounding import widen
from conformance.vector import (
    ARITHMETIC,
    TIED,
    UNDEFINED,
    Anything,
    Arithmetic,
    Array,
    Case,
    Combination,
    Expected,
    Outcome,
    Raises,
    Values,
    Vector,
)


def answer(operator: Operator, case: Case) -> Vector:
    """Return the case with every outcome that conforms and the clauses that touch it."""
    left_open = operator.left_open(case.attributes)
    judged = {key: value for key, value in case.attributes.items() if key not in left_open}
    try:
        params = operator.validate(case.inputs, judged)
    except InvalidCase:
        return Vector(case, (Raises(),))
    undefined = undefined_as_a_whole(operator, params, case.own_inputs)
    undefined = next(iter(left_open.values()), undefined)
    if undefined:
        return Vector(case, (Anything(),), {undefined: ()})
    plans, geometric = _plans(operator, params)
    every, of_values = _under_readings(operator, case, plans)
    clauses = {**geometric, **of_values}
    values = [(chosen, each) for chosen, each in every if isinstance(each, Values)]
    refused = [(chosen, each) for chosen, each in every if not isinstance(each, Values)]
    # Under no reading does the output have the shape of the gradient, or do indices lie in it.
    if not values:
        return Vector(case, (Raises(),))
    leaves = _Leaving(_summed(case))
    asked = _ASKED[params.accumulator]
    arithmetic = _arithmetic(operator, case, [outcome for _, outcome in values], leaves, asked)
    clauses |= arithmetic
    outcomes: list[tuple[Combination, Outcome]] = [
        ({**combination, **chosen}, _computed(outcome, chosen, leaves, asked))
        for combination, outcome in values
        for chosen in _choices(arithmetic)
    ]
    outcomes += refused
    for clause, refusing in _may_refuse(operator, params):
        clauses[clause.name] = names_of(clause)
        outcomes = _or_refused(clause, refusing, outcomes)
    has_any_undefined = any(has_undefined(outcome) for _, outcome in outcomes)
    pooled = (plan for _, plan in plans if leaves_a_window(operator, plan.extent))
    some_empty = not operator.is_gradient and _some_window_is_empty(pooled)
    if has_any_undefined and some_empty:
        clauses[operator.reduction.undefined] = ()
    clauses |= dict.fromkeys(_undefined_outputs(operator, outcomes), ())
    return Vector(case, _merged(operator, outcomes, clauses), clauses)


def _under_readings(
    operator: Operator, case: Case, plans: Sequence[tuple[Combination, Plan]]
) -> tuple[list[tuple[Combination, Outcome]], Clauses]:
    """Return the answers under readings of the geometry, and of those of values that matter."""
    clauses: Clauses = {}
    outcomes: list[tuple[Combination, Outcome]] = []
    for combination, plan in plans:
        if not leaves_a_window(operator, plan.extent):
            outcomes.append((combination, Raises()))
            continue
        of_plan, of_values = _values_under_readings(operator, case, plan)
        clauses |= of_values
        outcomes += [({**combination, **more}, outcome) for more, outcome in of_plan]
        if _is_of_something_undefined(operator, plan):
            clauses[GRADIENT_OF_UNDEFINED] = ()
            outcomes += [
                ({**combination, **more}, Raises())
                for more, outcome in of_plan
                if isinstance(outcome, Values)
            ]
    return outcomes, clauses


def _is_of_something_undefined(operator: Operator, plan: Plan) -> bool:
    """Say whether an output is undefined somewhere whose gradient this is: it may be refused."""
    if operator.forward is None:
        return False
    reduction = operator.forward.reduction
    if reduction.divides:
        return bool((plan.divisor == 0).any())
    return bool(reduction.undefined) and _some_window_is_empty([plan])


def is_judgeable(operator: Operator, vector: Vector) -> bool:
    """Say whether the bound of a vector tells right from wrong.

    It does not where hundreds of addends are summed in a half type: whatever a backend returned,
    it would be neither a pass nor a failure. Nor does it where a norm overflows by less than it may
    be wrong by, or where a gradient overflows: by the order of its sum, to either side; nor where a
    sum may overflow that is clamped then. Nor where a quantised mean is so near to a half that the
    roundings of sound backends decide.
    """
    inputs = vector.case.inputs
    if not operator.reduction.sums or not inputs or inputs[0].ndim < 3:
        return True
    if operator.requantises and vector.values:
        params = operator.validate(inputs, vector.case.attributes)
        return not any(
            _depends_on_order(operator, inputs[0], plan)
            for _, plan in _plans(operator, params)[0]
            if leaves_a_window(operator, plan.extent)
        )
    if "sum-overflow" in vector.clauses:
        activation = operator.meaning("activation", vector.case.attributes)
        if activation not in {None, "none"}:
            return False
    name, axes = name_of(inputs[0].dtype), inputs[0].ndim - 2
    outputs = [output for outcome in vector.values for output in outcome.outputs]
    most = max((int(output.addends.max(initial=0)) for output in outputs), default=0)
    return name not in FLOATS or (
        is_meaningful(most, axes, name)
        and not any(_overflows_by_little(output, axes) for output in outputs)
        and not (operator.is_gradient and any(_overflows(output).any() for output in outputs))
    )


def _depends_on_order(operator: Operator, data: Array, plan: Plan) -> bool:
    cells = operator.pipeline.gathered(data, plan)
    encoding = encoding_of(plan.params)
    return depends_on_order(cells.data, cells.lo, cells.hi, plan.divisor, encoding)


def _overflows_by_little(output: Expected, axes: int) -> bool:
    """Say whether a sound backend may return a number where a norm overflows."""
    norms = (output.divisor < 0) & _overflows(output)
    fmt = float_format(name_of(output.values.dtype))
    off = gamma(output.addends[norms].astype(np.float64) + 2.0 * axes, fmt.unit)
    with np.errstate(over="ignore"):  # no number of float64 is as large: any may be a number
        return bool((output.magnitude[norms] < fmt.largest * (1 + 2 * fmt.unit + 2 * off)).any())


def _overflows(output: Expected) -> npt.NDArray[np.bool_]:
    """Say per element whether it is infinite and no cell is: such a cell adds to no magnitude."""
    largest = float_format(name_of(output.values.dtype)).largest
    overflows: npt.NDArray[np.bool_] = np.isinf(widen(output.values.ravel()))
    return overflows & (output.magnitude >= largest / 2)


def undefined_as_a_whole(
    operator: Operator, params: Params, own_inputs: Sequence[Array]
) -> str | None:
    """Return the clause that leaves a valid case without any defined element, if one does.

    `own_inputs` are its inputs, but for the gradient that it may take.
    """
    for rule in operator.rules:
        if rule.undefined and any(rule.breaking(params)):
            return rule.undefined
    for name, clause in clauses_of(operator).items():
        if clause.leaves_open is not None and clause.leaves_open(operator, params, own_inputs):
            return name
    return None


def leaves_a_window(operator: Operator, extent: steps.Extent) -> bool:
    """Say whether there is a window on every axis, if an operator has windows."""
    return operator.scatters or min(extent) > 0


@lru_cache(maxsize=8)  # a sweep asks for the same geometry with one element type after the other
def _plans(operator: Operator, params: Params) -> tuple[list[tuple[Combination, Plan]], Clauses]:
    """Return one plan per combination of the geometric clauses that touch the case."""
    readings = geometric_readings(operator)
    return told_apart(
        readings.clauses,
        *readings.plans(params),
        lambda plan: plan.key if leaves_a_window(operator, plan.extent) else (),
    )


@cache
def _about_values(operator: Operator) -> list[Clause]:
    return [clause for clause in disputed_of(operator) if clause.is_of_values]


def _values_under_readings(
    operator: Operator, case: Case, plan: Plan
) -> tuple[list[tuple[Combination, Outcome]], Clauses]:
    """Return what one plan gives under readings of clauses about values, where they differ."""
    candidates = [clause for clause in _about_values(operator) if clause.concerns(case)]
    results = _Results(operator, case, plan)
    names = tuple(clause.name for clause in candidates)
    every: list[Outcome] = [_outcome(read, results) for read in _read(operator, names)]
    return told_apart(candidates, every, np.arange(len(every)), _key)


@dataclass(frozen=True, slots=True)
class _Read:
    """The steps of an operator under readings of clauses about values.

    `any_tie` are the steps that choose an index under each other reading of a clause of ties, where
    any of them may be chosen. A NaN may be undefined.
    """

    operator: Operator
    pipeline: Pipeline
    any_tie: tuple[tuple[Any, ...], ...]
    nan_is_undefined: bool


@cache
def _read(operator: Operator, names: tuple[str, ...]) -> list[_Read]:
    """Return the steps under each combination of readings of clauses about values."""
    clauses = [clauses_of(operator)[name] for name in names]
    every = []
    for chosen in combinations(clauses):
        read = [clause.reading(chosen[clause.name]) for clause in clauses]
        any_tie = tuple(
            tuple(
                under(operator, {**chosen, clause.name: other.name}).further
                for other in clause.readings
                if not other.any_tie
            )
            for clause, reading in zip(clauses, read, strict=True)
            if reading.any_tie
        )
        undefined = any(reading.nan_is_undefined for reading in read)
        every.append(_Read(operator, under(operator, chosen), any_tie, undefined))
    return every


class _Results:
    """What steps give for one case and plan: each runs once for all readings that share it."""

    def __init__(self, operator: Operator, case: Case, plan: Plan) -> None:
        self.plan = plan
        self._given = case.data, plan, operator.gradient_or_indices(case.inputs)
        self._known: dict[tuple[Any, ...], Any] = {}

    def gathered(self, pipeline: Pipeline) -> Gathered:
        """Return the cells that windows read."""
        gathered: Gathered = self._once((pipeline.gather,), lambda: pipeline.gathered(*self._given))
        return gathered

    def reduced(self, pipeline: Pipeline) -> Array:
        """Return the first output before it is clamped."""
        gathered, divisor = self.gathered(pipeline), self.plan.divisor
        first: Array = self._once(
            (pipeline.gather, pipeline.reduce), lambda: pipeline.reduce(gathered, divisor)
        )
        return first

    def outputs(self, pipeline: Pipeline) -> tuple[Array, ...]:
        """Return all outputs."""
        gathered, divisor, steps = self.gathered(pipeline), self.plan.divisor, pipeline
        first, to_first = self.reduced(steps), (steps.gather, steps.reduce)
        others: tuple[Array, ...] = self._once(
            (*to_first, steps.further), lambda: steps.further(gathered, divisor, first)
        )
        clamped: Array = self._once(
            (*to_first, steps.clamp), lambda: steps.clamp(gathered, divisor, first)
        )
        return clamped, *others

    def tied(self, read: _Read) -> npt.NDArray[np.bool_]:
        """Mark the elements of which cells with different indices may be chosen."""
        gathered, first = self.gathered(read.pipeline), self.reduced(read.pipeline)
        tied = np.zeros(first.shape, np.bool_)
        to_first = (read.pipeline.gather, read.pipeline.reduce)
        for choosing in read.any_tie:
            least, *others = (
                self._once((*to_first, step, "extreme"), partial(step.extreme, gathered, first))
                for step in choosing
            )
            for other in others:
                tied |= other != least
        return tied

    def _once(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]


def _outcome(read: _Read, results: _Results) -> Outcome:
    """Return the answer of one plan under a combination of readings of clauses about values."""
    try:
        return _values(read, results)
    except InvalidCase:  # a gradient or indices that do not fit: looked at when they are used
        return Raises()


def _values(read: _Read, results: _Results) -> Values:
    """Return the outputs of one plan under a combination of readings of clauses about values."""
    operator, pipeline, divisor = read.operator, read.pipeline, results.plan.divisor
    gathered, values = results.gathered(pipeline), results.outputs(pipeline)
    of_nothing = _of_nothing(gathered)
    if isinstance(pipeline.reduce, Scatter):
        of_nothing = pipeline.reduce.contested(gathered)
    if read.nan_is_undefined:
        of_nothing = of_nothing | np.isnan(widen(results.reduced(pipeline)))
    measures = partial(operator.reduction.measures, gathered, divisor, values[0])
    if isinstance(pipeline.reduce, Gradient):
        measures = partial(pipeline.reduce.measures, gathered, divisor)
    tied = results.tied(read)
    return Values(
        tuple(
            _expected(output, array, measures, of_nothing, tied)
            for output, array in zip(operator.outputs, values, strict=True)
        )
    )


def _expected(
    output: Output,
    values: Array,
    measures: Callable[[], Measures],
    of_nothing: npt.NDArray[np.bool_],
    tied: npt.NDArray[np.bool_],
) -> Expected:
    if output.comparison == "bound":
        addends, divisor, magnitude = measures()
        addends[(divisor == 0)] = UNDEFINED
        return Expected(values, addends, divisor, magnitude)
    addends = np.zeros(values.size, np.int32)
    if output.is_index:
        addends[tied.ravel()] = TIED
        addends[values.ravel() < 0] = UNDEFINED
    if not output.always_defined:
        addends[np.broadcast_to(of_nothing, values.shape).ravel()] = UNDEFINED
    return Expected(
        values, addends, np.ones(values.size, np.int32), np.zeros(values.size, np.float64)
    )


def _of_nothing(gathered: Gathered) -> npt.NDArray[np.bool_]:
    """Return which windows have no cells, of shape (o1..or)."""
    lengths = [hi - lo for lo, hi in zip(gathered.lo, gathered.hi, strict=True)]
    none: npt.NDArray[np.bool_] = steps.outer(lengths) == 0
    return none


def _arithmetic(
    operator: Operator,
    case: Case,
    outcomes: list[Values],
    leaves: _Leaving,
    asked: Arithmetic,
) -> Clauses:
    """Return which of accumulator, sum-overflow and subnormals touch the case.

    The values do not change, only how far from them an answer may be. A case that asks for sums in
    the element type leaves nothing open about these.
    """
    clauses: Clauses = {}
    data = _summed(case)
    if data.dtype.kind in "iu":
        return clauses
    concerning = clauses_of_type(operator, name_of(data.dtype))
    is_open = not asked and "accumulator" in concerning
    if is_open and any(_sums_may_differ(data, o) for o in outcomes):
        clauses["accumulator"] = names_of(concerning["accumulator"])
    sums_kept = [asked, Arithmetic.ELEMENT_TYPE][: 1 + ("accumulator" in clauses)]
    for name in ("sum-overflow", "lp-range"):
        if name in concerning and any(
            leaves.may_overflow(outcome, sums) for outcome in outcomes for sums in sums_kept
        ):
            clauses[name] = names_of(concerning[name])
    arise = _subnormals_arise(operator, data, outcomes) or (
        isinstance(operator.pipeline.reduce, GradientOfMaximum) and _holds_subnormal(case.data)
    )
    if "subnormals" in concerning and arise:
        clauses["subnormals"] = names_of(concerning["subnormals"])
    return clauses


_ASKED = {"wider": Arithmetic.USUAL, "element-type": Arithmetic.ELEMENT_TYPE}
"""What the bound admits of sums by `Params.accumulator`, clauses aside."""


def _computed(outcome: Values, chosen: Combination, leaves: _Leaving, asked: Arithmetic) -> Values:
    """Return an outcome under readings of the clauses of arithmetic."""
    if not chosen and not asked:
        return outcome
    arithmetic = asked
    for clause, reading in chosen.items():
        admitting, what = ARITHMETIC[clause]
        if reading == admitting:
            arithmetic |= what
    if not leaves.may_overflow(outcome, arithmetic & Arithmetic.ELEMENT_TYPE):
        arithmetic &= ~Arithmetic.OVERFLOWS  # this accumulator holds the sums
    return replace(outcome, arithmetic=arithmetic)


def _choices(clauses: Clauses) -> list[dict[str, Any]]:
    """Return every choice of a reading for each clause."""
    return [dict(zip(clauses, choice, strict=True)) for choice in product(*clauses.values())]


def _sums_may_differ(data: Array, outcome: Values) -> bool:
    """Say whether an element-type accumulator is held to another bound than a wider one."""
    expected, name = outcome.outputs[0], name_of(data.dtype)
    most = int(expected.addends.max(initial=0))
    return (
        wider_format(name).name != name
        and is_meaningful(most, data.ndim - 2, name)
        and bool((expected.magnitude > 0).any())
    )


class _Leaving:
    """Whether sums or powers may leave the range of types, of outcomes of one case."""

    def __init__(self, data: Array) -> None:
        self._axes = data.ndim - 2
        self._known: dict[tuple[int, int], bool] = {}

    def may_overflow(self, outcome: Values, arithmetic: int) -> bool:
        """Say whether some sum of an outcome leaves the range under an `Arithmetic`."""
        key = id(outcome), arithmetic  # outcomes live as long as this
        if key not in self._known:
            leaves = leaves_range(outcome.outputs[0], self._axes, arithmetic)
            self._known[key] = bool(leaves.any())
        return self._known[key]


def _summed(case: Case) -> Array:
    """Return what is summed: a gradient sums gradients."""
    return case.data if case.gradient is None else case.gradient


def _holds_subnormal(data: Array) -> bool:
    values = np.abs(widen(data))
    least = float_format(name_of(data.dtype)).smallest_normal
    return bool(((values > 0) & (values < least)).any())


def _subnormals_arise(operator: Operator, data: Array, outcomes: Sequence[Values]) -> bool:
    """Say whether an input, a partial sum or a result may be subnormal.

    Two conditions, each necessary. Sums of multiples of a quantum q are multiples of q however
    they are rounded, so what is not zero lies at q / divisor or above, less rounding errors. And
    cells scaled beforehand are multiples of the last bit of the smallest, and so are their sums.
    """
    fmt = float_format(name_of(data.dtype))
    values = widen(data)
    values = np.abs(values[np.isfinite(values) & (values != 0)])
    if not operator.reduction.sums or not values.size:
        return bool((values < fmt.smallest_normal).any())
    exponent = -int(outcomes[0].outputs[0].divisor.min(initial=0))
    if exponent > 0:  # of a norm, whose powers may be subnormal
        return bool(np.log(values.min()) * exponent < np.log(fmt.smallest_normal))
    axes, quantum = data.ndim - 2, _quantum(values)
    last_bit = float(values.min()) * fmt.unit
    for outcome in outcomes:
        n = np.maximum(outcome.outputs[0].divisor, 1)
        least = fmt.smallest_normal
        if ((quantum / n <= least + _noise(outcome, axes, fmt)) & (last_bit / n <= least)).any():
            return True
    return False


def _noise(outcome: Values, axes: int, fmt: FloatFormat) -> npt.NDArray[np.float64]:
    first = outcome.outputs[0]
    return gamma(np.asarray(first.addends + 2.0 * axes, np.float64), fmt.unit) * first.magnitude


def _quantum(values: npt.NDArray[np.float64]) -> float:
    """Return the largest power of two of which all values, all above zero, are multiples."""
    mantissa, exponent = np.frexp(values)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    lowest: npt.NDArray[np.int64] = digits & -digits
    return float(np.ldexp(lowest.astype(np.float64), exponent - 53).min())


def has_undefined(outcome: Outcome) -> bool:
    """Say whether any value conforms in some element of some output."""
    return isinstance(outcome, Values) and any(
        bool((expected.addends == UNDEFINED).any()) for expected in outcome.outputs
    )


@cache
def _refusing(operator: Operator) -> list[tuple[Clause, Refusing]]:
    """Return the clauses by which a backend may refuse a case: first those that change pads."""
    clauses = sorted(disputed_of(operator), key=lambda clause: not clause.is_geometric)
    return [(each, each.refusing) for each in clauses if each.refusing is not None]


def _may_refuse(
    operator: Operator, params: Params
) -> Iterator[tuple[Clause, Sequence[Combination]]]:
    """Yield the clauses by which a backend may refuse a case, and the readings under which it does.

    Which pads there are may depend on a clause before, whose readings are named then, too.
    """
    padded: list[Combination] = [{}]
    for clause, may_refuse in _refusing(operator):
        refusing = [
            {**combination, clause.name: name}
            for combination in padded
            for name in may_refuse(under(operator, combination), params)
        ]
        if refusing:
            yield clause, refusing
        if refusing and clause.is_geometric:
            padded = [{clause.name: name} for name in names_of(clause)]


def _or_refused(
    clause: Clause,
    refusing: Sequence[Combination],
    outcomes: Sequence[tuple[Combination, Outcome]],
) -> list[tuple[Combination, Outcome]]:
    """Return outcomes with each reading of a clause, and exceptions under those that refuse."""
    read = [
        ({**combination, clause.name: name}, outcome)
        for combination, outcome in outcomes
        for name in names_of(clause)
        if combination.get(clause.name, name) == name
    ]
    kept = [
        (combination, outcome)
        for combination, outcome in read
        if not any(each.items() <= combination.items() for each in refusing)
    ]
    return [*kept, *((each, Raises()) for each in refusing)]


def _undefined_outputs(
    operator: Operator, outcomes: Iterable[tuple[Combination, Outcome]]
) -> set[str]:
    """Return the clauses by which some output alone is undefined somewhere.

    A gradient is by its clause where it is under every reading.
    """
    values = [outcome for _, outcome in outcomes if isinstance(outcome, Values)]
    if operator.is_gradient:
        undefined = values and all(has_undefined(outcome) for outcome in values)
        return {operator.reduction.undefined} if undefined else set()
    return {
        output.undefined
        for outcome in values
        for output, expected in zip(operator.outputs, outcome.outputs, strict=True)
        if output.is_index and (expected.values < 0).any()
    }


def _some_window_is_empty(plans: Iterable[Plan]) -> bool:
    return any(
        bool((cells == 0).any())
        for plan in plans
        for cells in plan.windows.inside(plan.params.sizes)
    )


def _merged(
    operator: Operator, outcomes: list[tuple[Combination, Outcome]], clauses: Clauses
) -> tuple[Outcome, ...]:
    """Return the different outcomes, each with all combinations over the touching clauses.

    A clause that a combination leaves out has any reading.
    """
    disputed = [clause.name for clause in disputed_of(operator) if clauses.get(clause.name)]
    merged: dict[Any, tuple[Outcome, list[Combination]]] = {}
    for combination, outcome in outcomes:
        _, readings = merged.setdefault(_key(outcome), (outcome, []))
        readings += _choices(
            {
                name: (combination[name],) if name in combination else clauses[name]
                for name in disputed
            }
        )
    return tuple(
        replace(outcome, readings=tuple(readings)) for outcome, readings in merged.values()
    )


def _key(outcome: Outcome) -> tuple[Any, ...]:
    """Equal for two outcomes exactly if they accept the same answers."""
    if not isinstance(outcome, Values):
        return (type(outcome),)
    parts: list[Any] = [outcome.arithmetic]
    for expected in outcome.outputs:
        defined: npt.NDArray[np.bool_] = expected.addends != UNDEFINED
        parts += [
            expected.values.shape,
            expected.values.ravel()[defined].tobytes(),
            expected.addends.tobytes(),
            expected.divisor.tobytes(),
            expected.magnitude.tobytes(),
        ]
    return tuple(parts)
