"""Reports as JUnit XML."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from msgspec import structs
from support.arbitrary_reports import made, real, reference, reports, result
from support.effort import examples

from conformance.record.report import (
    ClauseReport,
    Expectations,
    Floor,
    Repeatability,
    SkippedVector,
    Skips,
    Support,
    VectorsUsed,
)
from conformance.report.junit import render

COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def parsed(report):
    """Return the root of a report, after the rules that every reader relies on."""
    text = render(report)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time"} <= set(suite.keys())
        tests = suite.findall("testcase")
        kinds = [child.tag for child in suite]
        assert kinds == ["properties"] * kinds.count("properties") + ["testcase"] * len(tests)
        assert int(suite.get("tests")) == len(tests)
        for name, tag in COUNTED.items():
            assert int(suite.get(name)) == sum(test.find(tag) is not None for test in tests)
        if suite.get("timestamp"):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
        for test in tests:
            assert {"classname", "name", "time"} <= set(test.keys())
            tags = [child.tag for child in test]
            verdict = [tag for tag in tags if tag in {"failure", "error", "skipped"}]
            # One verdict at most, and output after it.
            assert tags == verdict[:1] + ["system-out"] * tags.count("system-out")
            assert tags.count("system-out") <= 1
    for name in ("tests", *COUNTED):
        assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)
    return root


def verdicts(report, suite):
    """Return the test cases of a suite by name, each as its verdict and message."""
    (found,) = [each for each in parsed(report) if each.get("name") == suite]
    return {test.get("name"): verdict_of(test) for test in found.iter("testcase")}


def verdict_of(test):
    """Return the verdict and message of a test case."""
    for tag in COUNTED.values():
        child = test.find(tag)
        if child is not None:
            return tag, child.get("message")
    return "passed", ""


def is_red(report):
    root = parsed(report)
    return int(root.get("failures")) + int(root.get("errors")) > 0


@given(reports())
@examples(0.5)
def test_any_report_is_sound_xml_and_red_if_it_is_not_ok(report):
    """Whatever its texts hold. What fails when repeated is ok only if that was expected."""
    red = is_red(report)
    assert red or report.ok
    assert not red or not report.ok or report.repeated.failing


def test_a_run_that_conforms_is_green():
    """And has a suite per operator and one for the run."""
    root = parsed(real(reference))
    assert [suite.get("name") for suite in root] == ["AvgPool-1", "run"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("7", "0", "0")


def test_ids_become_classes_and_names():
    """Operator and type are the class, the rest is the name."""
    vector = result("AvgPool-1/float32/1x1x4/k2/ones-0")
    suite = parsed(made(vector, result("AvgPool-1/plain"), result("odd")))[0]
    names = [(test.get("classname"), test.get("name")) for test in suite.iter("testcase")]
    assert names == [
        ("AvgPool-1.float32", "1x1x4/k2/ones-0"),
        ("AvgPool-1", "plain"),
        ("AvgPool-1", "odd"),
    ]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (result("a"), ("passed", "")),
        (result("a", "mismatch", detail="1 of 2"), ("failure", "1 of 2")),
        (result("a", "error", detail="E: x"), ("error", "error: E: x")),
        (result("a", "crashed", detail="signal 11"), ("error", "crashed: signal 11")),
        (result("a", "timed-out", detail="5 s"), ("error", "timed-out: 5 s")),
        (result("a", "unsupported", detail="3-D"), ("skipped", "unsupported: 3-D")),
        (
            result("a", "mismatch", detail="1 of 2", expected="#12"),
            ("skipped", "expected failure: #12 (mismatch: 1 of 2)"),
        ),
    ],
)
def test_verdicts_become_those_of_junit(found, expected):
    """A wrong answer is a failure, none at all an error."""
    assert verdicts(made(found), "AvgPool-1") == {"a": expected}


def test_a_failure_is_explained_and_has_what_was_printed():
    """The text holds id and facts."""
    report = replace_first(real(), printed="so far so good\x00")
    (failed,) = [t for t in parsed(report).iter("testcase") if t.find("failure") is not None]
    assert failed.find("failure").text.startswith("AvgPool-1/lower\nattributes: ")
    assert "worst: [0, 0, " in failed.find("failure").text
    assert failed.find("system-out").text == "so far so good\ufffd"


def replace_first(report, **changes):
    """Return a report whose failing result is changed."""
    changed = [
        structs.replace(r, **changes) if r.verdict == "mismatch" else r for r in report.results
    ]
    return replace(report, results=tuple(changed))


@pytest.mark.parametrize(
    ("facts", "name", "message"),
    [
        (
            {
                "stopped": "as many failures as were allowed",
                "vectors": (VectorsUsed("AvgPool-1", "", "", 3, 3),),
            },
            "every selected vector was run",
            "INCOMPLETE: 2 selected vectors never reached: as many failures as were allowed",
        ),
        (
            {"readings": (ClauseReport("c", "inconsistent", counts={"a": 1}, touched=2),)},
            "one reading of c",
            "INCONSISTENT: a 1, of 2 vectors",
        ),
        (
            {"expectations": Expectations("f", passed=("a",))},
            "fails a",
            "passed unexpectedly: f announces it",
        ),
        (
            {"expectations": Expectations("f", unmatched=("x*",))},
            "matches x*",
            "a line of f matches no vector",
        ),
        (
            {"skips": Skips("f", unmatched=("x*",))},
            "matches x*",
            "a line of f matches no vector",
        ),
        (
            {"support": Support((Floor(9.5, percent=True), Floor(2)))},
            "minimum supported 2",
            "1 of 1 vector supported, 2 needed",
        ),
        (
            {"support": Support(baseline="b.jsonl", conforming=1, lost=("a",))},
            "supports a",
            "unsupported now: ",
        ),
        (
            {"repeated": Repeatability(9, ("a",), ("a",))},
            "repeats a",
            "right when called first, wrong when called again",
        ),
    ],
)
def test_what_is_wrong_with_a_run_is_a_failure_of_its_own(facts, name, message):
    """Though no vector fails."""
    report = made(result("a"), **facts)
    assert verdicts(report, "run")[name] == ("failure", message)
    assert is_red(report)


def test_a_skipped_vector_is_a_skipped_test_with_its_reason():
    """Also of an operator of which nothing was run."""
    hangs = SkippedVector("MaxPool-1/x", "MaxPool-1", "12: hangs")
    report = made(result("a"), not_run=1, skips=Skips("f", (hangs,)))
    assert verdicts(report, "MaxPool-1") == {"x": ("skipped", "skipped: 12: hangs")}


def test_an_excused_inconsistency_is_green():
    """A file announces it."""
    readings = (ClauseReport("c", "inconsistent"),)
    excused = Expectations("f", inconsistent=("c",), announced=("c",))
    assert not is_red(made(result("a"), readings=readings, expectations=excused))
