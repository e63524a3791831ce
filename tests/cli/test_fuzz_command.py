"""`conformance fuzz`: what it prints, what it writes, and its exit codes."""

from functools import partial

import pytest
from support.command_line import run
from support.fuzzed import HERE

from conformance.errors import UsageError

SEARCH = ("--operator", "MaxPool-1", "--max-examples", "40", "--seed", "1", "--in-process")


@pytest.fixture
def fuzz(tmp_path, monkeypatch):
    """Run the command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return partial(run, "fuzz")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what a search in a backend that is wrong prints, and its directory."""
    folder = tmp_path_factory.mktemp("found")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "80")
        return run("fuzz", f"{HERE}:wrong", *SEARCH, "--save", "found.h5"), folder


def test_nothing_found_exits_0(fuzz):
    """A right backend has nothing to show."""
    done = fuzz(f"{HERE}:right", *SEARCH)
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "NOTHING FOUND in 40 cases")


def test_something_found_exits_1_and_is_shown(found):
    """A wrong one gets the smallest case, its cause, a script, and a file of vectors."""
    done, folder = found
    assert done.exit_code == 1
    assert "Likely cause" in done.output
    assert "fault last-channel-unwritten" in done.output
    assert "# to reproduce\nimport numpy as np" in done.output
    assert done.output.splitlines()[-1] == "FOUND 1 cause in 40 cases"
    assert (folder / ".conformance" / "fuzz").is_dir()
    assert run("check", f"{HERE}:wrong", folder / "found.h5", "--in-process").exit_code == 1


def test_a_backend_that_supports_nothing_is_not_ok(fuzz):
    """The cases were run, and none was computed."""
    done = fuzz(f"{HERE}:refusing", *SEARCH)
    said = "NOTHING WAS COMPUTED: the backend supports none of 40 cases"
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, said)


@pytest.mark.parametrize("name", ["fuzz.save", "fuzz.saving._write"])
def test_what_cannot_be_stored_is_shown_all_the_same(fuzz, monkeypatch, name):
    """In the file of findings or in the database: the exit code is that of an error."""

    def full(*_arguments):
        raise UsageError("found.h5: cannot be written: No space left on device")

    monkeypatch.setattr(f"conformance.{name}", full)
    done = fuzz(f"{HERE}:wrong", *SEARCH, "--save", "found.h5")
    said = "error: found.h5: cannot be written: No space left on device\n"
    assert (done.exit_code, done.stderr) == (2, said)
    assert done.stdout.splitlines()[-1] == "FOUND 1 cause in 40 cases"


def test_lines_fit_80_columns(found):
    """But for ids, paths and calls to paste, which are not broken."""
    long = [line for line in found[0].output.splitlines() if len(line) > 80]
    assert [
        line
        for line in long
        if "/float" not in line and "fuzzed.py" not in line and "backend('" not in line
    ] == []


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
def test_wrong_usage_exits_2(fuzz, arguments, said):
    done = fuzz(f"{HERE}:right", *arguments)
    assert (done.exit_code, said in done.output, done.output.count("\n")) == (2, True, 1)
