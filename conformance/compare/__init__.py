"""Several backends over the same vectors, side by side. It describes; `check` judges."""

from __future__ import annotations

from conformance.compare.comparison import Compared, Comparison, InterruptedComparison
from conformance.compare.run import compare

__all__ = ["Compared", "Comparison", "InterruptedComparison", "compare"]
