"""The benchmarks run: their cheap rows, and the page they are written to."""

import subprocess
import sys

import pytest
from support.paths import ROOT

sys.path.insert(0, str(ROOT))

from benchmarks.__main__ import BEGIN, END, GROUPS, insert, page
from benchmarks.paired import Effort, Row, measured, spread

CHEAP = ("storage", "start")


@pytest.fixture
def performance(tmp_path):
    """Return a page with the two marks and prose around them."""
    path = tmp_path / "performance.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    return path


@pytest.mark.slow("it measures; what writes the page is tested below")
def test_the_cheap_groups_run_and_write_their_rows(performance):
    """A quick run of them puts their table between the marks."""
    only = [word for group in CHEAP for word in ("--only", group)]
    command = [sys.executable, "-m", "benchmarks", "--quick", *only, "--write", str(performance)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in performance.read_text().splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows] == [
        "| what",
        "| write 100 vectors",
        "| read 100 vectors",
        "| bytes of a vector",
        "| conformance --help",
    ]


def test_prose_around_the_table_stays(performance):
    """What was between the marks is replaced, and nothing else."""
    content = page([Row("a", "b", "1 s", "2 s", "0.5")], "a machine")
    insert(performance, content)
    insert(performance, content)
    assert performance.read_text() == f"before\n{BEGIN}\n\n{content}\n\n{END}\nafter\n"


def test_a_pair_is_timed_in_turns():
    """One of each to warm up, then rounds of both."""
    calls = []
    row = measured("a", "b", lambda: calls.append("ours"), lambda: calls.append("theirs"), 3)
    assert calls == ["ours", "theirs"] * 4
    assert row.null


def test_the_spread_of_ratios_is_their_median_and_quartiles():
    """Of fewer than three there are no quartiles."""
    assert spread([1.0, 2.0, 3.0, 4.0, 5.0]) == "3 (2-4)"
    assert spread([2.0]) == "2"
    assert spread([]) == ""


def test_a_quick_run_has_few_rounds():
    """And a full one as many as a row asks for."""
    assert (Effort(quick=True).rounds(21), Effort().rounds(21)) == (3, 21)


def test_every_group_is_in_the_table_of_groups():
    """benchmarks/README.md lists each, and docs/development/performance.md has the marks."""
    readme = (ROOT / "benchmarks" / "README.md").read_text()
    assert [group for group in GROUPS if f"| `{group}` |" not in readme] == []
    assert BEGIN in (ROOT / "docs" / "development" / "performance.md").read_text()
