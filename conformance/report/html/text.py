"""Text of strangers made harmless for a page: what cannot be seen is shown, what is endless cut."""

from __future__ import annotations

import json
from typing import Any

LONGEST = 4000
"""Characters of one text that a page shows."""


class Own(str):
    """Text that this package made, base64 say: shown as it is, however long."""

    __slots__ = ()


_BREAKS = str.maketrans(dict.fromkeys("\n\t"))
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def visible(value: Any, longest: int = LONGEST) -> Any:
    """Return text with control, direction and unpaired characters written as escapes.

    Line breaks and tabs stay. Text beyond `longest` characters is cut, and says so. What is not
    plain text (numbers, markup of our own) is returned as it is.
    """
    if type(value) is not str:
        return value
    text = value if len(value) <= longest else value[:longest]
    if not text.isprintable() and not text.translate(_BREAKS).isprintable():
        text = "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)
    return text if len(value) <= longest else f"{text} … ({len(value):,} characters in all)"


def json_text(value: Any) -> str:
    """Return JSON that can stand in a script element: ASCII without angle brackets."""
    return json.dumps(_clean(value), separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {visible(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return visible(value)
