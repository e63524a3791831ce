"""A document for a terminal; the conclusion stands first, and last, next to the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Line

from conformance.report import document as doc

WIDTH = 80
_STYLES = {"": "", "good": "green", "bad": "bold red", "warn": "yellow"}
_STYLES |= {"quiet": "dim", "strong": "bold", "title": "bold underline", "window": "cyan"}
_STYLES |= {"chosen": "bold green", "padding": "blue", "undefined": "magenta"}
_INDENT = 2
_GAP = 2
"""Columns between those of a table."""
_SIGNS = 2
"""Brackets or commas that may stand around an id."""


def render(
    document: doc.Document, *, shown: int | None = None, width: int = WIDTH, brief: bool = False
) -> RenderableType:
    """Return a document for a terminal of some width, with at most `shown` parts of a series."""
    return _Renderer(shown, width, brief=brief).document(document)


class _Renderer:
    def __init__(self, shown: int | None, width: int, *, brief: bool) -> None:
        self._shown = shown
        self._width = width
        self._on = {"all", "brief" if brief else "full"}

    def document(self, document: doc.Document) -> RenderableType:
        noun, name = document.subject
        chunks: list[list[RenderableType]] = []
        head: list[RenderableType] = []
        said = str(document.conclusion or "")
        conclusion = _whole_line(said, f"bold {_STYLES[document.tone]}")
        if said and name:
            head.append(conclusion)
        if name:
            head.append(Line.assemble(f"{noun} ", (name, "bold")))
        chunks.append(head)
        chunks += [[Line(alert, _STYLES["bad"])] for alert in document.alerts]
        for section in document.filled():
            if section.on in self._on:
                chunks += self._section(section)
        if said:
            chunks.append([conclusion])
        filled = [chunk for chunk in chunks if chunk]
        spaced = [part for chunk in filled for part in (*chunk, Line())]
        return Group(*spaced[:-1])

    def _section(self, section: doc.Section) -> Iterator[list[RenderableType]]:
        """Yield what is set apart by empty lines: the blocks of a section, parts of a series."""
        indent = _INDENT if section.title else 0
        chunk: list[RenderableType] = []
        series: list[doc.Series] = []
        for block in section.blocks:
            if isinstance(block, doc.Series):
                series.append(block)
            else:
                chunk += self._block(block, indent)
        if section.title and chunk:
            chunk.insert(0, Line(section.title, f"bold {_STYLES[section.tone]}"))
        yield chunk
        for parts in series:
            yield from self._series(parts)

    def _series(self, series: doc.Series) -> Iterator[list[RenderableType]]:
        most = len(series.counts) if self._shown is None else self._shown
        for part, counted in zip(series.parts(most), series.titles(), strict=False):
            title = Line(part.title + counted)
            if part.shared:
                title.append(", ").append_text(_line(part.shared))
            title.stylize(_STYLES["bad"])
            chunk: list[RenderableType] = [title]
            for block in (*part.about, *part.blocks):
                chunk += self._block(block, _INDENT)
            yield chunk
        if rest := series.rest(most):
            hint = f" ({series.hint})" if series.hint else ""
            yield [Line(f"{rest}{hint}", "dim")]

    def _block(self, block: doc.Block, indent: int) -> Iterator[RenderableType]:
        """Yield a block; what only a page shows yields nothing."""
        match block:
            case doc.Paragraph():
                yield _line_of(block.text, indent, whole=block.copied)
            case doc.Code():
                yield from _code(block, indent)
            case doc.Drawing():
                yield from (_line_of(line, indent, whole=True) for line in block.lines)
            case doc.Facts():
                yield _indented(_facts(block), indent)
            case doc.Items():
                for item in block.items:
                    yield from _item(item, indent)
            case doc.Entries():
                yield _indented(_entries(block), indent)
            case doc.Table():
                yield from self._table(block, indent)

    def _table(self, table: doc.Table, indent: int) -> Iterator[RenderableType]:
        if table.title:
            yield _indented(Line(table.title, "bold"), indent)
        table = table.without_bars()
        room = self._width - indent
        fits = _width(table) <= room
        if fits or not table.matrix:
            yield _indented(_grid(table if fits else _with_short_titles(table)), indent)
        elif all(column.number for column in table.columns[table.heads :]):
            for place, part in enumerate(_fitting(table, room)):
                if place:
                    yield Line()
                yield _indented(_grid(part), indent)
        else:
            yield from _rows_apart(table, indent)


def _line(text: doc.Text) -> Line:
    line = Line()
    for span in doc.spans(text):
        line.append(span.text, _STYLES[span.tone])
    return line


def _whole_line(text: str, style: str) -> Line:
    """Return text that keeps its line breaks, however narrow the terminal."""
    return Line(text, style, no_wrap=True, overflow="ignore")


def _line_of(text: doc.Text, indent: int, *, whole: bool) -> RenderableType:
    """Return a text; where it is `whole`, on one line, however narrow the terminal."""
    if whole:
        return _whole_line(" " * indent, "").append_text(_line(text))
    return _Wrapped(text, indent)


class _Wrapped:
    """A text on several lines; an id or an address that is longer than a line stays whole."""

    def __init__(self, text: doc.Text, indent: int) -> None:
        self._line = _line(text)
        self._copied = [span.text for span in doc.spans(text) if span.code or span.link]
        self._indent = indent

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - self._indent
        if all(cell_len(text) + _SIGNS <= width for text in self._copied):
            yield _indented(self._line, self._indent)
            return
        ends, used = [], 0
        for word in re.finditer(r"\S+\s*", self._line.plain):
            if used and used + cell_len(word[0].rstrip()) > width:
                ends.append(word.start())
                used = 0
            used += cell_len(word[0])
        for part in self._line.divide(ends):
            yield _whole_line(" " * self._indent, "").append_text(part)


def _indented(content: RenderableType, indent: int) -> RenderableType:
    return Padding(content, (0, 0, 0, indent), expand=False) if indent else content


def _code(block: doc.Code, indent: int) -> Iterator[RenderableType]:
    if not block.title:
        yield from (_whole_line(" " * indent + line, "") for line in block.text.splitlines())
        return
    # At the left edge, so that the lines can be pasted as they are.
    yield _whole_line(f"# {block.title}", "dim")
    yield _whole_line(block.text, "")
    yield _whole_line("# end", "dim")


def _two_columns() -> Grid:
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")  # what a backend printed may hold long paths
    return grid


def _facts(block: doc.Facts) -> RenderableType:
    grid = _two_columns()
    for name, value in block.rows:
        shown = Line(value.text) if isinstance(value, doc.Code) else _line(value)
        grid.add_row(Line(name, "dim"), shown)
    return grid


def _entries(block: doc.Entries) -> RenderableType:
    grid = _two_columns()
    for entry in block.entries:
        name = Line(entry.name)
        if entry.tag:
            name.append(f" ({entry.tag})", "dim")
        said = _line(entry.mark)
        if entry.mark.text and entry.text:
            said.append(": ")
        grid.add_row(name, said.append_text(_line(entry.text)))
    return grid


def _item(item: doc.Item, indent: int) -> Iterator[RenderableType]:
    """Yield an item with those below it; one that is an id or a name alone is not folded."""
    if item.page_only:
        return
    pieces = doc.spans(item.text)
    alone = len(pieces) == 1 and pieces[0].code
    yield _line_of(item.text, indent, whole=item.copied or alone)
    for below in item.items:
        yield from _item(below, indent + _INDENT)


def _with_short_titles(table: doc.Table) -> doc.Table:
    columns = (replace(column, title=column.short or column.title) for column in table.columns)
    return replace(table, columns=tuple(columns))


def _width(table: doc.Table) -> int:
    widths = [
        max(
            *(cell_len(line) for line in column.title.split("\n")),
            *(cell_len(doc.plain(row[n].text)) for row in table.rows if n < len(row)),
            0,
        )
        for n, column in enumerate(table.columns)
    ]
    return sum(widths) + _GAP * (len(widths) - 1)


def _grid(table: doc.Table) -> Grid:
    """Return a table for the terminal; a name that repeats the one above is left out."""
    grid = Grid(header_style="dim", box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.number else "left"
        grid.add_column(column.title, justify=justify, overflow="fold")
    above: tuple[doc.Cell, ...] = ()
    for row in table.rows:
        cells = list(map(_cell, table.columns, row))
        if table.heads > 1 and above and above[0].text == row[0].text:
            cells[0] = Line()
        grid.add_row(*cells)
        above = row
    return grid


def _cell(column: doc.Column, cell: doc.Cell) -> Line:
    line = _line(cell.text)
    if column.number and column.tone:
        line.stylize("dim" if line.plain == "0" else _STYLES[column.tone])
    return line


def _fitting(table: doc.Table, room: int) -> Iterator[doc.Table]:
    """Yield parts of a table: as many columns each as fit beside those that name the rows."""
    numbers = range(len(table.columns))
    heads = numbers[: table.heads]
    part = [*heads]
    for number in numbers[table.heads :]:
        if len(part) > len(heads) and _width(table.part([*part, number])) > room:
            yield table.part(part)
            part = [*heads]
        part.append(number)
    if len(part) > len(heads):
        yield table.part(part)


def _rows_apart(table: doc.Table, indent: int) -> Iterator[RenderableType]:
    """Yield the rows of a table one below the other: each value with the columns that have it."""
    for row in table.rows:
        yield _indented(_line(row[0].text), indent)
        having: dict[str, tuple[doc.Text, list[str]]] = {}
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            if doc.plain(cell.text):
                having.setdefault(doc.plain(cell.text), (cell.text, []))[1].append(column.title)
        for text, titles in having.values():
            names = [f"{title}," for title in titles[:-1]] + titles[-1:]
            value = _line(text).append(":")
            yield _indented(_Units([value, *map(Line, names)]), indent + _INDENT)


class _Units:
    """Texts that are not divided between lines unless one is longer than a line."""

    def __init__(self, units: Sequence[Line]) -> None:
        self._units = units

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        indent = 0
        line = Line()
        for unit in self._units:
            if line.plain and line.cell_len + 1 + unit.cell_len > options.max_width - indent:
                yield _indented(line, indent)
                line, indent = Line(), _INDENT
            if line.plain:
                line.append(" ")
            line.append_text(unit)
        yield _indented(line, indent)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, Line(" ").join(self._units))
