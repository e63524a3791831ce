"""Readings that are assumed of a backend that contradicts itself.

It follows one reading here and another one there, and no attribute says where: one of both is a
fault. Which one, nobody knows before a cause is found; so each reading is assumed in turn, and what
another one alone accepts is taken as failures. That the other reading is followed is a fault, too,
which may have a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from conformance.diagnosis import limits
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import Claim, planted
from conformance.diagnosis.features import spread, thinned, weight
from conformance.diagnosis.laboratory import sample_of
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.search import Search
from conformance.faults.atoms.reductions import index_without_nan
from conformance.faults.fault import Fault
from conformance.judging.judge import answer_to
from conformance.operators import Clause, Reading, disputed_of, operator_named, under
from conformance.operators.geometric_readings import combinations
from conformance.operators.operator import Operator
from conformance.operators.wraps import StepWrap, instead
from conformance.record.report import Report
from conformance.vector import Combination, Outcome, Values, Vector, agree, forward_name

Accepted = Mapping[str, Sequence[Combination]]
"""The combinations of readings under which answers conform, by the id of the vector."""


def read_in_two_ways(report: Report) -> dict[str, set[str]]:
    """Return inconsistent clauses, by operator, that no one reading of makes all conform.

    Gradients go with their operators.
    """
    shared: dict[tuple[str, str], set[str]] = {}
    for result in report.results if report.inconsistent else ():
        for clause in report.inconsistent.intersection(result.clauses):
            allowed = {each.get(clause, "") for each in result.readings}
            if allowed and "" not in allowed:
                key = forward_name(result.operator), clause
                shared[key] = shared.get(key, allowed) & allowed
    found: dict[str, set[str]] = {}
    for (operator, clause), readings in shared.items():
        if not readings:
            found.setdefault(operator, set()).add(clause)
    return found


def assumptions(operators: Iterable[str], clauses: Collection[str]) -> list[Combination]:
    """Return the readings of some clauses that may be assumed of operators, first none.

    Those of clauses that replace steps: others cannot be told from values.
    """
    every = chain(*(disputed_of(operator_named(operator)) for operator in operators))
    open_ones = {c.name: c for c in every if c.name in clauses and c.replaces_steps}
    readings = combinations([*open_ones.values()])[: limits.READINGS]
    return [{}, *readings] if open_ones else [{}]


@dataclass(frozen=True, slots=True)
class Assumed:
    """What failed and what conforms under readings that are assumed."""

    readings: Combination
    failing: Sequence[Sample]
    conforming: Sequence[Vector]

    @classmethod
    def of(
        cls,
        readings: Combination,
        failures: Sequence[Sample],
        conforming: Sequence[Vector],
        accepted: Accepted,
    ) -> Assumed:
        """Judge failures and vectors that conform, by the readings `accepted`, again."""
        wrong = [_judged_again(each, each.vector.under(readings)) for each in failures]
        right: list[Vector] = []
        for vector in conforming:
            under, allowed = vector.under(readings), accepted[vector.case.id]
            if under is vector or agree(allowed, readings):
                right.append(under)
            else:
                wrong += _as_answered(vector, under, allowed)
        return cls(readings, wrong, right)

    @property
    def elsewhere(self) -> Iterator[Claim]:
        """The claims that another reading is followed than the one that is assumed."""
        vectors = (*(sample.vector for sample in self.failing), *self.conforming)
        for operator in dict.fromkeys(vector.case.operator for vector in vectors):
            for clause in disputed_of(operator_named(operator)):
                for reading in clause.readings if clause.name in self.readings else ():
                    if reading.name != self.readings[clause.name]:
                        yield planted(self._as_fault(operator_named(operator), clause, reading))

    def _as_fault(self, operator: Operator, clause: Clause, reading: Reading) -> Fault:
        pipeline = under(operator, {**self.readings, clause.name: reading.name})
        replaced = {step for each in clause.readings for step in each.replaces}

        def instead_of(step: str) -> StepWrap:
            return lambda _right: getattr(pipeline, step)

        replaces = {step: instead_of(step) for step in sorted(replaced)}
        if operator.has_indices and "reduce" in replaces:
            replaces.setdefault("further", instead(index_without_nan))
        needs = (lambda each: each.name == operator.name,)
        return Fault(f"{clause.name} is read as {reading.name}", needs, replaces)

    def unknown(
        self, readings: Callable[[Vector], Combination], candidates: Candidates
    ) -> tuple[int, bool]:
        """Return how many of some failures no cause explains that would show on held-out cases.

        And whether nothing is assumed though there are such.
        """
        predictions = Predictions(self.followed(readings))
        light = [each for each in self.failing if weight(each.vector) <= limits.LIGHT]
        some = thinned(light, limits.LOOKED_AT)
        search = Search(
            some,
            spread(self.conforming, limits.LOOKED_AT, lambda vector: vector),
            self.with_others(candidates),
            predictions,
            limits.STEPS_OF_LEFT,
        )
        claims = [fit.claim for fit in search.run()[0]]
        left = sum(
            not any(
                predictions.explains(claim, sample) and predictions.fails(claim, sample.vector)
                for claim in claims
            )
            for sample in some
        )
        # Rules have something to learn only where it is known what is right.
        return left, left > 0 and not self.readings

    def with_others(self, candidates: Candidates, *, alone: bool = False) -> Candidates:
        """Return candidates, first of all that other readings are followed, or these `alone`."""
        others = () if alone else candidates.first
        return replace(candidates, first=(*self.elsewhere, *others), alone=alone)

    def followed(self, known: Callable[[Vector], Combination]) -> Callable[[Vector], Combination]:
        """Return what gives the readings followed in a vector, those known elsewhere besides."""
        return lambda vector: {**known(vector), **self.readings}


def _judged_again(sample: Sample, under: Vector) -> Sample:
    if under is sample.vector or sample.lost:
        return sample
    judged = sample_of(under, answer_to(under, sample.outputs))
    return sample if judged is None else replace(judged, raised=sample.raised)


def _as_answered(
    vector: Vector, under: Vector, readings: Sequence[Combination]
) -> Iterator[Sample]:
    """Yield a vector that conforms under readings alone that are not assumed, as a failure."""

    def is_followed(outcome: Outcome) -> bool:
        return any(agree(outcome.readings, each) for each in readings)

    outcome = next(filter(is_followed, vector.outcomes), None)
    if isinstance(outcome, Values):
        outputs = tuple(each.values for each in outcome.outputs)
        sample = sample_of(under, answer_to(under, outputs))
        if sample is not None and sample.failed:
            yield sample
