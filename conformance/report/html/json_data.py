"""Data of a page as JSON: texts of strangers made harmless, our own as they are."""

from __future__ import annotations

import json
from typing import Any

from conformance.text import html

_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class TrustedText(str):
    """Text that this package made, base64 say: written as it is, however long."""

    __slots__ = ()


def json_text(value: Any) -> str:
    """Return JSON that can stand in a script element: ASCII without angle brackets."""
    return json.dumps(_clean(value), separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def shown(value: Any) -> Any:
    """Return a text as a page shows it; what is no plain text (numbers, markup) as it is."""
    return html(value) if type(value) is str else value


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {shown(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return shown(value)
