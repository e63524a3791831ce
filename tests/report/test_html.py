"""The report as a web page."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from support.fakes import altered, right
from support.parsed_page import Page
from support.report_samples import PLAIN, case, write, write_cases

from conformance import check, load_backend, open_vectors
from conformance.operators import vector_of
from conformance.record.why import Told
from conformance.report import document as doc
from conformance.report import html
from conformance.report.concentration import concentrations
from conformance.report.html import render_report as render
from conformance.report.html.drawings import LARGEST
from conformance.report.html.json_data import json_text
from conformance.text import html as visible
from conformance.vectorfile import shipped_suite

HOSTILE = "</script><script>alert(1)</script>\x1b[31m\u202e<img src=x onerror=alert(2)>&amp;"


@pytest.fixture
def files(tmp_path):
    """Return the vectors of five small cases."""
    with open_vectors(write_cases(tmp_path)) as opened:
        yield opened


def raising(text):
    """Return a backend that raises a text."""

    def backend(operator, inputs, attributes):
        raise RuntimeError(text)

    return backend


def page_of(backend, files, **options):
    return Page(render(check(backend, files, name="b", diagnose=False, **options), files))


doubled = altered(lambda output: output * 2)


def test_a_likely_cause_leads_to_its_failures():
    """Causes come before failures, and each names the groups that it explains."""
    faulty = load_backend("examples/backend_faulty.py:backend")
    with open_vectors(shipped_suite() / "MaxPool-1.h5") as vectors:
        report = check(faulty, vectors, tier="smoke")
        page = Page(render(report, vectors))
    cause, group = page.one("li", id="cause-1"), page.one("details", id="group-1")
    assert cause < group
    assert "auto_pad=same_lower taken as same_upper" in page.text(cause)
    jumps = [page.attributes[i]["href"] for i in page.all("a", kind="jump") if cause < i < group]
    assert jumps == ["#group-1", "#filter=cause:1"]
    assert page.data("described")["failures"][0][2] == [1]


def test_a_group_is_readable_without_a_script(files):
    """Its size, what its vectors share, and one of them in full are plain HTML."""
    page = page_of(doubled, files)
    group = page.text(page.one("details", id="group-1"))
    assert group.startswith("1 AvgPool-1: wrong values")
    assert "4 vectors" in group
    assert "attributes exclude_pad=false kernel=[2,2]" in group
    assert "worst [0, 0, 0, 0] is 7, expected 3.5" in group
    assert "error 3.5 (1.47e+07 ulp), allowed 1.88e-06" in group
    assert "Others of the group AvgPool-1/empty-window" in group


def test_every_failure_has_its_facts(files):
    """The script finds attributes, data, clauses and source of each."""
    page = page_of(doubled, files)
    described, listing = page.data("described"), page.data("list")
    found = {}
    for vector, _, _, numbers, _ in described["failures"]:
        texts = [described["texts"][number] for number in numbers]
        facts = dict(zip(texts[::2], texts[1::2], strict=True))
        found[listing["id"][vector]] = facts
    assert found["AvgPool-1/lower"]["data"] == "float32 1x1x6x6, index"
    assert found["AvgPool-1/plain"]["source"] == "AvgPool-1, Attributes (derived)"
    assert "overhang-divisor" in found["AvgPool-1/ceil"]["clauses"]


def drawing_of(page, name):
    """Return what the page carries to draw a vector."""
    listing, failures = page.data("list"), page.data("described")["failures"]
    place = [listing["id"][failure[0]] for failure in failures].index(f"AvgPool-1/{name}")
    return page.data("shown")[str(place)]["drawing"]


def numbers(texts):
    """Return elements as the page writes them."""
    return [float(text) for text in texts.split(" ")]


def test_a_drawing_has_the_geometry_of_the_vector(files):
    """Windows, data and outputs are those of the reference; what is as expected is left out."""
    drawn = drawing_of(page_of(doubled, files), "lower")
    # 6 cells, kernel 3, stride 2: three windows from -1 on, whatever pads were given.
    (data,) = drawn["sources"]
    assert data["axes"] == [{"start": [-1, 1, 3], "length": 3, "pads": [1, 0]}] * 2
    assert numbers(data["values"]) == list(range(1, 37))
    expected = numbers(drawn["expected"])
    assert expected[-1] == np.mean([22, 23, 24, 28, 29, 30, 34, 35, 36], dtype=np.float32)
    assert numbers(drawn["got"].replace("!", "")) == [2 * value for value in expected]


def test_a_drawing_says_how_each_element_is_made(files):
    """In the words of `conformance show`, each written once."""
    drawn = drawing_of(page_of(doubled, files), "lower")
    made = [drawn["made"][number] for number in drawn["which"]]
    assert made[0] == ": the sum of 4 of the window's 9 cells, divided by 9"
    assert made[-1] == ": the sum of all 9 cells of the window, divided by 9"
    assert len(made) == 9


def test_a_drawing_marks_exactly_the_wrong_elements(files):
    """What is as expected is not repeated; of wrong ones it says how far off they might be."""

    def change(output):
        output = output.copy()
        output[0, 0, 0, 1] += 1
        return output

    drawn = drawing_of(page_of(altered(change), files), "lower")
    should = numbers(drawn["expected"])[1]
    assert drawn["got"].split(" ") == ["", f"!{should + 1:g}", *[""] * 7]
    assert len(drawn["allowed"]) == 1
    assert drawn["worst"] == [0, 0, 0, 1]


def test_where_the_output_was_not_kept_two_elements_are_known(files):
    """The first and the worst wrong one, which every report names."""
    report = check(doubled, files, diagnose=False)
    results = [structs.replace(result, output=None) for result in report.results]
    drawn = drawing_of(Page(render(replace(report, results=results), files)), "plain")
    assert (drawn["got"].split(" "), drawn["known"]) == (["!7", "", "", ""], "1 of 4")


def test_an_output_of_another_shape_is_shown_as_it_is(files):
    """Beside the expected output, for nothing can be marked in it."""
    drawn = drawing_of(page_of(altered(lambda output: output[..., :1]), files), "plain")
    title, rows = drawn["other"]
    assert title == "returned: float32 1x1x2x1, expected float32 1x1x2x2"
    assert numbers(" ".join(rows.split())) == [3.5, 11.5]
    assert "got" not in drawn


def test_an_accepted_invalid_case_has_no_drawing_but_a_reason(files):
    """There are no windows where the strides are zero."""
    page = page_of(lambda operator, inputs, attributes: inputs[0], files)
    assert "stride" in drawing_of(page, "stride-zero")["note"]


def test_of_a_large_vector_the_worst_element_is_drawn(tmp_path):
    """As text, for its values would fill the file."""
    large = case("large", PLAIN, 1, 1, 2, LARGEST)
    with open_vectors(write(tmp_path / "AvgPool-1.h5", [vector_of(large)])) as files:
        drawn = drawing_of(page_of(doubled, files), "large")
    assert drawn["text"].startswith("data[0, 0, :, :]")
    assert "the sum of all 4 cells of the window, divided by 4" in drawn["text"]
    assert max(map(len, drawn["text"].split("\n"))) <= 100


def test_without_vectors_the_page_says_that_it_has_no_drawings(files):
    """A report read from a file may have lost them."""
    report = check(doubled, files, diagnose=False)
    page = Page(render(report))
    assert page.data("shown") == {}
    assert "no drawings" in page.text(page.one("section", id="failures"))


def test_a_failure_comes_with_a_script(files):
    """It shows the failure again."""
    shown = page_of(doubled, files).data("shown")
    assert all("load_backend" in each["script"] for each in shown.values())


def test_failures_concentrate_where_they_are(files):
    """The attribute that tells most comes first, with failing of run for each value."""

    def backend(operator, inputs, attributes):
        wrong = attributes.get("auto_pad") == "same_lower"
        return (doubled if wrong else right)(operator, inputs, attributes)

    tables = concentrations(check(backend, files, diagnose=False).results)
    auto_pad = next(table for table in tables if table.attribute == "auto_pad")
    rows = [(row.value, row.failing, row.run) for row in auto_pad.rows]
    assert rows == [("same_lower", 1, 1), ("explicit", 0, 4)]
    assert tables[0].telling == auto_pad.telling
    assert concentrations(check(right, files).results) == []


def test_hostile_text_is_only_text(files):
    """Whatever a backend raises, no element and no script comes of it."""
    calm, hostile = page_of(raising("calm"), files), page_of(raising(HOSTILE), files)
    assert hostile.tags == calm.tags
    assert "<img src=x onerror=alert(2)>" in hostile.text(hostile.one("details", id="group-1"))


def test_what_hides_or_reorders_is_written_as_an_escape(files):
    """Neither the page nor its data holds such a character."""
    report = check(raising(HOSTILE), files, name="\u2066b\x00", diagnose=False)
    text = render(report, files)
    assert not set(text) & set("\x1b\u202e\u2066\x00")
    page = Page(text)
    assert page.text(page.one("h1")) == r"\u2066b\x00"
    assert any(r"\x1b[31m\u202e" in each for each in page.data("described")["texts"])


def test_text_that_is_very_long_is_cut(files):
    """And says how long it was."""
    report = check(right, files)
    results = [structs.replace(r, verdict="error", why=Told("x" * 10**6)) for r in report.results]
    text = render(replace(report, results=results), files)
    assert len(text) < 200_000
    assert "(1,000,000 characters in all)" in text


def test_nothing_is_loaded_and_only_the_own_script_runs(files):
    """There is no address, and the policy allows one script and one style, by their digests."""
    text = render(check(doubled, files, diagnose=False), files)
    page = Page(text)
    loading = {"src", "srcset", "data", "poster", "action", "formaction"}
    assert not [a for a in page.attributes if loading & a.keys()]
    assert {a["href"][0] for a in page.attributes if "href" in a} == {"#"}
    assert not set(page.tags) & {"link", "iframe", "object", "embed", "img", "base"}
    assert not [a for a in page.attributes if any(name.startswith("on") for name in a)]
    assert not [a for a in page.attributes if "style" in a]
    style, *rest = page.all("style")
    (script,) = [i for i in page.all("script") if not page.attributes[i]]
    assert not rest
    css = "".join(page.texts[style])
    assert not re.findall(r"@import|url\((?!#)|https?:", css)
    policy = page.attributes[page.one("meta", **{"http-equiv": "Content-Security-Policy"})]
    for element in (style, script):
        digest = b64encode(sha256("".join(page.texts[element]).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy["content"]
    assert "default-src 'none'" in policy["content"]


def test_links_to_public_reports_are_links_only_if_they_are_addresses(files):
    """A cause may name threads; nothing but https is followed."""
    threads = ("https://example.org/1?a=1&b=2", "javascript:alert(1)")
    faulty = load_backend("examples/backend_faulty.py:backend")
    report = check(faulty, files, diagnose="seen")
    cause = replace(report.diagnoses[0], threads=threads)
    page = Page(render(replace(report, diagnoses=(cause,)), files))
    links = [a["href"] for a in page.attributes if not a.get("href", "#").startswith("#")]
    assert links == [threads[0]]


def test_without_a_script_every_part_is_there():
    """A page with one has the blocks of the first parts, and the script fills in the others."""
    parts = doc.Series((1,) * 61, lambda n: doc.Part("", (doc.Paragraph(f"{n}!"),)), "x", "y")
    page = Page(html.render(doc.Document("a", (doc.Section("b", (parts,)),))))
    assert page.text(page.one("details", id="y-61")).endswith("60!")


def test_names_of_other_pages_lead_there():
    """Whole texts alone: names of columns, clauses and vectors, and links to them."""
    document = doc.Document(
        "a",
        (
            doc.Section("", (doc.Facts((("x", "said"),)), doc.table(("x", "y"), [("xx", "z")]))),
            doc.Section("", (doc.Entries(("", "", ""), (doc.Entry("z", doc.Span("")),)),)),
            doc.Section("", (doc.Paragraph((doc.Span("more", link="x"), " of x")),)),
        ),
        menu=doc.Span("up", link="javascript:alert(1)"),
    )
    page = Page(html.render(document, pages={"x": "x.html", "z": "z.html"}))
    links = [(page.text(i), page.attributes[i]["href"]) for i in page.all("a")[1:]]
    to_x, to_z = ("x", "x.html"), ("z", "z.html")
    assert links == [to_x, to_x, to_z, to_z, ("more", "x.html")]


def test_equal_reports_give_equal_pages(files):
    """Nothing of the day or of the order in memory is in it."""
    report = check(doubled, files, diagnose=False)
    assert render(report, files) == render(report, files)


def test_a_thousand_failures_stay_small():
    """Below 10 MB, all failures with their facts, some of every group with their data."""

    def zeros(operator, inputs, attributes):
        return inputs[0] * 0

    with open_vectors(shipped_suite() / "ONNX-AveragePool-22.h5") as vectors:
        report = check(zeros, vectors, diagnose=False)
        text = render(report, vectors)
    page = Page(text)
    failures = page.data("described")["failures"]
    assert len(failures) > 900
    assert len(failures) == sum(report.counts[v] for v in ("mismatch", "accepted-invalid", "error"))
    assert len(text) < 10_000_000
    shown = {failures[int(place)][1] for place in page.data("shown")}
    assert shown == {group for _, group, *_ in failures}


@pytest.mark.slow("a thousand failures stay small as well")
def test_tens_of_thousands_of_failures_stay_small(files):
    """Those that are left out are counted; every group keeps some."""
    report = check(raising("x" * 200), files, diagnose=False)
    many = [
        structs.replace(result, id=f"{result.id}-{copy:0100}", dtype=dtype)
        for dtype in ("float32", "float64")
        for copy in range(4000)
        for result in report.results
        if result.verdict == "error"
    ]
    text = render(replace(report, results=many), files)
    page = Page(text)
    failures = page.data("described")["failures"]
    assert len(text) < 10_000_000
    assert len(many) > len(page.data("list")["id"]) > len(failures) > 1000
    assert f"{len(failures):,} with their facts" in page.text(page.one("section", id="failures"))


def test_elements_have_headings_and_labels(files):
    """Tables have header cells with a scope, sections and drawings of bars a name."""
    page = page_of(doubled, files)
    assert all("scope" in page.attributes[i] for i in page.all("th"))
    ids = {a["id"] for a in page.attributes if "id" in a}
    named = [page.attributes[i] for i in page.all("section")]
    assert all("aria-label" in a or a["aria-labelledby"] in ids for a in named)
    svgs = [page.attributes[i] for i in page.all("svg")]
    assert all("aria-label" in a or a.get("aria-hidden") == "true" for a in svgs[:-3])
    assert page.attributes[page.one("html")]["lang"] == "en"
    jumps = {a["href"][1:] for a in page.attributes if a.get("href", "").startswith("#")}
    assert {jump for jump in jumps if not jump.startswith("filter=")} <= ids


SOURCES = Path(html.__file__).parent


def test_what_acts_on_a_click_is_a_button_or_acts_on_keys_too():
    """So that nothing needs a mouse; and no button is disabled, which would lose the focus."""
    script = "".join(path.read_text() for path in sorted(SOURCES.glob("*.js")))
    made = re.split(r'(?:make|shape)\("', script)
    clicked = [each for each in made if "onclick" in each]
    assert len(clicked) > 5
    assert [
        each for each in clicked if not each.startswith("button") and "onkeydown" not in each
    ] == []
    assert ".disabled" not in script


@pytest.mark.parametrize("theme", [0, 1, 2], ids=["light", "dark by system", "dark by choice"])
def test_text_contrasts_with_what_is_behind_it(theme):
    """As WCAG 2 asks of small text: 4.5 to 1."""
    css = (SOURCES / "page.css").read_text()
    found = [each for each in re.findall(r"{([^{}]*)}", css) if "--paper:" in each]
    colours = dict(re.findall(r"--([a-z-]+): #([0-9a-f]{6})", found[theme]))
    light = {name: luminance(colour) for name, colour in colours.items()}
    for text in ("ink", "quiet", "link", "bad", "good", "warn", "window"):
        behind = {"paper", "ground", "faint", f"{text}-ground"} & light.keys()
        low, high = zip(*(sorted((light[text], light[each])) for each in behind), strict=True)
        assert min((b + 0.05) / (a + 0.05) for a, b in zip(low, high, strict=True)) >= 4.5


def luminance(colour):
    """Return the relative luminance of six hexadecimal digits, by WCAG 2."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@given(st.text(st.characters(codec=None, categories=None)))
def test_visible_text_is_printable(text):
    """Whatever comes in; and what was harmless is not changed."""
    found = visible(text)
    assert found.replace("\n", "").replace("\t", "").isprintable()
    assert not text.isprintable() or found == text


@given(st.recursive(st.text() | st.integers(), lambda each: st.lists(each, max_size=3)))
def test_json_is_safe_inside_a_script(value):
    """It holds no bracket that could end the element, and reads back as the visible text."""
    text = json_text({"value": value})
    assert not set(text) & set("<>&")
    assert text.isascii()

    def seen(item):
        if isinstance(item, list):
            return [seen(each) for each in item]
        return visible(item) if isinstance(item, str) else item

    assert json.loads(text) == {"value": seen(value)}
