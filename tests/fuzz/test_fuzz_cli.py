"""`conformance fuzz`: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from fuzzed import HERE

from conformance.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def runs(*arguments):
        return CliRunner().invoke(main, ["fuzz", *arguments])

    return runs


def test_nothing_found_exits_0(run):
    """A right backend has nothing to show."""
    done = run(f"{HERE}:right", "--max-examples", "40", "--seed", "1", "--in-process")
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "NOTHING FOUND in 40 cases")


def test_something_found_exits_1_and_is_shown(run, tmp_path):
    """A wrong one gets the smallest case, its cause, a script, and a file of vectors."""
    arguments = ("--operator", "MaxPool-1", "--max-examples", "40", "--seed", "1")
    done = run(f"{HERE}:wrong", *arguments, "--in-process", "--save", "found.h5")
    assert done.exit_code == 1
    assert "Likely cause" in done.output
    assert "fault last-channel-unwritten" in done.output
    assert "# to see it again\nimport numpy as np" in done.output
    assert done.output.splitlines()[-1] == "FOUND 1 cause in 40 cases"
    assert (tmp_path / "found.h5").is_file()
    assert (tmp_path / ".conformance" / "fuzz").is_dir()
    checked = CliRunner().invoke(main, ["check", f"{HERE}:wrong", "found.h5", "--in-process"])
    assert checked.exit_code == 1


def test_the_script_shows_the_failure_again(run):
    """What is printed between the marks runs."""
    arguments = ("--operator", "MaxPool-1", "--max-examples", "40", "--seed", "1")
    done = run(f"{HERE}:wrong", *arguments, "--in-process")
    script = done.output.partition("# to see it again\n")[2].partition("# end")[0]
    names = {}
    exec(script.replace("print(", "shown = ("), names)
    assert names["shown"][1].startswith("instead of ")


def test_lines_fit_80_columns(run):
    """But for ids and paths, which are not broken."""
    done = run(f"{HERE}:wrong", "--max-examples", "60", "--seed", "1", "--in-process")
    long = [line for line in done.output.splitlines() if len(line) > 80]
    assert [line for line in long if "/float" not in line and "fuzzed.py" not in line] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--operator", "Pool"), "unknown operator 'Pool'"),
        (("--save", "found.txt"), "ends in .h5"),
        (("--save", "nowhere/found.h5"), "there is no directory"),
        (("--in-process", "--timeout", "3"), "not with --in-process"),
        (("--max-examples", "0"), "0 is not in the range"),
    ],
)
def test_wrong_usage_exits_2(run, arguments, said):
    """One line says what was wrong."""
    done = run(f"{HERE}:right", *arguments)
    assert (done.exit_code, said in done.output, done.output.count("\n")) == (2, True, 1)
