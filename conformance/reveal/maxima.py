"""Which of equal maxima wins, and what a NaN does in each place of a window."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from conformance.dtypes import FLOATS
from conformance.operators import OPERATORS
from conformance.reference.rounding import widen
from conformance.reveal.calls import NoAnswer, WindowCalls
from conformance.reveal.values import Evidence, RevealedMaximum
from conformance.vector import BACKWARD, Array

_NEGATIVE, _POSITIVE = -0.0, 0.0


def maximum_of(calls: WindowCalls) -> RevealedMaximum:
    """Reveal what a backend takes for the maximum of a window; raises NoAnswer."""
    zeros, evidence = _zeros(calls) if calls.dtype in FLOATS else ("", ())
    return RevealedMaximum(
        calls.operator,
        calls.dtype,
        calls.window.kernel,
        zeros=zeros,
        index=_index(calls),
        gradient=_gradient(calls) if calls.dtype in FLOATS else "",
        nan=_nan(calls) if calls.dtype in FLOATS else "",
        evidence=evidence,
    )


def _zeros(calls: WindowCalls) -> tuple[str, tuple[Evidence, ...]]:
    """Say which of the zeros of a window wins; they are the maximum among minus ones."""
    pairs = np.array([*combinations(range(calls.cells), 2)])
    rows = np.arange(len(pairs))
    windows = np.full((2, len(pairs), calls.cells), -1.0)
    for sign_first, signed in zip((_NEGATIVE, _POSITIVE), windows, strict=True):
        signed[rows, pairs[:, 0]], signed[rows, pairs[:, 1]] = sign_first, -sign_first
    returned = calls.outputs(windows.reshape(-1, calls.cells))[0].reshape(2, -1)
    negative = np.signbit(widen(returned))
    evidence = tuple(
        Evidence(calls.window.kernel, tuple(windows[k, 0].tolist()), widen(returned[k, 0]).item())
        for k in (0, 1)
    )
    first = np.array([[True], [False]])  # whether the first zero of a pair is negative
    for name, expected in (
        ("first", first),
        ("last", ~first),
        ("+0", np.zeros_like(first)),
        ("-0", np.ones_like(first)),
    ):
        if (negative == expected).all():
            return name, evidence
    return "mixed", evidence


def _index(calls: WindowCalls) -> str:
    """Say which of two equal cells the index is of."""
    if not OPERATORS[calls.operator].has_indices:
        return ""
    pairs, windows = _of_equal_cells(calls.cells)
    outputs = calls.outputs(windows)
    if len(outputs) < 2:
        return ""
    # in whatever axes indices count: those of one plane differ by the place in it
    chosen = outputs[1].astype(np.int64) % calls.cells
    for name, column in (("first", 0), ("last", 1)):
        if (chosen == pairs[:, column]).all():
            return name
    return "mixed"


def _gradient(calls: WindowCalls) -> str:
    """Say which of two equal cells the gradient goes to; "" where it is not computed."""
    if calls.operator + BACKWARD not in OPERATORS:
        return ""
    pairs, windows = _of_equal_cells(calls.cells)
    try:
        given = widen(calls.gradients(windows))
    except NoAnswer:
        return ""
    of_pairs = np.take_along_axis(given, pairs, axis=1)
    if np.count_nonzero(given) == np.count_nonzero(of_pairs):
        for name, expected in (("first", (1, 0)), ("last", (0, 1)), ("all", (1, 1))):
            if (of_pairs == expected).all():
                return name
        if (of_pairs == 0.5).all():
            return "shared"
    return "mixed"


def _of_equal_cells(cells: int) -> tuple[Array, Array]:
    """Return all pairs of cells of a window, and windows in which these are the maxima."""
    pairs = np.array([*combinations(range(cells), 2)])
    windows = np.zeros((len(pairs), cells))
    windows[np.arange(len(pairs))[:, np.newaxis], pairs] = 1
    return pairs, windows


def _nan(calls: WindowCalls) -> str:
    """Say in which cells of a window a NaN is the maximum."""
    windows = np.tile(np.arange(calls.cells, dtype=np.float64), (calls.cells, 1))
    np.fill_diagonal(windows, np.nan)
    return places(np.isnan(widen(calls.outputs(windows)[0])))


def places(marked: Array) -> str:
    """Say which cells are marked: everywhere, nowhere, or their numbers."""
    if marked.all():
        return "everywhere"
    cells = [str(cell) for cell in np.flatnonzero(marked)]
    return f"in cell{'s' if len(cells) > 1 else ''} {', '.join(cells)}" if cells else "nowhere"
