"""A comparison as plain tables, for what lays them out: markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from conformance.check.report import FAILURES
from conformance.compare.comparison import Compared, Comparison
from conformance.dtypes import FLOATS
from conformance.operators import CLAUSES
from conformance.report import compare_words as say

SEPARATOR = " · "
"""Between the numbers of one cell."""

Tone = Literal["", "good", "bad", "faint"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A text and how it is meant."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head of texts; `title` is "" for the first one, `note` a paragraph or ""."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def tables(comparison: Comparison) -> list[Table]:
    """Return the tables of a comparison that have rows."""
    made = (
        _summary(comparison),
        _operators(comparison),
        _types(comparison),
        _readings(comparison),
        _undefined(comparison),
        _accuracy(comparison),
        _causes(comparison),
    )
    return [table for table in made if table.rows]


def _backends(comparison: Comparison) -> tuple[str, ...]:
    return tuple(each.backend for each in comparison.ran)


def _summary(comparison: Comparison) -> Table:
    shown = say.verdicts(comparison)
    rows = []
    for each in comparison.backends:
        first = (Cell(each.backend), Cell(each.version))
        if each.problem:
            blank = [Cell("")] * (len(shown) - 1)
            rows.append((*first, Cell(f"not run: {each.problem}", "bad"), *blank, Cell("")))
            continue
        counts = [
            Cell(f"{each.total[v]:,}", "bad" if v in FAILURES and each.total[v] else "")
            for v in shown
        ]
        rows.append((*first, *counts, Cell(say.duration(each.seconds_per_vector))))
    return Table("", "", ("backend", "version", *shown, "per vector"), tuple(rows))


def _operators(comparison: Comparison) -> Table:
    operators = [operator for operator, _ in comparison.cells()]
    shown = say.verdicts(comparison)
    rows = []
    for each in comparison.ran:
        cells = []
        for operator in operators:
            counts = each.of_operator(operator)
            bad = any(counts[verdict] for verdict in FAILURES)
            cells.append(
                Cell(SEPARATOR.join(f"{counts[v]:,}" for v in shown), "bad" if bad else "")
            )
        rows.append((Cell(each.backend), *cells))
    note = f"Vectors that are {SEPARATOR.join(shown).replace('conforms', 'conforming')}."
    return Table("By operator", note, ("backend", *operators), tuple(rows))


def _types(comparison: Comparison) -> Table:
    rows = []
    for operator, types in comparison.cells():
        for name in say.types_of(types):
            counts = [each.of_type(operator, name) for each in comparison.ran]
            cells = [_share(say.share(count)) for count in counts]
            rows.append((Cell(operator), Cell(name), *cells))
    head = ("operator", "type", *_backends(comparison))
    note = "Conforming, of the vectors that the backend supports."
    return Table("By element type", note, head, tuple(rows))


def _share(found: say.Share) -> Cell:
    if not found.supported:
        return Cell(str(found), "faint")
    return Cell(str(found), "good" if found.whole else "bad")


def _readings(comparison: Comparison) -> Table:
    rows = []
    for name in CLAUSES:
        found = [{c.clause: c for c in each.readings}.get(name) for each in comparison.ran]
        if any(found):
            bad = [clause and clause.status == "inconsistent" for clause in found]
            cells = [
                Cell(say.reading(clause), "bad" if wrong else "")
                for clause, wrong in zip(found, bad, strict=True)
            ]
            rows.append((Cell(name), *cells))
    note = (
        "What each backend does where the documents allow several answers (conformance clauses "
        "explains them). Empty: no vector that it supports is touched. either: nothing separates."
    )
    return Table("Readings followed", note, ("clause", *_backends(comparison)), tuple(rows))


def _undefined(comparison: Comparison) -> Table:
    rows = []
    for name in CLAUSES:
        found = [
            ", ".join({c.clause: say.behaviour(c.counts) for c in each.undefined}.get(name, []))
            for each in comparison.ran
        ]
        if any(found):
            rows.append((Cell(name), *map(Cell, found)))
    note = (
        "What each backend returns there, and in how many vectors; anything but a crash conforms."
    )
    head = ("clause", *_backends(comparison))
    return Table("Where the documents define nothing", note, head, tuple(rows))


def _accuracy(comparison: Comparison) -> Table:
    types = [
        t for t in FLOATS if any(a.dtype == t for each in comparison.ran for a in each.accuracy)
    ]
    rows = tuple((Cell(each.backend), *_measured(each, types)) for each in comparison.ran)
    note = (
        "Share of elements correctly rounded · worst error in ulp · the same as a share of the "
        "bound, in vectors that conform."
    )
    return Table("Accuracy of averages", note, ("backend", *types), rows if types else ())


def _measured(backend: Compared, types: list[str]) -> Iterator[Cell]:
    by_type = {each.dtype: each for each in backend.accuracy}
    for name in types:
        each = by_type.get(name)
        yield (
            Cell(
                SEPARATOR.join(
                    (
                        f"{each.correctly_rounded:.1%}",
                        f"{each.worst_ulp:.3g}",
                        f"{each.worst_of_bound:.2f}",
                    )
                )
            )
            if each
            else Cell("-", "faint")
        )


def _causes(comparison: Comparison) -> Table:
    rows = []
    for each in comparison.ran:
        wrong = say.failures(each)
        if wrong:
            rows.append((Cell(each.backend), Cell("; ".join(wrong), "bad")))
            rows += [(Cell(""), Cell(cause)) for cause in say.causes(each)]
    title = "Failures and their likely causes"
    return Table(title, "", ("backend", "failures, and what reproduces them"), tuple(rows))
