"""The results of a run: a sequence made from small columns when it is looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from conformance.batch import Batch, Ints
from conformance.check.explain import Explanation
from conformance.check.judge import Judged
from conformance.check.reading_sets import reading_space
from conformance.check.report import VERDICTS, Result
from conformance.check.sources import Source, reopened
from conformance.dtypes import name_of
from conformance.vector import Array, Outputs

_NOT_EXPLAINED = Explanation("")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What is kept of one batch: which vectors it was, and what was judged of them.

    The vectors themselves are read again from their source when somebody looks: a million of
    them would not fit. `whole` is the batch where it is all of its source, which then holds it
    anyway. What a backend printed is kept where something is to be explained.
    """

    source: Source
    numbers: Ints
    judged: Judged
    outputs: dict[int, Array | Outputs]
    printed: dict[int, str]
    whole: Batch | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def result(self, index: int) -> Result:
        """Return the result of one vector."""
        ((batch, (row,)),) = self._batches(np.array([index]))
        return self._result(batch, row, index)

    def results(self) -> Iterator[Result]:
        """Yield the result of each vector."""
        index = 0
        for batch, rows in self._batches(np.arange(len(self))):
            for row in rows:
                yield self._result(batch, row, index)
                index += 1

    def _batches(self, indices: Ints) -> Iterator[tuple[Batch, Sequence[int]]]:
        """Yield batches, and which of their rows are the vectors with some indices, in order."""
        if self.whole is not None:
            yield self.whole, indices.tolist()
            return
        with reopened(self.source) as source:
            for batch in source.batches(self.numbers[indices]):
                yield batch, range(len(batch))

    def _result(self, batch: Batch, row: int, index: int) -> Result:
        output, printed = self.outputs.get(index), self.printed.get(index, "")
        return result_at(batch, row, self.judged, index, output=output, printed=printed)


def result_at(
    batch: Batch,
    row: int,
    judged: Judged,
    index: int,
    *,
    output: Array | Outputs | None = None,
    printed: str = "",
) -> Result:
    """Return the result of vector `row` of a batch, number `index` among those judged."""
    explanation = judged.explanations.get(index, _NOT_EXPLAINED)
    verdict = VERDICTS[judged.verdict[index]]
    vote = judged.said(index)
    accepted: tuple[dict[str, str], ...] = ()
    if vote is not None:
        accepted = reading_space(batch.operator).combinations_in(vote.accepted, vote.touched)
    return Result(
        id=batch.ids[row],
        operator=batch.operator,
        verdict=verdict,
        attributes=batch.attributes[row],
        dtype=_dtype(batch, row),
        shapes=tuple([array.shape for array in batch.inputs[row]]),
        detail=explanation.detail,
        worst=explanation.worst,
        tier=batch.tier[row],
        pattern=batch.pattern[row],
        source=batch.source[row],
        provenance=batch.provenance[row],
        tags=batch.tags[row],
        readings=accepted if verdict == "conforms" else (),
        clauses=batch.clauses[row],
        output=output,
        printed=printed,
        excused=accepted if vote is not None and vote.excused else (),
    )


def _dtype(batch: Batch, row: int) -> str:
    inputs = batch.inputs[row]
    return name_of(inputs[0].dtype) if inputs else ""


class Results(Sequence[Result]):
    """One result for each vector that was run, made anew each time: keep what you look at.

    Going through them all is quicker than asking for them one by one.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(part for part in parts if len(part))
        self._starts = [0]
        for part in self._parts:
            self._starts.append(self._starts[-1] + len(part))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...

    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        part = bisect_right(self._starts, index) - 1
        return self._parts[part].result(index - self._starts[part])

    def __iter__(self) -> Iterator[Result]:
        for part in self._parts:
            yield from part.results()

    def __repr__(self) -> str:
        return f"<{len(self)} results>"
