"""Features of vectors in words, the features that some vectors share, and diverse samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

import numpy as np

from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.operators.params import Params
from conformance.reference.rounding import widen
from conformance.vector import Vector

T = TypeVar("T")

LIGHT = 4000
"""The largest weight of a vector that is tried quickly."""


def features(vector: Vector) -> frozenset[str]:
    """Return the features of a vector, each in words that complete "all have ..."."""
    return frozenset(_features(vector))


def condition(
    mismatching: Sequence[frozenset[str]], others: Sequence[frozenset[str]], *, most: int = 3
) -> tuple[str, int]:
    """Return up to `most` features that all `mismatching` vectors and few `others` have, in words.

    Each sequence holds the features of one vector per entry. Also returns how many of the others
    have these features too. The words are "" if no shared feature tells the two apart.
    """
    left = list(others)
    if not mismatching:
        return "", len(left)
    shared = sorted(frozenset.intersection(*mismatching))
    chosen: list[str] = []
    while left and shared and len(chosen) < most:
        # The rarest among the others first; by name where equal.
        best = min(shared, key=lambda feature: sum(feature in other for other in left))
        remaining = [other for other in left if best in other]
        # A feature that most others have too tells nothing.
        if 3 * len(remaining) > 2 * len(left):
            break
        chosen.append(best)
        left = remaining
    return " and ".join(chosen), len(left)


def thinned(items: Sequence[T], most: int) -> Sequence[T]:
    """Return at most `most` of some items, evenly spaced, the first among them."""
    return items[:: -(-len(items) // most) or 1]


def spread(vectors: Sequence[Vector], most: int) -> list[Vector]:
    """Return at most `most` vectors with as many different sets of features as possible.

    Of vectors with the same features, the lighter come first. Vectors above LIGHT are left out
    where there are enough others.
    """
    by_weight = sorted(((weight(vector), i) for i, vector in enumerate(vectors)))
    light = sum(vector_weight <= LIGHT for vector_weight, _ in by_weight)
    by_features: dict[frozenset[str], list[Vector]] = {}
    for _, i in by_weight[: max(light, most // 4)]:
        by_features.setdefault(features(vectors[i]), []).append(vectors[i])
    groups = [by_features[key] for key in sorted(by_features, key=sorted)]
    if len(groups) >= most:
        step = len(groups) / most
        return [groups[int(i * step)][0] for i in range(most)]
    round_robin = chain.from_iterable(zip_longest(*groups))
    return [vector for vector in round_robin if vector is not None][:most]


def weight(vector: Vector) -> int:
    """Return about how much work a vector is for a naive backend: its cells, and k^2 per axis."""
    return _cells(vector) + sum(k * k for k in _kernel(vector))


def size(vector: Vector) -> int:
    """Return about how much work a vector is for a planted fault: its cells, and k per axis."""
    return _cells(vector) + sum(map(abs, _kernel(vector)))


def _cells(vector: Vector) -> int:
    return sum(array.size for array in vector.case.inputs)


def _kernel(vector: Vector) -> list[int]:
    """Return the numbers of a kernel; the vector of an invalid call may have anything for one."""
    case = vector.case
    attribute = operator_named(case.operator).attribute("kernel")
    kernel = case.attributes.get(attribute.key) if attribute is not None else None
    return [k for k in kernel if isinstance(k, int)] if isinstance(kernel, list) else []


def _features(vector: Vector) -> Iterator[str]:
    case = vector.case
    operator = operator_named(case.operator)
    yield f"operator {case.operator}"
    yield from _of_data(vector)
    for attribute in operator.attributes:
        if attribute.key not in case.attributes:
            yield f"no {attribute.key}"
        elif not attribute.is_list:
            yield f"{attribute.key}={str(case.attributes[attribute.key]).lower()}"
    try:
        params = operator.validate(case.inputs, case.attributes)
    except ValueError:
        yield "invalid attributes or inputs"
        return
    yield from _of_windows(params)
    yield from _of_pads(params)
    if any(o > d for o, d in zip(params.output, params.sizes, strict=False)):
        yield "an output above the input"
    if any(o and d % o for o, d in zip(params.output, params.sizes, strict=False)):
        yield "an output that does not divide the input"


def _of_data(vector: Vector) -> Iterator[str]:
    data = vector.case.data
    yield f"data of {name_of(data.dtype)}"
    yield f"{data.ndim - 2} spatial axes"
    if data.ndim > 2:
        yield "several batches" if data.shape[0] > 1 else "one batch"
        yield "several channels" if data.shape[1] > 1 else "one channel"
        yield from (f"more than {n} channels" for n in (4, 8, 16, 32) if data.shape[1] > n)
        yield from (
            f"channels beyond groups of {n}"
            for n in (4, 8, 16, 32)
            if data.shape[1] > n and data.shape[1] % n
        )
    if data.dtype.kind not in "iu":
        wide = widen(data)
        if np.isnan(wide).any():
            yield "a NaN in the data"
        if np.isinf(wide).any():
            yield "an infinity in the data"


def _of_windows(params: Params) -> Iterator[str]:
    axes = list(zip(params.kernel, params.strides, params.sizes, strict=False))
    for words, holds in (
        ("a stride above 1", any(s > 1 for _, s, _ in axes)),
        ("a stride above the kernel", any(s > k for k, s, _ in axes)),
        ("a kernel above the input", any(k > d for k, _, d in axes)),
        ("an even kernel", any(k % 2 == 0 for k, _, _ in axes)),
        ("a kernel above 7", any(k > 7 for k, _, _ in axes)),
        ("a kernel of 1", bool(axes) and all(k == 1 for k, _, _ in axes)),
        ("kernels that differ between axes", len(set(params.kernel)) > 1),
        ("strides that differ between axes", len(set(params.strides)) > 1),
        ("a dilation above 1", any(n > 1 for n in params.dilations)),
        ("dilations that differ between axes", len(set(params.dilations)) > 1),
    ):
        if holds:
            yield words


def _of_pads(params: Params) -> Iterator[str]:
    if params.ceil:
        yield "rounding up"
    if params.same:
        yield "same_* padding"
    if not params.kernel or params.auto_pad != "explicit":
        return
    yield "explicit pads"
    yield "pads" if any(params.pads_begin + params.pads_end) else "no pads"
    if params.pads_begin != params.pads_end:
        yield "begin and end pads that differ"
