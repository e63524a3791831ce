"""`conformance history`: its arguments, what it keeps and says, how it ends.

The releases are of a package that a fake installer makes: one file, with the version in it.
"""

import re
import sys
from dataclasses import replace
from functools import partial

import pytest
from support.command_line import run

from conformance import check, load_backend
from conformance.history import api, history
from conformance.history.environment import NotRun
from conformance.record import jsonl
from conformance.vectorfile.suite import shipped_suite

VECTORS = shipped_suite() / "ONNX-GlobalMaxPool-22.h5"
ADAPTER = """
from conformance.backends import load_backend
import engine
right = load_backend("numpy")
def backend(*case):
    return right(*case) + (engine.VERSION == "2.0")
"""
STARTS = """#!/bin/sh
PYTHONPATH="$PYTHONPATH:{folder}" exec {python} "$@"
"""


def _is_progress(line):
    """Say whether a line says what is being done: each release takes minutes."""
    return ": installing and checking, " in line


def fake_install(folder, requirements):
    """Make an environment of this interpreter and a module; 3.0 and 4.0 do not install."""
    package, _, version = requirements[0].partition("==")
    if version == "3.0":
        raise NotRun(f"No matching distribution found for {requirements[0]}")
    folder.mkdir()
    if version == "4.0":
        raise NotRun(f"{folder}/engine.py is broken")
    (folder / f"{package}.py").write_text(f"VERSION = {version!r}")
    python = folder / "python"
    python.write_text(STARTS.format(folder=folder, python=sys.executable))
    python.chmod(0o755)
    return python


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with an adapter, and a report of release 1.0."""
    path = tmp_path_factory.mktemp("releases")
    (path / "adapter.py").write_text(ADAPTER)
    (path / "kept").mkdir()
    settings = {"name": "adapter.py:backend", "tier": "smoke", "diagnose": "none"}
    report = check(load_backend("numpy"), VECTORS, **settings)
    report = replace(report, versions={**report.versions, "release": "engine==1.0"})
    jsonl.write(report, path / "kept" / "adapter.py-backend-1.0.jsonl")
    return path


@pytest.fixture
def ask(folder, monkeypatch):
    """Return what runs the command there; causes are not searched for, which takes seconds."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("conformance.history.history", partial(history, installer=fake_install))
    chosen = ("--vectors", VECTORS, "--tier", "smoke", "--diagnose", "none")
    options = ("--package", "engine", "--reports", "kept", *chosen)
    return lambda *words: run("history", *options, *words)


@pytest.fixture(scope="module")
def reports(folder):
    """Return the reports of two releases; tests make that of the second."""
    return [folder / "kept" / f"adapter.py-backend-{version}.jsonl" for version in ("1.0", "2.0")]


def test_it_says_what_came_with_which_release(ask, reports):
    """A release that does not install is one line, and the others are run."""
    done = ask("adapter.py:backend", "3.0", "2.0", "1.0", "--markdown", "page.md")
    assert done.exit_code == 0, done.output
    before, after = (jsonl.read(path) for path in reports)
    assert f"2 releases of engine, {len(before.results)} vectors of tier smoke" in done.stdout
    wrong = after.counts["mismatch"]
    assert re.search(rf"2\.0 +1\.0 +came .* {wrong} +{wrong} conforms", done.stdout)
    assert "went " not in done.stdout.partition("What came and went")[2].partition("\n")[2]
    assert "3.0 not run: No matching distribution found for engine==3.0" in done.stdout
    assert wrong > before.counts["mismatch"] == 0


def test_a_report_that_is_there_is_not_made_again(ask, reports, folder, monkeypatch):
    ask("adapter.py:backend", "2.0")  # unless the test before this one did, in this process
    monkeypatch.setattr("conformance.history.history", partial(history, installer=None))
    before = [path.stat().st_mtime_ns for path in reports]
    done = ask("adapter.py:backend", "1.0", "2.0", "--html", "page.html")
    assert done.exit_code == 0, done.output
    assert [path.stat().st_mtime_ns for path in reports] == before
    assert "came" in (folder / "page.html").read_text()


def test_a_report_of_a_run_that_was_cut_short_is_made_again(ask, reports, folder):
    """It would show failures that went, since they were not reached."""
    cut_off = replace(jsonl.read(reports[0]), stopped="interrupted")
    cut_off = replace(cut_off, versions={**cut_off.versions, "release": "engine==3.0"})
    jsonl.write(cut_off, folder / "kept" / "adapter.py-backend-3.0.jsonl")
    done = ask("adapter.py:backend", "1.0", "3.0")
    assert "3.0 not run: No matching distribution" in done.stdout


def test_a_run_that_is_cut_short_is_no_release_that_was_run(ask, reports, folder, monkeypatch):
    def interrupted(python, source, words, report):
        cut_off = replace(jsonl.read(reports[0]), stopped="too many failures")
        jsonl.write(cut_off, report)

    monkeypatch.setattr(api, "check", interrupted)
    done = ask("adapter.py:backend", "1.0", "2.5")
    assert "2.5 not run: the run is incomplete: too many failures" in done.stdout
    assert not (folder / "kept" / "adapter.py-backend-2.5.jsonl").exists()


def test_a_reason_does_not_name_the_place_of_the_environment(ask):
    """It is gone then, and of this machine."""
    shown = ask("adapter.py:backend", "1.0", "4.0").stdout
    assert "4.0 not run: environment/engine.py is broken" in shown


def test_no_release_that_installs_is_wrong_usage(ask):
    done = ask("adapter.py:backend", "3.0")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "error: no release of engine was run: see above"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["adapter.py:backend"], "no version is given; --releases 6 means the newest six"),
        (["adapter.py:backend", "latest"], "'latest' is no version: give one such as 1.20.0"),
        (["nothing", "1.0"], "no backend 'nothing'"),
        (["exec:./engine", "1.0"], "a history is that of a Python package, not of exec:"),
        (["adapter.py:backend", "1.0", "--operator", "Softmax-1"], "Softmax-1"),
        (["adapter.py:backend", "1.0", "--markdown", "-"], "- is not possible"),
        (["adapter.py:backend", "1.0", "--html", "adapter.py"], "this command reads it"),
        (["adapter.py:backend", "1.0", "--vectors", "gone"], "gone: no such file or directory"),
        (
            ["adapter.py:backend", "1.0", "--tier", "standard"],
            "of another backend, tier, vectors or release",
        ),
        (["adapter.py:backend", "1.0", "--package", "--index-url=here"], "the name of a package"),
        (["adapter.py:backend", "1.0", "--package", "-rFILE"], "the name of a package"),
        (["adapter.py:backend", "1.0", "--with", "-rFILE"], "an option of pip"),
    ],
)
def test_wrong_arguments(ask, words, said):
    done = ask(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len([line for line in done.stderr.splitlines() if not _is_progress(line)]) == 1


@pytest.mark.parametrize(
    ("made", "package"),
    [
        ({"shard": "1/2"}, "engine"),
        ({"select": "*float16*"}, "engine"),
        ({}, "engine"),
        (None, "another"),
    ],
)
def test_a_report_that_no_history_of_this_package_has_made_is_refused(
    ask, reports, folder, made, package
):
    """Of a shard, of a selection, of whatever was installed; of another package or version."""
    path = folder / "kept" / "adapter.py-backend-1.7.jsonl"
    report = jsonl.read(reports[0])
    if made is not None:
        settings = {"name": "adapter.py:backend", "tier": "smoke", "diagnose": "none", **made}
        report = check(load_backend("numpy"), VECTORS, **settings)
    jsonl.write(report, path)
    done = ask("adapter.py:backend", "1.7", "--package", package)
    path.unlink()
    assert (done.exit_code, "name another directory" in done.stderr) == (2, True)


def test_a_release_whose_check_ends_without_a_report_does_not_stop_the_others(ask, monkeypatch):
    """As a Python that fails does, with the exit code of a backend that does not conform."""

    def failing(folder, requirements):
        python = fake_install(folder, requirements)
        if requirements[0].endswith("==1.6"):
            python.write_text('#!/bin/sh\necho "ImportError: no engine" >&2; exit 1\n')
        return python

    monkeypatch.setattr("conformance.history.history", partial(history, installer=failing))
    done = ask("adapter.py:backend", "1.0", "1.6")
    assert done.exit_code == 0
    assert "1.6 not run: ImportError: no engine" in done.stdout


def test_a_backend_of_ones_own_names_its_package(folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = run("history", "adapter.py:backend", "1.0")
    assert (done.exit_code, "--package NAME" in done.stderr) == (2, True)
