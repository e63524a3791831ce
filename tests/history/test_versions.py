"""The order of versions, and the newest of a package."""

import pytest

from conformance.errors import UsageError
from conformance.history import newest, versions
from conformance.history.versions import in_order, is_package
from conformance.process import Ending

LISTED = "engine (2.0)\nAvailable versions: 2.0, 1.10.0, 1.9.1, 1.9.0\n  INSTALLED: 1.9.0\n"


def test_versions_are_ordered_by_their_numbers():
    """Not by their letters; what comes before a release and after it is where it belongs."""
    ordered = ["1.9", "1.10.dev1", "1.10a1.dev2", "1.10a1", "1.10rc1", "1.10", "1.10+cpu"]
    ordered += ["1.10.post1", "1.10.post1+cpu", "1.10.1", "2025.0", "1!0.1"]
    assert in_order(ordered[::-1]) == ordered


@pytest.mark.parametrize("text", ["", "newest", "--index-url=x", "1.0/../..", "1.0 2.0", "1" * 99])
def test_a_text_that_is_no_version(text):
    """It would become an argument of pip and the name of a file."""
    with pytest.raises(UsageError, match="is no version"):
        in_order([text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((name, True) for name in ("engine", "engine[cpu]")),
        *((text, False) for text in ("", "-r", "a b", " a", "a==1", "a @ file:///b", "../a")),
    ],
)
def test_a_package_is_a_name_with_extras_or_without(text, expected):
    """No option of pip, no path, no version."""
    assert is_package(text) == expected


@pytest.fixture
def pip(monkeypatch):
    """Let pip answer with a text."""

    def answer(text):
        done = Ending(0, text.encode(), b"")
        monkeypatch.setattr(versions, "run_command", lambda _: done)

    return answer


def test_the_newest_are_the_first_that_pip_lists(pip):
    pip(LISTED)
    assert newest("engine", 2) == ["1.10.0", "2.0"]


def test_a_package_that_pip_does_not_know(pip):
    pip("")
    with pytest.raises(UsageError, match="knows no releases of 'engine'"):
        newest("engine", 2)
