"""Reading a vector file: the index is checked once, then vectors come out in batches."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from conformance.batch import Batch, vector_at
from conformance.vectorfile import layout
from conformance.vectorfile.hdf5 import ColumnFile
from conformance.vectorfile.index import ROW, check_index
from conformance.vectorfile.rows import Arrays, Rows
from conformance.vectorfile.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import numpy.typing as npt

    from conformance.batch import Ints
    from conformance.vector import Array, Vector

_RESIDENT = 1 << 26  # bytes of columns and vectors, and
_RESIDENT_TEXT = 1 << 23  # bytes of text, up to which a file is read whole when it is opened
_STEP = 4096  # vectors whose texts are looked at together
_BATCH = 1 << 26


class VectorFile:
    """The vectors of one operator in a file; a context manager and a sequence of vectors.

    Opening checks everything there is to check before anything is believed: structure, types,
    bounds and digest; in a large file the texts are checked when they are read. A file of which
    no more than `resident` bytes would be kept is read whole. Raises VectorFileError, one line
    that names the file.
    """

    def __init__(self, path: str | os.PathLike[str], *, resident: int = _RESIDENT) -> None:
        self.path = Path(path)
        self._columns = columns = ColumnFile(self.path)
        self._whole: Batch | None = None  # a file that is one batch keeps it
        try:
            self.operator: str = columns.attributes["operator"]
            self.digest: str = columns.attributes["digest"]
            self._length: int = columns.attributes["vectors"]
            with columns.guard():
                self.header = layout.header_of(columns.attributes["header"])
            most = min(resident, _RESIDENT)
            nbytes = columns.size + ROW * columns.lengths["vectors/id"]
            small = nbytes <= most and columns.lengths["text/bytes"] <= _RESIDENT_TEXT
            self.resident = nbytes if small else 0
            if small:
                columns.load()
            self._ends = check_index(columns)
            self._check_digest(columns)
            self._texts = Texts(columns) if small else None
            if self._texts:
                self._texts.check()
            self.id_hashes = self._hashes()
            columns.forget()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> Vector:
        return self.vector(number)

    def __repr__(self) -> str:
        return f"<VectorFile {self.path} {self.operator} {len(self)} vectors>"

    @property
    def readable(self) -> bool:
        """Whether vectors can be read: the file is open, or small and in memory."""
        return self._columns.readable

    def close(self) -> None:
        """Close the file; one that is small stays readable."""
        self._columns.close()

    @cached_property
    def ids(self) -> list[str]:
        """The id of every vector."""
        return list(self._column("id"))

    @cached_property
    def tiers(self) -> list[str]:
        """The tier of every vector."""
        return list(self._column("tier"))

    def holds(self, vector_id: str) -> bool:
        """Whether some vector has an id."""
        return bool((self.id_hashes == hash(vector_id)).any()) and vector_id in self._numbers

    def index_of(self, vector_id: str) -> int:
        """Return the number of the vector with an id; KeyError if there is none."""
        return self._numbers[vector_id]

    def vector(self, number: int) -> Vector:
        """Return one vector; IndexError if there is none with that number."""
        number = range(len(self))[number]
        return vector_at(self._batch(np.array([number])), 0)

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
        numbers = np.arange(len(self)) if select is None else np.asarray(select, dtype=np.int64)
        if numbers.size and (
            numbers[0] < 0 or numbers[-1] >= len(self) or (np.diff(numbers) <= 0).any()
        ):
            raise ValueError(f"vector numbers are not ascending and within 0 to {len(self) - 1}")
        return self._split(numbers, max_bytes)

    def verify_digest(self) -> None:
        """Read the file again from the disk; VectorFileError unless its digest is right."""
        columns = ColumnFile(self.path)
        try:
            self._check_digest(columns)
        finally:
            columns.close()

    def _check_digest(self, columns: ColumnFile) -> None:
        if columns.digest() != self.digest:
            raise columns.fail("the digest does not match the content: the file was changed")

    def _split(self, numbers: Ints, max_bytes: int) -> Iterator[Batch]:
        ends = self._ends[1:][numbers]
        start = 0
        while start < numbers.size:
            limit = self._ends[numbers[start]] + max_bytes
            stop = max(int(np.searchsorted(ends, limit, side="right")), start + 1)
            whole = stop - start == len(self)
            if whole and self.resident and self._whole is None:
                self._whole = self._batch(numbers)
            batch = self._whole if whole and self._whole else self._batch(numbers[start:stop])
            self._columns.forget()
            yield batch
            start = stop

    def _column(self, name: str) -> Iterator[str]:
        """Yield a text column."""
        for start in range(0, len(self), _STEP):
            numbers = self._columns.read(f"vectors/{name}", start, start + _STEP)
            yield from self._lookup(numbers).column(name, numbers)

    def _lookup(self, *numbers: Array) -> Texts:
        """Return the texts with the given numbers."""
        if self._texts:
            return self._texts
        return Texts(self._columns, np.unique(np.concatenate(numbers)))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {vector_id: number for number, vector_id in enumerate(self.ids)}

    def _hashes(self) -> Ints:
        """Return a hash of each id, good in this process; VectorFileError for two equal ids."""
        hashes = np.fromiter((hash(each) for each in self._column("id")), np.int64, len(self))
        unique, counts = np.unique(hashes, return_counts=True)
        if unique.size < len(self):
            suspects = set(unique[counts > 1].tolist())
            seen: set[str] = set()
            for vector_id in self._column("id"):
                if hash(vector_id) in suspects:
                    if vector_id in seen:
                        raise self._columns.fail(f"two vectors have the id {vector_id[:200]}")
                    seen.add(vector_id)
        return hashes

    def _batch(self, numbers: Ints) -> Batch:
        """Return the columns of the vectors with the given numbers, ascending."""
        columns = self._columns
        low, high = int(numbers[0]), int(numbers[-1]) + 1
        inputs, outcomes, expected = (
            Rows(first[numbers - low], first[numbers - low + 1])
            for first in (
                columns.read(f"vectors/{name}", low, high + 1) for name in layout.FIRST_COLUMNS
            )
        )
        picked = Rows(numbers, numbers + 1)
        codes = {name: picked.read(columns, f"vectors/{name}") for name in layout.TEXT_COLUMNS}
        codes["readings"] = outcomes.read(columns, "outcomes/readings")
        texts = self._lookup(*codes.values())
        words = {name: texts.column(name, column) for name, column in codes.items()}
        views = Arrays(columns, "input_arrays", inputs).views()
        ends = np.cumsum(inputs.counts).tolist()
        table = Arrays(columns, "expected_arrays", expected)
        elements, expected_start = table.expected()
        # From rows of the file to rows of the batch: both count on from the vector's first.
        shift = np.cumsum(expected.counts) - expected.counts - expected.starts
        rows = outcomes.read(columns, "outcomes/expected")
        index = np.arange(numbers.size)
        return Batch(
            operator=self.operator,
            numbers=numbers,
            ids=words["id"],
            attributes=words["attributes"],
            inputs=[tuple(views[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)],
            tier=words["tier"],
            pattern=words["pattern"],
            provenance=words["provenance"],
            source=words["source"],
            tags=words["tags"],
            clauses=words["clauses"],
            outcome_vector=np.repeat(index, outcomes.counts),
            outcome_kind=outcomes.read(columns, "outcomes/kind"),
            outcome_element_type=outcomes.read(columns, "outcomes/element_type").view(np.bool_),
            outcome_flushed=outcomes.read(columns, "outcomes/flushed").view(np.bool_),
            outcome_expected=np.where(rows < 0, -1, rows + np.repeat(shift, outcomes.counts)),
            outcome_readings=words["readings"],
            expected_vector=np.repeat(index, expected.counts),
            expected_output=_outputs(columns, expected),
            expected_dtype=[layout.ELEMENT_TYPES[code] for code in table.codes.tolist()],
            expected_shape=table.shapes,
            expected_start=expected_start,
            expected_size=table.sizes,
            columns=elements,
        )


def _outputs(columns: ColumnFile, expected: Rows) -> Ints:
    """Return which output each row of the expected table is of."""
    if layout.OUTPUT_COLUMN not in columns.lengths:
        return np.zeros(expected.counts.sum(), np.int64)
    return expected.read(columns, layout.OUTPUT_COLUMN).astype(np.int64)
