"""The likely causes of failures: what reproduces them, and what those of no known cause share."""

from __future__ import annotations

from conformance.diagnosis.likely_causes import diagnose
from conformance.diagnosis.of_report import explained

__all__ = ["diagnose", "explained"]
