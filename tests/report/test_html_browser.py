"""The report as a web page, in a browser."""

# ruff: noqa: RUF001 - the page writes the signs of a book
import re
import shutil
import subprocess
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from support.fakes import altered
from support.parsed_page import Page
from support.report_samples import write_cases

from conformance import check, open_vectors
from conformance.report.html import render_report as render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>"
FRAME = """<!doctype html><title>none</title><iframe src="{}" width="360" height="700"></iframe>
<script>onload = () => {{
  const page = document.querySelector("iframe").contentDocument.documentElement;
  const cut = [...page.querySelectorAll("main .wide")].filter(
    box => box.scrollWidth > box.clientWidth);
  document.title = `${{page.scrollWidth}} of ${{page.clientWidth}}, ${{cut.length}} tables cut`;
}};</script>"""

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
    pytest.mark.slow("test_html.py reads what the page holds without a browser"),
]


def opened(path, fragment="", *options):
    """Return the page that a browser makes of a file, with what it wrote to its console."""
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *(f"--user-data-dir={path.parent / 'profile'}", "--enable-logging=stderr"),
        *("--virtual-time-budget=3000", "--window-size=1280,900", *options, "--dump-dom"),
        f"{path.as_uri()}{fragment}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return SimpleNamespace(page=Page(done.stdout), console=console)


def raising(operator, inputs, attributes):
    raise RuntimeError(HOSTILE)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Return the page of a backend that doubles every average."""
    return written(tmp_path_factory.mktemp("doubled"), altered(lambda output: output * 2))


def written(directory, backend):
    path = directory / "report.html"
    with open_vectors(write_cases(directory)) as files:
        report = check(backend, files, name="b", diagnose=False)
        path.write_text(render(report, files), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plain(report):
    """Return that page as it opens."""
    return opened(report)


def test_the_script_runs_without_errors(plain):
    """Nothing is written to the console: no error, nothing that the policy forbids."""
    assert plain.console == []
    scripted = [i for name in ("div", "span", "a") for i in plain.page.all(name, kind="scripted")]
    assert scripted
    assert not any("hidden" in plain.page.attributes[i] for i in scripted)


def test_the_first_failure_is_drawn(plain):
    """The padded input with the window, and the wrong elements of the output."""
    page = plain.page
    group = page.one("details", id="group-1")
    inside = [i for i in page.all("rect") if group in page.above(i)]
    kinds = [page.attributes[i].get("class", "").split() for i in inside]
    # Windows of 2x2 over 4x4, no padding; each of the four averages is wrong.
    assert sum(kind[:1] == ["cell"] and "wrong" not in kind for kind in kinds) == 16
    assert sum("read" in kind for kind in kinds) == 4
    assert sum("wrong" in kind for kind in kinds) == 4 + 1  # and one in the legend
    assert sum("frame" in kind for kind in kinds) == 1 + 1


def test_a_chosen_output_is_explained(plain):
    """What came, how far off it is, the cells that its window reads, and how it is made of them."""
    said = plain.page.text(plain.page.one("div", kind="reads"))
    assert said.startswith("output[0, 0, 0, 0] is 7, expected 3.5 wrong")
    assert "off by 3.5; allowed 1.88e-6 window 0:2 × 0:2 reads 1 2 5 6" in said
    assert said.endswith("expected: the sum of all 4 cells of the window, divided by 4")


def test_outputs_can_be_reached_by_keyboard(plain):
    """One cell of the output is in the order of focus, and says what it is."""
    (cell,) = [
        plain.page.attributes[i]
        for i in plain.page.all("g", role="gridcell")
        if plain.page.attributes[i]["tabindex"] == "0"
    ]
    assert cell["aria-label"] == "[0, 0, 0, 0] 7, expected 3.5, wrong"


def test_padding_and_overhang_are_drawn(report):
    """An address chooses the failure that is shown."""
    page = opened(report, "#vector=AvgPool-1/ceil").page
    texts = [page.text(i) for i in page.all("text", kind="blank")]
    # 6x6 with a pad all around is 8x8; ceil adds a row and a column of overhang.
    assert (texts.count("·"), texts.count("✕")) == (8 * 8 - 6 * 6, 9 * 9 - 8 * 8)


def test_the_filter_can_be_given_in_the_address(report):
    """Words, verdicts and groups narrow the list; what matches is counted."""
    for words, count in (("verdict:mismatch", 4), ("verdict:conforms", 1), ("CEIL group:1", 1)):
        page = opened(report, f"#filter={quote(words)}").page
        listing = page.one("div", id="list")
        rows = [i for i in page.all("span", kind="state") if listing in page.above(i)]
        assert len(rows) == count
        (where,) = [i for i in page.all("span", kind="where") if listing in page.above(i)]
        assert page.text(where) == f"1–{count} of {count}"


def test_hostile_text_does_not_run(tmp_path):
    """It is shown, and nothing else happens."""
    seen = opened(written(tmp_path, raising))
    title = seen.page.text(seen.page.one("title"))
    assert title == "Does not conform: b – pooling conformance"
    assert seen.console == []
    assert not seen.page.all("img")
    assert HOSTILE in seen.page.text(seen.page.one("details", id="group-1"))


def test_a_narrow_page_does_not_scroll_sideways(report):
    """At 360 pixels everything fits, or scrolls inside its own box."""
    frame = report.with_name("frame.html")
    frame.write_text(FRAME.format(report.name), encoding="utf-8")
    page = opened(frame, "", "--allow-file-access-from-files").page
    width, room = re.match(r"(\d+) of (\d+)", page.text(page.one("title"))).groups()
    assert 300 < int(width) <= int(room)


def test_no_table_is_cut_on_a_narrow_page(report):
    """Its rows become blocks, also those of the elements that are wrong."""
    path = report.with_name("frame.html")
    path.write_text(FRAME.format(report.name), encoding="utf-8")
    page = opened(path, "", "--allow-file-access-from-files").page
    assert page.text(page.one("title")).endswith(", 0 tables cut")
