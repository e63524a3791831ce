"""A comparison as a markdown page."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.compare.comparison import Comparison
from conformance.report import compare_words as say
from conformance.report.compare_tables import SEPARATOR, Table, tables
from conformance.report.markup import code, prose, row


def render(comparison: Comparison, *, command: str = "") -> str:
    """Return a page; `command` is what made it."""
    return "".join(f"{line}\n" for line in _lines(comparison, command))


def _lines(comparison: Comparison, command: str) -> Iterator[str]:
    yield "# Pooling operators compared"
    yield ""
    yield f"{say.heading(comparison)}, {comparison.started[:10]}."
    if command:
        yield ""
        yield f"Made by {code(command)}; `conformance check` says more of one backend."
    for table in tables(comparison):
        yield ""
        if table.title:
            yield f"## {table.title}"
            yield ""
        if table.note:
            yield table.note
            yield ""
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield row(*map(_text, table.head))
    yield row(*["---"] * len(table.head))
    for cells in table.rows:
        yield row(*(_text(cell.text) for cell in cells))


def _text(text: str) -> str:
    return SEPARATOR.join(map(prose, text.split(SEPARATOR)))
