"""The live backend under experiment: held-out cases, and what it makes of them."""

from itertools import islice

import numpy as np
import pytest
from support.fakes import altered, pool, ramp, right, vector

from conformance.backends.answer import CRASHED, TIMED_OUT, Answer
from conformance.backends.runner import InProcess, OneByOne
from conformance.budget import CALL, VECTOR, Budget
from conformance.diagnosis.laboratory import Laboratory, as_expected, samples_from
from conformance.errors import Unsupported
from conformance.vector import Case


class Ending(OneByOne):
    """Ends in one way whenever it is called."""

    def __init__(self, kind):
        self.kind, self.calls = kind, 0

    def answer(self, batch, index, limit, variation):
        """See OneByOne."""
        self.calls += 1
        return Answer(self.kind)


def laboratory(backend=right, readings=None, **options):
    return Laboratory(InProcess(backend), lambda _: readings or {}, **options)


def some(count=8):
    return [vector(ramp(1, 1 + i, 6), id=f"{i}") for i in range(count)]


def test_fresh_cases_differ_from_each_other_and_from_the_bases():
    """So each of them tells something new."""
    lab = laboratory()
    fresh = [v for v in islice(lab.near(some(), []), 60) if v is not None]
    samples = lab.ask(fresh)
    again = [v for v in islice(laboratory().near(some(), []), 60) if v is not None]
    assert len(samples) == len(fresh) > 20
    assert [v.case.id for v in again] == [v.case.id for v in fresh]
    known = {v.case.id for v in fresh}
    assert not known & {v.case.id for v in islice(lab.near(some(), []), 20) if v is not None}


def test_a_case_that_breaks_a_rule_is_made_of_valid_ones():
    """Held-out cases near an invalid call are invalid calls, of the same rule and of others."""
    broken = Case(
        "broken",
        "AvgPool-1",
        pool(strides=[0]),
        (ramp(1, 1, 6),),
        tags=("invalid", "strides: 0 is too small"),
    )
    lab = laboratory()
    fresh = islice(lab.near([lab.vector(broken)], some()), 0, 40, 2)
    tags = {v.case.tags[1] for v in fresh if v is not None}
    assert "strides: 0 is too small" in tags
    assert len(tags) > 1


def test_a_case_whose_expected_values_take_seconds_is_left_out():
    """Windows of 2^14 cells, and as many of them: one cause took a minute for a few of these."""
    length = 1 << 14
    long = pool(kernel=[length], strides=[1], pads_begin=[length - 1])
    case = Case("long", "AvgPool-1", long, (np.ones((1, 1, length), np.float32),))
    assert laboratory().vector(case) is None
    few = Case("few", "AvgPool-1", long, (np.ones((1, 1, 3), np.float32),))
    assert laboratory().vector(few) is not None


def test_a_case_of_an_enormous_output_is_left_out():
    """The output of an unpooling has nothing to do with its cells: this one takes 32 GB."""
    ones, indices = np.ones((1, 1, 1, 1), np.float32), np.zeros((1, 1, 1, 1), np.int64)
    given = {"kernel_size": [2, 2], "output_size": [65283, 65283], "stride": [65283, 65283]}
    case = Case("enormous", "PyTorch-max_unpool2d", given, (ones, indices))
    assert laboratory().vector(case) is None


def test_what_an_open_clause_applies_to_is_left_out():
    """There, an answer may be another reading as well as a fault."""
    attributes = pool(kernel=[2], strides=[2], rounding_type="ceil", auto_pad="valid")
    case = vector(ramp(1, 1, 5), attributes).case
    assert laboratory().vector(case) is None
    assert laboratory(readings={"valid-rounds": "applied"}).vector(case) is not None


def test_a_sample_marks_the_elements_that_are_wrong():
    """Of the first output, in its shape."""

    def last_is_zero(output):
        output = np.array(output)
        output[..., -1] = 0
        return output

    (sample,) = laboratory(altered(last_is_zero)).ask([vector()])
    assert sample.failed
    assert sample.wrong.tolist() == [[[False, False, True]]]
    (fine,) = laboratory().ask([vector()])
    assert not fine.failed
    assert not fine.wrong.any()
    assert fine.defined.all()


def test_an_exception_has_no_outputs_and_what_is_unsupported_no_sample():
    """The one is a failure, the other says nothing."""

    def raises(*_):
        raise TypeError

    def refuses(*_):
        raise Unsupported("pooling")

    (sample,) = laboratory(raises).ask([vector()])
    assert (sample.failed, sample.outputs, sample.wrong) == (True, None, None)
    assert laboratory(refuses).ask([vector()]) == []


def test_an_output_of_too_many_elements_is_no_exception():
    """It is not looked at, and tells nothing."""
    huge = np.broadcast_to(np.float32(1), (1, 1, 2**20))
    lab = laboratory(lambda operator, inputs, attributes: huge)
    assert lab.ask(some(1)) == []


@pytest.mark.parametrize(("kind", "most"), [(TIMED_OUT, 3), (CRASHED, 6)])
def test_some_hangs_or_crashes_end_the_experiments(kind, most):
    """Each costs a start of the backend, and a hang seconds as well."""
    runner = Ending(kind)
    lab = Laboratory(runner, lambda _: {})
    for each in some(20):
        lab.ask([each])
    assert lab.is_over
    assert runner.calls == most


@pytest.mark.parametrize("kind", [TIMED_OUT, CRASHED])
def test_a_case_that_hangs_or_crashes_is_left_out(kind):
    """Nobody knows what the answer would be, nor which call it was that broke memory."""
    assert Laboratory(Ending(kind), lambda _: {}).ask(some(1)) == []


def test_nothing_is_asked_when_the_work_is_done_or_the_seconds_are_over():
    """Either limit holds for all experiments together."""
    for lab in (laboratory(steps=0), laboratory(budget=Budget(seconds=1e-9))):
        assert lab.is_over
        assert lab.ask(some()) == []
        assert list(lab.near(some(), [])) == []


def test_work_is_counted_by_what_is_asked():
    """So a slow backend is asked as much as a quick one, on a busy machine and on a quiet one."""
    budget = Budget()
    lab = laboratory(budget=budget)
    lab.ask([lab.vector(each.case) for each in some(3)])
    assert budget.spent == 3 * (VECTOR + CALL)


def test_stored_outputs_and_conforming_vectors_are_samples_too():
    """What a run knows is not asked again."""
    one = vector()
    wrong, raised = samples_from(
        [(one, (np.zeros((1, 1, 3), np.float32),)), (vector(id="b"), None)]
    )
    assert wrong.wrong.all()
    assert raised.outputs is None
    assert raised.failed
    conforming = as_expected(one)
    assert not conforming.failed
    assert conforming.outputs[0].tolist() == [[[1.5, 3.5, 5.5]]]


def test_a_clause_is_open_where_no_reading_is_known_to_be_followed():
    """As that of NaN is in a backend that loses some of them."""
    data = np.array([[[1, np.nan, 2, 3]]], np.float32)
    maximum = vector(data, pool("MaxPool-1"), operator="MaxPool-1")
    followed = {"nan-in-maximum": "ignored"}
    assert laboratory().open_clauses(maximum) >= {"nan-in-maximum"}
    assert "nan-in-maximum" not in laboratory(readings=followed).open_clauses(maximum)
    assert "nan-in-maximum" not in laboratory().open_clauses(vector())


def test_no_part_of_the_work_is_more_than_all_of_it():
    """What is asked for a part may be more than a laboratory may do."""
    lab = laboratory(steps=CALL)
    lab.begin(10 * CALL)
    assert lab.share(10 * CALL).left == CALL
