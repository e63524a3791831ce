"""The shipped suite bites: its tiers catch the faults of the catalogue."""

from __future__ import annotations

import pytest

from conformance.errors import VectorFileError
from conformance.faults import strength
from conformance.vectorfile import open_vectors


@pytest.fixture(autouse=True)
def shipped():
    """Skip where the shipped vectors have not been generated."""
    try:
        open_vectors().close()
    except VectorFileError:
        pytest.skip("the shipped vectors are not there")


def test_the_standard_tier_catches_every_fault():
    """Every fault is caught in every operator it concerns."""
    missed = strength(tier="standard").missed
    assert [(catch.fault, catch.operator) for catch in missed] == []


def test_the_smoke_tier_catches_nearly_every_fault():
    """At least 95 % of the faults are caught in some operator by the smoke tier."""
    catches = strength(tier="smoke").catches
    every = {catch.fault for catch in catches}
    caught = {catch.fault for catch in catches if catch.caught}
    assert len(caught) >= 0.95 * len(every), sorted(every - caught)
