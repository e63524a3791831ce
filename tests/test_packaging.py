"""What is built from this folder: a wheel that has the vectors, a source archive that has all."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import conformance
from conformance.backends import available

ROOT = Path(__file__).parents[1]


def built(target, folder):
    """Build a wheel or sdist with what is installed and return its path."""
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    return path


def files_in(*folders):
    """Return the files of folders of the project, relative to its root."""
    return {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_and_the_vectors_and_nothing_else(tmp_path):
    """Each file of the package is in it, and those of vectors/ as conformance/_vectors."""
    with zipfile.ZipFile(built("wheel", tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    vectors = {f"conformance/_{name}" for name in files_in("vectors")}
    assert names == files_in("conformance") | vectors


def test_the_source_archive_holds_what_the_tests_need(tmp_path):
    """Package, tests, vectors, documentation, examples, and the scripts that run them."""
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("conformance", "tests", "vectors", "docs", "examples", "benchmarks", ".ci")
    needed = files_in(*folders) | {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "test"}
    assert needed - names == set()


def test_the_version_is_stated_once_and_again():
    """pyproject.toml and the package have the same version."""
    text = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{conformance.__version__}"\n' in text


def test_every_engine_has_an_extra_of_its_name():
    """It is possible to pip install 'pooling-conformance[NAME]' for each backend with an engine."""
    text = (ROOT / "pyproject.toml").read_text()
    engines = {name for name, builtin in available().items() if builtin.package != "numpy"}
    assert {name for name in engines if f"\n{name} = [" not in text} == set()
