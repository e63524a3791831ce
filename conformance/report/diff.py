"""What changed between two reports: verdicts, readings and accuracy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.check.report import FAILURES, Report, Result
from conformance.errors import UsageError
from conformance.report import sentences
from conformance.report.groups import kind_of

Way = Literal["worse", "better", "other"]

NOT_RUN = "not run"
_RANKS = {"conforms": 0, "unsupported": 1, NOT_RUN: 1, "mismatch": 2, "error": 2}
_WORST_RANK = 3
"""Of crashed and timed-out."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """Vectors of one operator whose verdict changed in the same way, for the same cause.

    `before` and `after` are verdicts, or "not run". `why` names the faults that a report blames,
    or what went wrong: of the second report, of the first where the vectors got better.
    """

    way: Way
    operator: str
    before: str
    after: str
    why: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One fact with what the two reports say of it, "" for nothing."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What the second of two reports says that the first does not.

    `caveats` are reasons to doubt the comparison: other vectors, versions or options, a report
    that is incomplete. `verdicts` are the changes among vectors that both runs may have met, the
    worst first. `new` and `gone` count by verdict the vectors of one report alone.
    `inconsistent` are the clauses with readings that the second report alone finds inconsistent.
    """

    before: str
    after: str
    caveats: tuple[str, ...]
    verdicts: tuple[VerdictChange, ...]
    compared: int
    new: Mapping[str, int]
    gone: Mapping[str, int]
    readings: tuple[Change, ...]
    inconsistent: tuple[str, ...]
    accuracy: tuple[Change, ...]
    incomplete: bool

    def count(self, way: Way) -> int:
        """Return how many vectors changed in a way."""
        return sum(len(change.ids) for change in self.verdicts if change.way == way)

    @property
    def worse(self) -> tuple[str, ...]:
        """What got worse, a line for each; empty if nothing did."""
        vectors = self.count("worse")
        found = [f"{vectors:,} vector{'' if vectors == 1 else 's'} got worse"] if vectors else []
        found += [f"readings of {clause} became inconsistent" for clause in self.inconsistent]
        return (*found, "the second report is incomplete") if self.incomplete else tuple(found)


def compare(before: Report, after: Report) -> Difference:
    """Compare two reports.

    A vector is the same if its id is. Where both runs used the same file, a vector that
    conformed and is not run any more got worse. Raises UsageError if there is nothing to compare:
    no vector is in both.
    """
    first = {result.id: result for result in before.results}
    second = {result.id: result for result in after.results}
    if not first.keys() & second.keys():
        raise UsageError("no vector is in both reports: there is nothing to compare")
    same_files = _digests(before).items() & _digests(after).items()
    same = {operator for operator, digest in same_files if digest}
    dropped = {
        name
        for name, result in first.items()
        if name not in second and result.operator in same and result.verdict == "conforms"
    }
    gone = [r for name, r in first.items() if name not in second and name not in dropped]
    return Difference(
        before=before.backend,
        after=after.backend,
        caveats=tuple(_caveats(before, after)),
        verdicts=tuple(_verdicts(before, after, first, second, dropped)),
        compared=len(first.keys() & second.keys()),
        new=Counter(result.verdict for name, result in second.items() if name not in first),
        gone=Counter(result.verdict for result in gone),
        readings=tuple(_changes(_readings(before), _readings(after))),
        inconsistent=tuple(sorted(_inconsistent(after) - _inconsistent(before))),
        accuracy=tuple(_changes(_accuracy(before), _accuracy(after))),
        incomplete=before.complete and not after.complete,
    )


def _verdicts(
    before: Report,
    after: Report,
    first: Mapping[str, Result],
    second: Mapping[str, Result],
    dropped: set[str],
) -> Iterator[VerdictChange]:
    blamed_before, blamed_after = _blamed(before), _blamed(after)
    groups: dict[tuple[Way, str, str, str, str], list[str]] = defaultdict(list)
    for name, was in first.items():
        now = second.get(name)
        if name in dropped:
            groups["worse", was.operator, was.verdict, NOT_RUN, ""].append(name)
        elif now is not None and now.verdict != was.verdict:
            change = _rank(now.verdict) - _rank(was.verdict)
            way: Way = "worse" if change > 0 else "better" if change < 0 else "other"
            why = _why(was, blamed_before) if change < 0 else _why(now, blamed_after)
            groups[way, was.operator, was.verdict, now.verdict, why].append(name)
    order = ("worse", "better", "other")
    for key, ids in sorted(
        groups.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]))
    ):
        yield VerdictChange(*key, tuple(ids))


def _rank(verdict: str) -> int:
    return _RANKS.get(verdict, _WORST_RANK)


def _why(result: Result, blamed: Mapping[str, str]) -> str:
    if result.id in blamed:
        return blamed[result.id]
    return kind_of(result) if result.verdict in FAILURES else ""


def _blamed(report: Report) -> dict[str, str]:
    """Return the faults that a report blames for each failure."""
    return {
        name: f"fault {' + '.join(cause.faults)}"
        for cause in report.diagnoses
        if cause.faults
        for name in cause.vectors
    }


def _caveats(before: Report, after: Report) -> Iterator[str]:
    for which, report in (("first", before), ("second", after)):
        if not report.complete:
            why = f": {report.stopped}" if report.stopped else ""
            yield f"the {which} report is incomplete{why}"
    pairs: list[tuple[str, Any, Any]] = [
        ("backend", before.backend, after.backend),
        ("tier", before.tier, after.tier),
        ("shard", before.shard or "none", after.shard or "none"),
        ("required", sentences.required(before) or "none", sentences.required(after) or "none"),
    ]
    pairs += _of_both("version of {}", before.versions, after.versions)
    pairs += _of_both("vectors of {}", _digests(before), _digests(after))
    for what, was, now in pairs:
        if was != now:
            yield f"{what}: {was or 'unknown'} before, {now or 'unknown'} after"


def _of_both(
    what: str, first: Mapping[str, str], second: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    names = dict.fromkeys([*first, *second])
    return [(what.format(n), first.get(n, "none"), second.get(n, "none")) for n in names]


def _digests(report: Report) -> dict[str, str]:
    return {used.operator: used.digest for used in report.vectors}


def _inconsistent(report: Report) -> set[str]:
    return {clause.clause for clause in report.readings if clause.status == "inconsistent"}


def _readings(report: Report) -> dict[str, str]:
    """Return what is followed, without the numbers that change with every vector."""
    found = {}
    for clause in report.readings:
        said, _ = sentences.followed(clause)
        found[clause.clause] = clause.status if clause.status in _UNNUMBERED else said
    return found


_UNNUMBERED = ("either", "inconsistent")


def _accuracy(report: Report) -> dict[str, str]:
    return {
        each.dtype: f"{100 * each.correctly_rounded:.2f} % correctly rounded, worst "
        f"{each.worst_ulp:.3g} ulp, {each.worst_of_bound:.3g} of the bound"
        for each in report.accuracy
    }


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name, ""), after.get(name, "")
        if was != now:
            yield Change(name, was, now)
