"""The verdicts of a run: added up, and made into the report and its results."""

from __future__ import annotations

import os
import platform
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate, chain
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from msgspec import structs

from conformance import __version__
from conformance.batch import Batch, Ints
from conformance.dtypes import name_of
from conformance.judging.explanations import Explanation
from conformance.judging.reading_sets import reading_space
from conformance.judging.readings import place_of, settled
from conformance.judging.verdicts import Verdicts
from conformance.judging.votes import Votes
from conformance.record.report import (
    LONG_RUN,
    VERDICTS,
    Announced,
    ClauseReport,
    LazyResults,
    Repeatability,
    Report,
    Result,
    SlowVector,
    VariationReport,
    VectorsUsed,
    Verdict,
    added_up,
    slowest,
)
from conformance.text import listed
from conformance.vectorfile.sources import Selected, Source
from conformance.vectorfile.suite import joint_digest

INTERRUPTED = "interrupted"
_NOT_EXPLAINED = Explanation()
_PACKAGES = ("numpy", "ml_dtypes", "h5py")
Explained = tuple[str, tuple[Mapping[str, str], ...]]
"""An element type, and the combinations of readings that explain a vector of it."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedBatch:
    """The verdicts on a batch, and where its vectors are read again when a result is looked at.

    A million vectors would not fit into memory. `numbers` are the vectors' numbers in `source`.
    """

    source: Source
    numbers: Ints
    verdicts: Verdicts

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> Result:
        (result,) = self._results(np.array([index]))
        return result

    def __iter__(self) -> Iterator[Result]:
        return self._results(np.arange(len(self)))

    def batches(self, indices: Ints) -> Iterator[tuple[Batch, dict[int, int]]]:
        """Yield batches, and of their rows that are the vectors with some indices these indices."""
        left = iter(indices.tolist())
        for batch in self.source.batches(self.numbers[indices]):
            yield batch, dict(zip(range(len(batch)), left, strict=False))

    def explanations(self) -> Iterator[Explained]:
        """Yield what `explanations` does, each once: no vector is read for it."""
        verdicts = self.verdicts
        conforms = verdicts.verdict == VERDICTS.index("conforms")
        for place in np.unique(verdicts.vote[conforms & (verdicts.vote >= 0)]).tolist():
            vote = verdicts.votes[place]
            if vote.conforms:
                space = reading_space(vote.separators.operator)
                readings = space.combinations_in(vote.accepted, vote.clauses)
                yield vote.separators.dtype, readings

    def _results(self, indices: Ints) -> Iterator[Result]:
        for batch, index_of in self.batches(indices):
            for row, index in index_of.items():
                yield result_at(batch, row, self.verdicts, index)


class InFileOrder(Sequence[Result]):
    """The results of several batches of one source, each ascending, in the order of the source."""

    def __init__(self, parts: Sequence[JudgedBatch]) -> None:
        self.parts = tuple(parts)
        numbers = np.concatenate([part.numbers for part in parts])
        order = np.argsort(numbers, kind="stable")
        starts = np.cumsum([0, *map(len, parts)])
        self._part = np.searchsorted(starts, order, side="right") - 1
        self._index = order - starts[self._part]

    def __len__(self) -> int:
        return len(self._part)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...

    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        part, place = int(self._part[index]), int(self._index[index])
        return self.parts[part][place]

    def __iter__(self) -> Iterator[Result]:
        results = [iter(part) for part in self.parts]
        return (next(results[part]) for part in self._part.tolist())


def in_file_order(batches: Iterable[JudgedBatch]) -> list[JudgedBatch | InFileOrder]:
    """Return the results of each source: in the order in which it holds them, not of the run."""
    of_source: dict[Source, list[JudgedBatch]] = {}
    for batch in batches:
        of_source.setdefault(batch.source, []).append(batch)
    return [parts[0] if len(parts) == 1 else InFileOrder(parts) for parts in of_source.values()]


def result_at(batch: Batch, row: int, verdicts: Verdicts, index: int) -> Result:
    """Return the result of vector `row` of a batch, number `index` among the verdicts."""
    explanation = verdicts.explanations.get(index, _NOT_EXPLAINED)
    verdict = VERDICTS[verdicts.verdict[index]]
    vote = verdicts.vote_of(index)
    accepted: tuple[dict[str, str], ...] = ()
    is_excuse = False
    if vote is not None and vote.conforms:
        accepted = reading_space(batch.operator).combinations_in(vote.accepted, vote.clauses)
        is_excuse = vote.excused or verdict != "conforms"
    inputs = batch.inputs[row]
    return Result(
        id=batch.ids[row],
        operator=batch.operator,
        verdict=verdict,
        attributes=batch.attributes[row],
        dtype=name_of(inputs[0].dtype) if inputs else "",
        shapes=tuple([array.shape for array in inputs]),
        **explanation._asdict(),
        tier=batch.tier[row],
        pattern=batch.pattern[row],
        source=batch.source[row],
        provenance=batch.provenance[row],
        tags=batch.tags[row],
        readings=accepted if verdict == "conforms" else (),
        clauses=batch.clauses[row],
        expected="",
        excused=accepted if is_excuse else (),
        undefined_only=verdict == "conforms" and bool(verdicts.undefined_only[index]),
    )


class Results(LazyResults):
    """One result per vector that was run, made anew each time it is looked at.

    These are the results of `parts`, one part after the other, with the reasons for which some
    failures are `announced`, by id and verdict. Iteration is quicker than indexing, which reads the
    vectors one by one.
    """

    def __init__(
        self,
        parts: Sequence[JudgedBatch | Sequence[Result]],
        announced: Mapping[str, Mapping[str, Announced]] = MappingProxyType({}),
    ) -> None:
        self.parts = tuple(part for part in parts if len(part))
        self._starts = list(accumulate(map(len, self.parts), initial=0))
        self._announced = announced

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
        return self._with_reason(self.parts[part][index - self._starts[part]])

    def __iter__(self) -> Iterator[Result]:
        results = chain.from_iterable(self.parts)
        return map(self._with_reason, results) if self._announced else results

    def __repr__(self) -> str:
        return f"<{len(self)} results>"

    def verdicts(self) -> Iterator[tuple[str, Verdict]]:
        """Yield operator and verdict of each result, but in the order of the run."""
        return chain.from_iterable(map(_verdicts, self.parts))

    def _with_reason(self, result: Result) -> Result:
        announced = self._announced.get(result.id, {}).get(result.verdict)
        if announced is None or not announced.is_of(result.answer):
            return result
        return structs.replace(result, expected=announced.reason)


def _verdicts(results: JudgedBatch | Sequence[Result]) -> Iterator[tuple[str, Verdict]]:
    """Yield operator and verdict of each result; no vector is read for it if it was judged."""
    if isinstance(results, JudgedBatch):
        operator = results.source.operator
        yield from ((operator, VERDICTS[code]) for code in results.verdicts.verdict.tolist())
    elif isinstance(results, Results | InFileOrder):
        yield from chain.from_iterable(map(_verdicts, results.parts))
    else:
        yield from ((result.operator, result.verdict) for result in results)


def explanations(results: Iterable[Result]) -> Iterator[Explained]:
    """Yield the element type of every vector that conforms, and the readings that explain it.

    The same may come once for many vectors.
    """
    if isinstance(results, JudgedBatch):
        yield from results.explanations()
    elif isinstance(results, Results | InFileOrder):
        yield from chain.from_iterable(map(explanations, results.parts))
    else:
        yield from ((result.dtype, result.readings) for result in results if result.readings)


@dataclass(slots=True, eq=False)
class Tally:
    """Mergeable tally of judged vectors, of one process or of several.

    `seconds` were spent in the backend; the `slowest` vectors took most of them. `engines` are the
    versions of its engine that are known: machines may have different ones. `stopped` says why not
    every vector was run, "" if it was, `INTERRUPTED` where the user stopped it.
    """

    batches: list[JudgedBatch] = field(default_factory=list)
    repeated: Repeatability = field(default_factory=lambda: Repeatability(0))
    varied: tuple[VariationReport, ...] = ()
    seconds: float = 0.0
    slowest: tuple[SlowVector, ...] = ()
    engines: frozenset[str] = frozenset()
    stopped: str = ""

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    def add(self, other: Tally) -> None:
        """Add the verdicts on other vectors."""
        self.batches += other.batches
        self.repeated += other.repeated
        self.varied += other.varied
        self.seconds += other.seconds
        self.slowest = slowest(self.slowest + other.slowest)
        self.engines |= other.engines
        self.stopped = self.stopped or other.stopped

    def report(self, **about: Any) -> Report:
        """Return the report of the run; `about` are the fields that no verdict tells.

        An exception that only a reading not followed would excuse is an error from here on.
        """
        engine = {"engine": listed(sorted(self.engines))} if self.engines else {}
        return report_of(
            [batch.verdicts for batch in self.batches],
            readings=self._settle_readings(),
            results=Results(in_file_order(self.batches)),
            repeated=self.repeated,
            variations=self.varied,
            stopped=self.stopped,
            backend_seconds=self.seconds,
            slowest=self.slowest if self.seconds >= LONG_RUN else (),
            diagnoses=(),
            expectations=None,
            versions=package_versions() | engine,
            **about,
        )

    def _settle_readings(self) -> tuple[ClauseReport, ...]:
        """Return which readings explain the vectors that conform; refute what they rule out."""
        votes: Votes = Counter()
        for batch in self.batches:
            votes.update(batch.verdicts.votes_counted())
        refuted, reports = settled(votes)
        for batch in self.batches:
            batch.verdicts.refute(refuted)
        return reports


def report_of(
    parts: Sequence[Verdicts | Report],
    *,
    repeated: Repeatability,
    variations: Sequence[VariationReport],
    **about: Any,
) -> Report:
    """Return the report of a run, in which what is known of its parts is added up.

    `about` are the fields that are not sums.
    """
    undefined = added_up(chain.from_iterable(part.undefined for part in parts), "clause")
    accuracy = added_up(chain.from_iterable(part.accuracy for part in parts), "dtype")
    bias = added_up(chain.from_iterable(part.bias for part in parts), "operator", "dtype")
    outputs = chain.from_iterable(part.outputs for part in parts)
    return Report(
        undefined=tuple(
            replace(clause, counts=dict(Counter(clause.counts).most_common()))
            for clause in sorted(undefined, key=lambda clause: place_of(clause.clause))
        ),
        bias=tuple(sorted(bias, key=lambda each: (each.operator, each.dtype))),
        accuracy=tuple(of_type for of_type in accuracy if of_type.elements),
        outputs=added_up(outputs, "operator", "output"),
        repeated=repeated if repeated.sampled else None,
        variations=added_up(variations, "variation"),
        **about,
    )


@cache
def package_versions() -> dict[str, str]:
    """Return the versions of this package, of Python and of the packages that values pass."""
    versions = {"conformance": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # a source tree on the path, say
            continue
    return versions


def vectors_used(selections: Sequence[Selected]) -> tuple[VectorsUsed, ...]:
    """Return what the report says of the sources: those of one operator are one."""
    by_operator: dict[str, list[Selected]] = {}
    for selection in selections:
        by_operator.setdefault(selection.source.operator, []).append(selection)
    return tuple(
        VectorsUsed(
            operator=operator,
            path=os.path.commonpath([part.source.path for part in group]),
            digest=joint_digest([part.source.digest for part in group]),
            selected=sum(len(part.numbers) for part in group),
            total=sum(len(part.source) for part in group),
        )
        for operator, group in by_operator.items()
    )
