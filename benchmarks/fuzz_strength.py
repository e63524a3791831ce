"""How many drawn cases it takes `conformance fuzz` to meet each fault of the catalogue.

    python benchmarks/fuzz_strength.py [--seeds 3] [--examples 1500] [--missed]

The cases are those that the search runs of a right backend, operator by operator: a backend with a
fault is given the same ones up to its first failure. Every fault is planted alone, and found by
the first case with an answer that conforms under no reading; where there is none, by the first
count of cases, of those in the table, whose readings contradict each other. Of several seeds, the
median counts. Nothing is shrunk or diagnosed.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from conformance.api.strength import strength
from conformance.backends import Backend
from conformance.cases.sweep.sweep_model import case_of
from conformance.faults import CATALOGUE, Fault, faulty
from conformance.faults.baseline import Baseline, PlantedFaults, outputs_or_none, right_operator
from conformance.fuzz import fuzz
from conformance.judging.judge import accepts
from conformance.operators import OPERATORS, vector_of
from conformance.vector import Array, Outputs, Vector

COUNTS = (100, 300, 1000, 1500)

Needed = dict[tuple[str, str], list[float]]  # operator, fault: cases of each seed, inf for none


class Recorder:
    """A right backend that keeps the cases it is given."""

    def __init__(self) -> None:
        self.vectors: list[Vector] = []
        self._right: Backend = faulty()

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Compute a case as the documents say."""
        case = case_of(operator, attributes, tuple(inputs), pattern="drawn")
        self.vectors.append(vector_of(case))
        return self._right(operator, inputs, attributes)


def drawn(operator: str, examples: int, seed: int) -> tuple[list[Vector], float]:
    """Return the cases a search runs, and the seconds it takes."""
    recorder = Recorder()
    report = fuzz(recorder, operators=[operator], max_examples=examples, seed=seed)
    assert report.ok, "a right backend failed"
    return recorder.vectors, report.seconds


def needed(
    operator: str, vectors: Sequence[Vector], faults: Sequence[Fault], counts: Sequence[int]
) -> Iterator[tuple[Fault, float]]:
    """Yield how many cases it takes to find each fault."""
    right = right_operator(operator, None)
    baselines = [Baseline(vector.case, right) for vector in vectors]
    for fault in faults:
        planted = PlantedFaults((fault,), operator)
        for place, (vector, baseline) in enumerate(zip(vectors, baselines, strict=True), 1):
            got = planted.answer(baseline)
            if got is not None and not accepts(vector, outputs_or_none(got)):
                yield fault, place
                break
        else:
            yield fault, next((n for n in counts if _contradicts(fault, vectors[:n])), math.inf)


def _contradicts(fault: Fault, vectors: Sequence[Vector]) -> bool:
    return not strength(vectors, tier="exhaustive", faults=[fault]).missed


def measure(counts: Sequence[int], seeds: int, progress: Progress) -> tuple[Needed, float]:
    """Return the cases that every fault takes, and how many are run in a second."""
    found: Needed = {}
    run, seconds = 0, 0.0
    for operator in OPERATORS:
        faults = [fault for fault in CATALOGUE if fault.concerns(OPERATORS[operator])]
        task = progress.add_task(operator, total=seeds * len(faults))
        for seed in range(1, seeds + 1):
            vectors, took = drawn(operator, counts[-1], seed)
            run, seconds = run + len(vectors), seconds + took
            for fault, cases in needed(operator, vectors, faults, counts):
                found.setdefault((operator, fault.name), []).append(cases)
                progress.advance(task)
    return found, run / seconds


def table_of(medians: Mapping[tuple[str, str], float], counts: Sequence[int]) -> Table:
    """Return one row per operator."""
    table = Table(title="faults found, by the number of cases drawn")
    table.add_column("operator")
    for title in ("faults", "half of them by", *(f"{count:,} cases" for count in counts)):
        table.add_column(title, justify="right")
    for name in (*OPERATORS, "all"):
        of_it = [n for (operator, _), n in medians.items() if name in (operator, "all")]
        shares = [sum(n <= count for n in of_it) for count in counts]
        table.add_row(
            name,
            str(len(of_it)),
            f"{statistics.median(of_it):.0f}",
            *(f"{caught} ({caught / len(of_it):.1%})" for caught in shares),
        )
    return table


def main() -> None:
    """Measure and print one table, and what is not found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="searches of each operator")
    parser.add_argument("--examples", type=int, default=COUNTS[-1], help="cases of each search")
    parser.add_argument("--missed", action="store_true", help="name what needs above 300 cases")
    options = parser.parse_args()
    counts = (*(n for n in COUNTS if n < options.examples), options.examples)
    console = Console(width=120, highlight=False)
    began = time.perf_counter()
    with Progress(transient=True, disable=not console.is_terminal) as progress:
        found, speed = measure(counts, options.seeds, progress)
    medians = {pair: statistics.median(each) for pair, each in found.items()}
    console.print(table_of(medians, counts))
    late = sorted((n, pair) for pair, n in medians.items() if n > 300)
    for n, (operator, fault) in late if options.missed else ():
        each = ", ".join(map(str, found[operator, fault]))
        console.print(f"{n:>6} {operator} {fault}  ({each})", soft_wrap=True)
    never = [pair for pair, n in medians.items() if math.isinf(n)]
    console.print(f"not found: {len(never)} of {len(medians)}")
    console.print(f"{speed:.0f} cases a second, {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
