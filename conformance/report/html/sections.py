"""The parts of a page that are tables: counts, readings, undefined behaviour, accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log10

from conformance.check.report import (
    VERDICTS,
    Accuracy,
    ClauseReport,
    Report,
    UndefinedReport,
    Verdict,
)
from conformance.operators import CLAUSES
from conformance.report import sentences
from conformance.report import values as words

_ALWAYS: tuple[Verdict, ...] = ("conforms", "mismatch", "unsupported")
_LEAST_ULP = 0.1


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar, in percent of its length."""

    kind: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class CountsRow:
    """The verdicts on the vectors of one operator, or of all."""

    operator: str
    run: int
    counts: tuple[tuple[str, int], ...]
    not_run: int

    @property
    def bar(self) -> tuple[Segment, ...]:
        """How the vectors are shared out."""
        return _segments([*self.counts, ("not-run", self.not_run)])


def counts_rows(report: Report) -> list[CountsRow]:
    """Return a row per operator, and one of all where there are several."""
    shown = [v for v in VERDICTS if v in _ALWAYS or report.counts[v]]
    totals: Counter[str] = Counter()  # an operator may be in several files
    for used in report.vectors:
        totals[used.operator] += used.total
    rows = []
    for operator in dict.fromkeys([*totals, *report.counts_by_operator]):
        counts = report.counts_by_operator.get(operator, Counter[Verdict]())
        run = sum(counts.values())
        missing = max(0, totals[operator] - run)
        cells = tuple((verdict, counts.get(verdict, 0)) for verdict in shown)
        rows.append(CountsRow(operator, run, cells, missing))
    if len(rows) != 1:
        every = tuple((verdict, report.counts[verdict]) for verdict in shown)
        rows.append(CountsRow("all", len(report.results), every, report.not_run))
    return rows


def left_out(report: Report) -> list[str]:
    """Say what was not judged and why, a sentence for each reason."""
    unsupported = report.counts["unsupported"]
    number = words.count(unsupported, "vector")
    aside = f"{number} not supported by the backend: neither a pass nor a failure"
    said = [sentences.left_out(report), aside if unsupported else ""]
    said += sentences.uncomputed(report)
    return [f"{each}." for each in said if each]


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A disputed clause and the reading that the backend follows."""

    clause: str
    status: str
    said: str
    summaries: tuple[tuple[str, str], ...]
    question: str
    required: bool


_STATUS = {
    "followed": "followed",
    "either": "not told apart",
    "split": "split",
    "inconsistent": "inconsistent",
}


def reading_rows(report: Report) -> list[ReadingRow]:
    """Return a row per disputed clause that touched a vector."""
    return [_reading_row(each, each.clause in report.required) for each in report.readings]


def _reading_row(report: ClauseReport, required: bool) -> ReadingRow:  # noqa: FBT001 - a field
    clause = CLAUSES.get(report.clause)
    used = {report.followed, *report.values.values()}
    if report.status in {"either", "inconsistent"}:
        used |= {reading.name for reading in clause.readings} if clause else set()
    summaries = [(r.name, r.summary) for r in clause.readings if r.name in used] if clause else []
    return ReadingRow(
        clause=report.clause,
        status=_STATUS[report.status],
        said=_followed(report),
        summaries=tuple(summaries),
        question=clause.says if clause else "",
        required=required,
    )


def _followed(report: ClauseReport) -> str:
    """Say which reading is followed; the status stands before it."""
    said = ", ".join(filter(None, sentences.followed(report)))
    for status in ("split ", "INCONSISTENT: ", "either: "):
        said = said.removeprefix(status)
    return said


@dataclass(frozen=True, slots=True)
class UndefinedRow:
    """What the backend did where a clause defines nothing."""

    clause: str
    says: str
    behaviours: tuple[tuple[str, int], ...]


def undefined_rows(reports: Iterable[UndefinedReport]) -> list[UndefinedRow]:
    """Return a row per clause, the commonest behaviour first."""
    return [
        UndefinedRow(
            each.clause,
            CLAUSES[each.clause].says if each.clause in CLAUSES else "",
            tuple(sorted(each.counts.items(), key=lambda item: -item[1])),
        )
        for each in reports
    ]


@dataclass(frozen=True, slots=True)
class Profile:
    """The accuracy of one element type, with places on the scales in percent."""

    source: Accuracy
    ulp: float
    bound: float


@dataclass(frozen=True, slots=True)
class Profiles:
    """Accuracy per element type; `ticks` are places and labels of the scale of ulps."""

    rows: tuple[Profile, ...]
    ticks: tuple[tuple[float, str], ...]


def profiles(accuracy: Sequence[Accuracy]) -> Profiles:
    """Return the accuracy with a logarithmic scale for ulps that holds them all."""
    finite = [each.worst_ulp for each in accuracy if isfinite(each.worst_ulp)]
    low = log10(_LEAST_ULP)
    high = max(1.0, float(ceil(log10(max([*finite, 1.0])) + 1e-9)))

    def place(ulp: float) -> float:
        if not isfinite(ulp):
            return 100.0
        return round(100 * (log10(max(ulp, _LEAST_ULP)) - low) / (high - low), 2)

    return Profiles(
        tuple(
            Profile(each, place(each.worst_ulp), round(100 * min(1.0, each.worst_of_bound), 2))
            for each in accuracy
        ),
        tuple(_ticks(round(high), place)),
    )


def _ticks(high: int, place: object) -> Iterator[tuple[float, str]]:
    assert callable(place)
    step = max(1, ceil((high + 1) / 4))
    for power in range(0, high + 1, step):
        yield place(10.0**power), f"{10**power:,}" if power < 4 else f"1e{power}"


def _segments(counts: Sequence[tuple[str, int]]) -> tuple[Segment, ...]:
    total = sum(number for _, number in counts) or 1
    found, start = [], 0
    for kind, number in counts:
        if number:
            found.append(
                Segment(kind, round(100 * start / total, 3), round(100 * number / total, 3))
            )
        start += number
    return tuple(found)
