"""What vectors have in common, in words, and samples of many kinds of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

import numpy as np

from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.operators.params import Params
from conformance.reference.rounding import widen
from conformance.vector import Vector

LIGHT = 4000
"""The weight up to which a vector is quickly tried; heavier ones only where there are few."""


def features(vector: Vector) -> frozenset[str]:
    """Return what can be said of a vector, each as words that complete "all have ..."."""
    return frozenset(_features(vector))


def condition(
    these: Sequence[frozenset[str]], others: Sequence[frozenset[str]], *, most: int = 3
) -> tuple[str, int]:
    """Return the few features that all of `these` and as few as possible of `others` have.

    Returns at most `most` of them in words, "" where nothing that all share tells any of the
    others apart, and the number of the others that have them too. Each sequence holds features.
    """
    left = list(others)
    if not these:
        return "", len(left)
    shared = sorted(frozenset.intersection(*these))
    chosen: list[str] = []
    while left and shared and len(chosen) < most:
        # The rarest among the others first; by name where equal.
        best = min(shared, key=lambda each: sum(each in other for other in left))
        remaining = [other for other in left if best in other]
        # What most others have too says nothing.
        if 3 * len(remaining) > 2 * len(left):
            break
        chosen.append(best)
        left = remaining
    return " and ".join(chosen), len(left)


def spread(vectors: Sequence[Vector], most: int) -> list[Vector]:
    """Return at most so many vectors, of as many kinds as possible, the lighter of a kind."""
    weighed = sorted(((weight(vector), i) for i, vector in enumerate(vectors)))
    light = sum(each <= LIGHT for each, _ in weighed)
    kinds: dict[frozenset[str], list[Vector]] = {}
    for _, i in weighed[: max(light, most // 4)]:
        kinds.setdefault(features(vectors[i]), []).append(vectors[i])
    ordered = [kinds[kind] for kind in sorted(kinds, key=sorted)]
    if len(ordered) >= most:
        step = len(ordered) / most
        return [ordered[int(i * step)][0] for i in range(most)]
    found = chain.from_iterable(zip_longest(*ordered))
    return [vector for vector in found if vector is not None][:most]


def weight(vector: Vector) -> int:
    """Return about how much work a vector is: its cells, and windows that differ from another."""
    case = vector.case
    attribute = operator_named(case.operator).attribute("kernel")
    kernel = case.attributes.get(attribute.key) if attribute is not None else None
    # A stranger's kernel may be anything.
    wide = sum(k * k for k in kernel if isinstance(k, int)) if isinstance(kernel, list) else 0
    return sum(array.size for array in case.inputs) + wide


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
    data = vector.case.inputs[0]
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
