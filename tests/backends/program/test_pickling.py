"""A callable reaches a worker: by its name where a worker could import it, and else by value."""

# ruff: noqa: PLC0415 - functions that are sent import what they need where they run
import importlib.util
import sys
import threading
from functools import partial

import cloudpickle
import pytest
from support import hostile
from support.fakes import pool, ramp

from conformance import load_backend
from conformance.backends.answer import ARRAY, arrays_of
from conformance.backends.engines import numpy_backend
from conformance.backends.program import python_worker
from conformance.backends.program.pickling import pickled
from conformance.backends.program.program import Program
from conformance.errors import UsageError

HELPER = "def helper(x):\n    return x + 1\n"
MODULE = """
import dataclasses
import helper_of_stray

OFFSET = 2


@dataclasses.dataclass
class Backend:
    scale: int

    def __call__(self, operator, inputs, attributes):
        return helper_of_stray.helper(inputs[0]) * self.scale + OFFSET


def function(operator, inputs, attributes):
    return Backend(3)(operator, inputs, attributes)
"""


def answer_of(backend, **options):
    """Return what a worker answers with a backend."""
    running = Program(python_worker(backend, **options))
    try:
        running.greet()
        return running.call("AvgPool-1", [ramp(1, 1, 6)], pool(kernel=[2]))
    finally:
        running.kill()


def data_of(backend):
    """Return the output of a backend in a worker."""
    answer = answer_of(backend)
    assert answer.kind == ARRAY, answer.why
    return arrays_of(answer.outputs).ravel().tolist()


@pytest.fixture
def stray(tmp_path, monkeypatch):
    """Return a module that no import finds, which uses another such module."""
    for name, text in (("helper_of_stray", HELPER), ("stray", MODULE)):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    return module


class TestByName:
    @pytest.mark.parametrize("backend", [numpy_backend.backend, hostile.GALLERY["segfault"]])
    def test_nothing_but_a_name_is_sent(self, backend):
        """A function of a module on the import path is a name of a few bytes."""
        assert len(pickled(backend)) < 150


class TestByValue:
    """What cannot be imported is sent whole."""

    def test_a_local_function(self):
        """A closure works in a worker as it does here."""
        offset = 5
        assert data_of(lambda operator, inputs, attributes: inputs[0] + offset) == [
            6,
            7,
            8,
            9,
            10,
            11,
        ]

    @pytest.mark.parametrize(
        "choose",
        [
            lambda module: module.function,
            lambda module: module.Backend(3),
            lambda module: module.Backend(3).__call__,
            lambda module: partial(module.function),
        ],
    )
    def test_modules_that_no_import_finds(self, stray, choose):
        """Functions, instances and methods bring their modules, and the modules those use."""
        assert data_of(choose(stray)) == [8, 11, 14, 17, 20, 23]

    def test_cloudpickle_is_left_as_it_was(self, stray):
        """Nothing is pickled by value afterwards that was not before."""
        before = set(cloudpickle.list_registry_pickle_by_value())
        pickled(stray.function)
        assert set(cloudpickle.list_registry_pickle_by_value()) == before

    def test_a_file(self, tmp_path):
        """A callable loaded from a file of a backend is sent too."""
        path = tmp_path / "kernel.py"
        path.write_text("def f(operator, inputs, attributes):\n    return inputs[0] * 2\n")
        assert data_of(load_backend(f"{path}:f")) == [2, 4, 6, 8, 10, 12]


class TestCannot:
    """What cannot be sent or made is one clear line."""

    @pytest.mark.parametrize("held", [threading.Lock(), sys.stdout, iter(range(3)).__reduce__])
    def test_it_says_what_to_do(self, held):
        """A backend that holds what no pickle has is refused here."""
        lock = threading.Lock()

        def backend(operator, inputs, attributes):
            return held, lock

        with pytest.raises(UsageError, match=r"^the backend cannot be sent .*: name it"):
            python_worker(backend)

    def test_it_cannot_be_made(self):
        """A backend that fails when it is unpickled is refused by the worker."""

        class Broken:
            def __reduce__(self):
                return int, ("no number",)

        with pytest.raises(UsageError, match=r"^the backend cannot be made .*no number.*: name it"):
            answer_of(Broken())


def test_the_worker_is_where_this_process_is(tmp_path, monkeypatch):
    """A worker has the current directory, the import path and the environment of its parent."""
    (tmp_path / "only_here.py").write_text("VALUE = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("ONLY_HERE", "4")
    path = list(sys.path)

    def backend(operator, inputs, attributes):
        import os

        import only_here

        assert sys.path == path
        return inputs[0] * 0 + only_here.VALUE + int(os.environ["ONLY_HERE"])

    assert data_of(backend) == [7.0] * 6
