"""Reports as Markdown."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from support.arbitrary_reports import made, real, reference, reports, result
from support.effort import examples
from support.rendered import report_as_markdown as render

from conformance.record.report import (
    Accuracy,
    ClauseReport,
    Diagnosis,
    Expectations,
    Repeatability,
    UndefinedReport,
)
from conformance.report.document import Cell, Column, Document, Section, Table, code, text_column
from conformance.report.markdown import LARGEST
from conformance.report.markdown import render as render_document
from conformance.text import markdown, markdown_block, markdown_code, markdown_line

OWN = {"details", "summary"}
HOSTILE = [
    "a | b || c",
    "`` ` ``` code",
    "<img src=x onerror=alert(1)><script>",
    "[a](http://evil) ![b](http://evil/c.png) <http://evil>",
    "http://evil.example www.evil.example a@evil.example",
    "line\n\n# heading\n- item\n| a | b |\n|---|---|\n",
    "</details></code></td>",
    "*a* _b_ ~~c~~ **d** __e__",
    "\\| \\` \\\\|",
    "1. one",
    "&lt;b&gt; &#60;",
    "[x]: http://evil 'title'",
    "```\nfence\n```",
    "\u202egnp\x1b[2J\x00",
    "half a pair \udce4",
]


class Elements(HTMLParser):
    """The elements and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Keep an element."""
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        """Keep a text."""
        self.text += data


def page(text):
    """Return the page that Markdown with tables makes."""
    return Elements(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


def tags(text):
    """Return the kinds of elements that Markdown makes."""
    return {tag for tag, _ in page(text).found}


@pytest.mark.parametrize("text", HOSTILE)
class TestHostile:
    """Texts of strangers stay texts."""

    def test_prose(self, text):
        """A sentence has no markup, and reads as it was."""
        found = page(f"- {markdown(text)}")
        assert {tag for tag, _ in found.found} == {"ul", "li"}
        shown = " ".join(found.text.replace("\u200b", "").split())
        assert shown == " ".join(markdown_line(text).split())

    def test_code(self, text):
        """A code span holds all of it."""
        found = page(f"- {markdown_code(text)}")
        assert {tag for tag, _ in found.found} == {"ul", "li", "code"}
        assert found.text.strip() == markdown_line(text)

    def test_cell(self, text):
        """A cell of a table ends where it should."""
        found = page(table(code(text), "2", text))
        assert [tag for tag, _ in found.found].count("td") == 3
        assert {tag for tag, _ in found.found} <= {
            *("table", "thead", "tbody", "tr", "th", "td", "code")
        }

    def test_block(self, text):
        """A block of code ends with its last line."""
        found = page("\n".join([*markdown_block(text), "", "after"]))
        assert [tag for tag, _ in found.found] == ["pre", "code", "p"]

    def test_report(self, text):
        """No link, no image, no element but our own."""
        rendered = render(everywhere(text), repro=lambda _: text)
        assert not tags(rendered) & {"a", "img", "script", "b", "del"} - OWN
        assert [tag for tag, _ in page(rendered).found].count("h1") == 1  # that it was stopped
        tables = [tag for tag, _ in page(rendered).found if tag == "table"]
        assert len(tables) == 4


def table(*cells):
    """Return a table of one row as Markdown, without the title of the page."""
    columns = (text_column("a"), Column("b"), text_column("c"))
    section = Section("", (Table(columns, (tuple(map(Cell, cells)),)),))
    return render_document(Document("title", (section,))).removeprefix("# title\n\n")


def everywhere(text):
    """Return a report with a text in every place a backend or a file may fill."""
    wrong = result(
        f"{text} id",
        "mismatch",
        operator=text,
        attributes={text: text},
        detail=text,
        pattern=text,
        source=text,
        printed=text,
        clauses={text: (text,)},
    )
    return made(
        wrong,
        result("b"),
        backend=text,
        readings=(ClauseReport(text, "split", by=text, values={text: text}, touched=1),),
        undefined=(UndefinedReport(text, {text: 1}),),
        accuracy=(Accuracy(text, 1, 1.0, 0.0, 0.0),),
        diagnoses=(Diagnosis(text, (text,), 1, 1, 1, 1, 1, text, (text,), (text,), kind="fault"),),
        required={text: text},
        repeated=Repeatability(1, (text,), (text,)),
        expectations=Expectations(text, {"mismatch": 1}, (text,), (text,), (text,)),
        stopped=text,
        notes=(text,),
        tier=text,
        shard=text,
    )


@given(reports())
@examples(0.3)
def test_any_report_makes_only_known_elements(report):
    known = {"p", "h1", "h2", "h3", "h4", "ul", "li", "code", "pre", "em", "a", *OWN}
    known |= {"table", "thead", "tbody", "tr", "th", "td"}
    assert tags(render(report)) <= known


def test_the_verdict_comes_first():
    """Then counts, and the failure with its example."""
    lines = render(real()).splitlines()
    assert (
        lines[0] == "## ❌ DOES NOT CONFORM: 1 mismatch; 4 of 5 answered vectors conform; standard"
    )
    assert "| AvgPool-1 | 5 | 4 | 1 | 0 | 0 |" in lines
    assert "#### AvgPool-1: wrong values in 1 vector" in lines
    assert "`AvgPool-1/lower`" in lines
    assert render(real(reference)).startswith("## ✅ CONFORMS: 5 of 5 answered vectors; standard\n")


def test_causes_come_before_examples():
    """With links to public reports, and only to those."""
    threads = ("https://github.com/a/b/issues/1", "https://evil.example/x")
    cause = Diagnosis("1 of 1 is reproduced by: x", ("f",), 1, 1, 1, threads=threads, kind="fault")
    text = render(made(result("a", "mismatch"), diagnoses=(cause,)))
    assert text.index("### Likely causes") < text.index("### AvgPool-1")
    links = [attrs["href"] for tag, attrs in page(text).found if tag == "a"]
    assert links == ["https://github.com/a/b/issues/1"]


def test_a_giant_report_fits_and_says_what_is_left_out():
    """One group per operator, each as long as can be."""
    long = "x" * 10_000
    many = [
        result(f"{n}", "mismatch", operator=f"{n}{long}", detail=long, printed=long)
        for n in range(500)
    ]
    text = render(made(*many), shown=500)
    assert len(text.encode()) <= LARGEST
    assert "more failing vectors in" in text
    assert len(render(made(*many), repro=lambda _: long * 10, shown=500).encode()) <= LARGEST


def test_scripts_are_folded():
    """A reader opens those that matter."""
    text = render(real(), repro=lambda found: f"print({found.id!r})")
    assert "```python\nprint('AvgPool-1/lower')\n```" in text
