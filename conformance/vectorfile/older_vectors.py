"""Vectors of older versions of a document, which are stored once: among those of its newest.

`older_vectors.txt` has a line for each version: its name, the digest of the vectors of the newest
version and, of those, NUMBER-DIGEST: the number, and the end of the id in the older version. `ANEW`
is behind those whose answers are others there, which are computed. It is written by
benchmarks/choose_older.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, Ints, batch_of, vector_at, vectors_of
from conformance.dtypes import name_of
from conformance.errors import VectorFileError
from conformance.operators import OPERATORS, Attribute, Operator, vector_of
from conformance.vector import Case, Vector
from conformance.vectorfile.vector_file import VectorFile

LIST = Path(__file__).with_name("older_vectors.txt")
ANEW = "*"


class OlderVectors(VectorFile):
    """Vectors of an older version, all of the standard tier.

    `listed` are entries of the list, whose numbers ascend.
    """

    def __init__(self, newest: VectorFile, operator: str, listed: Sequence[str]) -> None:
        super().__init__(newest.path, unchanged=True, columns=newest.columns)
        self._newest = newest
        self._listed = listed
        self._numbers = np.array([int(each.partition("-")[0]) for each in listed], np.int64)
        self._length = len(listed)
        self.operator = operator
        self.header = {}
        self.digest = sha256(" ".join([operator, newest.digest, *listed]).encode()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return OlderVectors, (self._newest, self.operator, self._listed)

    def check(self) -> None:
        """Check the content of the file, unless that was done."""
        self._newest.check()

    @property
    def nbytes(self) -> int:
        """No bytes besides those of the newest version's vectors."""
        return 0

    @property
    def id_hashes(self) -> Ints:
        """A hash of each id, the same for equal ids of all files in this process."""
        return np.fromiter(map(hash, self.ids), np.int64, len(self))

    @cached_property
    def ids(self) -> list[str]:
        """The id of every vector: that of the newest version's, but for operator and digest."""
        ids, newest = self._newest.ids, self._newest.operator
        names = [ids[number].removeprefix(newest).rpartition("-")[0] for number in self._numbers]
        ends = [each.partition("-")[2].removesuffix(ANEW) for each in self._listed]
        return [f"{self.operator}{n}-{end}" for n, end in zip(names, ends, strict=True)]

    @cached_property
    def tiers(self) -> list[str]:
        """The tier of every vector."""
        return ["standard"] * len(self)

    def vector(self, number: int) -> Vector:
        """Return one vector; IndexError if there is none with that number."""
        (batch,) = self.batches([range(len(self))[number]])
        return vector_at(batch, 0)

    def batches(
        self,
        select: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
        *,
        max_bytes: int = 1 << 24,
    ) -> Iterator[Batch]:
        """Yield the vectors as columns, a batch at a time: see `VectorFile.batches`."""
        numbers = np.arange(len(self)) if select is None else np.asarray(select, dtype=np.int64)
        first = 0
        for batch in self._newest.batches(self._numbers[numbers], max_bytes=max_bytes):
            some = numbers[first : first + len(batch)]
            first += len(batch)
            vectors = [self._answered(n, v) for n, v in zip(some, vectors_of(batch), strict=True)]
            yield replace(batch_of(vectors), numbers=some)

    def _answered(self, number: int, newest: Vector) -> Vector:
        """Return vector `number`, given that of the newest version."""
        case = case_of_older(newest.case, OPERATORS[self.operator])
        if case is None:
            raise VectorFileError(f"{LIST}: {self.operator} does not have {newest.case.id}")
        case = replace(case, id=self.ids[number])
        is_anew = self._listed[number].endswith(ANEW)
        return vector_of(case) if is_anew else replace(newest, case=case)


def older_vectors(files: Sequence[VectorFile]) -> list[OlderVectors]:
    """Return the vectors of older versions that there are beside those of shipped files."""
    by_digest = {file.digest: file for file in files}
    return [
        OlderVectors(by_digest[digest], operator, listed)
        for operator, digest, *listed in map(str.split, LIST.read_text("ascii").splitlines())
        if digest in by_digest and operator in OPERATORS
    ]


def case_of_older(case: Case, operator: Operator) -> Case | None:
    """Return a case of the newest version as one of an older; None if it says what came later.

    An attribute that came later is left out where it has its default. The id stays.
    """
    newest = operator.newest
    dtype = name_of(case.data.dtype)
    if dtype in newest.dtypes and dtype not in operator.dtypes:
        return None
    known = {attribute.key: attribute for attribute in operator.attributes}
    later = {each.key: each for each in newest.attributes if each.key not in known}
    sizes = case.data.shape[2:]
    attributes = {}
    for key, value in case.attributes.items():
        if key in later and not _is_default(later[key], value, sizes):
            return None
        if key not in later:
            is_float = key in known and known[key].is_float and isinstance(value, int)
            attributes[key] = float(value) if is_float else value
    return replace(
        case,
        operator=operator.name,
        attributes=attributes,
        tier="standard",
        source=case.source.replace(newest.document, operator.document),
    )


def _is_default(attribute: Attribute, value: Any, sizes: tuple[int, ...]) -> bool:
    default = attribute.default_for({"sizes": sizes})
    return bool(value == (list(default) if attribute.is_list else default))
