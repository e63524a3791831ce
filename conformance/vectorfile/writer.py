"""Writing a vector file: column by column as vectors come, finished whole or not at all."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
from array import array
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import h5py
import numpy as np

from conformance.batch import batch_of, output_dtypes
from conformance.errors import VectorFileError
from conformance.vectorfile import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

    from conformance.batch import Batch
    from conformance.vector import Array, Vector

_CHUNK = 1 << 17  # bytes: small enough to read one vector of a big file, large enough to deflate
_SPILL = 8 * _CHUNK  # bytes a column keeps in memory
_ROOM = layout.MAX_CHUNKS * _CHUNK - 3 * layout.MAX_VECTOR  # with that of one vector more
_KNOWN_TEXTS = 1 << 16  # texts remembered to be stored once


class _Column:
    """One growing dataset: bytes wait in memory until they fill chunks."""

    def __init__(self, file: Any, path: str) -> None:
        self.path = path
        self.length = 0
        self._file = file
        self._dtype = layout.COLUMNS[path]
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

    def append_bytes(self, content: bytes) -> None:
        """Add bytes to a column of bytes."""
        self.append(np.frombuffer(content, np.uint8))

    def finish(self) -> tuple[int, str]:
        """Write what waits; return the length and the sha256 of the column."""
        self._write(len(self._waiting), last=True)
        return self.length, self._content.hexdigest()

    def read(self, start: int, stop: int) -> Array:
        """Return elements of a finished column."""
        part: Array = self._dataset[start:stop]
        return part

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
            "compression_opts": 9,
            "shuffle": True,
        }
        options = filters if part.size else {}
        self._dataset = self._file.create_dataset(
            self.path, data=part, dtype=self._dtype, track_times=False, **options
        )


class VectorWriter:
    """Writes the vectors of one operator to `path`; a context manager.

    The file appears under its name when the block ends without an exception, else nothing is
    left. Memory stays flat however many vectors are added. `header` is any JSON object: what
    made the file. Raises VectorFileError where the file cannot be written, and ValueError where
    a vector or the header cannot be stored.
    """

    def __init__(
        self, path: str | os.PathLike[str], operator: str, *, header: Mapping[str, Any]
    ) -> None:
        self.path = Path(path)
        self.operator = operator
        if operator not in layout.operators():
            raise ValueError(f"unknown operator {operator!r}")
        self._outputs = len(output_dtypes(operator) or ("",))
        self._header = layout.to_json(header).encode()
        if layout.header_of(self._header.decode()) != dict(header):
            raise ValueError("the header does not survive JSON: use lists and string keys")
        if len(self._header) > layout.MAX_HEADER:
            raise ValueError(f"the header has more than {layout.MAX_HEADER} bytes")
        self._part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        self._file: Any = None
        self._columns: dict[str, _Column] = {}
        self._texts: dict[str, int] = {}
        self._id_hashes = array("q")
        self._failure: Exception | None = None

    def __enter__(self) -> Self:
        with self._reporting():
            self._file = h5py.File(self._part, "x", libver=("v110", "v110"))
            for path in layout.REQUIRED:
                self._columns[path] = _Column(self._file, path)
            for column in layout.FIRST_COLUMNS:
                self._columns[f"vectors/{column}"].append([0])
            self._columns["text/offset"].append([0])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                with self._reporting():
                    self._finish()
        finally:
            with contextlib.suppress(Exception):
                self._file.close()
            self._part.unlink(missing_ok=True)

    def __len__(self) -> int:
        """Return the number of vectors added."""
        return len(self._id_hashes)

    def add(self, vector: Vector) -> None:
        """Append one vector; its arrays may be changed afterwards."""
        if vector.case.operator != self.operator:
            raise ValueError(
                f"vector {vector.case.id}: operator {vector.case.operator} in a file of "
                f"{self.operator}"
            )
        batch = batch_of([vector])
        try:
            texts = self._encode(batch)
            _check_limits(batch)
            self._check_room()
        except ValueError as error:
            raise ValueError(f"vector {vector.case.id}: {error}") from error
        with self._reporting():
            self._append(batch, texts)

    def _check_room(self) -> None:
        """Raise ValueError where there might be more than the format allows."""
        tables = ("text/offset", "input_arrays/rank", "expected_arrays/rank", "outcomes/kind")
        rows = max(self._columns[path].length for path in tables)
        nbytes = sum(column.nbytes for column in self._columns.values())
        most = layout.MAX_OUTCOMES * self._outputs  # rows of one vector
        if rows > layout.MAX_ROWS - 2 * most or nbytes > _ROOM:
            raise ValueError("the file is full: write another one")

    def _encode(self, batch: Batch) -> dict[str, list[str]]:
        """Return the texts of a batch of one vector; ValueError unless each reads back equal."""
        values: dict[str, list[Any]] = {
            "id": batch.ids,
            "attributes": batch.attributes,
            "tier": batch.tier,
            "pattern": batch.pattern,
            "provenance": batch.provenance,
            "source": batch.source,
            "tags": batch.tags,
            "clauses": batch.clauses,
            "readings": batch.outcome_readings,
        }
        texts: dict[str, list[str]] = {}
        for column, parse in layout.PARSERS.items():
            texts[column] = [
                value if isinstance(value, str) else layout.to_json(value)
                for value in values[column]
            ]
            for text, value in zip(texts[column], values[column], strict=True):
                if parse(text) != value:
                    raise ValueError(f"{column} {value!r} does not survive JSON")
                if len(text.encode()) > layout.MAX_TEXT:
                    raise ValueError(f"{column} takes more than {layout.MAX_TEXT} bytes")
        return texts

    def _append(self, batch: Batch, texts: dict[str, list[str]]) -> None:
        columns = self._columns
        self._id_hashes.append(hash(batch.ids[0]))
        for column in layout.TEXT_COLUMNS:
            columns[f"vectors/{column}"].append([self._text(text) for text in texts[column]])
        first_expected = columns["expected_arrays/rank"].length
        for array_ in batch.inputs[0]:
            name = array_.dtype.name
            self._array("input_arrays", name, array_.shape, self._values("inputs", name).length)
            self._values("inputs", name).append(layout.stored(array_.reshape(-1)))
        for name, shape, start in zip(
            batch.expected_dtype, batch.expected_shape, batch.expected_start.tolist(), strict=True
        ):
            self._array(
                "expected_arrays", name, shape, start + self._values("expected", name).length
            )
        if batch.expected_output.any():
            self._column(layout.OUTPUT_COLUMN).append(batch.expected_output)
        for name, part in batch.columns.items():
            values, addends, divisor, magnitude = layout.element_columns(name)
            self._column(values).append(layout.stored(part.values))
            self._column(addends).append(part.addends)
            self._column(divisor).append(part.divisor)
            self._column(magnitude).append(part.magnitude)
        rows = batch.outcome_expected
        columns["outcomes/kind"].append(batch.outcome_kind)
        columns["outcomes/element_type"].append(batch.outcome_element_type)
        columns["outcomes/flushed"].append(batch.outcome_flushed)
        columns["outcomes/expected"].append(np.where(rows < 0, rows, rows + first_expected))
        columns["outcomes/readings"].append([self._text(text) for text in texts["readings"]])
        columns["vectors/first_input"].append([columns["input_arrays/rank"].length])
        columns["vectors/first_outcome"].append([columns["outcomes/kind"].length])
        columns["vectors/first_expected"].append([columns["expected_arrays/rank"].length])

    def _array(self, table: str, name: str, shape: tuple[int, ...], start: int) -> None:
        columns = self._columns
        columns[f"{table}/dtype"].append([layout.ELEMENT_TYPES.index(name)])
        columns[f"{table}/rank"].append([len(shape)])
        columns[f"{table}/shape"].append([*shape, *([0] * (8 - len(shape)))])
        columns[f"{table}/start"].append([start])

    def _values(self, group: str, name: str) -> _Column:
        return self._column(layout.values_path(group, name))

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
            content.append_bytes(text.encode())
            self._texts[text] = offsets.length - 1
            offsets.append([content.length])
        return self._texts[text]

    def _finish(self) -> None:
        if self._failure is not None:
            raise self._failure  # some columns have a part of a vector
        columns = {path: column.finish() for path, column in self._columns.items()}
        self._refuse_equal_ids()
        attributes: dict[str, Any] = {
            "format": np.bytes_(layout.FORMAT),
            "format_version": np.int64(layout.VERSION),
            "operator": np.bytes_(self.operator),
            "header": np.bytes_(self._header),
            "vectors": np.int64(len(self)),
            "digest": np.bytes_(layout.digest_of(self.operator, columns)),
        }
        for name, value in attributes.items():
            self._file.attrs[name] = value
        self._file.flush()
        # Last, so that no file that is cut off before this line reads as complete.
        self._file.attrs["complete"] = np.int64(1)
        self._file.close()
        _sync(self._part)
        self._part.replace(self.path)
        with contextlib.suppress(OSError):  # not every system opens folders
            _sync(self.path.parent)

    def _refuse_equal_ids(self) -> None:
        hashes = np.frombuffer(self._id_hashes, np.int64)
        order = np.argsort(hashes, kind="stable")
        again = order[1:][hashes[order[1:]] == hashes[order[:-1]]]
        seen: set[str] = set()
        for vector in np.flatnonzero(np.isin(hashes, hashes[again])).tolist():
            text = int(self._columns["vectors/id"].read(vector, vector + 1)[0])
            start, stop = self._columns["text/offset"].read(text, text + 2).tolist()
            name = self._columns["text/bytes"].read(start, stop).tobytes().decode()
            if name in seen:
                raise ValueError(f"two vectors have the id {name}")
            seen.add(name)

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            self._failure = VectorFileError(f"{self.path}: cannot write ({reason[:200]})")
            raise self._failure from error


def _check_limits(batch: Batch) -> None:
    """Raise ValueError where the format has no room for a vector."""
    if not 1 <= len(batch.inputs[0]) <= layout.MAX_INPUTS:
        raise ValueError(f"it has {len(batch.inputs[0])} inputs, not 1 to {layout.MAX_INPUTS}")
    if len(batch.outcome_kind) > layout.MAX_OUTCOMES:
        raise ValueError(f"it has more than {layout.MAX_OUTCOMES} outcomes")
    shapes = [*(array_.shape for array_ in batch.inputs[0]), *batch.expected_shape]
    if any(math.prod(max(extent, 1) for extent in shape) > layout.MAX_EXTENT for shape in shapes):
        raise ValueError(f"an array has more than {layout.MAX_EXTENT} elements")
    nbytes = sum(array_.nbytes for array_ in batch.inputs[0])
    nbytes += sum(part.values.nbytes + 16 * part.values.size for part in batch.columns.values())
    if nbytes > layout.MAX_VECTOR:
        raise ValueError(f"its arrays take more than {layout.MAX_VECTOR} bytes")


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
