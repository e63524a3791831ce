"""Rows of the tables picked out, and the arrays and texts that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.batch import MAX_RANK, Ints
from conformance.dtypes import DType, dtype_of
from conformance.vector import Array, Expected
from conformance.vectorfile import layout
from conformance.vectorfile.hdf5_columns import ColumnFile

_FAR = 1 << 13
"""Elements between those that are wanted from which on they are not read, about."""
_MAX_TEXTS = 1 << 28  # bytes of the texts of one batch


class Rows:
    """Ranges `starts` to `stops` of a table, ascending and apart.

    They are read as one slice where they follow one another, else gathered from slices, so that
    what lies far between them is not read.
    """

    def __init__(self, starts: Ints, stops: Ints) -> None:
        self.starts = starts
        self.counts = stops - starts
        self._slices = [(0, 0)]
        self._index: Ints | slice = slice(None)
        if not starts.size:
            return
        gaps = starts[1:] - stops[:-1]
        far = np.flatnonzero(gaps > _FAR)
        lows, highs = [starts[0], *starts[far + 1]], [*stops[far], stops[-1]]
        self._slices = [(int(low), int(high)) for low, high in zip(lows, highs, strict=True)]
        if gaps.any():
            # Places in the slices, one after the other.
            left_out = np.concatenate([[0], np.cumsum(np.where(gaps > _FAR, gaps, 0))])
            shift = starts - left_out - starts[0] - (np.cumsum(self.counts) - self.counts)
            self._index = np.repeat(shift, self.counts) + np.arange(self.counts.sum())

    def read(self, columns: ColumnFile, path: str, width: int = 1) -> Array:
        """Return these rows of a column, of so many elements each: (rows, width), or (rows,)."""
        parts = [columns.read(path, width * low, width * high) for low, high in self._slices]
        read = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return (read if width == 1 else read.reshape(-1, width))[self._index]


class Arrays:
    """Rows of one of the two tables of arrays, and the elements they stand for."""

    def __init__(self, columns: ColumnFile, table: str, rows: Rows) -> None:
        self._columns = columns
        self._group = layout.ARRAY_TABLES[table]
        self.codes = rows.read(columns, f"{table}/dtype")
        self.starts = rows.read(columns, f"{table}/start")
        ranks = rows.read(columns, f"{table}/rank")
        extents = rows.read(columns, f"{table}/shape", MAX_RANK)
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
            of_type = self.codes == code
            name = layout.ELEMENT_TYPES[code]
            rows, dtype = self._elements(of_type), dtype_of(name)
            column = rows.read(self._columns, layout.values_path(self._group, name))
            buffers[code] = (dtype, layout.elements(column, name).view(np.uint8))
            offsets[of_type] = (np.cumsum(rows.counts) - rows.counts) * dtype.itemsize
        return [
            np.ndarray(shape, *buffers[code], offset)
            for code, shape, offset in zip(
                self.codes.tolist(), self.shapes, offsets.tolist(), strict=True
            )
        ]

    def expected(self) -> tuple[Mapping[str, Expected], Ints]:
        """Return the flat expected columns of each type, and where each array starts in them."""
        columns: dict[str, Rows] = {}
        starts = np.zeros_like(self.starts)
        for code in np.unique(self.codes).tolist():
            of_type = self.codes == code
            rows = columns[layout.ELEMENT_TYPES[code]] = self._elements(of_type)
            starts[of_type] = np.cumsum(rows.counts) - rows.counts
        return _ExpectedColumns(self._columns, columns), starts

    def _elements(self, of_type: npt.NDArray[np.bool_]) -> Rows:
        """Return the elements of the arrays of one type."""
        return Rows(self.starts[of_type], self.starts[of_type] + self.sizes[of_type])


class _ExpectedColumns(Mapping[str, Expected]):
    """The expected elements of each type, read when the first are asked for.

    They are most of a file, and what lists or orders vectors never looks at them.
    """

    def __init__(self, columns: ColumnFile, rows: Mapping[str, Rows]) -> None:
        self._columns = columns
        self._names = tuple(rows)
        self._rows = dict(rows)

    @cached_property
    def _read(self) -> dict[str, Expected]:
        columns = {}
        for name in self._names:
            rows = self._rows.pop(name)  # they may take as much memory as what they stand for
            values, *rest = (rows.read(self._columns, p) for p in layout.element_columns(name))
            columns[name] = Expected(
                layout.elements(values, name), *(layout.elements(column) for column in rest)
            )
        self._columns.close()
        return columns

    def __getitem__(self, name: str) -> Expected:
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> tuple[Any, ...]:  # another process may not have the file
        return dict, (self._read,)


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
    rows = Rows(starts, stops)
    content = rows.read(columns, "text/bytes").tobytes()
    ends = np.cumsum(rows.counts)
    texts: dict[int, str] = {}
    for number, begin, end in zip(
        used.tolist(), (ends - rows.counts).tolist(), ends.tolist(), strict=True
    ):
        try:
            texts[number] = content[begin:end].decode()
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
