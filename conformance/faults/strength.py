"""How strong vectors are: which wrong behaviours they catch, and how few cells it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

from conformance.batch import vector_at
from conformance.check import check
from conformance.check.report import FAILURES
from conformance.check.sources import Selection, Vectors, chosen, opened
from conformance.faults.acceptance import accepted
from conformance.faults.baseline import Baseline, PlantedFaults, Raised, right_operator
from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault, faulty
from conformance.operators import OPERATORS
from conformance.vector import Vector

Progress = Callable[[int, int], None]


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
        mine = [catch for catch in self.catches if catch.operator == operator]
        return sum(catch.caught for catch in mine), len(mine)


def strength(
    vectors: Vectors = None,
    *,
    operators: Sequence[str] | None = None,
    tier: str = "standard",
    faults: Sequence[Fault] | None = None,
    idle: bool = False,
    progress: Progress | None = None,
) -> Strength:
    """Plant every fault alone in every operator that may have it and see what catches it.

    `vectors`, `operators` and `tier` are those of `check`, `faults` the whole catalogue by
    default. `idle` also finds the vectors that add nothing, which takes a run of every fault over
    every vector. `progress(done, total)` is called once per fault and operator. A fault is caught
    when an answer of a backend that has it conforms under no reading, or its answers under no one
    reading per clause.
    """
    faults = CATALOGUE if faults is None else faults
    started = perf_counter()
    catches: list[Catch] = []
    counts: dict[str, int] = {}
    coverage: dict[str, Mapping[str, Any]] = {}
    adding: set[str] = set()
    every: list[str] = []
    with opened(vectors) as sources:
        selections = chosen(sources, operators, None, tier)
        concerned = [OPERATORS[selection.source.operator] for selection in selections]
        total = sum(fault.concerns(operator) for operator in concerned for fault in faults)
        for selection in selections:
            name = selection.source.operator
            counts[name] = len(selection.numbers)
            header = getattr(selection.source, "header", {})
            coverage[name] = dict(header.get("coverage", {}))
            right = right_operator(name, None)
            tried = [
                _Tried(vector, Baseline(vector.case, right)) for vector in vectors_of(selection)
            ]
            smallest_first = sorted(tried, key=lambda pair: pair.baseline.cells)
            every += [vector.case.id for vector, _ in tried]
            for fault in faults:
                if not fault.concerns(OPERATORS[name]):
                    continue
                # What a fault remembers depends on the order of calls: that of the file.
                order = tried if fault.remembers else smallest_first
                catch, catching = _catch(fault, name, order, through=idle)
                if catch.vector is None:
                    catch = _as_a_whole(catch, fault, [vector for vector, _ in tried])
                catches.append(catch)
                adding.update(catching)
                if progress is not None:
                    progress(len(catches), total)
    return Strength(
        tuple(catches),
        counts,
        coverage,
        perf_counter() - started,
        tuple(vector for vector in every if vector not in adding) if idle else None,
    )


def vectors_of(selection: Selection) -> Iterator[Vector]:
    """Yield the selected vectors as objects, in the order of their file."""
    for batch in selection.source.batches(selection.numbers):
        for index in range(len(batch)):
            yield vector_at(batch, index)


class _Tried(NamedTuple):
    vector: Vector
    baseline: Baseline


def _catch(
    fault: Fault, operator: str, tried: Sequence[_Tried], *, through: bool
) -> tuple[Catch, list[str]]:
    """Return the first vector that catches a fault and, with `through`, all as small."""
    planted = PlantedFaults((fault,), operator)
    catch = Catch(fault.name, operator)
    catching: list[str] = []
    for vector, baseline in tried:
        if catch.vector is not None and (fault.remembers or baseline.cells > catch.cells):
            break
        got = planted.answer(baseline)
        if got is None or accepted(vector, None if isinstance(got, Raised) else got):
            continue
        catching.append(vector.case.id)
        catch = Catch(fault.name, operator, catch.vector or vector.case.id, baseline.cells)
        if not through:
            break
    return catch, catching


def _as_a_whole(catch: Catch, fault: Fault, vectors: Sequence[Vector]) -> Catch:
    """Judge a whole run: its answers must agree on the readings."""
    report = check(faulty(fault), vectors, tier="exhaustive")
    failed = {result.id for result in report.results if result.verdict in FAILURES}
    if failed:
        # An exception is right only under a reading that the other vectors rule out.
        cells, name = min(
            (sum(array.size for array in vector.case.inputs), vector.case.id)
            for vector in vectors
            if vector.case.id in failed
        )
        return replace(catch, vector=name, cells=cells)
    for clause in report.readings:
        if clause.status == "inconsistent":
            return replace(catch, inconsistent=clause.clause)
    return catch
