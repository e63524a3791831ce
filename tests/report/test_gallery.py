"""A gallery of reports, and what each says in every form."""

import re
from collections import Counter

import pytest
from markdown_it import MarkdownIt
from support.arbitrary_reports import made, real, reference, result
from support.parsed_page import Page
from support.rendered import report_as_markdown, report_in_terminal

from conformance.record.report import (
    ClauseReport,
    Diagnosis,
    Expectations,
    Floor,
    Repeatability,
    SkippedVector,
    Skips,
    Support,
    UndefinedReport,
    VectorsUsed,
)
from conformance.report import html

USED = (VectorsUsed("AvgPool-1", "a.h5", "0", 5, 9),)
LEFT_OUT = (VectorsUsed("AvgPool-1", "a.h5", "0", 2, 9),)
WRONG = result("a", "mismatch", detail="shape")
LOOSE = ({"accumulator": "element-type"},)


def of_page(page):
    """Return the text of a page, without the spaces that elements bring before commas."""
    found = Page(page)
    return re.sub(r" (?=[,.](\s|$))", "", found.text(found.one("body")))


def in_markdown(report):
    page = MarkdownIt("commonmark").enable("table").render(report_as_markdown(report))
    return of_page(f"<body>{page}</body>")


FORMS = {
    "terminal": lambda report: " ".join(" ".join(report_in_terminal(report)).split()),
    "markdown": in_markdown,
    "html": lambda report: of_page(html.render_report(report)),
}
GALLERY = {
    "sound": (lambda: real(reference), ["5 of 5 answered vectors; standard"]),
    "faulty": (
        real,
        [
            "1 mismatch; 4 of 5 answered vectors conform; standard",
            "AvgPool-1: wrong values",
            "AvgPool-1/lower",
            "auto_pad=same_lower",
            "AvgPool-1, Attributes (computed)",
            "[0, 0, ",
        ],
    ),
    "not all supported or run": (
        lambda: made(result("a"), result("b", "unsupported"), not_run=7, vectors=LEFT_OUT),
        [
            "1 of 1 answered vector; 1 unsupported; standard",
            "7 vectors left out by operator, tier or selection.",
        ],
    ),
    "nothing computed": (
        lambda: made(result("a", "unsupported")),
        ["nothing was computed; 1 unsupported"],
    ),
    "incomplete": (
        lambda: made(result("a"), not_run=8, stopped="interrupted", vectors=USED),
        [
            "INCOMPLETE: 4 selected vectors never reached: interrupted. What follows holds only",
            "1 of 1 answered vector conforms; 4 never reached; standard",
        ],
    ),
    "shard": (
        lambda: made(result("a"), not_run=7, shard="1/8"),
        ["standard, shard 1/8 only", "0.00 s, 0.00 s of it for the answers of the backend"],
    ),
    "inconsistent": (
        lambda: made(
            result("a"),
            readings=(ClauseReport("d-clause", "inconsistent", counts={"one": 3, "two": 1}),),
        ),
        ["inconsistent readings of d-clause"],
    ),
    "half types summed in their own": (
        lambda: made(
            result("a", dtype="float16", readings=LOOSE),
            result("b", dtype="bfloat16", readings=(*LOOSE, {"accumulator": "wider"})),
            result("c", dtype="float64", readings=({"sum-overflow": "overflows"},)),
            readings=(
                ClauseReport("accumulator", "followed", "element-type", touched=2),
                ClauseReport("sum-overflow", "followed", "overflows", touched=1),
            ),
        ),
        [
            "WARNING: sums of float16 are kept in the element type",
            "Sums of float64 overflow where the average does not.",
        ],
    ),
    "undefined": (
        lambda: made(
            result("a"),
            undefined=(UndefinedReport("all-padding-average", {"raised": 1, "nan": 12}),),
        ),
        ["Undefined behaviour", "all-padding-average nan 12, raised an exception 1"],
    ),
    "not repeatable": (
        lambda: made(result("a"), repeated=Repeatability(12, ("a", "b", "c", "d"), ("b",))),
        [
            "NOT REPEATABLE: 4 of 12 vectors called again gave other bits: a, b, c and 1 more",
            "the second result is wrong: b",
            "8 vectors called again gave the same bits",
        ],
    ),
    "unstable": (
        lambda: made(WRONG, result("b"), repeated=Repeatability(2, ("a", "b"))),
        [
            "UNSTABLE: another answer when called again in 1 failure",
            "unstable: another answer when called again in 1 failure",
        ],
    ),
    "expectations not met": (
        lambda: made(
            result("a"),
            expectations=Expectations("known.txt", Counter(mismatch=1), ("c",), ("b",), ("x*",)),
        ),
        [
            "failed as known.txt says: 1 mismatch, inconsistent c",
            "1 vector passed unexpectedly: b",
            "1 line that matches nothing: x*",
        ],
    ),
    "expected cause idle in a part": (
        lambda: made(
            result("a"),
            not_run=1,
            expectations=Expectations("known.txt", causes={"same-lower-as-upper": 0}),
        ),
        ["nothing failed here by cause same-lower-as-upper: remove the line if it explains"],
    ),
    "expected failure": (
        lambda: made(
            result("a", "mismatch", expected="#12"),
            result("b"),
            expectations=Expectations("f", Counter(mismatch=1)),
        ),
        ["1 of 2 answered vectors; 1 expected failure; standard"],
    ),
    "skipped": (
        lambda: made(
            result("a"),
            not_run=3,
            skips=Skips("skip.txt", (SkippedVector("b", "AvgPool-1", "12: hangs"),), ("x*",)),
        ),
        [
            "2 vectors left out by operator, tier or selection.",
            "1 vector: 12: hangs",
            "1 line that matches nothing: x*",
            "1 to skip but of no vector; 1 of 1 answered vector conforms; 1 skipped; standard",
        ],
    ),
    "floors missed": (
        lambda: made(
            result("a"),
            result("lost", "unsupported", detail="no such type"),
            support=Support(
                (Floor(90, percent=True),), baseline="b.jsonl", conforming=3, lost=("lost",)
            ),
        ),
        [
            "minimum supported 90%: 1 of 2 vectors supported, 2 needed.",
            "0 of 3 vectors that conform there are supported, 2 were not run, 1 are not",
            "1 AvgPool-1 vector: no such type",
            "below the minimum supported 90%: 1 of 2 supported; 1 lost",
        ],
    ),
    "floor of a shard": (
        lambda: made(result("a"), shard="1/2", support=Support((Floor(2),))),
        ["minimum supported 2: not judged, since merge judges shards; 1 of 1 vector"],
    ),
    "notes": (
        lambda: made(result("a"), notes=("12 answers are not for any vector",)),
        ["12 answers are not for any vector."],
    ),
    "likely cause": (
        lambda: made(
            WRONG,
            diagnoses=(Diagnosis("1 of 1 is", ("f",), 1, 1, 1, vectors=("a",), kind="fault"),),
        ),
        ["Likely cause", "1 of 1 is"],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", GALLERY)
def test_a_report_says_the_same_in_every_form(name, form):
    report, facts = GALLERY[name]
    text = FORMS[form](report())
    assert [fact for fact in facts if fact not in text] == []
