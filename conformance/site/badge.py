"""The verdict on an engine as a badge: a picture, and what badge services draw one from."""

from __future__ import annotations

import json
from html import escape

from conformance.api.releases import Release
from conformance.report import shared_blocks

_LABEL = "pooling"
_PER_CHARACTER, _MARGIN, _HEIGHT = 6.0, 6, 20
"""Pixels, of a sans serif of 11 pixels; `textLength` makes any font fit."""
_COLORS = {"brightgreen": "#3a7d1c", "orange": "#a85b00", "red": "#b3261e"}
"""The names that services know, and shades of them on which white can be read."""


def message(release: Release) -> tuple[str, str]:
    """Return what a badge says of a release, and the name of its colour."""
    if release.ok:
        return "conforms", "brightgreen"
    if not release.summary.complete:
        return "incomplete", "orange"
    total = release.total
    failing = sum(total[verdict] for verdict in release.failing)
    supported = failing + total["conforms"]
    if not failing:  # readings that are inconsistent, say
        return "does not conform", "red"
    few = shared_blocks.failing_tone(failing, supported) == "warn"
    return f"{failing:,} of {supported:,} fail", "orange" if few else "red"


def endpoint(release: Release) -> str:
    """Return the JSON that services read: schemaVersion, label, message and color."""
    text, color = message(release)
    said = {"schemaVersion": 1, "label": _LABEL, "message": text, "color": color}
    return json.dumps(said) + "\n"


def svg(release: Release) -> str:
    """Return a picture that needs no font and no address."""
    text, color = message(release)
    left, right = (round(_PER_CHARACTER * len(part)) + 2 * _MARGIN for part in (_LABEL, text))
    name = escape(f"{_LABEL}: {text}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" '
        f'role="img" aria-label="{name}"><title>{name}</title>'
        f'<rect width="{left + right}" height="{_HEIGHT}" rx="3" fill="{_COLORS[color]}"/>'
        f'<path d="M3 0h{left - 3}v{_HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#555"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{_text(_LABEL, 0, left)}{_text(text, left, right)}</g></svg>\n"
    )


def _text(text: str, start: int, width: int) -> str:
    place = f'x="{start + _MARGIN}" y="14" textLength="{width - 2 * _MARGIN}"'
    return f'<text {place} lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
