"""The index of a vector file checked: no number in it may lead outside its column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.batch import MAX_RANK, VALUES, Ints, output_dtypes
from conformance.vector import Array
from conformance.vectorfile import layout
from conformance.vectorfile.hdf5_columns import ColumnFile

_ROW = 2048
"""Bytes a vector takes in memory besides its elements, about."""
_STEP = 1 << 15  # rows looked at together


def check_index(columns: ColumnFile, *, unchanged: bool = False) -> Ints:
    """Return, for each vector, the bytes a batch of all vectors before it takes; one more item.

    Raises VectorFileError for the first number that is out of bounds; the numbers of a file that is
    `unchanged` since it was made are not looked at one by one.
    """
    rows = _rows(columns)
    _check_lengths(columns, rows)
    for path, column in layout.COLUMNS.items():
        bounds = (0, rows["text"] - 1) if path in layout.TEXTS else column.bounds
        if bounds is not None and not unchanged:
            _check_range(columns, path, *bounds)
    _offsets(columns, "text/offset", (0, layout.MAX_TEXT), columns.lengths["text/bytes"])
    dtypes = output_dtypes(columns.attributes["operator"]) or ((),)
    first: dict[str, Ints] = {}
    for path, (table, least, most) in layout.FIRST_COLUMNS.items():
        outputs = len(dtypes) if table == "expected_arrays" else 1
        first[table] = _offsets(columns, path, (least, most * outputs), rows[table])
    _check_outputs(columns, first["expected_arrays"], dtypes)
    _check_outcomes(columns, first["outcomes"], first["expected_arrays"], len(dtypes))
    ends = np.arange(rows["vectors"] + 1, dtype=np.int64) * _ROW
    for table in layout.ARRAY_TABLES:
        ends += _check_arrays(columns, table)[first[table]]
    if (np.diff(ends) > layout.MAX_VECTOR + _ROW).any():
        raise columns.fail(f"a vector takes more than {layout.MAX_VECTOR} bytes")
    return ends


def _rows(columns: ColumnFile) -> dict[str, int]:
    """Return the number of rows of each table."""
    rows = {"vectors": columns.attributes["vectors"]}
    for table, path in layout.COUNTED.items():
        rows[table] = columns.lengths[path] - layout.COLUMNS[path].more
    for table, count in rows.items():
        if not 0 <= count <= layout.MAX_ROWS:
            raise columns.fail(f"{count} {table}, not 0 to {layout.MAX_ROWS}")
    for name in layout.ELEMENT_TYPES:
        paths = layout.element_columns(name)
        if any(path in columns.lengths for path in paths):
            rows[f"expected/{name}"] = columns.lengths.get(paths[0], 0)
    return rows


def _check_lengths(columns: ColumnFile, rows: dict[str, int]) -> None:
    """Check that the columns of one table are there, and of one length."""
    for path, column in layout.COLUMNS.items():
        if column.table not in rows:
            continue
        if path not in columns.lengths:
            if path == layout.OUTPUT_COLUMN:
                continue
            raise columns.fail(f"column {path} is missing")
        length, due = columns.lengths[path], rows[column.table] * column.per_row + column.more
        if length != due:
            raise columns.fail(f"column {path} has {length} elements and not {due}")


def _check_range(columns: ColumnFile, path: str, low: float, high: float) -> None:
    """Check that every number of a column is low to high, none NaN; an absent column is empty."""
    if path not in columns.lengths:
        return
    for block in columns.blocks(path):
        if block.size and not low <= block.min().item() <= block.max().item() <= high:
            raise columns.fail(f"a number in {path} is not {low} to {high}")


def _offsets(columns: ColumnFile, path: str, apart: tuple[int, int], total: int) -> Ints:
    """Return a column of offsets from 0 up to `total`, `apart` (least, most) from each other."""
    _check_range(columns, path, 0, total)
    offsets = columns.read(path)
    steps = np.diff(offsets)
    if offsets[0] != 0 or offsets[-1] != total:
        raise columns.fail(f"{path} does not go from 0 to {total}")
    if steps.size and not apart[0] <= steps.min() <= steps.max() <= apart[1]:
        raise columns.fail(f"{path} has a step that is not {apart[0]} to {apart[1]}")
    return offsets


def _spans(columns: ColumnFile, table: str) -> Iterator[tuple[int, int]]:
    """Yield the rows of a table in parts of bounded size."""
    rows = columns.lengths[layout.COUNTED[table]]
    for start in range(0, rows, _STEP):
        yield start, min(start + _STEP, rows)


def _check_arrays(columns: ColumnFile, table: str) -> Ints:
    """Check a table of arrays; return the bytes of all arrays before each row; one more item.

    The arrays of one type lie one after another without a gap: none overlaps another, so what
    a file makes a reader allocate is at most what it holds.
    """
    group = layout.ARRAY_TABLES[table]
    extra = 0 if group == "inputs" else 16
    paths = [layout.values_path(group, name) for name in layout.ELEMENT_TYPES]
    itemsizes = np.array([layout.COLUMNS[path].dtype.itemsize for path in paths])
    filled = [0] * len(paths)
    nbytes = np.zeros(columns.lengths[layout.COUNTED[table]] + 1, dtype=np.int64)
    for start, stop in _spans(columns, table):
        codes = columns.read(f"{table}/dtype", start, stop)
        if codes.max() >= len(paths):
            raise columns.fail(f"{table}: unknown element type {codes.max()}")
        sizes = _sizes(columns, table, start, stop)
        begins = columns.read(f"{table}/start", start, stop)
        for code in np.unique(codes).tolist():
            of_type = codes == code
            ends = filled[code] + np.cumsum(sizes[of_type])
            if (begins[of_type] != ends - sizes[of_type]).any():
                raise columns.fail(f"{table}: an array does not start where the last one ends")
            filled[code] = int(ends[-1])
        nbytes[start + 1 : stop + 1] = sizes * (itemsizes[codes] + extra)
    for path, length in zip(paths, filled, strict=True):
        if columns.lengths.get(path, 0) != length:
            raise columns.fail(f"{path} does not have the {length} elements of {table}")
    return np.cumsum(nbytes)


def _sizes(columns: ColumnFile, table: str, start: int, stop: int) -> Array:
    """Return the elements of each array; no shape may overflow on the way."""
    ranks = columns.read(f"{table}/rank", start, stop)
    shapes = columns.read(f"{table}/shape", MAX_RANK * start, MAX_RANK * stop)
    shapes = shapes.reshape(-1, MAX_RANK)
    used = np.arange(MAX_RANK) < ranks[:, None]
    if shapes[~used].any():
        raise columns.fail(f"{table}: an extent beyond the rank is not 0")
    reach = np.ones(len(ranks), dtype=np.int64)
    for axis in range(MAX_RANK):
        reach *= np.maximum(shapes[:, axis], 1)  # each factor is below 2**31: no overflow
        if reach.max() > layout.MAX_EXTENT:
            raise columns.fail(f"{table}: an array has more than {layout.MAX_EXTENT} elements")
    return np.where((used & (shapes == 0)).any(axis=1), 0, reach)


def _check_outputs(
    columns: ColumnFile, first_expected: Ints, dtypes: tuple[tuple[str, ...], ...]
) -> None:
    """Check that expected arrays come as all outputs of the operator in turn, of their types.

    `dtypes` are the types that each may have, () for that of the data.
    """
    count = len(dtypes)
    if (first_expected % count).any():
        raise columns.fail(f"a vector has not {count} expected arrays for each outcome")
    may_have = np.array(
        [[name in allowed or not allowed for name in layout.ELEMENT_TYPES] for allowed in dtypes]
    )
    for start, stop in _spans(columns, "expected_arrays"):
        outputs = np.arange(start, stop) % count
        stored = np.zeros_like(outputs)
        if layout.OUTPUT_COLUMN in columns.lengths:
            stored = columns.read(layout.OUTPUT_COLUMN, start, stop)
        if (stored != outputs).any():
            raise columns.fail(f"{layout.OUTPUT_COLUMN}: not outputs 0 to {count - 1} in turn")
        if not may_have[outputs, columns.read("expected_arrays/dtype", start, stop)].all():
            raise columns.fail("expected_arrays: an output is not of a type that it may have")


def _check_outcomes(
    columns: ColumnFile, first_outcome: Ints, first_expected: Ints, outputs: int
) -> None:
    """Check that an outcome has expected values of its own vector, if it is of that kind."""
    for start, stop in _spans(columns, "outcomes"):
        rows = columns.read("outcomes/expected", start, stop)
        holds = columns.read("outcomes/kind", start, stop) == VALUES
        vector = np.searchsorted(first_outcome, np.arange(start, stop), side="right") - 1
        inside = (first_expected[vector] <= rows) & (rows < first_expected[vector + 1])
        if not np.where(holds, inside, rows == -1).all():
            raise columns.fail("outcomes/expected: a row is not one of its vector's")
        if (rows[holds] % outputs).any():
            raise columns.fail("outcomes/expected: a row is not that of a first output")
