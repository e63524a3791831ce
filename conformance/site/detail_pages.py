"""The pages of clauses and of vectors that some release fails.

Where a text of a page is the name or the path of another page, it becomes a link to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.api.releases import Release
from conformance.operators import CLAUSES, Clause
from conformance.record.report import Result
from conformance.report import clauses_report, comparison_report, phrases, shared_blocks
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.vector_report import describe as describe_vector
from conformance.site.overview_pages import MENU, TO_INDEX
from conformance.site.releases import Engine
from conformance.vector import Vector

_WHAT = ("what", "worst", "error")
_ABOUT_VECTOR = ("attributes", "data", "source", "clauses")
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class FailingVector:
    """A vector that some release fails, with the result of each release that ran it."""

    id: str
    results: Sequence[tuple[Release, Result]]

    @property
    def failed(self) -> list[Release]:
        """The releases that fail it."""
        return [release for release, result in self.results if result.verdict in release.failing]


def clauses_met(engines: Iterable[Engine]) -> list[Clause]:
    """Return the clauses that some report says something of."""
    met = {name for engine in engines for release in engine.releases for name in _named(release)}
    return [clause for name, clause in CLAUSES.items() if name in met]


def _named(release: Release) -> Iterator[str]:
    yield from (followed.clause for followed in release.summary.readings)
    yield from (undefined.clause for undefined in release.summary.undefined)


def clause_page(clause: Clause, engines: Iterable[Engine]) -> doc.Document:
    """Return the page of a clause: what it is about, and which release follows what."""
    rows = [
        (doc.Span(release.backend, "strong"), doc.Span(release.version, link=release.name), *said)
        for engine in engines
        for release in engine.releases
        for said in _said(clause, release)
    ]
    columns = ("engine", "release", "what it does", "evidence")
    table = doc.table(columns, rows, name="followed", heads=2)
    return doc.Document(
        title=f"Clause {clause.name}",
        menu=MENU,
        sections=(
            doc.Section("Who does what", (table,), name="followed", short="Who does what"),
            *clauses_report.describe_one(clause).sections,
        ),
        footer=doc.FOOTER,
    )


def _said(clause: Clause, release: Release) -> Iterator[tuple[doc.Text, str]]:
    for followed in release.summary.readings:
        if followed.clause == clause.name:
            yield comparison_report.reading(followed), phrases.reading(followed)[2]
    for undefined in release.summary.undefined:
        if undefined.clause == clause.name:
            yield phrases.behaviours(undefined), ""


def vectors_page(failing: Sequence[FailingVector], all_failing: int) -> doc.Document:
    """Return the list of the vectors that have a page; `all_failing` have one or not."""
    rows = (
        (doc.code(vector.id), f"{len(vector.failed):,} of {len(vector.results):,}")
        for vector in sorted(failing, key=lambda vector: -len(vector.failed))
    )
    columns = ("vector", doc.Column("failed by"))
    left_out = all_failing - len(failing)
    said = f"{words.count(all_failing, 'vector')}, with the number of releases that fail it."
    if left_out:
        said = (
            f"{len(failing):,} of {words.count(all_failing, 'vector')}, some of every group of "
            f"failures of every release; the other {left_out:,} have no page here. "
            "The raw reports name them all."
        )
    return doc.Document(
        title="Vectors that some release fails",
        menu=TO_INDEX,
        sections=(
            doc.Section("", (doc.Paragraph(said),), name="number"),
            doc.Section("", (doc.table(columns, rows, name="list"),), name="vectors"),
        ),
        footer=doc.FOOTER,
    )


def vector_page(failing: FailingVector, vector: Vector | None) -> doc.Document:
    """Return the page of a vector: who fails it, what it is and, if it is known, its answers."""
    failed, ran = len(failing.failed), len(failing.results)
    return doc.Document(
        title="Vector",
        subject=("vector", failing.id),
        menu=MENU,
        conclusion=doc.Conclusion(
            "FAILED", f"by {failed:,} of {words.count(ran, 'release')} that ran it"
        ),
        tone="bad",
        sections=(
            doc.Section("Who fails it", (_answers(failing),), "failed", "Who fails it"),
            *(_what_it_is(failing.results[0][1]) if vector is None else _drawn(vector)),
        ),
        footer=doc.FOOTER,
    )


def _answers(failing: FailingVector) -> doc.Table:
    """Return what became of the vector in each release that ran it."""
    rows: list[doc.Row] = []
    for release, result in failing.results:
        facts = dict(phrases.facts(result)) if result.verdict != "conforms" else {}
        rows.append(
            (
                doc.Span(release.backend, "strong"),
                doc.Span(release.version, link=release.name),
                doc.Span(
                    result.verdict,
                    shared_blocks.verdict_tone(result.verdict, release.failing),
                ),
                "; ".join(facts[name] for name in _WHAT if facts.get(name)),
            )
        )
    return doc.table(("engine", "release", "verdict", "what"), rows, name="answers", heads=2)


def _what_it_is(result: Result) -> Iterator[doc.Section]:
    """Yield what a report says of a vector that is not in the shipped suite."""
    facts = tuple((n, doc.code(t)) for n, t in phrases.facts(result) if n in _ABOUT_VECTOR)
    note = doc.Paragraph(doc.Span("This vector is not in the suite that made this site.", "quiet"))
    yield doc.Section("What it is", (doc.Facts(facts), note), name="vector")


def _drawn(vector: Vector) -> Iterator[doc.Section]:
    """Yield a vector with its windows, and the answers that conform."""
    described = describe_vector(vector, width=_WIDTH)
    for section in described.filled():
        title = section.title or ("What it is" if section.name == "vector" else "")
        yield doc.Section(title, section.blocks, section.name, section.short)
    again = doc.Code(f"conformance show {vector.case.id}", "sh")
    yield doc.Section("To see it in a terminal", (again,), name="show")
