"""The public check as a whole: what a run that says little, or is stopped late, comes to."""

import pytest
from support.fakes import pool, ramp, right, vector

from conformance import Interrupted, UsageError, check
from conformance.diagnosis import of_report
from conformance.faults import fault_named, faulty

VALID = [vector(ramp(1, 1, 6 + i), id=f"valid-{i}") for i in range(3)]
INVALID = vector(attributes=pool(strides=[0]), id="invalid")


def refusing(operator, inputs, attributes):
    """Refuse what is invalid, and support nothing else."""
    right(operator, inputs, attributes)
    raise NotImplementedError("not yet")


class TestNothingComputed:
    """A run in which nothing was computed does not conform."""

    def test_refusals_alone_are_no_conformance(self):
        """An adapter whose engine is missing may still check its attributes."""
        report = check(refusing, [*VALID, INVALID])
        assert report.counts == {"unsupported": 3, "conforms": 1}
        assert report.problems == ("nothing was computed",)

    def test_vectors_that_are_all_invalid_are_answered_by_refusals(self):
        """Nothing was to be computed."""
        assert check(refusing, [INVALID]).ok

    def test_exceptions_that_are_all_excused_are_no_conformance(self):
        """Whoever refuses every vector for an element that is undefined has computed nothing."""

        def raising(operator, inputs, attributes):
            raise ValueError("no")

        undefined = vector(ramp(1, 1, 8), pool(auto_pad="same_upper", kernel=[1]), id="undefined")
        report = check(raising, [undefined, INVALID])
        assert report.counts == {"conforms": 2}
        assert report.problems == ("nothing was computed",)
        assert check(raising, [INVALID]).ok


def test_a_diagnosis_that_is_interrupted_costs_no_verdict(monkeypatch):
    """The search for causes may take longer than the run: what came of the run is kept."""

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(of_report, "explained", interrupted)
    with pytest.raises(Interrupted) as stopped:
        check(lambda operator, inputs, attributes: inputs[0], VALID)
    report = stopped.value.report
    assert (report.complete, report.problems) == (True, ("3 mismatch",))
    assert report.notes == ("the search for likely causes was interrupted",)


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize(
    ("backend", "said"), [("", "no backend ''"), ("results:", "results: give")]
)
def test_a_name_that_is_empty_is_refused(backend, said, isolate):
    """In one line that says what would do, wherever the backend would run."""
    with pytest.raises(UsageError, match=said):
        check(backend, VALID, isolate=isolate)


@pytest.mark.slow("progress is told of other runs")
def test_progress_is_told_in_two_numbers():
    """`progress(done, total)` counts the vectors, then, where some failed, the search."""

    def wrong(operator, inputs, attributes):
        return right(operator, inputs, attributes) + 1

    told = []
    check(wrong, VALID, progress=lambda done, total: told.append((done, total)))
    assert (3, 3) in told
    assert all(0 <= done <= total or total == 0 for done, total in told)  # 0: unknown


def test_a_cause_is_told_when_it_is_confirmed():
    """`found(words)` hears, before the report is there, what the report says then."""
    told = []
    wrong = faulty(fault_named("same-lower-as-upper"))
    report = check(wrong, operators="MaxPool-1", tier="smoke", variations="none", found=told.append)
    assert told == ["auto_pad=same_lower taken as same_upper"]
    assert told[0] in report.diagnoses[0].summary
