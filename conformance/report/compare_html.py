"""A comparison as a web page that stands alone."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, StrictUndefined

from conformance.compare.comparison import Comparison
from conformance.report import compare_words as say
from conformance.report.compare_tables import tables

_TEMPLATE = Path(__file__).with_name("compare.html.jinja")


def render(comparison: Comparison, *, command: str = "") -> str:
    """Return a page; `command` is what made it."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        heading=say.heading(comparison),
        started=comparison.started,
        command=command,
        versions=comparison.versions,
        tables=tables(comparison),
    )
