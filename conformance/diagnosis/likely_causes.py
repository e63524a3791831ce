"""The likely causes of mismatches: what reproduces them, and what experiments say of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from conformance.budget import Budget
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.common_numbers import of_common_numbers
from conformance.diagnosis.experiments import Experiments
from conformance.diagnosis.features import LIGHT, size, spread, thinned, weight
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.laboratory import Laboratory, as_expected, samples_from
from conformance.diagnosis.planting import FaultHypothesis, Planting, with_gradients
from conformance.diagnosis.search import Cause, Search
from conformance.diagnosis.shares import SEARCH
from conformance.diagnosis.statements import Failures, Mismatch
from conformance.diagnosis.trial import Trial
from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault, Together
from conformance.faults.planted import LARGEST
from conformance.progress import Progress
from conformance.record.report import Diagnosis, Proof
from conformance.vector import Case, Combination, Vector

Readings = Mapping[str, str] | Callable[[Vector], Mapping[str, str]]

CONFORMING = 240
"""Conforming vectors that causes are held against, at most."""
_FAILING = 240
"""Failures that experiments start from, at most."""
_ALIKE = 48
"""Failures of which it is looked for numbers that they have in common, at most."""
_HEAVY = 20
_LIGHT_ONES = 2000
_MOST_HELD_AGAINST = 2_000_000
"""Size of the mismatches that found causes are held against, at most: a few seconds of work."""


def diagnose(
    mismatches: Sequence[Mismatch],
    conforming: Sequence[Vector],
    readings: Readings,
    *,
    catalogue: Sequence[Fault] = CATALOGUE,
    first: Sequence[Together] = (),
    enumerated: bool = True,
    laboratory: Laboratory | None = None,
    unasked: str = "the backend was not asked",
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Find what reproduces mismatches, the cause that explains most of them first.

    `mismatches` pairs vectors that do not conform with the outputs of the backend (None: it
    raised an exception), `conforming` are vectors that do, as varied as can be. `readings` are
    those of disputed clauses that the backend follows, as far as they are known, or give them
    per vector. Faults that are causes of other operators come `first`, then those of the
    `catalogue` and, if they are to be `enumerated`, whatever atoms make. `progress` counts
    mismatches. In a `laboratory`, causes are confirmed or refuted, and rules are learned for what
    no fault explains; without one, `unasked` says why. The last diagnoses name nothing where
    mismatches are left over: one for exceptions, one for wrong values and so on. A cause that
    explains only what others do is left out.
    """

    def of(vector: Vector) -> Combination:
        return readings(vector) if callable(readings) else readings

    pairs, others = _not_too_many(mismatches)
    some = thinned([pair for pair in pairs if _is_small(pair[0].case)], _ALIKE)
    common = of_common_numbers(samples_from(some), of) if enumerated else ()
    candidates = Candidates((*catalogue, *common), first, enumerated)
    planting = Planting(of, laboratory.budget if laboratory is not None else None)
    search = Search(
        [planting.observed(*pair) for pair in pairs],
        [planting.unanswered(vector) for vector in spread(conforming, CONFORMING)],
        candidates,
        reproductions=planting.reproductions,
        progress=progress,
        # No clock takes away what recorded answers tell.
        share=Budget().share(SEARCH),
    )
    causes, left = search.run()
    left += search.extended(causes, [planting.observed(*pair) for pair in others])
    pairs += others
    causes = [_in_gradients_too(cause, search) for cause in causes]
    known = Failures(pairs, search.features, search.others)
    causes = _folded(causes)
    if laboratory is None:
        diagnoses = [known.fault(cause, Proof(missing=unasked)) for cause in causes]
        return [*diagnoses, *known.unknown(left)]
    return _proven(known, search, candidates, causes, conforming, planting, laboratory)


def _in_gradients_too(cause: Cause, search: Search) -> Cause:
    """Return a fault as one of an operator and of its gradient, if it explains failures of both."""
    faults = with_gradients(cause.faults)
    if faults == cause.faults:
        return cause
    explained = search.explained(faults)
    return (
        replace(cause, faults=faults, explained=explained)
        if len(explained) > len(cause.explained)
        else cause
    )


def _folded(causes: Sequence[Cause]) -> list[Cause]:
    """Return the causes that explain what those before them do not, the largest first."""
    kept: list[Cause] = []
    explained: set[int] = set()
    for cause in sorted(causes, key=lambda cause: -len(cause.explained)):
        if not cause.explained.keys() <= explained:
            kept.append(cause)
            explained |= cause.explained.keys()
    return kept


def _proven(
    failures: Failures,
    search: Search,
    candidates: Candidates,
    causes: Sequence[Cause],
    conforming: Sequence[Vector],
    planting: Planting,
    laboratory: Laboratory,
) -> list[Diagnosis]:
    """Return the causes that experiments leave standing, and what is left over."""
    laboratory.begin()
    laboratory.about = set().union(*(laboratory.open_clauses(v) for v, _ in failures.pairs))
    small = [_is_small(vector.case) for vector, _ in failures.pairs]
    vectors = [v for (v, _), is_small in zip(failures.pairs, small, strict=True) if is_small]
    chosen = {id(vector) for vector in spread(vectors, _FAILING)}
    light = [v for v in conforming if _is_small(v.case)]
    some = {id(vector): vector for vector in spread(light, CONFORMING)}
    known = Knowledge(
        laboratory,
        planting,
        samples_from([pair for pair in failures.pairs if id(pair[0]) in chosen]),
        [as_expected(v) for v in some.values()],
        [as_expected(v) for v in light if id(v) not in some and weight(v) <= LIGHT],
        candidates=candidates,
    )
    experiments = Experiments(known)
    causes = [*causes, *search.doubtful]
    faults = experiments.on_faults([cause.suspect for cause in causes])
    rules = experiments.on_rules()
    # All failed in the run, also exceptions that readings excuse which are not followed.
    samples = [replace(s, failed=True) for s in samples_from(failures.pairs)] if rules else []
    ruled = [
        []
        if _is_of_faults(rule)
        else [i for i, s in enumerate(samples) if small[i] and rule.explains(s)]
        for rule in rules
    ]
    diagnoses: list[Diagnosis] = []
    explained: set[int] = set()
    further = [(_of_trial(trial, search), trial) for trial in rules if _is_of_faults(trial)]
    for cause, trial in (*zip(causes, faults, strict=True), *further):
        if trial is None or not trial.stands:
            continue
        stood = _as_tried(cause, trial, failures.pairs, search)
        # What a rule explains besides all else that it does needs no name of its own.
        if not stood.explained or any(stood.explained.keys() <= {*numbers} for numbers in ruled):
            continue
        diagnoses.append(
            failures.fault(stood, experiments.proof(trial), experiments.smallest(trial))
        )
        explained |= stood.explained.keys()
    for rule, numbers in zip(rules, ruled, strict=True):
        if not numbers:  # it is one of faults, or was made of failures that others explain, too
            continue
        diagnoses.append(
            failures.rule(
                rule.hypothesis, numbers, experiments.proof(rule), experiments.smallest(rule)
            )
        )
        explained |= {*numbers}
    # Where several causes meet, none of them alone returns what was returned.
    left = [
        i
        for i, (vector, _) in enumerate(failures.pairs)
        if i not in explained and not (small[i] and experiments.meet_in(vector))
    ]
    standing = [trial.hypothesis for trial in (*faults, *rules) if trial is not None]
    beside = {
        i for i in left if small[i] and any(cause.fails(failures.pairs[i][0]) for cause in standing)
    }
    diagnoses.sort(key=lambda diagnosis: -diagnosis.explained)
    return [*diagnoses, *failures.unknown(left, beside)]


def _is_small(case: Case) -> bool:
    """Say whether a case can be computed: a vector file of others may hold any number."""
    lists = (value for value in case.attributes.values() if isinstance(value, list))
    return all(not isinstance(n, int) or n <= LARGEST for numbers in lists for n in numbers)


def _is_of_faults(trial: Trial) -> bool:
    return isinstance(trial.hypothesis, FaultHypothesis)


def _of_trial(trial: Trial, search: Search) -> Cause:
    """Return the cause that faults are which were found in what was left over."""
    assert isinstance(trial.hypothesis, FaultHypothesis)
    faults = trial.hypothesis.faults
    return Cause(faults, search.explained(faults), frozenset())


def _as_tried(cause: Cause, trial: Trial, pairs: Sequence[Mismatch], search: Search) -> Cause:
    """Return a cause with the faults and the condition that stood, and what these explain."""
    hypothesis = trial.hypothesis
    assert isinstance(hypothesis, FaultHypothesis)
    if hypothesis.faults == cause.faults and hypothesis.condition is None:
        return cause
    explained = {
        i: match
        for i, match in search.explained(hypothesis.faults).items()
        if hypothesis.condition is None or hypothesis.condition.fails(pairs[i][0])
    }
    alternatives = [each for each in cause.alternatives if each.faults != hypothesis.faults]
    return replace(
        cause,
        faults=hypothesis.faults,
        explained=explained,
        contradicted=frozenset(),
        where=() if hypothesis.condition is None else (hypothesis.condition.places,),
        set_apart=0,
        alternatives=alternatives,
    )


def _not_too_many(mismatches: Sequence[Mismatch]) -> tuple[list[Mismatch], list[Mismatch]]:
    """Return mismatches to search, without most of the largest, and others to hold causes against.

    Of the others there are as many, the smallest first, as take little time.
    """
    light = [pair for pair in mismatches if weight(pair[0]) <= LIGHT]
    heavy = [pair for pair in mismatches if weight(pair[0]) > LIGHT]
    heavy.sort(key=lambda pair: weight(pair[0]))
    step = max(1, -(-len(light) // _LIGHT_ONES))
    searched = light[::step] + heavy[:_HEAVY]
    known = {id(pair) for pair in searched}
    others = sorted((p for p in mismatches if id(p) not in known), key=lambda p: size(p[0]))
    sizes = accumulate(size(vector) for vector, _ in others)
    return searched, others[: sum(total <= _MOST_HELD_AGAINST for total in sizes)]
