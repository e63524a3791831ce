"""The likely causes of mismatches: what reproduces them, and what experiments say of that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from conformance.budget import Budget
from conformance.diagnosis import limits
from conformance.diagnosis.candidates import Candidates, of_common_numbers
from conformance.diagnosis.claim import Planted, planted, with_gradients
from conformance.diagnosis.experiments import Experiments
from conformance.diagnosis.features import size, spread, thinned, weight
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.laboratory import Laboratory, as_expected
from conformance.diagnosis.named_causes import word_of
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.search import Fit, Search
from conformance.diagnosis.statements import Failures
from conformance.diagnosis.trial import Trial
from conformance.faults.planted import LARGEST
from conformance.progress import Progress
from conformance.record.report import Diagnosis, Proof
from conformance.vector import Case, Combination, Vector

Readings = Mapping[str, str] | Callable[[Vector], Mapping[str, str]]


def diagnose(
    failing: Sequence[Sample],
    conforming: Sequence[Vector],
    readings: Readings,
    candidates: Candidates | None = None,
    *,
    reproduced: Collection[str] = (),
    laboratory: Laboratory | None = None,
    unasked: str = "the backend was not asked",
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Find what reproduces failures, the cause that explains most of them first.

    `failing` are vectors that do not conform with the outputs of the backend, `conforming` are
    vectors that do, as varied as can be. `readings` are those of disputed clauses that the backend
    follows, as far as they are known, or give them per vector. All faults are tried, or other
    `candidates`. Those `reproduced`, by their words, are not reproduced again if they are confirmed
    here, too. `progress` counts failures. In a `laboratory`, causes are confirmed or refuted, and
    rules are learned for what no fault explains; without one, `unasked` says why. The last
    diagnoses name nothing where failures are left over: one for exceptions, one for wrong values
    and so on. A cause that explains only what others do is left out.
    """

    def of(vector: Vector) -> Combination:
        return readings(vector) if callable(readings) else readings

    searched, others = _not_too_many(failing)
    some = thinned([s for s in searched if _is_small(s.vector.case)], limits.LOOKED_AT)
    candidates = replace(candidates or Candidates(), common=(*of_common_numbers(some, of),))
    steps = limits.STEPS_OF_SEARCH_AT_LEAST + limits.STEPS_OF_SEARCH_A_FAILURE * len(failing)
    budget = laboratory.budget if laboratory is not None else Budget()
    predictions = Predictions(of, budget)
    search = Search(
        searched,
        spread(conforming, limits.WEIGHED, lambda vector: vector),
        candidates,
        predictions,
        min(steps, limits.STEPS_OF_SEARCH),
        progress=progress,
    )
    with budget.unclocked():  # it takes no time from experiments
        fits, left = search.run()
        left += search.extended(fits, others)
        fits = _folded([_in_gradients_too(fit, search) for fit in fits])
    failures = Failures([*searched, *others], search.features, search.others)
    if laboratory is None:
        diagnoses = [failures.of_fit(fit, Proof(missing=unasked)) for fit in fits]
        return [*diagnoses, *failures.unknown(left)]
    return _proven(
        failures, search, candidates, fits, conforming, predictions, laboratory, reproduced
    )


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
    reproduced: Collection[str],
) -> list[Diagnosis]:
    """Return the causes that experiments leave standing, and what is left over."""
    laboratory.begin(limits.STEPS_AT_LEAST + limits.STEPS_A_FAILURE * len(failures.samples))
    laboratory.about = set().union(*(laboratory.open_clauses(s.vector) for s in failures.samples))
    small = {i for i, s in enumerate(failures.samples) if _is_small(s.vector.case)}
    chosen = spread(sorted(small), limits.WEIGHED, lambda i: failures.samples[i].vector)
    right = [as_expected(vector) for vector in conforming if _is_small(vector.case)]
    some = spread(right, limits.WEIGHED, lambda sample: sample.vector)
    known = Knowledge(
        laboratory,
        predictions,
        [failures.samples[i] for i in sorted(chosen)],
        some,
        [s for s in right if s not in some and weight(s.vector) <= limits.LIGHT],
        candidates,
    )
    experiments = Experiments(known)
    fits = [*fits, *search.doubtful]
    trials = experiments.on_faults(fits)
    found = experiments.on_rules()
    rules = [trial for trial in found if not trial.claim.faults]

    def shown(trial: Trial) -> tuple[Proof, str]:
        proof = experiments.proof(trial)
        is_known = not proof.missing and word_of(trial.claim) in reproduced
        return proof, "" if is_known else experiments.smallest(trial)

    failed = [(i, failures.samples[i].as_failed) for i in sorted(small)]
    ruled = [[i for i, sample in failed if rule.explains(sample)] for rule in rules]
    diagnoses: list[Diagnosis] = []
    explained: set[int] = set()
    later = [
        (Fit(planted(*faults), search.explained(faults), frozenset()), trial)
        for trial in found
        if (faults := trial.claim.faults)
    ]
    for fit, trial in (*zip(fits, trials, strict=True), *later):
        if trial is None or not trial.stands:
            continue
        stood = _as_tried(fit, trial, predictions, failures.samples, search)
        new = stood.explained.keys() - explained
        # What other causes explain, all of it or most, needs no name of its own.
        if limits.ONE_IN * len(new) < len(stood.explained) or not new:
            continue
        if any(stood.explained.keys() <= {*numbers} for numbers in ruled):
            continue
        diagnoses.append(failures.of_fit(stood, *shown(trial)))
        explained |= stood.explained.keys()
    for rule, numbers in zip(rules, ruled, strict=True):
        if not numbers:  # it was made of failures that others explain, too
            continue
        diagnoses.append(failures.of_rule(rule.claim, numbers, *shown(rule)))
        explained |= {*numbers}
    # Where several causes meet, none of them alone returns what was returned.
    left = [
        i
        for i, sample in enumerate(failures.samples)
        if i not in explained and not (i in small and experiments.meet_in(sample.vector))
    ]
    standing = [trial for trial in (*trials, *found) if trial is not None]
    beside = {
        i
        for i in small.intersection(left)
        if any(trial.fails(failures.samples[i].vector) for trial in standing)
    }
    diagnoses.sort(key=lambda diagnosis: -diagnosis.explained)
    return [*diagnoses, *failures.unknown(left, beside)]


def _is_small(case: Case) -> bool:
    """Say whether a case can be computed: a vector file of others may hold any number."""
    lists = (value for value in case.attributes.values() if isinstance(value, list))
    return all(not isinstance(n, int) or n <= LARGEST for numbers in lists for n in numbers)


def _as_tried(
    fit: Fit, trial: Trial, predictions: Predictions, samples: Sequence[Sample], search: Search
) -> Fit:
    """Return a fit with the claim that stood, and what that explains."""
    claim = trial.claim
    if claim == fit.claim:
        return fit
    explained = {
        i: match
        for i, match in search.explained(claim.faults).items()
        if predictions.applies(claim, samples[i].vector)
    }
    alternatives = [each for each in fit.alternatives if each.faults != claim.faults]
    return Fit(claim, explained, frozenset(), 0, alternatives)


def _not_too_many(failing: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Return failures to search, without most of the largest, and others to hold causes against.

    Of the others there are as many, the smallest first, as take little time.
    """
    light = [s for s in failing if weight(s.vector) <= limits.LIGHT]
    heavy = [s for s in failing if weight(s.vector) > limits.LIGHT]
    heavy.sort(key=lambda sample: weight(sample.vector))
    searched = [*thinned(light, limits.LIGHT_ONES), *heavy[: limits.HEAVY_ONES]]
    known = {*map(id, searched)}
    others = sorted((s for s in failing if id(s) not in known), key=lambda s: size(s.vector))
    sizes = accumulate(size(sample.vector) for sample in others)
    return searched, others[: sum(total <= limits.HELD_AGAINST for total in sizes)]
