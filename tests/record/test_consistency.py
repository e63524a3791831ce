"""What agrees in every report of a run, and which changes are contradictions."""

import json
from dataclasses import replace

import pytest
from support.arbitrary_reports import made, real, reference, result

from conformance.errors import ReportFileError
from conformance.record import jsonl
from conformance.record.consistency import contradictions
from conformance.record.report import (
    Accuracy,
    Bias,
    ClauseReport,
    Diagnosis,
    Expectations,
    OutputReport,
    Repeatability,
    SlowVector,
    Support,
    UndefinedReport,
    VariationReport,
    VectorsUsed,
    Worst,
)

RIGHT, WRONG = result("r"), result("w", "mismatch")
BIAS = Bias("AvgPool-1", "float32", 1, 0.0, 0.0, 0, 0, 0, 0)
WORST = Worst((0,), 1.0, 2.0, 1.0, 1.0, 0.0, 1, 4)


def what(*results, **others):
    """Return the first contradiction in a report, "" for none."""
    return next(contradictions(made(*results, **others)), "")


@pytest.mark.parametrize("backend", [reference, None], ids=["right", "wrong"])
def test_a_run_does_not_contradict_itself(backend):
    """Whether it conforms, has causes or was cut short."""
    whole = real(backend) if backend else real()
    assert [*contradictions(whole)] == []
    assert [*contradictions(real(shard="1/2"))] == []
    cut_short = real(max_failures=1)
    assert [*contradictions(cut_short)] == []


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"vectors": ()}, "2 results of 'AvgPool-1', of which 0 vectors were selected"),
        ({"not_run": -1}, "results and not_run are fewer than the vectors there are"),
        ({"complete": False, "stopped": ""}, "complete and stopped contradict each other"),
        ({"complete": True, "stopped": "why"}, "complete and stopped contradict each other"),
        ({"readings": (ClauseReport("c", "either", touched=2),)}, "counts of 'c' are not"),
        ({"readings": (ClauseReport("c", "either", counts={"a": 1}),)}, "counts of 'c' are not"),
        ({"undefined": (UndefinedReport("c", {"nan": 3}),)}, "counts of 'c' are more"),
        ({"outputs": (OutputReport("AvgPool-1", "o", 1, 3),)}, "counts of output 'o' are more"),
        ({"expectations": Expectations("f", {"mismatch": 1})}, "met is not the number"),
        ({"expectations": Expectations("f", inconsistent=("c",))}, "inconsistent clauses are met"),
        ({"diagnoses": (Diagnosis("", (), 2, 0, 1),)}, "a diagnosis explains more"),
        ({"diagnoses": (Diagnosis("", (), 1, 1, 1, 1),)}, "a diagnosis is contradicted by more"),
        ({"diagnoses": (Diagnosis("", (), 1, 1, 1, vectors=("x",)),)}, "there is no result of 'x'"),
        ({"variations": (VariationReport("v", 1, ("w",), 1),)}, "variation 'v' has more outcomes"),
        ({"repeated": Repeatability(0, ("w",))}, "more vectors differ"),
        ({"repeated": Repeatability(1, (), ("w",))}, "a vector changes its verdict"),
        ({"support": Support(conforming=1, kept=2)}, "more vectors are kept and lost"),
        ({"support": Support(conforming=1, lost=("r",))}, "a vector is lost that is supported"),
    ],
)
def test_what_a_footer_may_not_say(others, expected):
    """Each total is at most that of the results, or the same."""
    assert what(RIGHT, WRONG) == ""
    assert what(RIGHT, WRONG, **others).startswith(expected)


@pytest.mark.parametrize(
    ("one", "field"),
    [
        (result("w", worst=WORST), "worst"),
        (result("w", "mismatch", worst=replace(WORST, wrong=5)), "worst.wrong"),
        (result("w", expected="known"), "expected"),
        (result("w", "mismatch", readings=({},)), "readings"),
        (result("w", "error", undefined_only=True), "undefined_only"),
        (result("w", variations=("again",)), "variations"),
    ],
)
def test_what_a_result_may_not_say(one, field):
    """What is there for some verdicts alone."""
    assert what(one).startswith(f"{field} contradicts the rest of the result of 'w'")


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"vectors": (VectorsUsed("AvgPool-1", "", "", 2, 2),) * 2}, "'AvgPool-1' is 2 times in"),
        ({"readings": (ClauseReport("c", "either"),) * 2}, "'c' is 2 times in 'readings'"),
        ({"undefined": (UndefinedReport("c", {}),) * 3}, "'c' is 3 times in 'undefined'"),
        ({"accuracy": (Accuracy("float32", 1, 1.0, 0.0, 0.0),) * 2}, "'float32' is 2 times in"),
        ({"bias": (BIAS, BIAS)}, "'AvgPool-1, float32' is 2 times in 'bias'"),
        ({"outputs": (OutputReport("AvgPool-1", "o", 1, 1),) * 2}, "'AvgPool-1, o' is 2 times in"),
        ({"variations": (VariationReport("v", 0),) * 2}, "'v' is 2 times in 'variations'"),
        ({"variations": (VariationReport("v", 2, ("w", "w")),)}, "'w' is 2 times in 'v.failing'"),
        ({"slowest": (SlowVector("w", 1.0),) * 2}, "'w' is 2 times in 'slowest'"),
        ({"repeated": Repeatability(2, ("w", "w"))}, "'w' is 2 times in 'differing'"),
        ({"repeated": Repeatability(2, ("w",), ("w", "w"))}, "'w' is 2 times in 'failing'"),
        ({"repeated": Repeatability(2, ("r",), (), ("r", "r"))}, "'r' is 2 times in 'passing'"),
        ({"support": Support(conforming=2, lost=("r", "r"))}, "'r' is 2 times in 'lost'"),
    ],
)
def test_a_list_says_one_thing_once(others, expected):
    """Though the things may say the same."""
    assert any(line.startswith(expected) for line in contradictions(made(RIGHT, WRONG, **others)))


def test_one_vector_has_one_result():
    """Though the counts may add up."""
    assert what(RIGHT, RIGHT) == "two results of 'r'"


def lines_of(path, report):
    jsonl.write(report, path)
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(path, lines):
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def without_failures(lines):
    """Leave out what failed, and count again."""
    kept = [line for line in lines[1:-1] if line["verdict"] == "conforms"]
    counts = {"conforms": len(kept)}
    footer = lines[-1] | {"counts": counts, "counts_by_operator": {"AvgPool-1": counts}}
    return [lines[0], *kept, footer | {"ok": True, "problems": [], "diagnoses": []}]


def met_without_results(lines):
    """Say that all failures were expected."""
    met = {"path": "f", "met": {"mismatch": 1}, "inconsistent": [], "passed": []}
    met |= {"unmatched": [], "announced": [], "causes": {}, "may_pass": []}
    return [*lines[:-1], lines[-1] | {"expectations": met, "ok": True, "problems": []}]


def twice(lines):
    return [lines[0], lines[1], *lines[1:]]


@pytest.mark.parametrize("change", [without_failures, met_without_results, twice])
def test_a_file_that_contradicts_itself_is_refused(tmp_path, change):
    path = tmp_path / "r.jsonl"
    lines = lines_of(path, real())
    jsonl.read(path)
    write(path, change(lines))
    with pytest.raises(ReportFileError, match=r"r\.jsonl: line \d+: "):
        jsonl.read(path)
