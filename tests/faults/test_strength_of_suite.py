"""The shipped suite bites: its tiers catch the faults of the catalogue."""

from __future__ import annotations

from conformance.faults import strength


def test_the_standard_tier_catches_every_fault():
    """Every fault is caught in every operator it concerns."""
    missed = strength(tier="standard").missed
    assert [(catch.fault, catch.operator) for catch in missed] == []


def test_the_smoke_tier_catches_nearly_every_fault():
    """At least 95 % of the faults, counted in each operator they concern, by the smoke tier."""
    measured = strength(tier="smoke")
    assert len(measured.missed) <= 0.05 * len(measured.catches)
