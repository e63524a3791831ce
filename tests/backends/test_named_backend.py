"""What a text that names a backend is parsed to, and what follows from it."""

import pytest

from conformance.backends import parse_backend
from conformance.backends.named_backend import NamedBackend
from conformance.errors import UsageError


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        ("numpy", NamedBackend("numpy", "builtin", "numpy")),
        (
            "torch:device=cuda:1",
            NamedBackend("torch:device=cuda:1", "builtin", "torch", options="device=cuda:1"),
        ),
        ("torch:pool", NamedBackend("torch:pool", "callable", "torch", "pool")),
        (
            "pack.kernel:Engine.run",
            NamedBackend("pack.kernel:Engine.run", "callable", "pack.kernel", "Engine.run"),
        ),
        (
            "a:b/kernel.py:pool",
            NamedBackend("a:b/kernel.py:pool", "callable", "a:b/kernel.py", "pool"),
        ),
        (
            "x=1/a.py:pool:device=cuda:1",
            NamedBackend(
                "x=1/a.py:pool:device=cuda:1", "callable", "x=1/a.py", "pool", "device=cuda:1"
            ),
        ),
        ("exec:./run torch:x=1", NamedBackend("exec:./run torch:x=1", "exec", "./run torch:x=1")),
        ("exec:", NamedBackend("exec:", "exec", "")),
        ("results:out:1.h5", NamedBackend("results:out:1.h5", "results", "out:1.h5")),
    ],
)
def test_a_text_is_one_of_four_kinds(text, backend):
    """Nothing is imported, started or opened for it."""
    assert parse_backend(text) == backend


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("numpy", ()),
        ("kernel:pool", ()),
        ("sub/kernel.py:pool", ("sub/kernel.py",)),
        ("exec:./run 'my model.bin'", ("./run", "my model.bin")),
        ("exec:./run 'open", ()),
        ("results:out.h5", ("out.h5",)),
    ],
)
def test_paths_are_those_that_the_backend_is_read_from(text, paths):
    """A report must not be written over one of them."""
    assert parse_backend(text).paths == paths


def test_stored_results_cannot_be_started():
    """They were computed elsewhere."""
    with pytest.raises(UsageError, match=r"^results:out\.h5: stored results are looked up"):
        _ = parse_backend("results:out.h5").launch
