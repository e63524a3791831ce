"""Check of the tier large: what is run, left out and counted."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from support.fakes import vector
from support.wrapping import right

import conformance
from conformance.cases.large import Limits, recipes
from conformance.check import Interrupted, api, large
from conformance.check.merge import merge
from conformance.errors import UsageError
from conformance.executors import executor_named
from conformance.report import jsonl
from conformance.separate_process import ProcessFailed

TIER = [*recipes(Limits(index=1 << 13, count=1 << 4, exact=1 << 8))]
"""The tier for numbers of a few bits, and so with small tensors."""
IDS = [recipe.id for recipe in TIER]


@pytest.fixture(autouse=True)
def _small_tier():
    with patch.object(api, "recipes", lambda: TIER):
        yield


def check(backend=right, memory=2 << 30, **options):
    """Return the report of a check of tier large."""
    return conformance.check(backend, tier="large", memory=memory, **options)


def failing(*case):
    """Raise."""
    raise ValueError("no")


def test_all_of_it_is_run_and_a_sound_backend_conforms():
    report = check()

    assert report.ok
    assert (report.tier, report.not_run, report.complete) == ("large", 0, True)
    assert sorted(result.id for result in report.results) == sorted(IDS)
    assert sum(used.total for used in report.vectors) == len(TIER)


def test_a_failure_fails_it_and_no_cause_is_searched_for():
    report = check(failing, operators="AvgPool-1")

    assert not report.ok
    assert {result.verdict for result in report.results} == {"error"}
    assert report.diagnoses == ()


def test_it_runs_what_is_selected():
    report = check(operators="MaxPool-*", select="*/int8/*past-2^31-*")

    assert {result.operator for result in report.results} == {"MaxPool-1", "MaxPool-8"}
    assert report.not_run == len(TIER) - len(report.results)


def test_what_needs_more_memory_is_left_out_counted_and_said():
    least = min(recipe.memory for recipe in TIER)
    report = check(memory=least)
    fitting = sum(recipe.memory == least for recipe in TIER)

    assert (len(report.results), report.not_run) == (fitting, len(TIER) - fitting)
    assert report.complete
    assert report.notes[0].startswith(f"{report.not_run} of {len(TIER)} vectors need more than")
    assert f"{TIER[3].id} needs 1.0 GiB" in report.notes[0]


def test_memory_is_by_default_what_the_machine_has_free():
    with patch("conformance.check.large.memory_free", lambda: 1):
        report = check(memory=None)

    assert report.problems == ("nothing was run",)
    assert report.not_run == len(TIER)


def test_what_the_machine_has_no_memory_for_after_all_is_left_out():
    with patch("conformance.cases.large.Recipe.inputs", side_effect=MemoryError):
        report = check()

    assert (len(report.results), report.not_run, report.complete) == (0, len(TIER), True)


def test_shards_are_joined_as_one_run(tmp_path):
    shards = {}
    for shard in ("1/2", "2/2"):
        jsonl.write(check(shard=shard), tmp_path / "report")
        shards[shard] = jsonl.read(tmp_path / "report")
    joined = merge(shards)

    assert joined.ok
    assert {result.id for result in joined.results} == set(IDS)


def test_it_stops_after_as_many_failures_as_are_allowed():
    report = check(failing, max_failures=3)

    assert (len(report.results), report.complete) == (3, False)
    assert report.stopped == "as many failures as were allowed"


def test_expected_failures_are_none_that_are_counted(tmp_path):
    (tmp_path / "known").write_text("error * # known\n")
    report = check(failing, max_failures=1, expected_failures=tmp_path / "known")

    assert report.complete
    assert report.expectations.met == {"error": len(TIER)}
    assert report.vacuous == ""


def test_floors_are_judged():
    assert check(min_supported="100%", operators="MaxPool-1").ok
    with pytest.raises(UsageError, match="out of reach"):
        check(min_supported=10_000)


def test_outputs_left_out_are_counted():
    report = check(lambda *case: right(*case)[0] if "MaxPool-8" in case[0] else right(*case))

    assert {(of.operator, of.output): of.computed for of in report.outputs}[
        "MaxPool-8", "indices"
    ] == 0


def test_an_interrupt_reports_what_was_done():
    calls = []

    def interrupted(*case):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(case)
        return right(*case)

    with pytest.raises(Interrupted) as raised:
        check(interrupted)
    assert len(raised.value.report.results) == 2


def test_a_backend_in_a_process_of_its_own_may_crash(tmp_path):
    (tmp_path / "backend.py").write_text("import os\ndef backend(*case):\n    os.abort()\n")
    (result,) = check(f"{tmp_path}/backend.py:backend", select=IDS[0]).results

    assert (result.verdict, result.detail) == ("crashed", "crashed (SIGABRT)")


def test_a_process_that_the_system_ended_for_want_of_memory_is_left_out():
    with patch.object(large, "call_separately", side_effect=ProcessFailed("crashed (SIGKILL)")):
        report = check("numpy", select=IDS[0])

    assert (len(report.results), report.not_run) == (0, len(TIER))
    assert f"{IDS[0]} needs" in report.notes[0]


def test_a_process_has_the_time_to_make_and_judge_a_tensor_besides_its_timeout():
    failure = ProcessFailed("took more than 3 seconds")
    with patch.object(large, "call_separately", side_effect=failure) as called:
        (result,) = check("numpy", timeout=3, select=IDS[0]).results

    assert (result.verdict, result.detail) == ("timed-out", "took more than 3 seconds")
    assert called.call_args.kwargs["seconds"] == 3 + TIER[0].bytes / (50 << 20)


def test_a_backend_in_a_process_of_its_own_is_judged_there():
    (result,) = check("numpy", isolate=True, select=IDS[0]).results

    assert result.verdict == "conforms"


@pytest.mark.parametrize(
    ("backend", "options", "message"),
    [
        (right, {"vectors": "vectors"}, "leave out the vectors"),
        (right, {"variations": "all"}, "in no variation"),
        (right, {"isolate": True}, "named by a text"),
        (right, {"jobs": 2}, "one job"),
        (right, {"max_failures": 0}, "at least 1"),
        (right, {"select": "nothing"}, "matches no vector of tier large"),
        ("exec:cat", {}, "no pipe or file"),
        ("results:here", {}, "no pipe or file"),
        ("numpy", {"executor": executor_named("process", 1)}, "no executor"),
        ("nothing", {}, "nothing"),
    ],
)
def test_what_it_cannot_do_is_wrong_usage(backend, options, message):
    with pytest.raises(UsageError, match=message):
        check(backend, **options)


def test_other_commands_have_no_such_tier():
    with pytest.raises(UsageError, match="no tier 'large'; there are smoke"):
        conformance.compare({"right": right}, [vector()], tier="large")
