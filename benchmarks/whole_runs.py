"""How many of a backend's faults a whole run names, and how many of the causes named are false.

    python -m benchmarks.whole_runs [--runs 40] [--faults 1] [--most 1] [--seen] [--unseen]
    python -m benchmarks.whole_runs --by-hand

Faults of the catalogue, some at once, are planted in a right backend, and the smoke tier of all
operators is checked as a user does, or with causes from recorded answers alone where they are to
be of those `--seen`. With --unseen, the catalogue is without what reproduces half of the failures
or more: the fault itself and its like. Vectors of the standard tier that are not of smoke say what
causes are worth, which were found without them: one that predicts those wrong is false. A fault is
named if causes that are confirmed, where something was called, and not false explain half or more
of the failures in which it shows and no other fault does. With --by-hand, backends with two bugs
each are taken instead, which are written in two_bugs.py without a fault of ours; a bug is named
likewise.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from functools import partial
from unittest.mock import patch

from benchmarks.diagnosis_proof import Alike, samples_of, vectors_of
from benchmarks.two_bugs import BACKENDS
from conformance.api.check import check
from conformance.backends import Backend
from conformance.diagnosis import of_report
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.features import thinned, weight
from conformance.diagnosis.limits import LIGHT
from conformance.diagnosis.named_causes import cause_named
from conformance.diagnosis.predictions import Predictions
from conformance.faults import CATALOGUE, Fault, faulty
from conformance.record.report import Diagnosis
from conformance.settings import Diagnosing
from conformance.vector import Vector

_HELD_AGAINST = 60
"""Vectors of each operator that a cause is held against, at most."""
_MOST_WRONG = 5
"""Of 100 vectors on which a cause shows, those at most on which it is not as it says."""

Parts = Mapping[str, Backend]
"""Backends with one bug each, by what is wrong with it."""


def is_false(claim: Claim, backend: Backend, vectors: Sequence[Vector], *, alone: bool) -> bool:
    """Say whether a cause is not what a backend does, in vectors that it was not found by.

    What fails there has to fail as it says, if it is of the only bug, `alone`.
    """
    predictions = Predictions(lambda _: {})
    shown = wrong = 0
    for sample in samples_of(backend, vectors):
        if predictions.fails(claim, sample.vector):
            shown += 1
            wrong += not (sample.failed and (not alone or predictions.explains(claim, sample)))
    return 100 * wrong > _MOST_WRONG * shown


def failures_of(backend: Backend, vectors: Sequence[Vector]) -> set[str]:
    """Return the ids of the vectors that a backend fails."""
    return {sample.vector.case.id for sample in samples_of(backend, vectors) if sample.failed}


def without_like(parts: Parts, vectors: Sequence[Vector]) -> list[Fault]:
    """Return the catalogue without faults that reproduce half of what a part fails, or more."""
    predictions = Predictions(lambda _: {})
    failed = [[s for s in samples_of(part, vectors) if s.failed] for part in parts.values()]
    alike = [Alike(samples, predictions) for samples in failed if samples]
    return [fault for fault in CATALOGUE if not any((fault,) in each for each in alike)]


def measured(
    parts: Parts,
    backend: Backend,
    smoke: Sequence[Vector],
    others: Mapping[str, Sequence[Vector]],
    *,
    unseen: bool,
    diagnose: Diagnosing,
) -> tuple[list[str], list[Diagnosis], list[Diagnosis]]:
    """Check a backend with vectors; return which of its bugs are named, true causes and false ones.

    `others` are vectors of each operator that causes are held against.
    """
    catalogue = without_like(parts, smoke) if unseen else CATALOGUE
    with patch.object(of_report, "Candidates", partial(Candidates, catalogue)):
        report = check(backend, smoke, variations="none", diagnose_seconds=None, diagnose=diagnose)
    causes = [each for each in report.diagnoses if each.is_known]
    if diagnose != "seen":
        causes = [each for each in causes if each.is_confirmed]

    def is_wrong(cause: Diagnosis) -> bool:
        if not cause.named:  # no word says it, so that it could be held against anything
            return False
        vectors = [vector for name in cause.operators for vector in others.get(name, ())]
        return is_false(cause_named(cause.named), backend, vectors, alone=len(parts) == 1)

    false = [each for each in causes if is_wrong(each)]
    true = [each for each in causes if each not in false]
    explained = {name for each in true for name in each.vectors}
    failed = {result.id for result in report.results if result.verdict in report.failing}
    showing = {said: failures_of(part, smoke) & failed for said, part in parts.items()}
    named = []
    for said, shown in showing.items():
        rest = set().union(*(other for name, other in showing.items() if name != said))
        alone = shown - rest or shown
        if alone and 2 * len(alone & explained) >= len(alone):
            named.append(said)
    return named, true, false


def planted(rng: random.Random, least: int, most: int) -> tuple[Parts, Backend]:
    """Return backends with one of some faults each, drawn at random, and one with all of them."""
    some = rng.sample([f for f in CATALOGUE if not f.remembers], rng.randint(least, most))
    return {fault.name: faulty(fault) for fault in some}, faulty(some)


def main() -> None:
    """Measure and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--faults", type=int, default=1, help="at least so many at once")
    parser.add_argument("--most", type=int, default=0, help="and at most so many")
    parser.add_argument("--seen", action="store_true", help="nothing is called for causes")
    parser.add_argument("--unseen", action="store_true", help="the catalogue has none like them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--by-hand", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    smoke = vectors_of("smoke")
    ids = {vector.case.id for vector in smoke}
    others: dict[str, list[Vector]] = {}
    for vector in vectors_of("standard"):
        if vector.case.id not in ids and weight(vector) <= LIGHT:
            others.setdefault(vector.case.operator, []).append(vector)
    others = {name: [*thinned(vectors, _HELD_AGAINST)] for name, vectors in others.items()}
    backends = BACKENDS
    if not options.by_hand:
        most = max(options.faults, options.most)
        backends = [planted(rng, options.faults, most) for _ in range(options.runs)]
    named = bugs = false = whole = 0
    times = []
    for parts, backend in backends:
        began = time.perf_counter()
        found, true, wrong = measured(
            parts,
            backend,
            smoke,
            others,
            unseen=options.unseen,
            diagnose="seen" if options.seen else "proven",
        )
        times.append(time.perf_counter() - began)
        named, bugs = named + len(found), bugs + len(parts)
        false, whole = false + len(wrong), whole + (len(found) == len(parts))
        missed = [said for said in parts if said not in found]
        said = f"{len(found)} of {len(parts)} named, {len(wrong)} false, {times[-1]:.0f} s"
        print(f"{said}: {', '.join(parts)}" + (f"; missed: {', '.join(missed)}" if missed else ""))
        for each in (*true, *wrong) if missed or wrong or options.by_hand else ():
            where = f", where {each.condition}" if each.condition else ""
            note = "FALSE: " if each in wrong else ""
            print(
                f"    {note}{each.explained} of {each.total}: {each.behaviour}{where}", flush=True
            )
    said = f"{named} of {bugs} bugs named, all of them in {whole} of {len(backends)} backends"
    print(f"{said}; {false} causes false; {statistics.median(times):.0f} s typical")


if __name__ == "__main__":
    main()
