"""How accurate the results of a batch are that conform: averages, norms and gradients."""

from __future__ import annotations

import numpy as np

from conformance.judging.closeness import spacing
from conformance.judging.conforming import ConformingElements
from conformance.record.report import Accuracy


def accuracy_of(elements: ConformingElements) -> Accuracy:
    """Return the accuracy of elements that conform.

    Only those that are expected to be finite count. An infinity allowed in place of one is not
    correctly rounded, and has no error to speak of. Ulps are those of the magnitude that the bound
    is a multiple of: where cells cancel, what is left may be near zero, and an error that every
    order of summation has is 1e300 of its own.
    """
    near, count = elements.near, elements.count
    if near is None:
        return Accuracy(elements.dtype, count, float(count > 0), 0.0, 0.0)
    off = np.isfinite(near.expected) & (near.error != 0)
    finite = off & np.isfinite(near.got)
    ulps = near.error[finite] / spacing(near.columns.magnitude[finite], elements.dtype)
    worst_of_bound = 0.0
    for arithmetic in np.unique(elements.arithmetic[finite]).tolist():
        alike = near.at(finite & (elements.arithmetic == arithmetic))
        of_bound = alike.error / alike.bound(arithmetic)
        # Beyond it is another cell, chosen where subnormals count as zero: no error.
        worst_of_bound = max(worst_of_bound, float(of_bound[of_bound <= 1].max(initial=0.0)))
    return Accuracy(
        dtype=elements.dtype,
        elements=count,
        correctly_rounded=(count - int(off.sum())) / count if count else 0.0,
        worst_ulp=float(ulps.max(initial=0.0)),
        worst_of_bound=worst_of_bound,
    )
