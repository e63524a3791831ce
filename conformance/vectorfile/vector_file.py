"""Reading a vector file: the index is checked once, then vectors come out in batches."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, Ints, vector_at, vectors_of
from conformance.errors import VectorFileError
from conformance.files import Closable
from conformance.vector import Arithmetic, Vector
from conformance.vectorfile import layout
from conformance.vectorfile.hdf5_columns import ColumnFile
from conformance.vectorfile.index import check_index
from conformance.vectorfile.rows import Arrays, Rows, read_texts

_STEP = 4096  # vectors whose ids or tiers are read together
_BATCH = 1 << 24
_DECODED_ONCE = 1 << 26  # bytes of columns up to which all are in memory while they are checked


class VectorFile(Closable):
    """The vectors of one operator in a file; a context manager and a sequence of vectors.

    Opening checks the header. All else is checked by `check`, or else before its first use, and
    nothing is believed before: structure, types, bounds and digest; in a large file the texts are
    checked when they are read. The content of an `unchanged` file, which is known to be sound by
    its bytes, is believed. `columns` are those of a file that was opened before. A file is opened
    again where it is read, also after `close`; in memory stay the vectors that `vector` read last.
    Another process to which it is sent opens it, and the content has to be the same. Raises
    VectorFileError, one line that names the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        unchanged: bool = False,
        columns: ColumnFile | None = None,
    ) -> None:
        self.path = Path(path)
        self._last: Batch | None = None
        self._unchanged = unchanged
        self.columns = columns = columns or ColumnFile(self.path)
        attributes = columns.attributes
        self.operator: str = attributes["operator"]
        self.digest: str = attributes["digest"]
        self._length: int = attributes["vectors"]
        with columns:
            if self.operator not in layout.operators():
                raise columns.fail(f"unknown operator {self.operator[:40]!r}")
            with columns.guard():
                self.header: dict[str, Any] = layout.header_of(attributes["header"])
            due = layout.header_digest_of(self.operator, attributes["header"])
            if attributes.get("header_digest", due) != due:
                raise columns.fail("the digest does not match the header: the file was changed")

    def check(self) -> None:
        """Check the content, unless that was done."""
        _ = self._ends

    @cached_property
    def _ends(self) -> Ints:
        """The bytes up to each vector, and one more item, of a content that was checked."""
        with self.columns as columns:
            if self._unchanged:
                return check_index(columns, unchanged=True)
            if small := columns.size <= _DECODED_ONCE:
                columns.load()  # several checks look at the same chunks
            ends = check_index(columns)
            if columns.digest() != self.digest:
                raise columns.fail("the digest does not match the content: the file was changed")
            for path in layout.TEXTS if small else ():
                if path != "vectors/id":  # read in any file
                    deque(self._texts(path), maxlen=0)
            _ = self._id_hashes
            return ends

    @property
    def id_hashes(self) -> Ints:
        """A hash of each id, the same for equal ids of all files in this process."""
        self.check()
        with self.columns:
            return self._id_hashes

    @cached_property
    def _id_hashes(self) -> Ints:
        hashes = np.fromiter(map(hash, self._texts("vectors/id")), np.int64, len(self))
        if (again := first_repeated(hashes)) is not None:
            name = next(islice(self._texts("vectors/id"), again[0], None))
            raise self.columns.fail(f"two vectors have the id {name[:200]}")
        return hashes

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> Vector:
        return self.vector(number)

    def __iter__(self) -> Iterator[Vector]:
        for batch in self.batches():
            yield from vectors_of(batch)

    def __repr__(self) -> str:
        return f"<VectorFile {self.path} {self.operator} {len(self)} vectors>"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(_again, self.path, self.digest, unchanged=self._unchanged), ()

    def close(self) -> None:
        """Close the file."""
        self._last = None
        self.columns.close()

    @property
    def nbytes(self) -> int:
        """Bytes that the vectors take where they are stored."""
        return self.path.stat().st_size

    @cached_property
    def ids(self) -> list[str]:
        """The id of every vector."""
        return self._column_of_texts("vectors/id")

    @cached_property
    def tiers(self) -> list[str]:
        """The tier of every vector."""
        return self._column_of_texts("vectors/tier")

    def index_of(self, vector_id: str) -> int:
        """Return the number of the vector with an id; KeyError if there is none."""
        numbers = np.flatnonzero(self.id_hashes == hash(vector_id))
        if not numbers.size:
            raise KeyError(vector_id)
        return int(numbers[0])

    def vector(self, number: int) -> Vector:
        """Return one vector; IndexError if there is none with that number."""
        number = range(len(self))[number]
        last = self._last
        if last is None or number not in last.numbers:
            ahead = 1
            if last is not None and number == last.numbers[-1] + 1:
                ahead = 2 * len(last)  # whoever goes on from vector to vector finds more and more
            near = np.arange(number, min(number + ahead, len(self)))
            last = self._last = next(self._split(near, _BATCH))
        return vector_at(last, number - int(last.numbers[0]))

    def batches(
        self,
        select: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
        *,
        max_bytes: int = _BATCH,
    ) -> Iterator[Batch]:
        """Yield the vectors as columns, a batch at a time.

        `select` are numbers of vectors, ascending; None is all. A batch reads at most
        `max_bytes` from the file, or one vector. Raises ValueError for a selection out of order
        or out of range.
        """
        self.check()
        numbers = np.arange(len(self)) if select is None else np.asarray(select, dtype=np.int64)
        if numbers.size and (
            numbers[0] < 0 or numbers[-1] >= len(self) or (np.diff(numbers) <= 0).any()
        ):
            raise ValueError(f"vector numbers are not ascending and within 0 to {len(self) - 1}")
        return self._split(numbers, max_bytes)

    def _split(self, numbers: Ints, max_bytes: int) -> Iterator[Batch]:
        ends = self._ends[1:][numbers]
        start = 0
        while start < numbers.size:
            limit = self._ends[numbers[start]] + max_bytes
            stop = max(int(np.searchsorted(ends, limit, side="right")), start + 1)
            batch = self._batch(numbers[start:stop])
            self.columns.close()
            yield batch
            start = stop

    def _column_of_texts(self, path: str) -> list[str]:
        """Return the values of a text column."""
        self.check()
        with self.columns:
            return list(self._texts(path))

    def _texts(self, path: str) -> Iterator[str]:
        """Yield the values of a text column as they are read."""
        field = layout.TEXTS[path].field
        for start in range(0, self.columns.lengths[path], _STEP):
            numbers = self.columns.read(path, start, start + _STEP)
            yield from read_texts(self.columns, {path: numbers})[field]

    def _batch(self, numbers: Ints) -> Batch:
        """Return the columns of the vectors with the given numbers, ascending."""
        columns = self.columns
        low, high = int(numbers[0]), int(numbers[-1]) + 1
        inputs, outcomes, expected = (
            Rows(first[numbers - low], first[numbers - low + 1])
            for first in (columns.read(path, low, high + 1) for path in layout.FIRST_COLUMNS)
        )
        tables = {"vectors": Rows(numbers, numbers + 1), "outcomes": outcomes}
        texts = {path: tables[path.partition("/")[0]].read(columns, path) for path in layout.TEXTS}
        views = Arrays(columns, "input_arrays", inputs).views()
        ends = np.cumsum(inputs.counts).tolist()
        table = Arrays(columns, "expected_arrays", expected)
        elements, expected_start = table.expected()
        # From rows of the file to rows of the batch: both count on from the vector's first.
        shift = np.cumsum(expected.counts) - expected.counts - expected.starts
        rows = outcomes.read(columns, "outcomes/expected")
        outputs = np.zeros(len(table.shapes), np.int64)
        if layout.OUTPUT_COLUMN in columns.lengths:
            outputs = expected.read(columns, layout.OUTPUT_COLUMN).astype(np.int64)
        index = np.arange(numbers.size)
        sums = layout.SUMS[outcomes.read(columns, "outcomes/element_type")]
        flushed = outcomes.read(columns, "outcomes/flushed").view(np.bool_)
        return Batch(
            operator=self.operator,
            numbers=numbers,
            inputs=[tuple(views[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)],
            outcome_vector=np.repeat(index, outcomes.counts),
            outcome_kind=outcomes.read(columns, "outcomes/kind"),
            outcome_arithmetic=sums | (flushed * np.uint8(Arithmetic.FLUSHED)),
            outcome_expected=np.where(rows < 0, -1, rows + np.repeat(shift, outcomes.counts)),
            expected_vector=np.repeat(index, expected.counts),
            expected_output=outputs,
            expected_dtype=[layout.ELEMENT_TYPES[code] for code in table.codes.tolist()],
            expected_shape=table.shapes,
            expected_start=expected_start,
            expected_size=table.sizes,
            columns=elements,
            **read_texts(columns, texts),
        )


@lru_cache(maxsize=1)  # what is done in a file comes one after the other
def _again(path: Path, digest: str, *, unchanged: bool) -> VectorFile:
    file = VectorFile(path, unchanged=unchanged)
    if file.digest != digest:
        raise VectorFileError(f"{path}: the file was changed while it was open")
    return file


def first_repeated(hashes: Ints) -> tuple[int, int] | None:
    """Return the places of two equal hashes, None if there are none.

    They have 64 bits and a random start: texts with equal ones are taken to be equal.
    """
    order = np.argsort(hashes, kind="stable")
    again = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    return (int(order[again[0]]), int(order[again[0] + 1])) if again.size else None
