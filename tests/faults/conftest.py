"""An operator from outside, installed for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.operators import OPERATORS, registry

OUTSIDE = Path(__file__).parents[1] / "outside"


@pytest.fixture
def minimum_pool(monkeypatch):
    """Return MinimumPool-1, which is one of the operators while the test runs."""
    monkeypatch.syspath_prepend(OUTSIDE)
    _forget()
    yield OPERATORS["MinimumPool-1"]
    monkeypatch.undo()
    _forget()


def _forget():
    registry._operators.cache_clear()
    registry._clauses.cache_clear()
