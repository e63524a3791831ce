"""Comparisons and differences as JSON documents, for programs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from conformance.api.compare import Comparison
from conformance.api.diff import WAYS, Difference
from conformance.api.releases import Release
from conformance.record.json_values import json_bytes, json_values

COMPARISON_FORMAT, COMPARISON_VERSION = "pooling-conformance comparison", 1


def comparison_json(comparison: Comparison) -> str:
    """Return a comparison as a JSON document; docs/comparing.md lists its keys."""
    document: dict[str, Any] = {"format": COMPARISON_FORMAT, "version": COMPARISON_VERSION}
    document["backends"] = [_backend(release, comparison) for release in comparison.backends]
    others = (each.name for each in fields(comparison))
    document |= {
        name: getattr(comparison, name) for name in others if name not in {"backends", "arithmetic"}
    }
    return json_bytes(json_values(document), indent=1).decode()


def _backend(release: Release, comparison: Comparison) -> dict[str, Any]:
    name = {"backend": release.backend, "version": release.version}
    if release.problem:
        return name | {"problem": release.problem}
    report = release.summary
    return name | {
        "counts": release.counts,
        "readings": report.readings,
        "undefined": report.undefined,
        "accuracy": report.accuracy,
        "causes": report.diagnoses,
        "seconds": report.backend_seconds,
        "vectors": len(release.verdicts),
        "arithmetic": comparison.arithmetic.get(release.backend),
    }


def difference_json(difference: Difference) -> str:
    """Return a difference as one JSON object; its `got_worse` is empty if nothing got worse."""
    document = json_values(difference)
    document["got_worse"] = difference.worse
    document["vectors"] = {way: difference.count(way) for way in WAYS}
    return json_bytes(document, indent=2).decode()
