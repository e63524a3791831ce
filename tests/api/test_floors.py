"""Floors under what is supported: a backend that lost support does not conform."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import check, ramp, right, vector

from conformance.api.floors import floor_named
from conformance.api.merge import merge
from conformance.errors import Unsupported, UsageError
from conformance.record import jsonl
from conformance.record.report import Floor

VECTORS = [vector(ramp(1, 1, 2 * n), id=f"AvgPool-1/{n:02}") for n in range(1, 9)] + [
    vector(ramp(1, 1, 2 * n), id=f"MaxPool-1/{n:02}", operator="MaxPool-1") for n in (1, 2)
]
SMALL = 6


def small(operator, inputs, attributes):
    """Support three vectors of AvgPool-1 and both of MaxPool-1."""
    if inputs[0].size > SMALL:
        raise Unsupported("too large")
    return right(operator, inputs, attributes)


def run(backend=small, vectors=VECTORS, **options):
    """Return the report of a backend over the ten vectors."""
    return check(backend, vectors, **options)


@pytest.fixture
def baseline(tmp_path):
    """Return a saved report in which every vector conforms."""
    path = tmp_path / "base.jsonl"
    jsonl.write(run(right), path)
    return path


class TestFloor:
    @pytest.mark.parametrize(
        ("text", "floor"),
        [
            ("4000", Floor(4000)),
            (4000, Floor(4000)),
            ("90%", Floor(90, percent=True)),
            ("99.9%", Floor(99.9, percent=True)),
            ("95%,A,B", Floor(95, percent=True, operators=("A", "B"))),
            ("7, A", Floor(7, operators=("A",))),
        ],
    )
    def test_numbers_and_percentages(self, text, floor):
        """With the operators that it is of."""
        assert floor_named(text) == floor

    @pytest.mark.parametrize("text", ["", "x", "-1", "0", "0%", "101%", "5.5", "9%,", "1e3", True])
    def test_anything_else_is_refused(self, text):
        """The message says what is allowed."""
        with pytest.raises(UsageError, match=r"^no minimum .*: (a minimum is|it has to be)"):
            floor_named(text)

    @given(st.integers(1, 1000), st.integers(1, 1000))
    def test_a_share_is_exact(self, supported, vectors):
        """No rounding asks for a vector more than the percentage does."""
        percent = Floor(supported / 10, percent=True)
        assert percent.needed(vectors) == max(1, -(-supported * vectors // 1000))


class TestMinSupported:
    """A number or a share of the vectors."""

    @pytest.mark.parametrize(
        ("floor", "said"),
        [
            ("6", "below the minimum supported 6: 5 of 10 supported"),
            ("50.1%", "below the minimum supported 50.1%: 5 of 10 supported"),
            ("40%,AvgPool-1", "below the minimum supported 40%,AvgPool-1: 3 of 8 supported"),
        ],
    )
    def test_missed(self, floor, said):
        """The run is not ok and says by how much."""
        assert run(min_supported=["1", floor]).problems == (said,)

    def test_what_fails_is_supported(self):
        """A wrong answer is another matter."""
        report = run(lambda *_: 1 / 0, min_supported="100%")
        assert report.missed_floors == ()
        assert not report.ok

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                {"min_supported": "11"},
                "the minimum supported 11 is out of reach: 10 vectors are selected",
            ),
            ({"min_supported": "9%,MaxPool-1", "operators": "AvgPool-1"}, "no vector of MaxPool-1"),
            ({"min_supported": "9%,MaxPool"}, "MaxPool"),
            ({"min_supported": "6", "select": "/01", "shard": "1/2"}, "out of reach: 2 vectors"),
        ],
    )
    def test_what_cannot_be_judged_is_wrong_usage(self, options, said):
        """Before the backend is called."""
        with pytest.raises(UsageError, match=said):
            run(lambda *_: pytest.fail("called"), **options)


class TestBaseline:
    """An earlier report."""

    def test_what_is_lost_is_named(self, baseline):
        """And makes the run not ok."""
        report = run(baseline=baseline)
        assert report.problems == (f"5 lost since {baseline}",)
        assert report.support.lost == tuple(f"AvgPool-1/{n:02}" for n in range(4, 9))
        assert (report.support.kept, report.support.conforming) == (5, 10)

    def test_what_was_unsupported_may_stay_so(self, tmp_path):
        """And what was not selected is not lost."""
        path = tmp_path / "small.jsonl"
        jsonl.write(run(), path)
        assert run(baseline=path).ok
        assert run(right, baseline=path, operators="MaxPool-1").support.kept == 2

    def test_a_failure_may_become_unsupported(self, tmp_path):
        """As conformance diff says: that is better."""
        path = tmp_path / "odd.jsonl"
        jsonl.write(run(lambda o, i, a: small(o, i, a) + (i[0].size > 2)), path)
        assert run(baseline=path, select="/01").ok

    def test_a_report_that_is_no_baseline_is_wrong_usage(self, baseline, tmp_path):
        """Incomplete, a part, of other vectors, without anything that conforms."""
        whole = jsonl.read(baseline)
        reports = {
            "incomplete": replace(whole, stopped="why"),
            "of shard 1/2": replace(whole, shard="1/2"),
            "no vector conforms": run(lambda *_: 1 / 0),
        }
        for said, report in reports.items():
            path = tmp_path / "other.jsonl"
            jsonl.write(report, path)
            with pytest.raises(UsageError, match=said):
                run(baseline=path)
        with pytest.raises(UsageError, match="no vector that is selected conforms in it"):
            run(right, [vector(id="x")], baseline=baseline)


class TestShards:
    """A floor is judged on the whole run."""

    def merged(self, backend=small, **options):
        """Return a run in two shards, merged, as they come from files."""
        shards = {f"{n}": run(backend, shard=f"{n}/2", **options) for n in (1, 2)}
        assert all(shard.ok for shard in shards.values()) or options.get("baseline")
        return merge(shards)

    def test_numbers_are_judged_when_shards_are_merged(self):
        """One shard cannot say whether the others make up for it."""
        assert self.merged(min_supported="5").ok
        assert self.merged(min_supported="6").problems == run(min_supported="6").problems

    def test_what_is_lost_is_joined(self, baseline):
        """As in one run."""
        whole, merged = run(baseline=baseline).support, self.merged(baseline=baseline).support
        assert sorted(merged.lost) == sorted(whole.lost)
        assert (merged.kept, merged.conforming) == (whole.kept, whole.conforming)


def test_a_report_keeps_its_floors(tmp_path, baseline):
    """What is read again is judged alike."""
    report = run(baseline=baseline, min_supported=["99.9%,AvgPool-1", 3], strict_unsupported=True)
    path = tmp_path / "r.jsonl"
    jsonl.write(report, path)
    assert jsonl.read(path).support == report.support
    assert jsonl.read(path).problems == report.problems
