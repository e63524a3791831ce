"""The workflows and the action: what they run is what the command line takes, and it works."""

import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

from conformance.cli import main

WORKFLOWS = ("ci-github.yml", "ci-github-sharded.yml")
FILES = [*(ROOT / "examples" / name for name in WORKFLOWS), ROOT / "examples/action/action.yml"]
NAMES = [path.name for path in FILES]
COMMAND = re.compile(r"^ *(?:- run: |! )?(conformance \w+ .*)$", re.MULTILINE)


def commands(text):
    """Return the words of each command of ours in a text, without what the shell does."""
    joined = re.sub(r"\\\n\s*", " ", text).replace("${{ matrix.shard }}", "1/4")
    # Inputs of the action: those that may be empty are.
    joined = re.sub(r"\$\{\w+:\+[^}]*\}|\$EXTRA", "", joined).replace("$TIER", "smoke")
    found = [shlex.split(line, comments=True) for line in COMMAND.findall(joined)]
    return [words[: words.index("||")] if "||" in words else words for words in found]


def parsed(words):
    """Return the values of a command's parameters as the command line reads them."""
    _, name, *arguments = words
    return main.get_command(None, name).make_context(name, arguments).params


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_command_is_one_that_the_command_line_takes(path):
    """Each option exists and each argument fits."""
    found = commands(path.read_text())
    assert found
    for words in found:
        assert parsed(words)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_report_that_is_written_is_uploaded(path):
    """Also where the backend does not conform; the summary of the job is one of them."""
    text = path.read_text()
    (outputs,) = [parsed(words) for words in commands(text) if "--html" in words]
    assert outputs["markdown_file"] == "$GITHUB_STEP_SUMMARY"
    assert {Path(outputs[f"{kind}_file"]).stem for kind in ("html", "junit")} == {"pooling"}
    assert text.rindex("if: always()") < text.rindex("path: ")


def test_the_shards_of_the_matrix_are_all_that_are_merged():
    """Four parts of four."""
    text = (ROOT / "examples" / "ci-github-sharded.yml").read_text()
    (matrix,) = re.findall(r"shard: \[(.*)\]", text)
    assert matrix == ", ".join(f'"{part}/4"' for part in range(1, 5))
    assert [words[1] for words in commands(text)] == ["check", "merge"]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_name_no_release_before_there_is_one(path):
    """A copy says where to pin a commit instead."""
    refs = re.findall(r"(?:ref: |examples/action@)(\S+)(.*)", path.read_text())
    assert {ref for ref, _ in refs} == {"main"}
    assert all("CHANGE" in comment for _, comment in refs if comment)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_are_yaml_with_the_parts_that_are_needed(path):
    """Jobs with steps, or inputs that are all used."""
    content = pytest.importorskip("yaml").safe_load(path.read_text())
    if path.name == "action.yml":
        steps = content["runs"]["steps"]
        used = set(re.findall(r"inputs\.([\w-]+)", path.read_text()))
        assert used == content["inputs"].keys()
        assert all("shell" in step for step in steps if "run" in step)
        assert not [step for step in steps if "${{" in step.get("run", "")]
    else:
        assert content[True] == ["push", "pull_request"]  # YAML takes "on" for a truth value
        assert content["permissions"] == {"contents": "read"}
        jobs = content["jobs"].values()
        assert all({"run", "uses"} & step.keys() for job in jobs for step in job["steps"])
        assert all("timeout-minutes" in job for job in jobs)


@pytest.fixture
def machine(tmp_path):
    """Return what runs a script as a step of a workflow does, in a folder with a backend."""
    if not list((ROOT / "vectors").glob("*.h5")):
        pytest.skip("the shipped vectors are not there")
    program = tmp_path / "bin" / "conformance"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m conformance "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "my_backend.py").symlink_to(ROOT / "examples" / "backend_right.py")
    (folder / "pooling-expected.txt").write_text("# none\n")
    base = {
        "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "HOME": str(tmp_path),
    }

    def run(script, **variables):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=folder,
            env=base | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return folder, run


def scripts(path):
    """Return the scripts of several lines in a file."""
    found = re.findall(r"^( +)(?:- )?run: \|\n((?:\1 .*\n|\n)+)", path.read_text(), re.MULTILINE)
    return [re.sub(r"^ +", "", lines, flags=re.MULTILINE) for _, lines in found]


@pytest.mark.slow("the action passes its inputs on")
def test_the_workflow_checks_a_backend_and_writes_what_it_uploads(machine):
    """Its only script runs as it stands, here over fewer vectors."""
    folder, run = machine
    (script,) = scripts(FILES[0])
    code, said = run(script.replace(".py:backend", ".py:backend --tier smoke"))
    assert code == 0, said
    assert {path.name for path in folder.glob("pooling.*")} == {
        "pooling.xml",
        "pooling.html",
        "pooling.jsonl",
    }
    assert "CONFORMS" in (folder / "summary.md").read_text()


@pytest.mark.slow("merge joins shards, and the other jobs of the examples run")
def test_the_shards_join_to_one_report(machine):
    """Each is in its own folder, as artifacts are when they are downloaded."""
    folder, run = machine
    check, merge = scripts(FILES[1])
    for part in (1, 2, 3, 4):
        script = check.replace("${{ matrix.shard }}", f"{part}/4").replace(
            "shard.jsonl", f"shard-{part}/shard.jsonl"
        )
        (folder / f"shard-{part}").mkdir()
        code, said = run(script.replace(".py:backend", ".py:backend --tier smoke"))
        assert code == 0, said
    code, said = run(merge)
    assert code == 0, said
    assert "299 unsupported" in said
    (folder / "shard-2" / "shard.jsonl").unlink()
    code, said = run(merge)
    assert (code, "shard 2/4 is missing" in said) == (1, True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"EXTRA": "--max-shown 0 --operator AdaptiveAvgPool-8"}, (0, "CONFORMS: 100 of")),
        ({"EXPECTED": "pooling-expected.txt", "VECTORS": "one file.h5"}, (0, "CONFORMS: 100 of")),
        ({"BACKEND": "nothing.py:backend"}, (2, "no file")),
    ],
)
def test_the_action_passes_its_inputs_on(machine, given, expected):
    """Those that are empty are left out, one with a space stays one."""
    folder, run = machine
    (folder / "one file.h5").symlink_to(ROOT / "vectors" / "AdaptiveAvgPool-8.h5")
    _, check = scripts(FILES[2])
    inputs = {
        "BACKEND": "my_backend.py:backend",
        "VECTORS": "",
        "TIER": "smoke",
        "EXPECTED": "",
        "EXTRA": "",
        "REPORTS": str(folder / "re ports"),
    }
    code, said = run(check, **inputs | given)
    assert (code, expected[1] in said) == (expected[0], True), said
    assert bool(list(folder.glob("re ports/pooling.html"))) == (code == 0)
