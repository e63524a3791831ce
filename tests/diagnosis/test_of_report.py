"""A report with likely causes: what they are looked for, and what is said of the rest."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from support.fakes import pool, ramp, right, vector
from support.fault_probes import light_probes
from support.stored_outputs import answered, as_file

from conformance import Interrupted, check, evaluate, load_backend
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import InProcess
from conformance.diagnosis import explained, limits, of_report
from conformance.diagnosis.likely_causes import diagnose
from conformance.errors import UsageError
from conformance.faults import fault_named, faulty


def raises(operator, inputs, attributes):
    raise TypeError("no kernel")


def one_operator_raises(operator, inputs, attributes):
    if operator == "MaxPool-1":
        raise TypeError("no kernel")
    return load_backend("numpy")(operator, inputs, attributes) * np.float32(1)


def test_a_backend_that_cannot_be_called_has_no_causes():
    """What it was asked for is not why it raises; the report says so."""
    report = check(raises, tier="smoke", operators=["AdaptiveAvgPool-8", "AvgPool-1"])
    assert report.counts["error"] > 100
    assert report.diagnoses == ()
    assert [note for note in report.notes if note.startswith("no call of AdaptiveAvgPool-8, ")]


def test_operators_that_return_are_diagnosed_beside_one_that_does_not():
    """The others have causes of their own: here a type other than the input's."""
    operators = ["MaxPool-1", "AdaptiveAvgPool-8"]
    report = check(one_operator_raises, tier="smoke", operators=operators, diagnose="seen")
    assert [each.faults for each in report.diagnoses][:1] != []
    assert "no call of MaxPool-1 returned: no likely causes were searched for" in report.notes
    diagnosed = {vector.split("/")[0] for each in report.diagnoses for vector in each.vectors}
    assert "MaxPool-1" not in diagnosed


def test_a_search_among_some_of_the_failures_says_so(monkeypatch):
    """Counts of causes are of those that were looked at."""
    monkeypatch.setattr(limits, "LIGHT_ONES", 10)
    monkeypatch.setattr(limits, "HELD_AGAINST", 0)
    report = check(
        lambda operator, inputs, attributes: (
            load_backend("numpy")(operator, inputs, attributes) + inputs[0].dtype.type(1)
        ),
        tier="smoke",
        operators=["MaxPool-1"],
        diagnose="seen",
    )
    (note,) = (note for note in report.notes if "searched for" in note)
    failures = report.counts["mismatch"]
    assert note.endswith(f" of {failures} failures")
    (cause, *_) = report.diagnoses
    assert f" of a sample of {cause.total} failures are " in cause.summary
    assert (cause.sample_of, cause.total < failures) == (failures, True)


@pytest.mark.slow("so is a search among some of the failures")
def test_failures_without_an_output_to_look_at_are_counted():
    """What has more elements than any right answer is not kept."""
    right = load_backend("numpy")

    def wrong(operator, inputs, attributes):
        if inputs[0].ndim == 4:
            return np.zeros((2, *inputs[0].shape, 9), inputs[0].dtype)
        return right(operator, inputs, attributes) + inputs[0].dtype.type(1)

    report = check(wrong, tier="smoke", operators=["MaxPool-1"], diagnose="seen")
    (cause, *_) = report.diagnoses
    failures = report.counts["mismatch"] + report.counts["accepted-invalid"]
    assert (cause.sample_of, cause.total < failures) == (failures, True)


def lost(ways, every=4):
    """Return the diagnoses of a run of which vectors of some types have other verdicts."""
    probes = light_probes("AvgPool-1")[::every]
    report = check(right, probes, diagnose="none")
    results = tuple(
        structs.replace(result, verdict=ways.get(result.dtype, result.verdict))
        for result in report.results
    )
    counts = Counter(result.verdict for result in results)
    return explained(replace(report, results=results), probes).diagnoses, counts


def test_where_a_backend_crashes_or_hangs_is_a_rule():
    """It is not confirmed: a held-out case may cost a start. Crashes and hangs are told apart."""
    found, counts = lost({"float64": "crashed", "bfloat16": "timed-out"})
    assert [(each.kind, each.behaviour) for each in found] == [
        ("rule", "a crash where the type is float64"),
        ("rule", "no answer in time where the type is bfloat16"),
    ]
    assert [each.explained for each in found] == [counts["crashed"], counts["timed-out"]]
    assert {str(each.proof).partition(" was asked")[0] for each in found} == {
        "not confirmed: no held-out case"
    }


def test_what_a_few_crashes_share_is_said():
    """No rule is learned of them."""
    (found,), _ = lost({"float64": "crashed"}, every=60)
    assert found.kind == "unknown"
    assert found.observed == ("in each of them, the backend crashed",)


def test_what_nothing_returned_of_has_no_causes_though_it_crashes():
    """As where each call raises: it is not what was asked for."""
    probes = light_probes("AvgPool-1")[::40]
    report = check(right, probes, diagnose="none")
    crashed = [structs.replace(each, verdict="crashed") for each in report.results]
    assert explained(replace(report, results=tuple(crashed)), probes).diagnoses == ()


def test_every_failure_is_held_against_the_causes_found_in_a_sample(monkeypatch):
    monkeypatch.setattr(limits, "LIGHT_ONES", 1)

    def upper(operator, inputs, attributes):
        if attributes["auto_pad"] == "same_lower":
            attributes = attributes | {"auto_pad": "same_upper"}
        return load_backend("numpy")(operator, inputs, attributes)

    report = check(
        upper, tier="smoke", operators=["MaxPool-1"], select="same_lower", diagnose="seen"
    )
    (cause,) = report.diagnoses
    assert cause.explained == cause.total == report.counts["mismatch"] > 1
    assert "sample" not in cause.summary


def upper(operator, inputs, attributes):
    """Take same_lower for same_upper."""
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    return load_backend("numpy")(operator, inputs, attributes)


def test_an_output_that_was_not_returned_speaks_against_no_cause():
    """A backend without an attribute of the indices returns the values alone, which are right."""
    wrong = faulty(fault_named("plane-index-uint8"))

    def backend(operator, inputs, attributes):
        outputs = wrong(operator, inputs, attributes)
        return outputs[0] if "axis" in attributes else outputs

    vectors = light_probes("MaxPool-8")
    report = check(backend, vectors, diagnose="seen", variations="none")
    told = [(each.faults, each.condition) for each in report.diagnoses]
    assert told == [(("plane-index-uint8",), "")]


def test_what_one_operator_is_told_alone_it_is_told_beside_others():
    """Each is searched for itself; what is found in several is one cause."""
    operators = ["MaxPool-1", "PyTorch-max_pool2d", "TOSA-MAX_POOL2D"]
    wrong = faulty(fault_named("strides-reversed"))
    report = check(wrong, light_probes(*operators)[::6], diagnose="seen")
    first, *others = report.diagnoses
    assert (first.faults, first.condition) == (("strides-reversed",), "")
    assert {vector.split("/")[0] for vector in first.vectors} == {*operators}
    assert sum(each.explained for each in others) <= 1


def test_no_limit_of_time_takes_away_what_answers_tell():
    """What there was no time to confirm is named, and said to be not confirmed."""
    wrong = faulty(fault_named("strides-reversed"))
    probes = [probe for probe in light_probes("MaxPool-1", "TOSA-MAX_POOL2D")[::8] if probe.values]
    (cause,) = check(wrong, probes, diagnose_seconds=1e-3).diagnoses
    assert cause.faults == ("strides-reversed",)
    assert str(cause.proof).startswith("not confirmed: the 0.001 seconds that --diagnose-seconds")


def test_an_interrupt_leaves_what_was_found_in_operators_before_it(monkeypatch):
    """A search may take a quarter of an hour, of which the user has seen the first causes."""
    found = []

    def until_the_second(*args, **options):
        if found:
            raise KeyboardInterrupt
        found.extend(diagnose(*args, **options))
        return found

    monkeypatch.setattr(of_report, "diagnose", until_the_second)
    wrong = faulty(fault_named("strides-reversed"))
    probes = [*light_probes("MaxPool-1")[::6], *light_probes("TOSA-MAX_POOL2D")[::12]]
    with pytest.raises(Interrupted) as stopped:
        check(wrong, probes, diagnose="seen")
    report = stopped.value.report
    assert {name for each in report.diagnoses for name in each.faults} == {"strides-reversed"}
    assert report.notes[0] == (
        "the search for likely causes was interrupted before TOSA-MAX_POOL2D"
    )
    assert report.complete


def test_a_search_that_breaks_takes_no_verdict_and_no_causes_of_other_operators(monkeypatch):
    """It is a bug of this package, of which the report says where it is."""

    def breaking(samples, *args, **options):
        if samples[0].vector.case.operator == "MaxPool-1":
            raise IndexError("no such number")
        return diagnose(samples, *args, **options)

    monkeypatch.setattr(of_report, "diagnose", breaking)
    wrong = faulty(fault_named("strides-reversed"))
    probes = [*light_probes("MaxPool-1")[::6], *light_probes("TOSA-MAX_POOL2D")[::12]]
    with pytest.warns(RuntimeWarning, match="IndexError: no such number"):
        report = check(wrong, probes, diagnose="seen")
    failed = (each for each in report.results if each.verdict in report.failing)
    assert {each.operator for each in failed} == {"MaxPool-1", "TOSA-MAX_POOL2D"}
    assert {name for each in report.diagnoses for name in each.faults} == {"strides-reversed"}
    (note,) = (each for each in report.notes if "bug" in each)
    assert note.startswith(
        "the search for likely causes ended early: a bug in conformance, not in the backend: "
        "IndexError in test_of_report.py, line"
    )
    assert note.endswith(": no such number: MaxPool-1")


def test_exceptions_that_a_reading_allows_are_no_search():
    """Where padding may be negative, float32 is refused and two readings are followed at once."""

    def mixed(operator, inputs, attributes):
        same = str(attributes.get("auto_pad")).startswith("same")
        gaps = zip(attributes["kernel"], attributes["strides"], strict=True)
        if inputs[0].dtype == np.float32 and same and any(k < s for k, s in gaps):
            raise ValueError("negative padding")
        reading = ("clamped", "cropped-floor")[inputs[0].shape[-1] % 2]
        return evaluate(operator, inputs, attributes, readings={"same-never-crops": reading})

    report = check(mixed, operators=["MaxPool-1"], select="*same_*", diagnose="seen")
    assert report.inconsistent == {"same-never-crops"}
    (cause,) = [each for each in report.diagnoses if each.kind == "reading"]
    assert "one of the readings of same-never-crops allows" in cause.summary
    assert (cause.is_known, cause.is_confirmed) == (True, False)


@pytest.mark.parametrize(
    ("diagnose", "proofs"),
    [
        ("none", []),
        (False, []),
        ("seen", ["not confirmed: the backend was not asked about held-out cases"]),
    ],
)
def test_causes_are_left_out_or_not_asked_about_if_told_so(diagnose, proofs):
    """`diagnose` says how much is done about failures."""
    report = check(
        upper, tier="smoke", operators=["MaxPool-1"], select="same_lower", diagnose=diagnose
    )
    assert [str(cause.proof) for cause in report.diagnoses] == proofs


def test_diagnose_is_one_of_three_words():
    with pytest.raises(UsageError, match="'none', 'seen' or 'proven'"):
        check(upper, tier="smoke", diagnose="proved")


def test_stored_results_cannot_be_asked(tmp_path):
    """Their causes are those that fit, and the report says that they are not confirmed."""
    some = light_probes("MaxPool-1")[::40]
    wrong = faulty(fault_named("maximum-from-zero"))
    report = check(
        StoredResults(as_file(tmp_path / "results.safetensors", answered(wrong, some))), some
    )
    (cause, *_) = report.diagnoses
    assert cause.faults == ("maximum-from-zero",)
    assert str(cause.proof) == "not confirmed: stored results cannot be asked about held-out cases"


@pytest.mark.slow("state has tests of its own")
def test_what_depends_on_earlier_calls_is_no_arithmetic():
    """A cache that ignores pads is told as state, with the calls that show it."""
    kept = {}

    def backend(operator, inputs, attributes):
        key = (operator, inputs[0].tobytes(), inputs[0].shape, str(attributes.get("kernel")))
        return kept.setdefault(key, right(operator, inputs, attributes)).copy()

    some = [
        vector(ramp(1, 1, 6), pool(kernel=[3], strides=[1], pads_begin=[n]), id=f"{n}")
        for n in (0, 1)
    ]
    report = check(backend, some)
    assert [cause.kind for cause in report.diagnoses] == ["state"]
    assert str(report.diagnoses[0].proof) == "confirmed on 3 of 3 fresh processes"


def test_failures_that_are_right_when_called_again_are_told():
    """What varies without any rule is said to vary: held-out cases tell nothing of it."""
    calls = Counter()

    def backend(operator, inputs, attributes):
        result = right(operator, inputs, attributes)
        key = inputs[0].tobytes()
        calls[key] += 1
        return result + 1 if calls[key] == 1 and attributes["pads_begin"] == [1] else result

    some = [
        vector(ramp(1, 1, 6) * n, pool(kernel=[3], strides=[1], pads_begin=[n % 2]), id=f"{n}")
        for n in range(1, 9)
    ]
    report = check(backend, some, diagnose="none")
    with InProcess(backend) as runner:
        (cause,) = explained(report, some, runner=runner).diagnoses
    words = "answers that vary, or depend on earlier calls that were not found"
    assert cause.summary == f"4 of 4 failures are of one kind: {words}"
    assert cause.proof is not None
    assert str(cause.proof).startswith("not confirmed")
    assert cause.smallest.endswith("wrong in the run, and right when it is called again")
