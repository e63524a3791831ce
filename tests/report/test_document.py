"""One document on a terminal, as Markdown and as a page."""

import pytest
from markdown_it import MarkdownIt
from support.parsed_page import Page
from support.rendered import RENDERERS, in_terminal

from conformance.report import html, markdown
from conformance.report.document import (
    Cell,
    Code,
    Column,
    Conclusion,
    Detail,
    Document,
    Entries,
    Entry,
    Facts,
    Figure,
    Item,
    Items,
    Paragraph,
    Part,
    Section,
    Series,
    Span,
    Table,
    code,
    text_column,
)

HOSTILE = (
    "</p></script><script>alert(1)</script><img src=x onerror=alert(2)> | `a` **b**\n# c\n| d |"
)


def everything(text):
    """Return a document that has a text in every place."""
    table = Table(
        (text_column(text), Column(text, drawn="gauge"), Column(text, tone="bad")),
        ((Cell(text), Cell(code(text), at=50.0), Cell(Span(text, "good"))),),
        title=text,
    )
    part = Part(text, (Code(text, title="again"), Code(text)), shared=code(text))
    blocks = (
        Paragraph((text, Span(text, "bad"), code(text), Span(text, link=text))),
        Paragraph(code(text), copied=True),
        Facts(((text, text), (text, code(text)), (text, Code(text)))),
        Items((Item(text, (Item(code(text)),)),)),
        Items((Item(text, (Item(text),), 1, 2, "cause-1"),)),
        Entries((text, text, text), (Entry(text, Span(text), text, text, ((text, text),), text),)),
        table,
        Detail((Paragraph(text),), title=text),
        Figure(text),
        Series((3, 2), lambda _: part, "vector", "group"),
    )
    section = Section(text, blocks, name="all", short=text, intro=text)
    return Document(text, (section,), (text, text), (text,), Conclusion("BAD", text), "bad", text)


def numbered(count):
    """Return a document with a series of so many parts."""
    series = Series(
        tuple(range(count, 0, -1)),
        lambda number: Part(f"part {number}", ()),
        "vector",
        "group",
        "--more",
    )
    return Document("title", (Section("Parts", (series,), name="parts"),))


def titled(*titles, **options):
    """Return sections of one paragraph each."""
    return tuple(
        Section(title, (Paragraph(f"in {title}"),), name=title, **options) for title in titles
    )


def test_no_text_becomes_an_element_of_a_page():
    """A page with hostile texts has the elements of one with harmless texts."""
    assert Page(html.render(everything(HOSTILE))).tags == Page(html.render(everything("x"))).tags


def test_no_text_becomes_markdown():
    """Neither a link, nor emphasis, nor another cell of a table."""
    found, calm = (
        MarkdownIt("commonmark").enable(["table"]).render(markdown.render(everything(text)))
        for text in (HOSTILE, "x")
    )
    assert [found.count(tag) for tag in ("<td", "<th", "<li", "<h1", "<pre")] == [
        calm.count(tag) for tag in ("<td", "<th", "<li", "<h1", "<pre")
    ]
    assert not any(tag in found for tag in ("<img", "<script", "<strong>b", "<a "))


@pytest.mark.parametrize("form", RENDERERS)
def test_every_text_is_shown(form):
    """Whatever block it is in; figures and details are for pages."""
    shown = RENDERERS[form](everything("word"))
    least = 27  # places that every renderer has
    assert shown.count("word") >= least


@pytest.mark.parametrize("form", RENDERERS)
def test_sections_stand_in_one_order_everywhere(form):
    """That of the document."""
    sections = (*titled("one"), *titled("two"), *titled("three"))
    text = RENDERERS[form](
        Document("title", sections, conclusion=Conclusion("GOOD", "all"), tone="good")
    )
    assert text.index("in one") < text.index("in two") < text.index("in three")


def test_what_belongs_to_the_word_of_a_conclusion_stands_in_the_sentence():
    """A page shows the word alone, in large letters."""
    conclusion = Conclusion("DOES NOT CONFORM", "1 error", "INCOMPLETE")
    assert str(conclusion) == "DOES NOT CONFORM, INCOMPLETE: 1 error"
    page = html.render(Document("title", titled("one"), conclusion=conclusion, tone="bad"))
    assert "<strong>Does not conform</strong>" in page


def test_the_conclusion_is_last_in_a_terminal_and_first_on_a_page():
    """Next to the prompt, or where reading begins."""
    document = Document("title", titled("one"), conclusion=Conclusion("GOOD", "all"), tone="good")
    assert in_terminal(document)[-1] == "GOOD: all"
    assert markdown.render(document).startswith("## ✅ GOOD: all\n")


def test_sections_are_where_there_is_room_for_them():
    """Some only on pages, some only in HTML."""
    sections = (*titled("all"), *titled("pages", on="pages"), *titled("html", on="html"))
    document = Document("title", sections)
    shown = {
        form: [name for name in ("all", "pages", "html") if f"in {name}" in render(document)]
        for form, render in RENDERERS.items()
    }
    assert shown == {
        "terminal": ["all"],
        "markdown": ["all", "pages"],
        "html": ["all", "pages", "html"],
    }


def test_parts_that_are_not_shown_are_counted():
    lines = in_terminal(numbered(4), shown=2)
    assert "part 1 in 3 vectors" in lines
    assert not any(line.startswith("part 2") for line in lines)
    assert "… and 3 more failing vectors in 2 groups (--more)" in lines
    page = markdown.render(numbered(4), shown=2)
    assert "*… and 3 more failing vectors in 2 groups, not shown here.*" in page
    assert "5 smaller groups not shown here" in html.render(numbered(205))


def test_only_parts_that_are_shown_are_made():
    """Making one may read a file."""
    made = []

    def part(number):
        made.append(number)
        return Part("a", ())

    series = Series((1,) * 9, part, "vector", "group")
    in_terminal(Document("title", (Section("", (series,)),)), shown=2)
    assert made == [0, 1]


def matrix(columns, cell):
    """Return a document with a table of columns that are alike."""
    names = [f"column-number-{n}" for n in range(columns)]
    table = Table(
        (text_column("name"), *(Column(name, number=cell.isdigit()) for name in names)),
        ((Cell("row"), *(Cell(cell) for _ in names)),),
        matrix=True,
    )
    return Document("title", (Section("", (table,)),))


def test_numbers_that_have_no_room_side_by_side_are_in_several_tables():
    """Each begins with the names of the rows, and no line is too long."""
    lines = in_terminal(matrix(9, "7"))
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.startswith("row")]
    assert len(rows) > 1
    assert sum(len(row) - 1 for row in rows) == 9


def test_equal_texts_that_have_no_room_side_by_side_stand_together():
    """A value with the columns that have it."""
    lines = in_terminal(matrix(5, "same"))
    assert lines == [
        "row",
        "  same: column-number-0, column-number-1, column-number-2, column-number-3,",
        "    column-number-4",
    ]


def test_scripts_can_be_pasted_from_a_terminal():
    """Their lines begin at the left edge and are not folded."""
    script = f"print({'1' * 90})\nprint(2)"
    blocks = (Code(script, "python", "to reproduce"),)
    lines = in_terminal(Document("title", (Section("Title", blocks),)))
    assert lines[1:] == ["# to reproduce", *script.splitlines(), "# end"]
