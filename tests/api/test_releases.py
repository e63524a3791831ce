"""What a report says of a release."""

from support.arbitrary_reports import made, result

from conformance.api.releases import Release
from conformance.record.report import Diagnosis

WRONG = result("wrong", "mismatch", detail="1 of 2 elements differ")
REPORT = made(result("right"), WRONG, versions={"engine": "2.9"}, backend="torch")


def test_its_version_is_that_of_the_engine_unless_another_is_given():
    assert (Release.of(REPORT).name, Release.of(REPORT, "3.0").name) == ("torch 2.9", "torch 3.0")


def test_of_results_it_has_the_verdicts_alone():
    """Those of many releases would not fit into memory."""
    release = Release.of(REPORT)
    assert release.verdicts == {"right": "conforms", "wrong": "mismatch"}
    assert release.total == {"conforms": 1, "mismatch": 1}
    assert release.summary.results == ()


def test_whether_it_conforms_is_asked_of_all_results():
    """Where nothing was computed, no count says so."""
    assert Release.of(made(result("right"))).ok
    assert not Release.of(made(result("right", undefined_only=True))).ok


def test_failures_are_grouped_under_the_cause_that_explains_most_of_them():
    cause = Diagnosis("s", ("a-fault",), 1, 1, 1, vectors=("wrong",), kind="fault")
    unknown = Diagnosis("u", (), 1, 1, 1, vectors=("wrong",), kind="unknown")
    plain, named = Release.of(REPORT), Release.of(made(WRONG, diagnoses=(unknown, cause)))
    assert [group.ids for group in named.groups] == [("wrong",)]
    assert named.groups[0].title == f"{plain.groups[0].title} (a-fault)"


def test_a_failure_that_was_expected_is_in_no_group_and_a_failure():
    release = Release.of(made(result("known", "mismatch", expected="a bug")))
    assert (release.groups, release.failures) == ((), {"known"})


def test_an_extension_that_is_allowed_is_no_failure():
    extension = result("a", "accepted-invalid", detail="accepted")
    allowed = Release.of(made(extension, allow_extensions=True))
    assert (allowed.failures, allowed.failures_by_operator()) == (frozenset(), {})
    assert Release.of(made(extension)).failures == {"a"}
