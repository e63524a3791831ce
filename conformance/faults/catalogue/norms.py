"""Faults of p-norms: magnitudes, powers, their sum, and the root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.dtypes import dtype_of, name_of
from conformance.faults.atoms import numbers
from conformance.faults.atoms.numbers import (
    CUT_OFF_TO_INTEGERS,
    LARGEST_IF_INFINITE,
    ZERO_IF_MINUS_INFINITY,
    ZERO_IF_NAN,
    ZERO_IF_NEGATIVE,
    at_least,
    of_floats,
    on_results,
    rounded_to,
    where,
)
from conformance.faults.atoms.window_cells import Reduce, WindowCells, window_cells
from conformance.faults.behaviour import BORDERED, NORMS, STRIDED, Behaviour, Faults, instead
from conformance.faults.catalogue.arithmetic import ADDED_TO_SECOND
from conformance.faults.catalogue.building_blocks import changed, wrong_params
from conformance.faults.catalogue.values import only_where
from conformance.operators import pipeline as steps
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array

Power = Callable[[Array, int], Array]
"""From cells and p: what is added."""
Root = Callable[[Array, int, Gathered], Array]
"""From sums of the output's shape and p: the values."""


def _power(cells: Array, p: int) -> Array:
    powers: Array = np.abs(cells) ** p
    return powers


def _root(sums: Array, p: int, _gathered: Gathered) -> Array:
    roots: Array = sums ** (1.0 / p)
    return roots


def _normed(
    summary: str,
    power: Power = _power,
    root: Root = _root,
    bug: str = "",
    *,
    needs: Needs = NORMS,
) -> Behaviour:
    """Add powers of the cells of a window and take the root of the sum, all in doubles."""

    def norm(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
        p, taps = gathered.params.exponent, _wide_cells(gathered)
        sums = np.where(taps.is_cell, power(taps.cells, p), 0.0).sum(axis=2).reshape(taps.shape)
        return narrow(root(sums, p, gathered), name_of(gathered.data.dtype))

    return Behaviour(summary, needs, instead("reduce", norm), bug)


def _wide_cells(gathered: Gathered) -> WindowCells:
    return window_cells(replace(gathered, data=widen(gathered.data)))


def _in_type(kind: str) -> Callable[..., Array]:
    """Keep powers and their sum in a type, in which they are added one after the other."""

    def norm(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
        p, taps = gathered.params.exponent, _wide_cells(gathered)
        powers = np.abs(taps.cells.astype(dtype_of(kind))) ** p
        sums = taps._replace(cells=powers).fold(np.zeros((), dtype_of(kind)), np.add)
        return narrow(_root(widen(sums), p, gathered), name_of(gathered.data.dtype))

    return norm


def _exponent(summary: str, change: Callable[[int], int]) -> Behaviour:
    return wrong_params("resolve", summary, NORMS, changed("exponent", change))


def _counts(gathered: Gathered) -> Array:
    """Return how many cells of the input each window has, at least 1."""
    return np.maximum(steps.outer(gathered.windows.inside(gathered.params.sizes)), 1)


def _whole_kernel(gathered: Gathered) -> Array:
    return steps.outer(gathered.windows.lengths)


def _signed(cells: Array, p: int) -> Array:
    powers: Array = cells**p
    return powers


def _plus(epsilon: float) -> Root:
    return lambda sums, p, gathered: _root(sums + epsilon, p, gathered)


def _maximum(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
    taps = _wide_cells(gathered)
    largest = np.where(taps.is_cell, np.abs(taps.cells), 0.0).max(axis=2, initial=0.0)
    return narrow(largest.reshape(taps.shape), name_of(gathered.data.dtype))


FAULTS: Faults = {
    "norm-of-signed-cells": _normed(
        "powers of the cells instead of magnitudes, and NaN for a negative sum",
        power=_signed,
        bug="norm_of_signed_cells",
    ),
    "norm-of-signed-cells-with-sign": _normed(
        "powers of the cells instead of magnitudes, and the root of a negative sum negative",
        power=_signed,
        root=lambda sums, p, given: np.sign(sums) * _root(np.abs(sums), p, given),
    ),
    "norm-of-signed-cells-at-least-zero": _normed(
        "powers of the cells instead of magnitudes, and 0 for a negative sum",
        power=_signed,
        root=lambda sums, p, given: _root(np.maximum(sums, 0.0), p, given),
    ),
    "norm-of-signed-cells-as-magnitude": _normed(
        "the magnitude taken of the sum of powers instead of the cells",
        power=_signed,
        root=lambda sums, p, given: _root(np.abs(sums), p, given),
    ),
    "norm-one-of-signed-cells": Behaviour(
        "cells added instead of magnitudes for p = 1",
        NORMS,
        only_where(
            lambda params: params.exponent == 1,
            _normed("", power=lambda cells, _p: cells).replaces,
        ),
    ),
    "norm-of-positive-cells": numbers.cells(ZERO_IF_NEGATIVE, NORMS),
    "norm-root-forgotten": _normed("the root forgotten", root=lambda sums, _p, _: sums),
    "norm-power-forgotten": _normed(
        "magnitudes added instead of powers", power=lambda cells, _p: np.abs(cells)
    ),
    "norm-power-and-root-forgotten": _normed(
        "magnitudes added, and no root taken",
        power=lambda cells, _p: np.abs(cells),
        root=lambda sums, _p, _: sums,
    ),
    "norm-always-squares": _normed(
        "squares added, whatever p", power=lambda cells, _p: cells * cells
    ),
    "norm-always-square-root": _normed(
        "the square root taken, whatever p", root=lambda sums, _p, _: np.sqrt(sums)
    ),
    "norm-root-in-integers": _normed(
        "the exponent 1 / p divided in integers", root=lambda sums, p, _: sums ** (1 // p)
    ),
    "norm-root-of-p-plus-one": _normed(
        "the root of p + 1 taken", root=lambda sums, p, _: sums ** (1.0 / (p + 1))
    ),
    "norm-p-ignored": _exponent("p ignored: always 2", lambda _p: 2),
    "norm-p-as-one": _exponent("p ignored: always 1", lambda _p: 1),
    "norm-p-as-three": _exponent("p ignored: always 3", lambda _p: 3),
    "norm-p-one-more": _exponent("p one too large", lambda p: p + 1),
    "norm-p-one-less": _exponent("p above 1 one too small", lambda p: p - (p > 1)),
    "norm-p-at-most-two": _exponent("p above 2 taken as 2", lambda p: min(p, 2)),
    "norm-p-at-most-three": _exponent("p above 3 taken as 3", lambda p: min(p, 3)),
    "norm-p-at-least-two": _exponent("p = 1 taken as 2", lambda p: max(p, 2)),
    "norm-p-to-even": _exponent("odd p above 1 one too small", lambda p: p - (p > 1 and p % 2)),
    "norm-p-to-power-of-two": _exponent(
        "p above 2 rounded up to a power of two", lambda p: 1 << max(p - 1, 0).bit_length()
    ),
    "norm-of-mean": _normed(
        "powers averaged instead of added",
        root=lambda sums, p, given: _root(sums / _counts(given), p, given),
    ),
    "norm-of-mean-over-kernel": _normed(
        "powers added and divided by the whole kernel",
        root=lambda sums, p, given: _root(sums / _whole_kernel(given), p, given),
    ),
    "norm-of-mean-times-kernel": _normed(
        "powers averaged over the cells of the input and multiplied by the whole kernel",
        root=lambda sums, p, given: _root(sums / _counts(given) * _whole_kernel(given), p, given),
        needs=NORMS & BORDERED,
    ),
    "norm-divided": _normed(
        "norms divided by the number of cells",
        root=lambda sums, p, given: _root(sums, p, given) / _counts(given),
    ),
    "norm-of-padding-as-one": _normed(
        "padding taken as ones",
        root=lambda sums, p, given: _root(
            sums + _whole_kernel(given) - steps.outer(given.windows.inside(given.params.sizes)),
            p,
            given,
        ),
        needs=NORMS & BORDERED,
    ),
    "norm-of-sum": _normed(
        "the magnitude of the sum of all cells",
        power=lambda cells, _p: cells,
        root=lambda sums, _p, _: np.abs(sums),
    ),
    "norm-maximum": Behaviour(
        "the largest magnitude in place of the norm", NORMS, instead("reduce", _maximum)
    ),
    **{
        f"norm-plus-{name}": _normed(
            f"{name} added to the sum of powers",
            root=_plus(epsilon),
        )
        for name, epsilon in (("1e-6", 1e-6), ("1e-12", 1e-12))
    },
    "norm-at-least-1e-6": numbers.results(at_least(1e-6, "1e-6"), NORMS),
    **{
        f"norm-of-cells-in-{kind}": numbers.cells(rounded_to(kind), NORMS)
        for kind in ("float16", "bfloat16", "float32")
    },
    **{
        f"norm-added-in-{kind}": Behaviour(
            f"powers and their sum kept in {kind}, also of wider types",
            NORMS,
            instead("reduce", _in_type(kind)),
        )
        for kind in ("float16", "bfloat16", "float32")
    },
    **{
        f"norm-rounded-to-{kind}": numbers.results(rounded_to(kind), NORMS)
        for kind in ("float16", "bfloat16", "float32")
    },
    "norm-truncated": numbers.results(CUT_OFF_TO_INTEGERS, NORMS),
    "norm-of-integers": numbers.cells(CUT_OFF_TO_INTEGERS, NORMS),
    "norm-nan-as-zero": numbers.cells(ZERO_IF_NAN, NORMS),
    "norm-infinity-clamped": numbers.cells(LARGEST_IF_INFINITE, NORMS),
    "norm-positive-infinity-alone": numbers.cells(ZERO_IF_MINUS_INFINITY, NORMS),
    "norm-small-cells-zero": numbers.cells(
        where("0 where their magnitude is below 1e-3", lambda v: np.abs(v) < 1e-3, 0.0), NORMS
    ),
    "norm-not-cleared": Behaviour(
        "the first norm of each row added to the second",
        NORMS & STRIDED,
        {"reduce": on_results(of_floats(ADDED_TO_SECOND))},
    ),
}
