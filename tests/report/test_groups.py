"""Failures in groups."""

from __future__ import annotations

from collections import Counter

import pytest
from samples import PLAIN

from conformance.check.report import Report, Result, Worst
from conformance.report.groups import failure_groups, kind_of, traits

WORST = Worst((0,), 1.0, 2.0, 1.0, 8.0, 0.1, 1, 4)


def result(name, verdict="conforms", **others):
    """Return a result of AvgPool-1 with plain attributes but for those given."""
    known = {
        key: others.pop(key) for key in ("detail", "worst", "dtype", "clauses") if key in others
    }
    shape = others.pop("shape", (1, 1, 4, 4))
    known = {"dtype": "float32"} | known
    return Result(name, "AvgPool-1", verdict, PLAIN | others, shapes=(shape,), **known)


def report(results):
    """Return a report of results of AvgPool-1."""
    counts = Counter(each.verdict for each in results)
    return Report("b", (), results, counts, {"AvgPool-1": counts})


def test_failures_share_what_only_they_have():
    """The rarest shared trait comes first, and says how many vectors with it were run."""
    fine = [result(f"fine{i}", exclude_pad=bool(i % 2)) for i in range(6)]
    lower = [
        result(f"wrong{i}", "mismatch", worst=WORST, auto_pad="same_lower", exclude_pad=bool(i % 2))
        for i in range(3)
    ]
    also_lower = result("right", auto_pad="same_lower")
    (group,) = failure_groups(report([*fine, *lower, also_lower]))
    assert (group.kind, group.shared, group.alike) == ("wrong values", ("auto_pad=same_lower",), 4)
    assert list(group.results) == lower


def test_an_absent_attribute_counts_as_its_default():
    """auto_pad=explicit and no auto_pad are the same trait."""
    assert traits(result("a")) == traits(result("a", auto_pad="explicit"))


def test_failures_without_a_common_trait_are_split_by_a_telling_one():
    """float16 always fails; one other failure stands alone."""
    fine = [result(f"fine{i}") for i in range(5)]
    halves = [
        result(f"half{i}", "mismatch", worst=WORST, dtype="float16", rounding_type=rounding)
        for i, rounding in enumerate(("floor", "ceil"))
    ]
    lone = result("lone", "mismatch", worst=WORST, auto_pad="valid", rounding_type="ceil")
    groups = failure_groups(report([*fine, *halves, lone]))
    assert [[each.id for each in group.results] for group in groups] == [
        ["half0", "half1"],
        ["lone"],
    ]
    assert groups[0].shared == ("dtype=float16",)


def test_kinds_are_kept_apart_and_the_largest_group_comes_first():
    """A wrong shape and wrong values have different causes."""
    shape = result("a", "mismatch", detail="shape (1,) instead of (2,)")
    wrong = [result(name, "mismatch", worst=WORST) for name in "bc"]
    groups = failure_groups(report([shape, *wrong]))
    assert [group.kind for group in groups] == ["wrong values", "wrong shape"]


def test_crashes_and_timeouts_come_first():
    """However few: they are the gravest, and only some groups are shown."""
    wrong = [result(name, "mismatch", worst=WORST) for name in "abc"]
    groups = failure_groups(report([*wrong, result("d", "timed-out"), result("e", "crashed")]))
    assert [group.kind for group in groups] == ["timed-out", "crashed", "wrong values"]


def test_unsupported_vectors_are_not_counted_as_run():
    """Only vectors that got an answer are alike."""
    wrong = result("a", "mismatch", worst=WORST, auto_pad="valid")
    skipped = result("b", "unsupported", auto_pad="valid")
    (group,) = failure_groups(report([wrong, skipped, result("c")]))
    assert (group.shared, group.alike) == (("auto_pad=valid",), 1)


def test_the_example_is_the_smallest():
    """The failure with the least data is the easiest to look at."""
    large = result("large", "mismatch", worst=WORST, shape=(1, 1, 9, 9))
    small = result("small", "mismatch", worst=WORST)
    (group,) = failure_groups(report([large, small]))
    assert group.example.id == "small"


@pytest.mark.parametrize(
    ("verdict", "detail", "kind"),
    [
        ("mismatch", "dtype float64 instead of float32", "wrong dtype"),
        ("mismatch", "accepted an invalid case: strides=[0]", "no exception"),
        ("mismatch", "returned list instead of numpy.ndarray", "no array"),
        ("mismatch", "follows a=x, y is required", "follows a=x"),
        ("error", "IndexError: 3", "raised IndexError"),
        ("crashed", "signal 11", "crashed"),
        ("timed-out", "after 5 s", "timed-out"),
    ],
)
def test_kind_says_what_happened(verdict, detail, kind):
    """The kind comes from the verdict and the first words of the detail."""
    assert kind_of(result("a", verdict, detail=detail)) == kind
