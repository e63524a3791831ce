"""A model of a backend's averages held against what it returns for vectors, bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.backends.answer import arrays_of
from conformance.backends.runner import Answers, Runner
from conformance.batch import vector_at
from conformance.diagnosis.features import condition, features
from conformance.dtypes import dtype_of
from conformance.operators import operator_named
from conformance.operators.clauses import under
from conformance.operators.pipeline import Divisor as Divisors
from conformance.operators.pipeline import Gathered
from conformance.reveal.averages import Model
from conformance.reveal.elimination import equal
from conformance.reveal.values import Prediction, Window
from conformance.reveal.ways import Divisor, average
from conformance.vector import UNDEFINED, Array, Values, Vector, outputs_of
from conformance.vectorfile.sources import Selected

_LARGEST = 1 << 22
"""Cells of the windows of a vector, all together, up to which it is predicted."""
_TELLING = 2
"""How much more often exceptions have a feature than others, for it to be listed."""
_FEATURES = 6


@dataclass(slots=True)
class _Counts:
    averages: int = 0
    other_averages: int = 0
    exceptions: list[str] = field(default_factory=list)
    with_exceptions: list[Collection[str]] = field(default_factory=list)
    without: list[Collection[str]] = field(default_factory=list)
    left_out: int = 0
    without_result: int = 0

    def add(self, vector: Vector, returned: Array | None, model: Model) -> None:
        """Compare a vector under the reading that is nearest to what was returned, if anything."""
        if returned is None or not any(_fits(returned, outcome) for outcome in vector.values):
            self.without_result += 1
            return
        compared = [*_comparisons(vector, returned, model)]
        if not compared:
            self.left_out += 1
            return
        same = max(compared, key=np.count_nonzero)
        self.averages += same.size
        others = int(same.size - np.count_nonzero(same))
        self.other_averages += others
        (self.with_exceptions if others else self.without).append(features(vector))
        if others:
            self.exceptions.append(vector.case.id)

    def prediction(self) -> Prediction:
        shared = condition(self.with_exceptions, self.without)
        return Prediction(
            len(self.with_exceptions) + len(self.without),
            self.averages,
            self.other_averages,
            tuple(self.exceptions),
            " and ".join(shared),
            _telling(self.with_exceptions, self.without),
            self.left_out,
            self.without_result,
        )


def predict(runner: Runner, dtype: str, model: Model, vectors: Sequence[Selected]) -> Prediction:
    """Run a backend on the vectors of an element type, all of one operator, and compare.

    What is not compared is counted.
    """
    counts = _Counts()
    for part in vectors:
        for batch in part.source.batches(part.numbers):
            of_type = [
                n for n, given in enumerate(batch.inputs) if given[0].dtype == dtype_of(dtype)
            ]
            answers = Answers.none_yet(len(batch))
            runner.run(batch, answers, lambda _done: None, of_type)
            for n in of_type:
                arrays = arrays_of(answers.outputs[n]) if answers.outputs[n] else None
                returned = None if arrays is None else outputs_of(arrays)[0]
                counts.add(vector_at(batch, n), returned, model)
    return counts.prediction()


def _fits(returned: Array, outcome: Values) -> bool:
    expected = outcome.outputs[0].values
    return returned.shape == expected.shape and returned.dtype == expected.dtype


def _comparisons(vector: Vector, returned: Array, model: Model) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which defined elements are as the model says, for each geometry that fits."""
    operator, case = operator_named(vector.case.operator), vector.case
    params = operator.validate(case.inputs, case.attributes)
    seen = set()
    for outcome in vector.values:
        pipeline = under(operator, outcome.readings[0])
        plan = pipeline.plan(params)
        if plan.key in seen or not _fits(returned, outcome):
            continue
        seen.add(plan.key)
        modelled = averages_of(pipeline.gathered(case.data, plan), plan.divisor, model)
        if modelled is not None:
            defined = outcome.outputs[0].addends.reshape(returned.shape) != UNDEFINED
            yield equal(modelled, returned)[defined]


def averages_of(gathered: Gathered, divisor: Divisors, model: Model) -> Array | None:
    """Return the averages (N, C, o1..or) that a model computes; None where it knows no tree."""
    data, lo = gathered.data, gathered.lo
    lengths = [np.maximum(hi - lo, 0) for lo, hi in zip(gathered.lo, gathered.hi, strict=True)]
    planes = int(np.prod(data.shape[:2]))
    if planes * int(np.prod([length.sum() for length in lengths])) > _LARGEST:
        return None
    result = np.zeros((*data.shape[:2], *divisor.shape), data.dtype)
    for shape in product(*(np.unique(length).tolist() for length in lengths)):
        if not all(shape):
            continue
        window = Window(shape, data.shape[1], divisor.size)
        additions = model.additions(window)
        if additions is None:
            return None
        where = np.ix_(
            *(np.flatnonzero(length == n) for length, n in zip(lengths, shape, strict=True))
        )
        starts = [begin[at.ravel()] for begin, at in zip(lo, where, strict=True)]
        cells = _cells(data, starts, shape)
        index: tuple[Any, ...] = (..., *where)
        result[index] = average(
            cells, Divisor(divisor[where], shape), additions, model.way_of(window)
        )
    return result


def _cells(data: Array, starts: list[npt.NDArray[np.int64]], shape: tuple[int, ...]) -> Array:
    """Return the cells of windows that start at places of each axis, (N, C, o1..or, n)."""
    axes = len(shape)
    places = []
    for axis, (start, n) in enumerate(zip(starts, shape, strict=True)):
        spread = [1] * (2 * axes)
        spread[axis], spread[axes + axis] = len(start), n
        places.append((start[:, np.newaxis] + np.arange(n)).reshape(spread))
    index: tuple[Any, ...] = (slice(None), slice(None), *places)
    windows = data[index]
    flat: Array = windows.reshape(*windows.shape[: 2 + axes], -1)
    return flat


def _telling(
    exceptions: list[Collection[str]], others: list[Collection[str]]
) -> dict[str, tuple[int, int]]:
    """Return features that exceptions have more often, with the exceptions and vectors with it."""
    failing = Counter(name for names in exceptions for name in names)
    passing = Counter(name for names in others for name in names)
    rates = {
        name: (count / len(exceptions), (passing[name] + 1) / (len(others) + 1))
        for name, count in failing.items()
    }
    names = [name for name, (often, rarely) in rates.items() if often > _TELLING * rarely]
    names.sort(key=lambda name: (-failing[name], passing[name], name))
    return {name: (failing[name], failing[name] + passing[name]) for name in names[:_FEATURES]}
