"""A report as one HTML file that needs nothing else: for browsers, phones, printers, artifacts.

All that strangers wrote (backends' exceptions and output, vector files) is shown as text: the
template escapes it, characters that hide or reorder are written as escapes, data for the script
are JSON without angle brackets, and the page's own policy forbids any other script or address.
"""

from __future__ import annotations

from conformance.report.html.page import render, render_report

__all__ = ["render", "render_report"]
