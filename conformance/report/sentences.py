"""What a report says, in words without markup: the renderers for people share them."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from conformance.check.report import (
    FAILURES,
    ClauseReport,
    Expectations,
    Repeatability,
    Report,
    Result,
    UndefinedReport,
    Worst,
)
from conformance.dtypes import FLOATS
from conformance.report import values as words
from conformance.report.groups import FailureGroup

_HALVES = FLOATS[:2]
_IDS = 3
"""Ids that are named where there may be thousands."""
_PRINTED_LINES, _PRINTED_LENGTH = 16, 1500


def verdict(report: Report) -> str:
    """Return the sentence that says whether the backend conforms, with its denominators."""
    run, total = len(report.results), len(report.results) + report.not_run
    unsupported = report.counts["unsupported"]
    if report.ok:
        failing = sum(report.counts[verdict] for verdict in FAILURES)
        said = [
            f"CONFORMS: {report.counts['conforms']:,} of {total:,} vectors conform",
            f"{words.count(failing, 'expected failure')}" if failing else "",
            f"{unsupported:,} unsupported" if unsupported else "",
            f"{report.not_run:,} not run" if report.not_run else "",
        ]
        return ", ".join(filter(None, said))
    word = "DOES NOT CONFORM" if report.complete else "DOES NOT CONFORM, INCOMPLETE"
    problems = [*report.problems]
    if unsupported:
        problems.append(f"{unsupported:,} unsupported")
    return f"{word}: {'; '.join(problems)}; {run:,} of {total:,} vectors run"


def left_out(report: Report) -> str:
    """Say how many vectors nobody asked for; empty if there are none."""
    deselected = report.not_run - max(_unreached(report), 0)
    if not deselected:
        return ""
    shard = ", tier, selection or shard" if report.shard else ", tier or selection"
    return f"{words.count(deselected, 'vector')} left out by operator{shard}"


def notes(report: Report) -> list[str]:
    """Return what else a reader should know: also which outputs a backend left out."""
    return [*report.notes, *uncomputed(report)]


def uncomputed(report: Report) -> list[str]:
    """Say which outputs a backend left out, and how often."""
    return [
        f"output {each.output} of {each.operator}: not computed in "
        f"{each.vectors - each.computed:,} of {words.count(each.vectors, 'vector')}"
        for each in report.outputs
        if each.computed < each.vectors
    ]


def cut_short(report: Report) -> str:
    """Say that a run is incomplete, and why; empty if it is whole."""
    unreached = _unreached(report)
    if report.complete and unreached <= 0:
        return ""
    never = f"{words.count(unreached, 'selected vector')} never reached" if unreached > 0 else ""
    return f"INCOMPLETE: {': '.join(filter(None, [never, report.stopped]))}".removesuffix(": ")


def _unreached(report: Report) -> int:
    return sum(used.selected for used in report.vectors) - len(report.results)


def scope(report: Report) -> str:
    """Say what was run and how long it took."""
    said = [
        f"tier {report.tier}",
        f"shard {report.shard}" if report.shard else "",
        f"{report.seconds:.2f} s",
        f"{report.backend_seconds:.2f} s of it in the backend",
    ]
    return ", ".join(filter(None, said))


def required(report: Report) -> str:
    """Return the readings that were required; empty if none were."""
    return ", ".join(f"{clause}={reading}" for clause, reading in report.required.items())


def followed(clause: ClauseReport) -> tuple[str, str]:
    """Return which reading of a clause a backend follows, and an aside with the evidence."""
    touched = words.count(clause.touched, "vector")
    match clause.status:
        case "followed":
            telling = clause.counts.get(clause.followed or "", 0)
            return clause.followed or "", f"shown by {telling:,} of {touched}"
        case "either":
            return "", f"either: nothing separates them in {touched}"
        case "split":
            readings = dict.fromkeys(clause.values.values())
            where = {r: [v for v, name in clause.values.items() if name == r] for r in readings}
            kinds = ", ".join(f"{r} for {words.list_of(v)}" for r, v in where.items())
            shown = ", ".join(f"{n:,} ({reading})" for reading, n in clause.counts.items())
            return f"split by {clause.by}: {kinds}", f"shown by {shown} of {touched}" * bool(shown)
        case "inconsistent":
            counts = ", ".join(f"{reading} {n:,}" for reading, n in clause.counts.items())
            return f"INCONSISTENT: {counts}, of {touched}", ""


def element_types(report: Report) -> tuple[str, str]:
    """Say which types are summed in the element type itself: a warning, and a remark."""
    loose = {"accumulator": "element-type"}
    if not any(
        clause.clause in loose
        and loose[clause.clause] in (clause.followed, *clause.values.values())
        for clause in report.readings
    ):
        return "", ""
    needing = {
        result.dtype
        for result in report.results
        if result.readings and all(loose.items() <= taken.items() for taken in result.readings)
    }
    halves = [dtype for dtype in _HALVES if dtype in needing]
    others = sorted(needing.difference(_HALVES))
    warning = remark = ""
    # A wrong answer may happen to fit the loose reading: only a backend without any is warned.
    if halves and not report.counts["mismatch"]:
        warning = (
            f"WARNING: sums of {words.list_of(halves)} are kept in the element type and overflow "
            "or stagnate; many projects treat that as a bug."
        )
    if others:
        remark = f"Sums of {words.list_of(others)} overflow where the average does not."
    return warning, remark


def behaviours(undefined: UndefinedReport) -> str:
    """Return what was done where a clause leaves something undefined, the commonest first."""
    ordered = sorted(undefined.counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{behaviour} {n:,}" for behaviour, n in ordered)


def cause_asides(diagnosis: Any) -> list[str]:
    """Return what there is to say of a likely cause beside its summary, but for its threads."""
    asides = [f"fault {' + '.join(diagnosis.faults)}"] if diagnosis.faults else []
    if diagnosis.alternatives:
        asides.append(f"not told apart from {', '.join(diagnosis.alternatives)}")
    if diagnosis.contradicted:
        asides.append(
            f"{diagnosis.contradicted} of {diagnosis.conforming} conforming vectors speak "
            "against it"
        )
    return asides


def repeats(repeated: Repeatability) -> tuple[str, str]:
    """Say which second calls gave other bits, and (aside) that the others gave the same."""
    differing = len(repeated.differing)
    alike = repeated.sampled - differing
    aside = f"{words.count(alike, 'vector')} called again gave the same bits" if alike > 0 else ""
    if not differing:
        return "", aside
    said = f"NOT REPEATABLE: {differing:,} of {words.count(repeated.sampled, 'vector')} called "
    said += f"again gave other bits: {named(repeated.differing)}"
    if repeated.failing:
        said += f"; no longer right: {named(repeated.failing)}"
    return said, aside


def met(expectations: Expectations) -> str:
    """Say which failures an expected-failure file announced."""
    counts = [f"{n:,} {verdict}" for verdict, n in expectations.met.items() if n]
    counts += [f"inconsistent {clause}" for clause in expectations.inconsistent]
    return f"failed as {expectations.path} says: {', '.join(counts) or 'none'}"


def unmet(expectations: Expectations) -> list[str]:
    """Say what an expected-failure file announces and did not happen."""
    said = []
    if expectations.passed:
        count = words.count(len(expectations.passed), "vector")
        said.append(f"{count} passed unexpectedly: {named(expectations.passed)}")
    if expectations.unmatched:
        count = words.count(len(expectations.unmatched), "line")
        verb = "matches" if len(expectations.unmatched) == 1 else "match"
        said.append(f"{count} that {verb} nothing: {named(expectations.unmatched)}")
    return said


def named(ids: tuple[str, ...]) -> str:
    """Return the first few ids, and how many more there are."""
    rest = len(ids) - _IDS
    return ", ".join(ids[:_IDS]) + (f" and {rest:,} more" if rest > 0 else "")


def title(group: FailureGroup) -> tuple[str, str, str]:
    """Return what happened in a group of failures, what they share, and how telling that is."""
    number = len(group.results)
    said = f"{group.operator}: {group.kind} in {words.count(number, 'vector')}"
    if not group.shared or number == 1:
        return said, "", ""
    shared = f"all with {words.list_of(group.shared)}"
    return said, shared, f"{number:,} of the {group.alike:,} such vectors that were run"


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a failure, each with a name."""
    attributes = [words.attribute(name, value) for name, value in result.attributes.items()]
    if attributes:
        yield "attributes", "  ".join(attributes)
    data = [f"{result.dtype} {words.shape(result.shapes[0])}"] if result.shapes else []
    yield "data", ", ".join(filter(None, [*data, result.pattern]))
    if result.source:
        yield "source", f"{result.source} ({result.provenance})"
    if result.clauses:
        yield "clauses", ", ".join(result.clauses)
    yield "what", result.detail
    if result.worst is not None:
        yield from _worst(result.worst, result.worst_dtype)
    if result.printed:
        yield "printed", printed(result)


def printed(result: Result) -> str:
    """Return the last lines that a backend wrote during a call."""
    shown = result.printed[-_PRINTED_LENGTH:].rstrip().splitlines()[-_PRINTED_LINES:]
    return "\n".join(shown)


def _worst(worst: Worst, dtype: str) -> Iterator[tuple[str, str]]:
    def element(index: tuple[int, ...], got: float, expected: float) -> str:
        place = f"{worst.output}[{', '.join(map(str, index))}]"
        return f"{place} is {words.exact(got, dtype)}, expected {words.exact(expected, dtype)}"

    if worst.first_index not in {(), worst.index}:
        yield "first", element(worst.first_index, worst.first_got, worst.first_expected)
    yield "worst", element(worst.index, worst.got, worst.expected)
    if isfinite(worst.error):
        ulps = f" ({worst.ulp:.3g} ulp)" if dtype in FLOATS and isfinite(worst.ulp) else ""
        yield "error", f"{worst.error:.3g}{ulps}, allowed {worst.bound:.3g}"
