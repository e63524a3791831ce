"""Check of the tier large: what is run, left out and counted."""

from unittest.mock import patch

import pytest
from support.wrapping import right

import conformance
from conformance.api.check import Interrupted
from conformance.api.merge import merge
from conformance.backends.program import isolated
from conformance.backends.program.external import External
from conformance.cases.large import Limits, recipes, source
from conformance.errors import UsageError
from conformance.record import jsonl

TIER = [*recipes(Limits(index=1 << 13, count=1 << 4, exact=1 << 8))]
"""The tier for numbers of a few bits, and so with small tensors."""
IDS = [recipe.id for recipe in TIER]
HEAD = """import copy, os, time
import numpy as np
from conformance.backends.engines.numpy_backend import backend as right
"""


@pytest.fixture(autouse=True)
def _small_tier():
    with patch.object(source, "recipes", lambda: TIER):
        yield


def check(backend=right, memory=2 << 30, **options):
    """Return the report of a check of tier large."""
    return conformance.check(backend, tier="large", memory=memory, **options)


def failing(*case):
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


def test_what_needs_more_memory_is_left_out_counted_and_said():
    least = min(recipe.memory for recipe in TIER)
    report = check(memory=least)
    fitting = sum(recipe.memory == least for recipe in TIER)

    assert (len(report.results), report.not_run) == (fitting, len(TIER) - fitting)
    assert report.complete
    assert report.notes[0].startswith(f"{report.not_run} of {len(TIER)} vectors need more than")
    assert f"{TIER[3].id} needs 1.0 GiB" in report.notes[0]


def test_memory_is_by_default_what_the_machine_has_free():
    with patch("conformance.api.large.memory_free", lambda: 1):
        report = check(memory=None)

    assert report.problems == ("nothing was run",)
    assert report.not_run == len(TIER)


def test_what_the_machine_has_no_memory_for_after_all_makes_the_run_incomplete():
    """It was to be run: that it fits was said."""
    with patch("conformance.repeated.Repeated.copy", side_effect=MemoryError):
        report = check(select=IDS[0])

    assert (len(report.results), report.not_run, report.complete) == (0, len(TIER), False)
    assert report.stopped == f"memory ran out, a lower --memory leaves out: {IDS[0]}"
    assert report.notes == ()


def test_shards_are_joined_as_one_run(tmp_path):
    shards = {}
    for shard in ("1/2", "2/2"):
        jsonl.write(check(shard=shard), tmp_path / "report")
        shards[shard] = jsonl.read(tmp_path / "report")
    joined = merge(shards)

    assert joined.ok
    assert {result.id for result in joined.results} == set(IDS)


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


@pytest.fixture
def apart(tmp_path):
    """Return what checks a backend in a process of its own, given by its body, on one vector."""

    def checked(body, **options):
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        text = f"{HEAD}def backend(operator, inputs, attributes):\n{lines}"
        (tmp_path / "backend.py").write_text(text)
        return check(f"{tmp_path}/backend.py:backend", select=IDS[0], isolate=True, **options)

    return checked


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("os.abort()", "signal SIGABRT (6)"),
        ("os.kill(os.getpid(), 9)", "signal SIGKILL (9)"),
        ("os._exit(1)", "exit status 1"),
        ("os._exit(0)", "exit status 0"),
    ],
)
def test_a_backend_in_a_process_of_its_own_may_crash(apart, body, detail):
    report = apart(f"print('here')\n{body}")
    (result,) = report.results

    assert (result.verdict, result.detail, result.printed[:5]) == ("crashed", detail, "here\n")
    assert not report.ok


def test_a_process_that_the_system_ended_for_want_of_memory_makes_the_run_incomplete(apart):
    with patch.object(isolated, "oom_kills", side_effect=[3, 4]):
        report = apart("os.kill(os.getpid(), 9)")

    assert (len(report.results), report.complete, report.ok) == (0, False, False)
    assert report.stopped.endswith(IDS[0])


def test_a_process_has_the_time_to_make_a_tensor_and_hand_it_over_besides_its_timeout(apart):
    (result,) = apart("time.sleep(600)", timeout=0.5).results

    allowed = f"{0.5 + TIER[0].bytes / (50 << 20):g}"
    assert (result.verdict, result.detail) == ("timed-out", f"no answer within {allowed} s")


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("inputs[0][...] = 0\nattributes.clear()\nreturn right(*keep)", "conforms"),
        ("for of in attributes.values():\n    type(of) is list and of.clear()", "mismatch"),
        ("raise MemoryError('too large')", "error"),
        ("raise SystemExit('done')", "error"),
        ("raise NotImplementedError('no int8')", "unsupported"),
    ],
)
def test_a_backend_in_a_process_of_its_own_may_do_anything(apart, body, verdict):
    before = "keep = operator, [of.copy() for of in inputs], copy.deepcopy(attributes)\n"
    (result,) = apart(before + body).results

    assert result.verdict == verdict
    assert TIER[0].case.attributes["kernel"] == [3]


def test_a_backend_that_spoils_the_lists_of_its_attributes_spoils_no_later_call():
    def emptying(operator, inputs, attributes):
        output = right(operator, inputs, attributes)
        for value in attributes.values():
            if isinstance(value, list):
                value.clear()
        return output

    assert check(emptying).ok


@pytest.mark.parametrize("backend", ["numpy", right])
def test_a_backend_in_a_process_of_its_own_is_judged_here(backend):
    """By name or by value; outputs of several arrays, too."""
    report = check(backend, isolate=True, select="*channels-past-2^16-and-2^31*")

    assert {result.verdict for result in report.results} == {"conforms"}
    assert {of.computed for of in report.outputs} == {1}


def test_a_wrong_element_is_found_in_what_another_process_left(apart):
    (result,) = apart(
        "values, indices = right(operator, inputs, attributes)\n"
        "values[0, 1, -1] += 1\n"
        "return values.astype('>f4'), indices"
    ).results

    assert (result.worst.wrong, result.worst.index) == (1, (0, 1, TIER[0].output_shape[2] - 1))


@pytest.mark.parametrize(
    ("output", "detail"),
    [
        ("np.zeros((1, 2, 10**6), 'f4')", "output: shape (1, 2, 1000000) instead of"),
        ("np.zeros(3, object)", "output: shape (3,) instead of"),
        ("[1]", "returned list instead of numpy.ndarray"),
    ],
)
def test_what_cannot_be_compared_is_handed_over_as_what_it_is(apart, output, detail):
    (result,) = apart(f"return {output}").results

    assert (result.verdict, result.detail.startswith(detail)) == ("mismatch", True)


@pytest.mark.parametrize(
    ("backend", "options", "message"),
    [
        (right, {"vectors": "vectors"}, "leave out the vectors"),
        (right, {"variations": "all"}, "in no variation"),
        (External("cat"), {}, "no pipe or file"),
        (right, {"jobs": 2}, "one job"),
        (right, {"max_failures": 0}, "at least 1"),
        (right, {"select": "nothing"}, "matches no vector of tier large"),
        ("exec:cat", {}, "no pipe or file"),
        ("results:here", {}, "no pipe or file"),
        ("numpy", {"cluster": "tcp://127.0.0.1:9"}, "no cluster"),
        ("nothing", {}, "nothing"),
    ],
)
def test_what_it_cannot_do_is_wrong_usage(backend, options, message):
    with pytest.raises(UsageError, match=message):
        check(backend, **options)
