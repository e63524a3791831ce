"""Puts this folder on the import path: `oracle`, `cases` and others are shared by the tests."""

from __future__ import annotations

import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from conformance.operators import OPERATORS, registry

# A shared machine makes single examples slow now and then; that is no finding.
settings.register_profile("unhurried", deadline=None)
# The same examples every time, and how to repeat the one that failed.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "unhurried")

# Of a job in the background, or under nohup, these are ignored: by all that it starts, too.
for _name in ("SIGHUP", "SIGINT", "SIGQUIT"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) == signal.SIG_IGN:
        normal = signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL
        signal.signal(_number, normal)


def pytest_runtest_setup(item):
    """Skip a test that needs an engine which is not installed, and say so."""
    named = [name for mark in item.iter_markers("needs_engine") for name in mark.args]
    if missing := [name for name in named if find_spec(name) is None]:
        pytest.skip(f"needs {' and '.join(missing)}")


@pytest.fixture
def minimum_pool(monkeypatch):
    """Return MinimumPool-1, which is one of the operators while the test runs."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "outside")
    _forget_operators()
    yield OPERATORS["MinimumPool-1"]
    monkeypatch.undo()
    _forget_operators()


def _forget_operators():
    registry._operators.cache_clear()
    registry._clauses.cache_clear()
