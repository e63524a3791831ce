"""The report of a check: what a backend got wrong, why, and how it reads the documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil, isfinite, log10
from typing import Literal

from conformance.api.failure_groups import FailureGroup, Link, failure_groups, groups_of_cause
from conformance.operators import CLAUSES
from conformance.record.report import (
    Accuracy,
    Bias,
    Diagnosis,
    Repeatability,
    Report,
    Result,
    Verdict,
)
from conformance.report import document as doc
from conformance.report import phrases, shared_blocks
from conformance.report import values as words
from conformance.report.concentration import Concentration, concentrations
from conformance.report.next_steps import commands
from conformance.report.operator_rows import OperatorRow, operator_rows, outcome
from conformance.text import listed

Repro = Callable[[Result], str]
"""Makes a script that shows a failure again, "" where it cannot."""

_VECTORS = doc.Section("All vectors", (doc.Figure("vectors"),), "vectors", "Vectors", on="html")
_CONCENTRATIONS = 6
_LOST = 3
_OTHERS = 12
_JUMPS = 8
_LEAST_ULP = 0.1
_NOT_ANSWERED = ("unsupported", "not run")


def describe(
    report: Report, *, repro: Repro | None = None, with_tables: bool = False
) -> doc.Document:
    """Return what a report says; `repro` makes the scripts of its failures.

    `with_tables` adds where failures concentrate, which only HTML shows.
    """
    groups = failure_groups(report)
    causes = [diagnosis.name for diagnosis in report.diagnoses]
    cut_short = phrases.cut_short(report)
    said = words.count(len(report.results), "vector")
    alert = f"{cut_short}. What follows holds only for the {said} that were run."
    unstable = phrases.unstable(report)
    doubts = [alert] if cut_short else []
    if unstable:
        doubts.append(f"{unstable}. Verdicts, groups and causes may be others in the next run.")
    repeats = _repeats(report)
    return doc.Document(
        title="Pooling conformance",
        subject=("backend", report.backend),
        alerts=tuple(doubts),
        conclusion=phrases.verdict(report),
        tone="good" if report.ok else "bad",
        # What went wrong and why, then what was run, then what a reader may want to know.
        sections=(
            repeats if unstable else None,
            _causes(report, groups),
            doc.Section("", _counts(report, every=with_tables), name="counts", on="full"),
            doc.Section("", _counts(report, brief=True), on="brief"),
            doc.Section("", tuple(_left_out(report)), name="left-out", on="full"),
            doc.Section("", tuple(_notes(report)), name="notes"),
            shared_blocks.skipped(report.skips),
            _failures(groups, causes, repro),
            _extensions(report),
            _concentrations(report) if with_tables else None,
            _readings(report),
            _undefined(report),
            _accuracy(report.accuracy),
            _bias(report.bias),
            None if unstable else repeats,
            _expectations(report),
            _floors(report),
            _slowest(report),
            doc.Section("", tuple(_run(report)), name="run", on="full"),
            doc.Section("", (doc.Facts(tuple(_in_brief(report))),), on="brief"),
            _next(report, groups),
            _VECTORS,
        ),
        footer=f"Made by pooling-conformance {report.versions.get('conformance', '')}".strip(),
    )


def causes(report: Report) -> doc.Document:
    """Return the likely causes of failures alone."""
    return doc.Document("Likely causes", (_causes(report, failure_groups(report)),))


def _counts(report: Report, *, every: bool = False, brief: bool = False) -> tuple[doc.Block, ...]:
    """Return rows of verdicts per operator, and one of all where there are several.

    With `every` operator and gradient in a row of its own, too, for those who look for one. In
    `brief`, operators of which nothing was answered have no row unless all are such.
    """
    totals: Counter[str] = Counter()  # an operator may be in several files
    for used in report.vectors:
        totals[used.operator] += used.total
    names = dict.fromkeys([*totals, *report.counts_by_operator])
    counts = {name: Counter(report.counts_by_operator.get(name, {})) for name in names}
    skipped = Counter(each.operator for each in report.skipped)
    missing = {name: max(0, totals[name] - counts[name].total() - skipped[name]) for name in names}
    not_called = {"skipped": skipped} if skipped else {}
    not_called["not run"] = Counter(missing)
    outcomes = {name: outcome(counts[name]) for name in names}
    if brief:
        answered = {name: what for name, what in outcomes.items() if what not in _NOT_ANSWERED}
        outcomes = answered or outcomes
    rows = operator_rows(outcomes)
    apart = [OperatorRow(name, (name,)) for name in names]
    table = _table_of_counts(report, rows, counts, not_called)
    if not every or len(rows) == len(apart):
        return (table,)
    whole = _table_of_counts(report, apart, counts, not_called)
    return table, doc.Detail((whole,), title="Each operator and gradient")


def _table_of_counts(
    report: Report,
    operators: Sequence[OperatorRow],
    counts: Mapping[str, Counter[Verdict]],
    not_called: Mapping[str, Counter[str]],
) -> doc.Table:
    """Return a row of numbers for some operators; `not_called` are the last columns, by title."""
    shown = shared_blocks.verdicts([verdict for verdict, n in report.counts.items() if n])
    columns: doc.Columns = (
        "operator",
        doc.Column("run"),
        *(shared_blocks.verdict_column(verdict, report.failing) for verdict in shown),
        *(doc.Column(name, short=name.replace(" ", "\n"), tone="quiet") for name in not_called),
        doc.Column("shares", drawn="bar"),
    )

    def row(name: str, counts: Counter[Verdict], others: Iterable[int]) -> doc.Row:
        parts = shared_blocks.shares(counts, shown, report.failing)
        texts = (f"{number:,}" for number in (*(counts[verdict] for verdict in shown), *others))
        return name, f"{counts.total():,}", *texts, doc.Cell(parts=parts)

    rows = [
        row(
            of.title,
            sum((counts[name] for name in of.operators), Counter[Verdict]()),
            [sum(of_kind[name] for name in of.operators) for of_kind in not_called.values()],
        )
        for of in operators
    ]
    several = len(operators) != 1
    if several:
        names = [name for of in operators for name in of.operators]
        others = [sum(of_kind[name] for name in names) for of_kind in not_called.values()]
        rows.append(row("all", sum((counts[name] for name in names), Counter()), others))
    return doc.table(columns, rows, name="counts", total=several)


def _run(report: Report) -> Iterator[doc.Block]:
    """Yield what was run and how long it took; where there is room, with what and when."""
    rows: list[tuple[str, doc.Text]] = [
        ("tier", phrases.selection(report)),
        ("time", phrases.duration(report)),
    ]
    if report.required:
        rows.append(("required", doc.code(phrases.required(report))))
    yield doc.Facts(tuple(rows))
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    more = [("started", report.started), ("versions", versions)]
    yield doc.Detail((doc.Facts(tuple((name, value) for name, value in more if value)),))
    columns = ("operator", doc.Column("selected"), doc.Column("of"), "file", "digest")
    files = (
        (
            used.operator,
            f"{used.selected:,}",
            f"{used.total:,}",
            used.path or "in memory",
            doc.code(used.digest or "none"),
        )
        for used in report.vectors
    )
    yield doc.Detail((doc.table(columns, files, name="list"),), title="Vectors and their digests")


def _in_brief(report: Report) -> Iterator[tuple[str, doc.Text]]:
    """Yield what a terminal says of sections that it leaves out."""
    differing, alike = phrases.repeats(report.repeated or Repeatability(0))
    failing, others = phrases.variations(report.variations)
    said: dict[str, doc.Text] = {
        "not run": phrases.left_out(report),
        "unsupported": phrases.unsupported_in_brief(report),
        "readings": "" if _is_remarkable(report) else phrases.readings_in_brief(report.readings),
        "sums": "" if _is_remarkable(report) else phrases.element_types(report)[1],
        "undefined": phrases.undefined_in_brief(report.undefined),
        "accuracy": phrases.accuracy_in_brief(report.accuracy),
        "repeated": "" if differing or failing else "; ".join(filter(None, [alike, *others])),
        "required": doc.code(phrases.required(report)),
        "time": phrases.duration(report),
    }
    yield from ((name, text) for name, text in said.items() if doc.plain(text))
    yield "more", doc.code("--verbose")


def _left_out(report: Report) -> Iterator[doc.Block]:
    """Yield what was not judged and why, and other notes."""
    deselected = phrases.left_out(report)
    if deselected:
        yield doc.Paragraph(f"{deselected}.")
    unsupported = report.counts["unsupported"]
    if unsupported:
        number = words.count(unsupported, "vector")
        strict = report.support is not None and report.support.strict
        counted = ", though none may be" if strict else ": neither a pass nor a failure"
        yield doc.Paragraph(f"{number} not supported by the backend{counted}.")
        if names := phrases.without_support(report):
            yield doc.Paragraph(f"{names}.")


def _notes(report: Report) -> Iterator[doc.Block]:
    for note in phrases.notes(report):
        yield doc.Paragraph(doc.Span(f"{note}.", "warn"))


def _causes(report: Report, groups: Sequence[FailureGroup]) -> doc.Section | None:
    if not report.diagnoses:
        return None
    lead = (
        "Each is a wrong behaviour that returns what the backend returned, when it is put into a "
        "correct implementation, a rule that failures follow, or what earlier calls leave behind."
    )
    if failures := report.diagnoses[0].sample_of:
        lead += f" Of {failures:,} failures, {report.diagnoses[0].total:,} were looked at."
    items = [
        shared_blocks.cause(
            diagnosis,
            example=_example(number, diagnosis, groups),
            name=f"cause-{number}",
            jumps=(
                *_jumps("in ", "group", groups_of_cause(number, groups)[:_JUMPS]),
                doc.Span("list its failures", link=f"#filter=cause:{number}"),
            ),
        )
        for number, diagnosis in enumerate(report.diagnoses, 1)
    ]
    return doc.Section("Likely causes", (doc.listing(items),), "causes", "Causes", lead)


def _example(number: int, diagnosis: Diagnosis, groups: Sequence[FailureGroup]) -> str:
    """Return the id of the failure with the least data in the first group of a cause."""
    of_cause = groups_of_cause(number, groups)
    ids = {*diagnosis.vectors}
    results = groups[of_cause[0].number - 1].results if of_cause else ()
    return next((result.id for result in results if result.id in ids), "")


def _jumps(lead: str, kind: str, links: Sequence[Link]) -> Iterator[str | doc.Span]:
    """Yield jumps to groups or causes, each with the number of failures that it shares."""
    for place, link in enumerate(links):
        yield ", " if place else lead
        yield doc.Span(f"{kind} {link.number}", link=f"#{kind}-{link.number}")
        yield doc.Span(f" ({link.count:,})", "quiet")
    if links:
        yield " "


def _failures(
    groups: Sequence[FailureGroup], causes: Sequence[str], repro: Repro | None
) -> doc.Section | None:
    """Return the groups of failures; `causes` are named as the list of causes does."""
    if not groups:
        return None
    counts = tuple(len(group.results) for group in groups)
    parts = doc.Series(
        counts, lambda place: _group(groups[place], causes, repro), "vector", "group", "--max-shown"
    )
    return doc.Section(
        "Failures",
        (doc.Figure("failures"), parts),
        name="failures",
        short="Failures",
        intro=f"{words.count(sum(counts), 'failing vector')} in "
        f"{words.count(len(counts), 'group')}: failures of the same cause, with the same message, "
        "or that look alike, in the order of the causes, then the largest first. "
        "The example of a group is the one with the least data.",
    )


def _group(group: FailureGroup, causes: Sequence[str], repro: Repro | None) -> doc.Part:
    number = len(group.results)
    shared: doc.Text = ""
    about: list[doc.Block] = []
    if group.shared and number > 1:
        shared = ("all with ", *shared_blocks.codes(group.shared, last=" and "))
        alike = f"Of the {group.alike:,} such vectors that were run, {number:,} fail like this."
        about.append(doc.Paragraph(doc.Span(alike, "quiet")))
    if group.causes:
        about.append(doc.Paragraph(tuple(_likely(group, causes))))
    script = repro(group.example) if repro is not None else ""
    blocks = list(shared_blocks.failure(group.example, script))
    others = group.results[1 : 1 + _OTHERS]
    if others:
        ids = doc.listing(doc.code(other.id) for other in others)
        blocks.append(doc.Detail((doc.Paragraph(doc.Span("Others of the group", "quiet")), ids)))
    return doc.Part(group.title, tuple(blocks), shared, tuple(about))


def _next(report: Report, groups: Sequence[FailureGroup]) -> doc.Section | None:
    lines = commands(report, groups)
    if not lines:
        return None
    code = doc.Code("\n".join(lines), "sh")
    return doc.Section("What to try next", (code,), "next", "Next")


def _likely(group: FailureGroup, causes: Sequence[str]) -> Iterator[str | doc.Span]:
    """Yield the names of the causes of a group, with the number of failures if not all."""
    for place, link in enumerate(group.causes):
        yield ", " if place else "Likely cause: "
        yield doc.Span(causes[link.number - 1], link=f"#cause-{link.number}")
        if link.count < len(group.results):
            yield doc.Span(f" ({link.count:,})", "quiet")


def _extensions(report: Report) -> doc.Section | None:
    """Return what the documents exclude and the backend answers, each with its vectors."""
    if not report.counts["accepted-invalid"]:
        return None
    extended = Counter(
        (result.operator, result.rule)
        for result in report.results
        if result.verdict == "accepted-invalid"
    )
    meaning = (
        "Allowed here: neither a pass nor a failure."
        if report.allow_extensions
        else "Each is a failure; --allow-extensions counts them apart."
    )
    return doc.Section(
        "Extensions",
        (shared_blocks.extensions(extended),),
        name="extensions",
        short="Extensions",
        intro="The documents exclude these cases, and the backend answers them as if they did "
        f"not. {meaning}",
    )


def _concentrations(report: Report) -> doc.Section | None:
    tables = [
        _concentration(attribute) for attribute in concentrations(report.results, report.failing)
    ]
    if not tables:
        return None
    shown, rest = tuple(tables[:_CONCENTRATIONS]), tuple(tables[_CONCENTRATIONS:])
    blocks = [doc.Detail(shown, name="tables")]
    if rest:
        title = words.count(len(rest), "more attribute")
        blocks.append(doc.Detail(rest, title=title, name="tables"))
    return doc.Section(
        "Where failures concentrate",
        tuple(blocks),
        name="concentration",
        short="Concentration",
        intro="Failing vectors of those run, for each value of an attribute. The attribute that "
        "says most about whether a vector fails comes first.",
        on="html",
    )


def _concentration(attribute: Concentration) -> doc.Table:
    columns = (
        "value",
        doc.Column("failing"),
        doc.Column("of run"),
        doc.Column("share", drawn="gauge"),
    )
    rows: list[doc.Row] = []
    for row in attribute.rows:
        tone: doc.Tone = "" if row.failing else "quiet"
        percent = 100 * row.share
        texts = (row.value, f"{row.failing:,}", f"{row.run:,}", f"{percent:.1f} %")
        *counts, last = (doc.Span(text, tone) for text in texts)
        rows.append((*counts, doc.Cell(last, at=percent)))
    if attribute.more:
        more = f"{words.count(attribute.more, 'more value')} with fewer failures"
        rows.append((doc.Span(more, "quiet"),))
    return doc.table(columns, rows, name="heat", title=attribute.attribute)


def _is_remarkable(report: Report) -> bool:
    """Say whether the readings followed are inconsistent, or worth a warning."""
    return bool(report.inconsistent or phrases.element_types(report)[0])


def _readings(report: Report) -> doc.Section:
    warning, remark = phrases.element_types(report)
    blocks: list[doc.Block] = [doc.Paragraph(doc.Span(warning, "warn"))] if warning else []
    blocks += [doc.Paragraph(doc.Span(remark, "quiet"))] if remark else []
    return doc.Section(
        "Readings followed",
        (*blocks, shared_blocks.readings(report.readings, report.required)),
        name="readings",
        short="Readings",
        intro="Where a document is silent or contradicts itself, every defensible reading "
        "conforms. This is how the backend reads them.",
        on="all" if _is_remarkable(report) else "full",
    )


def _undefined(report: Report) -> doc.Section:
    entries = tuple(
        doc.Entry(
            clause.clause,
            doc.Span(""),
            phrases.behaviours(clause),
            question=CLAUSES[clause.clause].says if clause.clause in CLAUSES else "",
        )
        for clause in report.undefined
    )
    return doc.Section(
        "Undefined behaviour",
        (doc.Entries(("clause", "", "what the backend did"), entries),),
        name="undefined",
        intro="Anything but a crash conforms. This is what the backend did.",
        on="full",
    )


def _accuracy(accuracy: Sequence[Accuracy]) -> doc.Section:
    worst = [measured.worst_ulp for measured in accuracy if isfinite(measured.worst_ulp)]
    low, high = log10(_LEAST_ULP), max(1, ceil(log10(max([*worst, 1.0])) + 1e-9))

    def place(ulp: float) -> float:
        """Return where a number of ulps lies on a logarithmic scale that holds them all."""
        if not isfinite(ulp):
            return 100.0
        return 100 * (log10(max(ulp, _LEAST_ULP)) - low) / (high - low)

    step = max(1, ceil((high + 1) / 4))
    ticks = tuple(
        (place(10.0**power), f"{10**power:,}" if power < 4 else f"1e{power}")
        for power in range(0, high + 1, step)
    )
    columns = (
        "dtype",
        doc.Column("elements"),
        doc.Column("correctly rounded", drawn="gauge", ticks=((0, "0"), (100, "100 %"))),
        doc.Column("worst ulp", drawn="dot", ticks=ticks),
        doc.Column("worst / bound", drawn="gauge", ticks=((0, "0"), (100, "1"))),
    )

    def percent(share: float) -> doc.Cell:
        return doc.Cell(f"{100 * share:.2f} %", at=100 * share)

    rows = (
        (
            measured.dtype,
            f"{measured.elements:,}",
            percent(measured.correctly_rounded),
            doc.Cell(f"{measured.worst_ulp:.3g}", at=place(measured.worst_ulp)),
            doc.Cell(f"{measured.worst_of_bound:.3g}", at=100 * min(1.0, measured.worst_of_bound)),
        )
        for measured in accuracy
    )
    return doc.Section(
        "Accuracy of results that conform",
        (doc.table(columns, rows, name="profile"),),
        name="accuracy",
        short="Accuracy",
        intro="Of averages, norms and gradients; it changes no verdict. The bound holds for every "
        "sound order of summation; correct rounding is within half a ulp. Where addends cancel, an "
        "ulp is that of their magnitudes.",
        on="full",
    )


def _bias(rows: Sequence[Bias]) -> doc.Section | None:
    """Return to which side results lie; in full where there is room, else where that is a bias."""
    if not rows:
        return None
    said = [phrases.bias(row) for row in rows if row.directions]
    columns = (
        "operator",
        "dtype",
        doc.Column("not correctly rounded"),
        doc.Column("mean error"),
        doc.Column("away from zero"),
        "biased",
    )
    table = doc.table(
        columns,
        (
            (
                row.operator,
                row.dtype,
                f"{row.off:,}",
                f"{row.mean_ulp:+.3g} ulp",
                f"{row.mean_outward_ulp:+.3g} ulp",
                doc.Span(listed(row.directions), "warn"),
            )
            for row in rows
        ),
        name="bias",
    )
    return doc.Section(
        "Bias of results that conform",
        (*(doc.Paragraph(doc.Span(f"{each}.", "warn")) for each in said), doc.Detail((table,))),
        name="bias",
        short="Bias",
        intro="Mean signed errors of results that are not correctly rounded; they change no "
        "verdict. Biased: rounding to nearest, in whatever order, does not do this.",
        on="all" if said else "html",
    )


def _slowest(report: Report) -> doc.Section | None:
    if not report.slowest:
        return None
    columns = ("vector", doc.Column("seconds"))
    rows = ((each.id, f"{each.seconds:.2f}") for each in report.slowest)
    return doc.Section(
        "Slowest vectors",
        (doc.table(columns, rows, name="slowest"),),
        name="slowest",
        short="Slowest",
        intro=f"Of {report.backend_seconds:.1f} s in the backend.",
        on="full",
    )


def _repeats(report: Report) -> doc.Section | None:
    repeated = report.repeated or Repeatability(0)
    if not (repeated.sampled or report.variations):
        return None
    differing, alike = phrases.repeats(repeated)
    blocks: list[doc.Block] = [doc.Paragraph(shared_blocks.naming(*differing))] if differing else []
    failing, others = phrases.variations(report.variations)
    blocks += [doc.Paragraph(shared_blocks.naming(each)) for each in failing]
    asides = [f"{aside}." for aside in (alike, *others) if aside]
    blocks += [doc.Paragraph(doc.Span(aside, "quiet")) for aside in asides]
    if differing:
        blocks.append(shared_blocks.id_list(repeated.differing))
    on: Literal["all", "full"] = "all" if differing or failing else "full"
    return doc.Section("Repeated calls", tuple(blocks), name="repeated", on=on)


def _expectations(report: Report) -> doc.Section | None:
    met = report.expectations
    if met is None:
        return None
    blocks: list[doc.Block] = [doc.Paragraph(f"{phrases.met(met)}.")]
    if idle := phrases.idle_causes(report):
        blocks.append(doc.Paragraph(doc.Span(f"{idle}.", "quiet")))
    blocks += [doc.Paragraph(shared_blocks.naming(said)) for said in phrases.unmet(met)]
    blocks += [
        shared_blocks.id_list(ids) for ids in (met.changed, met.passed, met.unmatched) if ids
    ]
    return doc.Section("Expected failures", tuple(blocks), name="expectations")


def _floors(report: Report) -> doc.Section | None:
    support = report.support
    if support is None:
        return None
    blocks: list[doc.Block] = []
    for floor, said, kept in phrases.floors(report):
        tone: doc.Tone = "bad" if kept is False else ""
        blocks.append(doc.Paragraph(doc.Span(f"{floor}: {said}.", tone)))
    if report.missed_floors:
        # Only what is lost says what has to come back, where there is a baseline to tell.
        ids = support.lost or None
        reasons = phrases.unsupported(report, ids and frozenset(ids))
        blocks.append(doc.listing(reasons))
        blocks += [doc.Paragraph(doc.code(lost), copied=True) for lost in support.lost[:_LOST]]
        blocks.append(shared_blocks.id_list(ids or _unsupported_ids(report)))
    return doc.Section("Minimum supported", tuple(blocks), name="floors")


def _unsupported_ids(report: Report) -> tuple[str, ...]:
    return tuple(result.id for result in report.results if result.verdict == "unsupported")
