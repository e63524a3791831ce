"""`results:PATH`: a backend whose outputs were computed elsewhere and stored (docs/results.md)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conformance.backends.answer import Answer, outputs_or_raise
from conformance.backends.results.result_file import ResultFile
from conformance.backends.runner import OneByOne
from conformance.backends.variations import Variation
from conformance.batch import Batch, Ints
from conformance.cases.sweep.sweep_model import case_of
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.vector import TIERS, Array, Outputs
from conformance.vectorfile.sources import Source

_ALL = 1 << 31


class StoredResults(OneByOne):
    """The results in a file of safetensors, by the ids of vectors.

    As a runner it looks vectors up by their ids, as a backend by their cases.
    Raises UsageError if there is nothing at the path, and ResultFileError, one line that names
    the file, if what is there is not sound.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise UsageError("results: give a file of safetensors with results, results:PATH")
        self.path = Path(path)
        if not os.path.exists(path):  # noqa: PTH110 - no error for a name that cannot be
            raise UsageError(f"{path}: no such file; give a file of safetensors with results")
        if self.path.is_dir():
            raise UsageError(f"{path}: a directory; give a file of safetensors with results")
        self._results = ResultFile(self.path)

    def __repr__(self) -> str:
        return f"StoredResults({str(self.path)!r})"

    def close(self) -> None:
        """Nothing is open."""

    @property
    def ids(self) -> Collection[str]:
        """The ids of all vectors that a result is stored for."""
        return self._results.answers.keys()

    def selected(self, vector_ids: Sequence[str], numbers: Ints) -> Ints:
        """Return the numbers of those vectors that the backend was asked for, all if unknown."""
        asked = self._results.asked
        if asked is None:
            return numbers
        return np.array([number for number in numbers if vector_ids[number] in asked], np.int64)

    def exported(self, sources: Sequence[Source], tier: str) -> tuple[Sequence[Source], str]:
        """Return the sources that something was asked of, and the largest tier of that.

        All of them, and the `tier` given, where that is unknown.
        """
        asked = self._results.asked
        if asked is None:
            return sources, tier
        held = [source for source in sources if not asked.isdisjoint(source.ids)]
        tiers = {
            of_vector
            for source in held
            for vector_id, of_vector in zip(source.ids, source.tiers, strict=True)
            if vector_id in asked
        }
        needed = [each for each in TIERS if each in tiers and each != tier]
        is_smaller = needed and tier not in tiers and tier in TIERS[TIERS.index(needed[-1]) :]
        return held, needed[-1] if is_smaller else tier

    def unused(self, vector_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the ids, sorted, that a result is stored for and that are not in `vector_ids`."""
        return tuple(sorted(set(self.ids).difference(vector_ids)))

    def find(self, vector_id: str, most: int = _ALL) -> Answer:
        """Return the answer that is stored for a vector, MISSING if none is.

        Elements are left out if there are more than `most`.
        """
        return self._results.find(vector_id, most)

    @property
    def variations(self) -> frozenset[str]:
        """None: to look a result up again does not show whether a backend gives equal answers."""
        return frozenset()

    def answer(self, batch: Batch, index: int, limit: int, variation: Variation) -> Answer:
        """Look up a vector."""
        del variation
        return self.find(batch.ids[index], limit)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array | Outputs:
        """Return the outputs that are stored for a vector of the suite, found by its case.

        Raises LookupError if there are none, and what the backend did where it had no output:
        Unsupported, or RuntimeError for any exception.
        """
        return outputs_or_raise(self.find(self._id_of(operator, inputs, attributes)))

    def _id_of(self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Return the id of a case: all but the name of its data can be told from the case."""
        try:
            own, taken = OPERATORS[operator].convention_of(attributes).taken(inputs, attributes)
            case = case_of(operator, taken, own, pattern="unknown")
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
