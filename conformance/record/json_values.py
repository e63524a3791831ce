"""Values as JSON for programs: dataclasses as lines and objects.

NaN and the infinities, which JSON lacks, are the texts "nan", "inf" and "-inf".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec


def json_line(value: Any) -> bytes:
    """Return a dataclass as one line of JSON in UTF-8, with its line end."""
    values = _builtins(value)
    try:
        return json_bytes(values)
    except ValueError:  # some number is not finite: few values have any, and a search takes time
        return json_bytes(_with_finite_numbers(values))


def json_values(value: Any) -> Any:
    """Return a dataclass, or a value that holds some, as objects, lists, texts and numbers."""
    return _with_finite_numbers(_builtins(value))


def json_bytes(values: Any, *, indent: int | None = None) -> bytes:
    """Return values as JSON in UTF-8 with a line end; ValueError if a number is not finite."""
    text = json.dumps(
        values,
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
        separators=None if indent else (",", ":"),
    )
    # Half a surrogate pair, from an undecodable file name say, has no UTF-8 form.
    return text.encode("utf-8", "replace") + b"\n"


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_as_builtin)


def _as_builtin(value: Any) -> Any:
    """Return a read-only mapping, or a scalar or array of numpy, as msgspec takes it."""
    return dict(value) if isinstance(value, Mapping) else value.tolist()


def _with_finite_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _with_finite_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_finite_numbers(item) for item in value]
    return value
