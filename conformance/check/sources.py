"""Where the vectors of a run come from, and which of them are run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, batch_of
from conformance.check.report import VectorsUsed
from conformance.errors import UsageError, VectorFileError
from conformance.operators import operator_named
from conformance.vector import TIERS, Vector
from conformance.vectorfile import VectorFile, VectorSet, open_vectors

Operators = str | Sequence[str] | None
Select = str | Sequence[str] | Callable[[str], bool] | None


_AGAIN = 32
"""Vectors of a source that are run again, at most."""


class InMemory:
    """Vectors of one operator that are in memory, with what is needed of a vector file."""

    path = ""
    digest = ""
    resident = 1

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


Source = VectorFile | InMemory
Vectors = (
    str | os.PathLike[str] | VectorSet | VectorFile | Sequence[Vector] | Sequence[Source] | None
)


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The numbers of the vectors of one source that are run, and of those, which are run again."""

    source: Source
    numbers: npt.NDArray[np.int64]
    again: npt.NDArray[np.int64]

    @classmethod
    def of(cls, source: Source, numbers: npt.NDArray[np.int64]) -> Selection:
        """Choose a few vectors to run again, evenly spread: neighbours are alike."""
        return cls(source, numbers, numbers[:: -(-len(numbers) // _AGAIN) or 1])

    def portions(self, size: int) -> list[Selection]:
        """Return the selection in portions of at most `size` vectors."""
        return [
            Selection(self.source, part, np.intersect1d(part, self.again))
            for part in np.split(self.numbers, range(size, len(self.numbers), size))
        ]


def opened(vectors: Vectors) -> AbstractContextManager[Sequence[Source]]:
    """Return the sources of what a user gave; closes on exit only what it opened."""
    if isinstance(vectors, VectorSet):
        return nullcontext(vectors.files)
    if isinstance(vectors, VectorFile):
        return nullcontext((vectors,))
    if vectors is None or isinstance(vectors, str | os.PathLike):
        return open_vectors(vectors)
    by_operator: dict[str, list[Vector]] = {}
    for vector in vectors:
        if not isinstance(vector, Vector):  # sources that somebody opened
            return nullcontext(cast("Sequence[Source]", vectors))
        by_operator.setdefault(vector.case.operator, []).append(vector)
    return nullcontext([InMemory(*each) for each in by_operator.items()])


@contextmanager
def reopened(source: Source) -> Iterator[Source]:
    """Yield a source that can be read: the same file again if it was closed since.

    Raises VectorFileError if the file has changed.
    """
    if isinstance(source, InMemory) or source.readable:
        yield source
        return
    with VectorFile(source.path) as file:
        if file.digest != source.digest:
            raise VectorFileError(f"{source.path}: it is not the file that was checked")
        yield file


def chosen(
    sources: Sequence[Source],
    operators: Operators,
    select: Select,
    tier: str,
    shard: str | None = None,
) -> list[Selection]:
    """Return what is run of each source.

    Raises UsageError, naming it, for a tier or operator that is not there, for a selection
    that matches nothing, and for a shard that is not i/n with 1 <= i <= n.
    """
    first, step = _part(shard)
    if tier not in TIERS:
        raise UsageError(f"no tier {tier!r}; there are {', '.join(TIERS)}")
    for option, given in {"operators": operators, "select": select}.items():
        if isinstance(given, Sequence) and not given:
            raise UsageError(f"{option} is empty: it chooses nothing; None chooses everything")
    held = list(dict.fromkeys(source.operator for source in sources))
    names = held if operators is None else _listed(operators)
    for name in names:
        operator_named(name)
        if name not in held:
            raise UsageError(f"no vectors of {name}; there are vectors of {', '.join(held)}")
    tiers = frozenset(TIERS[: TIERS.index(tier) + 1])
    wanted = [source for source in sources if source.operator in names]
    numbers = [
        [number for number, each in enumerate(source.tiers) if each in tiers] for source in wanted
    ]
    if select is not None:
        tests = _tests(select)
        ids = [[source.ids[n] for n in each] for source, each in zip(wanted, numbers, strict=True)]
        for name, matches in tests.items():
            if not any(map(matches, chain.from_iterable(ids))):
                raise UsageError(f"{name} matches no vector of tier {tier}")
        numbers = [
            [
                n
                for n, vector in zip(each, found, strict=True)
                if any(m(vector) for m in tests.values())
            ]
            for each, found in zip(numbers, ids, strict=True)
        ]
    return [
        Selection.of(source, np.array(each[first::step], np.int64))
        for source, each in zip(wanted, numbers, strict=True)
    ]


def used(selections: Sequence[Selection]) -> tuple[VectorsUsed, ...]:
    """Return what the report says of the sources: those of one operator are one."""
    found: dict[str, list[Selection]] = {}
    for selection in selections:
        found.setdefault(selection.source.operator, []).append(selection)
    return tuple(
        VectorsUsed(
            operator=operator,
            path=os.path.commonpath([each.source.path for each in group]),
            digest=_digest_of([each.source.digest for each in group]),
            selected=sum(len(each.numbers) for each in group),
            total=sum(len(each.source) for each in group),
        )
        for operator, group in found.items()
    )


def _digest_of(digests: Sequence[str]) -> str:
    """Return the digest of a file, or one of the digests of several files."""
    return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()


def _part(shard: str | None) -> tuple[int, int]:
    """Return where the i-th of n parts begins, and n: every n-th vector, so that all are alike."""
    if shard is None:
        return 0, 1
    number, slash, count = shard.partition("/")
    if not (slash and all(map(str.isdecimal, (number, count))) and 1 <= int(number) <= int(count)):
        raise UsageError(f"shard {shard!r} is not i/n, the i-th of n parts: 1/4 for example")
    return int(number) - 1, int(count)


def _tests(select: Any) -> dict[str, Callable[[str], bool]]:
    if callable(select):
        return {"select": select}
    return {f"select {pattern!r}": _matcher(pattern) for pattern in _listed(select)}


def _listed(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _matcher(pattern: str) -> Callable[[str], bool]:
    if not set(pattern) & set("*?"):
        return lambda vector_id: pattern in vector_id
    escaped = pattern.replace("[", "[[]")
    return lambda vector_id: fnmatchcase(vector_id, escaped)
