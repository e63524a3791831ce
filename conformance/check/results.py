"""The results of a run: a sequence made from small columns when it is looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from conformance.batch import Batch
from conformance.check.combinations import CLAUSE_NAMES, combinations_in
from conformance.check.explain import Explanation
from conformance.check.judge import Judged
from conformance.check.report import VERDICTS, Result
from conformance.check.runner import Answers
from conformance.dtypes import DType, name_of
from conformance.vector import Array

_NOT_EXPLAINED = Explanation("")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What is kept of one batch: no array but the first outputs of mismatches.

    What a backend printed is kept where something is to be explained.
    """

    operator: str
    ids: list[str]
    attributes: list[dict[str, Any]]
    dtypes: list[DType | None]
    shapes: list[tuple[tuple[int, ...], ...]]
    tier: list[str]
    pattern: list[str]
    source: list[str]
    provenance: list[str]
    tags: list[tuple[str, ...]]
    clauses: list[dict[str, tuple[str, ...]]]
    judged: Judged
    outputs: dict[int, Array]
    printed: dict[int, str]

    @classmethod
    def of(
        cls,
        batch: Batch,
        judged: Judged,
        answers: Answers,
        outputs: dict[int, Array],
        count: int,
    ) -> Part:
        """Keep the first `count` vectors of a batch: those that were run."""
        return cls(
            operator=batch.operator,
            ids=batch.ids[:count],
            attributes=batch.attributes[:count],
            dtypes=[arrays[0].dtype if arrays else None for arrays in batch.inputs[:count]],
            shapes=[tuple([array.shape for array in arrays]) for arrays in batch.inputs[:count]],
            tier=batch.tier[:count],
            pattern=batch.pattern[:count],
            source=batch.source[:count],
            provenance=batch.provenance[:count],
            tags=batch.tags[:count],
            clauses=batch.clauses[:count],
            judged=judged.first(count),
            outputs=outputs,
            printed={v: text for v, text in answers.printed.items() if v in judged.explanations},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def result(self, index: int) -> Result:
        """Return the result of one vector."""
        judged = self.judged
        explanation = judged.explanations.get(index, _NOT_EXPLAINED)
        clauses = self.clauses[index]
        touched = [name for name in CLAUSE_NAMES if name in clauses]
        dtype = self.dtypes[index]
        verdict = VERDICTS[judged.verdict[index]]
        accepted = combinations_in(judged.accepted[index], touched)
        return Result(
            id=self.ids[index],
            operator=self.operator,
            verdict=verdict,
            attributes=self.attributes[index],
            dtype=name_of(dtype) if dtype is not None else "",
            shapes=self.shapes[index],
            detail=explanation.detail,
            worst=explanation.worst,
            tier=self.tier[index],
            pattern=self.pattern[index],
            source=self.source[index],
            provenance=self.provenance[index],
            tags=self.tags[index],
            readings=accepted if verdict == "conforms" else (),
            clauses=clauses,
            output=self.outputs.get(index),
            printed=self.printed.get(index, ""),
            excused=accepted if judged.excused[index] else (),
        )

    def value(self, index: int, attribute: str) -> str:
        """Return what may separate readings: a value of one of `readings.ATTRIBUTES`."""
        dtype = self.dtypes[index]
        name = name_of(dtype) if dtype is not None else ""
        axes = len(self.shapes[index][0]) - 2
        return separator(attribute, self.operator, name, axes, self.attributes[index])


def separator(
    attribute: str, operator: str, dtype: str, axes: int, given: Mapping[str, Any]
) -> str:
    """Return the value of one of `readings.ATTRIBUTES` for a vector."""
    if attribute == "exclude_pad":
        if operator == "MaxPool-1":
            return "no divisor"
        include = given.get("include_padding_in_avg_computation", False)
        return str(given.get("exclude_pad", not include)).lower()
    defaults = {
        "operator": operator,
        "dtype": dtype,
        "axes": str(axes),
        "auto_pad": "explicit",
        "rounding_type": "floor",
    }
    return str(given.get(attribute, defaults[attribute]))


class Results(Sequence[Result]):
    """One result for each vector that was run; made anew each time, so keep what you look at."""

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
            for index in range(len(part)):
                yield part.result(index)

    def __repr__(self) -> str:
        return f"<{len(self)} results>"
