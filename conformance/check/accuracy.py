"""How close averages are, summed up over batches: one running tally per element type."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from conformance.check.compare import Column, Ints, spacing
from conformance.check.report import Accuracy
from conformance.vector import UNDEFINED


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
        place of one is not correctly rounded, and has no error to speak of.
        """
        near = column.near
        if near is None or not (arithmetic >= 0).any():
            return
        tally = self._tallies.setdefault(column.name, _Tally())
        values = column.columns.values
        ignored = np.flatnonzero((column.columns.addends == UNDEFINED) | ~np.isfinite(values))
        first, last = np.searchsorted(ignored, [column.starts, column.stops])
        sizes = (column.stops - column.starts) - (last - first)
        elements = int(sizes[arithmetic >= 0].sum())
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
            mine = finite & (chosen == code)
            bound, _ = near.allowed(code)
            share = float((near.error[mine] / bound[mine]).max())
            tally.worst_of_bound = max(tally.worst_of_bound, share)

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
