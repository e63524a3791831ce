"""What is built from this folder: a wheel that has the vectors, a source archive that has all."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import files
from pathlib import Path

import pytest
from support.paths import ROOT

import conformance
from conformance.backends import available
from conformance.cli.starting_files import EXAMPLES


def built(target, folder):
    """Build a wheel or sdist with what is installed and return its path."""
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the path of a wheel."""
    return built("wheel", tmp_path_factory.mktemp("wheel"))


def files_in(*folders):
    """Return the files of folders of the project, relative to its root."""
    return {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_and_the_vectors_and_nothing_else(wheel):
    """Each file of the package, those of vectors/ as conformance/_vectors, some examples."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    vectors = {f"conformance/_{name}" for name in files_in("vectors")}
    examples = {f"conformance/_examples/{name}" for name in EXAMPLES}
    assert names == files_in("conformance") | vectors | examples


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Unpack a wheel; return what runs Python with it in place of this folder."""
    packages = tmp_path_factory.mktemp("packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)

    def run(folder, *command):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(packages)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.splitlines()[-1]

    home = run(packages, "-c", "import conformance; print(conformance.__file__)")
    assert home == str(packages / "conformance" / "__init__.py")
    return run


def test_what_is_in_the_wheel_checks_a_backend(installed, tmp_path):
    """Vectors and the template of the page are found."""
    command = "-m conformance check numpy --operator AvgPool-1 --tier smoke --html page.html"
    assert installed(tmp_path, *command.split()).startswith("CONFORMS: ")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_what_is_in_the_wheel_writes_the_files_of_a_start(installed, tmp_path):
    """From examples that are inside of it."""
    load = (
        "from conformance.cli.starting_files import workflow",
        "from conformance.backends.named_backend import parse_backend",
    )
    code = "; ".join((*load, "print(workflow(parse_backend('numpy'), 'smoke', 1).strip())"))
    assert installed(tmp_path, "-c", code) == "          path: pooling.*"


@pytest.mark.slow("what is in the wheel checks a backend")
def test_what_is_in_the_wheel_is_a_plugin_of_pytest(installed, tmp_path):
    """Its name is that of the entry point."""
    plugin = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    options = "-q --conformance-backend numpy --conformance-tier smoke -p no:conformance -p"
    operator = "--conformance-operator AdaptiveAvgPool-8 -p no:cacheprovider conformance"
    command = ["-m", "pytest", *options.split(), plugin["pytest11"]["conformance"]]
    assert " passed" in installed(tmp_path, *command, *operator.split())


def test_the_source_archive_holds_what_the_tests_need(tmp_path):
    """Package, tests, vectors, documentation, examples, and the scripts that run them."""
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("conformance", "tests", "vectors", "docs", "examples", "packages", "benchmarks")
    needed = files_in(*folders, ".ci") | {
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "pyproject.toml",
        "test",
    }
    assert needed - names == set()


def test_the_version_is_stated_once_and_again():
    """pyproject.toml and the package have the same version."""
    text = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{conformance.__version__}"\n' in text


def test_every_engine_has_an_extra_of_its_name():
    """It is named as the adapter, and has all that this needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {
        name: tuple(requirement.partition(">")[0] for requirement in requirements)
        for name, requirements in project["optional-dependencies"].items()
    }
    engines = {name: builtin.distributions for name, builtin in available().items()}
    del engines["numpy"]
    engines["tensorflow"] = ("tensorflow",)  # Keras comes with it
    assert {name: extras[name] for name in engines} == engines


@pytest.mark.parametrize("is_first", [True, False])
def test_another_folder_of_the_same_name_does_not_hide_the_package(is_first, tmp_path):
    """Of one without an __init__.py, as tosa-tools installs, whichever comes first on the path."""
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "model_files.py").touch()
    path = [tmp_path, ROOT] if is_first else [ROOT, tmp_path]
    done = subprocess.run(
        [sys.executable, "-c", "import conformance; print(conformance.__file__)"],
        cwd=tmp_path.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).parent == ROOT / "conformance"


@pytest.mark.needs_engine("tosa_reference_model")
def test_no_file_of_tosa_tools_is_one_of_the_package():
    """It installs a folder of the same name: in one environment, they share that."""
    paths = {path.as_posix() for path in files("tosa-tools") if path.parts[0] == "conformance"}
    assert paths
    assert [path for path in paths if (ROOT / path).exists()] == []
    assert "conformance/__init__.py" not in paths
