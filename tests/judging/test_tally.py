"""Parts of a run: shards, and stopping after some failures."""

from itertools import chain

import pytest
from support.fakes import check, ramp, right, vector


def vectors(count):
    """Return vectors that differ in their id."""
    return [vector(ramp(1, 1, 4), id=f"{i:04}") for i in range(count)]


def ran(report):
    """Return the ids of what was run."""
    return [result.id for result in report.results]


def failing(*_):
    """Never answer."""
    raise RuntimeError("no")


class TestShards:
    @pytest.mark.parametrize("count", [1, 2, 3, 7])
    def test_each_vector_is_in_one_shard(self, count):
        """The shards of a run are the run."""
        reports = [check(right, vectors(7), shard=f"{i + 1}/{count}") for i in range(count)]
        assert sorted(chain.from_iterable(map(ran, reports))) == ran(check(right, vectors(7)))

    def test_a_shard_is_complete_and_says_which_it_is(self):
        """What other shards run is counted as not run."""
        report = check(right, vectors(7), shard="2/3")
        assert (ran(report), report.shard) == (["0001", "0004"], "2/3")
        assert (report.complete, report.ok, report.not_run) == (True, True, 5)

    def test_an_empty_shard_is_not_ok(self):
        """Where there are fewer vectors than shards, some run nothing, and say so."""
        report = check(right, vectors(2), shard="3/3")
        assert (report.ok, report.problems) == (False, ("nothing was run",))


class TestMaxFailures:
    def test_the_run_stops_soon_after_so_many_failures(self):
        """It is incomplete then, and says why."""
        report = check(failing, vectors(600), max_failures=3)
        assert (report.complete, report.stopped) == (False, "as many failures as were allowed")
        assert 3 <= report.counts["error"] < 600

    def test_fewer_failures_do_not_stop_it(self):
        """The limit is reached, not exceeded."""
        report = check(failing, vectors(2), max_failures=3)
        assert (report.complete, report.counts["error"]) == (True, 2)

    def test_expected_failures_do_not_count(self, tmp_path):
        """Only what nobody announced stops a run."""
        known = tmp_path / "known"
        known.write_text("error * # 1: never answers")
        report = check(failing, vectors(600), max_failures=1, expected_failures=known)
        assert (report.complete, report.counts["error"]) == (True, 600)
