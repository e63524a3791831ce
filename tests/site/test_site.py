"""A site as a whole: its pages, its links, and what strangers write into reports."""

import signal
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arbitrary_reports import made, real, reference, reports, result
from support.effort import examples
from support.parsed_page import Page
from support.report_samples import write_cases

from conformance import open_vectors, site
from conformance.errors import ReportFileError, UsageError
from conformance.record import jsonl
from conformance.record.report import ClauseReport, Diagnosis, UndefinedReport
from conformance.site import folder as folder_module

FAILING = "AvgPool-1/lower"
"""What treats same_lower as same_upper fails."""
HOSTILE = "../../<script>alert(1)</script>\"'&\u202e"


@pytest.fixture(autouse=True, scope="module")
def suite(tmp_path_factory):
    """Put a small suite in the place of the shipped one."""
    folder = tmp_path_factory.mktemp("suite")
    with open_vectors(write_cases(folder)) as files, pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder_module, "_shipped", lambda: nullcontext(files))
        yield


def saved(folder, *given):
    """Write reports; return their paths."""
    paths = [folder / f"{number}.jsonl" for number in range(len(given))]
    for path, report in zip(paths, given, strict=True):
        jsonl.write(report, path)
    return paths


def of(version, report):
    return replace(report, versions={"engine": version}, started=f"{version}-11-23T00:00:00")


@pytest.fixture(scope="module")
def right_and_wrong():
    """Return reports of upper, wrong in 2025 and right in 2026, and of another engine."""
    right = real(reference)
    other = replace(right, backend="other/engine")
    return of("2025", real()), of("2026", right), of("7", other)


@pytest.fixture(scope="module")
def made_site(tmp_path_factory, right_and_wrong):
    """Return the folder of a site of these, which stays as it is."""
    folder = tmp_path_factory.mktemp("made")
    site.write(saved(folder, *right_and_wrong), folder / "site")
    return folder / "site"


@pytest.fixture
def own_site(made_site, tmp_path):
    """Return a copy of it."""
    return copytree(made_site, tmp_path / "site")


def page(path):
    return Page(path.read_text(encoding="utf-8"))


def links(path):
    """Return the addresses that a page leads to, by their texts."""
    parsed = page(path)
    return {parsed.text(i): parsed.attributes[i]["href"] for i in parsed.all("a")}


def rows(path, name):
    """Return the texts of the cells of a table."""
    parsed = page(path)
    table = parsed.one("table", kind=name)
    inside = [i for i in parsed.all("tr") if table in parsed.above(i)]
    return [
        [parsed.text(i) for i, p in enumerate(parsed.parents) if p == row] for row in inside[1:]
    ]


def broken_links(folder):
    """Return the relative links of all pages that lead to no file of the site."""
    pages = [*folder.rglob("*.html")]
    assert pages
    return [
        (str(path), address)
        for path in pages
        for address in links(path).values()
        if not (address.startswith("#") or urlsplit(address).scheme == "https")
        and not ((path.parent / address).is_file() and "//" not in address)
    ]


def test_the_first_page_has_a_row_for_each_release(made_site):
    """Engine, release, verdict, numbers; the newest release of an engine comes first."""
    table = rows(made_site / "index.html", "releases")
    assert [row[:4] for row in table] == [
        ["other/engine", "7", "conforms", "5"],
        ["upper", "2026", "conforms", "5"],
        ["upper", "2025", "fails 20 % of supported", "4"],
    ]


def sections(path):
    """Return the names of the sections of a page, and their titles."""
    parsed = page(path)
    titles = {parsed.parents[i]: parsed.text(i) for i in parsed.all("h2")}
    names = {i: parsed.attributes[i].get("id") for i in parsed.all("section")}
    return [(name, titles[i]) for i, name in names.items() if i in titles]


def test_failures_and_causes_come_first_on_the_first_page(tmp_path):
    """Right after the releases; where the newest of every engine conforms, there are none."""
    site.write(saved(tmp_path, real()), tmp_path / "wrong")
    assert [name for name, _ in sections(tmp_path / "wrong" / "index.html")][:2] == [
        "failures",
        "operators",
    ]
    site.write(saved(tmp_path, real(reference)), tmp_path / "right")
    names = [name for name, _ in sections(tmp_path / "right" / "index.html")]
    assert names[0] == "operators"
    assert "failures" not in names


def test_the_page_of_an_engine_says_causes_before_numbers(tmp_path):
    """Each under its own title."""
    wrong = replace(real(), diagnoses=(Diagnosis("why", (), explained=1, exact=1, total=1),))
    site.write(saved(tmp_path, of("2025", wrong), of("2026", wrong)), tmp_path / "site")
    assert sections(tmp_path / "site" / "engines" / "upper.html")[:5] == [
        ("releases", "Releases"),
        ("changes", "Since 2025"),
        ("causes", "Likely causes"),
        ("operators", "By operator"),
        ("counts", "Release 2026"),
    ]


def test_every_link_leads_to_a_file_of_the_site(made_site):
    """From and to every kind of page, badges and raw reports too."""
    assert broken_links(made_site) == []
    from_index = links(made_site / "index.html")
    assert from_index["upper"] == "engines/upper.html"
    assert from_index["2025"] == "engines/upper.html"
    assert from_index["2025-11-23"].startswith("reports/upper-2025-")
    assert from_index["same-output-size"] == "clauses/same-output-size.html"
    assert "../badges/upper.svg" in links(made_site / "engines" / "upper.html").values()


def test_the_page_of_an_engine_has_its_trend_and_the_newest_report(made_site):
    """What got better since the release before, and the verdict on the newest."""
    path = made_site / "engines" / "upper.html"
    said = page(path)
    assert said.text(said.one("p", kind="verdict")) == "Conforms"
    assert [row[-3] for row in rows(path, "releases")] == ["1 better, 1 reading changed", ""]
    assert "BETTER: 1 vector got better" in said.text(said.one("section", id="changes"))
    assert said.all("section", id="readings")


def test_the_page_of_a_clause_says_who_does_what(made_site):
    """A disputed one has readings, an undefined one what was done."""
    disputed, undefined = (
        rows(made_site / "clauses" / f"{name}.html", "followed")
        for name in ("overhang-divisor", "all-padding-average")
    )
    releases = [["other/engine", "7"], ["upper", "2026"], ["upper", "2025"]]
    assert [row[:2] for row in disputed] == [row[:2] for row in undefined] == releases
    assert {row[2] for row in disputed} == {"padded-extent"}
    assert {row[2] for row in undefined} == {"nan 1"}


def test_the_page_of_a_vector_says_who_fails_it_and_shows_its_windows(made_site):
    """With what was wrong, and the expected values where the suite has the vector."""
    address = links(made_site / "vectors.html")[FAILING]
    path = made_site / address
    table = rows(path, "answers")
    assert [row[:3] for row in table] == [
        ["other/engine", "7", "conforms"],
        ["upper", "2026", "conforms"],
        ["upper", "2025", "mismatch"],
    ]
    assert "elements differ; [" in table[2][3]
    assert "expected[0, 0, :, :]" in page(path).text(page(path).one("section", id="windows"))


def test_a_vector_that_the_suite_has_not_comes_with_its_attributes(tmp_path):
    """Those in the report."""
    site.write(saved(tmp_path, made(result("strange", "error", detail="no"))), tmp_path / "site")
    (path,) = (tmp_path / "site" / "vectors").iterdir()
    said = page(path)
    assert "kernel=[2,2]" in said.text(said.one("section", id="vector"))


def test_vectors_beyond_a_number_have_no_page_and_that_is_said(tmp_path):
    report = made(*(result(f"v{i}", "error", detail="no") for i in range(5)))
    written = site.write(saved(tmp_path, report), tmp_path / "site", most_vectors=3)
    assert (written.failing, written.with_page) == (5, 3)
    assert len([*(tmp_path / "site" / "vectors").iterdir()]) == 3
    said = page(tmp_path / "site" / "vectors.html")
    assert "3 of 5 vectors" in said.text(said.one("section", id="number"))


def test_reports_of_other_vectors_are_not_compared_without_a_word(tmp_path):
    """The first page says in what reports differ, and which runs were cut short."""
    one, other = made(result("a")), made(result("b"), tier="smoke", stopped="stopped")
    site.write(saved(tmp_path, of("1", one), of("2", other)), tmp_path / "site")
    said = page(tmp_path / "site" / "index.html")
    alerts = [said.text(i) for i in said.all("p", role="alert")]
    assert [alert.partition(":")[0] for alert in alerts] == [
        "Reports differ in tier",
        "Runs that were cut short",
    ]


def test_no_page_needs_a_script_or_an_address(made_site):
    """There is no script at all, and the policy of each page allows none."""
    for path in made_site.rglob("*.html"):
        parsed = page(path)
        assert not parsed.all("script")
        policy = next(a["content"] for a in parsed.attributes if "http-equiv" in a)
        assert "script-src" not in policy


def test_hostile_texts_stay_texts_and_their_files_stay_inside(tmp_path):
    """Names of engines, versions, vectors and clauses are those of strangers."""
    report = made(
        result(HOSTILE, "mismatch", operator=HOSTILE, detail=HOSTILE, clauses={HOSTILE: ()}),
        backend=HOSTILE,
        versions={"engine": HOSTILE},
        readings=(ClauseReport(HOSTILE, "followed", HOSTILE),),
        undefined=(UndefinedReport(HOSTILE, {HOSTILE: 1}),),
        tier=HOSTILE,
    )
    folder = tmp_path / "in" / "site"
    site.write(saved(tmp_path, report), folder)
    assert broken_links(folder) == []
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} >= {"index.html"}
    assert not any(page(path).all("script") for path in folder.rglob("*.html"))
    outside = {path for path in tmp_path.rglob("*") if folder not in (path, *path.parents)}
    assert {path.name for path in outside} == {"0.jsonl", "in"}


@examples(0.4)
@given(given_report=reports(max_size=2), more=st.booleans())
def test_any_report_makes_a_site(given_report, more, tmp_path_factory):
    """Whatever is in it, every page is whole and leads somewhere."""
    folder = tmp_path_factory.mktemp("any")
    given_reports = [given_report, of("more", made(result("a"), backend="b"))][: 1 + more]
    site.write(saved(folder, *given_reports), folder / "site")
    assert broken_links(folder / "site") == []


def test_a_site_is_renewed_and_what_others_put_there_stays(own_site):
    """Pages of what is not given any more go; its own raw reports can be given again."""
    (own_site / "CNAME").write_text("example.org")
    raw = [path for path in (own_site / "reports").iterdir() if "other" in path.name]
    site.write(raw, own_site)
    assert (own_site / "CNAME").read_text() == "example.org"
    assert len([*(own_site / "engines").iterdir()]) == 1
    assert [*(own_site / "reports").iterdir()] == raw


def test_a_file_of_others_stays_in_the_folders_of_a_site_too(own_site):
    """One that has the name of a page is named, and nothing changes."""
    reports = [*(own_site / "reports").iterdir()]
    (own_site / "engines" / "notes.html").write_text("mine")
    site.write(reports[:1], own_site)
    assert (own_site / "engines" / "notes.html").read_text() == "mine"
    (page_of_another,) = {path.name for path in (own_site / "badges").glob("*.svg")}
    raw = own_site / "reports" / "raw.jsonl"
    jsonl.write(of("1", made(result("a"), backend="notes")), raw)
    before = (own_site / "index.html").read_bytes()
    with pytest.raises(UsageError, match=r"engines/notes\.html: in the way"):
        site.write([raw], own_site)
    assert (own_site / "index.html").read_bytes() == before
    assert (own_site / "badges" / page_of_another).exists()


def test_an_interrupt_while_a_site_is_renewed_leaves_it_whole(own_site, made_site, monkeypatch):
    """It waits until all pages have their places."""

    def interrupted(path, target, *, call):
        signal.raise_signal(signal.SIGINT)
        return call(path, target)

    for name in ("rename", "replace"):
        call = partial(interrupted, call=getattr(Path, name))
        monkeypatch.setattr(Path, name, lambda path, target, call=call: call(path, target))
    reports = [*(own_site / "reports").iterdir()]
    with pytest.raises(KeyboardInterrupt):
        site.write(reports, own_site)
    assert broken_links(own_site) == []
    names = [{path.relative_to(at) for path in at.rglob("*")} for at in (own_site, made_site)]
    assert names[0] == names[1]


def test_a_folder_that_is_no_site_is_refused(tmp_path):
    """Nothing in it changes."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="give a new folder, an empty one or a site"):
        site.write(saved(tmp_path, made(result("a"))), tmp_path / "site")
    assert (tmp_path / "site" / "index.html").read_text() == "mine"


def test_a_broken_report_is_named_and_a_site_that_is_there_stays(own_site, tmp_path):
    """One line says which, and where."""
    before = (own_site / "index.html").read_bytes()
    (tmp_path / "0.jsonl").write_text("{")
    with pytest.raises(ReportFileError, match=r"0\.jsonl: not a report"):
        site.write([*(own_site / "reports").iterdir(), tmp_path / "0.jsonl"], own_site)
    assert (own_site / "index.html").read_bytes() == before
