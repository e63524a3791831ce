"""Faults of what is computed over more than a window: numbers scaled by one outside of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms.window_cells import Reduce, window_cells
from conformance.faults.behaviour import DOUBLES, EVERY, NORMS, SPREAD, Behaviour, Faults, instead
from conformance.faults.catalogue.values import SPANS, Span, in_fixed_point_of, reducing
from conformance.operators.needs import Needs
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array


def _norm_scaled_by(span: Span) -> Callable[[Reduce, Gathered, Divisor], Array]:
    """Divide cells by the largest magnitude of a part before powers are taken, all in doubles."""

    def norm(_reduce: Reduce, gathered: Gathered, _divisor: Divisor) -> Array:
        p, scale = gathered.params.exponent, span.largest(gathered.data)
        taps = window_cells(replace(gathered, data=np.abs(widen(gathered.data)) / scale))
        sums = np.where(taps.is_cell, taps.cells**p, 0.0).sum(axis=2).reshape(taps.shape)
        return narrow(scale * sums ** (1.0 / p), name_of(gathered.data.dtype))

    return norm


def _needs(span: Span) -> Needs:
    """Return what an operator needs for a part to be more than a window."""
    return SPREAD if span.name == "plane" else EVERY


FAULTS: Faults = {
    **{
        f"cells-in-fixed-point-of-{span.name}": Behaviour(
            f"cells rounded to multiples of the last bit of the largest number of {span.words}",
            _needs(span),
            reducing(in_fixed_point_of(span)),
        )
        for span in SPANS
    },
    **{
        f"norm-scaled-by-{span.name}": Behaviour(
            f"cells divided by the largest magnitude of {span.words} before powers are taken",
            NORMS & DOUBLES & _needs(span),
            instead("reduce", _norm_scaled_by(span)),
        )
        for span in SPANS
    },
}
