"""What is installed for a history, and what its caller hears."""

from pathlib import Path

import pytest

from conformance.history import Checked, history
from conformance.history.api import package_of
from conformance.history.environment import NotRun


@pytest.fixture
def nothing_installs(tmp_path):
    """Return what makes a history in which no release installs, and what was asked for."""
    asked = []

    def refuse(folder, requirements):
        asked.append(requirements)
        raise NotRun("no such release")

    def make(backend, *versions, **options):
        checked = Checked(backend, Path("vectors"), {})
        return history(checked, versions, reports=tmp_path, installer=refuse, **options), asked

    return make


@pytest.mark.parametrize(
    ("backend", "package"),
    [("paddle", "paddlepaddle"), ("onnxruntime:opset=19", "onnxruntime"), ("numpy", "numpy")],
)
def test_the_package_of_a_built_in_backend_has_the_name_that_pip_takes(backend, package):
    assert package_of(backend) == package


def test_an_environment_has_helpers_of_the_adapter_and_what_the_caller_adds(nothing_installs):
    _, (requirements,) = nothing_installs("onnxruntime", "1.20", extra=("protobuf<5",))
    assert requirements[0] == "onnxruntime==1.20"
    assert {"onnx", "protobuf<5"} < {*requirements}


@pytest.mark.parametrize(("bisect", "total"), [(False, 2), (True, 0)])
def test_progress_is_told_of_each_release(nothing_installs, bisect, total):
    """How many there will be is not known of a bisection."""
    heard = []
    nothing_installs(
        "numpy", "1.0", "2.0", bisect=bisect, progress=lambda *step: heard.append(step)
    )
    assert heard == [("numpy 1.0", 0, total), ("numpy 2.0", 1, total)]


def test_releases_that_do_not_install_are_part_of_the_history(nothing_installs):
    made, _ = nothing_installs("numpy", "2.0", "1.0")
    assert [(each.version, each.problem) for each in made.releases] == [
        ("1.0", "no such release"),
        ("2.0", "no such release"),
    ]
    assert made.ran == ()
