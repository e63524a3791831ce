"""Recipes of large cases: a small case, and which cells of each axis are repeated how often.

A tensor of gigabytes is described by kilobytes. On each axis of the small data, a `Run` of cells is
repeated; the large output is then the small one with a run of outputs repeated as often. This holds
where each window of the large case holds the same values as the window of the small case that
stands for it. The values of an axis around a run have the run's length as their period, as far as
the windows of its outputs reach, and the stride (for adaptive operators the ratio of sizes) moves
windows by whole periods. What the windows of repeat i hold then does not depend on i, and those
before and after the run are not touched by it. So the expected values of the large case are those
of the small one, which the reference computes exactly. An index of a maximum moves with its window:
the place on each axis is that of the small case plus whole periods.

A run that windows swallow as a whole has no outputs of its own. The maximum lies outside of it, so
that repeating the run changes no value, and moves indices behind it. For an average, the run holds
zeros, so that the sum is that of the small case, and the divisor the cells of the large one.

Windows that overlap two repeats see no third one: two neighbouring repeats show all there is to
see. `Recipe.shortened` has few repeats, is evaluated in full by the reference, and `differences`
compares it with what the recipe says: the proof, by computation, of each recipe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from conformance.operators import operator_named, vector_of
from conformance.reference import mean, measures
from conformance.reference.position import positions_of
from conformance.repeated import Group, Repeated, Run, groups, large_shape
from conformance.vector import Array, Case, Expected, Values, Vector

_BESIDES = 1 << 30
"""Bytes for an engine itself and for the blocks in which its outputs are judged."""
_SHORT = 3
"""Repeats of a run that show all windows there are: see above, and one more."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """A small case and, per axis of its data (batch and channels too), what is repeated.

    `what` says what it is for, in a few words.
    """

    case: Case
    runs: tuple[Run, ...]
    what: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape (N, C, d1..dr) of the large data."""
        return large_shape(self.case.data.shape, self.runs)

    @property
    def output_runs(self) -> tuple[Run, ...]:
        """What is repeated per axis of the output."""
        return tuple(run.of_output for run in self.runs)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape (N, C, o1..or) of the large output."""
        return large_shape(self.expected.outputs[0].values.shape, self.output_runs)

    @cached_property
    def id(self) -> str:
        """The name of the vector, derived from what it is."""
        runs = [(run.start, run.stop, run.times) for run in self.runs]
        digest = hashlib.sha256(f"{self.case.id} {runs}".encode()).hexdigest()[:8]
        operator, dtype, _, *attributes, _ = self.case.id.split("/")
        for size in self.case.inputs[1:]:
            small, large = _numbers(size.tolist()), _numbers(self.output_shape[2:])
            attributes = [text.replace(f"o{small}", f"o{large}", 1) for text in attributes]
        what = self.what.replace(" ", "-")
        return "/".join([operator, dtype, _numbers(self.shape), *attributes, f"{what}-{digest}"])

    @cached_property
    def vector(self) -> Vector:
        """The small case with its outcomes, whose values are those of the large case."""
        vector = vector_of(self.case)
        swallows = any(run.added and not run.outputs for run in self.runs[2:])
        if not (swallows and operator_named(self.case.operator).reduction.divides):
            return vector
        of_all = (self._mean_of_all(),)
        outcomes = [
            replace(outcome, outputs=of_all) if isinstance(outcome, Values) else outcome
            for outcome in vector.outcomes
        ]
        return replace(vector, outcomes=tuple(outcomes))

    def _mean_of_all(self) -> Expected:
        """Return the average of each plane of the large data, whose runs hold zeros."""
        data = self.case.data
        box = (
            [np.zeros(1, np.int64) for _ in data.shape[2:]],
            [np.array([d]) for d in data.shape[2:]],
        )
        divisor = np.full((1,) * len(data.shape[2:]), prod(self.shape[2:]))
        values = mean(data, *box, divisor)
        of = measures(data, *box, divisor)
        return Expected(values, of.addends, np.full(values.size, divisor), of.magnitude)

    @property
    def expected(self) -> Values:
        """The outcome of the small case; they all have the same values, and other bounds."""
        return self.vector.values[0]

    @property
    def bytes(self) -> int:
        """Bytes of all inputs and outputs of the large case."""
        cells = prod(self.output_shape)
        outputs = sum(cells * output.values.dtype.itemsize for output in self.expected.outputs)
        return prod(self.shape) * self.case.data.dtype.itemsize + outputs

    @property
    def memory(self) -> int:
        """Bytes that a run of the case may take: its arrays, copies of them, blocks, and indices.

        Engines make indices of maxima of 64 bits also where nobody asked for them.
        """
        chooses = not operator_named(self.case.operator).reduction.sums
        indices = 8 * prod(self.output_shape) if chooses else 0
        return 2 * self.bytes + indices + _BESIDES

    @property
    def described_inputs(self) -> tuple[Repeated | Array, ...]:
        """The inputs of the large case, data first, which are made when they are copied."""
        sizes = [np.array(self.output_shape[2:], size.dtype) for size in self.case.inputs[1:]]
        return (Repeated(self.case.data, self.runs), *sizes)

    def inputs(self) -> tuple[Array, ...]:
        """Return the inputs of the large case, data first; MemoryError where they do not fit."""
        return tuple(described.copy() for described in self.described_inputs)

    def shortened(self) -> Recipe:
        """Return the recipe with few repeats: what holds for it holds for any number."""
        runs = tuple(replace(run, times=min(run.times, _SHORT)) for run in self.runs)
        return replace(self, runs=runs)

    def expected_values(self, output: int) -> LargeValues:
        """Return what one output of the large case must be."""
        small = self.expected.outputs[output].values
        return self._indices(small) if self.is_index(output) else LargeValues(small)

    def is_index(self, output: int) -> bool:
        """Say whether an output is the indices of maxima."""
        return operator_named(self.case.operator).outputs[output].is_index

    @property
    def index_axis(self) -> int:
        """The axis of the data from which on indices count cells."""
        operator = operator_named(self.case.operator)
        params = operator.validate(self.case.inputs, self.case.attributes)
        return params.index_axis % len(self.shape)

    @property
    def cells_counted(self) -> int:
        """How many cells of the large data indices count."""
        return prod(self.shape[self.index_axis :])

    def _indices(self, small: Array) -> LargeValues:
        """Return the indices, which count cells of the large data from the index axis on."""
        data = self.case.data.shape
        axis = self.index_axis
        steps = [*accumulate(self.shape[:axis:-1], lambda a, b: a * b, initial=1)][::-1]
        large = np.zeros(small.shape, np.int64)
        moves: list[tuple[int, int]] = [(0, 1)] * len(data)
        cells = positions_of(small.astype(np.int64), data[axis:])
        for number, (place, step) in enumerate(zip(cells, steps, strict=True), axis):
            run = self.runs[number]
            swallowed = (place >= run.stop) & (run.outputs == 0)
            large += (place + np.where(swallowed, run.added, 0)) * step
            if run.outputs:  # its outputs move by whole repeats, and their cells with them
                moves[number] = (step * run.length, run.outputs)
        return LargeValues(large, tuple(moves), small.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class LargeValues:
    """The values of a large output: those of the small one, and more by how far they are moved.

    `small` has the shape of the small output. On an axis with the move (a, b), an element that lies
    m places behind the one that stands for it is greater by m a / b, as indices are.
    """

    small: Array
    moves: tuple[tuple[int, int], ...] = ()
    dtype: np.dtype[Any] | None = None

    def blocks(self, group: Group) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Yield the places of a group of blocks of the large output, with the values there."""
        values = group.of(self.small)
        first = tuple(places[0] for places in group.places)
        for axis, (cells, (more, of)) in enumerate(zip(group.cells, self.moves, strict=False)):
            if more:
                moved = (first[axis] + np.arange(len(cells)) - cells) * more // of
                values = values + moved.reshape(-1, *(1,) * (values.ndim - 1 - axis))
        for place in group:
            further = sum(
                (at - start) * more // of
                for at, start, (more, of) in zip(place, first, self.moves, strict=False)
            )
            moved_on = values + further if further else values
            yield place, moved_on if self.dtype is None else moved_on.astype(self.dtype)

    def whole(self, runs: Sequence[Run]) -> Array:
        """Return all values, for `runs` of the output."""
        large = np.empty(large_shape(self.small.shape, runs), self.dtype or self.small.dtype)
        for group in groups(self.small.shape, runs):
            for place, block in self.blocks(group):
                large[group.at(place)] = block
        return large


def differences(recipe: Recipe) -> list[str]:
    """Return in words why a recipe does not say what the documents say; empty if it does.

    The shortened recipe is evaluated in full by the reference.
    """
    outcomes = recipe.vector.values
    if not outcomes or len(outcomes) != len(recipe.vector.outcomes):
        return ["some outcome has no values"]
    first = outcomes[0].outputs
    for outcome in outcomes[1:]:
        for one, other in zip(first, outcome.outputs, strict=True):
            if one.values.tobytes() != other.values.tobytes():
                return ["outcomes differ in their values"]
    if any((output.addends < 0).any() for output in first):
        return ["some element is undefined, or an index is tied"]
    for number, output in enumerate(first):
        dtype = output.values.dtype
        if recipe.is_index(number) and recipe.cells_counted > np.iinfo(dtype).max:
            return [f"an index may be above what {dtype} holds"]
    short = recipe.shortened()
    computed = vector_of(replace(recipe.case, inputs=short.inputs())).values[0].outputs
    return [
        f"{column} of output {number} are not those of the shortened case"
        for number, output in enumerate(computed)
        for column in ("values", "addends", "divisor", "magnitude")
        if not _agrees(short, number, column, output)
    ]


def _agrees(recipe: Recipe, number: int, column: str, computed: Expected) -> bool:
    """Say whether a column of an output is what was computed of the whole case."""
    if column == "values":
        values = recipe.expected_values(number)
    else:
        small = recipe.expected.outputs[number]
        values = LargeValues(getattr(small, column).reshape(small.values.shape))
    wanted = values.whole(recipe.output_runs)
    found = getattr(computed, column).reshape(computed.values.shape)
    return bool(np.array_equal(found, wanted))


def _numbers(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))
