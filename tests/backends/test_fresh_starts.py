"""Fresh copies of a backend: each is called by one sequence alone, and none is left behind."""

import itertools

import numpy as np
import pytest
from support.fakes import right, vector

from conformance.backends.answer import arrays_of
from conformance.backends.fresh_starts import FreshStarts, fresh_starts_of
from conformance.backends.runner import InProcess
from conformance.batch import batch_of
from conformance.budget import START, Budget, Spent

ONE = batch_of([vector()])
TWO = batch_of([vector(), vector(id="other")])


class Counting(InProcess):
    """Adds how often it was called; `living` are those that were not closed."""

    living: set["Counting"] = set()  # noqa: RUF012 - a test looks at it

    def __init__(self):
        calls = itertools.count()
        super().__init__(lambda *case: right(*case) + next(calls))
        self.living.add(self)

    def close(self):
        """See Closable."""
        self.living.discard(self)


def added(answer):
    """Return what was added to the right answer."""
    return int(arrays_of(answer.outputs).flat[0] - 1.5)


def test_each_copy_is_fresh():
    """No copy knows of the calls of another."""
    with FreshStarts(Counting, Budget().share()) as starts:
        for _ in range(4):
            with starts.copy() as copy:
                assert [added(copy.answer(ONE)) for _ in range(3)] == [0, 1, 2]
        assert starts.called == 4
    assert not Counting.living


def test_calls_come_in_the_order_that_is_asked_for():
    """Also several of one vector."""
    heard = []
    with FreshStarts(Counting, Budget().share()) as starts, starts.copy() as copy:
        answers = copy.call(TWO, [1, 0])
        copy.answers(ONE, 3, lambda answer: heard.append(added(answer)))
    first = [arrays_of(outputs).flat[0] for outputs in answers.outputs]
    assert (first, heard) == ([2.5, 1.5], [2, 3, 4])


def test_progress_counts_the_copies_called():
    """Those that are only started do not count."""
    told = []
    with FreshStarts(Counting, Budget().share(), lambda *counts: told.append(counts)) as starts:
        for _ in range(2):
            with starts.copy():
                continue
    assert told == [("fresh starts", 1, 0), ("fresh starts", 2, 0)]


def test_nothing_is_left_of_the_work():
    """Nothing is started or called any more; what is reserved comes back."""
    with FreshStarts(Counting, Budget().share(10 * START)) as starts:
        with starts.reserving(10 * START), pytest.raises(Spent), starts.copy():
            pytest.fail("it was started")
        with starts.copy() as copy, starts.reserving(9 * START), pytest.raises(Spent):
            copy.answer(ONE)
        with starts.copy() as copy:
            assert added(copy.answer(ONE)) == 0
    assert not Counting.living


def test_nothing_is_called_when_the_seconds_are_over():
    """However much work is left: they are the user's."""
    starts = FreshStarts(Counting, Budget(1e-9).share())
    with starts, pytest.raises(Spent), starts.copy():
        pytest.fail("it was started")
    assert not Counting.living


def test_copies_in_workers():
    """Each is a process of its own, in which the state that a callable has is its first."""

    def counting(operator, inputs, attributes, _state=[0]):  # noqa: B006 - state is meant
        _state[0] += 1
        return right(operator, inputs, attributes) + np.float32(_state[0])

    start = fresh_starts_of(counting)
    counting("AvgPool-1", ONE.inputs[0], ONE.attributes[0])
    with FreshStarts(start, Budget().share()) as starts:
        for _ in range(2):
            with starts.copy() as copy:
                assert [added(copy.answer(ONE)) for _ in range(2)] == [1, 2]
