"""What the attributes of vectors have in common, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

import numpy as np

from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.reference.rounding import widen
from conformance.vector import Vector

_MOST = 3


def features(vector: Vector) -> frozenset[str]:
    """Return what can be said of a vector, each as words that complete "all have ..."."""
    return frozenset(_features(vector))


def condition(these: Sequence[frozenset[str]], others: Sequence[frozenset[str]]) -> tuple[str, int]:
    """Return the few features that all of `these` and as few as possible of `others` have.

    Returns them in words, "" where nothing that all share tells any of the others apart, and the
    number of the others that have them too. Each sequence holds features.
    """
    left = list(others)
    if not these:
        return "", len(left)
    shared = sorted(frozenset.intersection(*these))
    chosen: list[str] = []
    while left and shared and len(chosen) < _MOST:
        # The rarest among the others first; by name where equal.
        best = min(shared, key=lambda each: sum(each in other for other in left))
        remaining = [other for other in left if best in other]
        if len(remaining) == len(left):
            break
        chosen.append(best)
        left = remaining
    return " and ".join(chosen), len(left)


def spread(vectors: Sequence[Vector], most: int) -> list[Vector]:
    """Return at most so many vectors, of as many kinds as possible, the smaller of a kind."""
    kinds: dict[frozenset[str], list[Vector]] = {}
    for vector in sorted(vectors, key=lambda each: sum(a.size for a in each.case.inputs)):
        kinds.setdefault(features(vector), []).append(vector)
    ordered = [kinds[kind] for kind in sorted(kinds, key=sorted)]
    if len(ordered) >= most:
        step = len(ordered) / most
        return [ordered[int(i * step)][0] for i in range(most)]
    found = list(chain.from_iterable(zip_longest(*ordered)))
    return [vector for vector in found if vector is not None][:most]


def _features(vector: Vector) -> Iterator[str]:
    case = vector.case
    data = case.inputs[0]
    yield f"operator {case.operator}"
    yield f"data of {name_of(data.dtype)}"
    yield f"{data.ndim - 2} spatial axes"
    if data.shape[0] > 1:
        yield "a batch above 1"
    yield "several channels" if data.shape[1] > 1 else "one channel"
    for lanes in (4, 8, 16, 32):
        if data.shape[1] > lanes:
            yield f"more than {lanes} channels"
            if data.shape[1] % lanes:
                yield f"channels beyond groups of {lanes}"
    operator = operator_named(case.operator)
    for attribute in operator.attributes:
        if attribute.key not in case.attributes:
            yield f"no {attribute.key}"
        elif attribute.kind != "ints":
            yield f"{attribute.key}={str(case.attributes[attribute.key]).lower()}"
    yield from _of_values(vector)
    try:
        params = operator.validate(case.inputs, case.attributes)
    except ValueError:
        yield "invalid attributes or inputs"
        return
    if params.auto_pad == "explicit":
        yield "explicit pads"
    if params.ceil:
        yield "rounding up"
    pairs = zip(params.kernel, params.strides, params.sizes, strict=False)
    for k, s, d in pairs:
        if s > 1:
            yield "a stride above 1"
        if s > k:
            yield "a stride above the kernel"
        if k > d:
            yield "a kernel above the input"
        if k % 2 == 0:
            yield "an even kernel"
        if k > 7:
            yield "a kernel above 7"
    if params.kernel and max(params.kernel) == 1:
        yield "a kernel of 1"
    given = params.pads_begin + params.pads_end if params.auto_pad == "explicit" else ()
    if any(given):
        yield "pads"
    if params.pads_begin != params.pads_end and given:
        yield "begin and end pads that differ"
    for name, values in (("kernel", params.kernel), ("strides", params.strides)):
        if len(set(values)) > 1:
            yield f"{name} that differ between axes"
    for o, d in zip(params.output, params.sizes, strict=False):
        if o > d:
            yield "an output above the input"
        if o and d % o:
            yield "an output that does not divide the input"


def _of_values(vector: Vector) -> Iterator[str]:
    data = vector.case.inputs[0]
    if data.dtype.kind in "iu":
        return
    wide = widen(data)
    if np.isnan(wide).any():
        yield "a NaN in the data"
    if np.isinf(wide).any():
        yield "an infinity in the data"
    if (wide < 0).any():
        yield "negative data"
