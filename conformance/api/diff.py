"""What changed between two reports: verdicts, readings and accuracy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import Literal, NamedTuple

from conformance.api.reasoned_lines import said_of
from conformance.errors import UsageError
from conformance.judging.failure_kinds import kind_of
from conformance.record.report import FAILURES, Accuracy, ClauseReport, Report, Result, Verdict

Way = Literal["worse", "better", "other"]
WAYS: tuple[Way, ...] = ("worse", "better", "other")

NOT_RUN = "not run"
_RANKS: dict[Verdict, int] = {
    "conforms": 0,
    "unsupported": 1,
    "mismatch": 2,
    "accepted-invalid": 2,
    "error": 2,
    "crashed": 3,
    "timed-out": 3,
}
_COUNTED_APART = 1
"""The rank of what is neither a pass nor a failure, such as an extension that is allowed."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """Vectors of one operator whose verdict changed in the same way, for the same cause.

    `before` and `after` are verdicts, or "not run". `why` names the faults that a report blames,
    or the kind of failure: of the second report, of the first where the vectors got better.
    """

    way: Way
    operator: str
    before: str
    after: str
    why: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What two reports say of a clause, an element type or a setting; "" for nothing."""

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
    readings: tuple[Said, ...]
    inconsistent: tuple[str, ...]
    accuracy: tuple[Said, ...]
    incomplete: bool

    def count(self, way: Way) -> int:
        """Return how many vectors changed in a way."""
        return sum(len(change.ids) for change in self.verdicts if change.way == way)

    @property
    def worse(self) -> tuple[str, ...]:
        """What got worse, a line for each; empty if nothing did."""
        vectors = self.count("worse")
        lines = [f"{vectors:,} vector{'' if vectors == 1 else 's'} got worse"] if vectors else []
        lines += [f"readings of {clause} became inconsistent" for clause in self.inconsistent]
        return (*lines, "the second report is incomplete") if self.incomplete else tuple(lines)


def diff(before: Report, after: Report) -> Difference:
    """Compare two reports.

    A vector is the same if its id is. Where both runs used the same file, a vector that
    conformed and is not run any more got worse. Raises UsageError if there is nothing to compare:
    no vector is in both.
    """
    first = {result.id: result for result in before.results}
    second = {result.id: result for result in after.results}
    if not first.keys() & second.keys():
        raise UsageError("no vector is in both reports: there is nothing to compare")
    same_digests = _digests(before).items() & _digests(after).items()
    same_files = {operator for operator, digest in same_digests if digest}
    dropped = {
        vector_id
        for vector_id, result in first.items()
        if vector_id not in second
        and result.operator in same_files
        and result.verdict == "conforms"
    }
    return Difference(
        before=before.backend,
        after=after.backend,
        caveats=tuple(_caveats(before, after)),
        verdicts=tuple(_verdict_changes(before, after, dropped)),
        compared=len(first.keys() & second.keys()),
        new=Counter(r.verdict for vector_id, r in second.items() if vector_id not in first),
        gone=Counter(
            r.verdict
            for vector_id, r in first.items()
            if vector_id not in second and vector_id not in dropped
        ),
        readings=_changes(_readings(before), _readings(after)),
        inconsistent=tuple(sorted(after.inconsistent - before.inconsistent)),
        accuracy=_changes(_accuracy(before), _accuracy(after)),
        incomplete=before.complete and not after.complete,
    )


def _verdict_changes(before: Report, after: Report, dropped: set[str]) -> Iterator[VerdictChange]:
    """Yield the changes, the worst and largest first; `dropped` vectors are not run any more."""
    second = {result.id: result for result in after.results}
    faults_before, faults_after = before.faults, after.faults
    groups: dict[tuple[Way, str, str, str, str], list[str]] = defaultdict(list)
    for old in before.results:
        new = second.get(old.id)
        if old.id in dropped:
            groups["worse", old.operator, old.verdict, NOT_RUN, ""].append(old.id)
        elif new is not None and new.verdict != old.verdict:
            change = _rank(new, after) - _rank(old, before)
            way: Way = "worse" if change > 0 else "better" if change < 0 else "other"
            why = _why(old, faults_before) if change < 0 else _why(new, faults_after)
            groups[way, old.operator, old.verdict, new.verdict, why].append(old.id)
    for key, ids in sorted(
        groups.items(), key=lambda item: (WAYS.index(item[0][0]), -len(item[1]))
    ):
        yield VerdictChange(*key, tuple(ids))


def _rank(result: Result, report: Report) -> int:
    allowed = result.verdict in FAILURES and result.verdict not in report.failing
    return _COUNTED_APART if allowed else _RANKS[result.verdict]


def _why(result: Result, faults: Mapping[str, tuple[str, ...]]) -> str:
    if result.id in faults:
        return f"fault {' + '.join(faults[result.id])}"
    return kind_of(result) if result.verdict in FAILURES else ""


def _caveats(before: Report, after: Report) -> Iterator[str]:
    for which, report in (("first", before), ("second", after)):
        if not report.complete:
            why = f": {report.stopped}" if report.stopped else ""
            yield f"the {which} report is incomplete{why}"
    both = [
        settings_of(report) | files_of(report) | {"shard": report.shard or "none"}
        for report in (before, after)
    ]
    for what, first, second in differing(*both, missing="none"):
        yield f"{what}: {first or 'unknown'} before, {second or 'unknown'} after"


def files_of(report: Report) -> dict[str, str]:
    """Return the files of known failures and of vectors to skip, by what is in them."""
    files = {"expected failures": report.expectations, "vectors to skip": report.skips}
    return {what: said_of(file.path, file.digest) for what, file in files.items() if file}


class Setting(NamedTuple):
    """What two reports may differ in; where there are several, `of` says of what."""

    what: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.what} of {self.of}" if self.of else self.what


VERSION = "version"


def settings_of(report: Report) -> dict[str, str]:
    """Return backend, tier, required readings, versions and vectors, by names for messages.

    Two reports must have them in common to be joined or compared.
    """
    return {str(setting): value for setting, value in settings(report).items()}


def settings(report: Report) -> dict[Setting, str]:
    """Return what two reports must have in common to be joined or compared."""
    required = ", ".join(f"{clause}={reading}" for clause, reading in report.required.items())
    vectors = {
        used.operator: f"{used.total:,} with digest {used.digest or 'unknown'}"
        for used in report.vectors
    }
    return {
        Setting("backend"): report.backend,
        Setting("tier"): report.tier,
        Setting("required readings"): required or "none",
        Setting("extensions"): "allowed" if report.allow_extensions else "not allowed",
        **{Setting(VERSION, name): version for name, version in report.versions.items()},
        **{Setting("vectors", name): used for name, used in vectors.items()},
    }


def differing(
    first: Mapping[str, str], second: Mapping[str, str], *, missing: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Yield the names whose values differ, with both values; `missing` stands for one without."""
    for name in dict.fromkeys([*first, *second]):
        values = first.get(name, missing), second.get(name, missing)
        if values[0] != values[1]:
            yield (name, *values)


def _digests(report: Report) -> dict[str, str]:
    return {used.operator: used.digest for used in report.vectors}


def _readings(report: Report) -> dict[str, str]:
    """Return the reading of each clause, without the numbers that change with every vector."""
    return {clause.clause: _reading(clause) for clause in report.readings}


def _reading(clause: ClauseReport) -> str:
    if clause.status == "followed":
        return clause.followed or ""
    return f"split by {clause.by}: {clause.sides}" if clause.status == "split" else clause.status


def _accuracy(report: Report) -> dict[str, str]:
    return {accuracy.dtype: _figures(accuracy) for accuracy in report.accuracy}


def _figures(accuracy: Accuracy) -> str:
    return (
        f"{100 * accuracy.correctly_rounded:.2f} % correctly rounded, worst "
        f"{accuracy.worst_ulp:.3g} ulp, {accuracy.worst_of_bound:.3g} of the bound"
    )


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Said, ...]:
    return tuple(starmap(Said, differing(before, after)))
