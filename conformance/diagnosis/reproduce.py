"""Whether a fault reproduces what a backend returned, bit for bit or but for rounding."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.budget import ANSWER, Budget
from conformance.diagnosis import limits
from conformance.dtypes import FLOATS, FloatFormat, float_format, name_of
from conformance.faults.baseline import (
    Answer,
    Baseline,
    PlantedFaults,
    Pooled,
    Raised,
    Wanted,
    outputs_or_none,
    right_operator,
)
from conformance.faults.fault import Together
from conformance.judging.judge import accepts
from conformance.operators import Clause, disputed_of, operator_named
from conformance.operators.geometric_readings import combinations
from conformance.operators.operator import Operator
from conformance.operators.reduction import lowest
from conformance.reference.bound import wider_format
from conformance.reference.rounding import Doubles, equal_numbers, widen
from conformance.vector import UNDEFINED, Array, Case, Combination, Outputs, Vector

_OF_POWERS = 16
"""Units of a double by which what comes of a power may differ, for each further factor."""


class Match(IntEnum):
    """How well faults reproduce what was returned: not, but for rounding, or bit for bit."""

    NO = 0
    CLOSE = 1
    EXACT = 2


@dataclass(frozen=True, eq=False)
class Observation:
    """A vector and what the backend returned for it; None stands for an exception.

    `readings` are those the backend seems to follow. Where a clause that touches the vector is
    open, each of its readings is considered. `in_doubt` considers others too: what a faulty
    backend seems to follow may be an effect of the fault.
    """

    vector: Vector
    outputs: Outputs | None
    readings: Combination
    in_doubt: bool = False
    matched: dict[tuple[Together, bool], Match] = field(init=False, default_factory=dict)
    """How well faults reproduce it, telling or not, as far as that is known."""
    shown: dict[Together, bool] = field(init=False, default_factory=dict)
    """Whether faults keep the vector from conforming, as far as that is known."""
    changed: dict[Together, bool] = field(init=False, default_factory=dict)
    """Whether faults change the answer, under any readings, as far as that is known."""

    @property
    def operator(self) -> Operator:
        """The operator of the vector."""
        return operator_named(self.vector.case.operator)

    @cached_property
    def baselines(self) -> tuple[tuple[Combination, Baseline], ...]:
        """What a right backend makes of the case, per combination of readings that is possible.

        Without doubt, those of the same answer are tried as one.
        """
        case = self.vector.case
        every = [
            (combination, Baseline(case, right_operator(case.operator, combination)))
            for combination in (self._doubtful() if self.in_doubt else self._possible())
        ]
        if self.in_doubt or len(every) == 1:
            return tuple(every)
        first: dict[tuple[Any, ...], tuple[Combination, Baseline]] = {}
        for each in every:
            first.setdefault(each[1].key, each)
        return tuple(first.values())

    @cached_property
    def doubted(self) -> Observation:
        """The same, in doubt of the readings."""
        return self if self.in_doubt else replace(self, in_doubt=True)

    @cached_property
    def wrong_elements(self) -> int:
        """How many elements of outputs are not as they are under the first reading, about."""
        if not self.outputs or not self.vector.values:
            return 0
        wrong = 0
        for got, right in zip(self.outputs, self.vector.values[0].outputs, strict=False):
            if got.shape != right.values.shape:
                return got.size
            wrong += int((~equal_numbers(widen(got), widen(right.values))).sum())
        return wrong

    @cached_property
    def may_leave_range(self) -> bool:
        """Whether powers may leave the range of what they are added in: what comes then is open."""
        right = self.baselines[0][1].pooled if self.operator.reduction.powers else None
        return right is not None and (_sums_overflow(self, right) or _powers_vanish(self, right))

    @property
    def wanted(self) -> Wanted | None:
        """First outputs that may match what was returned; None if any may, or if none was."""
        if not self.outputs:
            return None
        got = self.outputs[0]
        exact = self.operator.outputs[0].comparison == "exact"

        def may_be(first: Array) -> bool:
            return not exact or self.is_equal(0, first, got)

        return Wanted(got.shape, may_be)

    def is_equal(self, output: int, answer: Array, got: Array) -> bool:
        """Say whether an output holds what faults make of it, but where it is undefined.

        Of a shape that no reading leads to, that may be everywhere: the shape tells.
        """
        if got.shape != answer.shape:
            return False
        shapes = {outcome.outputs[output].values.shape for outcome in self.vector.values}
        is_new = bool(shapes) and got.shape not in shapes
        defined = ~self.undefined(output, got.shape)
        if name_of(got.dtype) not in FLOATS:
            if is_new:  # windows that hold no cell have no maximum, and no index
                defined &= answer != (-1 if output else lowest(answer.dtype))
            return np.array_equal(got[defined], answer[defined])
        predicted, returned = widen(answer), widen(got)
        equal = equal_numbers(predicted, returned) | ~defined
        counted = _is_defined(predicted, self.vector.case) & defined
        return bool(equal.all() or ((is_new or counted.any()) and equal[counted].all()))

    def undefined(self, output: int, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Mark the elements of an output that the document leaves undefined under some reading."""
        mask = np.zeros(shape, np.bool_)
        for outcome in self.vector.values:
            expected = outcome.outputs[output]
            if expected.values.shape == shape:
                mask |= (expected.addends == UNDEFINED).reshape(shape)
        return mask

    def _structural(self) -> list[Clause]:
        return [clause for clause in disputed_of(self.operator) if clause.replaces_steps]

    def _possible(self) -> list[Combination]:
        unknown = self.vector.clauses.keys() - self.readings.keys()
        left = [clause for clause in self._structural() if clause.name in unknown]
        return [{**self.readings, **each} for each in combinations(left)[: limits.READINGS]]

    def _doubtful(self) -> list[Combination]:
        """Return what is followed, nothing, each other reading, and what is possible besides."""
        others = (
            {**self.readings, clause.name: reading.name}
            for clause in self._structural()
            for reading in clause.readings
            if reading.name != self.readings.get(clause.name, clause.default)
        )
        doubtful: list[Combination] = []
        for each in (self.readings, {}, *others, *self._possible()):
            if each not in doubtful:
                doubtful.append(each)
        return doubtful


class Reproductions:
    """What faults make of observations; each is planted once per operator and readings.

    Answers are counted in a `budget`. What is known of an observation it keeps as long as it lives,
    but no more than the last faults planted: pairs of them are many.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._planted = lru_cache(maxsize=limits.PLANTED)(_planted)

    def counted_in(self, budget: Budget) -> Reproductions:
        """Return the same, with all that is planted, which counts further answers elsewhere."""
        other = copy(self)
        other.budget = budget
        return other

    def answers(
        self,
        faults: Together,
        observation: Observation,
        wanted: Wanted | None = None,
    ) -> list[tuple[Answer, Baseline]]:
        """Return what faults make of a vector under each possible combination of readings.

        Those of other operators make nothing of it.

        Answers equal to the right ones are left out; those whose first output is not `wanted` lack
        values or outputs.
        """
        operator = observation.operator
        answers: list[tuple[Answer, Baseline]] = []
        concerning = tuple(fault for fault in faults if fault.concerns(operator))
        for combination, baseline in observation.baselines if concerning else ():
            self.budget.spend(ANSWER)
            readings = tuple(sorted(combination.items()))
            answer = self._planted(concerning, operator.name, readings).answer(baseline, wanted)
            if answer is not None:
                answers.append((answer, baseline))
        observation.changed[faults] = bool(answers)
        return answers

    def change(self, faults: Together, observation: Observation) -> bool:
        """Say whether faults change the answer to a vector, under any readings."""
        if faults not in observation.changed:
            self.answers(faults, observation)
        return observation.changed[faults]

    def match(self, faults: Together, observation: Observation, *, telling: bool = True) -> Match:
        """Say how well faults reproduce what the backend returned for a vector.

        What differs from the right answer by as little as from theirs is no match, unless it need
        not be `telling`.
        """
        key = faults, telling
        if key not in observation.matched:
            best = Match.NO
            for answer, baseline in self.answers(faults, observation, observation.wanted):
                match = _match(observation, answer, baseline, telling=telling)
                # A result of an invalid call is wrong, whatever its values: that it came is all
                # that a check left out says, while other faults say what comes.
                if (
                    match is Match.CLOSE
                    and baseline.pooled is None
                    and not any("validate" in fault.replaces for fault in faults)
                ):
                    continue
                if match <= best:
                    continue
                if (
                    isinstance(answer, Raised)
                    or isinstance(baseline.right, Raised)
                    # What conforms explains no mismatch.
                    or not accepts(observation.vector, answer[: len(observation.outputs or ())])
                ):
                    best = match
            observation.matched[key] = best
        return observation.matched[key]

    def likeness(self, faults: Together, observation: Observation) -> float:
        """Return the share of elements that faults explain better than none; 0 if no better."""
        best = 0.0
        for answer, baseline in self.answers(faults, observation):
            gained = _share(answer, observation) - _share(baseline.right, observation)
            best = max(best, gained)
        return best

    def show(self, faults: Together, observation: Observation) -> bool:
        """Say whether faults keep a vector from conforming, whatever the readings."""
        if faults not in observation.shown:
            wrong, vector = self.answers(faults, observation), observation.vector
            # Fewer outputs than the operator has, where the backend returned no more.
            count = max((len(values.outputs) for values in vector.values), default=None)
            returned = (outputs_or_none(answer) for answer, _ in wrong)
            # Where the answer is the right one under some readings, the vector conforms; where
            # powers leave their range, an answer that is right by chance speaks against nothing.
            observation.shown[faults] = (
                len(wrong) == len(observation.baselines)
                and not observation.may_leave_range
                and not any(accepts(vector, each and each[:count]) for each in returned)
            )
        return observation.shown[faults]


def _planted(
    faults: Together, operator: str, readings: tuple[tuple[str, str], ...]
) -> PlantedFaults:
    return PlantedFaults(faults, operator, dict(readings))


def _match(observation: Observation, answer: Answer, baseline: Baseline, *, telling: bool) -> Match:
    """Say how close an answer comes to what was returned, right or wrong."""
    got = observation.outputs
    if isinstance(answer, Raised) or got is None:
        return Match.EXACT if isinstance(answer, Raised) and got is None else Match.NO
    # A backend may have fewer outputs than its operator.
    answer = answer[: len(got)]
    same = len(got) == len(answer) and all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(got, answer, strict=True)
    )
    right = baseline.pooled
    if right is None:
        exact = same and all(equal_numbers(*each).all() for each in zip(got, answer, strict=True))
        return Match.EXACT if exact else Match.CLOSE
    if not same:
        return Match.NO
    equal = [
        observation.is_equal(k, *outputs) for k, outputs in enumerate(zip(answer, got, strict=True))
    ]
    if all(equal):
        return Match.EXACT
    if isinstance(baseline.right, Raised):  # by values, under this reading: nothing to be close to
        return Match.NO
    rounding = [
        _rounding(observation, right, k, got[k], answer[k]) for k in range(len(got)) if not equal[k]
    ]
    tells = (
        not telling
        or any(rounding)
        or any(
            same and not observation.is_equal(k, expected, returned)
            for k, (same, expected, returned) in enumerate(
                zip(equal, right.outputs, got, strict=False)
            )
        )
    )
    return Match.CLOSE if None not in rounding and tells else Match.NO


def _rounding(
    observation: Observation, right: Pooled, k: int, got: Array, answer: Array
) -> bool | None:
    """Say whether output k, which differs by rounding alone, tells a fault; None if by more."""
    if observation.operator.outputs[k].comparison == "exact":
        return None
    types = got.dtype, observation.vector.case.data.dtype
    if not all(name_of(each) in FLOATS for each in types):  # integers are not rounded so
        return None
    predicted, returned = widen(answer), widen(got)
    noise = _noise(predicted, float_format(name_of(got.dtype)), observation, right)
    counted = _is_defined(predicted, observation.vector.case)
    counted &= ~observation.undefined(k, got.shape)
    may_overflow = _sums_overflow(observation, right)
    if may_overflow:
        counted &= np.isfinite(returned)
    expected = widen(right.outputs[k])
    if not counted.any() and expected.shape == predicted.shape:
        return None
    equal = equal_numbers(predicted, returned)
    with np.errstate(invalid="ignore", over="ignore"):
        if not (np.abs(predicted - returned) <= noise)[counted & ~equal].all():
            return None
        if expected.shape != predicted.shape:
            return True
        off = np.abs(expected - returned)
        far = ~((off <= limits.STANDS_OUT * noise) | equal_numbers(expected, returned))
        # A sum may overflow in one order alone; but no order makes a number of what is NaN.
        if may_overflow:
            far &= np.isfinite(returned) | (np.isnan(expected) & ~np.isnan(returned))
        # Of many elements, that they are all nearer to what is predicted is no chance.
        many = np.isfinite(off) & (off > 0) & counted
        misses = np.abs(predicted - returned)[many].sum()
        nearer = many.sum() >= limits.TELLING and off[many].sum() >= limits.STANDS_OUT * misses
    return bool(far.any() or nearer)


def _share(answer: Answer, observation: Observation) -> float:
    """Return the share of elements that an answer has in common with what was returned."""
    got = observation.outputs
    if not got or isinstance(answer, Raised) or len(answer) < len(got):
        return 0.0
    pairs = zip(got, answer, strict=False)
    return sum(_share_of_output(predicted, returned) for returned, predicted in pairs) / len(got)


def _share_of_output(answer: Array, got: Array) -> float:
    if got.shape != answer.shape:
        return 0.0
    same = got == answer
    if name_of(got.dtype) in FLOATS and got.dtype == answer.dtype:
        predicted, returned = widen(answer), widen(got)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(predicted - returned) <= 2.0**-6 * np.abs(returned)
        same = near | equal_numbers(predicted, returned)
    # A right shape is worth something by itself.
    return 0.01 + float(same.mean()) if got.size else 0.01


def _is_defined(answer: Doubles, case: Case) -> npt.NDArray[np.bool_]:
    """Mark what a fault leaves defined: elsewhere a backend returns what it likes."""
    if not np.isfinite(widen(case.data)).all():
        return np.ones(answer.shape, np.bool_)
    return np.isfinite(answer)


def _noise(answer: Doubles, fmt: FloatFormat, observation: Observation, right: Pooled) -> Doubles:
    """Return how far rounding may take a backend with the same fault from the answer predicted.

    What faults make of powers is computed in doubles, each power and root with a few roundings.
    """
    wide, k, largest = _sums(observation, right)
    size = np.where(np.isfinite(answer), np.abs(answer), 0.0)
    powers = _OF_POWERS * (right.params.exponent - 1) * float_format("float64").unit
    units = 4 * fmt.unit + powers
    return 2 * k * wide.unit * largest + units * size + (k + 1) * fmt.smallest


def _sums_overflow(observation: Observation, right: Pooled) -> bool:
    """Say whether sums, of powers in norms, may overflow.

    To what infinity, or NaN, and where, is the backend's way of adding to say.
    """
    wide, k, largest = _sums(observation, right)
    given = observation.vector.case.gradient
    with np.errstate(over="ignore"):
        sums = k * np.float64(largest) ** right.params.exponent
        gives = 0.0 if given is None else k * _largest(given)
    return bool(max(sums, gives) >= wide.largest)


def _powers_vanish(observation: Observation, right: Pooled) -> bool:
    """Say whether the powers of all cells may be no normal numbers of their type."""
    fmt = float_format(name_of(observation.vector.case.data.dtype))
    _, _, largest = _sums(observation, right)
    return bool(0 < largest < fmt.smallest_normal ** (1 / right.params.exponent))


def _sums(observation: Observation, right: Pooled) -> tuple[FloatFormat, float, float]:
    """Return the format that sums are kept in, how many roundings one has, and the largest cell."""
    fmt = float_format(name_of(observation.vector.case.data.dtype))
    own = observation.readings.get("accumulator") == "element-type"
    lengths = [int(cells.max(initial=1)) for cells in right.plan.windows.lengths]
    k = float(np.prod(lengths)) + 2 * len(lengths)
    return (fmt if own else wider_format(fmt.name)), k, _largest(observation.vector.case.data)


def _largest(array: Array) -> float:
    """Return the largest magnitude of finite numbers."""
    numbers = widen(array)
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))
