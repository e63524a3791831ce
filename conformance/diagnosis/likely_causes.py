"""The likely causes of mismatches: faults of the catalogue that reproduce what was returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain

from conformance.check.report import Diagnosis
from conformance.diagnosis.features import LIGHT, condition, spread, weight
from conformance.diagnosis.places import places
from conformance.diagnosis.reproduce import Match, Observation
from conformance.diagnosis.search import Cause, Search
from conformance.diagnosis.traits import traits
from conformance.faults.catalogue import CATALOGUE
from conformance.faults.fault import Fault
from conformance.progress import Progress
from conformance.vector import Outputs, Vector

Mismatch = tuple[Vector, Outputs | None]
Readings = Mapping[str, str] | Callable[[Vector], Mapping[str, str]]

CONFORMING = 240
"""Conforming vectors that causes are held against, at most."""
_HEAVY = 20
_LIGHT_ONES = 2000
_ALTERNATIVES = 4
_UNKNOWN = "of unknown cause"
_MOST_HELD_AGAINST = 10_000_000
"""Weight of the mismatches that causes are held against when they are found, at most."""


def diagnose(
    mismatches: Sequence[Mismatch],
    conforming: Sequence[Vector],
    readings: Readings,
    *,
    catalogue: Sequence[Fault] = CATALOGUE,
    failures: int = 0,
    laboratory: Laboratory | None = None,
    unasked: str = "the backend was not asked",
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Find what reproduces mismatches, the cause that explains most of them first.

    `mismatches` pairs vectors that do not conform with the outputs of the backend (None: it
    raised an exception), `conforming` are vectors that do, as varied as can be. `readings` are
    those of disputed clauses that the backend follows, as far as they are known, or give them
    per vector. `progress` counts mismatches. `failures` is how many there are of which the
    mismatches are some. In a `laboratory`, causes are confirmed or refuted, and rules are learned
    for what no fault explains; without one, `unasked` says why. The last diagnosis names nothing
    where mismatches are left over. A cause that explains only what others do is left out.
    """

    def of(vector: Vector) -> Mapping[str, str]:
        return readings(vector) if callable(readings) else readings

    pairs, others = _not_too_many(mismatches)
    search = Search(
        [Observation(vector, outputs, of(vector)) for vector, outputs in pairs],
        [Observation(vector, None, of(vector)) for vector in spread(conforming, CONFORMING)],
        [fault for fault in catalogue if not fault.remembers],
        progress,
    )
    causes, left = search.run()
    left += search.extended(causes, [Observation(v, outputs, of(v)) for v, outputs in others])
    pairs += others
    failures = max(failures, len(mismatches))
    found = _Found(pairs, search, failures if failures > len(pairs) else 0)
    causes = _folded(causes)
    if laboratory is None:
        proof = Proof(missing=unasked)
        diagnoses = [found.fault(cause, proof) for cause in causes]
    else:
        diagnoses, left = _proven(found, causes, conforming, of, laboratory)
    return [*diagnoses, found.unknown(left)] if left else diagnoses


def _proven(
    found: _Found,
    causes: Sequence[Cause],
    conforming: Sequence[Vector],
    readings: Callable[[Vector], Mapping[str, str]],
    laboratory: Laboratory,
) -> tuple[list[Diagnosis], list[int]]:
    """Return the causes that experiments do not refute, and the failures that are left over."""
    samples = samples_of(found.pairs)
    failing = [samples[i] for i in _some([vector for vector, _ in found.pairs])]
    experiments = Experiments(
        laboratory,
        Planting(readings),
        [sample for sample in failing if sample.failed],
        [as_expected(vector) for vector in spread(conforming, CONFORMING)],
    )
    diagnoses: list[Diagnosis] = []
    explained: list[set[int]] = []
    suspects = [
        (cause.faults, *((fault,) for fault in cause.alternatives[:_ALTERNATIVES]))
        for cause in causes
    ]
    tried = experiments.on_faults(suspects)
    rules = experiments.on_rules()
    for cause, trial in zip(causes, tried, strict=True):
        if trial is None:
            continue
        cause = found.search.held_against_all(cause, trial.hypothesis)
        if any(_covers(rule, trial, cause, samples) for rule in rules):
            continue
        diagnoses.append(found.fault(cause, trial.proof(laboratory.seed)))
        explained.append({*cause.explained})
    for rule in rules:
        numbers = [i for i, s in enumerate(samples) if s.failed and rule.hypothesis.predicts(s)]
        instead = instead_of(rule, [samples[i] for i in numbers])
        diagnoses.append(found.rule(rule, numbers, instead, laboratory.seed))
        explained.append({*numbers})
    known = set().union(*explained)
    # Where several causes meet, none of them alone returns what was returned.
    left = [
        i
        for i, (vector, _) in enumerate(found.pairs)
        if i not in known
        and sum(trial.hypothesis.fails(vector) for trial in experiments.confirmed) < 2
    ]
    return sorted(diagnoses, key=lambda d: -d.explained), left


def _folded(causes: Sequence[Cause]) -> list[Cause]:
    """Return the causes that explain what those before them do not, the largest first."""
    kept: list[Cause] = []
    explained: set[int] = set()
    for cause in sorted(causes, key=lambda cause: -len(cause.explained)):
        if not cause.explained.keys() <= explained:
            kept.append(cause)
            explained |= cause.explained.keys()
    return kept


def united(parts: Sequence[Sequence[Diagnosis]]) -> list[Diagnosis]:
    """Join the diagnoses of the parts of one run, each made of its own mismatches.

    Those that name the same faults are one, with counts added up. A condition or an alternative
    is kept where every part has it.
    """
    firsts = [part[0] for part in parts if part]
    total = sum(first.total for first in firsts)
    failures = sum(first.sample_of or first.total for first in firsts)
    sample_of = failures if failures > total else 0
    same: dict[tuple[str, ...], list[Diagnosis]] = {}
    for diagnosis in chain(*parts):
        same.setdefault(diagnosis.faults, []).append(diagnosis)
    joined = [_united(alike, total, sample_of) for alike in same.values()]
    return sorted(joined, key=lambda diagnosis: (not diagnosis.faults, -diagnosis.explained))


def _united(alike: Sequence[Diagnosis], total: int, sample_of: int) -> Diagnosis:
    first = alike[0]
    explained, exact = sum(d.explained for d in alike), sum(d.exact for d in alike)
    condition = first.condition if len({d.condition for d in alike}) == 1 else ""
    if first.faults:
        _, _, behaviour = first.summary.partition(" by: ")
        behaviour = behaviour.removesuffix(_where(first.condition))
        raised = all(" reproduced by: " in d.summary for d in alike)
        summary = _reproduced(explained, exact, behaviour, condition, raised=raised)
    else:
        said = {d.summary.partition(_UNKNOWN)[2] for d in alike}
        summary = _UNKNOWN + (said.pop() if len(said) == 1 else "")
    return Diagnosis(
        summary=f"{_counted(explained, total, sample_of)} {summary}",
        faults=first.faults,
        explained=explained,
        exact=exact,
        total=total,
        contradicted=sum(d.contradicted for d in alike),
        conforming=sum(d.conforming for d in alike),
        condition=condition,
        alternatives=tuple(
            name for name in first.alternatives if all(name in d.alternatives for d in alike)
        ),
        threads=tuple(dict.fromkeys(chain(*(d.threads for d in alike)))),
        vectors=tuple(chain(*(d.vectors for d in alike))),
        sample_of=sample_of,
    )


def _not_too_many(mismatches: Sequence[Mismatch]) -> tuple[list[Mismatch], list[Mismatch]]:
    """Return mismatches to search, without most of the largest, and others to hold causes against.

    Of the others there are as many, the lightest first, as take little time.
    """
    light = [pair for pair in mismatches if weight(pair[0]) <= LIGHT]
    heavy = [pair for pair in mismatches if weight(pair[0]) > LIGHT]
    heavy.sort(key=lambda pair: weight(pair[0]))
    step = max(1, -(-len(light) // _LIGHT_ONES))
    searched = light[::step] + heavy[:_HEAVY]
    known = {id(pair) for pair in searched}
    others = sorted((p for p in mismatches if id(p) not in known), key=lambda p: weight(p[0]))
    weights = accumulate(weight(vector) for vector, _ in others)
    return searched, others[: sum(total <= _MOST_HELD_AGAINST for total in weights)]


def _diagnosis(
    cause: Cause, pairs: Sequence[Mismatch], conforming: int, sample_of: int
) -> Diagnosis:
    explained = len(cause.explained)
    exact = sum(match is Match.EXACT for match in cause.explained.values())
    raised = all(pairs[i][1] is None for i in cause.explained)
    behaviour = ", together with: ".join(fault.summary for fault in cause.faults)
    summary = _reproduced(explained, exact, behaviour, cause.condition, raised=raised)
    return Diagnosis(
        summary=f"{_counted(explained, len(pairs), sample_of)} {summary}",
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
        sample_of=sample_of,
    )


def _unknown(
    left: Sequence[int], pairs: Sequence[Mismatch], search: Search, sample_of: int
) -> Diagnosis:
    words, _ = condition([search.features[i] for i in left], search.others)
    summary = f"{_counted(len(left), len(pairs), sample_of)} {_of_unknown_cause(words)}"
    if not words and search.others:
        summary += "; no attribute sets them apart"
    odd = sorted(frozenset.intersection(*(traits(*pairs[i]) for i in left)))
    summary += f"; in all {' and '.join(odd)}" if odd else ""
    where = places([pairs[i] for i in left])
    summary += f"; {where}" if where else ""
    return Diagnosis(
        summary=summary,
        faults=(),
        explained=len(left),
        exact=0,
        total=len(pairs),
        conforming=len(search.others),
        condition=words,
        vectors=tuple(pairs[i][0].case.id for i in left),
        sample_of=sample_of,
    )


def _counted(some: int, total: int, sample_of: int) -> str:
    if total == 1 and not sample_of:
        return "the one failure is"
    of = "a sample of " if sample_of else ""
    return f"{some:,} of {of}{total:,} failures {'is' if some == 1 else 'are'}"


def _reproduced(explained: int, exact: int, behaviour: str, condition: str, *, raised: bool) -> str:
    how = " but for rounding"
    if raised:
        how = ""
    elif exact == explained:
        how = " bit for bit"
    elif exact:
        how = f" ({exact} bit for bit, the others but for rounding)"
    return f"reproduced{how} by: {behaviour}{_where(condition)}"


def _where(condition: str) -> str:
    return f", where all have {condition}" if condition else ""


def _of_unknown_cause(condition: str) -> str:
    return _UNKNOWN + (f"; all have {condition}" if condition else "")
