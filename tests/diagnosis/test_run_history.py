"""The calls of a run in their order: which failed, which came before, which are alike."""

import numpy as np
import pytest
from support.fakes import check, pool, ramp, right, vector

from conformance.diagnosis import limits, run_history
from conformance.diagnosis.run_history import history_of
from conformance.vectorfile.sources import opened


def vectors(count):
    """Return vectors that differ in data, every second in kernel."""
    return [
        vector(ramp(1, 1, 6) * np.float32(i + 1), pool(kernel=[2 + i % 2]), id=f"{i}")
        for i in range(count)
    ]


def history(some, wrong, **options):
    """Return the history of a run in which vectors with some first cells are wrong."""

    def backend(operator, inputs, attributes):
        return right(operator, inputs, attributes) + (inputs[0].flat[0] in wrong)

    report = check(backend, some, **options)
    with opened(some) as sources:
        return history_of(report, sources)


def ids(made, positions):
    """Return the ids of some calls."""
    return [made.vector(position).case.id for position in positions]


def test_failures_and_the_calls_before_them():
    """By their positions in the run."""
    made = history(vectors(8), {3, 6})
    assert made.failed == [2, 5]
    assert ids(made, made.before(5)) == ["0", "1", "2", "3", "4"]
    assert made.whole


def test_calls_after_one_that_ended_the_process_come_first():
    """The process that had the calls before it is gone."""
    made = history(vectors(8), {6})
    crashed = run_history.RunHistory(made.batches, made.failed, ended=[2, 6])
    assert list(crashed.before(5)) == [3, 4]


def test_what_failed_when_called_again_came_after_all():
    """Its own first call is one of them."""
    made = history(vectors(4), {2})
    again = run_history.RunHistory(made.batches, made.failed, again={1})
    assert list(again.before(1)) == [0, 1, 2, 3]


def test_the_likeliest_calls_come_first():
    """In turn the next of those most alike and the next before, the latest first."""
    made = history(vectors(8), {8})
    assert made.likely(7) == [5, 6, 3, 1, 4, 2, 0]


def test_parts_keep_the_order_of_calls():
    """Over several batches, also backwards, with a limit to each part."""
    some = [*vectors(4), *(vector(operator="MaxPool-1", id=f"m{i}") for i in range(3))]
    made = history(some, {3})
    order = [5, 4, 1, 0, 6]
    for most in (1, 2, 10):
        parts = list(made.parts(order, most=most))
        assert max(len(rows) for _, rows in parts) <= most
        called = [(batch, row) for batch, rows in parts for row in rows]
        assert called == [made.calls[position] for position in order]


def test_a_long_run_is_cut_before_its_last_failure(monkeypatch):
    """And is not whole then."""
    monkeypatch.setattr(limits, "HISTORY", 5)
    made = history(vectors(20), {3, 10, 12})
    assert ids(made, made.failed) == ["9", "11"]
    assert len(made.calls) == 5
    assert not made.whole


@pytest.mark.parametrize(
    ("operator", "dtype", "name"),
    [(True, True, "1"), (True, False, "double"), (False, True, "maximum"), (False, False, None)],
)
def test_another_vector_of_the_same_kind_or_of_another(operator, dtype, name):
    """Of the same operator or of another one, and so is the type; None if there is none."""
    some = [
        *vectors(3),
        vector(operator="MaxPool-1", id="maximum"),
        vector(ramp(1, 1, 6, dtype="float64"), id="double"),
    ]
    found = history(some, {1}).other(0, operator=operator, dtype=dtype)
    assert (found and found.case.id) == name


def test_another_vector_that_passed_is_preferred():
    """Its answer disturbs nothing."""
    assert history(vectors(3), {1, 2}).other(0, operator=True, dtype=True).case.id == "2"


def test_the_shape_of_a_gradient_is_that_of_its_data():
    """The gradient of the output, which comes first, has another."""
    found = run_history.aspects("AvgPool-1-backward", (ramp(1, 1, 3), ramp(1, 1, 6)), pool())
    assert found["shape"] == [1, 1, 6]
    assert "data" not in found
