"""How a backend is found from the text a user typed, and what is said when it is not."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conformance.backends import Builtin, available, load_backend
from conformance.backends.engines import numpy_backend
from conformance.errors import UsageError

SOURCE = """
    import dataclasses

    def pool(operator, inputs, attributes):
        return inputs[0]

    def optional(operator, inputs, attributes, engine="cpu"):
        return inputs[0]

    def two(operator, inputs):
        return inputs[0]

    @dataclasses.dataclass
    class Engine:
        scale: int = 2

        def __call__(self, operator, inputs, attributes):
            return inputs[0] * self.scale

        @staticmethod
        def run(operator, inputs, attributes):
            return inputs[0]

        def method(self, operator, inputs, attributes):
            return inputs[0]

        @property
        def broken(self):
            raise RuntimeError("no device\\nfound")

    engine = Engine()
    number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current directory, which holds my_engine.py; imports are undone afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    write(tmp_path / "my_engine.py", SOURCE)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(path: Path, source: str) -> None:
    """Write an indented source."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))


def refusal(spec: str) -> str:
    """Return the one line that says why a backend cannot be loaded."""
    with pytest.raises(UsageError) as caught:
        load_backend(spec)
    line = str(caught.value)
    assert "\n" not in line
    return line


class TestFound:
    def test_builtin(self):
        """A built-in name gives the backend of its module."""
        assert load_backend("numpy") is numpy_backend.backend

    def test_available_names_are_loadable_builtins(self):
        """The numpy backend needs nothing but numpy."""
        assert list(available())[:2] == ["numpy", "torch"]
        assert available()["numpy"].installed

    @pytest.mark.parametrize(
        ("name", "absent", "packages"),
        [
            ("paddle", ("paddle",), "paddlepaddle"),
            ("onnxruntime", ("onnxruntime", "onnx"), "onnxruntime onnx"),
            ("onnxruntime", ("onnx",), "onnx"),
        ],
    )
    def test_what_is_missing_is_named_as_pip_takes_it(self, name, absent, packages, monkeypatch):
        """Also where only a package beside the engine is missing."""
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda package: None if package in absent else package
        )
        with pytest.raises(UsageError, match=rf"not installed: pip install {packages}$"):
            load_backend(name)

    def test_builtins_are_not_imported_with_the_package(self):
        """Asking for one backend imports no other engine."""
        code = "import sys, conformance.backends as b; b.load_backend('numpy'); print(*sys.modules)"
        loaded = run_python(code).split()
        assert "conformance.backends.engines.numpy_backend" in loaded
        assert "torch" not in loaded

    @pytest.mark.parametrize(
        "attribute", ["pool", "optional", "engine", "Engine.run", "engine.run"]
    )
    @pytest.mark.parametrize("place", ["my_engine", "my_engine.py", "./my_engine.py"])
    def test_module_or_file(self, folder, place, attribute):
        """A module in the current directory or a file, and a plain or dotted attribute."""
        assert load_backend(f"{place}:{attribute}")("AvgPool-1", [4], {}) in (4, 8)

    def test_package(self, folder):
        """A dotted module name, imported from the current directory."""
        write(folder / "pack" / "__init__.py", "")
        write(folder / "pack" / "deep.py", SOURCE)
        assert load_backend("pack.deep:pool").__module__ == "pack.deep"

    def test_file_imports_its_neighbours(self, folder):
        """A file elsewhere may import modules beside it."""
        write(folder / "far" / "helper_beside.py", "def pool(o, i, a): return 'helped'")
        write(folder / "far" / "entry.py", "from helper_beside import pool")
        assert load_backend("far/entry.py:pool")("", [], {}) == "helped"

    def test_two_files_of_one_name(self, folder):
        """Files with the same name in two folders do not stand in for each other."""
        for name in ("a", "b"):
            write(folder / name / "same.py", f"def pool(o, i, a): return '{name}'")
        loaded = [load_backend(f"{name}/same.py:pool") for name in ("a", "b")]
        assert [pool("", [], {}) for pool in loaded] == ["a", "b"]

    def test_file_named_like_a_module_in_use(self, folder):
        """A file called json.py is the user's file, and json stays json."""
        write(folder / "odd" / "json.py", "def pool(o, i, a): return 'mine'")
        before = sys.modules["json"]
        assert load_backend("odd/json.py:pool")("", [], {}) == "mine"
        assert sys.modules["json"] is before


INCOMPLETE = ("", ":", "module:", ":attribute", "zzz")
"""Neither a name nor module:attribute."""


class TestRefused:
    """What does not load, and the line that says so."""

    @pytest.mark.parametrize(
        ("spec", "said"),
        [
            (
                "nunpy",
                r"^no backend 'nunpy' \(did you mean numpy\?\); built-in names: numpy, torch",
            ),
            *((spec, f"^no backend {spec!r}; built-in names: ") for spec in INCOMPLETE),
            ("my_engine.py", "my_engine.py:ATTRIBUTE$"),
            ("no_such_module.inside:pool", "no module 'no_such_module.inside' on the import path"),
            ("torhc:backend", r"did you mean torch\?"),
            ("sub/none.py:pool", r"no file /.*/sub/none\.py$"),
            ("my_engine:pol", r"my_engine has no 'pol' \(did you mean pool\?\); it has Engine, "),
            ("my_engine:Engine.rum", r"Engine has no 'rum' \(did you mean run\?\)"),
            ("my_engine:number.run", "has no 'run'"),
            ("my_engine:engine.broken", "'broken' raised RuntimeError: no device found$"),
            ("my_engine:number", "is int, not callable$"),
            ("my_engine:Engine", "is a class"),
            ("my_engine:two", r"cannot be called with \(operator, inputs, attributes\)"),
            ("my_engine:Engine.method", r"cannot be called with \(operator, inputs, attributes\)"),
        ],
    )
    def test_the_line_says_what_is_wrong_and_what_may_be_meant(self, folder, spec, said):
        assert re.search(said, refusal(spec))

    @pytest.mark.parametrize(
        ("source", "cause"),
        [
            ("raise ValueError('bad\\nthing')", "ValueError: bad thing"),
            ("import sys; sys.exit('usage')", "SystemExit: usage"),
            ("def (", "SyntaxError: "),
            ("import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all'"),
            ("raise ImportError", "raised ImportError"),
            ("raise RuntimeError('x' * 999)", "x..."),
        ],
    )
    @pytest.mark.parametrize("suffix", ["", ".py"])
    def test_module_that_raises(self, folder, source, cause, suffix):
        """Whatever the import raises becomes one line with the cause."""
        write(folder / "raising.py", source)
        line = refusal(f"raising{suffix}:pool")
        assert line.startswith(f"backend 'raising{suffix}:pool': importing ")
        assert cause in line
        assert len(line) < 500

    def test_interrupt_is_not_swallowed(self, folder):
        """Ctrl-C during an import stops the program."""
        write(folder / "waiting.py", "raise KeyboardInterrupt")
        with pytest.raises(KeyboardInterrupt):
            load_backend("waiting:pool")

    @pytest.mark.parametrize("package", ["not_there_at_all", "not_there.at_all", "xml.not_there"])
    def test_missing_engine(self, package):
        """A missing package says what to install, also one of a namespace."""
        missing = Builtin("fast", (package,), "an engine nobody has")
        with pytest.raises(UsageError, match=f"pip install {re.escape(package)}$"):
            missing.load()

    def test_broken_engine(self, folder):
        """An engine that is installed but cannot be imported says why."""
        write(folder / "torch" / "__init__.py", "raise OSError('libtorch.so: cannot open')")
        code = """
            from conformance.backends import load_backend
            from conformance.errors import UsageError
            try:
                load_backend("torch")
            except UsageError as error:
                print(error)
        """
        line = run_python(code)
        assert line.startswith(
            "backend 'torch': importing conformance.backends.engines.torch_backend"
        )
        assert line.endswith("raised OSError: libtorch.so: cannot open\n")


def run_python(code: str) -> str:
    """Run code in a fresh interpreter, the current directory importable; return its output."""
    path = os.pathsep.join(["", *sys.path])
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    ).stdout
