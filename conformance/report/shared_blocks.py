"""Blocks that several reports have: facts of a failure, a likely cause, the readings followed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from conformance.operators import CLAUSES
from conformance.record.report import (
    FAILURES,
    VERDICTS,
    ClauseReport,
    Diagnosis,
    Result,
    Skips,
    Verdict,
)
from conformance.report import document as doc
from conformance.report import phrases

_THREADS = 2
_OPERATORS = 4
_IDS = 50
_FEW = 0.01
"""Share of failures below which a corner is wrong, and not the operator."""
_USUAL: tuple[Verdict, ...] = ("conforms", "mismatch", "unsupported")
_VERDICT_TONES: dict[Verdict, doc.Tone] = {"conforms": "good", "unsupported": "warn"}
_SHORT = {
    "conforms": "con-\nforms",
    "mismatch": "mis-\nmatch",
    "accepted-invalid": "invalid\naccept.",
    "unsupported": "unsup-\nported",
}
_TONES: dict[str, doc.Tone] = {"inconsistent": "bad", "split": "warn", "followed": "good"}


def verdicts(given: Container[Verdict]) -> list[Verdict]:
    """Return the verdicts worth a column: the usual ones and those that were given."""
    return [verdict for verdict in VERDICTS if verdict in _USUAL or verdict in given]


def verdict_tone(verdict: Verdict, failing: Container[Verdict] = FAILURES) -> doc.Tone:
    """Return how a verdict is meant, given those that are failures."""
    return _VERDICT_TONES.get(verdict, "bad" if verdict in failing else "warn")


def verdict_column(verdict: Verdict, failing: Container[Verdict] = FAILURES) -> doc.Column:
    """Return a column of numbers of vectors that got a verdict."""
    short = _SHORT.get(verdict, verdict.replace("-", "\n"))
    return doc.Column(verdict, short=short, tone=verdict_tone(verdict, failing))


def failing_tone(failed: int, supported: int) -> doc.Tone:
    """Return how failures of some vectors that are supported are meant: few are no alarm."""
    if not failed:
        return "good"
    return "warn" if failed < _FEW * supported else "bad"


def shares(
    counts: Mapping[Verdict, int],
    shown: Iterable[Verdict],
    failing: Container[Verdict] = FAILURES,
) -> tuple[tuple[doc.Tone, float], ...]:
    """Return the parts of a bar: verdicts in percent of the vectors that were run."""
    total = sum(counts.values()) or 1
    return tuple(
        (verdict_tone(verdict, failing), 100 * counts.get(verdict, 0) / total)
        for verdict in shown
        if counts.get(verdict, 0)
    )


def extensions(extended: Mapping[tuple[str, str], int]) -> doc.Table:
    """Return how many vectors were accepted that break a rule, given by operator and rule."""
    by_rule: dict[str, dict[str, int]] = {}
    for (operator, rule), count in extended.items():
        by_rule.setdefault(rule, {})[operator] = count
    rows = ((rule, ", ".join(of), f"{sum(of.values()):,}") for rule, of in by_rule.items())
    return doc.table(("rule", "operators", doc.Column("vectors")), rows, name="extensions")


def failure(result: Result, script: str = "") -> tuple[doc.Block, ...]:
    """Return the id and the facts of a failure, and the script that shows it again."""
    rows: list[tuple[str, doc.Text | doc.Code]] = []
    for name, value in phrases.facts(result):
        if name == "printed":
            rows.append((name, doc.Code(value)))
        else:
            rows.append((name, doc.Span(value, "bad" if name == "what" else "", code=True)))
    again = (doc.Code(script, "python", "to reproduce"),) if script else ()
    return (
        doc.Paragraph(doc.Span(result.id, "strong", code=True), copied=True),
        doc.Facts(tuple(rows)),
        *again,
    )


def _operators(diagnosis: Diagnosis) -> list[str | doc.Span]:
    """Return the operators whose failures a cause explains, those of most failures by name."""
    names = [*diagnosis.operators]
    more = len(names) - _OPERATORS
    if more <= 1:
        return codes(names, ", ", " and ")
    return [*codes(names[:_OPERATORS]), f" and {more} more operators"]


def cause(
    diagnosis: Diagnosis, *, example: str = "", name: str = "", jumps: doc.Text = ""
) -> doc.Item:
    """Return a likely cause: its faults, proof, alternatives and public reports.

    `example` is the id of a failure that it explains. `name` is its place in a page, `jumps` lead
    to other places there.
    """
    asides: list[doc.Item] = []
    if diagnosis.faults:
        asides.append(_aside("fault ", *codes(diagnosis.faults, " + ")))
    if diagnosis.is_known and diagnosis.operators:
        asides.append(_aside("in ", *_operators(diagnosis)))
    if diagnosis.proof is not None:
        asides.append(_aside(str(diagnosis.proof)))
    if example:
        asides.append(replace(_aside("example ", doc.code(example)), copied=True))
    if diagnosis.smallest:
        asides.append(
            replace(_aside("minimal reproducer ", doc.code(diagnosis.smallest)), copied=True)
        )
    if diagnosis.alternatives:
        asides.append(_aside("reproduced as well by ", *codes(diagnosis.alternatives, ", ")))
    if diagnosis.contradicted:
        contradicted = f"{diagnosis.contradicted:,} of {diagnosis.conforming:,}"
        asides.append(_aside(f"but {contradicted} conforming vectors would fail with this fault"))
    asides += [
        _aside("a public report of such a fault: ", doc.Span(address, link=address))
        for address in diagnosis.threads[:_THREADS]
    ]
    if jumps:
        asides.append(doc.Item(jumps, page_only=True))
    return doc.Item(
        doc.Span(f"{diagnosis.summary}.", "" if diagnosis.is_known else "warn"),
        tuple(asides),
        diagnosis.explained,
        diagnosis.total,
        name,
    )


def _aside(*pieces: str | doc.Span) -> doc.Item:
    return doc.Item(tuple(doc.Span(p, "quiet") if isinstance(p, str) else p for p in pieces))


def codes(names: Sequence[str], separator: str = ", ", last: str = "") -> list[str | doc.Span]:
    """Return names with a text between them, another before the last if it is given."""
    pieces: list[str | doc.Span] = []
    for place, name in enumerate(names, 1):
        pieces += [last if last and place == len(names) else separator, doc.code(name)]
    return pieces[1:]


def readings(clauses: Iterable[ClauseReport], required: Mapping[str, str]) -> doc.Entries:
    """Return which reading of each clause a backend follows, and on what evidence."""
    return doc.Entries(
        ("clause", "reading", "evidence"),
        tuple(_reading(c, "required" if c.clause in required else "") for c in clauses),
    )


def _reading(report: ClauseReport, tag: str) -> doc.Entry:
    mark, details, evidence = phrases.reading(report)
    clause = CLAUSES.get(report.clause)
    followed = {report.followed, *report.possible, *report.values.values()}
    shown = [
        (reading.name, reading.summary)
        for reading in (clause.readings if clause else ())
        if reading.name in followed or report.status in {"either", "inconsistent"}
    ]
    return doc.Entry(
        report.clause,
        doc.Span(mark, _TONES.get(report.status, "quiet")),
        "; ".join(filter(None, [details, evidence])),
        tag,
        tuple(shown),
        f"The document: {clause.says}" if clause else "",
    )


def skipped(skips: Skips | None) -> doc.Section | None:
    """Return the vectors that a file says are not to be called, with its reasons."""
    if skips is None:
        return None
    blocks: list[doc.Block] = [doc.listing(phrases.skips(skips))] if skips.vectors else []
    if skips.unmatched:
        blocks.append(doc.Paragraph(naming(phrases.matching_nothing(skips.unmatched))))
    ids = tuple(each.id for each in skips.vectors)
    blocks += [id_list(some) for some in (ids, skips.unmatched) if some]
    intro = f"Not called, as {skips.path} says: neither a pass nor supported."
    return doc.Section("Skipped", tuple(blocks), name="skips", intro=intro)


def naming(*said: phrases.Naming) -> tuple[doc.Span, ...]:
    """Return bad things that are said of vectors, as one sentence in which the ids stand out."""
    pieces: list[doc.Span] = []
    before = ""
    for text, ids in said:
        pieces.append(doc.Span(f"{before}{text}: ", "bad"))
        pieces += [
            doc.Span(piece, "bad") if isinstance(piece, str) else piece
            for piece in codes(ids[: phrases.IDS], ", ")
        ]
        before = f"{phrases.more(ids)}; "
    return (*pieces, doc.Span(f"{phrases.more(said[-1].ids)}.", "bad"))


def id_list(ids: Sequence[str]) -> doc.Detail:
    """Return ids that are seen where somebody opens them."""
    items: list[doc.Text] = [doc.code(vector_id) for vector_id in ids[:_IDS]]
    if len(ids) > _IDS:
        items.append(f"and {len(ids) - _IDS:,} more")
    return doc.Detail((doc.listing(items),))
