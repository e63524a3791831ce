"""Failures in groups."""

from dataclasses import replace

import pytest
from support.arbitrary_reports import made
from support.arbitrary_reports import result as plain_result
from support.report_samples import PLAIN

from conformance.api.failure_groups import failure_groups, groups_of_cause, traits
from conformance.record.report import Diagnosis, Worst
from conformance.record.why import OnlyUnder, Raised, WrongShape

KNOWN = ("detail", "why", "worst", "dtype", "clauses", "operator", "variations", "only_again")
WORST = Worst((0,), 1.0, 2.0, 1.0, 8.0, 0.1, 1, 4, (0,), 1.0, 2.0)


def result(name, verdict="conforms", **others):
    """Return a result of AvgPool-1 with plain attributes but for those given."""
    known = {key: others.pop(key) for key in [*others] if key in KNOWN}
    shape = others.pop("shape", (1, 1, 4, 4))
    return plain_result(name, verdict, attributes=PLAIN | others, shapes=(shape,), **known)


def test_failures_share_what_only_they_have():
    """The rarest shared trait comes first, and says how many vectors with it were run."""
    fine = [result(f"fine{i}", exclude_pad=bool(i % 2)) for i in range(6)]
    lower = [
        result(f"wrong{i}", "mismatch", worst=WORST, auto_pad="same_lower", exclude_pad=bool(i % 2))
        for i in range(3)
    ]
    also_lower = result("right", auto_pad="same_lower")
    (group,) = failure_groups(made(*fine, *lower, also_lower))
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
    groups = failure_groups(made(*fine, *halves, lone))
    assert [[each.id for each in group.results] for group in groups] == [
        ["half0", "half1"],
        ["lone"],
    ]
    assert groups[0].shared == ("dtype=float16",)


def test_kinds_are_kept_apart_and_the_largest_group_comes_first():
    """A wrong shape and wrong values have different causes."""
    shape = result("a", "mismatch", why=WrongShape((1,), ((2,),)))
    wrong = [result(name, "mismatch", worst=WORST) for name in "bc"]
    groups = failure_groups(made(shape, *wrong))
    assert [group.kind for group in groups] == ["wrong values", "wrong shape"]


def test_crashes_and_timeouts_come_first():
    """However few: they are the gravest, and only some groups are shown."""
    wrong = [result(name, "mismatch", worst=WORST) for name in "abc"]
    groups = failure_groups(made(*wrong, result("d", "timed-out"), result("e", "crashed")))
    assert [group.kind for group in groups] == ["timed-out", "crashed", "wrong values"]


def cause(fault, *ids):
    """Return a cause of failures; without a fault it is unknown."""
    faults = (fault,) if fault else ()
    kind = "fault" if fault else "unknown"
    return Diagnosis("said", faults, len(ids), len(ids), 9, vectors=ids, kind=kind)


def test_failures_of_one_cause_are_one_group():
    """Whatever their operators, kinds and attributes; the rest is grouped by what it shares."""
    average = result("a", "mismatch", worst=WORST, auto_pad="same_lower")
    maximum = result("m", "mismatch", operator="MaxPool-1", why=WrongShape((1,), ((2,),)))
    other = result("o", "mismatch", worst=WORST)
    diagnoses = (cause("f", "a", "m"), cause("", "o"))
    first, second = failure_groups(made(average, maximum, other, diagnoses=diagnoses))
    assert first.title == "AvgPool-1 and MaxPool-1: wrong values and wrong shape"
    assert [each.id for each in first.results] == ["a", "m"]
    assert (second.title, second.results) == ("AvgPool-1: wrong values", (other,))
    assert [link.number for link in groups_of_cause(2, [first, second])] == [2]


def test_a_failure_of_two_causes_is_in_the_group_of_the_larger():
    """No failure is counted twice."""
    wrong = [result(name, "mismatch", worst=WORST) for name in "abc"]
    diagnoses = (cause("f", "a", "b"), cause("g", "b", "c"))
    groups = failure_groups(made(*wrong, diagnoses=diagnoses))
    assert [[each.id for each in group.results] for group in groups] == [["a", "b"], ["c"]]


def test_exceptions_are_grouped_by_their_message():
    """Numbers, addresses and quoted words in it may differ, and so may the operators."""
    texts = {
        "a": "RuntimeError: no kernel for shape (1, 3, 4) at 0x7f00",
        "b": "RuntimeError: no kernel for shape (2, 5) at 0x10\nmore",
        "c": "RuntimeError: pad should be below 'kernel'",
    }
    found = [result(name, "error", detail=text) for name, text in texts.items()]
    found.append(result("m", "error", operator="MaxPool-1", detail=texts["a"]))
    groups = failure_groups(made(*found))
    assert [group.title for group in groups] == [
        "AvgPool-1 and MaxPool-1: raised RuntimeError: no kernel for shape (…) at …",
        "AvgPool-1: raised RuntimeError: pad should be below …",
    ]


@pytest.mark.parametrize("others", [{"variations": ("again",)}, {"only_again": True}])
def test_what_the_checker_says_of_an_exception_is_not_its_message(others):
    """It is the same exception."""
    why = Raised("ValueError", "pads", (OnlyUnder("same-with-ceil", ("rounded",)),))
    (group,) = failure_groups(made(result("a", "error", why=why, **others)))
    assert group.title == "AvgPool-1: raised ValueError: pads"


def test_operators_that_fail_alike_are_one_group():
    """Of unknown cause: what is wrong and what is shared are the same."""
    fine = [result(f"fine{n}", operator=n) for n in ("AvgPool-1", "MaxPool-1")]
    wrong = [
        result(f"wrong{n}", "mismatch", worst=WORST, operator=n, shape=(1, 5, 4, 4))
        for n in ("AvgPool-1", "MaxPool-1")
    ]
    (group,) = failure_groups(made(*fine, *wrong))
    assert group.title == "AvgPool-1 and MaxPool-1: wrong values"
    assert (group.shared, group.alike) == (("more than 1 channels",), 2)


@pytest.mark.parametrize(
    ("shape", "shared"),
    [((2, 1, 4), "a batch of more than 1"), ((1, 1, 4, 17), "rows of more than 16 cells")],
)
def test_failures_share_what_is_large(shape, shared):
    """Where nothing else tells them apart."""
    fine = [result("fine", shape=(1, 1, *(4 for _ in shape[2:])))]
    (group,) = failure_groups(made(*fine, result("a", "mismatch", worst=WORST, shape=shape)))
    assert group.shared == (shared,)


def test_operators_that_fail_throughout_have_nothing_in_common():
    """Each has a group of its own."""
    wrong = [result(n, "mismatch", worst=WORST, operator=n) for n in ("AvgPool-1", "MaxPool-1")]
    assert len(failure_groups(made(*wrong))) == 2


def test_groups_are_in_the_order_of_their_causes():
    """So that their numbers go with those of the causes; groups without a cause are last."""
    of = {"a": "bc", "b": "d"}
    wrong = [result(name, "mismatch", worst=WORST) for name in "bcd"]
    other = [result(name, "mismatch", why=WrongShape((1,), ((2,),))) for name in "efg"]
    causes = tuple(cause(fault, *ids) for fault, ids in of.items())
    groups = failure_groups(replace(made(*other, *wrong), diagnoses=causes))
    assert [[link.number for link in group.causes] for group in groups] == [[1], [2], []]
