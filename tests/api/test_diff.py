"""Two reports compared."""

import json
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.arbitrary_reports import made, real, reference, reports, result
from support.effort import examples
from support.rendered import in_terminal

from conformance.api.diff import diff
from conformance.errors import UsageError
from conformance.record.report import VERDICTS, ClauseReport, Diagnosis, VectorsUsed
from conformance.record.why import WrongShape
from conformance.report import diff_report
from conformance.report.json_documents import difference_json


def ids(difference, way):
    """Return the ids of the vectors that changed in a way."""
    return [name for each in difference.verdicts if each.way == way for name in each.ids]


def text_of(difference):
    """Return a difference as lines of 80 columns."""
    return in_terminal(diff_report.describe(difference))


def pair(first, second):
    """Return the difference of two reports of one vector that got these verdicts."""
    return diff(made(result("a", first)), made(result("a", second)))


@given(reports())
@examples(0.3)
def test_a_report_is_the_same_as_itself(report):
    """Nothing changed, and nothing got worse."""
    assume(report.results)
    found = diff(report, report)
    assert (found.verdicts, found.readings, found.accuracy, found.worse) == ((), (), (), ())
    assert text_of(found)[-1].startswith("SAME: ")


@given(st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from(VERDICTS)), min_size=1))
def test_what_is_better_one_way_is_worse_the_other(verdicts):
    """For any changes of verdicts."""
    first, second = (
        made(*(result(f"{n}", pair[which]) for n, pair in enumerate(verdicts))) for which in (0, 1)
    )
    there, back = diff(first, second), diff(second, first)
    assert set(ids(there, "better")) == set(ids(back, "worse"))
    assert set(ids(there, "other")) == set(ids(back, "other"))
    changed = {f"{n}" for n, (one, other) in enumerate(verdicts) if one != other}
    assert {name for each in there.verdicts for name in each.ids} == changed


@given(reports(max_size=3))
@examples(0.3)
def test_any_difference_is_strict_json_and_text(report):
    common = result("common")
    found = diff(made(common), made(common, *report.results, accuracy=report.accuracy))
    text = difference_json(found)
    assert json.loads(text, parse_constant=pytest.fail)["got_worse"] == []
    assert text.encode()
    assert text_of(found)[-1]


@pytest.mark.parametrize(
    ("first", "second", "way"),
    [
        ("mismatch", "conforms", "better"),
        ("conforms", "mismatch", "worse"),
        ("conforms", "unsupported", "worse"),
        ("unsupported", "error", "worse"),
        ("error", "crashed", "worse"),
        ("timed-out", "mismatch", "better"),
        ("mismatch", "error", "other"),
        ("crashed", "timed-out", "other"),
    ],
)
def test_verdicts_have_an_order(first, second, way):
    """From conforming to crashing."""
    found = pair(first, second)
    assert ids(found, way) == ["a"]
    assert bool(found.worse) == (way == "worse")


def test_changes_are_grouped_by_operator_verdicts_and_cause():
    """The cause is that of the report in which the vectors fail."""
    cause = Diagnosis("x", ("f", "g"), 1, 1, 2, vectors=("a", "c"), kind="fault")
    first = made(*(result(name) for name in "abc"), result("d", "error", detail="E: x"))
    second = made(
        *(result(name, "mismatch", why=WrongShape((1,), ((2,),))) for name in "abc"),
        result("d"),
        diagnoses=(cause,),
    )
    found = [(c.way, c.before, c.after, c.why, c.ids) for c in diff(first, second).verdicts]
    assert found == [
        ("worse", "conforms", "mismatch", "fault f + g", ("a", "c")),
        ("worse", "conforms", "mismatch", "wrong shape", ("b",)),
        ("better", "error", "conforms", "raised E", ("d",)),
    ]


def test_new_and_gone_vectors_are_counted_and_not_judged():
    first = made(result("a"), result("b", "mismatch"))
    second = made(result("a"), result("c", "error"), result("d"))
    found = diff(first, second)
    assert (found.new, found.gone, found.worse) == (
        {"error": 1, "conforms": 1},
        {"mismatch": 1},
        (),
    )
    assert "2 vectors new: 1 error, 1 conforms" in text_of(found)


def test_a_vector_of_the_same_file_that_is_no_longer_run_got_worse():
    """A run of less is not a better one."""
    used = (VectorsUsed("AvgPool-1", "a.h5", "12ab", 2, 2),)
    first = made(result("a"), result("b"), vectors=used)
    found = diff(first, made(result("a"), vectors=used))
    assert [(c.before, c.after, c.ids) for c in found.verdicts] == [("conforms", "not run", ("b",))]
    assert found.worse == ("1 vector got worse",)


def test_nothing_in_common_is_nothing_to_compare():
    """Rather than no difference."""
    with pytest.raises(UsageError, match="no vector is in both reports"):
        diff(made(result("a")), made(result("b")))


def test_readings_are_compared_without_their_counts():
    """More vectors of the same reading are no change; an inconsistency is worse."""
    clause = ClauseReport("c", "followed", "x", counts={"x": 3}, touched=4)
    first = made(result("a"), readings=(clause,))
    more = made(result("a"), readings=(replace(clause, counts={"x": 9}, touched=9),))
    other = made(result("a"), readings=(replace(clause, followed="y"),))
    broken = made(result("a"), readings=(replace(clause, status="inconsistent", followed=None),))
    assert diff(first, more).readings == ()
    (change,) = diff(first, other).readings
    assert (change.what, change.before, change.after) == ("c", "x", "y")
    assert diff(first, other).worse == ()
    assert diff(first, broken).worse == ("readings of c became inconsistent",)
    assert diff(broken, first).worse == ()


def test_what_makes_reports_hard_to_compare_is_said_first():
    """Other vectors, versions and options."""
    used = VectorsUsed("AvgPool-1", "a.h5", "1", 1, 1)
    first = made(result("a"), vectors=(used,), versions={"numpy": "1", "python": "3"})
    second = made(
        result("a"),
        backend="c",
        vectors=(replace(used, digest="2"),),
        versions={"numpy": "2", "python": "3"},
        tier="smoke",
        required={"c": "x"},
    )
    assert diff(first, second).caveats == (
        "backend: b before, c after",
        "tier: standard before, smoke after",
        "required readings: none before, c=x after",
        "version of numpy: 1 before, 2 after",
        "vectors of AvgPool-1: 1 with digest 1 before, 1 with digest 2 after",
    )


def test_a_report_that_is_incomplete_is_worse_and_said_loudly():
    """Unless the first was, too."""
    whole = made(result("a"))
    cut = made(result("a"), stopped="interrupted")
    found = diff(whole, cut)
    assert found.caveats == ("the second report is incomplete: interrupted",)
    assert found.worse == ("the second report is incomplete",)
    assert diff(cut, cut).worse == ()
    assert "NOTE: the second report is incomplete: interrupted" in text_of(found)


def test_the_last_line_is_the_verdict():
    assert text_of(diff(real(reference), real()))[-1] == (
        "WORSE: 1 vector got worse; 5 vectors in both reports"
    )
    assert text_of(diff(real(), real(reference)))[-1] == (
        "BETTER: 1 vector got better; 5 vectors in both reports"
    )
    assert text_of(pair("mismatch", "error"))[-1] == ("NOTHING GOT WORSE: 1 vector in both reports")
