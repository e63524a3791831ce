"""The sentences of a report, without markup: documents, JUnit and the pytest plugin use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple

from conformance.dtypes import FLOATS, HALVES
from conformance.literals import exact
from conformance.operators import CLAUSES, disputed_clauses
from conformance.record.report import (
    Accuracy,
    Bias,
    ClauseReport,
    Expectations,
    Repeatability,
    Report,
    Result,
    Skips,
    UndefinedReport,
    VariationReport,
    Worst,
)
from conformance.record.words import attribute_in_words, how_called
from conformance.report import values as words
from conformance.report.document import Conclusion
from conformance.text import cut, listed, without_unprintable
from conformance.vector import BACKWARD, LARGE, forward_name, own_inputs

IDS = 3
"""Ids that are named where there may be thousands."""
_DEPARTURES = 3
"""Readings that are named in the sentence that says whether a backend conforms."""
_IN_WORDS = {"raised": "raised an exception"}
"""Words for what a backend did where nothing is defined, where they are not those of reports."""
_REASONS, _REASON = 5, 100
"""Reasons that are given for what is unsupported, and characters of each."""
_PRINTED_LINES, _PRINTED_LENGTH = 16, 1500


def verdict(report: Report) -> Conclusion:
    """Return the sentence that says whether the backend conforms, with its denominators."""
    unsupported, skipped = report.counts["unsupported"], len(report.skipped)
    answered = len(report.results) - unsupported
    extensions = report.counts["accepted-invalid"] if report.allow_extensions else 0
    conforming = f"{report.counts['conforms']:,} of {words.count(answered, 'answered vector')}"
    said = [] if report.ok else [*report.problems, unstable(report).lower()]
    if answered:
        said.append(conforming if report.ok else f"{conforming} {_conform(answered)}")
    if report.ok:
        failing = sum(report.counts[verdict] for verdict in report.failing)
        said.append(words.count(failing, "expected failure") if failing else "")
    said.append(words.count(extensions, "extension") if extensions else "")
    if not (report.support and report.support.strict):  # whose problems say so
        said += [f"{unsupported:,} unsupported"] if unsupported else []
        said += [f"{skipped:,} skipped"] if skipped else []
    unreached = _unreached(report)
    said.append(f"{unreached:,} never reached" if unreached > 0 else "")
    said += [selection(report), departing(report) if report.ok else ""]
    return Conclusion(
        "CONFORMS" if report.ok else "DOES NOT CONFORM",
        "; ".join(filter(None, said)),
        "" if report.ok or report.complete else "INCOMPLETE",
    )


def selection(report: Report) -> str:
    """Return the tier that was run, and which part of it."""
    return report.tier + (f", shard {report.shard} only" if report.shard else "")


def departing(report: Report) -> str:
    """Say which readings are followed that are not the default, and asked for by nobody."""
    disputed = disputed_clauses()
    followed = []
    for clause in report.readings:
        if clause.clause not in disputed or clause.clause in report.required:
            continue
        default = disputed[clause.clause].default
        readings = clause.values.values() if clause.status == "split" else [clause.followed]
        possible = set(clause.possible) if clause.status == "followed" else set()
        others = {*filter(None, readings)} - {default, "either"}
        if others and default not in possible:
            followed.append(f"{clause.clause}={'|'.join(sorted(others))}")
    if not followed:
        return ""
    more = f" and {len(followed) - _DEPARTURES} more" if len(followed) > _DEPARTURES else ""
    named = ", ".join(followed[:_DEPARTURES])
    return f"not by the default reading: {named}{more} (--require CLAUSE=READING)"


def _conform(number: int) -> str:
    return "conforms" if number == 1 else "conform"


def left_out(report: Report) -> str:
    """Say how many vectors nobody asked for; empty if there are none."""
    deselected = report.not_run - max(_unreached(report), 0) - len(report.skipped)
    if deselected <= 0:
        return ""
    by = ["operator", "memory" if report.tier == LARGE else "tier", "selection"]
    by += ["shard"] if report.shard else []
    return f"{words.count(deselected, 'vector')} left out by {', '.join(by[:-1])} or {by[-1]}"


def without_any(report: Report) -> list[str]:
    """Return the operators and gradients of which nothing that was run is supported."""
    return [
        name
        for name, counts in report.counts_by_operator.items()
        if 0 < counts.get("unsupported", 0) == sum(counts.values())
    ]


def without_support(report: Report) -> str:
    """Name the operators of which nothing that was run is supported; empty if there are none.

    A gradient is named where its operator is supported.
    """
    none = without_any(report)
    operators = [name for name in none if not name.endswith(BACKWARD)]
    gradients = [name.removesuffix(BACKWARD) for name in none if name.endswith(BACKWARD)]
    said = []
    if operators:
        said.append(f"{words.count(len(operators), 'operator')} unsupported: {listed(operators)}")
    alone = [name for name in gradients if name not in operators]
    if alone:
        every = sum(name.endswith(BACKWARD) for name in report.counts_by_operator) == len(gradients)
        which = "no gradient is supported" if every else ""
        number = words.count(len(alone), "more gradient" if operators else "gradient")
        said.append(which or f"{number} unsupported: of {listed(alone)}")
    return "; ".join(said)


def unsupported_in_brief(report: Report) -> str:
    """Say how many vectors are unsupported, and of how many operators all; empty if none are."""
    unsupported = report.counts["unsupported"]
    if not unsupported:
        return ""
    none = without_any(report)
    named = listed(none) if len(none) <= IDS else f"{len(none)} operators and gradients"
    whole = f": all of {named}" if none else ""
    return f"{words.count(unsupported, 'vector')}{whole}"


def notes(report: Report) -> list[str]:
    """Return what else a reader should know: also which outputs a backend left out."""
    return [*report.notes, *uncomputed(report)]


def uncomputed(report: Report) -> list[str]:
    """Say which outputs a backend left out, and how often."""
    return [
        f"output {output.output} of {output.operator}: not computed in "
        f"{output.vectors - output.computed:,} of {words.count(output.vectors, 'vector')}"
        for output in report.outputs
        if output.computed < output.vectors
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


def duration(report: Report) -> str:
    """Say how long a run took, and how much of that the backend."""
    of_it = f"{report.backend_seconds:.2f} s of it for the answers of the backend"
    return f"{report.seconds:.2f} s, {of_it}"


def required(report: Report) -> str:
    """Return the readings that were required; empty if none were."""
    return ", ".join(f"{clause}={reading}" for clause, reading in report.required.items())


def followed(clause: ClauseReport) -> tuple[str, str]:
    """Return which reading of a clause a backend follows, and an aside with the evidence."""
    mark, details, evidence = reading(clause)
    if clause.status == "either":
        return "", f"{mark}: {evidence}"
    return ": ".join(filter(None, [mark, details])), evidence


def possible(clause: ClauseReport) -> str:
    """Return the readings of a clause that a backend may follow: `dropped or all-dropped`."""
    return " or ".join(clause.possible) or clause.followed or ""


def reading(clause: ClauseReport) -> tuple[str, str, str]:
    """Return the reading that a backend follows (or that it follows none), details, evidence."""
    vectors = words.count(clause.touched, "vector")
    match clause.status:
        case "followed":
            if len(clause.possible) > 1:
                return possible(clause), "", f"no difference between them in {vectors}"
            number = clause.counts.get(clause.followed or "", 0)
            return clause.followed or "", "", f"shown by {number:,} of {vectors}"
        case "either":
            return "either", "", f"no difference in {vectors}"
        case "split":
            names = dict.fromkeys(clause.values.values())
            where = {name: [v for v, r in clause.values.items() if r == name] for name in names}
            split = ", ".join(f"{name} for {listed(v)}" for name, v in where.items())
            shown = ", ".join(f"{number:,} ({name})" for name, number in clause.counts.items())
            evidence = f"shown by {shown} of {vectors}" if shown else ""
            return f"split by {clause.by}", split, evidence
        case "inconsistent" if clause.contradicting:
            return "INCONSISTENT", contradictions(clause), ""
        case "inconsistent":
            counts = ", ".join(f"{name} {number:,}" for name, number in clause.counts.items())
            return "INCONSISTENT", f"{counts}, of {vectors}", ""


def bias(of: Bias) -> str:
    """Say where the results of an operator and type are biased to; empty if they are not."""
    if not of.directions:
        return ""
    shown = max(of.above, of.below, of.inward, of.outward)
    vectors = words.count(max(of.above + of.below, of.inward + of.outward), "vector")
    return (
        f"{of.operator}, {of.dtype}: biased {listed(of.directions)}, mean error "
        f"{of.mean_ulp:+.3g} ulp, shown by {shown:,} of {vectors}"
    )


def contradictions(clause: ClauseReport) -> str:
    """Say which gradients follow another reading than their operators.

    `AvgPool-1 follows padded-extent, AvgPool-1-backward follows whole-kernel`.
    """
    known = CLAUSES.get(clause.clause)
    said = []
    for operator, reading in clause.contradicting.items():
        is_forward = forward_name(operator) == operator
        of = f"{known.chosen_by}=" if known and known.chosen_by and is_forward else ""
        said.append(f"{operator} follows {of}{reading}")
    return ", ".join(said)


def element_types(report: Report) -> tuple[str, str]:
    """Say which types are summed in the element type, a warning, and whose sums overflow."""
    warning = remark = ""
    # A wrong answer may happen to fit the loose reading: only a backend without any is warned.
    in_own = _types_needing(report, "accumulator", "element-type")
    halves = [dtype for dtype in HALVES if dtype in in_own]
    if halves and not report.counts["mismatch"]:
        warning = (
            f"WARNING: sums of {listed(halves)} are kept in the element type and overflow "
            "or stagnate; many projects treat that as a bug."
        )
    overflowing = _types_needing(report, "sum-overflow", "overflows")
    if others := [dtype for dtype in FLOATS if dtype in overflowing and dtype not in halves]:
        remark = f"Sums of {listed(others)} overflow where the average does not."
    return warning, remark


def _types_needing(report: Report, clause: str, reading: str) -> Collection[str]:
    """Return the element types with a vector that only one reading of a clause explains."""
    if not any(
        each.clause == clause and reading in (each.followed, *each.values.values())
        for each in report.readings
    ):
        return ()
    return {
        result.dtype
        for result in report.results
        if result.readings and all(taken.get(clause) == reading for taken in result.readings)
    }


def behaviours(undefined: UndefinedReport) -> str:
    """Return what was done where a clause leaves something undefined, the commonest first."""
    ordered = sorted(undefined.counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{_IN_WORDS.get(how, how)} {n:,}" for how, n in ordered)


def readings_in_brief(clauses: Iterable[ClauseReport]) -> str:
    """Return which reading of each clause is followed: `CLAUSE=READING`, as --require takes it."""
    said = []
    for clause in clauses:
        mark, details, _ = reading(clause)
        said.append(f"{clause.clause}={mark}" + (f" ({details})" if details else ""))
    return ", ".join(said)


def undefined_in_brief(clauses: Iterable[UndefinedReport]) -> str:
    """Return what was done where nothing is defined, but for what is unsupported."""
    answered = [
        replace(clause, counts={how: n for how, n in clause.counts.items() if how != "unsupported"})
        for clause in clauses
    ]
    return "; ".join(f"{each.clause} {behaviours(each)}" for each in answered if each.counts)


def accuracy_in_brief(measured: Sequence[Accuracy]) -> str:
    """Return the share of results that are correctly rounded, and the worst of the others."""
    right = [each.dtype for each in measured if each.correctly_rounded == 1]
    said = [
        f"{each.dtype} {100 * each.correctly_rounded:.2f} % correctly rounded, worst "
        f"{each.worst_ulp:.3g} ulp, {each.worst_of_bound:.3g} of the bound"
        for each in measured
        if each.correctly_rounded != 1
    ]
    if right:
        said.append(f"{listed(right)} {'all ' if said else ''}correctly rounded")
    return "; ".join(said)


class Naming(NamedTuple):
    """What is said of vectors, before their ids."""

    text: str
    ids: tuple[str, ...]


def repeats(repeated: Repeatability) -> tuple[list[Naming], str]:
    """Say which second calls gave other bits, and (aside) that the others gave the same."""
    differing = len(repeated.differing)
    alike = repeated.sampled - differing
    aside = f"{words.count(alike, 'vector')} called again gave the same bits" if alike > 0 else ""
    if not differing:
        return [], aside
    said = f"NOT REPEATABLE: {differing:,} of {words.count(repeated.sampled, 'vector')} called "
    said += "again gave other bits"
    parts = (
        Naming(said, repeated.differing),
        Naming("the second result is wrong", repeated.failing),
        Naming("the second result is right", repeated.passing),
    )
    return [part for part in parts if part.ids], aside


def variations(varied: Sequence[VariationReport]) -> tuple[list[Naming], list[str]]:
    """Say in which variations of a call vectors fail, and (aside) what came of the others."""
    said: list[Naming] = []
    aside: list[str] = []
    for each in varied:
        of = f"of {words.count(each.called, 'vector')} called"
        how = f"when called {how_called(each.variation)}"
        if each.failing:
            wrong = f"{len(each.failing):,} {of} ({each.variation})"
            said.append(Naming(f"WRONG {how}, and right otherwise: {wrong}", each.failing))
        if each.refused:
            why = f": {cut(each.refusal, _REASON)}" if each.refusal else ""
            aside.append(f"{each.variation} was refused by {each.refused:,} {of}{why}")
        if each.differing:
            aside.append(
                f"{each.variation} gave other bits, which conform, in {each.differing:,} {of}"
            )
    alike = sum(v.called - len(v.failing) - v.refused - v.differing for v in varied)
    if alike > 0:
        ways = words.count(len(varied), "other way")
        aside.append(f"{words.count(alike, 'call')} in {ways} gave the same bits")
    return said, aside


def unstable(report: Report) -> str:
    """Say that answers which fail are not the same twice; empty if they are."""
    differing = {*report.repeated.differing} if report.repeated else set()
    wavering = (
        result.verdict in report.failing for result in report.results if result.id in differing
    )
    number = sum(wavering) if differing else 0
    failures = words.count(number, "failure")
    return f"UNSTABLE: another answer when called again in {failures}" if number else ""


def met(expectations: Expectations) -> str:
    """Say which failures an expected-failure file announced."""
    inconsistent = (f"inconsistent {clause}" for clause in expectations.inconsistent)
    met = ", ".join(filter(None, [words.tally(expectations.met), *inconsistent]))
    return f"failed as {expectations.path} says: {met or 'none'}"


def idle_causes(report: Report) -> str:
    """Say which causes of an expected-failure file explain none of a part of the vectors.

    Empty of a whole run, in which such a cause is an error unless its line allows it.
    """
    causes = report.expectations.causes if report.expectations else {}
    idle = [cause for cause, number in causes.items() if not number]
    if not idle or report.is_whole:
        return ""
    several = len(idle) > 1
    lines, they, explain = ("lines", "they", "explain") if several else ("line", "it", "explains")
    return (
        f"nothing failed here by cause {listed(idle)}: remove the {lines} if {they} {explain} "
        "nothing in a run of all vectors either"
    )


def unmet(expectations: Expectations) -> list[Naming]:
    """Say what an expected-failure file announces and did not happen."""
    said = []
    if expectations.changed:
        count = words.count(len(expectations.changed), "failure")
        said.append(
            Naming(
                f"{count} announced with another answer (where answers vary, leave out answer=)",
                expectations.changed,
            )
        )
    if expectations.passed:
        count = words.count(len(expectations.passed), "vector")
        said.append(Naming(f"{count} passed unexpectedly", expectations.passed))
    if expectations.unmatched:
        said.append(matching_nothing(expectations.unmatched))
    return said


def skips(skips: Skips) -> list[str]:
    """Say why vectors were skipped: the commonest reasons first."""
    reasons = Counter(skipped.reason for skipped in skips.vectors)
    ordered = reasons.most_common()
    said = [f"{words.count(number, 'vector')}: {reason}" for reason, number in ordered[:_REASONS]]
    rest = sum(number for _, number in ordered[_REASONS:])
    return [*said, f"{words.count(rest, 'more vector')} for other reasons"] if rest else said


def matching_nothing(lines: tuple[str, ...]) -> Naming:
    """Say that lines of a file match no vector."""
    verb = "matches" if len(lines) == 1 else "match"
    return Naming(f"{words.count(len(lines), 'line')} that {verb} nothing", lines)


def floors(report: Report) -> Iterator[tuple[str, str, bool | None]]:
    """Yield each floor under what is supported, what became of it, and whether it was kept.

    The last is None where that is not judged yet.
    """
    support = report.support
    if support is None:
        return
    for floor in support.floors:
        supported, vectors = report.supported(floor.operators)
        said = f"{supported:,} of {words.count(vectors, 'vector')} supported"
        needed = floor.needed(vectors)
        if report.floors_judged:
            more = f", {needed:,} needed" if supported < needed else ""
            yield f"minimum supported {floor}", f"{said}{more}", supported >= needed
        else:
            why = "merge judges shards" if report.complete else "the run is incomplete"
            yield f"minimum supported {floor}", f"not judged, since {why}; {said} here", None
    if support.baseline:
        lost = len(support.lost)
        others = support.conforming - support.kept - lost
        said = f"{support.kept:,} of {words.count(support.conforming, 'vector')} that conform there"
        said += " are supported" + (f", {others:,} were not run" if others > 0 else "")
        said += f", {lost:,} are not any more" if lost else ""
        yield f"baseline {support.baseline}", said, not lost
    if support.strict:
        supported, vectors = report.supported()
        said = f"{words.count(vectors - supported, 'vector')} unsupported or skipped"
        yield "everything is supported", said, supported == vectors


def unsupported(report: Report, ids: Collection[str] | None = None) -> list[str]:
    """Say why vectors are unsupported, of all or of some ids: the commonest reasons first."""
    reasons = Counter(
        (result.operator, without_unprintable(result.detail))
        for result in report.results
        if result.verdict == "unsupported" and (ids is None or result.id in ids)
    )
    ordered = reasons.most_common()
    said = [
        f"{words.count(number, f'{operator} vector')}: {cut(detail, _REASON) or 'without a reason'}"
        for (operator, detail), number in ordered[:_REASONS]
    ]
    rest = sum(number for _, number in ordered[_REASONS:])
    return [*said, f"{words.count(rest, 'more vector')} for other reasons"] if rest else said


def named(ids: tuple[str, ...]) -> str:
    """Return the first few ids, and how many more there are."""
    return ", ".join(ids[:IDS]) + more(ids)


def more(ids: tuple[str, ...]) -> str:
    """Say how many ids there are beside the first few; empty if there are no others."""
    rest = len(ids) - IDS
    return f" and {rest:,} more" if rest > 0 else ""


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield names and texts: attributes, data, source, clauses, and what was wrong."""
    attributes = [attribute_in_words(name, value) for name, value in result.attributes.items()]
    if attributes:
        yield "attributes", "  ".join(attributes)
    own = own_inputs(result.operator, result.shapes)
    data = [f"{result.dtype} {words.shape(own[0])}"] if own else []
    yield "data", ", ".join(filter(None, [*data, result.pattern]))
    if result.source:
        origin = words.provenance(result.operator, result.provenance, result.source)
        yield "source", f"{result.source} ({origin})"
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
        return f"{place} is {exact(got, dtype)}, expected {exact(expected, dtype)}"

    if worst.first_index not in {(), worst.index}:
        yield "first", element(worst.first_index, worst.first_got, worst.first_expected)
    yield "worst", element(worst.index, worst.got, worst.expected)
    if isfinite(worst.error):
        ulps = f" ({worst.ulp:.3g} ulp)" if dtype in FLOATS and isfinite(worst.ulp) else ""
        yield "error", f"{worst.error:.3g}{ulps}, allowed {worst.bound:.3g}"
