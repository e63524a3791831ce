"""Writing a vector file: column by column as vectors come, finished whole or not at all.

HDF5 never writes to a disk: one that is full would end the process by a signal, long after the
error. A file is made in memory, compressed, and written like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from math import prod
from typing import Any, Self

import h5py
import numpy as np

from conformance.batch import MAX_RANK, Batch, batch_of, output_dtypes
from conformance.files import Target, writing
from conformance.vector import Arithmetic, Array, Vector
from conformance.vectorfile import layout

_CHUNK = 1 << 18  # bytes: small enough to read one vector of a big file, large enough to deflate
_DEFLATE = 8  # of 1 to 9: 6 takes half the time and 3% more bytes, 9 six times as long
_SPILL = 4 * _CHUNK  # bytes a column keeps in memory
_TOGETHER = 64  # vectors stored at once, of at most about _SPILL bytes
_ROOM = layout.MAX_CHUNKS * _CHUNK - 3 * layout.MAX_VECTOR  # with that of one vector more
_KNOWN_TEXTS = 1 << 16  # texts remembered to be stored once


class _Column:
    """One growing dataset: bytes wait in memory until they fill chunks."""

    def __init__(self, file: Any, path: str) -> None:
        self.path = path
        self.length = 0
        self._file = file
        self._dtype = layout.COLUMNS[path].dtype
        self._chunk = _CHUNK // self._dtype.itemsize
        self._waiting = bytearray()
        self._content = sha256()
        self._dataset: Any = None

    @property
    def nbytes(self) -> int:
        """How many bytes it takes in memory."""
        return self.length * self._dtype.itemsize

    def append(self, values: Iterable[int] | Array) -> None:
        """Add elements at the end."""
        column = np.asarray(values, dtype=self._dtype)
        self.length += column.size
        self._waiting += column.tobytes()
        if len(self._waiting) >= _SPILL:
            self._write(len(self._waiting) // _CHUNK * _CHUNK, last=False)

    def finish(self) -> tuple[int, str]:
        """Write what waits; return the length and the sha256 of the column."""
        self._write(len(self._waiting), last=True)
        return self.length, self._content.hexdigest()

    def _write(self, nbytes: int, *, last: bool) -> None:
        content = bytes(self._waiting[:nbytes])
        del self._waiting[:nbytes]
        self._content.update(content)
        part = np.frombuffer(content, self._dtype)
        if self._dataset is None:
            self._create(part, whole=last)
        elif part.size:
            end = self._dataset.shape[0]
            self._dataset.resize((end + part.size,))
            self._dataset[end:] = part

    def _create(self, part: Array, *, whole: bool) -> None:
        """Make the dataset; one that is complete already gets the size it needs and no more."""
        filters: dict[str, Any] = {
            "chunks": (min(self._chunk, part.size) if whole else self._chunk,),
            "maxshape": None if whole else (None,),
            "compression": "gzip",
            "compression_opts": _DEFLATE,
            "shuffle": True,
        }
        options = filters if part.size else {}
        self._dataset = self._file.create_dataset(
            self.path, data=part, dtype=self._dtype, track_times=False, **options
        )


class VectorWriter:
    """Writes the vectors of one operator to a path or a stream of bytes; a context manager.

    The file appears under its name when the block ends without an exception, else nothing is
    left. Of the vectors added, memory holds what the compressed file takes. `header` is any JSON
    object: what made the file. Raises UsageError where the file cannot be written, and ValueError
    where a vector or the header cannot be stored.
    """

    def __init__(self, target: Target, operator: str, *, header: Mapping[str, Any]) -> None:
        self.operator = operator
        if operator not in layout.operators():
            raise ValueError(f"unknown operator {operator!r}")
        self._outputs = len(output_dtypes(operator) or ((),))
        self._header = layout.to_json(header).encode()
        if layout.header_of(self._header.decode()) != dict(header):
            raise ValueError("the header does not survive JSON: use lists and string keys")
        if len(self._header) > layout.MAX_HEADER:
            raise ValueError(f"the header has more than {layout.MAX_HEADER} bytes")
        self._writing = writing(target)
        self._stream: Any = None
        self._image = BytesIO()
        self._ending = ExitStack()
        self._file: Any = None
        self._columns: dict[str, _Column] = {}
        self._texts: dict[str, int] = {}
        self._id_hashes: set[int] = set()  # with 64 bits and a random start: equal ones are one id
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._stream = stack.enter_context(self._writing)
            self._file = stack.enter_context(h5py.File(self._image, "w", libver=("v110", "v110")))
            for path in layout.REQUIRED:
                self._columns[path] = _Column(self._file, path)
            for path in (*layout.FIRST_COLUMNS, "text/offset"):
                self._columns[path].append([0])
            stack.push(self._finish)
            self._ending = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.__exit__(*error)  # type: ignore[arg-type]

    def __len__(self) -> int:
        """Return the number of vectors added."""
        return len(self._id_hashes)

    def add(self, vector: Vector) -> None:
        """Append one vector; its arrays may be changed afterwards."""
        self.extend([vector])

    def extend(self, vectors: Iterable[Vector]) -> None:
        """Append vectors, which may be made on the way: many are stored at once."""
        pending: list[Vector] = []
        nbytes = 0
        for vector in vectors:
            if vector.case.operator != self.operator:
                raise ValueError(
                    f"vector {vector.case.id}: operator {vector.case.operator} in a file of "
                    f"{self.operator}"
                )
            _check_limits(vector)
            pending.append(vector)
            nbytes += sum(array_.nbytes for array_ in vector.case.inputs)
            if len(pending) >= _TOGETHER or nbytes >= _SPILL:
                self._add(batch_of(pending))
                pending, nbytes = [], 0
        if pending:
            self._add(batch_of(pending))

    def _add(self, batch: Batch) -> None:
        texts = self._encode(batch)
        self._check_room(batch)
        for place, vector_id in enumerate(batch.ids):
            if hash(vector_id) in self._id_hashes or vector_id in batch.ids[:place]:
                raise ValueError(f"two vectors have the id {vector_id}")
        try:
            self._append(batch, texts)
        except BaseException as error:
            self._failure = error
            raise

    def _check_room(self, batch: Batch) -> None:
        """Raise ValueError where there might be more than the format allows."""
        rows = max(self._columns[path].length for path in layout.COUNTED.values())
        nbytes = sum(column.nbytes for column in self._columns.values())
        most = layout.MAX_OUTCOMES * self._outputs * len(batch)  # rows of these vectors
        if rows > layout.MAX_ROWS - 2 * most or nbytes > _ROOM:
            raise ValueError(f"vector {batch.ids[0]}: the file is full: write another one")

    def _encode(self, batch: Batch) -> dict[str, list[str]]:
        """Return the texts of a batch by column; ValueError unless each reads back equal."""
        texts: dict[str, list[str]] = {path: [] for path in layout.TEXTS}
        for path, column in layout.TEXTS.items():
            for row, value in enumerate(getattr(batch, column.field)):
                text = value if isinstance(value, str) else layout.to_json(value)
                vector = batch.outcome_vector[row] if path.startswith("outcomes/") else row
                what = f"vector {batch.ids[vector]}: {path.rpartition('/')[2]}"
                try:
                    read_back = column.parse(text)
                except ValueError as error:
                    raise ValueError(f"{what}: {error}") from error
                if read_back != value:
                    raise ValueError(f"{what} {value!r} does not survive JSON")
                if len(text.encode()) > layout.MAX_TEXT:
                    raise ValueError(f"{what} takes more than {layout.MAX_TEXT} bytes")
                texts[path].append(text)
        return texts

    def _append(self, batch: Batch, texts: dict[str, list[str]]) -> None:
        columns = self._columns
        self._id_hashes.update(map(hash, batch.ids))
        vectors = np.arange(len(batch))
        ends = {
            "input_arrays": np.cumsum([len(arrays) for arrays in batch.inputs]),
            "outcomes": np.searchsorted(batch.outcome_vector, vectors, side="right"),
            "expected_arrays": np.searchsorted(batch.expected_vector, vectors, side="right"),
        }
        rows = {table: columns[layout.COUNTED[table]].length for table in ends}
        for path, (table, _, _) in layout.FIRST_COLUMNS.items():
            columns[path].append(rows[table] + ends[table])
        self._append_texts(ends["outcomes"].tolist(), texts)
        self._append_inputs([array for arrays in batch.inputs for array in arrays])
        starts = [
            start + self._column(layout.values_path("expected", name)).length
            for name, start in zip(batch.expected_dtype, batch.expected_start.tolist(), strict=True)
        ]
        self._append_table("expected_arrays", batch.expected_dtype, batch.expected_shape, starts)
        if batch.expected_output.any():
            self._column(layout.OUTPUT_COLUMN).append(batch.expected_output)
        for name, part in batch.columns.items():
            parts: tuple[Array, ...] = (
                layout.stored(part.values),
                part.addends,
                part.divisor,
                part.magnitude,
            )
            for path, elements in zip(layout.element_columns(name), parts, strict=True):
                self._column(path).append(elements)
        columns["outcomes/kind"].append(batch.outcome_kind)
        columns["outcomes/element_type"].append(layout.sums_of(batch.outcome_arithmetic))
        flushed = (batch.outcome_arithmetic & Arithmetic.FLUSHED) > 0
        columns["outcomes/flushed"].append(flushed)
        expected = batch.outcome_expected
        columns["outcomes/expected"].append(
            np.where(expected < 0, expected, expected + rows["expected_arrays"])
        )

    def _append_texts(self, outcome_ends: Sequence[int], texts: dict[str, list[str]]) -> None:
        """Append the numbers of texts, which are given in the order of vectors."""
        numbers: dict[str, list[int]] = {path: [] for path in texts}
        for vector, (first, end) in enumerate(pairwise([0, *outcome_ends])):
            for path, column in texts.items():
                rows = (
                    slice(first, end) if path.startswith("outcomes/") else slice(vector, vector + 1)
                )
                numbers[path] += map(self._text, column[rows])
        for path, of_column in numbers.items():
            self._columns[path].append(of_column)

    def _append_inputs(self, inputs: Sequence[Array]) -> None:
        starts = []
        for array in inputs:
            column = self._column(layout.values_path("inputs", array.dtype.name))
            starts.append(column.length)
            column.append(layout.stored(array.reshape(-1)))
        names, shapes = [a.dtype.name for a in inputs], [a.shape for a in inputs]
        self._append_table("input_arrays", names, shapes, starts)

    def _append_table(
        self,
        table: str,
        names: Sequence[str],
        shapes: Sequence[tuple[int, ...]],
        starts: Sequence[int],
    ) -> None:
        """Append rows to a table of arrays: element types, shapes, and where elements start."""
        columns = self._columns
        columns[f"{table}/dtype"].append([layout.ELEMENT_TYPES.index(name) for name in names])
        columns[f"{table}/rank"].append([len(shape) for shape in shapes])
        columns[f"{table}/shape"].append(
            [extent for shape in shapes for extent in (*shape, *(0,) * (MAX_RANK - len(shape)))]
        )
        columns[f"{table}/start"].append(starts)

    def _column(self, path: str) -> _Column:
        if path not in self._columns:
            self._columns[path] = _Column(self._file, path)
        return self._columns[path]

    def _text(self, text: str) -> int:
        """Return the number of a text, stored once while it is remembered."""
        if text not in self._texts:
            if len(self._texts) >= _KNOWN_TEXTS:
                self._texts.clear()
            content = self._columns["text/bytes"]
            offsets = self._columns["text/offset"]
            content.append(np.frombuffer(text.encode(), np.uint8))
            self._texts[text] = offsets.length - 1
            offsets.append([content.length])
        return self._texts[text]

    def _finish(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Write the file, unless an exception ends the block."""
        if kind is not None:
            return
        if self._failure is not None:
            raise self._failure  # some columns have a part of a vector
        columns = {path: column.finish() for path, column in self._columns.items()}
        attributes: dict[str, Any] = {
            "format": np.bytes_(layout.FORMAT),
            "format_version": np.int64(layout.VERSION),
            "operator": np.bytes_(self.operator),
            "header": np.bytes_(self._header),
            "vectors": np.int64(len(self)),
            "digest": np.bytes_(layout.digest_of(self.operator, columns)),
            "header_digest": np.bytes_(
                layout.header_digest_of(self.operator, self._header.decode())
            ),
        }
        for name, value in attributes.items():
            self._file.attrs[name] = value
        self._file.flush()  # before the last one too: else other bytes than ever, for equal content
        self._file.attrs["complete"] = np.int64(1)
        self._file.close()  # until then it is marked as open
        self._stream.write(self._image.getbuffer())


def _check_limits(vector: Vector) -> None:
    """Raise ValueError, naming the vector, where the format has no room for it."""
    inputs = vector.case.inputs
    outputs = [output for outcome in vector.values for output in outcome.outputs]
    expected = [output.values for output in {id(output): output for output in outputs}.values()]
    nbytes = sum(array.nbytes for array in (*inputs, *expected))
    nbytes += sum(16 * array.size for array in expected)
    problem = ""
    if not 1 <= len(inputs) <= layout.MAX_INPUTS:
        problem = f"it has {len(inputs)} inputs, not 1 to {layout.MAX_INPUTS}"
    elif len(vector.outcomes) > layout.MAX_OUTCOMES:
        problem = f"it has more than {layout.MAX_OUTCOMES} outcomes"
    elif any(prod(max(n, 1) for n in a.shape) > layout.MAX_EXTENT for a in (*inputs, *expected)):
        problem = f"an array has more than {layout.MAX_EXTENT} elements"
    elif nbytes > layout.MAX_VECTOR:
        problem = f"its arrays take more than {layout.MAX_VECTOR} bytes"
    if problem:
        raise ValueError(f"vector {vector.case.id}: {problem}")
