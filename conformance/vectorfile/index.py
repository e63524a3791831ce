"""The index of a vector file checked: no number in it may lead outside its column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from conformance.batch import KINDS, MAX_RANK, VALUES, output_dtypes
from conformance.vectorfile import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.batch import Ints
    from conformance.vector import Array
    from conformance.vectorfile.hdf5 import ColumnFile

ROW = 2048
"""Bytes a vector takes in memory besides its elements, about."""
_STEP = 1 << 15  # rows looked at together


def check_index(columns: ColumnFile) -> Ints:
    """Return, for each vector, the bytes a batch of all vectors before it takes; one more item.

    Raises VectorFileError for the first number that is out of bounds.
    """
    vectors = columns.attributes["vectors"]
    lengths = columns.lengths
    texts = lengths["text/offset"] - 1
    arrays = {table: lengths[f"{table}/rank"] for table in layout.ARRAY_TABLES}
    outcomes = lengths["outcomes/kind"]
    for rows, what in (
        (vectors, "vectors"),
        (texts, "texts"),
        (outcomes, "outcomes"),
        *((rows, table) for table, rows in arrays.items()),
    ):
        if not 0 <= rows <= layout.MAX_ROWS:
            raise columns.fail(f"{rows} {what}, not 0 to {layout.MAX_ROWS}")
    _check_lengths(columns, vectors, outcomes, arrays)
    _offsets(columns, "text/offset", (0, layout.MAX_TEXT), lengths["text/bytes"])
    for name in layout.TEXT_COLUMNS:
        _check_range(columns, f"vectors/{name}", 0, texts - 1)
    _check_range(columns, "outcomes/readings", 0, texts - 1)
    _check_range(columns, "outcomes/kind", 0, len(KINDS) - 1)
    _check_range(columns, "outcomes/element_type", 0, 1)
    _check_range(columns, "outcomes/flushed", 0, 1)
    for name in layout.ELEMENT_TYPES:
        _check_range(columns, f"expected/{name}/addends", -1, layout.MAX_EXTENT)
    first_input = _offsets(
        columns, "vectors/first_input", (1, layout.MAX_INPUTS), arrays["input_arrays"]
    )
    first_outcome = _offsets(columns, "vectors/first_outcome", (1, layout.MAX_OUTCOMES), outcomes)
    dtypes = output_dtypes(columns.attributes["operator"]) or ("",)
    most = layout.MAX_OUTCOMES * len(dtypes)
    first_expected = _offsets(
        columns, "vectors/first_expected", (0, most), arrays["expected_arrays"]
    )
    _check_outputs(columns, first_expected, dtypes)
    _check_outcomes(columns, first_outcome, first_expected, len(dtypes))
    ends = np.arange(vectors + 1, dtype=np.int64) * ROW
    ends += _check_arrays(columns, "input_arrays")[first_input]
    ends += _check_arrays(columns, "expected_arrays")[first_expected]
    if (np.diff(ends) > layout.MAX_VECTOR + ROW).any():
        raise columns.fail(f"a vector takes more than {layout.MAX_VECTOR} bytes")
    return ends


def _check_lengths(
    columns: ColumnFile, vectors: int, outcomes: int, arrays: dict[str, int]
) -> None:
    """Check that the columns of one table are of one length."""
    lengths = columns.lengths
    wanted = {f"vectors/{name}": vectors for name in layout.TEXT_COLUMNS}
    wanted |= {f"vectors/{name}": vectors + 1 for name in layout.FIRST_COLUMNS}
    for name in ("element_type", "flushed", "expected", "readings"):
        wanted[f"outcomes/{name}"] = outcomes
    for table, rows in arrays.items():
        wanted |= {f"{table}/{name}": rows for name in ("dtype", "start")}
        wanted[f"{table}/shape"] = MAX_RANK * rows
    if layout.OUTPUT_COLUMN in lengths:
        wanted[layout.OUTPUT_COLUMN] = arrays["expected_arrays"]
    for name in layout.ELEMENT_TYPES:
        values, *rest = layout.element_columns(name)
        if any(path in lengths for path in (values, *rest)):
            wanted |= dict.fromkeys((values, *rest), lengths.get(values, 0))
    for path, length in wanted.items():
        if path not in lengths:
            raise columns.fail(f"column {path} is missing")
        if lengths[path] != length:
            raise columns.fail(f"column {path} has {lengths[path]} elements and not {length}")


def _check_range(columns: ColumnFile, path: str, low: int, high: int) -> None:
    """Check that every number of a column is low to high; an absent column is empty."""
    if path not in columns.lengths:
        return
    for block in columns.blocks(path):
        if block.size and not low <= int(block.min()) <= int(block.max()) <= high:
            raise columns.fail(f"a number in {path} is not {low} to {high}")


def _offsets(columns: ColumnFile, path: str, count: tuple[int, int], total: int) -> Ints:
    """Return a column of offsets from 0 up to `total`, `count` apart (least, most)."""
    _check_range(columns, path, 0, total)
    offsets = columns.read(path)
    steps = np.diff(offsets)
    if offsets[0] != 0 or offsets[-1] != total:
        raise columns.fail(f"{path} does not go from 0 to {total}")
    if steps.size and not count[0] <= steps.min() <= steps.max() <= count[1]:
        raise columns.fail(f"{path} has a step that is not {count[0]} to {count[1]}")
    return offsets


def _spans(rows: int) -> Iterator[tuple[int, int]]:
    for start in range(0, rows, _STEP):
        yield start, min(start + _STEP, rows)


def _check_arrays(columns: ColumnFile, table: str) -> Ints:
    """Check a table of arrays; return the bytes of all arrays before each row; one more item.

    The arrays of one type lie one after another without a gap: none overlaps another, so what
    a file makes a reader allocate is at most what it holds.
    """
    group = layout.ARRAY_TABLES[table]
    extra = 0 if group == "inputs" else 16
    itemsizes = np.array(
        [layout.COLUMNS[layout.values_path(group, n)].itemsize for n in layout.ELEMENT_TYPES]
    )
    rows = columns.lengths[f"{table}/rank"]
    filled = dict.fromkeys(range(len(itemsizes)), 0)
    nbytes = np.zeros(rows + 1, dtype=np.int64)
    for start, stop in _spans(rows):
        codes = columns.read(f"{table}/dtype", start, stop)
        if codes.max() >= len(itemsizes):
            raise columns.fail(f"{table}: unknown element type {codes.max()}")
        sizes = _sizes(columns, table, start, stop)
        begins = columns.read(f"{table}/start", start, stop)
        for code in np.unique(codes).tolist():
            mine = codes == code
            ends = filled[code] + np.cumsum(sizes[mine])
            if (begins[mine] != ends - sizes[mine]).any():
                raise columns.fail(f"{table}: an array does not start where the last one ends")
            filled[code] = int(ends[-1])
        nbytes[start + 1 : stop + 1] = sizes * (itemsizes[codes] + extra)
    for code, length in filled.items():
        path = layout.values_path(group, layout.ELEMENT_TYPES[code])
        if columns.lengths.get(path, 0) != length:
            raise columns.fail(f"{path} does not have the {length} elements of {table}")
    return np.cumsum(nbytes)


def _sizes(columns: ColumnFile, table: str, start: int, stop: int) -> Array:
    """Return the elements of each array; no shape may overflow on the way."""
    ranks = columns.read(f"{table}/rank", start, stop)
    if not 1 <= ranks.min() <= ranks.max() <= MAX_RANK:
        raise columns.fail(f"{table}: a rank is not 1 to {MAX_RANK}")
    shapes = columns.read(f"{table}/shape", MAX_RANK * start, MAX_RANK * stop)
    shapes = shapes.reshape(-1, MAX_RANK)
    if shapes.min() < 0 or shapes.max() > layout.MAX_EXTENT:
        raise columns.fail(f"{table}: an extent is not 0 to {layout.MAX_EXTENT}")
    used = np.arange(MAX_RANK) < ranks[:, None]
    if shapes[~used].any():
        raise columns.fail(f"{table}: an extent beyond the rank is not 0")
    reach = np.ones(len(ranks), dtype=np.int64)
    for axis in range(MAX_RANK):
        reach *= np.maximum(shapes[:, axis], 1)  # each factor is below 2**31: no overflow
        if reach.max() > layout.MAX_EXTENT:
            raise columns.fail(f"{table}: an array has more than {layout.MAX_EXTENT} elements")
    return np.where((used & (shapes == 0)).any(axis=1), 0, reach)


def _check_outputs(columns: ColumnFile, first_expected: Ints, dtypes: tuple[str, ...]) -> None:
    """Check that expected arrays come as all outputs of the operator in turn, of their types.

    `dtypes` are those types, "" for that of the data.
    """
    count = len(dtypes)
    if (first_expected % count).any():
        raise columns.fail(f"a vector has not {count} expected arrays for each outcome")
    codes = np.array([layout.ELEMENT_TYPES.index(name) if name else -1 for name in dtypes])
    for start, stop in _spans(columns.lengths["expected_arrays/rank"]):
        outputs = np.arange(start, stop) % count
        stored = np.zeros_like(outputs)
        if layout.OUTPUT_COLUMN in columns.lengths:
            stored = columns.read(layout.OUTPUT_COLUMN, start, stop)
        if (stored != outputs).any():
            raise columns.fail(f"{layout.OUTPUT_COLUMN}: not outputs 0 to {count - 1} in turn")
        wanted = codes[outputs]
        if ((wanted >= 0) & (columns.read("expected_arrays/dtype", start, stop) != wanted)).any():
            raise columns.fail("expected_arrays: an output is not of the type it always has")


def _check_outcomes(
    columns: ColumnFile, first_outcome: Ints, first_expected: Ints, outputs: int
) -> None:
    """Check that an outcome has expected values of its own vector, if it is of that kind."""
    for start, stop in _spans(columns.lengths["outcomes/kind"]):
        rows = columns.read("outcomes/expected", start, stop)
        holds = columns.read("outcomes/kind", start, stop) == VALUES
        vector = np.searchsorted(first_outcome, np.arange(start, stop), side="right") - 1
        inside = (first_expected[vector] <= rows) & (rows < first_expected[vector + 1])
        if not np.where(holds, inside, rows == -1).all():
            raise columns.fail("outcomes/expected: a row is not one of its vector's")
        if (rows[holds] % outputs).any():
            raise columns.fail("outcomes/expected: a row is not that of a first output")
