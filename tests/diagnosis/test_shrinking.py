"""Delta debugging: the smallest part that shows something, in few trials."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from conformance.diagnosis.shrinking import shrinking


def smallest(items, shows):
    """Return the last part, and how many were tried."""
    tried = []

    def counted(part):
        tried.append(part)
        return shows(part)

    parts = [items, *shrinking(items, counted)]
    assert all(len(one) > len(other) for one, other in pairwise(parts))
    return parts[-1], len(tried)


@given(st.sets(st.integers(0, 63), min_size=1, max_size=4))
def test_what_is_needed_is_left(needed):
    """All items that are needed together, and no other, in their order."""
    left, _ = smallest(list(range(64)), lambda part: needed <= set(part))
    assert left == sorted(needed)


def test_one_of_many_takes_few_trials():
    """Halves first: two trials at most for each bit."""
    left, trials = smallest(list(range(1024)), lambda part: 700 in part)
    assert (left, trials <= 20) == ([700], True)


@given(st.integers(1, 40), st.integers(1, 40))
def test_as_many_as_are_needed_are_left(count, least):
    """Where it is the number that counts, no single one can be left out."""
    left, _ = smallest(list(range(max(count, least))), lambda part: len(part) >= least)
    assert len(left) == least
