"""`results:PATH`: a backend whose outputs were computed elsewhere and stored (docs/results.md)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from conformance.backends.answer import Answer, outputs_or_raise
from conformance.backends.results.folder_results import ResultFolder
from conformance.backends.results.hdf5_results import ResultFile
from conformance.backends.runner import OneByOne
from conformance.backends.variations import Variation
from conformance.batch import Batch, Ints, output_dtypes
from conformance.cases.sweep.sweep_model import case_of
from conformance.dtypes import DType, dtype_of
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.vector import Array, Outputs

_BFLOAT16 = dtype_of("bfloat16")
_ALL = 1 << 31

Own = Sequence[Sequence[str]]


class StoredResults(OneByOne):
    """The results in an HDF5 file or a folder, by the ids of vectors; a context manager.

    As a runner it looks vectors up by their ids, as a backend by their cases.
    Raises UsageError if there is nothing at the path, and ResultFileError, one line that names
    the file, if what is there is not sound: at once, or when a broken output is asked for.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise UsageError("results: give an HDF5 file or a folder of results, results:PATH")
        self.path = Path(path)
        exists = False
        with suppress(OSError):
            exists = self.path.exists()
        if not exists:
            raise UsageError(
                f"{self.path}: no such file or folder; give an HDF5 file or a folder of results"
            )
        layout = ResultFolder if self.path.is_dir() else ResultFile
        self._results: ResultFolder | ResultFile = layout(self.path)

    def __repr__(self) -> str:
        return f"StoredResults({str(self.path)!r})"

    def close(self) -> None:
        """Close the file; nothing can be looked up afterwards."""
        self._results.close()

    @property
    def ids(self) -> Collection[str]:
        """The ids of all vectors that a result is stored for."""
        return self._results.ids

    def selected(self, vector_ids: Sequence[str], numbers: Ints) -> Ints:
        """Return the numbers of those vectors that were exported, all if there is no index."""
        exported = self._results.exported
        if exported is None:
            return numbers
        return np.array([number for number in numbers if vector_ids[number] in exported], np.int64)

    def unused(self, vector_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the ids, sorted, that a result is stored for and that are not in `vector_ids`."""
        return tuple(sorted(set(self.ids).difference(vector_ids)))

    def find(
        self, vector_id: str, data_dtype: DType | None, most: int = _ALL, own: Own = ()
    ) -> Answer:
        """Return the answer that is stored for a vector, MISSING if none is.

        Where `data_dtype`, the element type of the vector's data, is bfloat16, numbers of type
        uint16 are taken for its bits, but for outputs that have a type of their own: `own` are
        the types that each may have, () for that of the data. Elements are left out if there are
        more than `most`.
        """
        answer = self._results.find(vector_id, most)
        if data_dtype != _BFLOAT16:
            return answer
        types = (*own, *[()] * len(answer.outputs))
        outputs = [
            output if allowed or output.dtype != "uint16" else output._replace(dtype="bfloat16")
            for output, allowed in zip(answer.outputs, types, strict=False)
        ]
        return answer._replace(outputs=tuple(outputs))

    @property
    def variations(self) -> frozenset[str]:
        """None: to look a result up again does not show whether a backend gives equal answers."""
        return frozenset()

    def answer(self, batch: Batch, index: int, limit: int, variation: Variation) -> Answer:
        """Look up a vector. Raises ResultFileError."""
        del variation
        inputs = batch.inputs[index]
        data_dtype = inputs[0].dtype if inputs else None
        own = output_dtypes(batch.operator) or ()
        return self.find(batch.ids[index], data_dtype, limit, own)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Return the outputs that are stored for a vector of the suite, found by its case.

        Raises LookupError if there are none, and what the backend did where it had no output:
        Unsupported, or RuntimeError for any exception.
        """
        vector_id = self._id_of(operator, inputs, attributes)
        answer = self.find(vector_id, inputs[0].dtype, own=output_dtypes(operator) or ())
        return outputs_or_raise(answer)

    def _id_of(self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Return the id of a case: all but the name of its data can be told from the case."""
        try:
            own, taken = OPERATORS[operator].form.taken(inputs, attributes)
            case = case_of(operator, taken, own, pattern="")
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise LookupError(f"{self.path}: no vector of the suite is called like this") from error
        # The order of attributes shows in the id, and is the caller's.
        start, digest = "/".join(case.id.split("/")[:3]), case.id.rpartition("-")[2]
        matching = [
            vector_id
            for vector_id in self.ids
            if vector_id.endswith(f"-{digest}") and vector_id.startswith(f"{start}/")
        ]
        if len(matching) != 1:
            raise LookupError(f"{self.path}: no output stored for {start}/*-{digest}")
        return matching[0]
