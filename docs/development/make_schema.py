"""Writes docs/report.schema.json from the types of a report: `make_schema.py`.

A test compares it with the file.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import MISSING, fields, is_dataclass
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, Union, get_args, get_type_hints

from msgspec import Meta, Struct, defstruct
from msgspec.json import schema_components

from conformance.record import report
from conformance.record.jsonl import FOOTER, HEADER, RARE, RESULT, SCHEMA, VERSION, Totals
from conformance.record.report import Footer, Header, Report, Result

PAGE = Path(__file__).parents[1] / "report.schema.json"

DESCRIPTION = (
    "A report is a header, a line for each result, and a footer. A number that is not finite is "
    "a text. Later programs may add fields: ignore what you do not know."
)
_FURTHER = {
    "schema": Literal[SCHEMA],
    "version": Literal[VERSION],
    "detail": Annotated[str, Meta(description=Result.detail.__doc__)],
    **{
        name: Annotated[hint, Meta(description=getattr(Report, name).__doc__)]
        for name, hint in get_type_hints(Totals, include_extras=True).items()
    },
}
"""Fields of lines that are not among those of the values."""
_OPTIONAL = RARE | {field.name for field in fields(Header) if field.default is not MISSING}


def page() -> str:
    """Return the schema as it should be, a line for each definition."""
    types = (
        _line("header", Header, ["schema", "version", *HEADER]),
        _line("result", Result, RESULT),
        _line("footer", Footer, FOOTER),
    )
    lines, definitions = schema_components(types, ref_template="#/$defs/{name}")
    for name, definition in definitions.items():
        _complete(name, definition)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a pooling-conformance report, version {VERSION}",
        "description": DESCRIPTION,
        "oneOf": list(lines),
        "$defs": definitions,
    }
    made = json.loads(json.dumps(schema), object_hook=_settled)
    definitions = made.pop("$defs")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in definitions.items())
    return f'{json.dumps(made)[:-1]},\n"$defs": {{\n{rows}\n}}}}\n'


def _settled(node: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the schema with unordered lists sorted, as versions of msgspec differ.

    A number that is not finite is a text.
    """
    for unordered in {"anyOf", "enum"} & node.keys():
        node[unordered].sort(key=str)
    texts = node.pop("not_finite", None)
    return node if texts is None else {"anyOf": [{"enum": texts}, node]}


def _line(kind: str, of: type, names: Collection[str]) -> type[Struct]:
    """Return the type of a kind of line, with the fields that are written."""
    hints = _FURTHER | get_type_hints(of, include_extras=True)
    return defstruct(
        of.__name__,
        [
            (name, _present(hints[name]), None) if name in _OPTIONAL else (name, hints[name])
            for name in names
        ],
        namespace={"__doc__": of.__doc__},
        tag_field="kind",
        tag=kind,
        kw_only=True,
    )


def _present(hint: Any) -> Any:
    """Return the type of an optional field where it is there: None is left out."""
    kinds = get_args(hint)
    return Union[*(kind for kind in kinds if kind is not NoneType)] if NoneType in kinds else hint


def _complete(name: str, definition: dict[str, Any]) -> None:
    """Say that all fields of a dataclass are there: those with a default are written, too."""
    definition["description"] = " ".join(cleandoc(definition["description"]).split())
    properties = definition["properties"]
    if is_dataclass(getattr(report, name, None)) and name not in {"Header", "Footer"}:
        definition["required"] = list(properties)
    for content in properties.values():
        content.pop("default", None)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
