"""What runs where: `.ci/run` does what README says, then the tests of engines."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from support.effort import QUICK, THOROUGH
from support.paths import ROOT, TESTS

ENGINES = (
    *("torch", "openvino", "onnxruntime", "onnx"),
    *("jax", "paddle", "ncnn", "tensorflow", "tinygrad", "MNN", "tvm"),
)
SAY = '#!/bin/sh\necho "$(basename "$0") $*" >> "$LOG"\n'
TOOLS = {
    "apt-get": SAY,
    "python3": SAY + 'mkdir -p "$3/bin"; touch "$3/bin/activate"\n',
    "pip": SAY,
    "conformance": SAY + 'case "$*" in *faulty*) exit 1;; esac\n',
}


@pytest.fixture
def clone(tmp_path):
    """Return a folder with `.ci/run` and README in which every tool says how it was called."""
    for name in (".ci/run", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tools = {f"bin/{name}": script for name, script in TOOLS.items()} | {"test": SAY}
    for name, script in tools.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)
    return tmp_path


def run(clone, **variables):
    """Run `.ci/run` in it; return its exit code and the calls of tools but for apt-get."""
    log = clone / "log"
    log.touch()
    path = os.pathsep.join([str(clone / "bin"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "LOG": str(log)} | variables
    done = subprocess.run(["bash", ".ci/run"], cwd=clone, env=environment, check=False)
    calls = log.read_text().splitlines()
    return done.returncode, [call for call in calls if not call.startswith("apt-get")]


def test_it_runs_both_commands_of_readme_and_then_installs_engines(clone):
    """Word for word, in the order of README; only what comes last has an engine."""
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^```sh\n(python3 -m venv .*)\n```$", text, re.MULTILINE)
    expected = [
        part.removeprefix("! ").removeprefix("./").replace("'", "")
        for command in commands
        for part in command.split(" && ")
        if part != ". .venv/bin/activate"
    ]
    code, calls = run(clone)
    assert code == 0
    assert len(commands) == 2
    assert [call.strip() for call in calls[: len(expected)]] == expected
    install, engines = calls[len(expected) :]
    assert re.match("pip install .*torch==.* openvino onnxruntime onnx", install)
    assert engines == "test -m needs_engine"


def test_a_command_that_fails_fails_the_run_and_hides_no_other(clone):
    """Engines are still asked when a test failed, and it is not forgotten that it did."""
    (clone / "test").write_text(SAY + 'test "$#" != 0\n')
    code, calls = run(clone)
    assert code == 1
    assert calls[-1] == "test -m needs_engine"


def test_it_refuses_an_environment_that_is_there_already(clone):
    """What is installed in it would hide what README forgets."""
    (clone / ".venv").mkdir()
    assert run(clone) == (2, [])


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: path.stem)
def test_a_file_that_is_skipped_without_an_engine_is_marked(path):
    """Otherwise nobody would run it: the first run of tests has no engine, the second no other."""
    text = path.read_text()
    skipped = set(re.findall(r'importorskip\("(\w+)"', text)) & set(ENGINES)
    marked = re.search(r"^pytestmark = pytest\.mark\.needs_engine\((.*)\)$", text, re.MULTILINE)
    assert skipped <= set(re.findall(r'"(\w+)"', marked[1] if marked else ""))


SAMPLE = """
import pytest
from hypothesis import given, settings, strategies

@pytest.mark.slow("the quick one stands for it")
def test_slow(): ...

@pytest.mark.needs_engine("json")
def test_of_an_engine(): ...

@given(strategies.integers())
def test_of_a_property(number):
    assert settings.default.max_examples == EXAMPLES

def test_quick(): ...
"""


@pytest.mark.parametrize(
    ("option", "examples", "expected"),
    [
        ((), QUICK, {"engine", "property", "quick"}),
        (("--all",), THOROUGH, {"slow", "engine", "property", "quick"}),
        (("--rest",), THOROUGH, {"slow", "engine", "property"}),
    ],
)
def test_how_much_is_run(option, examples, expected, tmp_path):
    """`--rest` runs what a plain run leaves out, and properties again with more examples."""
    (tmp_path / "conftest.py").symlink_to(TESTS / "conftest.py")
    (tmp_path / "test_sample.py").write_text(SAMPLE.replace("EXAMPLES", str(examples)))
    configuration = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-vv", *configuration, *option, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(TESTS)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"test_(?:of_an_|of_a_)?(\w+) PASSED", done.stdout)) == expected


def test_every_slow_test_says_what_stands_for_it():
    """A reason, so that nothing that guards a behaviour runs with --all alone."""
    bare = [
        path for path in TESTS.rglob("*.py") if re.search(r"mark\.slow(?!\(\")", path.read_text())
    ]
    assert bare == []
