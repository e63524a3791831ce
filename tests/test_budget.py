"""Budgets of work: what is counted, and what the user's clock ends."""

import pytest

from conformance import budget


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that is put forward by hand: its only entry is the time."""
    now = [0.0]
    monkeypatch.setattr(budget, "perf_counter", lambda: now[0])
    return now


def test_a_part_has_its_share_of_the_time_that_is_left(clock):
    """What it does not use is left to those after it."""
    whole = budget.Budget(60)
    first = whole.part(3)
    clock[0] = 19
    assert not first.is_late
    clock[0] = 21
    assert first.is_late
    assert not whole.is_late
    second = whole.part(2)
    clock[0] = 40
    assert not second.is_late
    clock[0] = 41
    assert second.is_late


def test_what_is_unclocked_takes_no_time(clock):
    """Neither of a part nor of the whole: a search of minutes leaves the experiments theirs."""
    whole = budget.Budget(60)
    part = whole.part(2)
    with part.unclocked():
        clock[0] = 1000
    assert not part.is_late
    clock[0] = 1031
    assert part.is_late
    assert not whole.is_late
    clock[0] = 1061
    assert whole.is_late


def test_without_seconds_there_is_no_clock(clock):
    """Work is counted alone."""
    whole = budget.Budget()
    with whole.part(2).unclocked():
        clock[0] = 1e9
    assert not whole.is_late
