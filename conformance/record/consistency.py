"""Whether the parts of a report agree: totals with results, and results with themselves.

A report that a run makes always does. One that is read may be another: lines may be missing, there
twice or changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from conformance.record.report import (
    FAILURES,
    RETURNED,
    Diagnosis,
    Expectations,
    Repeatability,
    Report,
    Result,
    Support,
    VariationReport,
    Verdict,
    verdicts_by_operator,
)
from conformance.text import cut

_LONGEST = 80
"""Characters of an id in a message."""


def contradictions(report: Report) -> Iterator[str]:
    """Yield what in a report contradicts the rest, a line for each; nothing where it agrees."""
    yield from _of_counts(report)
    verdicts: dict[str, Verdict] = {}
    for result in report.results:
        if result.id in verdicts:
            yield f"two results of {_cut(result.id)}"
        verdicts[result.id] = result.verdict
        yield from _of_result(result)
    yield from _of_names(report)
    if report.complete is bool(report.stopped):
        yield "complete and stopped contradict each other"
    yield from _of_clauses(report)
    yield from _of_expectations(report.expectations, report)
    yield from chain.from_iterable(map(_of_diagnosis, report.diagnoses))
    yield from chain.from_iterable(map(_of_variation, report.variations))
    if report.repeated is not None:
        yield from _of_repeated(report.repeated)
    if report.support is not None:
        yield from _of_support(report.support, verdicts)
    unknown = (name for name in _named(report) if name not in verdicts)
    yield from (f"there is no result of {_cut(name)}, which the footer names" for name in unknown)


def _of_names(report: Report) -> Iterator[str]:
    """Yield what a list of the report says twice of one thing."""
    lists: dict[str, Iterable[object]] = {
        "vectors": (used.operator for used in report.vectors),
        "readings": (clause.clause for clause in report.readings),
        "undefined": (clause.clause for clause in report.undefined),
        "accuracy": (accuracy.dtype for accuracy in report.accuracy),
        "bias": (f"{bias.operator}, {bias.dtype}" for bias in report.bias),
        "outputs": (f"{output.operator}, {output.output}" for output in report.outputs),
        "variations": (variation.variation for variation in report.variations),
        "slowest": (slow.id for slow in report.slowest),
        "lost": report.support.lost if report.support else (),
        "skips": (skipped.id for skipped in report.skipped),
    }
    lists |= {f"{each.variation}.failing": each.failing for each in report.variations}
    if report.repeated is not None:
        repeated = report.repeated
        lists |= {name: getattr(repeated, name) for name in ("differing", "failing", "passing")}
    for name, things in lists.items():
        for thing, times in Counter(map(str, things)).items():
            if times > 1:
                yield f"{_cut(thing)} is {times} times in {_cut(name)}"


def _of_counts(report: Report) -> Iterator[str]:
    counted = verdicts_by_operator(report.results)
    if {name: counts for name, counts in report.counts_by_operator.items() if +counts} != counted:
        yield "counts_by_operator are not those of the results"
    if report.counts != sum(counted.values(), Counter()):
        yield "counts are not those of the results"
    yield from _of_vectors(report, {name: counts.total() for name, counts in counted.items()})


def _of_result(result: Result) -> Iterator[str]:
    conforms = result.verdict == "conforms"
    worst = result.worst
    wrong = {
        "worst": worst is not None and result.verdict not in RETURNED,
        "worst.wrong": worst is not None and not 1 <= worst.wrong <= worst.total,
        "expected": bool(result.expected) and result.verdict not in FAILURES,
        "readings": bool(result.readings) and not conforms,
        "undefined_only": result.undefined_only and not conforms,
        "variations": bool(result.variations) and conforms,
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            yield f"{name} contradicts the rest of the result of {_cut(result.id)}"


def _of_vectors(report: Report, results: dict[str, int]) -> Iterator[str]:
    """Yield what is wrong about numbers of vectors, given those of results by operator."""
    selected = {used.operator: used.selected for used in report.vectors}
    for operator in {**selected, **results}:
        run, there = results.get(operator, 0), selected.get(operator, 0)
        if run > there or (run < there and report.complete):
            yield f"{run:,} results of {_cut(operator)}, of which {there:,} vectors were selected"
    if any(used.selected > used.total for used in report.vectors):
        yield "more vectors are selected than there are"
    if len(report.results) + report.not_run < sum(used.total for used in report.vectors):
        yield "results and not_run are fewer than the vectors there are"
    if len(report.skipped) > report.not_run:
        yield "more vectors are skipped than were not run"


def _of_clauses(report: Report) -> Iterator[str]:
    for clause in report.readings:
        if not sum(clause.counts.values()) <= clause.touched <= report.counts["conforms"]:
            yield f"counts of {_cut(clause.clause)} are not those of vectors that conform"
    for undefined in report.undefined:
        if sum(undefined.counts.values()) > len(report.results):
            yield f"counts of {_cut(undefined.clause)} are more than the results"
    for output in report.outputs:
        run = report.counts_by_operator.get(output.operator, Counter[Verdict]()).total()
        if not output.computed <= output.vectors <= run:
            yield f"counts of output {_cut(output.output)} are more than the results"


def _of_expectations(expectations: Expectations | None, report: Report) -> Iterator[str]:
    met = Counter(result.verdict for result in report.results if result.expected)
    if met != Counter(expectations.met if expectations else {}):
        yield "met is not the number of failures that were expected"
    if expectations is None:
        return
    possible = report.inconsistent.intersection(expectations.announced)
    if not possible.issuperset(expectations.inconsistent):
        yield "inconsistent clauses are met that are not announced, or not inconsistent"


def _of_diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.exact <= diagnosis.explained <= diagnosis.total:
        yield "a diagnosis explains more than there is"
    if diagnosis.contradicted > diagnosis.conforming:
        yield "a diagnosis is contradicted by more than conform"


def _of_variation(variation: VariationReport) -> Iterator[str]:
    if len(variation.failing) + variation.differing + variation.refused > variation.called:
        yield f"variation {_cut(variation.variation)} has more outcomes than calls"


def _of_repeated(repeated: Repeatability) -> Iterator[str]:
    differing = set(repeated.differing)
    if len(differing) > repeated.sampled:
        yield "more vectors differ when they are called again than were"
    if not differing.issuperset((*repeated.failing, *repeated.passing)):
        yield "a vector changes its verdict when it is called again, and does not differ"


def _of_support(support: Support, verdicts: dict[str, Verdict]) -> Iterator[str]:
    if support.kept + len(support.lost) > support.conforming:
        yield "more vectors are kept and lost than conform in the baseline"
    if any(verdicts.get(name, "unsupported") != "unsupported" for name in support.lost):
        yield "a vector is lost that is supported"


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
    if report.support is not None:
        yield from report.support.lost


def _cut(name: str) -> str:
    return cut(repr(name), _LONGEST)
