"""A report with the likely causes of its failures."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from conformance.backends.answer import RAISED, Answer
from conformance.backends.fresh_starts import Start
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import Runner
from conformance.budget import Budget
from conformance.diagnosis import limits, statements
from conformance.diagnosis.assumed import Accepted, Assumed, assumptions, read_in_two_ways
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.features import features, grouped, thinned, weight
from conformance.diagnosis.laboratory import Laboratory, as_expected, sample_of
from conformance.diagnosis.likely_causes import diagnose
from conformance.diagnosis.named_causes import cause_named, explaining, word_of
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.rule_learning import learned
from conformance.diagnosis.sample import Lost, Sample
from conformance.diagnosis.state import StateReport, of_state
from conformance.diagnosis.varied import findings_of, is_varied
from conformance.dtypes import name_of
from conformance.judging.judge import answer_to
from conformance.judging.votes import separators
from conformance.progress import Found, Progress
from conformance.record.report import (
    RETURNED,
    SEARCH_INTERRUPTED,
    ClauseReport,
    Diagnosis,
    Interrupted,
    Proof,
    Report,
    Result,
    told_apart,
)
from conformance.text import listed
from conformance.vector import Case, Combination, Vector, forward_name, outputs_of
from conformance.vectorfile.sources import Source, Vectors, opened, vectors_in


def explained(
    report: Report,
    vectors: Vectors = None,
    *,
    runner: Runner | None = None,
    start: Start | None = None,
    workers: int = 1,
    seconds: float | None = None,
    progress: Progress | None = None,
    found: Found | None = None,
) -> Report:
    """Return a report with `diagnoses`; the same report where nothing failed.

    `vectors` are those of the run. The `runner`, if it is given, asks the backend about fresh
    cases, which confirm or refute what seems to be the cause; `start` starts
    fresh copies of it, which tell state from arithmetic; so many `workers` had the run. The search
    ends when its work is done, which is counted: it finds the same on any machine. After so many
    `seconds`, if they are given, it ends earlier. `found` is told of each cause as it is confirmed;
    what is found later may yet say the same better.
    Raises Interrupted where a user ends it, with what was found by then.
    Outputs that the report did not keep, and answers that were no arrays, are not diagnosed; nor
    are failures that were expected, and operators of which no call returned: a backend that
    cannot be called has no cause in what it was asked for.
    """
    results = _Results.of(report)
    if results.silent:
        silent = ", ".join(results.silent)
        note = f"no call of {silent} returned: no likely causes were searched for"
        report = replace(report, notes=(*report.notes, note))
    varied = findings_of(report)
    in_two_ways = read_in_two_ways(report)
    if not (results.failing or varied or results.lost or in_two_ways):
        return report
    state, budget = StateReport(), Budget(seconds)
    with opened(vectors) as sources:
        if start is not None and results.failing:
            state = of_state(
                report,
                sources,
                start,
                workers=workers,
                share=budget.share(limits.STEPS_OF_STATE),
                progress=progress,
            )
        failed = [
            sample
            for source in sources
            for sample in _failures(source, results.failing.get(source.operator, {}), state.vectors)
        ]
        # No cause in what was asked for: nobody knows which of two answers that would explain.
        unstable = {*report.repeated.differing} if report.repeated else set()
        state = state.with_others([s.vector for s in failed if s.vector.case.id in unstable])
        failed = [s for s in failed if s.vector.case.id not in unstable]
        of_readings = [*_of_readings(failed, report.inconsistent)]
        excused = {*chain(*(each.vectors for each in of_readings))}
        failed = [s for s in failed if s.vector.case.id not in excused]
        never = _never_answered(sources, results.lost)
        operators = {forward_name(s.vector.case.operator) for s in (*failed, *never)}
        operators |= in_two_ways.keys()
        conforming = partial(_conforming, sources, results.right, in_two_ways)
        right = {name: of for name, of in results.right.items() if forward_name(name) in operators}
        valid = _valid(sources, failed, right, {each.id for each in report.skipped})
        readings = _readings(report.readings)
        accepted = {each.id: each.readings for of in results.right.values() for each in of.values()}
        apart = [*varied, *of_readings]
        looked_at = len(state.vectors) + len(failed) + len(never)
        failures = sum(each.explained for each in apart) + looked_at + results.not_kept
        is_stored = isinstance(runner, StoredResults)
        unasked = (
            "stored results cannot be asked about held-out cases"
            if is_stored
            else "the backend was not asked about held-out cases"
        )

        def laboratory(part: Budget, assumed: Combination) -> Laboratory | None:
            if is_stored or runner is None:
                return None
            return Laboratory(
                runner,
                readings,
                assumed,
                failing=report.failing,
                budget=part,
                valid=valid,
                progress=progress,
                found=found,
            )

        searches = _Searches(
            _by_operator(failed, in_two_ways),
            conforming,
            state,
            readings,
            report.inconsistent,
            in_two_ways,
            accepted,
            unasked,
            laboratory,
            progress,
        )
        searches.run(budget)
        told = [_of_lost(of_one, conforming(name)) for name, of_one in _by_operator(never)]
    state = searches.state
    apart += map(statements.of_state, state.findings)
    diagnoses = statements.united([apart, *searches.parts.values(), *told], failures=failures)
    notes = (*report.notes, state.note) if state.note else report.notes
    notes += tuple(searches.notes)
    if diagnoses and diagnoses[0].sample_of:
        searched = f"{diagnoses[0].total:,} of {failures:,} failures"
        notes += (f"likely causes were searched for {searched}",)
    report = replace(report, diagnoses=tuple(diagnoses), notes=notes)
    if searches.is_interrupted:
        raise Interrupted(report)
    return report


_LOST: Mapping[str, Lost] = {"crashed": "crash", "timed-out": "hang"}
"""How no answer came, by verdict."""
_MAY_BE_LOST = "no held-out case was asked, each of which may end the backend as well"


@dataclass(slots=True)
class _Searches:
    """The searches of the operators of a run, and what they found: `parts`, by operator.

    Of each operator there are the failures, and vectors that are `conforming` by the readings
    `accepted`; of clauses that are `inconsistent`, and that failures touch or that are read
    `in_two_ways`, a reading is assumed. `ended` says what of its search ended before all was known,
    and why.
    """

    operators: Sequence[tuple[str, list[Sample]]]
    conforming: Callable[[str], list[Vector]]
    state: StateReport
    readings: Callable[[Vector], Combination]
    inconsistent: frozenset[str]
    in_two_ways: Mapping[str, Collection[str]]
    accepted: Accepted
    unasked: str
    laboratory: Callable[[Budget, Combination], Laboratory | None]
    progress: Progress | None
    parts: dict[str, list[Diagnosis]] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False

    def run(self, budget: Budget) -> None:
        """Search each operator, until a user interrupts it."""
        try:
            for number, others in self._in_turn():
                try:
                    self._search(number, others, budget.part(len(self.operators) - number))
                except Exception as error:  # noqa: BLE001 - it takes no verdict, nor other causes
                    self._broke(self.operators[number][0], error)
        except KeyboardInterrupt:  # what is found by then is worth the time that it took
            self.is_interrupted = True

    @property
    def notes(self) -> Iterator[str]:
        """Yield what ended early, why, and of which operators."""
        for said, names in grouped(self.ended, self.ended.__getitem__).items():
            yield f"{said}: {listed(names)}"
        if self.is_interrupted:
            left = listed([name for name, _ in self.operators if name not in self.parts])
            yield f"{SEARCH_INTERRUPTED}{left and ' before '}{left}"

    def _broke(self, operator: str, error: Exception) -> None:
        """Say of a search that it ended by an error of this package."""
        *_, frame = traceback.extract_tb(error.__traceback__)
        place = f"{Path(frame.filename).name}, line {frame.lineno}"
        said = f"{type(error).__name__} in {place}: {error}"
        bug = f"a bug in conformance, not in the backend: {said}"
        self.ended[operator] = f"the search for likely causes ended early: {bug}"
        warnings.warn("".join(traceback.format_exception(error)), RuntimeWarning, stacklevel=2)

    def _search(self, number: int, others: Sequence[Sequence[Diagnosis]], part: Budget) -> None:
        operator, samples = self.operators[number]
        beside = self.conforming(operator)
        candidates = Candidates(first=_causes_of(others))
        assumed = self._assumed(operator, samples, beside, candidates)
        if not assumed.failing:
            return
        asked = self.laboratory(part, assumed.readings)
        if asked is not None and operator not in self.parts:
            self.state = self.state.with_others(_right_now(samples, asked))
        found = diagnose(
            [s for s in assumed.failing if s.vector.case.id not in self.state.vectors],
            assumed.conforming,
            assumed.followed(self.readings),
            # What conforms follows one reading or another one, and nothing else.
            assumed.with_others(candidates, alone=not samples),
            reproduced={
                each.named for each in chain(*others) if each.is_confirmed and each.smallest
            },
            laboratory=asked,
            unasked=self.unasked,
            progress=self.progress,
        )
        if samples:
            self.parts[operator] = statements.of_failures(found, samples, assumed.readings)
        else:
            self.parts[operator] = statements.of_clause(found, assumed.readings)
        is_known = all(each.is_known for each in self.parts[operator])
        self.ended.pop(operator, None)
        if asked is not None and asked.is_over and not is_known:
            self.ended[operator] = f"experiments on likely causes ended early: {asked.ended}"

    def _assumed(
        self,
        operator: str,
        samples: Sequence[Sample],
        beside: Sequence[Vector],
        candidates: Candidates,
    ) -> Assumed:
        """Return what happened under the readings that leave least unknown if they are assumed.

        Where nothing fails, under those by which fewest vectors do.
        """
        vectors = (*(sample.vector for sample in samples), *beside)
        touched = {clause for sample in samples for clause in sample.vector.clauses}
        clauses = self.inconsistent & {*touched, *self.in_two_ways.get(operator, ())}
        every = [
            Assumed.of(readings, samples, beside, self.accepted)
            for readings in assumptions(dict.fromkeys(v.case.operator for v in vectors), clauses)
        ]
        if len(every) == 1:
            return every[0]
        if not samples:
            return min(every[1:], key=lambda each: len(each.failing))
        return min(every, key=lambda each: each.unknown(self.readings, candidates))

    def _in_turn(self) -> Iterator[tuple[int, list[list[Diagnosis]]]]:
        """Yield each search by number, with what was found in the other operators.

        Once more where that may say better what is wrong than what was found before it.
        """
        for again in (False, True):
            for number, (operator, _) in enumerate(self.operators):
                others = [part for name, part in self.parts.items() if name != operator]
                part = self.parts.get(operator, ())
                if not again or _is_said_elsewhere(part, others) or self._is_better(number, others):
                    yield number, others

    def _is_better(self, number: int, others: Sequence[Sequence[Diagnosis]]) -> bool:
        """Say whether a cause of other operators, found later, explains more than its own do."""
        operator, samples = self.operators[number]
        part = self.parts.get(operator, ())
        some = thinned([s for s in samples if weight(s.vector) <= limits.LIGHT], limits.LOOKED_AT)
        ids = {sample.vector.case.id for sample in some}
        own = max(
            (len(ids.intersection(each.vectors)) for each in part if each.is_known), default=0
        )
        enough = max(own + 1, limits.SHARED)
        if enough > len(some):  # nothing can be better
            return False
        confirmed = [[d for d in other if d.is_confirmed] for other in others]
        known = {each.named for each in part}
        predictions = Predictions(self.readings)
        return any(
            sum(predictions.explains(claim, sample) for sample in some) >= enough
            for claim in _causes_of(confirmed)
            if word_of(claim) not in known
        )


def _causes_of(parts: Sequence[Sequence[Diagnosis]]) -> list[Claim]:
    """Return the causes of operators that have a word, those that were confirmed first."""
    known = sorted(chain(*parts), key=lambda each: bool(each.proof and each.proof.missing))
    return [*dict.fromkeys(cause_named(each.named) for each in known if each.named)]


def _is_said_elsewhere(part: Sequence[Diagnosis], others: Sequence[Sequence[Diagnosis]]) -> bool:
    """Say whether what fits the failures of an operator as well is the cause of more elsewhere."""
    explained: Counter[str] = Counter()
    for each in chain(part, *others):
        explained["+".join(each.faults)] += each.explained
    return any(
        explained[name] > explained["+".join(each.faults)]
        for each in part
        for name in each.alternatives
    )


def _by_operator(
    failures: Sequence[Sample], others: Iterable[str] = ()
) -> list[tuple[str, list[Sample]]]:
    """Return each operator with the failures of it and its gradient, most first, and `others`.

    Operators share no work that a search may be: what one has takes nothing from others.
    """
    failed = grouped(failures, lambda sample: forward_name(sample.vector.case.operator))
    names = sorted({**failed, **dict.fromkeys(others)}, key=lambda name: -len(failed.get(name, ())))
    return [(name, failed.get(name, [])) for name in names]


def _of_readings(failures: Sequence[Sample], inconsistent: Collection[str]) -> Iterator[Diagnosis]:
    """Yield failures that raised what one of several readings allows, by the clauses read so.

    These are `inconsistent`: other answers follow another reading, and no attribute says where.
    """
    vectors = (sample.vector for sample in failures if not sample.failed)
    by_clauses = grouped(vectors, lambda each: tuple(c for c in each.clauses if c in inconsistent))
    for clauses, alike in by_clauses.items():
        if clauses:
            words = f"an exception that one of the readings of {listed(clauses)} allows"
            yield told_apart("reading", words, [each.case.id for each in alike], raised=True)


def _never_answered(sources: Sequence[Source], lost: _ById) -> list[Sample]:
    return [
        Sample(vector, None, failed=True, lost=_LOST[results[vector.case.id].verdict])
        for source in sources
        if (results := lost.get(source.operator))
        for vector in _read(source, results)
    ]


def _of_lost(samples: Sequence[Sample], conforming: Sequence[Vector]) -> list[Diagnosis]:
    """Return where no answer came: as a rule, if enough vectors show one, or what they share.

    No held-out case is asked: each may cost a start of the backend.
    """
    of_failures = [features(sample.vector) for sample in samples]
    failures = statements.Failures(samples, of_failures, [*map(features, conforming)])
    predictions = Predictions(lambda _: {})
    found: list[Diagnosis] = []
    left = [*range(len(samples))]
    for way in _LOST.values():
        some = [i for i in left if samples[i].lost == way]
        known = [*(samples[i] for i in some), *map(as_expected, conforming)]
        rules = learned(known, way) if len(some) >= limits.FOR_A_CONDITION else []
        claims = (rule.claim for rule in rules)
        claim = next((c for c in claims if all(predictions.predicts(c, s) for s in known)), None)
        if claim is not None:
            found.append(failures.of_rule(claim, some, Proof(missing=_MAY_BE_LOST)))
            left = [i for i in left if i not in some]
    return [*found, *failures.unknown(left)]


def _right_now(failures: Sequence[Sample], laboratory: Laboratory) -> list[Vector]:
    """Call the lightest failures again; return those that are right now.

    No arithmetic explains these, and held-out cases tell nothing of them. As long as there are
    some, the others are called in another order: each may be wrong after some calls alone.
    """
    raised = {s.vector.case.id for s in failures if s.outputs is None}
    left = sorted((s.vector for s in failures), key=weight)[: limits.CALLED_AGAIN]
    laboratory.begin(limits.STEPS_OF_CALLS_AGAIN)
    right: list[Vector] = []
    known = -1
    while known < len(right):
        known = len(right)
        for start in range(0, len(left), limits.CALLED_AT_ONCE):
            if laboratory.is_over:
                return right
            right += [
                sample.vector
                for sample in laboratory.ask(left[start : start + limits.CALLED_AT_ONCE])
                # An exception that other readings excuse is as wrong now as it was.
                if not sample.failed
                and not (sample.outputs is None and sample.vector.case.id in raised)
            ]
        found = {vector.case.id for vector in right}
        left = [vector for vector in left if vector.case.id not in found]
        left = [left[i] for i in laboratory.rng.permutation(len(left))]
    return right


def _failures(
    source: Source, failed: Mapping[str, Result], told: Collection[str] = ()
) -> list[Sample]:
    """Return failures with what was returned, but for those that are `told` already.

    Answers that a required reading alone rejects are left out: they are no fault.
    """
    vectors = _read(source, failed.keys() - told)
    answers = ((vector, _answer(vector, failed[vector.case.id])) for vector in vectors)
    samples = (sample_of(vector, answer) for vector, answer in answers)
    return [s for s in samples if s is not None and (s.failed or s.outputs is None)]


def _conforming(
    sources: Sequence[Source],
    right: _ById,
    in_two_ways: Mapping[str, Collection[str]],
    operator: str,
) -> list[Vector]:
    """Return some of the vectors that conform of an operator and its gradient, by their ids.

    And of those that clauses concern which are read `in_two_ways`. Each has the outputs that were
    returned: one that was not speaks against no fault. They are read when they are searched with:
    those of all operators fill half a gigabyte.
    """
    conforming: list[Vector] = []
    clauses = {*in_two_ways.get(operator, ())}
    for source in sources:
        if forward_name(source.operator) != operator:
            continue
        results = right.get(source.operator, {})
        telling = [name for name in results if results[name].clauses.keys() & clauses]
        names = {*thinned([*results], limits.CONFORMING_READ)}
        for vector in _read(source, names.union(thinned(telling, limits.CONFORMING_READ))):
            first = results[vector.case.id].first_outputs
            conforming.append(vector if first is None else vector.of_first(first))
    return conforming


def _valid(
    sources: Sequence[Source], failed: Sequence[Sample], right: _ById, skipped: Collection[str]
) -> list[Case]:
    """Return valid cases of the operators of which invalid ones alone are known.

    None of those `skipped`: the backend must not be called with them.
    """
    every = {*(sample.vector.case.operator for sample in failed), *right}
    some = {sample.vector.case.operator for sample in failed if sample.vector.values}
    for operator, results in right.items():
        if any("invalid" not in each.tags for each in results.values()):
            some.add(operator)
    return [
        vector.case
        for source in sources
        if source.operator in every - some
        for vector in vectors_in(source, np.array(thinned(range(len(source)), limits.VALID_READ)))
        if vector.values and vector.case.id not in skipped
    ]


def reproduced(report: Report, vectors: Vectors, causes: Iterable[str]) -> dict[str, list[str]]:
    """Return the causes, of those in words, that explain a failure, by the id of its vector.

    A word is one that `cause_named` takes. What cannot be compared is not there: an output
    that the report did not keep, and an answer that was no array.
    """
    failing = _by_id(r for r in report.results if r.verdict in report.failing and r.is_answered)
    readings = _readings(report.readings)
    named = {cause: cause_named(cause) for cause in causes}
    found: dict[str, list[str]] = {}
    with opened(vectors) as sources:
        for source in sources:
            samples = _failures(source, failing.get(source.operator, {}))
            found |= explaining(named, [s.as_failed for s in samples], readings)
    return found


_ById = Mapping[str, Mapping[str, Result]]
"""Results by operator and id."""


def _by_id(results: Iterable[Result]) -> _ById:
    by_operator = grouped(results, lambda result: result.operator)
    return {name: {each.id: each for each in alike} for name, alike in by_operator.items()}


@dataclass(frozen=True, slots=True)
class _Results:
    """What failed, what was lost and what conforms, and the operators that never returned.

    Of those that never returned, nothing failed or was lost. `not_kept` is how many other failures
    there are with no output to look at: no room, too large, no array.
    """

    failing: _ById
    lost: _ById
    right: _ById
    silent: Sequence[str]
    not_kept: int

    @classmethod
    def of(cls, report: Report) -> _Results:
        """Sort the results of a report, but for those that are expected, or of varied calls."""
        returned = {each.operator for each in report.results if each.returned}
        plain = [each for each in report.results if not (each.expected or is_varied(each))]
        failed = [each for each in plain if each.verdict in report.failing]
        answered = [each for each in failed if each.is_answered]
        lost = (r for r in plain if r.verdict in _LOST and r.operator in returned)
        right = (each for each in plain if each.verdict == "conforms")
        return cls(
            _by_id(each for each in answered if each.operator in returned),
            _by_id(lost),
            _by_id(each for each in right if each.returned or "invalid" in each.tags),
            sorted({each.operator for each in answered} - returned),
            sum(each.verdict in RETURNED and not each.is_answered for each in failed),
        )


def _read(source: Source, ids: Iterable[str]) -> list[Vector]:
    wanted = set(ids)
    if not wanted:  # nor is a file opened
        return []
    numbers = np.array([n for n, name in enumerate(source.ids) if name in wanted], np.int64)
    return list(vectors_in(source, numbers))


def _answer(vector: Vector, result: Result) -> Answer:
    if result.output is None:
        return Answer(RAISED, why=result.why)
    return answer_to(vector, outputs_of(result.output))


def _readings(clauses: Sequence[ClauseReport]) -> Callable[[Vector], Mapping[str, str]]:
    """Return what gives the readings that a backend follows in a vector."""

    def of(vector: Vector) -> dict[str, str]:
        case, followed = vector.case, {}
        for clause in clauses:
            reading = clause.followed
            if clause.by is not None and case.inputs:
                data = case.data
                values = separators(
                    case.operator, name_of(data.dtype), data.ndim - 2, case.attributes
                )
                reading = clause.values.get(getattr(values, clause.by))
            if reading is not None and reading != "either":
                followed[clause.clause] = reading
        return followed

    return of
