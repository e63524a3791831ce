"""A run: which batches a backend has while others are read and judged."""

from time import sleep

import numpy as np
import pytest
from support.fakes import altered, ran, right, vector

from conformance import Interrupted, check
from conformance.api.check import CheckPlan, run
from conformance.backends.runner import InProcess
from conformance.judging import run as judging_run
from conformance.judging import tally
from conformance.settings import Settings

VECTORS = [vector(operator=name, id=name) for name in ("AvgPool-1", "MaxPool-1")]


class Recorded(InProcess):
    """Says of each batch when its calls are begun, waited for and stopped."""

    def __init__(self, backend):
        super().__init__(backend)
        self.heard = []

    def begin(self, batch, *how):
        """Begin the calls, which say so when they are waited for or stopped."""
        self.heard.append(f"begin {batch.operator}")
        calls = super().begin(batch, *how)
        wait, stop = calls.wait, calls.stop

        def waited(tick):
            self.heard.append(f"wait {batch.operator}")
            wait(tick)

        def stopped():
            self.heard.append(f"stop {batch.operator}")
            stop()

        calls.wait, calls.stop = waited, stopped
        return calls


def heard(backend, **options):
    """Return what a runner hears, and the report."""
    runner = Recorded(backend)
    try:
        report = run(
            runner, VECTORS, CheckPlan.of(Settings(variations="none", **options)), name="backend"
        )
    except Interrupted as interrupted:
        report = interrupted.report
    return runner.heard, report


def interrupted_by(operator):
    """Return a backend that is interrupted at an operator."""

    def backend(name, inputs, attributes):
        if name == operator:
            raise KeyboardInterrupt
        return right(name, inputs, attributes)

    return backend


def test_the_next_batch_is_begun_before_the_last_is_judged():
    """In another process, it is computed meanwhile."""
    told, report = heard(right)
    assert told == ["begin AvgPool-1", "begin MaxPool-1", "wait AvgPool-1", "wait MaxPool-1"]
    assert report.counts["conforms"] == 2


def test_failures_that_are_counted_are_judged_before_the_next_batch():
    """No call is made in vain after the last that is allowed."""
    told, _ = heard(right, max_failures=1)
    assert told == ["begin AvgPool-1", "wait AvgPool-1", "begin MaxPool-1", "wait MaxPool-1"]


@pytest.mark.parametrize(("operator", "conforming"), [("AvgPool-1", 0), ("MaxPool-1", 1)])
def test_calls_that_are_interrupted_are_stopped_and_answers_before_them_judged(
    operator, conforming
):
    """Also those that were begun and not waited for, which are stopped first."""
    told, report = heard(interrupted_by(operator))
    stops = [each for each in told if each.startswith("stop")]
    assert stops == ["stop MaxPool-1", "stop AvgPool-1"][: 2 - conforming]
    assert (report.stopped, report.counts["conforms"]) == ("interrupted", conforming)
    assert report.not_run == 2 - conforming


@pytest.mark.parametrize("isolate", [False, True])
def test_a_long_run_names_the_vectors_that_took_longest(monkeypatch, isolate):
    """The slowest first, and no more than a few; a short run names none."""
    seven = [vector(operator="AvgPool-1", id=f"AvgPool-1/{n}") for n in range(7)]

    def backend(operator, inputs, attributes):
        sleep(0.25 if operator == "MaxPool-1" else 0)
        return right(operator, inputs, attributes)

    def slowest():
        vectors = [*seven, VECTORS[1]]
        return check(backend, vectors, isolate=isolate, variations="none").slowest

    assert slowest() == ()
    monkeypatch.setattr(tally, "LONG_RUN", 0.2)
    slow = slowest()
    assert len(slow) == 5
    assert slow[0].id == "MaxPool-1"
    assert slow[0].seconds >= 0.2 > slow[1].seconds


class TestOutputsKept:
    """Wrong outputs are kept, to be compared with causes, as long as there is room for them."""

    @staticmethod
    def kept(monkeypatch, *sizes, room=160):
        """Return for outputs of so many bytes whether they are kept."""
        monkeypatch.setattr(judging_run, "STORED_OUTPUT", room)
        left = iter(sizes)
        wrong = altered(lambda out: np.zeros(next(left), np.int8))
        report = ran(wrong, *(vector(id=str(i)) for i in range(len(sizes))))
        return [result.output is not None for result in report.results]

    def test_are_bounded_together(self, monkeypatch):
        """Each leaves less room to those after it."""
        assert self.kept(monkeypatch, 10, 9, 9, 8) == [True, True, False, True]

    def test_a_huge_one_leaves_room_to_those_after_it(self, monkeypatch):
        """One wrong shape costs the causes of all other operators otherwise."""
        assert self.kept(monkeypatch, 600, 6, 6) == [False, True, True]


def test_of_what_conforms_it_is_known_how_many_outputs_were_returned():
    """Where these are not all: the others say nothing of what a backend would make of them."""
    vectors = [vector(operator="MaxPool-8", id=name) for name in ("both", "first")]

    def backend(operator, inputs, attributes):
        outputs = right(operator, inputs, attributes)
        backend.calls += 1
        return outputs if backend.calls == 1 else outputs[0]

    backend.calls = 0
    results = check(backend, vectors, variations="none").results
    assert [(r.verdict, r.first_outputs) for r in results] == [("conforms", None), ("conforms", 1)]
