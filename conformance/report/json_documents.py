"""Comparisons and differences as JSON documents, for programs."""

from __future__ import annotations

from typing import Any

from conformance.api.compare import Comparison
from conformance.api.diff import WAYS, Difference
from conformance.record.json_values import json_bytes, json_values

COMPARISON_FORMAT, COMPARISON_VERSION = "pooling-conformance comparison", 1


def comparison_json(comparison: Comparison) -> str:
    """Return a comparison as a JSON document; docs/comparing.md lists its keys."""
    document: dict[str, Any] = {"format": COMPARISON_FORMAT, "version": COMPARISON_VERSION}
    document |= json_values(comparison)
    document["backends"] = [
        {key: backend[key] for key in ("backend", "version", "problem")}
        if backend["problem"]
        else {key: value for key, value in backend.items() if key != "problem"}
        for backend in document["backends"]
    ]
    return json_bytes(document, indent=1).decode()


def difference_json(difference: Difference) -> str:
    """Return a difference as one JSON object; its `got_worse` is empty if nothing got worse."""
    document = json_values(difference)
    document["got_worse"] = difference.worse
    document["vectors"] = {way: difference.count(way) for way in WAYS}
    return json_bytes(document, indent=2).decode()
