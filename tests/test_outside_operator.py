"""Every command works on an operator that an installed package adds, as on those of the suite.

tests/outside is such a package: one operator, of two outputs, and backends of it.
"""

import os
import subprocess
import sys

import pytest
from support.command_line import program, run
from support.exported import about
from support.outside import ENVIRONMENT, OUTSIDE, installed

NAME = "MinimumPool-1"
FIXED = "Mine-l2Pool2d"
BACKENDS = f"{OUTSIDE / 'minimum_backends.py'}"


@pytest.fixture(scope="module", autouse=True)
def package():
    """Install the package while these tests run."""
    with installed():
        yield


def conformance(*words, code=0):
    """Run a command in this process; return what it printed."""
    done = run(*words)
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture(scope="module")
def vectors(package, tmp_path_factory):
    """Return a folder with the smoke tier of the operator."""
    folder = tmp_path_factory.mktemp("vectors")
    conformance("generate", folder, "--operator", NAME, "--tier", "smoke")
    return folder


@pytest.fixture(scope="module")
def failing(vectors, tmp_path_factory):
    """Return the report of a backend whose second output is wrong."""
    path = tmp_path_factory.mktemp("report") / "report.jsonl"
    backend = f"{BACKENDS}:counts_padding"
    conformance("check", backend, vectors, "--json", path, "--diagnose", "none", code=1)
    return path


def test_vectors_are_sound_and_listed(vectors):
    """They verify, and hold the worked example and both of the operator's own clauses."""
    conformance("verify", vectors)
    listed = conformance("list", vectors)
    assert NAME in listed
    ids = conformance("list", vectors, "--ids").split()
    assert 40 <= len(ids) <= 90
    assert all(vector_id.startswith(NAME) for vector_id in ids)


def test_a_right_backend_conforms(vectors):
    """In a worker and in the same process; which reading it follows is reported."""
    for option in ((), ("--in-process",)):
        text = conformance("check", f"{BACKENDS}:right", vectors, *option)
        assert text.splitlines()[-1].startswith("CONFORMS")
        assert "nan-in-minimum" in text
    required = ("--require", "nan-in-minimum=ignored")
    conformance("check", f"{BACKENDS}:right", vectors, *required, "--in-process", code=1)


def test_the_built_in_backend_conforms(vectors):
    """It knows the operator from its roles and its reduction."""
    assert "CONFORMS" in conformance("check", "numpy", vectors)


def test_a_first_output_alone_conforms_and_the_report_says_what_is_missing(vectors):
    """An engine need not have the second."""
    text = conformance("check", f"{BACKENDS}:values_alone", vectors, "--in-process")
    assert text.splitlines()[-1].startswith("CONFORMS")
    assert "cells" in text


@pytest.mark.parametrize("fault", ["counts_padding", "starts_from_zero", "one_too_many"])
def test_each_output_is_judged(vectors, fault):
    """A fault in either, or an output too many, is a mismatch."""
    options = ("--in-process", "--diagnose", "none")
    text = conformance("check", f"{BACKENDS}:{fault}", vectors, *options, code=1)
    assert "mismatch" in text


def test_a_report_has_every_form(failing, vectors, tmp_path):
    """It is shown, written in each form, and compared with itself."""
    forms = {form: tmp_path / form for form in ("markdown", "html", "junit")}
    options = [part for form, path in forms.items() for part in (f"--{form}", path)]
    conformance("report", failing, "--vectors", vectors, *options)
    for path in forms.values():
        assert NAME in path.read_text()
    assert conformance("diff", failing, failing)


def test_shards_are_merged_with_their_readings(vectors, tmp_path):
    """The merged report counts the votes of all of them."""
    paths = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for number, path in enumerate(paths, 1):
        backend = f"{BACKENDS}:right"
        shard = ("--shard", f"{number}/2", "--in-process")
        conformance("check", backend, vectors, *shard, "--json", path)
    merged = conformance("merge", *paths)
    whole = conformance("check", f"{BACKENDS}:right", vectors, "--in-process")
    votes = [line for line in whole.splitlines() if "nan-in-minimum" in line]
    assert votes
    assert votes[0] in merged


@pytest.mark.slow("a search finds the faults of other operators")
def test_a_search_finds_the_fault_and_nothing_in_a_right_backend(tmp_path, monkeypatch):
    """Cases are drawn from roles alone, and kept in a vector file."""
    options = ("--operator", NAME, "--max-examples", 40, "--max-causes", 1, "--seed", 1)
    monkeypatch.chdir(tmp_path)
    conformance("fuzz", f"{BACKENDS}:right", *options)
    saved = tmp_path / "found.h5"
    text = conformance("fuzz", f"{BACKENDS}:counts_padding", *options, "--save", saved, code=1)
    assert NAME in text
    conformance("verify", saved)


def test_its_vectors_catch_the_faults_that_concern_it(vectors):
    """They are those of windows, attributes and further outputs."""
    text = conformance("strength", vectors, "--operator", NAME)
    assert NAME in text


def test_it_is_exported(vectors, tmp_path):
    """With both outputs."""
    conformance("export", "safetensors", tmp_path / "v.safetensors", vectors)
    cases = about(tmp_path / "v.safetensors")["cases"]
    assert {case["operator"] for case in cases} == {NAME}
    values = (answer for case in cases for answer in case["accepted"] if "outputs" in answer)
    assert {len(answer["outputs"]) for answer in values} == {2}


def test_the_plugin_of_pytest_runs_it(vectors, tmp_path):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path]
    options = ["--conformance-backend", f"{BACKENDS}:right", "--conformance-vectors", str(vectors)]
    done = subprocess.run(
        [*map(str, command), *options],
        capture_output=True,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


@pytest.mark.slow("its vectors are sound")
def test_an_exponent_that_the_document_fixes_is_that_of_every_vector(tmp_path):
    """The reference agrees with what the document prints, and the built-in backend with both."""
    conformance("generate", tmp_path, "--operator", f"{FIXED}*", "--tier", "smoke")
    conformance("verify", tmp_path)
    assert "CONFORMS" in conformance("check", "numpy", tmp_path)
    shown = conformance("show", tmp_path, "printed")
    assert "20.639767" in shown
    assert "expected values printed in the document" in shown
    assert FIXED in conformance("clauses", "lp-range")
    assert FIXED not in conformance("clauses", "sum-overflow")


def test_without_its_package_its_vectors_are_refused(vectors):
    """One line says that the operator is unknown."""
    done = program("list", vectors)
    assert done.returncode == 3
    assert NAME in done.stderr
    assert len(done.stderr.splitlines()) == 1
