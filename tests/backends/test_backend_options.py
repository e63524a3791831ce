"""Options of built-in backends: `torch:device=cuda`."""

import sys

import numpy as np
import pytest
from support.oracle import FORMATS, array, oracle
from support.random_cases import assert_equals, pooling
from test_load_backend import refusal

from conformance import check
from conformance.backends import load_backend
from conformance.backends.builtin import Builtin
from conformance.errors import Unsupported

ROW = np.array([[[1.0, 3.0, 5.0, 4.0]]], np.float32)


def test_a_callable_of_a_module_is_no_option(tmp_path, monkeypatch):
    """A module may be called as a backend is: only NAME=VALUE is an option."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "ncnn", raising=False)
    (tmp_path / "ncnn.py").write_text("def pool(o, i, a): return 'mine'")
    assert load_backend("ncnn:pool")("", [], {}) == "mine"
    monkeypatch.delitem(sys.modules, "ncnn")


@pytest.mark.needs_engine("torch")
class TestTorch:
    @pytest.mark.parametrize("dtype", FORMATS)
    def test_a_device_computes_the_same(self, dtype):
        """Inputs go there and outputs come back in their type."""
        backend = load_backend("torch:device=cpu:0")
        case = ("AvgPool-1", [array([[[1, 3, 8, 4]]], dtype)], pooling([2], [2], exclude_pad=True))
        assert_equals(backend(*case), oracle(*case))

    @pytest.mark.parametrize("device", ["nowhere", "meta", "cuda:99"])
    def test_a_device_that_is_not_there_is_one_line(self, device):
        """Told before the first vector."""
        assert refusal(f"torch:device={device}").startswith(
            f"backend 'torch:device={device}' cannot be used: "
        )

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ("dvice=cpu", "has no option 'dvice' (did you mean device?); it takes device"),
            ("device=", "option device needs a value"),
            ("device=cpu,device=cpu", "option device is given twice"),
            ("device=cpu,", "has no option ''; it takes device"),
            ("self=1", "has no option 'self'; it takes device"),
        ],
    )
    def test_wrong_options(self, options, said):
        """The line names what there is."""
        assert said in refusal(f"torch:{options}")


@pytest.mark.needs_engine("onnxruntime", "onnx")
def test_onnxruntime_takes_an_opset():
    """What the opset has no attribute for is unsupported."""
    old = load_backend("onnxruntime:opset=8")
    assert old("MaxPool-1", [ROW], pooling([2], [2])).tolist() == [[[3, 5]]]
    with pytest.raises(Unsupported, match="opset 8: MaxPool has no ceil_mode"):
        old("MaxPool-1", [ROW], pooling([3], [2], rounding_type="ceil"))
    assert "cannot be used: ValueError" in refusal("onnxruntime:opset=latest")


FILE = """
from dataclasses import dataclass
import numpy as np

engine_version = "my engine 2.1"

@dataclass(frozen=True)
class Mine:
    device: str = "cpu"
    lanes: int = 1
    fast: bool = False
    path: str | None = None

    def __call__(self, operator, inputs, attributes):
        raise NotImplementedError(f"{self}")

backend = Mine()

def plain(operator, inputs, attributes):
    raise NotImplementedError("plain")
"""


@pytest.fixture
def mine(tmp_path):
    """Return the path of a file with a backend that has options."""
    path = tmp_path / "a=b" / "my:engine.py"
    path.parent.mkdir()
    path.write_text(FILE)
    return path


class TestFile:
    """A backend of a file takes options as a built-in one does."""

    def test_the_fields_of_a_dataclass_are_options(self, mine):
        """Each has the type of its default."""
        loaded = load_backend(f"{mine}:backend:device=cuda:0,lanes=4,fast=true,path=/a")
        assert (loaded.device, loaded.lanes, loaded.fast, loaded.path) == ("cuda:0", 4, True, "/a")
        assert load_backend(f"{mine}:backend").device == "cpu"
        assert load_backend(f"{mine}:backend:fast=False").fast is False

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                "backend:dvice=cpu",
                "has no option 'dvice' (did you mean device?); it takes device",
            ),
            ("backend:lanes=many", "cannot be used: ValueError: invalid literal for int()"),
            ("backend:fast=perhaps", "'perhaps' is neither true nor false"),
            ("backend:device=", "option device needs a value, device=VALUE"),
            ("plain:device=cpu", "has no option 'device'; it takes no options"),
        ],
    )
    def test_wrong_options(self, mine, options, said):
        assert said in refusal(f"{mine}:{options}")

    @pytest.mark.parametrize("isolate", [True, False])
    def test_its_engine_version_is_in_the_report(self, mine, isolate):
        """A text of the module, wherever the backend is called."""
        report = check(
            f"{mine}:backend:lanes=2", tier="smoke", operators="MaxPool-1", isolate=isolate
        )
        assert report.versions["engine"] == "my engine 2.1"
        assert "lanes=2" in report.results[0].detail


def test_a_built_in_backend_has_the_version_of_its_engine():
    """Nobody has to give it."""
    for isolate in (True, False):
        report = check("numpy", tier="smoke", operators="MaxPool-1", isolate=isolate)
        assert report.versions["engine"] == np.__version__


def test_an_engine_may_come_under_another_name(tmp_path, monkeypatch):
    """As TensorFlow does in tensorflow-cpu: the version is that of what provides the package."""
    engine = Builtin("pooler", ("pooler",), "an engine that nobody has")
    assert engine.version == ""
    (tmp_path / "pooler.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert engine.version == ""
    described = tmp_path / "pooler_cpu-2.5.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: pooler-cpu\nVersion: 2.5\n")
    (described / "top_level.txt").write_text("pooler\n")
    assert engine.version == "2.5"
