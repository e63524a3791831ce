"""Vectors with answers, right and wrong, and what each is: to test a checker of somebody's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, picked, vector_at
from conformance.export.limits import Limits, limits
from conformance.export.safetensors_export import Tensors, cases_of
from conformance.judging.judge import accepts
from conformance.operators import operator_named
from conformance.vector import Array, Outputs, Vector

_MOST = 256
"""Elements of each array of a vector that is taken: answers are many, and are to be looked at."""


@np.errstate(all="ignore")  # some answers are meant to overflow
def cases_with_answers(
    batches: Iterable[Batch], tensors: Tensors, advance: Callable[[], None]
) -> list[dict[str, Any]]:
    """Return the JSON of one vector of each kind that there is, with `answers`.

    A kind is what a checker has to tell apart: outcomes, element types, masks, ties.
    """
    cases: list[dict[str, Any]] = []
    known = set()
    for batch in batches:
        taken, all_tensors = [], Tensors()
        for index, case in enumerate(cases_of(batch, all_tensors)):
            advance()
            kind, size = _kind(case, all_tensors.by_name)
            if size <= _MOST and kind not in known:
                known.add(kind)
                taken.append(index)
        if not taken:
            continue
        few = picked(batch, taken)
        operator = operator_named(batch.operator)
        for index, case in enumerate(cases_of(few, tensors)):
            vector = vector_at(few, index)
            convention = operator.convention_of(vector.case.attributes)
            case["answers"] = [
                {
                    "outputs": answer
                    and [tensors.name(convention.array_given(output)) for output in answer],
                    "conforms": accepts(vector, answer),
                }
                for answer in _answers(vector)
            ]
            cases.append(case)
    return cases


def _kind(case: Mapping[str, Any], tensors: Mapping[str, Array]) -> tuple[object, int]:
    """Return what a checker has to tell apart, and the most elements of an array."""
    kinds, largest = set(), max(tensors[name].size for name in case["inputs"])
    for outcome in case["accepted"]:
        outputs = []
        for output in outcome.get("outputs", ()):
            expected = tensors[output["expected"]]
            mask = np.unique(tensors[output["mask"]]).tolist() if "mask" in output else ()
            outputs.append((expected.dtype, tuple(mask), *output))
            largest = max(largest, expected.size)
        kinds.add((outcome["kind"], *outputs))
    return frozenset(kinds), largest


def _answers(vector: Vector) -> Iterator[Outputs | None]:
    """Yield answers to a vector, each once; None is an exception."""
    yield None
    seen = set()
    for answer in _candidates(vector):
        key = tuple((each.dtype, each.shape, each.tobytes()) for each in answer)
        if key not in seen:
            seen.add(key)
            yield answer


def _candidates(vector: Vector) -> Iterator[Outputs]:
    """Yield outputs: those expected, at their limits and beyond, of another form or number."""
    axes = vector.case.data.ndim - 2
    operator = operator_named(vector.case.operator)
    if not vector.values:
        yield (np.zeros((1, 1, 1), vector.case.data.dtype),)
    for outcome in vector.values:
        expected = tuple(output.values for output in outcome.outputs)
        within = [
            limits(output, axes, outcome.arithmetic, average=kind.comparison == "bound")
            for output, kind in zip(outcome.outputs, operator.outputs, strict=True)
        ]
        yield expected
        yield tuple(each.lower for each in within)
        yield tuple(each.upper for each in within)
        yield expected[:1]
        yield (*expected, expected[0])
        first, *others = expected
        yield (first.astype(np.float64 if first.dtype != np.float64 else np.float32), *others)
        yield (first[..., np.newaxis], *others)
        for number, each in enumerate(within):
            for output in _changed(expected[number], each, outcome.outputs[number].addends):
                yield (*expected[:number], output, *expected[number + 1 :])


def _changed(expected: Array, within: Limits, addends: npt.NDArray[np.int32]) -> Iterator[Array]:
    """Yield an output with one element that is another, for an element of each kind."""
    mask, flat = within.mask.ravel(), expected.ravel()
    finite = flat == flat if flat.dtype.kind in "iu" else np.isfinite(flat)  # noqa: PLR0124
    kinds = np.stack([np.minimum(addends, 0), mask, finite])
    for place in np.unique(kinds, axis=1, return_index=True)[1].tolist():
        for value in _values(flat[place], within.lower.flat[place], within.upper.flat[place]):
            output = flat.copy()
            output[place] = value
            yield output.reshape(expected.shape)


def _values(expected: Any, lower: Any, upper: Any) -> Iterator[Any]:
    """Yield values of an element: those just beyond its limits, and others that may count."""
    dtype = expected.dtype
    if dtype.kind in "iu":
        yield from (expected + np.arange(-2, 3)).astype(dtype)
        return
    infinity = np.array(np.inf, dtype)
    yield np.nextafter(lower, -infinity)
    yield np.nextafter(upper, infinity)
    yield from np.array([np.nan, np.inf, -np.inf, 0], dtype)
