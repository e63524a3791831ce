"""The likely causes of mismatches: faults of the catalogue that reproduce what was returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from conformance.faults.catalogue import CATALOGUE
from conformance.faults.conditions import condition, features
from conformance.faults.fault import Fault
from conformance.faults.matching import Exhibit, Suspects
from conformance.faults.traits import traits_of
from conformance.vector import Array, Vector

Mismatch = tuple[Vector, Array | None]
Progress = Callable[[int, int], None]
Together = tuple[Fault, ...]

SAMPLE = 40
"""Mismatches that causes are searched for; what is found is then held against all of them."""
_CONFORMING = 150
_CAUSES = 6
_PARTNERS = 4
_FRUITLESS = 4
_ALTERNATIVES = 4


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A likely cause of mismatches.

    `explained` of `total` mismatches are reproduced by the faults named, planted together,
    `exact` of them bit for bit; `contradicted` of `conforming` vectors conform although the
    faults would break them. `condition` says in words what the mismatches have in common that
    conforming vectors lack, "" if nothing. `alternatives` name other faults that explain as
    much. `faults` is empty where the cause is unknown. `threads` are addresses of public reports
    of the same kind. `vectors` are the ids explained.
    """

    summary: str
    faults: tuple[str, ...]
    explained: int
    exact: int
    total: int
    contradicted: int = 0
    conforming: int = 0
    condition: str = ""
    alternatives: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()


def diagnose(
    mismatches: Sequence[Mismatch],
    conforming: Sequence[Vector],
    readings: Mapping[str, str],
    *,
    catalogue: Sequence[Fault] = CATALOGUE,
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Find what reproduces mismatches, the cause that explains most of them first.

    `mismatches` pairs vectors that do not conform with the outputs of the backend (None: it
    raised an exception), `conforming` are vectors that do, as varied as can be, and `readings`
    the readings of disputed clauses the backend follows, as far as they are known.
    `progress(done, total)` counts mismatches. The last diagnosis names no fault where mismatches
    are left over.
    """
    search = _Search(
        [Exhibit(vector, output, readings) for vector, output in mismatches],
        [Exhibit(v, None, readings) for v in spread(conforming, _CONFORMING)],
        [fault for fault in catalogue if not fault.remembers],
        progress,
    )
    return search.run()


def spread(vectors: Sequence[Vector], most: int) -> list[Vector]:
    """Return at most so many vectors, of as many kinds as possible, the smaller of a kind."""
    return [vectors[i] for i in _spread([features(v) for v in vectors], _sizes(vectors), most)]


@dataclass(slots=True, eq=False)
class _Cause:
    faults: Together
    explained: set[int]
    contradicted: set[int]
    alternatives: list[Together] = field(default_factory=list)

    @property
    def score(self) -> tuple[int, int, int]:
        return (
            len(self.explained) - len(self.contradicted),
            -len(self.contradicted),
            -len(self.faults),
        )


class _Search:
    """One search. Exhibits are named by their number; `_sample` are those searched."""

    def __init__(
        self,
        mismatches: list[Exhibit],
        conforming: list[Exhibit],
        catalogue: Sequence[Fault],
        progress: Progress | None,
    ) -> None:
        self._mismatches = mismatches
        self._conforming = conforming
        self._catalogue = catalogue
        self._progress = progress
        self._suspects = Suspects()
        self._known: dict[tuple[Together, int], bool] = {}
        vectors = [exhibit.vector for exhibit in mismatches]
        self._features = [features(vector) for vector in vectors]
        kinds = [
            f | {"raised" if e.output is None else str(e.output.ndim)}
            for f, e in zip(self._features, mismatches, strict=True)
        ]
        self._sample = _spread(kinds, _sizes(vectors), SAMPLE)

    def run(self) -> list[Diagnosis]:
        causes, left = self._singly()
        causes, left = self._together(causes, left)
        found = [self._diagnosis(cause) for cause in causes]
        explained = {vector for diagnosis in found for vector in diagnosis.vectors}
        over = [
            i for i, e in enumerate(self._mismatches) if e.vector.case.id not in explained
        ]
        if over:
            found.append(self._unknown(over))
        return sorted(found, key=lambda each: (bool(each.faults), each.explained), reverse=True)

    def _singly(self) -> tuple[list[_Cause], list[int]]:
        """Look for single faults, one mismatch that none of those found explains at a time."""
        causes: list[_Cause] = []
        left, fruitless = list(self._sample), []
        while left:
            self._tick(len(self._sample) - len(left))
            cause = self._best((fault,) for fault in self._catalogue) if False else None
            cause = self._best_of(((fault,) for fault in self._catalogue), left[0])
            if cause is None:
                fruitless.append(left.pop(0))
                continue
            causes.append(cause)
            left = [i for i in left if i not in cause.explained]
            if len(causes) == _CAUSES:
                break
        return causes, fruitless + left
