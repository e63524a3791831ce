"""The likely causes of mismatches: faults of the catalogue that reproduce what was returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault
from conformance.faults.features import LIGHT, condition, spread, weight
from conformance.faults.reproduce import Observation
from conformance.faults.search import Cause, Progress, Search
from conformance.faults.traits import traits
from conformance.vector import Outputs, Vector

Mismatch = tuple[Vector, Outputs | None]
Readings = Mapping[str, str] | Callable[[Vector], Mapping[str, str]]

CONFORMING = 240
"""Conforming vectors that causes are held against, at most."""
_HEAVY = 20
_LIGHT_ONES = 2000
_ALTERNATIVES = 4


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

    pairs = _not_too_many(mismatches)
    search = Search(
        [Observation(vector, outputs, of(vector)) for vector, outputs in pairs],
        [Observation(vector, None, of(vector)) for vector in spread(conforming, CONFORMING)],
        [fault for fault in catalogue if not fault.remembers],
        progress,
    )
    causes, left = search.run()
    found = sorted(
        (_diagnosis(cause, pairs, len(search.others)) for cause in causes),
        key=lambda each: -each.explained,
    )
    return [*found, _unknown(left, pairs, search)] if left else found


def united(parts: Sequence[Sequence[Diagnosis]]) -> list[Diagnosis]:
    """Join the diagnoses of the parts of one run, each made of its own mismatches.

    Those that name the same faults are one, with counts added up. A condition or an alternative
    is kept where every part has it.
    """
    total = sum(part[0].total for part in parts if part)
    same: dict[tuple[str, ...], list[Diagnosis]] = {}
    for each in chain(*parts):
        same.setdefault(each.faults, []).append(each)
    found = sorted((_united(alike, total) for alike in same.values()), key=lambda d: -d.explained)
    return sorted(found, key=lambda each: not each.faults)


def _united(alike: Sequence[Diagnosis], total: int) -> Diagnosis:
    first = alike[0]
    explained, exact = sum(d.explained for d in alike), sum(d.exact for d in alike)
    condition = first.condition if len({d.condition for d in alike}) == 1 else ""
    if first.faults:
        _, _, behaviour = first.summary.partition(" by: ")
        behaviour = behaviour.removesuffix(f", where all have {first.condition}")
        raised = all(" reproduced by: " in d.summary for d in alike)
        summary = f"reproduced{'' if raised else _how(exact, explained)} by: {behaviour}"
        summary += f", where all have {condition}" if condition else ""
    else:
        summary = "of unknown cause" + (f"; all have {condition}" if condition else "")
    return Diagnosis(
        summary=f"{_counted(explained, total)} {summary}",
        faults=first.faults,
        explained=explained,
        exact=exact,
        total=total,
        contradicted=sum(d.contradicted for d in alike),
        conforming=sum(d.conforming for d in alike),
        condition=condition,
        alternatives=tuple(
            n for n in first.alternatives if all(n in d.alternatives for d in alike)
        ),
        threads=tuple(dict.fromkeys(chain(*(d.threads for d in alike)))),
        vectors=tuple(chain(*(d.vectors for d in alike))),
    )


def _not_too_many(mismatches: Sequence[Mismatch]) -> list[Mismatch]:
    """Leave out most of the largest vectors, and light ones beyond a number."""
    light = [pair for pair in mismatches if weight(pair[0]) <= LIGHT]
    heavy = [pair for pair in mismatches if weight(pair[0]) > LIGHT]
    heavy.sort(key=lambda pair: weight(pair[0]))
    step = max(1, -(-len(light) // _LIGHT_ONES))
    return light[::step] + heavy[:_HEAVY]


def _diagnosis(cause: Cause, pairs: Sequence[Mismatch], conforming: int) -> Diagnosis:
    explained = len(cause.explained)
    exact = sum(match == "exact" for match in cause.explained.values())
    raised = all(pairs[i][1] is None for i in cause.explained)
    behaviour = ", together with: ".join(fault.summary for fault in cause.faults)
    where = f", where all have {cause.condition}" if cause.condition else ""
    return Diagnosis(
        summary=f"{_counted(explained, len(pairs))} reproduced"
        f"{'' if raised else _how(exact, explained)} by: {behaviour}{where}",
        faults=tuple(fault.name for fault in cause.faults),
        explained=explained,
        exact=exact,
        total=len(pairs),
        contradicted=len(cause.contradicted),
        conforming=conforming,
        condition=cause.condition,
        alternatives=tuple(fault.name for fault in cause.alternatives[:_ALTERNATIVES]),
        threads=tuple(dict.fromkeys(chain(*(fault.threads for fault in cause.faults)))),
        vectors=tuple(pairs[i][0].case.id for i in cause.explained),
    )


def _unknown(left: Sequence[int], pairs: Sequence[Mismatch], search: Search) -> Diagnosis:
    words, _ = condition([search.features[i] for i in left], search.others)
    odd = sorted(frozenset.intersection(*(traits(*pairs[i]) for i in left)))
    summary = f"{_counted(len(left), len(pairs))} of unknown cause"
    summary += f"; all have {words}" if words else ""
    summary += f"; in all {' and '.join(odd)}" if odd else ""
    return Diagnosis(
        summary=summary,
        faults=(),
        explained=len(left),
        exact=0,
        total=len(pairs),
        conforming=len(search.others),
        condition=words,
        vectors=tuple(pairs[i][0].case.id for i in left),
    )


def _counted(some: int, total: int) -> str:
    if total == 1:
        return "the one failure is"
    return f"{some:,} of {total:,} failures {'is' if some == 1 else 'are'}"


def _how(exact: int, explained: int) -> str:
    if exact == explained:
        return " bit for bit"
    if exact:
        return f" ({exact} bit for bit, the others but for rounding)"
    return " but for rounding"
