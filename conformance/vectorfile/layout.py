"""What a vector file holds: columns and their types, limits, texts and digest (docs/format.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Final, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from conformance.batch import KINDS, MAX_RANK
from conformance.dtypes import OF_ML_DTYPES, DType, bits_of, dtype_of
from conformance.vector import TIED, TIERS, Arithmetic, Array, Provenance

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
    "float8_e4m3fn",
    "float8_e5m2",
)

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


def to_json(value: object) -> str:
    """Return `value` as compact JSON text; ValueError if JSON cannot hold it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _json(kind: Any) -> Callable[[str], Any]:
    """Return a function from a JSON text to a value of a type; ValueError for any other."""
    decoder = msgspec.json.Decoder(kind)

    def parse(text: str) -> Any:
        try:
            return decoder.decode(text)
        except RecursionError:
            raise ValueError("JSON is nested too deeply") from None

    return parse


def _one_of(what: str, names: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f"{what} {text[:40]!r} is not one of {', '.join(names)}")
        return text

    return parse


def _id(text: str) -> str:
    if not text or not text.isprintable():  # it has to fit on a line of any report
        raise ValueError("an id is empty or not printable")
    return text


_Scalar = int | float | bool | str | None
_Combinations = Annotated[tuple[dict[str, str], ...], msgspec.Meta(min_length=1)]

_OF_SUMS = Arithmetic.ELEMENT_TYPE | Arithmetic.OVERFLOWS
SUMS: Final = np.array([0, _OF_SUMS, Arithmetic.ELEMENT_TYPE, Arithmetic.OVERFLOWS], np.uint8)
"""What the bound of an outcome admits of sums, by the code that is stored.

That is called `outcomes/element_type`: 0 and 1 were all codes before overflow was told apart.
"""


def sums_of(arithmetic: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the codes that are stored of what bounds admit of sums."""
    code_of = np.zeros(int(max(SUMS)) + 1, np.uint8)
    code_of[SUMS] = np.arange(SUMS.size)
    codes: npt.NDArray[np.uint8] = code_of[arithmetic & _OF_SUMS]
    return codes


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Covered(msgspec.Struct, frozen=True):
    """How many combinations of so many attribute levels there are, and are in some vector."""

    strength: _Count
    feasible: _Count
    covered: _Count
    infeasible: _Count = 0


class Header(msgspec.Struct, frozen=True):
    """The fields of a header that readers look at, of the files that have them."""

    package: str = ""
    made_by: str = ""
    tier: str = ""
    seed: int = 0
    strength: _Count = 0
    max_shapes: _Count = 0
    part: _Count = 0
    parts: _Count = 0
    like: tuple[str, ...] = ()
    coverage: dict[str, Covered] = {}


_header: Final = _json(dict[str, Any])


def header_of(text: str) -> dict[str, Any]:
    """Return the header from its text; ValueError unless each field is as `Header` says.

    A header may have other fields: they say what made the file, to people.
    """
    header: dict[str, Any] = _header(text)
    msgspec.convert(header, Header)
    return header


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of numbers of texts: the field of a Batch, and the function from text to value."""

    field: str
    parse: Callable[[str], Any]


TEXTS: Final = {
    "vectors/id": TextColumn("ids", _id),
    "vectors/attributes": TextColumn("attributes", _json(dict[str, _Scalar | list[_Scalar]])),
    "vectors/tier": TextColumn("tier", _one_of("tier", TIERS)),
    "vectors/pattern": TextColumn("pattern", str),
    "vectors/provenance": TextColumn("provenance", _one_of("provenance", get_args(Provenance))),
    "vectors/source": TextColumn("source", str),
    "vectors/tags": TextColumn("tags", _json(tuple[str, ...])),
    "vectors/clauses": TextColumn("clauses", _json(dict[str, tuple[str, ...]])),
    "outcomes/readings": TextColumn("outcome_readings", _json(_Combinations)),
}


@dataclass(frozen=True, slots=True)
class Column:
    """The type and length of a column: `per_row` elements for each row of `table` and `more`.

    A column of no table has a length of its own. `bounds` are the least and the largest number.
    """

    dtype: DType
    table: str = ""
    per_row: int = 1
    more: int = 0
    bounds: tuple[float, float] | None = None
    required: bool = True


FIRST_COLUMNS: Final = {
    "vectors/first_input": ("input_arrays", 1, MAX_INPUTS),
    "vectors/first_outcome": ("outcomes", 1, MAX_OUTCOMES),
    "vectors/first_expected": ("expected_arrays", 0, MAX_OUTCOMES),
}
"""Where the rows of a vector start: in which table, and the least and the most rows it has there.

Expected arrays are counted for each output of the operator.
"""
OUTPUT_COLUMN: Final = "expected_arrays/output"
"""Which output a row of the expected table is of; absent where all are of the first."""
ARRAY_TABLES: Final = {"input_arrays": "inputs", "expected_arrays": "expected"}
"""The two tables of arrays, each with the group of its elements."""
COUNTED: Final = {
    "text": "text/offset",
    "outcomes": "outcomes/kind",
    "input_arrays": "input_arrays/rank",
    "expected_arrays": "expected_arrays/rank",
}
"""The tables whose rows are counted, each with the column whose length says how many there are."""


def values_path(group: str, name: str) -> str:
    """Return the column of the elements of one type in group `inputs` or `expected`."""
    return f"inputs/{name}" if group == "inputs" else f"expected/{name}/values"


def element_columns(name: str) -> tuple[str, ...]:
    """Return the columns of the expected elements of one type, in the order of Expected."""
    return tuple(
        f"expected/{name}/{part}" for part in ("values", "addends", "divisor", "magnitude")
    )


def _columns() -> Iterator[tuple[str, Column]]:
    byte, int32, int64 = np.dtype("u1"), np.dtype("<i4"), np.dtype("<i8")
    flag = Column(byte, "outcomes", bounds=(0, 1))
    yield "text/bytes", Column(byte)
    yield "text/offset", Column(int64, "text", more=1)
    for path in TEXTS:
        yield path, Column(int32, path.partition("/")[0])
    for path in FIRST_COLUMNS:
        yield path, Column(int64, "vectors", more=1)
    yield "outcomes/kind", Column(byte, "outcomes", bounds=(0, len(KINDS) - 1))
    yield "outcomes/element_type", Column(byte, "outcomes", bounds=(0, SUMS.size - 1))
    yield "outcomes/flushed", flag
    yield "outcomes/expected", Column(int64, "outcomes")
    for table in ARRAY_TABLES:
        yield f"{table}/dtype", Column(byte, table)
        yield f"{table}/rank", Column(byte, table, bounds=(1, MAX_RANK))
        yield f"{table}/shape", Column(int64, table, MAX_RANK, bounds=(0, MAX_EXTENT))
        yield f"{table}/start", Column(int64, table)
    yield OUTPUT_COLUMN, Column(byte, "expected_arrays", required=False)
    for name in ELEMENT_TYPES:
        dtype = bits_of(dtype_of(name)).newbyteorder("<")
        values, addends, divisor, magnitude = element_columns(name)
        table = f"expected/{name}"
        counts = Column(int32, table, bounds=(TIED, MAX_EXTENT), required=False)
        yield values_path("inputs", name), Column(dtype, required=False)
        yield values, Column(dtype, table, required=False)
        yield addends, counts
        yield divisor, Column(int32, table, bounds=(-MAX_EXTENT, MAX_EXTENT), required=False)
        finite = (0.0, float(np.finfo(np.float64).max))
        yield magnitude, Column(np.dtype("<f8"), table, bounds=finite, required=False)


COLUMNS: Final[Mapping[str, Column]] = dict(_columns())
"""Every column there can be, by its path."""
REQUIRED: Final = tuple(path for path, column in COLUMNS.items() if column.required)
"""Columns every file has; the others are there when something needs them."""
GROUPS: Final = {path.rpartition("/")[0] for path in COLUMNS} | {"expected"}


def stored(array: Array) -> Array:
    """Return a flat array as its column stores it."""
    return array.view(bits_of(array.dtype))


def elements(column: Array, name: str = "") -> Array:
    """Return stored elements as an array of type `name`; copied only on a big-endian machine."""
    native = column.astype(column.dtype.newbyteorder("="), copy=False)
    return native.view(dtype_of(name)) if name in OF_ML_DTYPES else native


def digest_of(operator: str, columns: Mapping[str, tuple[int, str]]) -> str:
    """Return the digest of a file from the length and sha256 of each of its columns.

    The header is not part of it: it may name the version that wrote the file, and has a digest of
    its own.
    """
    lines = [f"{FORMAT} {VERSION} {operator}\n"]
    for path in sorted(columns):
        length, content = columns[path]
        lines.append(f"{path} {COLUMNS[path].dtype.name} {length} {content}\n")
    return sha256("".join(lines).encode()).hexdigest()


def header_digest_of(operator: str, header: str) -> str:
    """Return the digest of the header of a file, from its text."""
    return sha256(f"{FORMAT} {VERSION} {operator}\n{header}".encode()).hexdigest()


def operators() -> tuple[str, ...]:
    """Return the names of the operators a file may hold, in the order of the suite."""
    from conformance.operators import OPERATORS  # noqa: PLC0415 - reading a file needs no more of it

    return tuple(OPERATORS)
