"""The likely causes of mismatches: faults of the catalogue that reproduce what was returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

from conformance.faults.catalogue import CATALOGUE
from conformance.faults.conditions import condition, features, spread
from conformance.faults.fault import Fault
from conformance.faults.matching import Exhibit, Suspects
from conformance.faults.traits import traits
from conformance.vector import Array, Vector

Mismatch = tuple[Vector, Array | None]
Readings = Mapping[str, str] | Callable[[Vector], Mapping[str, str]]
Progress = Callable[[int, int], None]
Together = tuple[Fault, ...]

SAMPLE = 40
"""Mismatches that causes are searched for; what is found is then held against all of them."""
CONFORMING = 240
"""Conforming vectors that causes are held against."""
_CAUSES = 6
_FRUITLESS = 10
_PAIR_SEARCHES = 5
_PARTNERS = 6
_ALTERNATIVES = 4
_HELD_AGAINST = 400


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A likely cause of mismatches.

    `summary` is one sentence. The faults named, planted together, reproduce `explained` of
    `total` mismatches, `exact` of them bit for bit; `contradicted` of `conforming` vectors
    conform although the faults would break them. `condition` says what the mismatches explained
    have in common that those vectors lack, "" if nothing is needed or known. `alternatives` name
    single faults that explain the same. `threads` are addresses of public reports of the same
    kind, `vectors` the ids explained. Where `faults` is empty the cause is unknown, and
    `explained` and `vectors` are those left over.
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
    readings: Readings,
    *,
    catalogue: Sequence[Fault] = CATALOGUE,
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Find what reproduces mismatches, the cause that explains most of them first.

    `mismatches` pairs vectors that do not conform with the outputs of the backend (None: it
    raised an exception), `conforming` are vectors that do, as varied as can be. `readings` are
    those of disputed clauses that the backend follows, as far as they are known, or give them
    per vector. `progress(done, total)` counts mismatches. The last diagnosis names no fault
    where mismatches are left over.
    """

    def of(vector: Vector) -> Mapping[str, str]:
        return readings(vector) if callable(readings) else readings

    chosen = _numbers([vector for vector, _ in mismatches], _HELD_AGAINST)
    search = _Search(
        [Exhibit(*mismatches[i], of(mismatches[i][0])) for i in chosen],
        [Exhibit(vector, None, of(vector)) for vector in spread(conforming, CONFORMING)],
        [fault for fault in catalogue if not fault.remembers],
        progress,
    )
    return search.run() if mismatches else []


@dataclass(slots=True, eq=False)
class _Cause:
    """Faults, the mismatches of the sample they explain, the conforming vectors they break."""

    faults: Together
    explained: frozenset[int]
    contradicted: frozenset[int]
    condition: str = ""
    alternatives: list[Fault] = field(default_factory=list)

    @property
    def score(self) -> tuple[int, int, bool, int]:
        return (
            len(self.explained) - len(self.contradicted),
            len(self.explained),
            not self.condition,
            -len(self.faults),
        )


class _Search:
    """One search. Mismatches and conforming vectors go by their numbers."""

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
        self._features = [
            features(each.vector) | traits(each.vector, each.output) for each in mismatches
        ]
        self._others = [features(each.vector) for each in conforming]
        self._sample = _numbers([each.vector for each in mismatches], SAMPLE)

    def run(self) -> list[Diagnosis]:
        """Search singly, then in pairs, then say what is left."""
        causes, left = self._singly()
        causes, left = self._in_pairs(causes, left)
        found = [self._diagnosis(cause) for cause in causes]
        done = {vector for diagnosis in found for vector in diagnosis.vectors}
        over = [i for i, e in enumerate(self._mismatches) if e.vector.case.id not in done]
        found.sort(key=lambda each: -each.explained)
        return [*found, self._unknown(over)] if over else found

    def _singly(self) -> tuple[list[_Cause], list[int]]:
        """Look for single faults, starting from one mismatch after the other."""
        causes: list[_Cause] = []
        fruitless: list[int] = []
        left = list(self._sample)
        while left and len(causes) < _CAUSES and len(fruitless) < _FRUITLESS:
            self._tick(len(self._sample) - len(left))
            cause = self._best(((fault,) for fault in self._catalogue), left[0])
            if cause is None:
                fruitless.append(left.pop(0))
            else:
                causes.append(cause)
                left = [i for i in left if i not in cause.explained]
        return causes, [i for i in fruitless + left if not _is_explained(i, causes)]

    def _in_pairs(self, causes: list[_Cause], left: list[int]) -> tuple[list[_Cause], list[int]]:
        """Look for two faults of different steps where single ones leave mismatches over."""
        for i in left[:_PAIR_SEARCHES]:
            self._tick(len(self._sample) - len(left))
            if _is_explained(i, causes):
                continue
            known = [cause.faults[0] for cause in causes if len(cause.faults) == 1]
            cause = self._best(_pairs(known, known), i)
            if cause is None:
                cause = self._best(_pairs(known, self._catalogue), i)
            if cause is None:
                cause = self._best(_pairs(self._partners(i), self._catalogue), i)
            if cause is not None:
                # What both explain together, each alone need not be named for.
                causes = [each for each in causes if not each.explained <= cause.explained]
                causes.append(cause)
        return causes, [i for i in left if not _is_explained(i, causes)]

    def _partners(self, mismatch: int) -> list[Fault]:
        """Return the faults that come nearest to a mismatch without explaining it."""
        exhibit = self._mismatches[mismatch]
        likeness = {fault: self._suspects.likeness((fault,), exhibit) for fault in self._catalogue}
        nearest = sorted(self._catalogue, key=lambda fault: -likeness[fault])[:_PARTNERS]
        return [fault for fault in nearest if likeness[fault] > 0]

    def _best(self, candidates: Iterable[Together], mismatch: int) -> _Cause | None:
        """Return the candidate that explains a mismatch and fits the others best."""
        exhibit = self._mismatches[mismatch]
        causes = [
            self._cause(faults)
            for faults in candidates
            if self._suspects.match(faults, exhibit) != "no"
        ]
        plausible = [cause for cause in causes if self._is_plausible(cause)]
        if not plausible:
            return None
        best = max(plausible, key=lambda cause: cause.score)
        best.alternatives = [
            other.faults[0]
            for other in plausible
            if other is not best and other.score == best.score and len(other.faults) == 1
        ]
        return best

    def _cause(self, faults: Together) -> _Cause:
        return _Cause(
            faults,
            frozenset(
                i for i in self._sample if self._suspects.match(faults, self._mismatches[i]) != "no"
            ),
            frozenset(
                i for i, each in enumerate(self._conforming) if self._suspects.shows(faults, each)
            ),
        )

    def _is_plausible(self, cause: _Cause) -> bool:
        """Say whether little speaks against a cause, or a condition on attributes removes it."""
        if not cause.contradicted:
            return True
        against = [self._others[i] for i in cause.contradicted]
        words, left = condition([self._features[i] for i in cause.explained], against)
        if left == 0:
            cause.condition = words
            cause.contradicted = frozenset()
            return True
        return 4 * len(cause.contradicted) <= len(cause.explained)

    def _diagnosis(self, cause: _Cause) -> Diagnosis:
        matches = {
            i: match
            for i, each in enumerate(self._mismatches)
            if (match := self._suspects.match(cause.faults, each)) != "no"
        }
        exact = sum(match == "exact" for match in matches.values())
        behaviour = ", together with: ".join(fault.summary for fault in cause.faults)
        where = f", where all have {cause.condition}" if cause.condition else ""
        counted = _counted(len(matches), len(self._mismatches))
        return Diagnosis(
            summary=f"{counted} reproduced {_how(exact, len(matches))} by: {behaviour}{where}",
            faults=tuple(fault.name for fault in cause.faults),
            explained=len(matches),
            exact=exact,
            total=len(self._mismatches),
            contradicted=len(cause.contradicted),
            conforming=len(self._conforming),
            condition=cause.condition,
            alternatives=tuple(fault.name for fault in cause.alternatives[:_ALTERNATIVES]),
            threads=tuple(dict.fromkeys(chain(*(fault.threads for fault in cause.faults)))),
            vectors=tuple(self._mismatches[i].vector.case.id for i in matches),
        )

    def _unknown(self, over: list[int]) -> Diagnosis:
        words, _ = condition([self._features[i] for i in over], self._others)
        shared = f"; all have in common: {words}" if words else ""
        total = len(self._mismatches)
        counted = _counted(len(over), total)
        return Diagnosis(
            summary=f"{counted} of unknown cause{shared}",
            faults=(),
            explained=len(over),
            exact=0,
            total=total,
            conforming=len(self._conforming),
            condition=words,
            vectors=tuple(self._mismatches[i].vector.case.id for i in over),
        )

    def _tick(self, done: int) -> None:
        if self._progress is not None:
            self._progress(done, len(self._sample))


def _numbers(vectors: Sequence[Vector], most: int) -> list[int]:
    """Return the numbers of vectors of as many kinds as possible."""
    chosen = set(map(id, spread(vectors, most)))
    return [i for i, vector in enumerate(vectors) if id(vector) in chosen]


def _pairs(some: Sequence[Fault], others: Sequence[Fault]) -> Iterable[Together]:
    if some is others:
        return combinations(some, 2)
    return ((a, b) for a in some for b in others if a.step != b.step)


def _is_explained(mismatch: int, causes: Iterable[_Cause]) -> bool:
    return any(mismatch in cause.explained for cause in causes)


def _counted(some: int, total: int) -> str:
    if total == 1:
        return "the one mismatch is"
    return f"{some} of {total} mismatches {'is' if some == 1 else 'are'}"


def _how(exact: int, explained: int) -> str:
    if exact == explained:
        return "bit for bit"
    if exact:
        return f"({exact} bit for bit, the others but for rounding)"
    return "but for rounding"
