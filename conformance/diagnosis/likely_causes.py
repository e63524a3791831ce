"""The likely causes of mismatches: what reproduces them, and what experiments say of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from conformance.budget import Budget
from conformance.diagnosis import limits
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import Claim, Planted, planted, with_gradients
from conformance.diagnosis.common_numbers import of_common_numbers
from conformance.diagnosis.experiments import Experiments
from conformance.diagnosis.features import size, spread, thinned, weight
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.laboratory import Laboratory, as_expected, samples_from
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.search import Fit, Search
from conformance.diagnosis.statements import Failures, Mismatch
from conformance.diagnosis.trial import Trial
from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault
from conformance.faults.planted import LARGEST
from conformance.progress import Progress
from conformance.record.report import Diagnosis, Proof
from conformance.vector import Case, Combination, Vector

Readings = Mapping[str, str] | Callable[[Vector], Mapping[str, str]]


def diagnose(
    mismatches: Sequence[Mismatch],
    conforming: Sequence[Vector],
    readings: Readings,
    *,
    catalogue: Sequence[Fault] = CATALOGUE,
    first: Sequence[Claim] = (),
    enumerated: bool = True,
    laboratory: Laboratory | None = None,
    unasked: str = "the backend was not asked",
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Find what reproduces mismatches, the cause that explains most of them first.

    `mismatches` pairs vectors that do not conform with the outputs of the backend (None: it
    raised an exception), `conforming` are vectors that do, as varied as can be. `readings` are
    those of disputed clauses that the backend follows, as far as they are known, or give them
    per vector. The causes of other operators come `first`, then faults of the `catalogue` and, if
    they are to be `enumerated`, whatever atoms make. `progress` counts mismatches. In a
    `laboratory`, causes are confirmed or refuted, and rules are learned for what no fault explains;
    without one, `unasked` says why. The last diagnoses name nothing where mismatches are left over:
    one for exceptions, one for wrong values and so on. A cause that explains only what others do is
    left out.
    """

    def of(vector: Vector) -> Combination:
        return readings(vector) if callable(readings) else readings

    pairs, others = _not_too_many(mismatches)
    some = thinned([pair for pair in pairs if _is_small(pair[0].case)], limits.COMMON_SAMPLES)
    common = (*of_common_numbers(samples_from(some), of),) if enumerated else ()
    candidates = Candidates(catalogue, first, enumerated, common)
    predictions = Predictions(of, laboratory.budget if laboratory is not None else None)
    search = Search(
        [predictions.observed(*pair) for pair in pairs],
        [predictions.unanswered(vector) for vector in spread(conforming, limits.CONFORMING)],
        candidates,
        reproductions=predictions.reproductions,
        progress=progress,
        # No clock takes away what recorded answers tell.
        share=Budget().share(limits.STEPS_OF_SEARCH),
    )
    fits, left = search.run()
    left += search.extended(fits, [predictions.observed(*pair) for pair in others])
    pairs += others
    fits = _folded([_in_gradients_too(fit, search) for fit in fits])
    failures = Failures(pairs, search.features, search.others)
    if laboratory is None:
        diagnoses = [failures.of_fit(fit, Proof(missing=unasked)) for fit in fits]
        return [*diagnoses, *failures.unknown(left)]
    return _proven(failures, search, candidates, fits, conforming, predictions, laboratory)


def _in_gradients_too(fit: Fit, search: Search) -> Fit:
    """Return a fault as one of an operator and of its gradient, if it explains failures of both."""
    faults = with_gradients(fit.faults)
    if faults == fit.faults:
        return fit
    explained = search.explained(faults) | fit.explained
    if not search.in_gradients(explained.keys() - fit.explained.keys()):
        return fit
    return replace(fit, claim=replace(fit.claim, what=Planted(faults)), explained=explained)


def _folded(fits: Sequence[Fit]) -> list[Fit]:
    """Return what explains failures that those before it do not, the largest first.

    Two faults at once explain what neither of them does alone, where that is a cause.
    """
    kept: list[Fit] = []
    explained: set[int] = set()
    alone = {fit.faults[0]: fit for fit in fits if with_gradients(fit.faults[:1]) == fit.faults}
    alone |= {fit.faults[0]: fit for fit in fits if len(fit.faults) == 1}
    for fit in fits:
        parts = [alone[fault] for fault in fit.faults if fault in alone and alone[fault] is not fit]
        if parts:
            by_parts = set().union(*(part.explained for part in parts))
            fit.explained = {i: how for i, how in fit.explained.items() if i not in by_parts}
    for fit in sorted(fits, key=lambda fit: -len(fit.explained)):
        if not fit.explained.keys() <= explained:
            kept.append(fit)
            explained |= fit.explained.keys()
    return kept


def _proven(
    failures: Failures,
    search: Search,
    candidates: Candidates,
    fits: Sequence[Fit],
    conforming: Sequence[Vector],
    predictions: Predictions,
    laboratory: Laboratory,
) -> list[Diagnosis]:
    """Return the causes that experiments leave standing, and what is left over."""
    laboratory.begin(limits.steps_of_experiments(len(failures.pairs)))
    laboratory.about = set().union(*(laboratory.open_clauses(v) for v, _ in failures.pairs))
    small = [_is_small(vector.case) for vector, _ in failures.pairs]
    vectors = [v for (v, _), is_small in zip(failures.pairs, small, strict=True) if is_small]
    chosen = {id(vector) for vector in spread(vectors, limits.FAILING)}
    light = [v for v in conforming if _is_small(v.case)]
    some = {id(vector): vector for vector in spread(light, limits.CONFORMING)}
    known = Knowledge(
        laboratory,
        predictions,
        samples_from([pair for pair in failures.pairs if id(pair[0]) in chosen]),
        [as_expected(v) for v in some.values()],
        [as_expected(v) for v in light if id(v) not in some and weight(v) <= limits.LIGHT],
        candidates=candidates,
    )
    experiments = Experiments(known)
    fits = [*fits, *search.doubtful]
    trials = experiments.on_faults(fits)
    found = experiments.on_rules()
    rules = [trial for trial in found if not trial.claim.faults]
    # All failed in the run, also exceptions that readings excuse which are not followed.
    samples = [replace(s, failed=True) for s in samples_from(failures.pairs)] if rules else []
    ruled = [[i for i, s in enumerate(samples) if small[i] and rule.explains(s)] for rule in rules]
    diagnoses: list[Diagnosis] = []
    explained: set[int] = set()
    later = [(_fit_of(trial, search), trial) for trial in found if trial.claim.faults]
    for fit, trial in (*zip(fits, trials, strict=True), *later):
        if trial is None or not trial.stands:
            continue
        stood = _as_tried(fit, trial, predictions, failures.pairs, search)
        new = stood.explained.keys() - explained
        # What other causes explain, all of it or most, needs no name of its own.
        if limits.MOSTLY_KNOWN * len(new) < len(stood.explained) or not new:
            continue
        if any(stood.explained.keys() <= {*numbers} for numbers in ruled):
            continue
        diagnoses.append(
            failures.of_fit(stood, experiments.proof(trial), experiments.smallest(trial))
        )
        explained |= stood.explained.keys()
    for rule, numbers in zip(rules, ruled, strict=True):
        if not numbers:  # it was made of failures that others explain, too
            continue
        proof, smallest = experiments.proof(rule), experiments.smallest(rule)
        diagnoses.append(failures.of_rule(rule.claim, numbers, proof, smallest))
        explained |= {*numbers}
    # Where several causes meet, none of them alone returns what was returned.
    left = [
        i
        for i, (vector, _) in enumerate(failures.pairs)
        if i not in explained and not (small[i] and experiments.meet_in(vector))
    ]
    standing = [trial for trial in (*trials, *found) if trial is not None]
    beside = {
        i for i in left if small[i] and any(each.fails(failures.pairs[i][0]) for each in standing)
    }
    diagnoses.sort(key=lambda diagnosis: -diagnosis.explained)
    return [*diagnoses, *failures.unknown(left, beside)]


def _is_small(case: Case) -> bool:
    """Say whether a case can be computed: a vector file of others may hold any number."""
    lists = (value for value in case.attributes.values() if isinstance(value, list))
    return all(not isinstance(n, int) or n <= LARGEST for numbers in lists for n in numbers)


def _fit_of(trial: Trial, search: Search) -> Fit:
    """Return how faults fit which were found in what was left over."""
    return Fit(trial.claim, search.explained(trial.claim.faults), frozenset())


def _as_tried(
    fit: Fit, trial: Trial, predictions: Predictions, pairs: Sequence[Mismatch], search: Search
) -> Fit:
    """Return a fit with the claim that stood, and what that explains."""
    claim = trial.claim
    if claim == planted(*fit.faults):
        return fit
    explained = {
        i: match
        for i, match in search.explained(claim.faults).items()
        if predictions.applies(claim, pairs[i][0])
    }
    alternatives = [each for each in fit.alternatives if each.faults != claim.faults]
    return Fit(claim, explained, frozenset(), 0, alternatives)


def _not_too_many(mismatches: Sequence[Mismatch]) -> tuple[list[Mismatch], list[Mismatch]]:
    """Return mismatches to search, without most of the largest, and others to hold causes against.

    Of the others there are as many, the smallest first, as take little time.
    """
    light = [pair for pair in mismatches if weight(pair[0]) <= limits.LIGHT]
    heavy = [pair for pair in mismatches if weight(pair[0]) > limits.LIGHT]
    heavy.sort(key=lambda pair: weight(pair[0]))
    searched = [*thinned(light, limits.LIGHT_ONES), *heavy[: limits.HEAVY_ONES]]
    known = {id(pair) for pair in searched}
    others = sorted((p for p in mismatches if id(p) not in known), key=lambda p: size(p[0]))
    sizes = accumulate(size(vector) for vector, _ in others)
    return searched, others[: sum(total <= limits.HELD_AGAINST for total in sizes)]
