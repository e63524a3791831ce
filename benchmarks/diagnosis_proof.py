"""How often causes that are confirmed by experiment are right: planted alone, in pairs, unseen.

    python -m benchmarks.diagnosis_proof [VECTORS] [--faults 40] [--seed 0] [--mode unseen] [--some]

Faults of the catalogue are planted in a right backend, which is asked about the vectors of the
smoke tier, those of the standard tier where too few of them fail, and held-out cases. A result
is right if the confirmed causes predict at least 95 of 100 other held-out cases on which one of
them shows, and at most 5 of 100 on which none does fail; wrong if the first does not hold, partly
right if only the second does not, or if in more than 5 of the former all is wrong that was
predicted, and more. For unseen faults, the catalogue is without what reproduces half of the
failures or more: the fault itself and its like. For unlisted ones, so is what atoms enumerate:
none in any place says what is wrong, and rules have to. With --some, the backend has the fault in a
few of the operators alone, and is right in all others.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args

from conformance.backends import Backend
from conformance.backends.runner import InProcess
from conformance.cases.perturb import called_on
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.experiments import Experiments
from conformance.diagnosis.features import spread, thinned
from conformance.diagnosis.knowledge import Knowledge
from conformance.diagnosis.laboratory import Laboratory
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.search import Search
from conformance.diagnosis.trial import Trial
from conformance.diagnosis.trying import clauses_about, tells_elements_apart
from conformance.faults import CATALOGUE, Fault, faulty
from conformance.operators import OPERATORS
from conformance.vector import Array, Vector
from conformance.vectorfile.sources import chosen, opened, vectors_in

Mode = Literal["alone", "pairs", "unseen", "unlisted"]
_MODES: tuple[Mode, ...] = get_args(Mode)
_FRESH = 100
_OTHER_SEED = 1
_MOST_WRONG = 5
_LOOKED_AT = 24
_ELSEWHERE = 8
_OTHERS = 1000
"""Vectors that conform and that causes are held against when they are confirmed, at most."""
_FEWEST = 3
"""Failures of the smoke tier that are enough to start from."""


class Alike:
    """The faults that reproduce half of some failures or more: the one planted, and its like."""

    def __init__(self, failing: Sequence[Sample], predictions: Predictions) -> None:
        self._failing = failing[:: -(-len(failing) // _LOOKED_AT) or 1]
        self._predictions = predictions
        self._known: dict[object, bool] = {}

    def __contains__(self, faults: object) -> bool:
        """Say whether some faults are among them."""
        if faults not in self._known:
            found = (self._predictions.reproduces(faults, sample) for sample in self._failing)
            self._known[faults] = 2 * sum(found) >= len(self._failing)
        return self._known[faults]


def experiments(backend: Backend, vectors: Sequence[Vector], mode: Mode) -> Experiments:
    """Return the experiments on a backend that has faults, when they are over."""
    predictions = Predictions(lambda _: {})
    run = samples_of(backend, vectors)
    failing = [sample for sample in run if sample.failed]
    conforming = [sample for sample in run if not sample.failed]
    chosen_ones = spread(failing, 240, lambda sample: sample.vector)
    failing = [sample for sample in failing if sample in chosen_ones]
    alike = Alike(failing, predictions)
    candidates = Candidates()
    if mode == "unseen":
        candidates = Candidates([fault for fault in CATALOGUE if (fault,) not in alike])
    elif mode == "unlisted":
        candidates = Candidates(left_out=alike)
    step = -(-len(conforming) // 240) or 1
    some = [sample.vector for sample in conforming[::step]]
    search = Search(failing, some, candidates, predictions, inf)
    fits, _ = search.run()
    others = [sample for number, sample in enumerate(conforming) if number % step]
    laboratory = Laboratory(InProcess(backend), lambda _: {})
    known = Knowledge(
        laboratory,
        predictions,
        failing,
        conforming[::step],
        others[:_OTHERS],
        candidates,
    )
    done = Experiments(known)
    done.on_faults(fits)
    done.on_rules()
    return done


def having(faults: Sequence[Fault], operators: Container[str] | None) -> Backend:
    """Return a backend that has faults in some operators alone; in all of them for None."""
    wrong, right = faulty(faults), faulty()

    def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Any:
        chosen = wrong if operators is None or operator in operators else right
        return chosen(operator, inputs, attributes)

    return backend


def some_operators(fault: Fault, rng: random.Random) -> list[str]:
    """Return those of one document, of one reduction or of one family, at random."""
    concerned = [operator for operator in OPERATORS.values() if fault.concerns(operator)]
    one = rng.choice(concerned)
    of = rng.choice([lambda o: o.name, lambda o: o.reduction.name, lambda o: o.family])
    return [operator.name for operator in concerned if of(operator) == of(one)]


def samples_of(backend: Backend, vectors: Sequence[Vector]) -> list[Sample]:
    """Return what a backend makes of vectors, however many."""
    return Laboratory(InProcess(backend), lambda _: {}, steps=10**9).ask(vectors)


def vectors_of(tier: str, path: str | None = None) -> list[Vector]:
    """Return the vectors of a tier, of the shipped suite or of a file."""
    with opened(path) as sources:
        return [
            vector
            for selection in chosen(sources, None, None, tier)
            for vector in vectors_in(selection.source, selection.numbers)
        ]


def judged(
    done: Experiments, backend: Backend, vectors: Sequence[Vector]
) -> tuple[str, Counter[str]]:
    """Say how good the confirmed causes are, and count what they made of other held-out cases."""
    counts: Counter[str] = Counter()
    proven = proven_by(done)
    if not proven:
        return "unknown", counts
    laboratory = Laboratory(InProcess(backend), lambda _: {}, seed=_OTHER_SEED)
    predicted = [sample for trial in proven for sample in trial.predicted]
    about = set().union(*(clauses_about(t.predicted, laboratory) for t in proven))
    near = laboratory.near([sample.vector for sample in predicted], vectors)
    # What is said of operators of which no case was predicted has to hold there as well.
    elsewhere = (
        laboratory.vector(called_on(sample.vector.case, OPERATORS[name]))
        for name in dict.fromkeys(vector.case.operator for vector in vectors)
        for sample in thinned(predicted, _ELSEWHERE)
    )
    for vector in chain(elsewhere, near):
        if counts["as predicted"] + counts["otherwise"] >= _FRESH:
            break
        # Where it is open what is right, a cause says nothing.
        if vector is not None and laboratory.open_clauses(vector) <= about:
            counts.update(_outcome(proven, sample) for sample in laboratory.ask([vector]))
    shown = sum(counts[each] for each in ("as predicted", "otherwise", "more is wrong"))
    others = counts["right"] + counts["fails"]
    if counts["otherwise"] * 100 > _MOST_WRONG * shown:
        return "wrong", counts
    is_part = (
        counts["fails"] * 100 > _MOST_WRONG * others
        or counts["more is wrong"] * 100 > _MOST_WRONG * shown
    )
    return ("partly" if is_part else "right"), counts


def proven_by(done: Experiments) -> list[Trial]:
    """Return the causes that a report calls confirmed."""
    return [trial for trial in done.confirmed if not done.proof(trial).missing]


def _outcome(proven: Sequence[Trial], sample: Sample) -> str:
    showing = [trial for trial in proven if trial.fails(sample.vector)]
    if not showing:
        return "fails" if sample.failed else "right"
    hidden = sample.outputs is None or any(_may_hide(each, sample) for each in showing)
    if not sample.failed and hidden:
        return "says nothing"
    if len(showing) > 1 or showing[0].predicts(sample):
        return "as predicted"
    (cause,) = showing
    faults = cause.claim.faults
    in_part = bool(faults) and cause.predictions.reproduces_in_part(faults, sample)
    return "more is wrong" if in_part else "otherwise"


def _may_hide(trial: Trial, sample: Sample) -> bool:
    """Say whether a backend may be right though it does as supposed: values may be equal."""
    claim = trial.claim
    if not claim.is_of_elements or not trial.predictions.may_hide(claim, sample.vector):
        return False
    return not claim.is_whole or not tells_elements_apart(sample)


def main() -> None:
    """Measure and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("vectors", nargs="?", type=Path)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--some", action="store_true", help="in some operators alone")
    parser.add_argument("--mode", choices=_MODES, action="append", help="all, if none is given")
    options = parser.parse_args()
    path = None if options.vectors is None else str(options.vectors)
    smoke, standard = (vectors_of(tier, path) for tier in ("smoke", "standard"))
    rng = random.Random(options.seed)
    alone = [fault for fault in CATALOGUE if not fault.remembers and fault.operators]
    for mode in options.mode or _MODES:
        rates: Counter[str] = Counter()
        seconds: list[float] = []
        for fault in islice(iter(lambda: rng.choice(alone), None), options.faults):
            faults = [fault]
            if mode == "pairs":
                faults.append(rng.choice([f for f in alone if f.step != fault.step]))
            operators = some_operators(fault, rng) if options.some else None
            backend = having(faults, operators)
            failed = sum(sample.failed for sample in samples_of(backend, smoke))
            vectors = smoke if failed >= _FEWEST else standard
            started = time.perf_counter()
            done = experiments(backend, vectors, mode)
            seconds.append(time.perf_counter() - started)
            rate, counts = judged(done, backend, vectors)
            rates[rate] += 1
            names = " + ".join(fault.name for fault in faults)
            if operators:
                names += f" in {', '.join(operators)}"
            said = "; ".join(trial.claim.words for trial in proven_by(done))
            print(f"{mode}: {names}: {rate}, {dict(counts)}: {said}", flush=True)
        told = ", ".join(f"{rate} {count}" for rate, count in rates.most_common())
        print(f"{mode}, of {options.faults}: {told}; {statistics.median(seconds):.1f} s typical")


if __name__ == "__main__":
    main()
