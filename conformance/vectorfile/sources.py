"""Sources of vectors, files or memory, and which of their vectors are run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, batch_of, vectors_of
from conformance.errors import UsageError
from conformance.operators import operators_named
from conformance.settings import Operators, Select
from conformance.vector import LARGE, TIERS, Vector
from conformance.vectorfile import VectorFile, VectorSet, open_suite

_SHARD = re.compile(r"(\d{1,9})/(\d{1,9})", re.ASCII)
_AGAIN = 32
"""Vectors of a source that are called again, at most."""
_VARIED = 128
"""Vectors of a source of which some are called in other variations, at most."""


class InMemory:
    """Vectors of one operator in memory, with the attributes of a vector file that a run needs."""

    path = ""
    digest = ""

    def __init__(self, operator: str, vectors: Sequence[Vector]) -> None:
        self.operator = operator
        self._vectors = vectors
        self.ids = [vector.case.id for vector in vectors]
        self.tiers = [vector.case.tier for vector in vectors]

    def __len__(self) -> int:
        return len(self._vectors)

    def batches(self, select: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """Yield the selected vectors as one batch."""
        if select.size:
            batch = batch_of([self._vectors[i] for i in select.tolist()])
            yield replace(batch, numbers=select)


class Source(Protocol):
    """Vectors of one operator: a vector file, or what has as much of one as a run needs."""

    @property
    def operator(self) -> str:
        """The operator of all vectors."""

    @property
    def path(self) -> str | Path:
        """Where the file is, "" where there is none."""

    @property
    def digest(self) -> str:
        """Digest of the content, "" where there is no file."""

    @property
    def ids(self) -> Sequence[str]:
        """The id of each vector."""

    @property
    def tiers(self) -> Sequence[str]:
        """The tier of each vector."""

    def __len__(self) -> int: ...

    def batches(self, select: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """Yield the vectors with some numbers, in batches."""


Vectors = (
    str | os.PathLike[str] | VectorSet | VectorFile | Sequence[Vector] | Sequence[Source] | None
)


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """The numbers of the vectors of one source that are run, and a sample that is called again.

    Of those that fail, a few are called again too. Of `varied`, a few are called in each of the
    other variations of a call. So many `shards` of a run, of which this is of one, share all that.
    """

    source: Source
    numbers: npt.NDArray[np.int64]
    again: npt.NDArray[np.int64]
    varied: npt.NDArray[np.int64]
    shards: int = 1

    @classmethod
    def of(cls, source: Source, numbers: npt.NDArray[np.int64], shards: int = 1) -> Selected:
        """Choose a few vectors to call again, evenly spread: neighbours are alike."""
        count = len(numbers) * shards
        again, varied = (numbers[:: -(-count // most) or 1] for most in (_AGAIN, _VARIED))
        return cls(source, numbers, again, varied, shards)

    @property
    def failing_again(self) -> int:
        """How many of the vectors that fail are called again, at most."""
        return -(-_AGAIN // self.shards)


def opened(
    vectors: Vectors, operators: Operators = None
) -> AbstractContextManager[Sequence[Source]]:
    """Return the sources of what a user gave, to read the vectors of some operators.

    Closes on exit only what it opened.
    """
    if isinstance(vectors, VectorSet):
        return nullcontext(vectors.files)
    if isinstance(vectors, VectorFile):
        return nullcontext((vectors,))
    if vectors is None or isinstance(vectors, str | os.PathLike):
        return open_suite(vectors, operators)
    by_operator: dict[str, list[Vector]] = {}
    for vector in vectors:
        if not isinstance(vector, Vector):  # sources that somebody opened
            return nullcontext(cast("Sequence[Source]", vectors))
        by_operator.setdefault(vector.case.operator, []).append(vector)
    return nullcontext([InMemory(name, group) for name, group in by_operator.items()])


def vectors_in(source: Source, numbers: npt.NDArray[np.int64]) -> Iterator[Vector]:
    """Yield the vectors of a source with some numbers, in the order of these."""
    for batch in source.batches(numbers):
        yield from vectors_of(batch)


def chosen(
    sources: Sequence[Source],
    operators: Operators,
    select: Select,
    tier: str,
    shard: str | None = None,
) -> list[Selected]:
    """Return what is run of each source.

    Raises UsageError, naming it, for a tier or operator that is not there, for a selection
    that matches nothing, and for a shard that is not i/n with 1 <= i <= n.
    """
    first, step = _part(shard)
    if tier not in TIERS and not any(tier in source.tiers for source in sources):
        raise UsageError(f"no tier {tier!r}; there are {', '.join(TIERS)}; {LARGE} for check")
    for option, given in {"operators": operators, "select": select}.items():
        if isinstance(given, Sequence) and not given:
            raise UsageError(f"{option} is empty: it chooses nothing; None chooses everything")
    held = list(dict.fromkeys(source.operator for source in sources))
    names = operators_named(operators, held)
    tiers = frozenset(TIERS[: TIERS.index(tier) + 1] if tier in TIERS else {tier})
    sources = [source for source in sources if source.operator in names]
    numbers = [
        [number for number, of_vector in enumerate(source.tiers) if of_vector in tiers]
        for source in sources
    ]
    if select is not None:
        numbers = _matching(sources, numbers, select, tier)
    return [
        Selected.of(source, np.array(of_source[first::step], np.int64), step)
        for source, of_source in zip(sources, numbers, strict=True)
    ]


def _matching(
    sources: Sequence[Source],
    numbers: Sequence[Sequence[int]],
    select: str | Sequence[str] | Callable[[str], bool],
    tier: str,
) -> list[list[int]]:
    """Return, for each source, those of some vectors whose ids are selected."""
    if callable(select):
        matchers = {"select": select}
    else:
        matchers = {f"select {pattern!r}": _matcher(pattern) for pattern in _listed(select)}
    matching: list[set[int]] = [set() for _ in sources]
    for name, matches in matchers.items():
        count = 0
        for source, of_source, selected in zip(sources, numbers, matching, strict=True):
            of_name = [number for number in of_source if matches(source.ids[number])]
            selected.update(of_name)
            count += len(of_name)
        if not count:
            raise UsageError(f"{name} matches no vector of tier {tier}")
    return [sorted(selected) for selected in matching]


def _part(shard: str | None) -> tuple[int, int]:
    """Return i - 1 and n for "i/n": a shard is every n-th vector, so that shards are alike."""
    if shard is None:
        return 0, 1
    match = _SHARD.fullmatch(shard)
    number, count = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"shard {shard!r} is not i/n, the i-th of n parts: 1/4 for example")
    return number - 1, count


def _listed(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _matcher(pattern: str) -> Callable[[str], bool]:
    if not set(pattern) & set("*?"):
        return lambda vector_id: pattern in vector_id
    escaped = pattern.replace("[", "[[]")
    return lambda vector_id: fnmatchcase(vector_id, escaped)
