"""The lower bounds of dependencies are what works: the lowest versions are installed and used."""

import re
import subprocess
import sys
import tomllib
from itertools import chain

import pytest
from support.paths import ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_EXTRAS = _PROJECT["optional-dependencies"]
_BOUND = re.compile(r"([\w-]+(?:\[\w+\])?)>=([\d.]+(?:dev\d+)?)")
_ONE_VERSION = "~="
"""Of tools, and of what writes a page: no test here needs them."""
_TESTS = (
    *("tests/cli", "tests/report", "tests/cases/test_generate.py"),
    *("tests/vectorfile/test_roundtrip.py", "tests/vectorfile/test_vectorfile_outputs.py"),
)
"""Without damaged files: older versions of HDF5 end the process on some."""


@pytest.mark.parametrize("needed", [*_PROJECT["dependencies"], *chain(*_EXTRAS.values())])
def test_every_dependency_has_a_lower_bound(needed):
    """And nothing else, but where one version is asked for."""
    assert _BOUND.fullmatch(needed) or _ONE_VERSION in needed


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Return a Python with this package, and the lowest versions of others that are allowed."""
    folder = tmp_path_factory.mktemp("lowest")
    lowest = [
        "{}=={}".format(*_BOUND.fullmatch(needed).groups())
        for needed in (*_PROJECT["dependencies"], *_EXTRAS["test"])
        if _ONE_VERSION not in needed
    ]
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python, install = folder / "bin" / "python", ("-m", "pip", "install", "--quiet")
    done = _done(python, *install, "--prefer-binary", *lowest)
    if "ConnectionError" in done.stderr or "(from versions: none)" in done.stderr:
        pytest.skip("needs an index of packages with wheels for this Python")
    assert done.returncode == 0, done.stderr
    _run(python, *install[1:], "--no-deps", "--no-build-isolation", ROOT)
    return python


def _done(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _run(python, *arguments):
    done = _done(python, "-m", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


_SLOW = pytest.mark.slow("test_every_dependency_has_a_lower_bound")


@_SLOW
def test_every_command_starts_with_the_lowest_versions(python):
    shown = _run(python, "conformance", "--help")
    commands = re.findall(r"^  ([a-z]+) {2,}", shown, re.MULTILINE)
    assert {"generate", "check", "site", "strength"} <= set(commands)
    for command in commands:
        assert "Usage: " in _run(python, "conformance", command, "--help")


@_SLOW
def test_vectors_are_made_and_checked_with_the_lowest_versions(python, tmp_path):
    """Of one operator those made there, and the shipped ones."""
    _run(python, "conformance", "generate", "--operator", "AvgPool-1", "--tier", "smoke", tmp_path)
    for vectors in ((), (tmp_path,)):
        assert "CONFORMS: " in _run(
            python, "conformance", "check", "numpy", *vectors, "--tier", "smoke"
        )


@_SLOW
def test_files_reports_and_commands_work_with_the_lowest_versions(python):
    """As their own tests say."""
    _run(python, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:conformance", *_TESTS)
