"""Chooses vectors for the smoke tier by what they catch: `python -m benchmarks.choose_smoke`.

Of the cases that belong to no covering array, those that catch most faults of the catalogue that
the rest of the smoke tier misses, and then those of other kinds of numbers, one after the other.
Writes their names into the list that the sweep reads; about ten minutes.

With --enumerated OPERATOR, names are added to the list until the smoke tier of that operator
catches its share of all faults that atoms enumerate; a few minutes each.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path

from benchmarks.choose_draws import suite
from conformance.api.enumerated_strength import Catching
from conformance.api.strength import cells_of, not_accepted
from conformance.cases.sweep import collect, of_no_array, smoke_choice
from conformance.cases.sweep.sweep_model import cases_of
from conformance.dtypes import name_of
from conformance.faults import CATALOGUE, Fault
from conformance.faults.baseline import Baseline, PlantedFaults, outputs_or_none, right_operator
from conformance.operators import OPERATORS, vector_of
from conformance.vector import Case, Vector

MOST, MOST_OF_GRADIENTS, MOST_OF_SCALED = 14, 5, 40
"""Vectors that are chosen of an operator, at most: more of one with scales, which has no others."""
LARGEST, LARGEST_OF_SCALED = 700, 1500
"""Elements of their inputs, at most."""
OF_A_KIND = 0.2
"""What a type with a pattern that smoke has not yet is worth, in faults."""
SHARE = 0.92
"""What smoke is to catch of the enumerated faults that the standard tier catches."""


def caught(operator: str, faults: Iterable[Fault], vectors: Sequence[Vector]) -> set[str]:
    """Return the names of the faults that some of the vectors catch, called one after the other."""
    right = right_operator(operator, None)
    left = {fault.name: PlantedFaults((fault,), operator) for fault in faults}
    names = set()
    for vector in vectors:
        baseline = Baseline(vector.case, right)
        answers = {
            name: outputs_or_none(answer)
            for name, planted in left.items()
            if (answer := planted.answer(baseline)) is not None
        }
        for name in not_accepted(vector, answers):
            names.add(name)
            del left[name]
    return names


def id_without_digest(case: Case) -> str:
    """Return the name of a case, which does not depend on the seed."""
    return case.id.rpartition("-")[0]


def units(operator: str) -> Iterator[tuple[Case, ...]]:
    """Yield what may be chosen: small cases, and two of them that are taken for one another."""
    largest = LARGEST_OF_SCALED if OPERATORS[operator].requantises else LARGEST
    small = [
        case
        for case in cases_of(of_no_array(OPERATORS[operator]))
        if sum(array.size for array in case.inputs) <= largest and case.tier == "standard"
    ]
    yield from {
        (case.tags, case.pattern, name_of(case.data.dtype), "kind" in case.tags[0] and case.id): (
            case,
        )
        for case in small
        if case.tags
    }.values()
    yield from (
        pair
        for pair in pairwise(small)
        if pair[0].tags == pair[1].tags and pair[0].tags[:1] and "one another" in pair[0].tags[0]
    )
    base: Case | None = None
    for case in small:
        if "one thing apart" not in case.tags:
            base = None
        elif base is None:
            base = case
        else:
            yield (base, case)


def choice(operator: str) -> list[str]:
    """Return the names of the cases that are chosen of an operator."""
    smoke = [vector_of(case) for case in collect(operator, tier="smoke", strength=3, seed=0).cases]
    smoke = [vector for vector in smoke if id_without_digest(vector.case) not in smoke_choice.NAMES]
    faults = [fault for fault in CATALOGUE if fault.concerns(OPERATORS[operator])]
    missed = {fault.name for fault in faults} - caught(operator, faults, smoke)
    kinds = {(name_of(v.case.data.dtype), v.case.pattern) for v in smoke}
    catches: dict[tuple[Case, ...], set[object]] = {}
    for unit in units(operator):
        alone = [f for f in faults if f.name in missed and f.remembers == (len(unit) > 1)]
        own = {(name_of(case.data.dtype), case.pattern) for case in unit} - kinds
        catches[unit] = {*caught(operator, alone, [vector_of(case) for case in unit]), *own}
    names: dict[str, None] = {}
    done: set[object] = set()
    while catches:
        worth = {
            unit: sum(OF_A_KIND if isinstance(each, tuple) else 1.0 for each in new - done)
            / max(1, sum(id_without_digest(case) not in names for case in unit))
            for unit, new in catches.items()
        }
        best = max(worth, key=lambda unit: (worth[unit], -sum(case.data.size for case in unit)))
        most = MOST_OF_GRADIENTS if OPERATORS[operator].is_gradient else MOST
        most = MOST_OF_SCALED if OPERATORS[operator].requantises else most
        if not worth[best] or len(names) + len(best) > most:
            break
        names |= dict.fromkeys(map(id_without_digest, best))
        done |= catches.pop(best)
    print(f"{operator}: {len(names)}, catching {len(done & missed)} of {len(missed)}", flush=True)
    return list(names)


def adding(operator: str) -> list[str]:
    """Return the names of the cases with which smoke catches its share of enumerated faults."""
    catching = Catching.of(operator)
    faults = [*catching.planted]
    vectors = suite(operator)
    smoke: set[str] = set()
    for vector in vectors:
        caught = catching.caught(vector)
        smoke |= caught if vector.case.tier == "smoke" else set()
    shown = {name for name in faults if catching.shapes[name]}
    catching = Catching.of(operator)
    catching.planted = {name: catching.planted[name] for name in shown - smoke}
    listed = {id_without_digest(case) for case in cases_of(of_no_array(OPERATORS[operator]))}
    catches = {
        id_without_digest(vector.case): catching.caught(vector, enough=len(vectors))
        for vector in vectors
        if vector.case.tier != "smoke" and cells_of(vector) <= LARGEST
    }
    catches = {name: caught for name, caught in catches.items() if name in listed}
    names: list[str] = []
    while catches and len(smoke) < SHARE * len(shown):
        best = max(catches, key=lambda name: len(catches[name] - smoke))
        smoke |= catches.pop(best)
        names.append(best)
    print(f"{operator}: {len(names)} more, {len(smoke)} of {len(shown)} faults", flush=True)
    return names


def main() -> None:
    """Choose, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--enumerated", metavar="OPERATOR", nargs="+", default=[])
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.enumerated:
            more = (name for each in pool.map(adding, options.enumerated) for name in each)
            names = [*Path(smoke_choice.LIST).read_text(encoding="utf-8").split(), *more]
        else:
            names = [name for each in pool.map(choice, OPERATORS) for name in each]
    Path(smoke_choice.LIST).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


if __name__ == "__main__":
    main()
