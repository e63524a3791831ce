"""A comparison as JSON: the values, for programs."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from conformance.compare.comparison import Compared, Comparison
from conformance.report.encoding import plain

FORMAT = "pooling-conformance comparison"
VERSION = 1


def render(comparison: Comparison) -> str:
    """Return a comparison as a JSON document; docs/comparing.md lists its keys."""
    document = {"format": FORMAT, "version": VERSION} | {
        field.name: plain(getattr(comparison, field.name)) for field in fields(comparison)
    }
    document["backends"] = [_backend(each) for each in comparison.backends]
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _backend(each: Compared) -> dict[str, Any]:
    if each.problem:
        return {"backend": each.backend, "version": each.version, "problem": each.problem}
    values: dict[str, Any] = plain(each)
    del values["problem"]
    return values
