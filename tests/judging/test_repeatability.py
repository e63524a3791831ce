"""A second call of some vectors: state between calls and answers that vary are found."""

import itertools

import numpy as np
import pytest
from support.fakes import check_varied as check
from support.fakes import pool, ramp, right, vector

from conformance.api.check import CheckPlan, Interrupted, run
from conformance.backends.runner import InProcess
from conformance.settings import Settings


def vectors(count=6):
    """Return vectors with different data and kernels."""
    return [
        vector(ramp(1, 1, 8) * (i + 1), pool("AvgPool-1", kernel=[1 + i % 3]), id=str(i))
        for i in range(count)
    ]


def test_a_repeatable_backend_is_called_twice_and_nothing_is_said_of_it():
    """Where second answers are the first ones, the report only counts them."""
    report = check(right, vectors())
    assert (report.ok, report.repeated.sampled) == (True, 6)
    assert (report.repeated.differing, report.repeated.failing) == ((), ())


def test_the_first_calls_come_in_order_and_the_second_in_another():
    """No first call comes after a second one."""
    seen = []

    def backend(operator, inputs, attributes):
        seen.append(float(inputs[0].max()))
        return right(operator, inputs, attributes)

    check(backend, vectors())
    first, second = seen[:6], seen[6:12]
    assert first == sorted(first)
    assert (sorted(second), second == first) == (first, False)


def test_state_kept_between_calls_is_a_mismatch():
    """A backend that answers wrongly after other attributes does not conform."""
    kernels: list[int] = []

    def backend(operator, inputs, attributes):
        # In the order of the vectors kernels only grow: a plan kept too long goes unnoticed.
        kernels.append(max([*kernels, *attributes["kernel"]]))
        return right(operator, inputs, {**attributes, "kernel": [kernels[-1]]})

    growing = sorted(vectors(), key=lambda each: each.case.attributes["kernel"])
    report = check(backend, growing)
    assert report.counts["mismatch"] == len(report.repeated.failing) > 0
    assert set(report.repeated.failing) <= set(report.repeated.differing)
    detail = next(r.detail for r in report.results if r.verdict == "mismatch")
    assert detail.startswith("conforms at first, but not when called again: shape ")


def test_answers_that_vary_within_the_bound_conform_and_are_named():
    """Another rounding the second time is allowed, and reported."""
    calls = itertools.count()

    def backend(*case):
        output = right(*case)
        return np.nextafter(output, np.inf) if next(calls) >= 6 else output

    report = check(backend, [vector(ramp(1, 1, 8) / 3, id=str(i)) for i in range(6)])
    assert report.ok
    assert (len(report.repeated.differing), report.repeated.failing) == (6, ())


def test_exceptions_only_the_second_time_are_errors():
    """A backend that runs out of something after a while is not ok."""
    calls = itertools.count()

    def backend(*case):
        if next(calls) >= 6:
            raise RuntimeError("out of slots")
        return right(*case)

    report = check(backend, vectors())
    assert (report.ok, report.counts["error"]) == (False, 6)
    assert "RuntimeError: out of slots" in report.results[0].detail


def test_what_fails_the_second_time_has_no_excuse():
    """An exception that conforms for an undefined element says nothing for a wrong answer."""
    calls = itertools.count()

    def backend(operator, inputs, attributes):
        if next(calls):
            return inputs[0]
        raise ValueError("empty window")

    data = ramp(1, 1, 8)
    vectors = [vector(data, pool("AvgPool-1", auto_pad="same_upper", kernel=[1]))]
    (result,) = check(backend, vectors).results
    assert (result.verdict, result.excused) == ("mismatch", ())


def test_an_interrupt_in_the_second_calls_leaves_an_incomplete_report():
    """All verdicts are there, but the run is not complete."""
    calls = itertools.count()

    def backend(*case):
        if next(calls) == 8:
            raise KeyboardInterrupt
        return right(*case)

    with pytest.raises(Interrupted) as stopped:
        check(backend, vectors())
    report = stopped.value.report
    assert (len(report.results), report.complete, report.ok) == (6, False, False)


class TestFailing:
    """What fails is called again too, so that a backend that is unstable is called so."""

    def wrong(self, *calls):
        """Return a backend that is wrong in the calls of some numbers, and what it was asked."""
        numbers = itertools.count()
        return lambda *case: right(*case) + (next(numbers) in calls)

    def test_a_vector_that_fails_once_is_reported_with_the_failing_verdict(self):
        """Also where it is not among those that are called again anyway."""
        many = vectors(200)
        report = check(self.wrong(1), many)
        assert report.counts["mismatch"] == 1
        assert report.repeated.passing == report.repeated.differing == ("1",)
        (failed,) = (result for result in report.results if result.verdict == "mismatch")
        assert failed.detail.startswith("conforms when called again, but not at first: ")
        assert failed.worst is not None

    def test_answers_that_are_wrong_in_two_ways_differ(self):
        """Memory that nobody has set, for example: it conforms neither time."""
        numbers = itertools.count(1)
        report = check(lambda *case: right(*case) + next(numbers), vectors())
        assert len(report.repeated.differing) == 6
        assert (report.repeated.failing, report.repeated.passing) == ((), ())

    def test_nothing_is_called_again_where_that_is_not_wanted(self):
        """In a test of pytest, say, which calls each vector once."""
        numbers = itertools.count()

        def backend(*case):
            next(numbers)
            return right(*case) + 1

        report = run(
            InProcess(backend), vectors(), CheckPlan.of(Settings(variations="none")), name="wrong"
        )
        assert (report.repeated, next(numbers)) == (None, 6)
