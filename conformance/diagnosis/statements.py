"""Diagnoses in words: what a cause is, how many failures it explains and how well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from conformance.diagnosis.features import condition
from conformance.diagnosis.places import places
from conformance.diagnosis.reproduce import Match
from conformance.diagnosis.search import Cause
from conformance.diagnosis.state import StateFinding
from conformance.diagnosis.traits import traits
from conformance.diagnosis.varied import VariedFinding
from conformance.record.report import OF_ONE_KIND, Diagnosis, Proof
from conformance.text import listed
from conformance.vector import Outputs, Vector

Mismatch = tuple[Vector, Outputs | None]

_ALTERNATIVES = 4
_RARER = 3
"""How many times as common what sets failures apart is among them as elsewhere."""
_UNKNOWN = "of unknown cause"
_BESIDE = "another cause shows in them, too, but that alone gives other values"


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """The failures that were looked at, by number, and what conforms beside them.

    `features` are those of each failure, `others` those of the vectors that conform. Where they are
    a sample, `sample_of` is how many failures there are, else 0. `told` more have a cause already.
    """

    pairs: Sequence[Mismatch]
    features: Sequence[frozenset[str]]
    others: Sequence[frozenset[str]]
    sample_of: int
    told: int = 0

    def fault(self, cause: Cause, proof: Proof, smallest: str = "") -> Diagnosis:
        """Return a cause of the catalogue as a diagnosis."""
        explained = len(cause.explained)
        exact = sum(match is Match.EXACT for match in cause.explained.values())
        raised = all(self.pairs[i][1] is None for i in cause.explained)
        behaviour = ", together with: ".join(fault.summary for fault in cause.faults)
        where = _where(cause.condition, seen=cause.set_apart > 0)
        summary = _reproduced(explained, exact, behaviour + where, raised=raised)
        return replace(
            self._diagnosis(summary, [*cause.explained]),
            faults=tuple(fault.name for fault in cause.faults),
            exact=exact,
            contradicted=len(cause.contradicted),
            condition=cause.condition,
            alternatives=tuple(fault.name for fault in cause.alternatives[:_ALTERNATIVES]),
            threads=tuple(dict.fromkeys(chain(*(fault.threads for fault in cause.faults)))),
            kind="fault",
            proof=proof,
            smallest=smallest,
        )

    def rule(
        self, words: str, explained: Sequence[int], proof: Proof, smallest: str = ""
    ) -> Diagnosis:
        """Return a rule, which says in words what is wrong, as a diagnosis."""
        diagnosis = self._diagnosis(f"{OF_ONE_KIND}{words}", explained)
        return replace(diagnosis, kind="rule", proof=proof, smallest=smallest)

    def unknown(
        self, left: Sequence[int], beside: Collection[int] = frozenset()
    ) -> list[Diagnosis]:
        """Return what failures of unknown cause share, each time of those that look alike.

        Those `beside` a known cause are in cases where that shows, but with other values.
        """
        alike: dict[tuple[str, bool], list[int]] = {}
        for i in left:
            alike.setdefault((_manner(*self.pairs[i]), i in beside), []).append(i)
        parts = [part for some in alike.values() for part in self._apart(some)]
        parts.sort(key=len, reverse=True)
        return [self._unknown(part, beside=part[0] in beside) for part in parts]

    def _apart(self, left: Sequence[int]) -> list[list[int]]:
        """Return failures in two parts if something sets most of them apart, but not all."""
        if self._shared(left):
            return [[*left]]
        counts = Counter(chain(*(self.features[i] for i in left)))
        common = Counter(chain(*self.others))
        best, most = "", _RARER / (len(self.others) or 1)
        for feature, count in sorted(counts.items()):
            often = count / len(left) / (common[feature] + 1)
            if 2 * count >= len(left) and often > most:
                best, most = feature, often
        parts = [i for i in left if best in self.features[i]]
        return [part for part in (parts, [i for i in left if i not in parts]) if part]

    def _shared(self, left: Sequence[int]) -> str:
        return condition([self.features[i] for i in left], self.others)[0]

    def _unknown(self, left: Sequence[int], *, beside: bool) -> Diagnosis:
        words = self._shared(left)
        summary = _of_unknown_cause(words)
        if not words and self.others:
            summary += "; no attribute sets them apart"
        odd = sorted(frozenset.intersection(*(traits(*self.pairs[i]) for i in left)))
        summary += f"; in each of them, {listed(odd)}" if odd else ""
        summary += f"; {_BESIDE}" if beside else ""
        where = places([self.pairs[i] for i in left])
        summary += f"; {where}" if where else ""
        return replace(self._diagnosis(summary, left), condition=words, kind="unknown")

    def _diagnosis(self, summary: str, explained: Sequence[int]) -> Diagnosis:
        total = len(self.pairs) + self.told
        return Diagnosis(
            summary=f"{_counted(len(explained), total, self.sample_of)} {summary}",
            faults=(),
            explained=len(explained),
            exact=0,
            total=total,
            conforming=len(self.others),
            vectors=tuple(self.pairs[i][0].case.id for i in explained),
            sample_of=self.sample_of,
        )


def _manner(vector: Vector, got: Outputs | None) -> str:
    """Return how a vector failed: failures that look different are hardly of one cause."""
    if got is None:
        return "raised"
    if not vector.values:
        return "accepted"
    shapes = {outcome.outputs[0].values.shape for outcome in vector.values}
    return "values" if got and got[0].shape in shapes else "shape"


def of_state(finding: StateFinding, total: int, sample_of: int) -> Diagnosis:
    """Return state that outlives a call as a diagnosis, one of so many failures."""
    explained = len(finding.vectors)
    missing = "the same calls are not always wrong" if finding.varies else ""
    return Diagnosis(
        summary=f"{_counted(explained, total, sample_of)} {OF_ONE_KIND}{finding.words}",
        faults=(),
        explained=explained,
        exact=0,
        total=total,
        vectors=finding.vectors,
        sample_of=sample_of,
        kind="state",
        proof=Proof(finding.shown, finding.repeats, None, missing),
        smallest=finding.example,
    )


def of_variations(finding: VariedFinding, total: int, sample_of: int) -> Diagnosis:
    """Return what variations of a call have in common as a diagnosis, one of so many failures."""
    explained = len(finding.vectors)
    return Diagnosis(
        summary=f"{_counted(explained, total, sample_of)} {OF_ONE_KIND}{finding.words}",
        faults=(),
        explained=explained,
        exact=0,
        total=total,
        vectors=finding.vectors,
        sample_of=sample_of,
        kind="variation",
    )


def united(parts: Sequence[Sequence[Diagnosis]]) -> list[Diagnosis]:
    """Join the diagnoses of the parts of one run, each made of its own mismatches.

    Those that name the same faults or the same rule are one, with counts added up. A condition or
    an alternative is kept where every part has it, and a proof where every part has one.
    """
    firsts = [part[0] for part in parts if part]
    total = sum(first.total for first in firsts)
    failures = sum(first.sample_of or first.total for first in firsts)
    sample_of = failures if failures > total else 0
    same: dict[tuple[str, ...], list[Diagnosis]] = {}
    for diagnosis in chain(*parts):
        known = "" if not diagnosis.is_known or diagnosis.faults else _said(diagnosis)
        same.setdefault((known, *diagnosis.faults), []).append(diagnosis)
    joined = [_united(alike, total, sample_of) for alike in same.values()]
    return sorted(joined, key=lambda diagnosis: (not diagnosis.is_known, -diagnosis.explained))


def _united(alike: Sequence[Diagnosis], total: int, sample_of: int) -> Diagnosis:
    first = alike[0]
    explained, exact = sum(d.explained for d in alike), sum(d.exact for d in alike)
    condition = first.condition if len({d.condition for d in alike}) == 1 else ""
    if first.faults:
        _, _, behaviour = first.summary.partition(" by: ")
        where = next((w for w in _wheres(first.condition) if behaviour.endswith(w)), "")
        behaviour = behaviour.removesuffix(where) + (where if condition else "")
        raised = all(" reproduced by: " in d.summary for d in alike)
        summary = _reproduced(explained, exact, behaviour, raised=raised)
    elif first.is_known:
        summary = _said(first)
    else:
        said = {d.summary.partition(_UNKNOWN)[2] for d in alike}
        summary = _UNKNOWN + (said.pop() if len(said) == 1 else "")
    return replace(
        first,
        summary=f"{_counted(explained, total, sample_of)} {summary}",
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
        proof=_joined([d.proof for d in alike]),
        smallest=min((d.smallest for d in alike if d.smallest), key=len, default=""),
    )


def _joined(proofs: Sequence[Proof | None]) -> Proof | None:
    """Return the proof of parts of a run, one after the other; the first seed stands for all."""
    given = [proof for proof in proofs if proof is not None]
    if len(given) < len(proofs):
        return None
    return Proof(
        sum(proof.predicted for proof in given),
        sum(proof.asked for proof in given),
        given[0].seed,
        next((proof.missing for proof in given if proof.missing), ""),
    )


def _said(diagnosis: Diagnosis) -> str:
    """Return what a summary says after the count of failures."""
    before, _, words = diagnosis.summary.partition(OF_ONE_KIND)
    return f"{OF_ONE_KIND}{words}" if words else before


def _counted(some: int, total: int, sample_of: int) -> str:
    if total == 1 and not sample_of:
        return "the one failure is"
    of = "a sample of " if sample_of else ""
    return f"{some:,} of {of}{total:,} failures {'is' if some == 1 else 'are'}"


def _reproduced(explained: int, exact: int, behaviour: str, *, raised: bool) -> str:
    how = " but for rounding"
    if raised:
        how = ""
    elif exact == explained:
        how = " bit for bit"
    elif exact:
        how = f" ({exact} bit for bit, the others but for rounding)"
    return f"reproduced{how} by: {behaviour}"


def _where(condition: str, *, seen: bool) -> str:
    """Return a condition that failures were seen to share, or one that was learned."""
    return _wheres(condition)[not seen] if condition else ""


def _wheres(condition: str) -> tuple[str, str]:
    return f", where all have {condition}", f", where {condition}"


def _of_unknown_cause(condition: str) -> str:
    return _UNKNOWN + (f"; all have {condition}" if condition else "")
