"""The order of a sum from masks, by FPRev (USENIX ATC 2025).

A mask has a huge number in one cell of a window, its negative in another, and ones elsewhere. Ones
that are added to the huge number before the two meet are lost, so the sum counts the cells outside
of the smallest part of the tree that holds both. From these sizes for all pairs of cells, the
tree follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from conformance.dtypes import float_format
from conformance.reference.rounding import widen
from conformance.reveal.calls import WindowCalls
from conformance.reveal.trees import Sizes, tree_of
from conformance.reveal.values import Evidence, WindowOrder
from conformance.vector import Array

_CALL = 4096
"""Windows in the batch of one call, at most."""
_EXACT = 2.0**24
"""Sums of a huge number and ones so much smaller have more bits than float32 has."""
_MOST_OF_HALVES = 64
"""Cells of a window up to which float16 holds ones that are small enough, divided by the cells."""
_NEAR = 0.3
"""How far from an integer a count may be: the division by the number of cells rounds."""


def order_of(calls: WindowCalls) -> WindowOrder:
    """Return the order in which a backend sums a window; raises NoAnswer."""
    n = calls.cells
    if n == 1:
        return WindowOrder(calls.window, "tree")
    problem, exact = "", None
    for huge, one in _scales(calls.dtype, n):
        masks = masks_of(n, huge, one)
        returned = _called(calls, masks)
        if not (returned == returned[:, :1]).all():
            problem = "the same window has several results in one call"
            continue
        counts = widen(returned[:, 0]) * n / one
        evidence = _evidence(calls, masks[n - 2], returned[n - 2, 0])
        sizes = _sizes(counts, n)
        if sizes is None:
            problem = "masks are no counts: sums slide, or are of numbers of few bits"
        elif n > 2 and huge / one >= _EXACT and (sizes[~np.eye(n, dtype=bool)] == 2).all():
            exact = WindowOrder(calls.window, "exact", evidence=evidence)
        elif (tree := tree_of(sizes)) is None:
            problem = "masks are the counts of no tree: sums slide, or cells are sorted"
        else:
            return WindowOrder(calls.window, "tree", tree, evidence=evidence)
    if float_format(calls.dtype).largest < 2.0**127 and n > _MOST_OF_HALVES:
        problem = f"{calls.dtype} has no masks for more than {_MOST_OF_HALVES} cells"
    return exact or WindowOrder(calls.window, "none", problem=problem)


def masks_of(n: int, huge: float, one: float) -> Array:
    """Return the masks of all pairs of n cells, (pairs, n), the pairs in order."""
    pairs = np.array([*combinations(range(n), 2)])
    masks = np.full((len(pairs), n), one)
    masks[np.arange(len(pairs)), pairs[:, 0]] = huge
    masks[np.arange(len(pairs)), pairs[:, 1]] = -huge
    return masks


def _scales(dtype: str, n: int) -> Iterator[tuple[float, float]]:
    """Yield huge numbers with the ones they swallow, until some fit the format of the sums.

    The first suit formats with the range of float32, the second sums in float32 of numbers with
    the range of float16, and the last sums in float16. n ones are half an ulp of the numbers just
    below the huge one, or less. It is a power of two: fused operations multiply it exactly.
    """
    near = 2.0 ** -np.ceil(np.log2(n))
    if float_format(dtype).largest > 2.0**127:
        yield 2.0**100, 1.0
    yield 2.0**15, 2.0**-10 * near
    yield 2.0**15, 2.0**3 * near


def _called(calls: WindowCalls, masks: Array) -> Array:
    """Return what is returned for each mask in every place of a call, (pairs, places)."""
    outputs = []
    for start in range(0, len(masks), _CALL):
        windows = masks[start : start + _CALL].repeat(calls.places, axis=0)
        outputs.append(calls.outputs(windows)[0].reshape(-1, calls.places))
    return np.concatenate(outputs)


def _sizes(counts: Array, n: int) -> Sizes | None:
    """Return the cells under the addition where two meet, (n, n); None if some is no count."""
    whole = np.rint(counts)
    if not ((np.abs(counts - whole) <= _NEAR) & (whole >= 0) & (whole <= n - 2)).all():
        return None
    sizes = np.ones((n, n), np.int64)
    rows, columns = np.triu_indices(n, 1)
    sizes[rows, columns] = sizes[columns, rows] = n - whole.astype(np.int64)
    return sizes


def _evidence(calls: WindowCalls, mask: Array, output: Array) -> Evidence:
    return Evidence(calls.window.kernel, tuple(mask.tolist()), widen(output).item())
