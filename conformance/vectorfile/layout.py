"""What a vector file holds: columns and their types, limits, texts and digest (docs/format.md)."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from conformance.dtypes import dtype_of
from conformance.vector import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.dtypes import DType
    from conformance.vector import Array

FORMAT: Final = "pooling-conformance vectors"
VERSION: Final = 1
SUFFIX: Final = ".h5"

# The place in this tuple is the code in the file: append only.
ELEMENT_TYPES: Final = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
)

TEXT_COLUMNS: Final = (
    "id",
    "attributes",
    "tier",
    "pattern",
    "provenance",
    "source",
    "tags",
    "clauses",
)
FIRST_COLUMNS: Final = ("first_input", "first_outcome", "first_expected")
_ARRAY_COLUMNS = {"dtype": "u1", "rank": "u1", "shape": "<i8", "start": "<i8"}
_OUTCOME_COLUMNS = {
    "kind": "u1",
    "element_type": "u1",
    "flushed": "u1",
    "expected": "<i8",
    "readings": "<i4",
}
_ELEMENT_COLUMNS = {"addends": "<i4", "divisor": "<i4", "magnitude": "<f8"}
OUTPUT_COLUMN: Final = "expected_arrays/output"
"""Which output a row of the expected table is of; absent where all are of the first."""
ARRAY_TABLES: Final = {"input_arrays": "inputs", "expected_arrays": "expected"}
"""The two tables of arrays, each with the group of its elements."""

MAX_ROWS: Final = 1 << 24
"""Rows of any table: vectors, arrays, outcomes, texts."""
MAX_TEXT: Final = 1 << 20
"""Bytes of one text."""
MAX_HEADER: Final = 60_000
"""Bytes of the header: HDF5 keeps an attribute below 64 KiB."""
MAX_EXTENT: Final = (1 << 31) - 1
"""Extent of one axis, and elements of one array."""
MAX_VECTOR: Final = 1 << 30
"""Bytes of the arrays of one vector."""
MAX_CHUNKS: Final = 1 << 17
"""Chunks of all columns of a file."""
MAX_INPUTS: Final = 16
MAX_OUTCOMES: Final = 1024

_PROVENANCES = ("printed", "derived", "computed")


def _storage(name: str) -> DType:
    """Return the little-endian type that stores an element type; bfloat16 as its 16 bits."""
    return np.dtype("<u2") if name == "bfloat16" else dtype_of(name).newbyteorder("<")


def values_path(group: str, name: str) -> str:
    """Return the column of the elements of one type in group `inputs` or `expected`."""
    return f"inputs/{name}" if group == "inputs" else f"expected/{name}/values"


def element_columns(name: str) -> tuple[str, ...]:
    """Return the columns of the expected elements of one type, in the order of ExpectedColumns."""
    return tuple(f"expected/{name}/{column}" for column in ("values", *_ELEMENT_COLUMNS))


def _required() -> dict[str, DType]:
    kinds = {"text/bytes": "u1", "text/offset": "<i8"}
    kinds |= {f"vectors/{column}": "<i4" for column in TEXT_COLUMNS}
    kinds |= {f"vectors/{column}": "<i8" for column in FIRST_COLUMNS}
    for table in ARRAY_TABLES:
        kinds |= {f"{table}/{column}": kind for column, kind in _ARRAY_COLUMNS.items()}
    kinds |= {f"outcomes/{column}": kind for column, kind in _OUTCOME_COLUMNS.items()}
    return {path: np.dtype(kind) for path, kind in kinds.items()}


def _optional() -> dict[str, DType]:
    kinds: dict[str, DType] = {OUTPUT_COLUMN: np.dtype("u1")}
    for name in ELEMENT_TYPES:
        kinds[values_path("inputs", name)] = _storage(name)
        kinds[values_path("expected", name)] = _storage(name)
        for column, kind in _ELEMENT_COLUMNS.items():
            kinds[f"expected/{name}/{column}"] = np.dtype(kind)
    return kinds


REQUIRED: Final = _required()
"""Columns every file has, with their types."""
OPTIONAL: Final = _optional()
"""Columns that are there when something needs them, as those of elements of a type."""
COLUMNS: Final = REQUIRED | OPTIONAL
GROUPS: Final = {path.rpartition("/")[0] for path in COLUMNS} | {"expected"}


def stored(array: Array) -> Array:
    """Return a flat array as its column stores it."""
    name = array.dtype.name
    return array.view(np.uint16) if name == "bfloat16" else array


def elements(column: Array, name: str = "") -> Array:
    """Return stored elements as an array of type `name`; copied only on a big-endian machine."""
    native = column.astype(column.dtype.newbyteorder("="), copy=False)
    return native.view(dtype_of(name)) if name == "bfloat16" else native


def digest_of(operator: str, columns: Mapping[str, tuple[int, str]]) -> str:
    """Return the digest of a file from the length and sha256 of each of its columns.

    The header is not part of it: it may name the version that wrote the file.
    """
    lines = [f"{FORMAT} {VERSION} {operator}\n"]
    for path in sorted(columns):
        length, content = columns[path]
        lines.append(f"{path} {COLUMNS[path].name} {length} {content}\n")
    return sha256("".join(lines).encode()).hexdigest()


def operators() -> tuple[str, ...]:
    """Return the names of the operators a file may hold, in the order of the suite."""
    from conformance.operators import OPERATORS  # noqa: PLC0415 - reading a file needs no more of it

    return tuple(OPERATORS)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def to_json(value: object) -> str:
    """Return `value` as compact JSON text; ValueError if JSON cannot hold it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def from_json(text: str) -> Any:
    """Return the value of a JSON text; ValueError for anything that is not plain JSON."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    if "\\u" in text:
        # An escape may hide half of a surrogate pair, which no output could encode.
        to_json(value).encode()
    return value


def attributes_of(text: str) -> dict[str, Any]:
    """Return attributes: names with a number, bool, string, null or a flat list of these."""
    value = from_json(text)
    if type(value) is not dict:
        raise ValueError("attributes are not a JSON object")
    for item in value.values():
        for each in item if type(item) is list else (item,):
            kind = type(each)
            if kind not in _SCALARS or (kind is float and not math.isfinite(each)):
                raise ValueError("an attribute is neither a scalar nor a flat list of scalars")
    return value


def tags_of(text: str) -> tuple[str, ...]:
    """Return a JSON list of strings."""
    return _strings(from_json(text))


def clauses_of(text: str) -> dict[str, tuple[str, ...]]:
    """Return clause names with their readings."""
    value = from_json(text)
    if type(value) is not dict:
        raise ValueError("clauses are not a JSON object")
    return {name: _strings(readings) for name, readings in value.items()}


def readings_of(text: str) -> tuple[dict[str, str], ...]:
    """Return combinations of readings: a list of objects clause -> reading."""
    value = from_json(text)
    if type(value) is not list or not value or any(type(each) is not dict for each in value):
        raise ValueError("readings are not a JSON list of objects")
    for each in value:
        _strings(list(each.values()))
    return tuple(value)


def header_of(text: str) -> dict[str, Any]:
    """Return the header: any JSON object."""
    value = from_json(text)
    if type(value) is not dict:
        raise ValueError("the header is not a JSON object")
    return value


def id_of(text: str) -> str:
    """Return a vector's id: printable, so that it fits on a line of any report."""
    if not text or not text.isprintable():
        raise ValueError("an id is empty or not printable")
    return text


def tier_of(text: str) -> str:
    """Return the name of a tier."""
    if text not in TIERS:
        raise ValueError(f"tier {text[:40]!r} is not one of {', '.join(TIERS)}")
    return text


def provenance_of(text: str) -> str:
    """Return the name of a provenance."""
    if text not in _PROVENANCES:
        raise ValueError(f"provenance {text[:40]!r} is not one of {', '.join(_PROVENANCES)}")
    return text


PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "id": id_of,
    "attributes": attributes_of,
    "tier": tier_of,
    "pattern": str,
    "provenance": provenance_of,
    "source": str,
    "tags": tags_of,
    "clauses": clauses_of,
    "readings": readings_of,
}
"""For each text column the function from its text to the value in a Batch."""


_SCALARS = frozenset((int, bool, str, float, type(None)))


def _strings(value: object) -> tuple[str, ...]:
    if type(value) is not list or any(type(item) is not str for item in value):
        raise ValueError("not a JSON list of strings")
    return tuple(value)
