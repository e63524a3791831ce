"""Vectors that are not called: what the file may say, and what a run makes of it."""

from dataclasses import replace

import pytest
from support.fakes import check, pool, ramp, right, vector

from conformance.api.diff import diff
from conformance.api.expected_failures import ExpectedFailures
from conformance.api.merge import merge
from conformance.dtypes import FLOATS
from conformance.errors import UsageError
from conformance.record import jsonl

SAME = [
    vector(ramp(1, 1, n), pool(auto_pad="same_lower"), id=f"AvgPool-1/same/{n}") for n in (6, 7)
]
VECTORS = [
    *(vector(ramp(1, 1, 2 * n), id=f"AvgPool-1/{n}") for n in range(1, 5)),
    *SAME,
    vector(ramp(1, 1, 2), id="MaxPool-1/1", operator="MaxPool-1"),
]


@pytest.fixture
def run(tmp_path):
    """Return what runs a right backend over the vectors, but for those that a text skips."""

    def over(text, vectors=VECTORS, backend=right, **options):
        path = tmp_path / "skip.txt"
        path.write_text(text, "utf-8")
        return check(backend, vectors, skip=path, **options)

    return over


class TestFile:
    """What a file may say; tests of expected failures say the same of its other lines."""

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("skip? a # b", "f:1: skip?: what is skipped is not called, and cannot pass"),
            ("skip # a", "f:1: skip of what?"),
            ("skip cause=nope # a", "f:1: no cause 'nope'; see conformance faults"),
            (
                "skip cause=rule:values:channel>=6:zero # a",
                "f:1: 'rule:values:channel>=6:zero' says nothing of vectors that were never called",
            ),
        ],
    )
    def test_a_wrong_line_is_named(self, line, said):
        with pytest.raises(UsageError) as caught:
            ExpectedFailures.parse(line, path="f")
        assert str(caught.value).startswith(said)


class TestRun:
    """What a run makes of it."""

    def test_a_skipped_vector_is_never_called(self, run):
        """Nor called again."""
        called = set()

        def backend(operator, inputs, attributes):
            called.add((operator, inputs[0].shape))
            return right(operator, inputs, attributes)

        report = run("skip AvgPool-1/? # hangs", backend=backend, variations="none")
        kept = [each.case for each in (*SAME, VECTORS[-1])]
        assert called == {(case.operator, case.data.shape) for case in kept}
        assert [(each.id, each.reason) for each in report.skipped] == [
            (f"AvgPool-1/{n}", "hangs") for n in range(1, 5)
        ]

    def test_a_run_of_nothing_is_not_ok(self, run):
        assert run("skip * # all").problems == ("nothing was run",)

    def test_a_cause_skips_the_vectors_whose_answers_it_changes(self, run):
        """Only an odd cell of padding lies on one side."""
        report = run("skip cause=same-lower-as-upper # 13")
        assert [(each.id, each.reason) for each in report.skipped] == [("AvgPool-1/same/7", "13")]

    def test_a_cause_under_a_condition_skips_nothing_elsewhere(self, run):
        """The type of all these is float32."""
        skipped = {
            name: run(f"skip cause=same-lower-as-upper:dtype={name} # 13").skipped
            for name in FLOATS
        }
        assert [name for name, vectors in skipped.items() if vectors] == ["float32"]

    @pytest.mark.parametrize(
        "line",
        [
            "skip nothing/* # a",
            "skip cause=same-lower-as-upper # a",
            "skip cause=dilations-ignored # a",
        ],
    )
    def test_a_line_that_matches_nothing_makes_a_run_not_ok(self, run, line):
        plain = [each for each in VECTORS if each not in SAME]
        report = run(line, plain)
        assert report.problems == ("1 to skip but of no vector",)
        assert report.skips.unmatched == (line.split()[1],)

    @pytest.mark.parametrize(
        ("line", "unmatched"),
        [
            ("skip AvgPool-1/gone # a", ()),
            ("skip A*/gone # a", ()),
            ("skip cause=same-lower-as-upper # a", ()),
            ("skip MaxPool-1/gone # a", ("MaxPool-1/gone",)),
            ("skip elsewhere/gone # a", ("elsewhere/gone",)),
        ],
    )
    def test_a_line_about_operators_that_were_not_asked_for_is_not_stale(
        self, run, line, unmatched
    ):
        """They may not even be there to look at; a line about those that were asked for is."""
        report = run(line, [VECTORS[-1]], operators="MaxPool-1")
        assert report.skips.unmatched == unmatched
        assert report.operators == ("MaxPool-1",)

    def test_what_is_not_selected_may_be_matched(self, run):
        """Another tier, or shard, has it."""
        report = run(
            "skip cause=same-lower-as-upper # a\nskip AvgPool-1/1 # b", operators="MaxPool-1"
        )
        assert report.ok
        assert (report.skipped, report.skips.unmatched) == ((), ())


def test_a_file_of_expected_failures_may_say_what_is_skipped(run, tmp_path):
    """So may two files, each about other vectors; what fails is expected as ever."""
    path = tmp_path / "known.txt"
    path.write_text("mismatch MaxPool-1/* # 1\nskip AvgPool-1/1 # 2\n", "utf-8")

    def wrong(operator, inputs, attributes):
        return right(operator, inputs, attributes) + (operator == "MaxPool-1")

    text = "skip AvgPool-1/2 # 3\nmismatch * # unread"
    report = run(text, backend=wrong, expected_failures=path)
    assert report.ok
    skipped = {each.id: each.reason for each in report.skipped}
    assert skipped == {"AvgPool-1/1": "2", "AvgPool-1/2": "3"}
    assert report.skips.path == f"{path} and {tmp_path / 'skip.txt'}"


class TestFloors:
    """A skipped vector is not supported."""

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"min_supported": "50%"}, "below the minimum supported 50%: 3 of 7 supported"),
            ({"min_supported": "2,AvgPool-1"}, None),
            (
                {"min_supported": "3,AvgPool-1"},
                "below the minimum supported 3,AvgPool-1: 2 of 6 supported",
            ),
            ({"strict_unsupported": True}, "4 skipped, which none may be"),
        ],
    )
    def test_a_floor_counts_it(self, run, options, problem):
        assert run("skip AvgPool-1/? # hangs", **options).problems == (
            (problem,) if problem else ()
        )

    def test_it_is_lost_since_a_baseline_in_which_it_conforms(self, run, tmp_path):
        base = tmp_path / "base.jsonl"
        jsonl.write(check(right, VECTORS), base)
        report = run("skip AvgPool-1/1 # hangs", baseline=base)
        assert report.support.lost == ("AvgPool-1/1",)
        assert report.problems == (f"1 lost since {base}",)


def test_a_saved_report_has_what_was_skipped(run, tmp_path):
    report = run("skip AvgPool-1/1 # hangs\nskip nothing # b")
    path = tmp_path / "report.jsonl"
    jsonl.write(report, path)
    assert jsonl.read(path).skips == report.skips


def test_shards_skip_together_what_the_run_skips(run):
    text = "skip AvgPool-1/? # hangs\nskip nothing # b"
    parts = {f"{n}": run(text, shard=f"{n}/2") for n in (1, 2)}
    merged, whole = merge(parts), run(text)
    assert {*merged.skipped} == {*whole.skipped}
    assert merged.skips.unmatched == whole.skips.unmatched
    assert (merged.not_run, merged.problems) == (whole.not_run, whole.problems)


def test_shards_of_other_files_are_not_of_one_run(run):
    parts = {
        "a": run("skip AvgPool-1/? # hangs", shard="1/2"),
        "b": check(right, VECTORS, shard="2/2"),
    }
    with pytest.raises(
        UsageError, match=r"not of one run: vectors to skip: a file with .* and none"
    ):
        merge(parts)


def test_shards_of_files_of_one_name_and_other_content_are_not_of_one_run(run):
    """One that skips everything would pass for the rest; where the file is does not matter."""
    parts = {
        "a": run("skip AvgPool-1/1 # hangs", shard="1/2"),
        "b": run("skip * # hangs", shard="2/2"),
    }
    assert parts["a"].skips.path == parts["b"].skips.path
    with pytest.raises(UsageError, match="not of one run: vectors to skip: a file with digest"):
        merge(parts)
    alike = {**parts, "b": run("skip AvgPool-1/1 # hangs", shard="2/2")}
    elsewhere = replace(alike["b"], skips=replace(alike["b"].skips, path="elsewhere"))
    assert merge({**alike, "b": elsewhere}).skipped == merge(alike).skipped
    (caveat,) = diff(alike["a"], replace(parts["a"], skips=parts["b"].skips)).caveats
    assert caveat.startswith("vectors to skip: a file with digest ")
