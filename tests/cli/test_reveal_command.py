"""`conformance reveal`: its arguments, what it prints and writes, how it ends."""

import json

import pytest
from support.command_line import run
from support.report_samples import write_cases

SMALL = ("--operator", "AvgPool-1", "--type", "float32", "--window", "5", "--in-process")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a vector file."""
    path = tmp_path_factory.mktemp("revealed")
    write_cases(path)
    return path


@pytest.fixture
def reveal(folder, monkeypatch):
    """Return what runs the command there, for one operator, type and window."""
    monkeypatch.chdir(folder)
    return lambda *given: run("reveal", "numpy", *given, *SMALL)


def test_it_prints_the_arithmetic_and_how_well_it_predicts(reveal):
    done = reveal(".")
    assert done.exit_code == 0, done.output
    assert "AvgPool-1 in float32" in done.stdout
    assert "bit for bit" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("REVEALED: a model of 1 of 1 average")


def test_json_has_format_version_and_trees(reveal):
    values = json.loads(reveal("--no-predict", "--json", "-").stdout)
    assert (values["format"], values["version"]) == ("pooling-conformance arithmetic", 1)
    window, two = values["averages"][0]["windows"]
    assert two["window"] == {"kernel": [5], "channels": 1, "per_plane": 2}
    assert window["additions"] == [[0, 1], [5, 2], [6, 3], [7, 4]]
    assert values["averages"][0]["prediction"] is None


def test_a_file_that_it_reads_is_not_written(reveal):
    done = reveal(".", "--json", "AvgPool-1.h5")
    assert done.exit_code == 2
    assert "this command reads it" in done.output
