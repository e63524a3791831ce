"""How often a planted fault is named first, and how often both of two planted faults are.

    python benchmarks/diagnosis_rate.py [VECTORS] [--tier standard] [--pairs 100] [--every 1]

Each fault of the catalogue is planted alone in a right backend, its answers to all vectors are
judged, and the mismatches are diagnosed. A fault counts as found where it comes first, or where
the one that does cannot be told from it by any vector. Then random pairs of faults of different
steps that share an operator are planted together.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from conformance.diagnosis.likely_causes import diagnose
from conformance.faults import CATALOGUE, Fault
from conformance.faults.baseline import Answer, Baseline, PlantedFaults, Raised, right_operator
from conformance.judging.judge import accepted
from conformance.operators import OPERATORS
from conformance.record.report import Diagnosis
from conformance.vector import Outputs, Vector
from conformance.vectorfile.sources import chosen, opened, vectors_in

Planted = tuple[list[tuple[Vector, Outputs | None]], list[Vector]]


class Bench:
    """Vectors by operator, each with what a right backend makes of it."""

    def __init__(self, path: str | None, tier: str) -> None:
        self._baselines: dict[str, list[tuple[Vector, Baseline]]] = {}
        with opened(path) as sources:
            for selection in chosen(sources, None, None, tier):
                name = selection.source.operator
                right = right_operator(name, None)
                self._baselines[name] = [
                    (vector, Baseline(vector.case, right))
                    for vector in vectors_in(selection.source, selection.numbers)
                ]

    def answers(self, faults: Sequence[Fault]) -> dict[str, Answer | None]:
        """Return what faults make of every vector, None where it is right."""
        found: dict[str, Answer | None] = {}
        for name, baselines in self._baselines.items():
            here = tuple(fault for fault in faults if fault.concerns(OPERATORS[name]))
            if not here:
                continue
            planted = PlantedFaults(here, name)
            for vector, baseline in baselines:
                found[vector.case.id] = planted.answer(baseline)
        return found

    def planted(self, faults: Sequence[Fault]) -> Planted:
        """Return the mismatches of a backend with faults, and the vectors that conform."""
        answers = self.answers(faults)
        wrong: list[tuple[Vector, Outputs | None]] = []
        right: list[Vector] = []
        for baselines in self._baselines.values():
            for vector, _ in baselines:
                if vector.case.id not in answers:
                    continue
                answer = answers[vector.case.id]
                output = None if isinstance(answer, Raised) else answer
                if answer is None or accepted([vector], [output])[0]:
                    right.append(vector)
                else:
                    wrong.append((vector, output))
        return wrong, right

    @cache  # noqa: B019 - lives as long as the script
    def fingerprint(self, fault: Fault, names: frozenset[str]) -> tuple[object, ...]:
        """Return all answers of a fault, to be compared with those of another."""
        return tuple(
            _key(answer)
            for vector, answer in self.answers([fault]).items()
            if vector.split("/")[0] in names
        )


def _key(answer: Answer | None) -> object:
    if answer is None or isinstance(answer, Raised):
        return None if answer is None else "raised"
    return tuple(output.tobytes() for output in answer)


def same(bench: Bench, one: Fault, other: Fault) -> bool:
    """Say whether no vector tells two faults apart where both may occur."""
    names = frozenset(one.operators)
    if not names <= set(other.operators):
        return False
    return bench.fingerprint(one, names) == bench.fingerprint(other, names)


def diagnosed(bench: Bench, faults: Sequence[Fault]) -> tuple[list[Diagnosis], int, float]:
    """Diagnose a backend with faults: diagnoses, mismatches, seconds."""
    wrong, right = bench.planted(faults)
    started = time.perf_counter()
    return diagnose(wrong, right, {}), len(wrong), time.perf_counter() - started


def main() -> None:
    """Measure and print both rates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("vectors", nargs="?", type=Path)
    parser.add_argument("--tier", default="standard")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--every", type=int, default=1, help="only every n-th fault alone")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bench = Bench(None if options.vectors is None else str(options.vectors), options.tier)
    faults = {fault.name: fault for fault in CATALOGUE}
    times: dict[str, float] = {}

    found, missed = 0, []
    alone = [fault for fault in CATALOGUE if not fault.remembers][:: options.every]
    for fault in alone:
        diagnoses, mismatches, times[fault.name] = diagnosed(bench, [fault])
        print(f"{fault.name}: {times[fault.name]:.1f} s", file=sys.stderr)
        first = diagnoses[0].faults if diagnoses else ()
        if first == (fault.name,) or (len(first) == 1 and same(bench, fault, faults[first[0]])):
            found += 1
        else:
            missed.append((fault.name, first, mismatches))
    print(f"alone: {found} of {len(alone)} named first ({found / len(alone):.1%})")
    for name, first, mismatches in missed:
        print(f"  {name}: {', '.join(first) or 'unknown'} ({mismatches} mismatches)")

    rng = random.Random(options.seed)
    both, tried, missed_pairs = 0, 0, []
    while tried < options.pairs:
        one, other = rng.sample(alone, 2)
        if one.step == other.step or not set(one.operators) & set(other.operators):
            continue
        tried += 1
        both_names = f"{one.name} + {other.name}"
        diagnoses, mismatches, times[both_names] = diagnosed(bench, [one, other])
        print(f"{both_names}: {times[both_names]:.1f} s", file=sys.stderr)
        named = {name for diagnosis in diagnoses for name in diagnosis.faults}
        if all(
            fault.name in named or any(same(bench, fault, faults[name]) for name in named)
            for fault in (one, other)
        ):
            both += 1
        else:
            missed_pairs.append((both_names, named, mismatches))
    if tried:
        print(f"pairs: both named in {both} of {tried} ({both / tried:.1%})")
    for both_names, named, mismatches in missed_pairs:
        print(f"  {both_names}: {sorted(named)} ({mismatches} mismatches)")
    slowest = max(times, key=lambda name: times[name])
    typical = statistics.median(times.values())
    print(f"seconds: {typical:.1f} typical, {times[slowest]:.1f} at most ({slowest})")


if __name__ == "__main__":
    main()
