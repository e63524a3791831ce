"""Writes docs/report.schema.json from the types of the lines: `python docs/make_schema.py`.

A test compares it with the file.
"""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from inspect import cleandoc
from pathlib import Path
from typing import Any

from msgspec.json import schema_components

from conformance.record import report
from conformance.record.line_types import VERSION, Footer, Header, ResultLine

PAGE = Path(__file__).with_name("report.schema.json")

DESCRIPTION = (
    "A report is a header, a line for each result, and a footer. A number that is not finite is "
    "a text. Later programs may add fields: ignore what you do not know."
)


def page() -> str:
    """Return the schema as it should be."""
    lines, definitions = schema_components(
        (Header, ResultLine, Footer), ref_template="#/$defs/{name}"
    )
    for name, definition in definitions.items():
        _complete(name, definition)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a pooling-conformance report, version {VERSION}",
        "description": DESCRIPTION,
        "oneOf": list(lines),
        "$defs": definitions,
    }
    return json.dumps(schema, indent=1) + "\n"


def _complete(name: str, definition: dict[str, Any]) -> None:
    """Say that all fields of a dataclass are there: those with a default are written, too."""
    definition["description"] = " ".join(cleandoc(definition["description"]).split())
    properties = definition["properties"]
    if is_dataclass(getattr(report, name, None)):
        definition["required"] = list(properties)
    for content in properties.values():
        content.pop("default", None)
        # Versions of msgspec differ in the order.
        content.get("anyOf", []).sort(key=str)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
