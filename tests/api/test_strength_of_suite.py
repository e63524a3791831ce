"""The shipped suite bites: its tiers catch the faults of the catalogue."""

import pytest
from support.effort import one_in

from conformance.api.strength import strength
from conformance.faults import CATALOGUE


@pytest.mark.slow("the smoke tier, a part of it, catches nearly all")
@pytest.mark.parametrize("start", range(3))
def test_the_standard_tier_catches_every_fault(start):
    """Every fault is caught in every operator it concerns."""
    assert strength(tier="standard", faults=CATALOGUE[start::3]).missed == ()


@pytest.mark.parametrize("start", one_in(60, range(60)))
def test_the_smoke_tier_catches_nearly_every_fault(start):
    """At least 75 % of a sample of faults, counted in each operator they concern; of all, 94 %.

    Its vectors are small, and many faults show from some size on.
    """
    measured = strength(tier="smoke", faults=CATALOGUE[start::60])
    assert len(measured.missed) <= 0.25 * len(measured.catches)
