"""Rows of the tables picked out, and the arrays and texts that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.batch import MAX_RANK, ExpectedColumns, Ints
from conformance.dtypes import DType, dtype_of
from conformance.vector import Array
from conformance.vectorfile import layout
from conformance.vectorfile.hdf5_columns import ColumnFile

_MAX_TEXTS = 1 << 28  # bytes of the texts of one batch


class Rows:
    """Ranges `starts` to `stops` of a table, ascending and apart.

    They are read as one slice where they follow one another, else gathered.
    """

    def __init__(self, starts: Ints, stops: Ints) -> None:
        self.starts = starts
        self.counts = stops - starts
        self.low = int(starts[0]) if starts.size else 0
        self.high = int(stops[-1]) if starts.size else 0
        self.index: Ints | slice = slice(None)
        if (starts[1:] != stops[:-1]).any():
            shift = starts - self.low - (np.cumsum(self.counts) - self.counts)
            self.index = np.repeat(shift, self.counts) + np.arange(self.counts.sum())

    def read(self, columns: ColumnFile, path: str) -> Array:
        """Return these rows of a column."""
        return columns.read(path, self.low, self.high)[self.index]


class Arrays:
    """Rows of one of the two tables of arrays, and the elements they stand for."""

    def __init__(self, columns: ColumnFile, table: str, rows: Rows) -> None:
        self._columns = columns
        self._group = layout.ARRAY_TABLES[table]
        self.codes = rows.read(columns, f"{table}/dtype")
        self.starts = rows.read(columns, f"{table}/start")
        ranks = rows.read(columns, f"{table}/rank")
        extents = columns.read(f"{table}/shape", MAX_RANK * rows.low, MAX_RANK * rows.high)
        extents = extents.reshape(-1, MAX_RANK)[rows.index]
        self.sizes: Ints = np.where(np.arange(MAX_RANK) < ranks[:, None], extents, 1).prod(axis=1)
        self.shapes: list[tuple[int, ...]] = [
            tuple(extent[:rank])
            for extent, rank in zip(extents.tolist(), ranks.tolist(), strict=True)
        ]

    def views(self) -> list[Array]:
        """Return the arrays as read-only views of one buffer for each element type."""
        buffers: dict[int, tuple[DType, Array]] = {}
        offsets = np.zeros_like(self.starts)
        for code in np.unique(self.codes).tolist():
            rows = np.flatnonzero(self.codes == code)
            name = layout.ELEMENT_TYPES[code]
            low, high = int(self.starts[rows[0]]), int(self.starts[rows[-1]] + self.sizes[rows[-1]])
            column = self._columns.read(layout.values_path(self._group, name), low, high)
            dtype = dtype_of(name)
            buffers[code] = (dtype, layout.elements(column, name).view(np.uint8))
            offsets[rows] = (self.starts[rows] - low) * dtype.itemsize
        return [
            np.ndarray(shape, *buffers[code], offset)
            for code, shape, offset in zip(
                self.codes.tolist(), self.shapes, offsets.tolist(), strict=True
            )
        ]

    def expected(self) -> tuple[dict[str, ExpectedColumns], Ints]:
        """Return the flat expected columns of each type, and where each array starts in them."""
        columns: dict[str, ExpectedColumns] = {}
        starts = np.zeros_like(self.starts)
        for code in np.unique(self.codes).tolist():
            of_type = self.codes == code
            name = layout.ELEMENT_TYPES[code]
            rows = Rows(self.starts[of_type], self.starts[of_type] + self.sizes[of_type])
            values, *rest = (rows.read(self._columns, p) for p in layout.element_columns(name))
            columns[name] = ExpectedColumns(
                layout.elements(values, name), *(layout.elements(column) for column in rest)
            )
            starts[of_type] = np.cumsum(rows.counts) - rows.counts
        return columns, starts


def read_texts(columns: ColumnFile, numbers: Mapping[str, Array]) -> dict[str, list[Any]]:
    """Return the values of text columns by the field of a Batch, given the numbers of the texts.

    Each distinct text is decoded and parsed once. VectorFileError for a wrong one.
    """
    used = np.unique(np.concatenate([*numbers.values()]))
    low, high = int(used[0]), int(used[-1])
    offsets = columns.read("text/offset", low, high + 2)
    starts, stops = offsets[used - low], offsets[used - low + 1]
    if (stops - starts).sum() > _MAX_TEXTS:
        raise columns.fail(f"a batch has more than {_MAX_TEXTS} bytes of text")
    texts: dict[int, str] = {}
    for number, start, stop in zip(used.tolist(), starts.tolist(), stops.tolist(), strict=True):
        try:
            texts[number] = columns.read("text/bytes", start, stop).tobytes().decode()
        except UnicodeDecodeError as error:
            raise columns.fail(f"text {number} is not UTF-8") from error
    fields: dict[str, list[Any]] = {}
    for path, of_column in numbers.items():
        text_column, values = layout.TEXTS[path], {}
        for number in np.unique(of_column).tolist():
            try:
                values[number] = text_column.parse(texts[number])
            except ValueError as error:
                name = path.rpartition("/")[2]
                raise columns.fail(f"text {number} ({name}): {error}") from error
        fields[text_column.field] = [values[number] for number in of_column.tolist()]
    return fields
