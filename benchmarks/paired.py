"""Two ways to do a thing, timed in turns: a ratio survives a slow moment that times do not."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

Run = Callable[[], Any]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: `quick` is a look at everything small, `million` the largest size."""

    quick: bool = False
    million: bool = False

    def rounds(self, full: int) -> int:
        """Return how often a pair runs, of `full` times where there is time."""
        return min(full, 3) if self.quick else full


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table, as texts.

    `null` is what a round of each of the two is beside the round before: the noise of the machine.
    """

    what: str
    against: str
    ours: str
    theirs: str
    ratio: str
    null: str = ""


def measured(
    what: str,
    against: str,
    ours: Run,
    theirs: Run,
    rounds: int,
    *,
    units: tuple[int, int] = (1, 1),
    each: str = "",
) -> Row:
    """Time two runs in turns, after one of each to warm up where there are several rounds.

    `units` are how many things each of them does: the times are those of one, and `each` is its
    name.
    """
    if rounds > 1:
        ours(), theirs()
    turns = [(seconds(ours) / units[0], seconds(theirs) / units[1]) for _ in range(rounds)]
    mine, others = zip(*turns, strict=True)
    per = f" a {each}" if each else ""
    return Row(
        what,
        against,
        shown(statistics.median(mine)) + per,
        shown(statistics.median(others)) + per,
        spread([one / other for one, other in turns]),
        spread([after / before for side in (mine, others) for before, after in pairwise(side)]),
    )


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Fit y = a * x ** exponent to points (x, y), both above 0."""
    x, y = zip(*((math.log(one), math.log(other)) for one, other in points), strict=True)
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - mean_x) ** 2 for a in x)


def megabytes(count: int) -> str:
    """Return a number of bytes as text."""
    return f"{count / 1e6:.0f} MB"


def seconds(run: Run) -> float:
    """Return how long a run takes."""
    started = perf_counter()
    run()
    return perf_counter() - started


def shown(time: float) -> str:
    """Return seconds in a unit that suits them."""
    size, unit = next((each for each in _UNITS if time >= each[0]), _UNITS[-1])
    return f"{time / size:.3g} {unit}"


def spread(ratios: Sequence[float]) -> str:
    """Return the median of ratios and, of several, where the middle half of them lies."""
    if not ratios:
        return ""
    middle = statistics.median(ratios)
    if len(ratios) < 3:
        return f"{middle:.3g}"
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.3g} ({low:.3g}-{high:.3g})"
