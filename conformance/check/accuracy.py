"""How close averages are, summed up over batches: one running tally per element type."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from conformance.check.compare import Column, Ints, counts_within, spacing
from conformance.check.report import Accuracy


@dataclass(slots=True)
class _Tally:
    elements: int = 0
    rounded: int = 0
    worst_ulp: float = 0.0
    worst_of_bound: float = 0.0


@dataclass(slots=True)
class AccuracyTally:
    """Adds columns up; `reports` gives what they come to."""

    _tallies: dict[str, _Tally] = field(default_factory=dict)

    def add(self, column: Column, arithmetic: Ints) -> None:
        """Count the rows with an `arithmetic` (one per row of the column, -1 to leave it out).

        Only elements that are defined and expected to be finite count. An infinity allowed in
        place of one is not correctly rounded, and has no error to speak of. Where large cells
        cancel, an error that is allowed may be more spacings than a double holds: inf of them.
        """
        near = column.near
        if near is None or not (arithmetic >= 0).any():
            return
        tally = self._tallies.setdefault(column.name, _Tally())
        counted = arithmetic >= 0
        starts, stops = column.starts[counted], column.stops[counted]
        elements = int((stops - starts).sum())
        for left_out in (column.columns.undefined, column.columns.infinite):
            elements -= int(counts_within(left_out, starts, stops).sum())
        chosen = arithmetic[column.row]
        off = (chosen >= 0) & np.isfinite(near.expected) & (near.error != 0)
        tally.elements += elements
        tally.rounded += elements - int(off.sum())
        finite = off & np.isfinite(near.got)
        if not finite.any():
            return
        ulps = near.error[finite] / spacing(near.expected[finite], column.name)
        tally.worst_ulp = max(tally.worst_ulp, float(ulps.max()))
        for code in np.unique(chosen[finite]).tolist():
            mine = near.at(np.flatnonzero(finite & (chosen == code)))
            share = float((mine.error / mine.bound(code)).max())
            tally.worst_of_bound = max(tally.worst_of_bound, share)

    def merge(self, other: AccuracyTally) -> None:
        """Take in another tally."""
        for name, theirs in other._tallies.items():
            mine = self._tallies.setdefault(name, _Tally())
            mine.elements += theirs.elements
            mine.rounded += theirs.rounded
            mine.worst_ulp = max(mine.worst_ulp, theirs.worst_ulp)
            mine.worst_of_bound = max(mine.worst_of_bound, theirs.worst_of_bound)

    def reports(self) -> tuple[Accuracy, ...]:
        """Return one Accuracy per element type seen."""
        return tuple(
            Accuracy(
                dtype=name,
                elements=tally.elements,
                correctly_rounded=tally.rounded / tally.elements,
                worst_ulp=tally.worst_ulp,
                worst_of_bound=tally.worst_of_bound,
            )
            for name, tally in self._tallies.items()
            if tally.elements
        )
