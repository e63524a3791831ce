"""Budgets of work: how much a search may do, counted and not timed.

What is counted is the same on every machine, so a search for causes ends at the same place on a
busy machine and on a quiet one. A limit of seconds is the user's, and comes on top.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from math import inf
from time import perf_counter

# What is counted, in steps: a step is about a tenth of a millisecond on two quiet cores of 2025.
# The weights are means of 90,000 answers, 2,100 vectors and 1,300 calls, which hardly depend on
# their sizes, and of 100,000 rows.
ANSWER = 2
"""What a supposed fault makes of one vector."""
VECTOR = 20
"""A held-out case, with what is expected of it."""
CALL = 20
"""A call of the backend, judged."""
ROW = 2
"""An element or a case that rules are learned from."""
START = 3_000
"""A fresh start of the backend: a process, and what it imports."""


class Spent(Exception):  # noqa: N818 - no error: what is known by then is said
    """Raised where something is to be done that a share of a budget does not allow any more."""


class Budget:
    """Counts work. After so many `seconds`, if they are given, none is allowed any more."""

    def __init__(self, seconds: float | None = None) -> None:
        self.spent = 0
        self.seconds = seconds
        self._end = None if seconds is None else perf_counter() + seconds
        self._whole: Budget | None = None

    def part(self, of: int) -> Budget:
        """Return a budget of its own, with the time that each of so many has of what is left."""
        part = Budget(self.seconds)
        part._whole = self
        if self._end is not None:
            now = perf_counter()
            part._end = now + max(0.0, self._end - now) / of
        return part

    @contextmanager
    def unclocked(self) -> Iterator[None]:
        """Take no time for what is done meanwhile, neither of this budget nor of the whole."""
        began = perf_counter()
        with nullcontext() if self._whole is None else self._whole.unclocked():
            yield
        if self._end is not None:
            self._end += perf_counter() - began

    def spend(self, steps: int) -> None:
        """Count some work."""
        self.spent += steps

    def share(self, steps: float = inf) -> Share:
        """Allow so many steps from now on, whatever they are for."""
        return Share(self, steps, self.spent + steps)

    @property
    def is_late(self) -> bool:
        """Whether the seconds are over."""
        return self._end is not None and perf_counter() > self._end


@dataclass(frozen=True, slots=True)
class Share:
    """So many `steps` of a budget, which are spent when it has counted `until`."""

    budget: Budget
    steps: float
    until: float

    @property
    def left(self) -> float:
        """The steps that are left; 0 when the seconds of the budget are over."""
        return 0 if self.budget.is_late else max(0, self.until - self.budget.spent)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def spend(self, steps: int) -> None:
        """Count some work; raises Spent, and counts none, where nothing is left."""
        if self.is_spent:
            raise Spent
        self.budget.spend(steps)

    def part(self, steps: float) -> Share:
        """Allow so many of the steps that are left."""
        return Share(self.budget, steps, min(self.until, self.budget.spent + steps))

    def but(self, steps: float) -> Share:
        """Allow all steps that are left but so many."""
        return Share(self.budget, self.steps - steps, self.until - steps)
