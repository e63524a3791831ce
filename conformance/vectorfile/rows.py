"""Rows of a table picked out: one slice where they follow one another, else a gather."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from conformance.batch import MAX_RANK, ExpectedColumns
from conformance.dtypes import dtype_of
from conformance.vectorfile import layout

if TYPE_CHECKING:
    from conformance.batch import Ints
    from conformance.dtypes import DType
    from conformance.vector import Array
    from conformance.vectorfile.hdf5 import ColumnFile


class Rows:
    """Ranges `starts` to `stops` of a table, ascending and apart."""

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
            mine = np.flatnonzero(self.codes == code)
            name = layout.ELEMENT_TYPES[code]
            low, high = int(self.starts[mine[0]]), int(self.starts[mine[-1]] + self.sizes[mine[-1]])
            column = self._columns.read(layout.values_path(self._group, name), low, high)
            dtype = dtype_of(name)
            buffers[code] = (dtype, layout.elements(column, name).view(np.uint8))
            offsets[mine] = (self.starts[mine] - low) * dtype.itemsize
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
            mine = self.codes == code
            name = layout.ELEMENT_TYPES[code]
            rows = Rows(self.starts[mine], self.starts[mine] + self.sizes[mine])
            values, *rest = (rows.read(self._columns, p) for p in layout.element_columns(name))
            columns[name] = ExpectedColumns(
                layout.elements(values, name), *(layout.elements(each) for each in rest)
            )
            starts[mine] = np.cumsum(rows.counts) - rows.counts
        return columns, starts
