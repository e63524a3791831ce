"""`conformance compare`: its arguments, what it prints and writes, how it ends."""

import json

import pytest
from support.command_line import run
from support.report_samples import write_cases

BACKENDS = """
from conformance.backends import load_backend
reference = load_backend("numpy")
def right(*case):
    return reference(*case)
def wrong(operator, inputs, attributes):
    return reference(operator, inputs, attributes) + 1
def crash(*case):
    import os
    os.kill(os.getpid(), 9)
def some(operator, inputs, attributes):
    if "rounding_type" in attributes:
        raise NotImplementedError("no ceil")
    return reference(operator, inputs, attributes)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a vector file and backends."""
    path = tmp_path_factory.mktemp("compared")
    write_cases(path)
    (path / "b.py").write_text(BACKENDS)
    return path


@pytest.fixture
def compare(folder, monkeypatch):
    """Return what runs the command there; neither causes nor arithmetic, which take seconds."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    def compare(*given, apart=False, arithmetic=False):
        how = [] if apart else ["--in-process"]
        how += [] if arithmetic else ["--no-arithmetic"]
        return run("compare", *given, *how, "--diagnose", "none")

    return compare


def test_it_describes_and_does_not_judge(compare):
    """A backend that fails is a row like another, and the exit code is 0."""
    done = compare("numpy", "b.py:wrong", ".")
    assert done.exit_code == 0
    assert "b.py:wrong" in done.stdout
    assert "AvgPool-1: 4 mismatch" in done.stdout


def test_arithmetic_is_revealed_unless_it_is_left_out(compare):
    """A section of the page says how each backend computes an average."""
    assert "first: 8 lanes" in compare("numpy", "AvgPool-1.h5", arithmetic=True).stdout
    assert "Arithmetic" not in compare("numpy", "AvgPool-1.h5").stdout


def test_a_backend_that_was_not_run_says_why_and_ends_it_with_2(compare):
    """The others are shown all the same."""
    done = compare("b.py:gone", "numpy", ".")
    assert done.exit_code == 2
    assert "b.py:gone not run: backend 'b.py:gone': b has no 'gone'" in done.stdout
    assert "numpy" in done.stdout
    assert done.stderr == "error: 1 of 2 backends not run: b.py:gone\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["nunpy"], "no backend 'nunpy' (did you mean numpy?)"),
        (["numpy", "nowhere"], "or a path to vectors that exists"),
        ([".", "numpy"], "no backend '.'"),
        (["numpy", ".", "--markdown", "no/such/place"], "cannot write no/such/place"),
    ],
    ids=str,
)
def test_wrong_usage_is_one_line(compare, given, said):
    """Said before anything runs."""
    done = compare(*given)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_what_a_file_skips_is_called_in_no_backend(compare, folder):
    """It would hang the device in each; the page counts it apart, with the reason."""
    (folder / "skip.txt").write_text("skip AvgPool-1/* # 12: hangs\nskip MaxPool-1/* # 13: too\n")
    given = ["--skip", "skip.txt", "--json", "skipped.json", "--markdown", "skipped.md"]
    done = compare("numpy", "b.py:right", ".", *given)
    assert "2 backends, 0 vectors" in done.stdout
    assert "5 vectors: 12: hangs" in done.stdout
    assert "1 line that matches nothing: MaxPool-1/*" in done.stdout
    skipped = json.loads((folder / "skipped.json").read_text())["skips"]["vectors"]
    assert [each["reason"] for each in skipped] == ["12: hangs"] * 5
    assert " --skip skip.txt " in (folder / "skipped.md").read_text()


def test_no_line_is_longer_than_the_terminal(compare):
    """Tables of many backends are split to fit."""
    many = [f"b.py:{name}" for name in ("right", "some", "wrong", "reference")]
    done = compare("numpy", *many, ".")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert [name for name in many if done.stdout.count(f" {name}") == 0] == []


def test_the_markdown_page_names_the_command_that_made_it(compare, folder):
    """So that anyone can make it again."""
    compare("numpy", "b.py:wrong", ".", "--select", "AvgPool-1/*", "--markdown", "page.md")
    page = (folder / "page.md").read_text()
    command = "conformance compare numpy b.py:wrong . --diagnose none --select 'AvgPool-1/*'"
    command += " --no-arithmetic"
    assert f"Made by `{command} --markdown page.md" in page
    assert "| AvgPool-1 | float32 | 5/5 | 1/5 |" in page


def test_json_holds_the_values(compare, folder):
    """The same counts as the page, under names, and why a backend was not run."""
    compare("numpy", "b.py:gone", ".", "--json", "values.json")
    values = json.loads((folder / "values.json").read_text())
    found, gone = values["backends"]
    assert (values["format"], values["version"]) == ("pooling-conformance comparison", 1)
    assert found["counts"] == {"AvgPool-1": {"float32": {"conforms": 5}}}
    assert list(gone) == ["backend", "version", "problem"]
