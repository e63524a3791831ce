"""Which releases a bisection runs."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support.releases import not_run, release

from conformance.history.bisection import bisected

VERSIONS = [f"1.{number}" for number in range(32)]


def bisect(failures, problems=()):
    """Bisect releases in each of which one vector fails, or none; return those asked for too."""
    asked = []

    def observe(version):
        asked.append(version)
        number = VERSIONS.index(version)
        if number in problems:
            return not_run(version)
        return release(version, conforms="a", wrong=failures[number])

    return bisected(VERSIONS[: len(failures)], observe), asked


def test_where_nothing_changed_the_ends_are_enough():
    releases, asked = bisect(["x"] * 32)
    assert asked == [each.version for each in releases] == ["1.0", "1.31"]


def test_one_change_takes_a_logarithm_of_runs():
    releases, asked = bisect(["x"] * 13 + ["y"] * 19)
    assert len(asked) <= 2 + 5
    assert {"1.12", "1.13"} < {each.version for each in releases}


def test_what_does_not_run_is_passed_over():
    """Both ends, and the middle: its neighbours are run in its place."""
    releases, _ = bisect(["x"] * 4 + ["y"] * 5, problems={0, 4, 8})
    ran = [each.version for each in releases if not each.problem]
    assert ran == ["1.1", "1.3", "1.5", "1.7"]
    assert [each.version for each in releases if each.problem] == ["1.0", "1.4", "1.8"]


def test_nothing_is_run_twice():
    _, asked = bisect([str(number // 3) for number in range(32)], problems={31, 15, 16})
    assert len(asked) == len(set(asked))


def test_nothing_runs():
    releases, asked = bisect(["x"] * 3, problems={0, 1, 2})
    assert asked == VERSIONS[:3]
    assert all(each.problem for each in releases)


@given(st.lists(st.sampled_from("xyz"), min_size=1, max_size=32))
def test_every_change_of_neighbours_that_ran_is_placed(failures):
    """Only between two that fail alike may some be left out."""
    releases, _ = bisect(failures)
    ran = [VERSIONS.index(each.version) for each in releases]
    assert (ran[0], ran[-1]) == (0, len(failures) - 1)
    for low, high in pairwise(ran):
        assert high == low + 1 or failures[low] == failures[high]
