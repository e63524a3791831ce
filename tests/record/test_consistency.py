"""What agrees in every report of a run, and which changes are contradictions."""

import json

import pytest
from support.arbitrary_reports import made, real, reference, result

from conformance.errors import ReportFileError
from conformance.record import jsonl
from conformance.record.consistency import contradictions
from conformance.record.report import (
    Diagnosis,
    Expectations,
    Repeatability,
    SkippedVector,
    Skips,
    SlowVector,
    Support,
    VariationReport,
    VectorsUsed,
)

RIGHT, WRONG = result("r"), result("w", "mismatch")
USED = VectorsUsed("AvgPool-1", "", "", 2, 2)


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
        ({"vectors": (USED, USED)}, "2 results of 'AvgPool-1', of which 4 vectors were selected"),
        ({"vectors": (VectorsUsed("AvgPool-1", "", "", 2, 1),)}, "more vectors are selected than"),
        ({"not_run": -1}, "results and not_run are fewer than the vectors there are"),
        ({"skips": Skips("f", (SkippedVector("s", "AvgPool-1", ""),))}, "more vectors are skipped"),
        ({"expectations": Expectations("f", {"mismatch": 1})}, "met is not the number"),
        ({"expectations": Expectations("f", inconsistent=("c",))}, "inconsistent clauses are met"),
        ({"expectations": Expectations("f", changed=("x",))}, "there is no result of 'x'"),
        ({"diagnoses": (Diagnosis("", (), 1, 1, 1, vectors=("x",)),)}, "there is no result of 'x'"),
        ({"variations": (VariationReport("v", 1, ("x",)),)}, "there is no result of 'x'"),
        ({"repeated": Repeatability(1, ("x",))}, "there is no result of 'x'"),
        ({"slowest": (SlowVector("x", 1.0),)}, "there is no result of 'x'"),
    ],
)
def test_what_a_footer_may_not_say(others, expected):
    """Its numbers and ids are those of the results."""
    assert what(RIGHT, WRONG) == ""
    assert what(RIGHT, WRONG, **others).startswith(expected)


def test_a_vector_that_was_skipped_may_be_lost():
    """It has no result."""
    used = VectorsUsed("AvgPool-1", "", "", 2, 3)
    skips = Skips("f", (SkippedVector("s", "AvgPool-1", "slow"),))
    support = Support(baseline="b", conforming=3, kept=2, lost=("s",))
    assert what(RIGHT, WRONG, vectors=(used,), not_run=1, skips=skips, support=support) == ""


def test_one_vector_has_one_result():
    """Though the counts may add up."""
    assert what(RIGHT, RIGHT) == "2 results of 'r'"


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
