"""Whether a fault reproduces what a backend returned, bit for bit or but for rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Literal

import numpy as np
import numpy.typing as npt

from conformance.dtypes import FLOATS, float_format, name_of
from conformance.faults.acceptance import accepted
from conformance.faults.fault import Fault
from conformance.faults.trial import Answer, Raised, Suspect, Trial, right_operator
from conformance.operators import CLAUSES, disputed_of, operator_named
from conformance.reference.bound import wider_format
from conformance.reference.rounding import widen
from conformance.vector import Array, Combination, Vector

Match = Literal["exact", "close", "no"]
Doubles = npt.NDArray[np.float64]

_MOST_READINGS = 8
# A difference that is explained must stand out from what rounding may add.
_STANDS_OUT = 8.0


@dataclass(frozen=True)
class Exhibit:
    """A vector and what the backend returned for it; None stands for an exception.

    `readings` are those the backend seems to follow. Where a clause that touches the vector is
    open, each of its readings is considered. `in_doubt` considers others too: what a faulty
    backend seems to follow may be an effect of the fault.
    """

    vector: Vector
    output: Array | None
    readings: Combination
    in_doubt: bool = False

    @cached_property
    def trials(self) -> tuple[tuple[Combination, Trial], ...]:
        """A bench per combination of readings that is possible."""
        case = self.vector.case
        return tuple(
            (combination, Trial(case, right_operator(case.operator, combination)))
            for combination in (self._doubtful() if self.in_doubt else self._possible())
        )

    def _possible(self) -> list[Combination]:
        clauses = [name for name in _structural(self.vector) if name in self.vector.clauses]
        left = [name for name in clauses if name not in self.readings]
        choices = product(*([(n, r.name) for r in CLAUSES[n].readings] for n in left))
        return [{**self.readings, **dict(choice)} for choice in islice(choices, _MOST_READINGS)]

    def _doubtful(self) -> list[Combination]:
        others = (
            {**self.readings, name: reading.name}
            for name in _structural(self.vector)
            for reading in CLAUSES[name].readings
        )
        return [self.readings, {}, *others]


def _structural(vector: Vector) -> list[str]:
    """Return the disputed clauses of an operator whose readings replace steps."""
    return [
        clause.name
        for clause in disputed_of(operator_named(vector.case.operator))
        if any(reading.replaces for reading in clause.readings)
    ]


class Suspects:
    """Faults made ready once per operator and readings."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], dict[tuple[str, str], Suspect]] = {}

    def answers(
        self, faults: tuple[Fault, ...], exhibit: Exhibit, shape: tuple[int, ...] | None = None
    ) -> list[tuple[Answer, Trial]]:
        """Return what faults make of a vector under each possible combination of readings.

        Answers equal to the right ones are left out; those of another than a given shape hold
        no values.
        """
        operator = exhibit.vector.case.operator
        if not all(operator in fault.operators for fault in faults):
            return []
        made = self._made.setdefault(tuple(map(id, faults)), {})
        found = []
        for combination, trial in exhibit.trials:
            key = (operator, repr(sorted(combination.items())))
            if key not in made:
                made[key] = Suspect(faults, operator, combination)
            answer = made[key].answer(trial, shape)
            if answer is not None:
                found.append((answer, trial))
        return found

    def match(self, faults: tuple[Fault, ...], exhibit: Exhibit) -> Match:
        """Say how well faults reproduce what the backend returned."""
        best: Match = "no"
        shape = None if exhibit.output is None else exhibit.output.shape
        for answer, trial in self.answers(faults, exhibit, shape):
            found = _match(exhibit, answer, trial)
            if found == "exact":
                return found
            best = found if best == "no" else best
        return best

    def likeness(self, faults: tuple[Fault, ...], exhibit: Exhibit) -> float:
        """Return the share of elements that faults explain better than none; 0 if no better."""
        best = 0.0
        for answer, trial in self.answers(faults, exhibit):
            best = max(best, _share(answer, exhibit) - _share(trial.right, exhibit))
        return best

    def shows(self, faults: tuple[Fault, ...], exhibit: Exhibit) -> bool:
        """Say whether faults would keep a vector from conforming, whatever the readings."""
        trials = len(exhibit.trials)
        answers = self.answers(faults, exhibit)
        return len(answers) == trials and not any(
            accepted(exhibit.vector, None if isinstance(answer, Raised) else answer)
            for answer, _ in answers
        )


def _match(exhibit: Exhibit, answer: Answer, trial: Trial) -> Match:
    vector, got = exhibit.vector, exhibit.output
    if isinstance(answer, Raised) or got is None:
        return "exact" if isinstance(answer, Raised) and got is None else "no"
    same = got.shape == answer.shape and got.dtype == answer.dtype
    if isinstance(trial.right, Raised):
        # What an invalid call returns is nobody's business: that it returns is the fault.
        return "exact" if same and np.array_equal(got, answer) else "close"
    if not same or accepted(vector, answer):
        return "no"
    return _match_values(exhibit, trial, answer)


def _match_values(exhibit: Exhibit, trial: Trial, answer: Array) -> Match:
    vector, got = exhibit.vector, exhibit.output
    assert got is not None
    if name_of(got.dtype) not in FLOATS:
        return "exact" if np.array_equal(got, answer) else "no"
    ours, theirs = widen(answer).ravel(), widen(got).ravel()
    equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    counted = ~_may_be_anything(ours, vector)
    if equal.all() or (counted.any() and equal[counted].all()):
        return "exact"
    if not operator_named(vector.case.operator).reduction.sums or not counted.any():
        return "no"
    return _but_for_rounding(exhibit, trial, answer, counted & ~equal)


def _but_for_rounding(
    exhibit: Exhibit, trial: Trial, answer: Array, differing: npt.NDArray[np.bool_]
) -> Match:
    """Say whether averages that differ do so by rounding alone, and still tell a fault."""
    assert exhibit.output is not None
    ours, theirs = widen(answer).ravel(), widen(exhibit.output).ravel()
    noise = _noise(ours, exhibit, trial)
    with np.errstate(invalid="ignore"):
        if not (np.abs(ours - theirs) <= noise)[differing].all():
            return "no"
        right = widen(trial.right).ravel() if isinstance(trial.right, np.ndarray) else ours
        if right.shape != ours.shape:
            return "close"
        far = ~(np.abs(right - theirs) <= _STANDS_OUT * noise) & np.isfinite(theirs)
    return "close" if far.any() else "no"


def _share(answer: Answer, exhibit: Exhibit) -> float:
    """Return the share of elements that an answer has in common with what was returned."""
    got = exhibit.output
    if got is None or isinstance(answer, Raised) or got.shape != answer.shape:
        return 0.0
    if name_of(got.dtype) not in FLOATS or got.dtype != answer.dtype:
        return 0.01 + float((got == answer).mean()) if got.size else 0.01
    ours, theirs = widen(answer), widen(got)
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= 2.0**-6 * np.abs(theirs)
    same = near | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    # A right shape is worth something by itself.
    return 0.01 + float(same.mean()) if got.size else 0.01


def _may_be_anything(answer: Doubles, vector: Vector) -> npt.NDArray[np.bool_]:
    """Mark what a fault leaves undefined: there a backend returns what it likes."""
    data = widen(vector.case.inputs[0])
    if not np.isfinite(data).all():
        return np.zeros(answer.shape, np.bool_)
    return ~np.isfinite(answer)


def _noise(answer: Doubles, exhibit: Exhibit, trial: Trial) -> Doubles:
    """Return how far rounding may take a backend with the same fault from ours."""
    case = exhibit.vector.case
    data = widen(case.inputs[0])
    fmt = float_format(name_of(case.inputs[0].dtype))
    wide = fmt if exhibit.readings.get("accumulator") == "element-type" else wider_format(fmt.name)
    assert trial.plan is not None
    taps = [
        int((b - a).max(initial=1))
        for a, b in zip(trial.plan.windows.start, trial.plan.windows.stop, strict=True)
    ]
    k = float(np.prod(taps)) + 2 * len(taps)
    largest = float(np.abs(data[np.isfinite(data)]).max(initial=0.0))
    size = np.where(np.isfinite(answer), np.abs(answer), 0.0)
    return 2 * k * wide.unit * largest + 2 * fmt.unit * size + (k + 1) * fmt.smallest
