"""Diagnoses in words: what a cause is, how many failures it explains and how well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim, behaviour_of
from conformance.diagnosis.features import condition, grouped, thinned
from conformance.diagnosis.named_causes import word_of
from conformance.diagnosis.observed import OF_MANNER, traits, where_wrong
from conformance.diagnosis.reproduce import Match
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.search import Fit
from conformance.diagnosis.state import StateFinding
from conformance.diagnosis.substitutes import instead_of
from conformance.record.report import Diagnosis, Proof, WrongCalls, added_up, told_apart
from conformance.record.words import how_called
from conformance.text import listed
from conformance.vector import Combination

_ALTERNATIVES = 4
_RARER = 3
"""How many times as common what sets failures apart is among them as elsewhere."""
_NOTHING_SHARED = "no attribute sets them apart"
_BESIDE = "another cause shows in them, too, but that alone gives other values"


def _in_each(said: Iterable[str]) -> str:
    return f"in each of them, {listed([*said])}"


_IN_EACH = {_in_each([said]) for said in OF_MANNER.values()}
"""What tells failures of unknown cause apart that no output tells anything of."""


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """The failures that were looked at, by number, and what conforms beside them.

    `features` are those of each failure, `others` those of the vectors that conform.
    """

    samples: Sequence[Sample]
    features: Sequence[Collection[str]]
    others: Sequence[Collection[str]]

    def of_fit(self, cause: Fit, proof: Proof, smallest: str = "") -> Diagnosis:
        """Return faults as a diagnosis."""
        return _summarized(
            self._diagnosis([*cause.explained]),
            faults=tuple(fault.name for fault in cause.faults if fault.name),
            behaviour=behaviour_of(cause.faults),
            raised=all(self.samples[i].outputs is None for i in cause.explained),
            exact=sum(match is Match.EXACT for match in cause.explained.values()),
            contradicted=len(cause.contradicted),
            condition=cause.claim.where,
            alternatives=cause.names[:_ALTERNATIVES],
            threads=tuple(dict.fromkeys(chain(*(fault.threads for fault in cause.faults)))),
            kind="fault",
            proof=proof,
            smallest=smallest,
            named=word_of(cause.claim),
        )

    def of_rule(
        self, claim: Claim, explained: Sequence[int], proof: Proof, smallest: str = ""
    ) -> Diagnosis:
        """Return a rule as a diagnosis."""
        return _summarized(
            self._diagnosis(explained),
            behaviour=claim.words,
            named=word_of(claim),
            kind="rule",
            proof=proof,
            smallest=smallest,
        )

    def unknown(
        self, left: Sequence[int], beside: Collection[int] = frozenset()
    ) -> list[Diagnosis]:
        """Return what failures of unknown cause share, each time of those that look alike.

        Those `beside` a known cause are in cases where that shows, but with other values.
        """
        alike = grouped(left, lambda i: (self.samples[i].as_failed.manner, i in beside))
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
        return " and ".join(condition([self.features[i] for i in left], self.others))

    def _unknown(self, left: Sequence[int], *, beside: bool) -> Diagnosis:
        words = self._shared(left)
        odd = sorted(frozenset.intersection(*(traits(self.samples[i]) for i in left)))
        samples = [self.samples[i] for i in left]
        instead = instead_of(thinned(samples, limits.LOOKED_AT))
        observed = (
            _NOTHING_SHARED if not words and self.others else "",
            _in_each(odd) if odd else "",
            _BESIDE if beside else "",
            where_wrong(samples),
            f"what is wrong is {instead.words}" if instead is not None else "",
        )
        return _summarized(
            self._diagnosis(left),
            condition=words,
            kind="unknown",
            observed=tuple(filter(None, observed)),
        )

    def _diagnosis(self, explained: Sequence[int]) -> Diagnosis:
        return Diagnosis(
            summary="",
            faults=(),
            explained=len(explained),
            exact=0,
            total=len(self.samples),
            conforming=len(self.others),
            vectors=tuple(self.samples[i].vector.case.id for i in explained),
        )


def of_failures(
    diagnoses: Iterable[Diagnosis], failures: Sequence[Sample], assumed: Combination
) -> list[Diagnosis]:
    """Return diagnoses of failures alone, where others were taken as failures, too.

    Where readings are `assumed` that concern all that one explains, it says so.
    """
    if not assumed:
        return [*diagnoses]
    clauses = {sample.vector.case.id: sample.vector.clauses for sample in failures}
    return [_of_failures(diagnosis, clauses, assumed) for diagnosis in diagnoses]


def _of_failures(
    diagnosis: Diagnosis, clauses: Mapping[str, Collection[str]], assumed: Combination
) -> Diagnosis:
    vectors = tuple(name for name in diagnosis.vectors if name in clauses)
    concerned = [clause for clause in assumed if all(clause in clauses[name] for name in vectors)]
    note = f" ({_elsewhere(concerned, assumed)})" if concerned and diagnosis.is_known else ""
    return _summarized(
        diagnosis,
        vectors=vectors,
        explained=len(vectors),
        exact=min(diagnosis.exact, len(vectors)),
        total=len(clauses),
        behaviour=f"{diagnosis.behaviour}{note}",
    )


def of_clause(diagnoses: Iterable[Diagnosis], assumed: Combination) -> list[Diagnosis]:
    """Return why vectors conform, by another reading alone than those that are `assumed`.

    Of what has no cause nothing is said.
    """
    return [
        told_apart(
            "clause",
            f"{caused(diagnosis)} ({_elsewhere(assumed, assumed)})",
            diagnosis.vectors,
            proof=diagnosis.proof,
            smallest=diagnosis.smallest,
            named=diagnosis.named,
        )
        for diagnosis in diagnoses
        if diagnosis.is_known
    ]


def _elsewhere(clauses: Iterable[str], assumed: Combination) -> str:
    return f"elsewhere {', '.join(f'{clause}={assumed[clause]}' for clause in clauses)}"


def of_state(finding: StateFinding) -> Diagnosis:
    """Return state that outlives a call as a diagnosis."""
    missing = "the same calls are not always wrong" if finding.varies else ""
    return told_apart(
        "state",
        finding.words,
        finding.vectors,
        proof=Proof(finding.shown, finding.repeats, None, missing),
        smallest=finding.example,
    )


def united(parts: Sequence[Sequence[Diagnosis]], *, failures: int = 0) -> list[Diagnosis]:
    """Join the diagnoses of the parts of one run, each made of its own mismatches.

    Those that name the same faults under the same condition, or the same rule, or know nothing but
    the same condition, are one, with counts added up; what is confirmed stays apart from what is
    not. An alternative or what was observed is kept where every part has it, and a proof where
    every part has one. There are `failures`, if more than the parts say.
    """
    failing = [[each for each in part if each.kind != "clause"] for part in parts]
    looked_at = [part[0].total or sum(d.explained for d in part) for part in failing if part]
    total = sum(looked_at)
    left_out = [part[0].sample_of - part[0].total for part in failing if part and part[0].sample_of]
    failures = max(failures, total + sum(left_out))
    sample_of = failures if failures > total else 0
    same = grouped(chain(*parts), _identity).values()
    joined = [_united(alike, total, sample_of) for alike in same]
    return by_failures(joined)


def by_failures(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return causes that explain failures, most first, and then what is unknown."""
    explaining = [diagnosis for diagnosis in diagnoses if diagnosis.explained]
    return sorted(explaining, key=lambda diagnosis: (not diagnosis.is_known, -diagnosis.explained))


def _identity(diagnosis: Diagnosis) -> tuple[object, ...]:
    """Return what two diagnoses of one cause have in common."""
    if not diagnosis.is_known:
        return (diagnosis.condition, *_IN_EACH.intersection(diagnosis.observed))
    variations = tuple(each.variation for each in diagnosis.calls)
    known = diagnosis.faults or diagnosis.behaviour
    return (diagnosis.kind, known, diagnosis.condition, variations, diagnosis.is_confirmed)


def _united(alike: Sequence[Diagnosis], total: int, sample_of: int) -> Diagnosis:
    first = alike[0]
    return _summarized(
        first,
        explained=sum(d.explained for d in alike),
        exact=sum(d.exact for d in alike),
        total=total,
        contradicted=sum(d.contradicted for d in alike),
        conforming=sum(d.conforming for d in alike),
        raised=all(d.raised for d in alike),
        alternatives=tuple(
            name for name in first.alternatives if all(name in d.alternatives for d in alike)
        ),
        threads=tuple(dict.fromkeys(chain(*(d.threads for d in alike)))),
        vectors=tuple(chain(*(d.vectors for d in alike))),
        sample_of=sample_of,
        proof=_joined([d.proof for d in alike]),
        smallest=min((d.smallest for d in alike if d.smallest), key=len, default=""),
        calls=added_up(chain(*(d.calls for d in alike)), "variation"),
        observed=tuple(said for said in first.observed if all(said in d.observed for d in alike)),
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


def caused(diagnosis: Diagnosis) -> str:
    """Return what is wrong in words, and under which condition."""
    return _where(diagnosis.behaviour, diagnosis)


def _where(what: str, diagnosis: Diagnosis) -> str:
    return f"{what}, where {diagnosis.condition}" if diagnosis.condition else what


def _summarized(diagnosis: Diagnosis, **changes: Any) -> Diagnosis:
    """Return a diagnosis with other fields, and the sentence that they make."""
    changed = replace(diagnosis, **changes)
    if changed.kind == "clause":
        number = changed.explained
        vectors = "1 vector follows" if number == 1 else f"{number:,} vectors follow"
        return replace(changed, summary=f"{vectors} another reading: {changed.behaviour}")
    counted = _counted(changed.explained, changed.total, changed.sample_of)
    return replace(changed, summary=f"{counted} {_said(changed)}")


def _said(diagnosis: Diagnosis) -> str:
    """Return what a summary says after the count of failures."""
    if diagnosis.kind == "fault":
        return f"reproduced{_how_well(diagnosis)} by: {caused(diagnosis)}"
    if diagnosis.is_known:
        wrong = f": wrong {listed([*map(_wrong, diagnosis.calls)])}, and right in plain calls"
        return f"of one kind: {diagnosis.behaviour}{wrong if diagnosis.calls else ''}"
    return "; ".join([_where("of unknown cause", diagnosis), *diagnosis.observed])


def _counted(some: int, total: int, sample_of: int) -> str:
    if total == 1 and not sample_of:
        return "the one failure is"
    of = "a sample of " if sample_of else ""
    return f"{some:,} of {of}{total:,} failures {'is' if some == 1 else 'are'}"


def _how_well(diagnosis: Diagnosis) -> str:
    if diagnosis.raised:
        return ""
    if diagnosis.exact == diagnosis.explained:
        return " bit for bit"
    if diagnosis.exact:
        return f" ({diagnosis.exact} bit for bit, the others but for rounding)"
    return " but for rounding"


def _wrong(calls: WrongCalls) -> str:
    return f"when called {how_called(calls.variation)} ({calls.wrong:,} of {calls.called:,})"
