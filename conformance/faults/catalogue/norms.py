"""Faults of p-norms: magnitudes, powers, their sum, and the root."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.dtypes import dtype_of, name_of
from conformance.faults.atoms import numbers
from conformance.faults.atoms.conditions import ONE_NORM
from conformance.faults.atoms.lists import ONE, ONE_LESS, ONE_MORE, at_most_number, each
from conformance.faults.atoms.norms import (
    CELLS,
    DIVIDED,
    MAGNITUDE,
    NEXT_ROOT,
    NO_POWERS,
    NO_ROOT,
    OF_MEAN,
    OF_MEAN_OVER_KERNEL,
    OF_MEAN_TIMES_KERNEL,
    OF_PADDING_AS_ONE,
    ROOT_IN_INTEGERS,
    ROOT_OF_MAGNITUDE,
    ROOT_OR_ZERO,
    ROOT_WITH_SIGN,
    SIGNED,
    SQUARE_ROOT,
    SQUARES,
    exponent,
    norm,
    plus,
    root,
)
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
from conformance.faults.atoms.window_cells import Reduce, in_doubles
from conformance.faults.behaviour import (
    ANY_EXPONENT,
    BORDERED,
    DOUBLES,
    EVERY,
    NORMS,
    ODD_EXPONENTS,
    STRIDED,
    Behaviour,
    Faults,
    instead,
)
from conformance.faults.catalogue.arithmetic import ADDED_TO_SECOND
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array


def _in_type(kind: str) -> Callable[..., Array]:
    """Keep powers and their sum in a type, in which they are added one after the other."""

    def of_kind(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
        p, taps = gathered.params.exponent, in_doubles(gathered)
        powers = np.abs(taps.cells.astype(dtype_of(kind))) ** p
        sums = taps._replace(cells=powers).fold(np.zeros((), dtype_of(kind)), np.add)
        return narrow(root(widen(sums), p, gathered), name_of(gathered.data.dtype))

    return of_kind


def _maximum(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
    taps = in_doubles(gathered)
    largest = np.where(taps.is_cell, np.abs(taps.cells), 0.0).max(axis=2, initial=0.0)
    return narrow(largest.reshape(taps.shape), name_of(gathered.data.dtype))


_WIDER = {"float16": EVERY, "bfloat16": EVERY, "float32": DOUBLES}
"""What it takes for a type to be narrow."""

FAULTS: Faults = {
    "norm-of-signed-cells": norm(SIGNED)
    .needing(ODD_EXPONENTS)
    ._replace(
        summary="powers of the cells instead of magnitudes, and NaN for a negative sum",
        bug="norm_of_signed_cells",
    ),
    "norm-of-signed-cells-with-sign": norm(SIGNED, ROOT_WITH_SIGN).needing(ODD_EXPONENTS),
    "norm-of-signed-cells-at-least-zero": norm(SIGNED, ROOT_OR_ZERO).needing(ODD_EXPONENTS),
    "norm-of-signed-cells-as-magnitude": norm(SIGNED, ROOT_OF_MAGNITUDE).needing(ODD_EXPONENTS),
    "norm-one-of-signed-cells": ONE_NORM.of(norm(CELLS)).needing(ODD_EXPONENTS),
    "norm-of-positive-cells": numbers.cells(ZERO_IF_NEGATIVE, NORMS),
    "norm-root-forgotten": norm(of_sum=NO_ROOT),
    "norm-power-forgotten": norm(NO_POWERS),
    "norm-power-and-root-forgotten": norm(NO_POWERS, NO_ROOT),
    "norm-always-squares": norm(SQUARES).needing(ANY_EXPONENT),
    "norm-always-square-root": norm(of_sum=SQUARE_ROOT).needing(ANY_EXPONENT),
    "norm-root-in-integers": norm(of_sum=ROOT_IN_INTEGERS),
    "norm-root-of-p-plus-one": norm(of_sum=NEXT_ROOT),
    "norm-p-ignored": exponent(each("2", lambda _: 2)).needing(ANY_EXPONENT),
    "norm-p-as-one": exponent(ONE),
    "norm-p-as-three": exponent(each("3", lambda _: 3)),
    "norm-p-one-more": exponent(ONE_MORE),
    "norm-p-one-less": exponent(ONE_LESS),
    "norm-p-at-most-two": exponent(at_most_number(2)).needing(ANY_EXPONENT),
    "norm-p-at-most-three": exponent(at_most_number(3)).needing(ANY_EXPONENT),
    "norm-p-at-least-two": exponent(each("at least 2", lambda p: max(p, 2))).needing(ODD_EXPONENTS),
    "norm-p-to-even": exponent(
        each("one less where it is odd and above 1", lambda p: p - (p > 1 and p % 2))
    ).needing(ODD_EXPONENTS),
    "norm-p-to-power-of-two": exponent(
        each("rounded up to a power of two", lambda p: 1 << max(p - 1, 0).bit_length())
    ).needing(ANY_EXPONENT),
    "norm-of-mean": norm(of_sum=OF_MEAN),
    "norm-of-mean-over-kernel": norm(of_sum=OF_MEAN_OVER_KERNEL),
    "norm-of-mean-times-kernel": norm(of_sum=OF_MEAN_TIMES_KERNEL, needs=NORMS & BORDERED),
    "norm-divided": norm(of_sum=DIVIDED),
    "norm-of-padding-as-one": norm(of_sum=OF_PADDING_AS_ONE, needs=NORMS & BORDERED),
    "norm-of-sum": norm(CELLS, MAGNITUDE),
    "norm-maximum": Behaviour(
        "the largest magnitude in place of the norm", NORMS, instead("reduce", _maximum)
    ),
    "norm-plus-1e-6": norm(of_sum=plus(1e-6)),
    "norm-plus-1e-12": norm(of_sum=plus(1e-12)),
    "norm-at-least-1e-6": numbers.results(at_least(1e-6, "1e-6"), NORMS),
    **{
        f"norm-of-cells-in-{kind}": numbers.cells(rounded_to(kind), NORMS & _WIDER[kind])
        for kind in ("float16", "bfloat16", "float32")
    },
    **{
        f"norm-added-in-{kind}": Behaviour(
            f"powers and their sum kept in {kind}, also of wider types",
            NORMS & _WIDER[kind],
            instead("reduce", _in_type(kind)),
        )
        for kind in ("float16", "bfloat16", "float32")
    },
    **{
        f"norm-rounded-to-{kind}": numbers.results(rounded_to(kind), NORMS & _WIDER[kind])
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
