"""The arithmetic of a backend, from its outputs alone: the order of its sums, and its roundings.

`masks` recovers the order as a tree, `averages` the rest by elimination among the ways of `ways`,
`maxima` what wins of equal cells; `prediction` holds the result against vectors.
"""

from __future__ import annotations

from conformance.reveal.api import is_revealable, reveal
from conformance.reveal.values import Revealed, RevealedAverage

__all__ = ["Revealed", "RevealedAverage", "is_revealable", "reveal"]
