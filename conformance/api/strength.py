"""How strong vectors are: which wrong behaviours they catch, and how few cells it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from time import perf_counter
from typing import Any

from conformance.api.check import CheckPlan, run
from conformance.backends.runner import InProcess
from conformance.batch import Ints
from conformance.executors import completed
from conformance.faults.baseline import Baseline, PlantedFaults, outputs_or_none, right_operator
from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault
from conformance.faults.planted import faulty
from conformance.judging.judge import accepts
from conformance.operators import OPERATORS
from conformance.operators.needs import has
from conformance.operators.operator import Operator
from conformance.progress import Counts
from conformance.settings import Settings
from conformance.vector import Outputs, Vector
from conformance.vectorfile.sources import (
    Source,
    Vectors,
    chosen,
    opened,
    vectors_in,
)


@dataclass(frozen=True, slots=True)
class Catch:
    """What happened to one fault in one operator.

    `vector` is the id of the smallest vector that catches it, `cells` the cells of that vector's
    inputs; None and 0 where no single vector does. `inconsistent` names the clause whose readings
    contradict each other where only the run as a whole tells.
    """

    fault: str
    operator: str
    vector: str | None = None
    cells: int = 0
    inconsistent: str = ""

    @property
    def caught(self) -> bool:
        """Whether a run of the checker would not be ok."""
        return self.vector is not None or bool(self.inconsistent)


@dataclass(frozen=True, slots=True, eq=False)
class Strength:
    """What vectors catch of a catalogue.

    `catches` has an entry per fault and operator that may have it. `vectors` counts per
    operator; `coverage` holds, per operator and covering array, the counts of t-way interactions
    that a vector file states (strength, feasible, covered, infeasible). `idle` are the vectors
    that catch no fault that a smaller one does not catch, None where that was not asked for.
    """

    catches: tuple[Catch, ...]
    vectors: Mapping[str, int]
    coverage: Mapping[str, Mapping[str, Any]]
    seconds: float
    idle: tuple[str, ...] | None = None

    @property
    def missed(self) -> tuple[Catch, ...]:
        """The faults that are not caught, per operator."""
        return tuple(catch for catch in self.catches if not catch.caught)

    @property
    def faults(self) -> tuple[int, int]:
        """Faults caught in every operator that may have them, and all faults."""
        names = {catch.fault for catch in self.catches}
        return len(names - {catch.fault for catch in self.missed}), len(names)

    def of_operator(self, operator: str) -> tuple[int, int]:
        """Return the faults caught in an operator, and those it may have."""
        catches = [catch for catch in self.catches if catch.operator == operator]
        return sum(catch.caught for catch in catches), len(catches)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """An operator in which a process plants faults, and vectors of it that may catch them."""

    source: Source
    numbers: Ints
    faults: tuple[str, ...]
    idle: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """What vectors of an operator catch; `adding` are those that catch most easily."""

    catches: tuple[Catch, ...]
    adding: frozenset[str]


def strength(
    vectors: Vectors = None,
    *,
    operators: Sequence[str] | None = None,
    tier: str = "standard",
    faults: Sequence[Fault] | None = None,
    idle: bool = False,
    jobs: int = 1,
    progress: Counts | None = None,
) -> Strength:
    """Plant every fault alone in every operator that may have it and see what catches it.

    `vectors`, `operators` and `tier` are those of `check`, `faults` the whole catalogue by
    default. `idle` also finds the vectors that add nothing, which takes a run of every fault over
    every vector. So many `jobs` processes share the operators, if all faults are in the catalogue.
    `progress(done, total)` counts faults and operators. A fault is caught when an answer of a
    backend that has it conforms under no reading, or its answers under no one reading per clause.
    """
    started, known = perf_counter(), faults is None
    faults = CATALOGUE if faults is None else faults
    by_name = {fault.name: fault for fault in faults}
    counts: dict[str, int] = {}
    coverage: dict[str, Mapping[str, Any]] = {}
    every: list[str] = []
    parts: list[_Part] = []
    with opened(vectors, operators) as sources:
        for selection in chosen(sources, operators, None, tier):
            source, name = selection.source, selection.source.operator
            counts[name] = len(selection.numbers)
            coverage[name] = dict(getattr(source, "header", {}).get("coverage", {}))
            every += [source.ids[number] for number in selection.numbers.tolist()]
            planted = tuple(f.name for f in faults if _may_show(f, OPERATORS[name]))
            parts.append(_Part(source, selection.numbers, planted, idle))
        measured = _each(parts, by_name, jobs if known else 1)
        found = dict(_told(measured, parts, progress))
    results = [found[part] for part in parts]
    adding = frozenset(chain.from_iterable(result.adding for result in results))
    return Strength(
        tuple(chain.from_iterable(result.catches for result in results)),
        counts,
        coverage,
        perf_counter() - started,
        tuple(vector for vector in every if vector not in adding) if idle else None,
    )


def _may_show(fault: Fault, operator: Operator) -> bool:
    """Say whether vectors of an operator are to catch a fault: those of its likes, if it has few.

    What an operator of the least levels adds to these is another number of axes, or scales.
    """
    if operator.levels != "least":
        return fault.concerns(operator)
    return operator.requantises and has("output_scale") in fault.needs and fault.concerns(operator)


def _told(
    measured: Iterable[tuple[_Part, _Measured]], parts: Sequence[_Part], progress: Counts | None
) -> Iterator[tuple[_Part, _Measured]]:
    """Pass on what is measured, and tell how many faults that were."""
    done, total = 0, sum(len(part.faults) for part in parts)
    for part, result in measured:
        done += len(part.faults)
        if progress is not None:
            progress(done, total)
        yield part, result


def _each(
    parts: Sequence[_Part], faults: Mapping[str, Fault], jobs: int
) -> Iterator[tuple[_Part, _Measured]]:
    if jobs == 1 or len(parts) == 1:
        yield from ((part, _measured(part, faults)) for part in parts)
        return
    # The longest first, so that no process has one alone at the end.
    order = sorted(parts, key=lambda part: -len(part.faults) * len(part.numbers))
    yield from completed(jobs, _measured_elsewhere, order)


def _measured_elsewhere(part: _Part) -> _Measured:
    return _measured(part, {fault.name: fault for fault in CATALOGUE})


def _measured(part: _Part, faults: Mapping[str, Fault]) -> _Measured:
    """Plant each fault in the operator of a part."""
    name = part.source.operator
    stored = list(vectors_in(part.source, part.numbers))
    planted = [faults[each] for each in part.faults]
    catching = _catching(planted, name, stored, through=part.idle)
    catches = []
    for fault in planted:
        catch = Catch(fault.name, name)
        caught = catching[fault.name]
        catches.append(
            _caught_by(caught[0], catch) if caught else _as_a_whole(catch, fault, stored)
        )
    adding = frozenset(v.case.id for caught in catching.values() for v in caught)
    return _Measured(tuple(catches), adding)


def _catching(
    faults: Sequence[Fault],
    operator: str,
    vectors: Sequence[Vector],
    *,
    through: bool,
) -> dict[str, list[Vector]]:
    """Return, per fault by its name, the smallest vector that catches it alone, if one does.

    With `through`, all of as few cells.
    """
    right = right_operator(operator, None)
    in_order = [(vector, Baseline(vector.case, right)) for vector in vectors]
    smallest_first = sorted(in_order, key=lambda pair: cells_of(pair[0]))
    catching: dict[str, list[Vector]] = {fault.name: [] for fault in faults}

    def may_add(planted: PlantedFaults, vector: Vector) -> bool:
        caught = catching[planted.faults[0].name]
        if not caught:
            return True
        return through and not planted.remembers and cells_of(vector) <= cells_of(caught[0])

    # What a fault remembers depends on the order of calls: that of the file.
    for remembers, tried in ((False, smallest_first), (True, in_order)):
        left = [
            PlantedFaults((fault,), operator) for fault in faults if fault.remembers == remembers
        ]
        for vector, baseline in tried:
            left = [planted for planted in left if may_add(planted, vector)]
            for name in not_conforming(left, vector, baseline):
                catching[name].append(vector)
    return catching


def not_conforming(
    planted: Sequence[PlantedFaults], vector: Vector, baseline: Baseline
) -> list[str]:
    """Return the names of the faults with which the answer to a vector does not conform."""
    answers = {
        fault.faults[0].name: outputs_or_none(answer)
        for fault in planted
        if (answer := fault.answer(baseline)) is not None
    }
    return not_accepted(vector, answers)


def not_accepted(vector: Vector, answers: Mapping[str, Outputs | None]) -> list[str]:
    """Return the names of the answers to a vector, None for an exception, that do not conform."""
    return [name for name, outputs in answers.items() if not accepts(vector, outputs)]


def cells_of(vector: Vector) -> int:
    """Return how many cells the inputs of a vector have."""
    return sum(array.size for array in vector.case.inputs)


def _caught_by(vector: Vector, catch: Catch) -> Catch:
    return replace(catch, vector=vector.case.id, cells=cells_of(vector))


def _as_a_whole(catch: Catch, fault: Fault, vectors: Sequence[Vector]) -> Catch:
    """Judge a whole run: its answers must agree on the readings."""
    plan = CheckPlan.of(Settings(tier="exhaustive"))
    report = run(InProcess(faulty(fault)), vectors, plan, name=fault.name)
    failed = {result.id for result in report.results if result.verdict in report.failing}
    if failed:
        # An exception is right only under a reading that the other vectors rule out.
        failing = [vector for vector in vectors if vector.case.id in failed]
        return _caught_by(min(failing, key=lambda v: (cells_of(v), v.case.id)), catch)
    for clause in report.readings:
        if clause.status == "inconsistent":
            return replace(catch, inconsistent=clause.clause)
    return catch
