"""Slips of gradients alone: what of the gradient of the output is read, what windows give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance.diagnosis.slips.cells import other_entries, other_layouts
from conformance.diagnosis.slips.slip import Slip
from conformance.diagnosis.slips.values import other_numbers
from conformance.faults.atoms.numbers import on_cells
from conformance.faults.catalogue.gradients import (
    Terms,
    added_in,
    counts_of,
    first_wins,
    last_wins,
    rank_of,
    shares_kept,
    windows_kept,
    with_gradient,
    with_terms,
)
from conformance.operators.needs import Needs

_GRADIENTS = Needs(gradient=True)
_GIVEN = "gradients of the output"
_LANES = (2, 4, 8, 16, 32)


def of_gradients() -> Iterator[Slip]:
    """Yield slips in the gradient that is given, and in the sums of what windows give to cells."""
    for words, change in (*other_entries(_GIVEN), *other_layouts(_GIVEN), *other_numbers(_GIVEN)):
        yield Slip(words, "reduce", with_gradient(change), _GRADIENTS)
    yield Slip(f"{_GIVEN} were 1", "reduce", with_gradient(np.ones_like), _GRADIENTS)
    for words, change in other_numbers("data"):
        yield Slip(words, "reduce", on_cells(change), _GRADIENTS)
    for words, terms in _terms():
        yield Slip(words, "reduce", with_terms(terms), _GRADIENTS)


def _terms() -> Iterator[tuple[str, Terms]]:
    yield "a cell got what its last window gives alone", last_wins
    yield "a cell got what its first window gives alone", first_wins
    for most in (2, 3, 4, 8):
        kept = shares_kept(lambda shares, n=most: rank_of(shares) < n)  # type: ignore[misc]
        yield f"a cell got what its first {most} windows give alone", kept
    for number, said in enumerate(("second", "third"), 1):
        kept = shares_kept(lambda shares, n=number: rank_of(shares) != n)  # type: ignore[misc]
        yield f"a cell did not get what its {said} window gives", kept
    yield "the first window of a plane gave nothing", windows_kept(lambda i, _: i > 0)
    yield "the last window of a plane gave nothing", windows_kept(lambda i, n: i < n - 1)
    for lanes in _LANES:
        whole = windows_kept(lambda i, n, c=lanes: i < n // c * c)  # type: ignore[misc]
        yield f"windows beyond whole groups of {lanes} of a plane gave nothing", whole
        some = windows_kept(lambda i, n, c=lanes: (i < n // c * c) | (n < c))  # type: ignore[misc]
        said = f"windows beyond whole groups of {lanes} of a plane gave nothing, if it has a group"
        yield said, some
    for kind, wide in (
        ("bfloat16", ("float16", "float32", "float64")),
        ("float16", ("float32", "float64")),
        ("float32", ("float64",)),
    ):
        yield f"what windows give were added in {kind}", added_in(kind, wide)
    said = "divisors were the number of windows that hold a cell"
    yield said, lambda s, _: replace(s, divisor=counts_of(s))
    said = "what windows give to a cell were divided by their number"
    yield said, lambda s, _: replace(s, divisor=s.divisor * counts_of(s))
