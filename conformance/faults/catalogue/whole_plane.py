"""Faults of operators that make one value of each plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from conformance.faults.atoms.numbers import in_doubles
from conformance.faults.behaviour import (
    AVERAGES,
    MAXIMUM,
    NORMS,
    WHOLE,
    Behaviour,
    Faults,
    after,
    instead,
    wrong_params,
)
from conformance.faults.catalogue.values import returning
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Gathered, Pads, Windows
from conformance.vector import Array


def _kernel(summary: str, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Behaviour:
    """Pool by windows of another kernel than the sizes, a cell apart."""

    def change_params(params: Params) -> Params:
        kernel = tuple(map(min, change(params.sizes), params.sizes))
        return replace(params, kernel=kernel)

    return wrong_params("resolve", summary, WHOLE, change_params)


def _one_window(summary: str, change: Callable[[Params], Params]) -> Behaviour:
    """Pool by one window of another kernel than the sizes."""

    def one(_right: Extent, params: Params, _pads: Pads) -> Extent:
        return (1,) * len(params.sizes)

    behaviour = wrong_params("resolve", summary, WHOLE, change)
    return behaviour._replace(replaces=behaviour.replaces | after("extent", one))


def _square(params: Params) -> Params:
    first = params.sizes[0]
    return replace(params, kernel=tuple(min(d, first) for d in params.sizes))


def _without_last(axis: int) -> Callable[..., Windows]:
    """Leave the last cell of an axis out."""

    def change(right: Windows, params: Params, _pads: Pads, _extent: Extent) -> Windows:
        stops = list(right.stop)
        stops[axis] = np.maximum(stops[axis] - 1, min(1, params.sizes[axis]))
        return replace(right, stop=tuple(stops))

    return change


def _merged(summary: str, needs: Needs, axis: int, merge: Callable[..., Array]) -> Behaviour:
    """Make one value of all batches or channels."""

    def change(right: Array) -> Array:
        if not right.size:
            return right
        return np.broadcast_to(merge(right, axis=axis, keepdims=True), right.shape).copy()

    return Behaviour(summary, WHOLE & needs, returning(in_doubles(change)))


def _divided_by(summary: str, count: Callable[[Array, int], int]) -> Behaviour:
    """Divide by `count(data, cells of a plane)`."""

    def reduce(right: Callable[..., Array], gathered: Gathered, divisor: Divisor) -> Array:
        cells = prod(gathered.params.sizes)
        return right(gathered, np.full_like(divisor, count(gathered.data, cells)))

    return Behaviour(summary, WHOLE & AVERAGES, instead("reduce", reduce))


def _norm(values: Array, *, axis: int, keepdims: bool) -> Array:
    """Add norms of planes: what the norm of p = 1 of all of them is."""
    total: Array = values.sum(axis=axis, keepdims=keepdims)
    return total


FAULTS: Faults = {
    "whole-last-axis-alone": _kernel(
        "only the last axis pooled", lambda sizes: (1,) * (len(sizes) - 1) + sizes[-1:]
    ),
    "whole-first-axis-alone": _kernel(
        "only the first spatial axis pooled", lambda sizes: sizes[:1] + (1,) * (len(sizes) - 1)
    ),
    "whole-last-two-axes-alone": _kernel(
        "only the last two axes pooled", lambda sizes: (1,) * (len(sizes) - 2) + sizes[-2:]
    ),
    "whole-first-two-axes-alone": _kernel(
        "only the first two spatial axes pooled",
        lambda sizes: sizes[:2] + (1,) * (len(sizes) - 2),
    ),
    "whole-axes-reversed": _kernel("sizes taken in reverse axis order", lambda sizes: sizes[::-1]),
    "whole-square": _one_window("no more cells of an axis read than the first axis has", _square),
    "whole-without-last-row": Behaviour(
        "the last cell of the first axis left out", WHOLE, after("windows", _without_last(0))
    ),
    "whole-without-last-column": Behaviour(
        "the last cell of the last axis left out", WHOLE, after("windows", _without_last(-1))
    ),
    "whole-axes-dropped": Behaviour(
        "the output returned without spatial axes",
        WHOLE,
        returning(lambda right: right.reshape(right.shape[:2])),
    ),
    **{
        f"whole-{name}-{words}": _merged(f"one {words} for all {plural}", needs, axis, merge)
        for name, plural, axis in (("batch", "batches", 0), ("channel", "channels", 1))
        for words, needs, merge in (
            ("maximum", MAXIMUM, np.max),
            ("average", AVERAGES, np.mean),
            ("norm", NORMS, _norm),
        )
    },
    "whole-divided-by-channels": _divided_by(
        "sums divided by the cells of all channels", lambda data, cells: cells * data.shape[1]
    ),
    "whole-divided-by-batches": _divided_by(
        "sums divided by the cells of all batches", lambda data, cells: cells * data.shape[0]
    ),
    "whole-divided-by-groups-of-8": _divided_by(
        "sums divided by a number of cells rounded up to groups of 8",
        lambda _data, cells: -(-cells // 8) * 8,
    ),
    "whole-divided-by-first-axis-squared": _divided_by(
        "sums divided as if all axes had the size of the first",
        lambda data, _cells: int(data.shape[2]) ** (data.ndim - 2),
    ),
    "whole-divided-by-last-two-axes": _divided_by(
        "sums divided by the cells of the last two axes",
        lambda data, _cells: prod(data.shape[2:][-2:]),
    ),
}
