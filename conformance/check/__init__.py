"""Run a backend over vectors, judge its answers, and collect the verdicts in a report."""

from __future__ import annotations

from conformance.check.api import Interrupted
from conformance.check.profiles import PROFILES
from conformance.check.report import (
    Accuracy,
    Bias,
    ClauseReport,
    Expectations,
    Floor,
    Repeatability,
    Report,
    Result,
    Support,
    UndefinedReport,
    VectorsUsed,
    Verdict,
    Worst,
)
from conformance.check.run_settings import Floors, Selection, Workers

__all__ = [
    "PROFILES",
    "Accuracy",
    "Bias",
    "ClauseReport",
    "Expectations",
    "Floor",
    "Floors",
    "Interrupted",
    "Repeatability",
    "Report",
    "Result",
    "Selection",
    "Support",
    "UndefinedReport",
    "VectorsUsed",
    "Verdict",
    "Workers",
    "Worst",
]
