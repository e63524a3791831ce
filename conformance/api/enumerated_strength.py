"""How strong vectors are against every fault that atoms enumerate: in how many shapes each shows.

The catalogue holds the wrong behaviours that people have met; atoms say thousands more, each a step
of an operator done wrong in one way. Vectors that catch each of these in a few shapes are adequate
for all that one can say with the atoms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby

from conformance.api.strength import not_accepted
from conformance.batch import Ints
from conformance.cases.sweep.random_draws import draw
from conformance.cases.sweep.sweep_model import build, has_one_answer
from conformance.dtypes import FLOATS8, name_of
from conformance.errors import InvalidCase
from conformance.executors import shared
from conformance.faults.atoms import enumerated
from conformance.faults.baseline import Baseline, PlantedFaults, outputs_or_none, right_operator
from conformance.faults.planted import FaultyOperator
from conformance.operators import OPERATORS, vector_of
from conformance.progress import Counts
from conformance.vector import Raises, Vector
from conformance.vectorfile.sources import Source, Vectors, chosen, opened, vectors_in

SHAPES = 3
"""A fault that is caught in so many shapes is caught well."""
_PATIENCE = 150
"""Vectors of about one size on which a fault is tried that changes no answer: most cannot show."""
_FIRST_DRAW = 1_000_000
"""Random draws that nothing in the suite was chosen from begin here."""
_Task = tuple[Source, Ints, int]
"""Vectors of a source by number, and how many draws are tried beside them."""


@dataclass(frozen=True, slots=True)
class EnumeratedStrength:
    """What vectors of an operator catch of all faults that it may have.

    `shapes` holds per fault, by its summary, in how many shapes vectors catch it, `SHAPES` at most.
    `drawn` are those that they catch in fewer, and that random cases catch, with such a case.
    """

    operator: str
    vectors: int
    shapes: Mapping[str, int]
    drawn: Mapping[str, str]

    @property
    def well(self) -> int:
        """Faults that are caught in `SHAPES` shapes."""
        return sum(count >= SHAPES for count in self.shapes.values())

    @property
    def thinly(self) -> tuple[str, ...]:
        """Faults that are caught in fewer."""
        return tuple(fault for fault, count in self.shapes.items() if 0 < count < SHAPES)

    @property
    def missed(self) -> tuple[str, ...]:
        """Faults that vectors do not catch and a random case does."""
        return tuple(fault for fault in self.drawn if not self.shapes[fault])

    @property
    def unseen(self) -> int:
        """Faults that nothing catches: most of these cannot show in the operator."""
        return sum(not count for count in self.shapes.values()) - len(self.missed)


@dataclass(slots=True)
class Catching:
    """Faults of an operator that are planted in one vector after the other.

    `shapes` are those in which each is caught, `planted` those that are not caught often enough,
    beside the `right` operator. One that changed no answer in `patience` vectors, if there is such
    a limit, is set aside as `idle`.
    """

    operator: str
    shapes: dict[str, set[object]]
    planted: dict[str, PlantedFaults]
    right: FaultyOperator
    patience: int | None = None
    idle: dict[str, PlantedFaults] = field(default_factory=dict)
    _quiet: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, operator: str) -> Catching:
        """Return all faults that an operator may have and that depend on no earlier call."""
        faults = (fault for fault in enumerated(OPERATORS[operator]) if not fault.remembers)
        planted = {fault.summary: PlantedFaults((fault,), operator) for fault in faults}
        shapes: dict[str, set[object]] = {name: set() for name in planted}
        return cls(operator, shapes, planted, right_operator(operator, None))

    def wake(self) -> None:
        """Try again what was set aside."""
        self.planted |= self.idle
        self.idle.clear()
        self._quiet.clear()

    def only(self, names: Iterable[str]) -> Catching:
        """Return some of the faults, to be tried on every vector."""
        planted = {name: (self.planted | self.idle)[name] for name in names}
        return replace(self, planted=planted, patience=None, idle={}, _quiet=Counter())

    def caught(self, vector: Vector, enough: int = SHAPES) -> set[str]:
        """Return what a vector catches; what was caught in `enough` shapes is not tried again."""
        baseline = Baseline(vector.case, self.right)
        answers = {}
        for name, planted in [*self.planted.items()]:
            answer = planted.answer(baseline)
            if answer is not None:
                answers[name] = outputs_or_none(answer)
                self._quiet[name] = -len(self.shapes)  # it can show
                continue
            self._quiet[name] += 1
            if self._quiet[name] == self.patience and not self.shapes[name]:
                self.idle[name] = self.planted.pop(name)
        caught = {*not_accepted(vector, answers)}
        for name in caught:
            self.shapes[name].add(shape_of(vector))
            if len(self.shapes[name]) >= enough:
                del self.planted[name]
        return caught


def shape_of(vector: Vector) -> object:
    """Return what tells the shapes of two vectors apart."""
    return tuple(array.shape for array in vector.case.inputs)


def drawn(operator: str, numbers: Sequence[int]) -> Iterator[tuple[int, Vector]]:
    """Yield the random draws of these numbers that have an answer, and that answer."""
    for number in numbers:
        try:
            case = build(draw(OPERATORS[operator], number), seed=0)
        except InvalidCase:
            continue
        # Sums of floats of 8 bits may be kept in float16, and leave its range.
        is_narrow = name_of(case.data.dtype) in FLOATS8 and OPERATORS[operator].reduction.sums
        if not is_narrow and has_one_answer(case, if_judgeable=True):
            vector = vector_of(case)
            is_refused = all(isinstance(outcome, Raises) for outcome in vector.outcomes)
            if is_refused if "invalid" in case.tags else vector.values:
                yield number, vector


def enumerated_strength(
    vectors: Vectors = None,
    *,
    operators: Sequence[str] | None = None,
    tier: str = "standard",
    draws: int = 0,
    jobs: int = 1,
    progress: Counts | None = None,
) -> tuple[EnumeratedStrength, ...]:
    """Plant every fault that atoms enumerate alone and count the shapes in which vectors catch it.

    `vectors`, `operators` and `tier` are those of `check`. Faults that are caught in fewer shapes
    than `SHAPES` are planted in so many random `draws` of the operator, too: most of those that no
    draw catches cannot show there. So many `jobs` processes share the operators.
    `progress(done, total)` counts operators.
    """
    with opened(vectors, operators) as sources:
        tasks = [
            (each.source, each.numbers, draws) for each in chosen(sources, operators, None, tier)
        ]
        by_operator = {}
        for done, ((source, *_), strength) in enumerate(shared(jobs, _measured, tasks), 1):
            by_operator[source.operator] = strength
            if progress is not None:
                progress(done, len(tasks))
        return tuple(by_operator[source.operator] for source, *_ in tasks)


def _measured(task: _Task) -> EnumeratedStrength:
    source, numbers, draws = task
    catching = Catching.of(source.operator)
    catching.patience = _PATIENCE
    stored = sorted(vectors_in(source, numbers), key=_size)
    for _, alike in groupby(stored, _size):
        catching.wake()  # what shows beyond some size alone changed nothing so far
        for vector in alike:
            catching.caught(vector)
    on_draws = catching.only(name for name, each in catching.shapes.items() if len(each) < SHAPES)
    on_draws.shapes = {name: set() for name in catching.shapes}
    by_draws: dict[str, str] = {}
    for _, vector in drawn(source.operator, range(_FIRST_DRAW, _FIRST_DRAW + draws)):
        by_draws |= dict.fromkeys(on_draws.caught(vector), vector.case.id)
    # What a draw shows can show: whether no vector does is said of those that were all tried.
    again = catching.only(name for name in by_draws if not catching.shapes[name])
    for vector in stored if again.planted else ():
        again.caught(vector)
    shapes = {name: len(each) for name, each in catching.shapes.items()}
    return EnumeratedStrength(source.operator, len(stored), shapes, by_draws)


def _size(vector: Vector) -> int:
    """Return how large the longest axis is, in powers of two."""
    return max(chain(*(each.shape for each in vector.case.inputs)), default=0).bit_length()
