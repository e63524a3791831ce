"""The search: what it finds of backends that crash, hang, are wrong in two ways, or right."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import ramp, vector
from support.fuzzed import HERE
from support.sound import SOUND

from conformance import UsageError, check
from conformance.dtypes import dtype_of
from conformance.faults import fault_named, faulty
from conformance.faults.atoms import by_words
from conformance.fuzz import fuzz, save
from conformance.operators import OPERATORS, evaluate, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.vector import Case
from conformance.vectorfile import open_vectors
from conformance.vectorfile.verify import verify

ODD = {
    "sequential sum in the element type",
    "the readings of OpenVINO",
    "the readings of PyTorch",
    "undefined elements raise",
    "subnormals are zero everywhere, sum of cell times 1/n",
}


@pytest.fixture(scope="module")
def found():
    """Return a backend that is wrong in the last channel, and what a search finds of it."""
    backend = faulty(fault_named("last-channel-unwritten"))
    return backend, fuzz(backend, operators=["MaxPool-1"], max_examples=60, seed=1)


def causes(report):
    """Return the faults that were named, sorted."""
    return sorted(
        finding.diagnosis.faults if finding.diagnosis else () for finding in report.findings
    )


@pytest.mark.parametrize(("name", "backend"), one_in(3, [each for each in SOUND if each[0] in ODD]))
def test_nothing_is_found_of_a_backend_that_is_odd_but_right(name, backend):
    """Readings, orders of summation and undefined elements are no failures."""
    report = fuzz(backend, max_examples=80, seed=2)
    assert (report.ok, report.findings, report.inconsistent) == (True, (), ())


def test_without_a_limit_of_seconds_no_clock_is_looked_at(found, monkeypatch):
    """Work is counted, so that a busy machine finds the same as a quiet one."""
    backend, before = found
    hours = count(0, 3600)
    monkeypatch.setattr("conformance.fuzz.fuzzing.perf_counter", lambda: float(next(hours)))
    after = fuzz(backend, operators=["MaxPool-1"], max_examples=60, seed=1)
    ids = [[each.vector.case.id for each in report.findings] for report in (before, after)]
    assert ids[0] == ids[1]


def test_shrinking_ends_after_so_many_cases(monkeypatch):
    """What is found is said, if not as small as it gets."""
    monkeypatch.setattr("conformance.fuzz.fuzzing._SHRINKING", 5)
    backend = faulty(fault_named("last-channel-unwritten"))
    report = fuzz(backend, operators=["MaxPool-1"], max_examples=60, seed=1)
    assert report.findings
    assert report.shrinking < 200


@pytest.mark.slow("a crash is found below; failures are made small in the same way")
def test_a_crash_is_found_and_made_small_in_the_worker():
    """A backend that dies for some attributes is left with those alone."""
    report = fuzz(f"{HERE}:crashes", operators=["MaxPool-1"], max_examples=30, seed=4, isolate=True)
    (finding,) = report.findings
    assert finding.result.verdict == "crashed"
    assert finding.result.detail == "exit status 7"
    assert finding.vector.case.inputs[0].shape == (1, 1, 1)
    assert finding.vector.case.attributes == {
        "kernel": [1],
        "strides": [4],
        "pads_begin": [0],
        "pads_end": [0],
        "auto_pad": "valid",
    }


@pytest.mark.slow("a crash is found and made small in the same way")
def test_a_hang_is_found_and_made_small_in_the_worker():
    """A backend that hangs for some shapes is left with the smallest; others are not waited for."""
    report = fuzz(f"{HERE}:hangs", operators=["MaxPool-1"], max_examples=50, seed=4, timeout=1.0)
    (finding,) = report.findings
    assert (finding.result.verdict, finding.result.detail) == ("timed-out", "no answer within 1 s")
    assert finding.vector.case.inputs[0].shape == (2, 1, 1)
    assert report.avoided > 0


@pytest.mark.slow("failures of unknown cause are told apart below, in the same search")
def test_two_faults_are_two_causes():
    """After the first cause is found, the search goes on with what it does not explain."""
    backend = faulty([fault_named("same-lower-as-upper"), fault_named("last-channel-unwritten")])
    report = fuzz(backend, operators=["MaxPool-1"], max_examples=100, seed=1)
    assert causes(report) == [("last-channel-unwritten",), ("same-lower-as-upper",)]


def test_a_fault_without_a_name_is_one_cause():
    """What atoms say of a failure explains others that look otherwise."""
    words = (
        "every pad taken as that of the last axis on the second of three axes, "
        "for the output size alone"
    )
    report = fuzz(faulty(by_words()[words]), operators=["MaxPool-1"], max_examples=50, seed=2)
    (finding,) = report.findings
    assert finding.diagnosis.behaviour == words


@pytest.mark.slow("what needs several axes alike is told in the same way")
def test_failures_of_unknown_cause_are_told_apart_by_what_they_need():
    """Where no fault of the catalogue fits, a failure that lacks something is another cause."""

    def backend(operator, inputs, attributes):
        got = evaluate(operator, inputs, attributes)
        if attributes.get("auto_pad") == "valid" or inputs[0].dtype == np.float16:
            return np.full_like(got, 17)
        return got

    report = fuzz(backend, operators=["MaxPool-1"], max_examples=80, seed=1)
    needs = sorted(
        (f.vector.case.attributes.get("auto_pad", ""), f.result.dtype) for f in report.findings
    )
    assert needs == [("", "float16"), ("valid", "float32")]


@pytest.mark.slow("what needs some word is one cause as well")
def test_what_needs_several_axes_alike_is_one_cause():
    """A kernel of 5x1 is no other cause than one of 6x6."""

    def backend(operator, inputs, attributes):
        got = evaluate(operator, inputs, attributes)
        wrong = inputs[0].ndim == 4 and max(attributes["kernel"]) > 4
        return np.full_like(got, 17) if wrong else got

    report = fuzz(backend, operators=["MaxPool-1"], max_examples=60, seed=1)
    assert [max(f.vector.case.attributes["kernel"]) for f in report.findings] == [5]


def test_cases_are_seldom_drawn_twice():
    """What is drawn is run, for most."""
    report = fuzz(faulty(), operators=["AdaptiveAvgPool-8"], max_examples=100, seed=1)
    assert report.examples == 100
    assert report.counts.total() > 95


def test_an_interrupt_leaves_the_smallest_failure_so_far():
    """Ctrl-C while a failure shrinks does not lose it, and the backend is not called again."""
    calls = []

    def backend(operator, inputs, attributes):
        calls.append(inputs[0].shape[1] > 1)
        if sum(calls) >= 5:
            raise KeyboardInterrupt
        return evaluate(operator, inputs, attributes)[:, :1]

    report = fuzz(backend, operators=["MaxPool-1"], max_examples=100, seed=1)
    (finding,) = report.findings
    assert (report.stopped, finding.smallest) == ("interrupted", False)
    assert finding.result.verdict == "mismatch"


def test_a_backend_that_cannot_start_again_ends_the_search(tmp_path, monkeypatch):
    """The crash that came before is a finding still."""
    path = tmp_path / "gone.py"
    path.write_text(HERE.read_text())
    monkeypatch.setenv("FUZZED", str(path))
    report = fuzz(f"{path}:gone", operators=["MaxPool-1"], max_examples=50, seed=2, isolate=True)
    assert "gone.py" in report.stopped
    assert [finding.result.detail for finding in report.findings] == ["exit status 7"]


@pytest.mark.slow("the same seed gives the same proof")
def test_the_same_seed_finds_the_same():
    """Two searches of the same seed draw the same cases and end with the same."""
    first, second = (
        fuzz(faulty(fault_named("magnitudes")), operators=["AvgPool-1"], max_examples=15, seed=9)
        for _ in range(2)
    )
    assert [f.vector.case.id for f in first.findings] == [f.vector.case.id for f in second.findings]
    assert (first.examples, first.shrinking) == (second.examples, second.shrinking)
    assert first.counts == second.counts


def test_what_was_found_is_tried_first_next_time(tmp_path):
    """With a database, a failure that takes long to find is there at once."""
    backend = faulty(fault_named("kernel-clamped-to-7"))
    options = {"operators": ["MaxPool-1"], "max_causes": 1, "database": tmp_path}
    first = fuzz(backend, max_examples=200, seed=3, **options)
    second = fuzz(backend, max_examples=1, seed=5, **options)
    assert len(first.findings) == 1
    assert [f.vector.case.id for f in second.findings] == [f.vector.case.id for f in first.findings]


def test_what_fails_no_more_is_forgotten(tmp_path):
    """A search that finds nothing empties the database of its operator."""
    options = {"operators": ["MaxPool-1"], "max_examples": 20, "database": tmp_path}
    assert not fuzz(faulty(fault_named("maximum-from-zero")), seed=1, **options).ok
    assert [path.name for path in tmp_path.iterdir()] == ["MaxPool-1.h5"]
    assert fuzz(faulty(), seed=1, **options).ok
    assert list(tmp_path.iterdir()) == []


def test_findings_are_vectors_that_check_and_verify_take(found, tmp_path):
    """A saved file is sound, and the backend that failed fails on it."""
    backend, report = found
    (path,) = save(report, tmp_path / "found.h5")
    with open_vectors(path) as files:
        assert list(verify(files[0])) == []
        case = files[0].vector(0).case
    assert (case.source, case.provenance) == ("found by fuzzing", "computed")
    assert check(backend, path).counts == {"mismatch": 1}
    assert check(faulty(), path).ok


def as_found(vector, report):
    """Return a report that has found a vector in place of its own."""
    return replace(report, findings=(replace(report.findings[0], vector=vector),))


def test_a_saved_file_keeps_what_it_holds(found, tmp_path):
    """Findings are added to those of an earlier search."""
    path = tmp_path / "found.h5"
    for shape in ((1, 1, 4), (1, 1, 6)):
        save(as_found(vector(ramp(*shape), operator="MaxPool-1", id=f"{shape}"), found[1]), path)
    with open_vectors(path) as files:
        assert len(files[0]) == 2


def test_readings_that_contradict_each_other_are_found():
    """A backend that follows one reading here and another there is inconsistent."""

    def backend(operator, inputs, attributes):
        dropped = sum(inputs[0].shape) % 2 == 0
        reading = "dropped" if dropped else "kept"
        return evaluate(operator, inputs, attributes, {"ceil-window-past-input": reading})

    report = fuzz(backend, operators=["MaxPool-1"], max_examples=200, seed=1)
    assert [clause.clause for clause in report.inconsistent] == ["ceil-window-past-input"]
    assert len(report.witnesses["ceil-window-past-input"]) == 2
    assert not report.ok


def test_a_backend_that_fails_once_is_said_to_vary():
    """A failure that does not come again is shown, and said not to be steady."""
    seen = []

    def backend(operator, inputs, attributes):
        got = evaluate(operator, inputs, attributes)
        if inputs[0].shape[1] == 2 and len(seen) < 3:
            seen.append(1)
            return got[:, :1]
        return got

    report = fuzz(backend, operators=["MaxPool-1"], max_examples=40, seed=1)
    assert [finding.steady for finding in report.findings] == [False]


def test_sums_of_which_the_bound_says_nothing_are_not_judged():
    """Hundreds of addends in bfloat16 can neither pass nor fail."""
    ones = np.ones((1, 1, 300), np.float32)
    attributes = {"window_shape": [300]}
    wide, half = (
        vector_of(Case("case", "nGraph-AvgPool", attributes, (data,)))
        for data in (ones, ones.astype(dtype_of("bfloat16")))
    )
    operator = OPERATORS["nGraph-AvgPool"]
    assert (is_judgeable(operator, wide), is_judgeable(operator, half)) == (True, False)


def test_a_backend_that_supports_nothing_is_not_ok():
    """Nothing found is no news where nothing was run."""

    def backend(operator, inputs, attributes):
        raise NotImplementedError

    report = fuzz(backend, operators=["MaxPool-1"], max_examples=20)
    assert (report.ok, report.findings) == (False, ())


@pytest.mark.parametrize("option", ["seconds", "max_examples", "max_causes"])
def test_a_limit_of_nothing_is_refused(option):
    """Limits are above 0, and the error names the option."""
    with pytest.raises(UsageError, match=option):
        fuzz(faulty(), **{option: 0})
    with pytest.raises(UsageError, match="seconds=nan: must be above 0"):
        fuzz(faulty(), seconds=float("nan"))


def test_an_error_of_the_harness_ends_the_search():
    """What goes wrong outside the backend is neither shrunk nor swallowed."""
    with pytest.raises(UsageError, match="exec:"):
        fuzz("exec:/no/such/program", max_examples=10)
