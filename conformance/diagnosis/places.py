"""Where in the outputs wrong elements lie, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from conformance.batch import VALUES, batch_of
from conformance.diagnosis.features import spread
from conformance.errors import InvalidCase
from conformance.judging.closeness import compare_outputs
from conformance.judging.explanations import elements, nearest_outcome
from conformance.judging.judge import answers_of
from conformance.operators import operator_named, under
from conformance.vector import Outputs, Vector

Bools = npt.NDArray[np.bool_]

_LOOKED_AT = 60
_NAMED = 2
_AXES = ("the last axis", "the last axis but one", "the last axis but two")
"""Spatial axes, from the end: so a place has one name whatever the number of axes."""
_EVERY = "every element is wrong"


def places(failures: Sequence[tuple[Vector, Outputs | None]]) -> str:
    """Say where the wrong elements of all failures lie; "" where no elements can be compared.

    Some failures of different kinds are looked at.
    """
    outputs = {id(vector): got for vector, got in failures if got is not None and vector.values}
    with_outputs = [vector for vector, _ in failures if id(vector) in outputs]
    masks = [
        (vector, mask)
        for vector in spread(with_outputs, _LOOKED_AT)
        if (mask := _wrong(vector, outputs[id(vector)])) is not None
    ]
    if not masks:
        return ""
    if all(wrong.sum() == defined.sum() for _, (wrong, defined) in masks):
        return _EVERY
    left = [np.ones(wrong.shape, np.bool_) for _, (wrong, _) in masks]
    of_all = [dict(_places(vector, wrong.shape)) for vector, (wrong, _) in masks]
    common = set.intersection(
        *(
            {words for words, place in of.items() if not (wrong & ~place).any()}
            for (_, (wrong, _)), of in zip(masks, of_all, strict=True)
        )
    )
    named: list[str] = []
    while common and len(named) < _NAMED:
        narrowed = {
            words: [part & of[words] for part, of in zip(left, of_all, strict=True)]
            for words in sorted(common)
        }
        best = min(narrowed, key=lambda words: _share(narrowed[words]))
        # A place that is all of what is left of every output tells nothing.
        if _share(narrowed[best]) == _share(left):
            break
        named.append(best)
        left = narrowed[best]
        common.remove(best)
    if named:
        return f"wrong only {' and '.join(named)}"
    share = np.mean([wrong.sum() / defined.sum() for _, (wrong, defined) in masks])
    return f"about {share:.0%} of the elements are wrong, in no place common to all"


def _share(parts: Sequence[Bools]) -> float:
    return float(np.mean([part.mean() for part in parts]))


def _wrong(vector: Vector, got: Outputs) -> tuple[Bools, Bools] | None:
    """Return the wrong and the defined elements of the first output that has wrong ones.

    None if its shape or type is wrong.
    """
    batch = batch_of([vector])
    answers = answers_of(batch, [got])
    if len(answers.outputs[0]) > batch.outputs:
        return None
    compared = compare_outputs(batch, answers)
    rows = [row for row, kind in enumerate(batch.outcome_kind) if kind == VALUES]
    nearest = nearest_outcome(batch, answers, compared, 0, rows)
    for output in range(len(answers.outputs[0])):
        row = int(batch.outcome_expected[nearest]) + output
        if not compared.comparable[row]:
            return None
        found = elements(batch, answers, 0, nearest, output)
        if found.wrong.any():
            shape = batch.expected_shape[row]
            return found.wrong.reshape(shape), found.defined.reshape(shape)
    return None


def _places(vector: Vector, shape: Sequence[int]) -> Iterator[tuple[str, Bools]]:
    """Yield places of an output in words that complete "wrong only ...", and their elements."""
    axes = len(shape) - 2
    if axes < 0:
        return
    index = np.indices(shape)
    yield "in batches after the first", index[0] > 0
    yield "in the first batch", index[0] == 0
    yield "in channels after the first", index[1] > 0
    yield from ((f"in channels after the first {n}", index[1] >= n) for n in (4, 8, 16, 32))
    yield "in the first channel", index[1] == 0
    for name, axis in zip(_AXES[:axes], range(len(shape) - 1, 1, -1), strict=False):
        first, last = index[axis] == 0, index[axis] == shape[axis] - 1
        yield f"at the beginning of {name}", first
        yield f"at the end of {name}", last
        yield f"after the beginning of {name}", ~first
        yield f"before the end of {name}", ~last
        yield f"at either end of {name}", first | last
    padded = _reaching_into_padding(vector, tuple(shape))
    if padded is not None:
        yield "in windows that reach into the padding", padded
        yield "in windows that lie within the input", ~padded


def _reaching_into_padding(vector: Vector, shape: tuple[int, ...]) -> Bools | None:
    case = vector.case
    operator = operator_named(case.operator)
    try:
        plan = under(operator, {}).plan(operator.validate(case.inputs, case.attributes))
    except InvalidCase:
        return None
    if case.gradient is not None or (*case.data.shape[:2], *plan.extent) != shape:
        return None
    padded = np.zeros(shape, np.bool_)
    ends = zip(plan.windows.start, plan.windows.stop, plan.params.sizes, strict=True)
    for axis, (start, stop, size) in enumerate(ends, 2):
        outside = (start < 0) | (stop > size)
        padded |= outside.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return padded
