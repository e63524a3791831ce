"""Run a backend over vectors, judge its answers, and collect the verdicts in a report."""

from __future__ import annotations

from conformance.check.checker import Interrupted, check
from conformance.check.profiles import PROFILES
from conformance.check.report import (
    Accuracy,
    ClauseReport,
    Expectations,
    Repeatability,
    Report,
    Result,
    UndefinedReport,
    VectorsUsed,
    Verdict,
    Worst,
)

__all__ = [
    "PROFILES",
    "Accuracy",
    "ClauseReport",
    "Expectations",
    "Interrupted",
    "Repeatability",
    "Report",
    "Result",
    "UndefinedReport",
    "VectorsUsed",
    "Verdict",
    "Worst",
    "check",
]
