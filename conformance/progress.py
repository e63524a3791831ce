"""How work that takes a while tells its caller how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Called now and then by work that takes a while."""

    def __call__(self, what: str, done: int, total: int, /) -> None:
        """Hear that `done` of `total` units of `what` are done; a total of 0 is unknown."""


Found = Callable[[str], None]
"""Told in words of each cause that experiments have just confirmed."""
Counts = Callable[[int, int], None]
"""Told `done` and `total` alone: the argument `progress` of `conformance.check` and `strength`."""


def from_counts(counts: Counts | None) -> Progress | None:
    """Return a Progress that passes on the numbers alone; None for None."""
    if counts is None:
        return None
    return lambda _, done, total: counts(done, total)


def counts_of(progress: Progress | None, what: str) -> Counts | None:
    """Return what tells `progress` the numbers it is told, each time of `what`; None for None."""
    if progress is None:
        return None
    return lambda done, total: progress(what, done, total)
