"""What a report shows, whatever it is shown on: sections of tables, facts, lists and code.

A module that describes something (`check_report`, `comparison_report`, ...) makes a
`Document`; `console`, `markdown` and `html` render any of them. Texts are plain: many are those of
strangers (a backend, a file), and the renderer makes them harmless for its medium.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from conformance.report.values import count

FOOTER = "Made by pooling-conformance"

Tone = Literal[
    "",
    "good",
    "bad",
    "warn",
    "quiet",
    "strong",
    "title",
    "window",
    "chosen",
    "padding",
    "undefined",
]
"""How a text is meant; a renderer picks the colour. `strong` is emphasis without a judgement.

The last five are parts of a drawing.
"""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text.

    `code` marks ids, names and values, which are shown character by character. `link` is an
    address, "#NAME" for a place in the same document, or the name of another page of the same site;
    only a page makes links of the last two.
    """

    text: str
    tone: Tone = ""
    code: bool = False
    link: str = ""


Text = str | Span | tuple[str | Span, ...]
"""A text in one or several pieces."""


def spans(text: Text) -> tuple[Span, ...]:
    """Return the pieces of a text."""
    pieces = text if isinstance(text, tuple) else (text,)
    return tuple(Span(piece) if isinstance(piece, str) else piece for piece in pieces)


def plain(text: Text) -> str:
    """Return a text without its markings."""
    return "".join(span.text for span in spans(text))


def code(text: str) -> Span:
    """Return an id, a name or a value."""
    return Span(text, code=True)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text. `copied` keeps it on one line, however narrow the medium: an id or a path."""

    text: Text
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a program or of its output; with a `title` they can be folded away."""

    text: str
    language: str = "text"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Lines drawn in characters of one width."""

    lines: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    rows: tuple[tuple[str, Text | Code], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list, with items below it.

    `count` of `total` things are what it is about (0 of 0: nothing is counted). `name` is the
    place that links lead to. `page_only` items are jumps within a page. `copied` keeps the text
    on one line, however narrow the medium.
    """

    text: Text
    items: tuple[Item, ...] = ()
    count: int = 0
    total: int = 0
    name: str = ""
    page_only: bool = False
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A name with a mark of one word or two, then a text.

    `tag` is an aside on the name. `meanings` explain the words in the mark, and `question` what the
    entry is about: only a page shows both.
    """

    name: str
    mark: Span
    text: Text = ""
    tag: str = ""
    meanings: tuple[tuple[str, str], ...] = ()
    question: str = ""


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of names with a mark and a text; `heads` are the titles of these three."""

    heads: tuple[str, str, str]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    `short` is the title in two lines, for narrow tables. Where a page has drawings, `drawn` says
    how it shows the numbers: `gauge` from 0 to 100 %, `dot` on a scale with labelled `ticks` (in
    percent of its length), `bar` of several parts. A column with a bar has no text, and is left
    out by the others. `tone` is that of the numbers.
    """

    title: str
    number: bool = True
    short: str = ""
    tone: Tone = ""
    drawn: Literal["", "gauge", "dot", "bar"] = ""
    ticks: tuple[tuple[float, str], ...] = ()


def text_column(title: str) -> Column:
    """Return a column of texts."""
    return Column(title, number=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; `at` is where a drawing puts it, in percent, `parts` those of a bar."""

    text: Text = ""
    at: float = 0.0
    parts: tuple[tuple[Tone, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells. The first column names the rows, the first two if `heads` is 2.

    `name` tells a page how wide the columns are. The last row sums up the others if `total`.
    In a `matrix` the columns after the first are alike, one for each of several backends: where
    there is no room for them side by side, they can stand one below the other.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    name: str = ""
    title: str = ""
    heads: int = 1
    total: bool = False
    matrix: bool = False

    def part(self, numbers: Sequence[int]) -> Table:
        """Return the columns of some numbers; a row that has fewer has those it has."""
        rows = (tuple(row[n] for n in numbers if n < len(row)) for row in self.rows)
        return replace(self, columns=tuple(self.columns[n] for n in numbers), rows=tuple(rows))

    def without_bars(self) -> Table:
        """Return the columns that have a text."""
        columns = enumerate(self.columns)
        return self.part([number for number, column in columns if column.drawn != "bar"])


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, or something to interact with, that only a page has; it knows it by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Detail:
    """Blocks that only HTML has room for; with a `title` they are folded away."""

    blocks: tuple[Block, ...]
    title: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One of a series: a `title`, what the things that it is about share, and blocks.

    `about` are blocks on all of these things, `blocks` those on one of them, the example.
    """

    title: str
    blocks: tuple[Block, ...]
    shared: Text = ""
    about: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Parts of which a renderer shows the first few, the most important first.

    `counts` says of each how many things it is about, called `noun`, and `name` is what a part is
    called. `part` makes one of them, for which it may read files. `hint` says how a terminal can
    be made to show more.
    """

    counts: tuple[int, ...]
    part: Callable[[int], Part]
    noun: str
    name: str
    hint: str = ""

    def parts(self, most: int) -> list[Part]:
        """Return the first parts, at most so many."""
        return [self.part(number) for number in range(min(most, len(self.counts)))]

    def titles(self) -> list[str]:
        """Return what to add to the title of each part: how many things it is about."""
        return [f" in {count(number, self.noun)}" if number else "" for number in self.counts]

    def rest(self, shown: int) -> str:
        """Say how many things are in the parts after the first; empty where there are none."""
        left_out = self.counts[shown:]
        things = count(sum(left_out), f"more failing {self.noun}")
        return f"… and {things} in {count(len(left_out), self.name)}" if left_out else ""


Block = Paragraph | Code | Drawing | Facts | Items | Entries | Table | Figure | Detail | Series


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title ("" for none), which an `intro` explains where there is room.

    `name` is its place in a page, `short` its title in a menu ("" if it is not there). `tone` is
    that of the title. `on` says what shows it: everything, a terminal in brief and nothing else,
    everything but that ("full"), pages (Markdown and HTML), or HTML alone.
    """

    title: str
    blocks: tuple[Block, ...]
    name: str = ""
    short: str = ""
    intro: Text = ""
    tone: Tone = ""
    on: Literal["all", "brief", "full", "pages", "html"] = "all"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One sentence, `CONFORMS: ...` for example: a page shows its word alone, in large letters.

    `more` belongs to the word, and stands behind it in the sentence.
    """

    word: str = ""
    sentence: str = ""
    more: str = ""

    def __str__(self) -> str:
        word = ", ".join(filter(None, (self.word, self.more)))
        return ": ".join(filter(None, (word, self.sentence)))


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report: what it is, what it is about, what it comes to, and its sections.

    `subject` is a kind of thing and its name, a backend for example. `alerts` are reasons to doubt
    everything else. `tone` says whether the `conclusion` is good or bad. `footer` says how the
    document was made. `menu` are other pages, which only a page leads to.
    """

    title: str
    sections: tuple[Section | None, ...]
    subject: tuple[str, str] = ("", "")
    alerts: tuple[str, ...] = ()
    conclusion: Conclusion | None = None
    tone: Tone = ""
    footer: Text = ""
    menu: Text = ()

    def filled(self) -> list[Section]:
        """Return the sections that have something to show, without blocks that have nothing."""
        pruned = (
            replace(section, blocks=tuple(filter(_has_content, section.blocks)))
            for section in self.sections
            if section is not None
        )
        return [section for section in pruned if section.blocks]


def _has_content(block: Block) -> bool:
    return all(getattr(block, name, True) for name in ("rows", "items", "entries", "counts"))


Columns = Iterable[Column | str]
Row = Iterable[Cell | Text]


def table(
    columns: Columns,
    rows: Iterable[Row],
    *,
    name: str = "",
    title: str = "",
    heads: int = 1,
    total: bool = False,
    matrix: bool = False,
) -> Table:
    """Return a table of cells or texts; a column given by its title alone is one of texts."""
    return Table(
        tuple(text_column(column) if isinstance(column, str) else column for column in columns),
        tuple(
            tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows
        ),
        name=name,
        title=title,
        heads=heads,
        total=total,
        matrix=matrix,
    )


def listing(items: Iterable[Item | Text]) -> Items:
    """Return a list of items or texts."""
    return Items(tuple(item if isinstance(item, Item) else Item(item) for item in items))
