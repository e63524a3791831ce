"""`results:FILE`: a backend whose outputs were computed elsewhere and stored (docs/results.md)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from conformance.batch import output_dtypes
from conformance.dtypes import DType, dtype_of
from conformance.errors import Unsupported, UsageError
from conformance.resultfile import Found, Refusal, open_results
from conformance.sweep.model import case_of
from conformance.vector import Array, Outputs, as_returned, outputs_of
from conformance.workers.answer import arrays_of

_BFLOAT16 = dtype_of("bfloat16")
_ALL = 1 << 31


class Stored:
    """The outputs in an HDF5 file or a folder, by the ids of vectors; a context manager.

    Raises UsageError if there is nothing at the path, and ResultFileError, one line that names
    the file, if what is there is not sound: at once or when a broken output is asked for.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise UsageError("results: give an HDF5 file or a folder of results, results:PATH")
        self.path = Path(path)
        there = False
        with suppress(OSError):
            there = self.path.exists()
        if not there:
            raise UsageError(
                f"{self.path}: no such file or folder; give an HDF5 file or a folder of results"
            )
        self._results = open_results(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Stored({str(self.path)!r})"

    def close(self) -> None:
        """Close the file; nothing can be found afterwards."""
        self._results.close()

    @property
    def ids(self) -> Collection[str]:
        """The ids of all vectors that something is stored for."""
        return self._results.ids

    def unused(self, known: Iterable[str]) -> tuple[str, ...]:
        """Return the ids, sorted, that something is stored for and that are not `known`."""
        return tuple(sorted(set(self.ids).difference(known)))

    def find(
        self, vector_id: str, of: DType | None, most: int = _ALL, fixed: Sequence[str] = ()
    ) -> Found | None:
        """Return what is stored for a vector, None if nothing is.

        `of` is the element type of its data: where that is bfloat16, numbers of type uint16 are
        taken for its bits, but for outputs that have a type of their own: `fixed` names those
        types, "" for that of the data. Elements are left out if there are more than `most`.
        """
        found = self._results.find(vector_id, most)
        if of != _BFLOAT16 or not isinstance(found, tuple):
            return found
        types = (*fixed, *[""] * len(found))
        return tuple(
            output._replace(dtype="bfloat16") if output.dtype == "uint16" and not own else output
            for output, own in zip(found, types, strict=False)
        )

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Return what is stored for a vector of the suite, found by its case.

        Raises LookupError if nothing is, and what the backend did where it had no output:
        Unsupported, or RuntimeError for any exception.
        """
        vector_id = self._id_of(operator, inputs, attributes)
        found = self.find(vector_id, inputs[0].dtype, fixed=output_dtypes(operator) or ())
        if isinstance(found, Refusal):
            raise (Unsupported if found.unsupported else RuntimeError)(found.text)
        assert found is not None
        returned = arrays_of(found)
        if returned is None:
            types = [output.dtype for output in found if output.data is None]
            raise TypeError(f"{self.path}: the output is of type {types[0]}")
        return as_returned(tuple(output.copy() for output in outputs_of(returned)))

    def _id_of(self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Return the id of a case: all but the name of its data can be told from the case."""
        try:
            case = case_of(operator, attributes, tuple(inputs), pattern="")
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise LookupError(f"{self.path}: no vector of the suite is called like this") from error
        start, _, digest = case.id.rpartition("/-")
        matching = [
            each
            for each in self.ids
            if each.endswith(f"-{digest}") and each.startswith(f"{start}/")
        ]
        if len(matching) != 1:
            raise LookupError(f"{self.path}: no output stored for {start}/*-{digest}")
        return matching[0]
