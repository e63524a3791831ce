"""Packages that add operators: what they may extend, and the line that a broken one ends with."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from support.paths import ROOT

from conformance.cli import main
from conformance.errors import UsageError
from conformance.operators import CLAUSES, OPERATORS, concerned, in_short, registry
from conformance.vectorfile import open_vectors

WHERE = "error: operator of broken (conformance.operators: wrong = broken:OPERATOR): "
# What the module `broken` holds, and what is said of it.
BROKEN = {
    "import": ("import no_such_module", "it does not load: ModuleNotFoundError: No module named"),
    "exit": ("import sys; sys.exit('no licence')", "it does not load: SystemExit: no licence"),
    "name": ("OTHER = 1", "it does not load: AttributeError: module 'broken' has no attribute"),
    "type": ("OPERATOR = 'AvgPool-1'", "it names a str, not an Operator"),
    "one of several": ("OPERATOR = [None]", "it names a NoneType, not an Operator"),
    "not an operator": (
        (
            "from dataclasses import replace\n"
            "from conformance.operators import OPERATORS\n"
            "OPERATOR = replace(OPERATORS['AvgPool-1'], name='two words')"
        ),
        "it does not load: ValueError: operator 'two words': its name is letters",
    ),
    "no exponent": (
        (
            "from dataclasses import replace\n"
            "from conformance.operators import NORM, OPERATORS, sliding\n"
            "OPERATOR = replace(OPERATORS['MaxPool-1'], name='L2', reduction=NORM,"
            " pipeline=sliding(NORM))"
        ),
        "it does not load: ValueError: operator 'L2': no attribute and no constant of it has",
    ),
    "duplicate": (
        "from conformance.operators.documents.openvino import AVG_POOL as OPERATOR",
        "there is an operator 'AvgPool-1' already",
    ),
    "clause": (
        (
            "from dataclasses import replace\n"
            "from conformance.operators.documents.openvino import AVG_POOL\n"
            "from conformance.operators.shared_clauses import DISPUTED\n"
            "clash = replace(DISPUTED[0], says='another')\n"
            "OPERATOR = replace(AVG_POOL, name='Other-1', clauses=(clash,))"
        ),
        "there is another clause 'same-output-size' already",
    ),
    "no such clause": (
        (
            "from dataclasses import replace\n"
            "from conformance.operators.documents.openvino import AVG_POOL\n"
            "odd = replace(AVG_POOL.reduction, undefined='nowhere')\n"
            "OPERATOR = replace(AVG_POOL, name='Other-1', reduction=odd)"
        ),
        "no clause 'nowhere' among those of Other-1",
    ),
}


def forget():
    """Let the operators be loaded again."""
    registry._operators.cache_clear()
    registry._clauses.cache_clear()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what installs a package with a module `broken`, and returns its folder."""

    def install(source):
        folder = tmp_path / "site"
        about = folder / "broken-1.0.dist-info"
        about.mkdir(parents=True)
        (folder / "broken.py").write_text(source)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\nwrong = broken:OPERATOR\n")
        monkeypatch.syspath_prepend(folder)
        forget()
        return folder

    yield install
    monkeypatch.undo()
    sys.modules.pop("broken", None)
    forget()


def required(command):
    """Return something for each argument that a command must have."""
    return [
        "safetensors" if parameter.name == "form" else "something"  # a choice
        for parameter in main.get_command(None, command).params
        if parameter.param_type_name == "argument" and parameter.required
    ]


@pytest.mark.parametrize("kind", BROKEN)
def test_the_line_says_which_package_and_what_is_wrong(install, kind):
    """On standard error, with exit code 2."""
    source, why = BROKEN[kind]
    install(source)
    got = CliRunner().invoke(main, ["clauses"])
    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.startswith(WHERE + why)
    assert got.stderr.count("\n") == 1


@pytest.mark.parametrize("command", main.listed)
def test_every_command_ends_so(install, command):
    """Also one that would have no use for the operator; but not when it is asked for help."""
    install(BROKEN["import"][0])
    got = CliRunner().invoke(main, [command, *required(command)])
    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.startswith(WHERE)
    help_text = CliRunner().invoke(main, [command, "--help"])
    assert (help_text.exit_code, help_text.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["list"], 2),
        (["generate", "folder"], 2),
        (["check", "numpy"], 2),
        (["--help"], 0),
        (["--version"], 0),
    ],
    ids=str,
)
def test_a_process_of_its_own_ends_so(install, tmp_path, arguments, code):
    """As a user meets it; help and version are there for whoever looks for the cause."""
    path = os.pathsep.join([str(ROOT), str(install(BROKEN["type"][0]))])
    done = subprocess.run(
        [sys.executable, "-m", "conformance", *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert bool(done.stdout) == (code == 0)
    assert done.stderr.startswith(WHERE) if code else not done.stderr
    assert not (tmp_path / "folder").exists()


def test_a_vector_file_is_not_called_damaged(install):
    """In Python it is wrong usage too."""
    install(BROKEN["import"][0])
    with pytest.raises(UsageError, match="it does not load"), open_vectors(ROOT / "vectors"):
        pass


def test_a_package_can_extend_an_operator_that_there_is(install):
    """While it is loaded, OPERATORS and CLAUSES have what there was before it."""
    install(
        "from conformance.operators import CLAUSES, OPERATORS\n"
        "assert 'nan-in-maximum' in CLAUSES\n"
        "OPERATOR = OPERATORS['AvgPool-1'].extended(name='AvgPool-2', document='a newer one')"
    )
    assert "AvgPool-2" in OPERATORS
    assert OPERATORS["AvgPool-2"].attributes == OPERATORS["AvgPool-1"].attributes
    assert "AvgPool-2" in concerned(CLAUSES["ceil-window-past-input"])


def test_without_the_package_all_is_as_before(install):
    folder = install(BROKEN["import"][0])
    with pytest.raises(UsageError):
        len(OPERATORS)
    sys.path.remove(str(folder))
    assert "AvgPool-1" in OPERATORS


def test_names_are_given_in_few_words():
    """All versions of an operator are a glob; of most operators, those are named that are not."""
    every = ("AvgPool-1", "AvgPool-14", "MaxPool-1", "MaxPool-8", "PyTorch-max_pool2d")
    assert in_short(("MaxPool-1", "MaxPool-8"), every) == "MaxPool-*"
    assert in_short(("MaxPool-8",), every) == "MaxPool-8"
    assert in_short(every[:-1], every) == "every operator but PyTorch-max_pool2d"
    assert in_short(every, every) == "every operator"
