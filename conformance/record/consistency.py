"""Whether a report that is read has all of its results, each once, and no others.

One that a run makes always has. In a file, lines may be missing, there twice or changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from conformance.record.report import Report
from conformance.text import cut

_LONGEST = 80
"""Characters of an id in a message."""


def contradictions(report: Report) -> Iterator[str]:
    """Yield what in a report contradicts the rest, a line for each; nothing where it agrees."""
    times = Counter(result.id for result in report.results)
    yield from (f"{times[name]} results of {_cut(name)}" for name in times if times[name] > 1)
    yield from _of_vectors(report)
    yield from _of_expectations(report)
    unknown = (name for name in _named(report) if name not in times)
    yield from (f"there is no result of {_cut(name)}, which the footer names" for name in unknown)


def _of_vectors(report: Report) -> Iterator[str]:
    """Yield what is wrong about numbers of vectors."""
    selected: Counter[str] = Counter()
    for used in report.vectors:
        selected[used.operator] += used.selected
    for operator in {**selected, **report.counts_by_operator}:
        run = report.counts_by_operator.get(operator, Counter()).total()
        there = selected[operator]
        if run > there or (run < there and report.complete):
            yield f"{run:,} results of {_cut(operator)}, of which {there:,} vectors were selected"
    if any(used.selected > used.total for used in report.vectors):
        yield "more vectors are selected than there are"
    if len(report.results) + report.not_run < sum(used.total for used in report.vectors):
        yield "results and not_run are fewer than the vectors there are"
    if len(report.skipped) > report.not_run:
        yield "more vectors are skipped than were not run"


def _of_expectations(report: Report) -> Iterator[str]:
    """Yield what of the failures that a file announces did not come true."""
    announced = report.expectations
    met = Counter(result.verdict for result in report.results if result.expected)
    if met != Counter(announced.met if announced else {}):
        yield "met is not the number of failures that were expected"
    if announced and not report.inconsistent.intersection(announced.announced).issuperset(
        announced.inconsistent
    ):
        yield "inconsistent clauses are met that are not announced, or not inconsistent"


def _named(report: Report) -> Iterable[str]:
    """Yield the ids that are named beside the results."""
    for diagnosis in report.diagnoses:
        yield from diagnosis.vectors
    for variation in report.variations:
        yield from variation.failing
    if report.expectations is not None:
        yield from report.expectations.changed
    if report.repeated is not None:
        yield from report.repeated.differing
    yield from (each.id for each in report.slowest)


def _cut(name: str) -> str:
    return cut(repr(name), _LONGEST)
