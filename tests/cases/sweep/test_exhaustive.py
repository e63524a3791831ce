"""The exhaustive tier: the full product on one axis, beside the cases of the smaller tiers."""

import pytest
from support.effort import one_in
from support.random_cases import EVERY

from conformance.cases.sweep import collect
from conformance.cases.sweep.exhaustive import exhaustive, parts


@pytest.mark.slow("it counts millions of cases")
def test_the_exhaustive_tier_is_about_a_million():
    """The full product on one axis for each element type, over all operators."""
    attributes = {"AvgPool-1": 4 * 2 * 2, "MaxPool-1": 4 * 2, "nGraph-AvgPool": 2}
    for operator, modes in attributes.items():
        assert parts(operator) == 12 * 6
        assert sum(1 for _ in exhaustive(operator, 0, 5)) == 5 * 25 * modes * 4
    assert parts("AdaptiveAvgPool-8") == 8
    assert sum(1 for _ in exhaustive("AdaptiveAvgPool-8", 0, 3)) == 8 * 64 * 3 * 4
    assert 72 * 5 * 25 * 4 * sum(attributes.values()) + 64 * 64 * 3 * 4 > 950_000


@pytest.mark.parametrize("operator", one_in(12, EVERY))
def test_no_case_of_the_product_is_in_a_smaller_tier(operator):
    """Ids are unique over the files of the exhaustive tier."""
    smaller = collect(operator, tier="standard", strength=1, seed=0).cases
    ids = [case.id for part in (1, 2) for case in exhaustive(operator, 0, part)]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {case.id for case in smaller}
