"""State told from arithmetic: each fake has one fault, and the fewest calls that show it are found.

Fakes are made anew for each fresh start, in this process; a few tests start workers.
"""

import itertools
import random
import time

import numpy as np
import pytest
from support.fakes import check_varied as check
from support.fakes import pool, ramp, right, vector

from conformance.backends.fresh_starts import fresh_starts_of
from conformance.backends.runner import InProcess
from conformance.budget import START, Budget
from conformance.diagnosis.state import of_state
from conformance.vectorfile.sources import opened


def vectors(count=24):
    """Return averages of some shapes, kernels and pads, each with data of its own."""
    return [
        vector(
            ramp(1, 1 + i % 2, 6 + i % 3, 7) * np.float32(i + 1),
            pool(
                kernel=[2 + i % 2, 2],
                strides=[1, 1],
                pads_begin=[i % 2, i // 2 % 2],
                pads_end=[0, 0],
            ),
            id=f"{i:03}",
        )
        for i in range(count)
    ]


def told(make, some=None, *, start=None, **options):
    """Run a backend that `make` makes, and return what is found out about its state."""
    some = vectors() if some is None else some
    start = start or (lambda: InProcess(make()))
    report = check(make(), some)
    with opened(some) as sources:
        return of_state(report, sources, start, **options)


def only(make, some=None, **options):
    """Return the only finding, which nothing has cut short."""
    found = told(make, some, **options)
    (finding,) = found.findings
    assert found.note == ""
    return finding


def first_kept(names, key):
    """Return what makes backends that keep some attributes of the first call of each key."""

    def make():
        kept = {}

        def backend(operator, inputs, attributes):
            own = {name: attributes[name] for name in names}
            first = kept.setdefault(repr(key(inputs[0], attributes)), own)
            return right(operator, inputs, attributes | first)

        return backend

    return make


pads_kept = first_kept(["pads_begin"], lambda data, attributes: (data.shape, attributes["kernel"]))


def numbered(is_wrong, key=lambda *_case: 0):
    """Return what makes backends that are wrong in calls of some numbers, counted by key."""

    def make():
        calls = {}

        def backend(*case):
            number = calls[repr(key(*case))] = calls.get(repr(key(*case)), 0) + 1
            return right(*case) + is_wrong(number)

        return backend

    return make


class TestCaches:
    """What is kept by a key that lacks something is told by two calls that differ in just that."""

    def test_pads_are_not_in_the_key(self):
        """The calls have the same shape, kernel and so on, and the pads are those of the first."""
        finding = only(pads_kept)
        assert finding.words == (
            "the output depends on an earlier call with other pads_begin: "
            "it is what is right with the pads_begin of the call before"
        )
        earlier, last = (each.case for each in finding.sequence)
        assert earlier.inputs[0].shape == last.inputs[0].shape
        assert {k for k, v in last.attributes.items() if earlier.attributes[k] != v} == {
            "pads_begin"
        }
        assert (finding.shown, finding.repeats, finding.varies) == (3, 3, False)

    def test_what_the_first_call_of_a_process_leaves_explains_all_that_fails(self):
        """Of many kernels, few are right in some order: each is where it is called first."""
        some = [
            vector(
                ramp(1, 1, 9, 9),
                pool(
                    kernel=[1 + i % 5, 1 + i // 5],
                    strides=[1, 1],
                    pads_begin=[0, 0],
                    pads_end=[0, 0],
                ),
                id=f"{i:03}",
            )
            for i in range(25)
        ]
        finding = only(first_kept(["kernel"], lambda *_: 0), some)
        assert finding.words.startswith("the output depends on an earlier call with other kernel")
        assert len(finding.vectors) == 24

    def test_numbers_of_the_key_are_sorted(self):
        """A kernel of 3 and 2 is taken for one of 2 and 3."""
        some = [
            vector(
                ramp(1, 1, 8, 8) * np.float32(i + 1),
                pool(kernel=kernel, strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0]),
                id=f"{i}",
            )
            for i, kernel in enumerate(([4, 1], [2, 3], [1, 1], [3, 2], [1, 4]))
        ]
        make = first_kept(["kernel"], lambda data, attributes: sorted(attributes["kernel"]))
        finding = only(make, some)
        kernels = [each.case.attributes["kernel"] for each in finding.sequence]
        assert [sorted(kernel) for kernel in kernels] == [sorted(kernels[0])] * 2
        assert kernels[0] != kernels[1]
        assert "with other kernel" in finding.words

    def test_outputs_are_kept_whatever_the_data(self):
        """What comes is the earlier output, bit for bit."""

        def make():
            kept = {}

            def backend(operator, inputs, attributes):
                key = repr((inputs[0].shape, attributes))
                return kept.setdefault(key, right(operator, inputs, attributes)).copy()

            return backend

        finding = only(make)
        assert finding.words == (
            "the output depends on an earlier call with other data: "
            "it is the output of the call before"
        )
        assert finding.example.endswith("after the same with other data")

    def test_a_sound_cache_does_no_harm(self):
        """A cache with a whole key is no cause of other failures."""

        def make():
            kept = {}

            def backend(operator, inputs, attributes):
                key = repr((operator, inputs[0].tobytes(), inputs[0].shape, attributes))
                wrong = attributes["pads_begin"][0] == 1
                return kept.setdefault(key, right(operator, inputs, attributes) + wrong).copy()

            return backend

        found = told(make)
        assert (found.findings, found.note) == ((), "")


class TestMemory:
    """What an earlier call leaves in memory is told by the values that come back."""

    def test_a_buffer_is_not_cleared(self):
        """The last element is not written: it has what the last call but one left there."""

        def make():
            buffer = np.zeros(1000, np.float32)

            def backend(*case):
                output = right(*case)
                buffer[: output.size - 1] = output.ravel()[:-1]
                returned = buffer[: output.size].reshape(output.shape).copy()
                buffer[: output.size] = output.ravel()
                return returned

            return backend

        finding = only(make)
        assert finding.instead == "its wrong elements are those that are right for the call before"
        assert len(finding.sequence) == 2

    def test_an_accumulator_is_not_cleared(self):
        """Each output is added to what is there."""

        def make():
            total = np.zeros(1000, np.float32)

            def backend(*case):
                output = right(*case)
                total[: output.size] += output.ravel()
                return total[: output.size].reshape(output.shape).copy()

            return backend

        finding = only(make)
        assert finding.words.endswith(
            "from the 2nd on are wrong: it is added to the output of the call before"
        )
        one, other = finding.sequence
        assert one is other


class TestNumbers:
    """What depends on how often a backend was called is told by one vector called often."""

    @pytest.mark.parametrize(
        ("is_wrong", "count", "words", "calls"),
        [
            (lambda n: n == 1, 24, "the first call of AvgPool-1 is wrong", 1),
            (lambda n: n <= 3, 24, "the first 3 calls of AvgPool-1 are wrong", 1),
            (lambda n: n <= 20, 24, "the first 20 calls of AvgPool-1 are wrong", 1),
            (lambda n: n % 10 == 0, 24, "every 10th call of AvgPool-1 is wrong", 10),
            (lambda n: n % 100 == 0, 240, "every 100th call of AvgPool-1 is wrong", 100),
            (lambda n: n > 12, 24, "calls of AvgPool-1 from the 13th on are wrong", 13),
            (lambda n: n in {7, 8}, 24, "the 7th and 8th calls of AvgPool-1 are wrong", 7),
        ],
    )
    def test_calls_are_counted(self, is_wrong, count, words, calls):
        """The numbers of the wrong calls are named, whichever vectors these are."""
        finding = only(numbered(is_wrong), vectors(count))
        assert finding.words == words
        assert len(finding.sequence) == calls

    def test_calls_of_all_operators_are_counted(self):
        """No operator is named where they count together."""
        maximum = vector(operator="MaxPool-1", id="maximum")
        finding = only(numbered(lambda n: n == 3), [*vectors(5), maximum])
        assert finding.words == "the 3rd call is wrong"

    def test_a_kernel_is_wrong_until_it_is_warm(self):
        """The first call of each shape and attributes is wrong, the others are right."""
        key = lambda _, inputs, attributes: (inputs[0].shape, attributes)  # noqa: E731
        finding = only(numbered(lambda n: n == 1, key))
        assert finding.words == "the first call of the same shape and attributes is wrong"


class TestSequences:
    """Where several earlier calls are needed, these are found and no others."""

    def test_two_earlier_calls_are_needed(self):
        """Wrong after two others with certain pads, wherever they come."""

        def make():
            seen = set()

            def backend(operator, inputs, attributes):
                pads = tuple(attributes["pads_begin"])
                wrong = pads == (0, 0) and {(0, 1), (1, 1)} <= seen
                seen.add(pads)
                return right(operator, inputs, attributes) + wrong

            return backend

        finding = only(make)
        assert finding.words == "the output depends on 2 earlier calls"
        *earlier, last = (tuple(each.case.attributes["pads_begin"]) for each in finding.sequence)
        assert (sorted(earlier), last) == ([(0, 1), (1, 1)], (0, 0))

    def test_the_calls_of_other_operators_count(self):
        """Wrong after a maximum."""

        def make():
            seen = []

            def backend(operator, inputs, attributes):
                seen.append(operator)
                wrong = operator == "AvgPool-1" and "MaxPool-1" in seen
                return right(operator, inputs, attributes) + wrong

            return backend

        some = [vector(operator="MaxPool-1", id="maximum"), *vectors(6)]
        finding = only(make, some)
        assert [each.case.operator for each in finding.sequence] == ["MaxPool-1", "AvgPool-1"]

    def test_what_fails_only_when_it_is_called_again(self):
        """The run has called it after others, too; the calls after its first one count."""

        def make():
            largest = [0]

            def backend(operator, inputs, attributes):
                largest[0] = max(largest[0], *attributes["kernel"])
                return right(operator, inputs, {**attributes, "kernel": largest})

            return backend

        growing = [
            vector(ramp(1, 1, 8) * (k + 1), pool(kernel=[k + 1]), id=f"{k}") for k in range(4)
        ]
        finding = only(make, growing)
        assert finding.words == (
            "the output depends on an earlier call with other kernel: "
            "it is what is right with the kernel of the call before"
        )


class TestNoState:
    """What has nothing to do with state is left to arithmetic; what varies is said to."""

    @pytest.mark.parametrize(
        "backend",
        [
            lambda *case: right(*case) + 1,
            lambda op, inputs, attributes: (
                right(op, inputs, attributes) + (attributes["pads_begin"][0] == 1)
            ),
            lambda *case: np.float64(1),
        ],
    )
    def test_a_fault_without_state(self, backend):
        """Nothing is found, with few fresh starts."""
        found = told(lambda: backend)
        assert (found.findings, found.note, found.vectors) == ((), "", frozenset())
        assert found.starts <= 5

    @pytest.mark.parametrize("share", [0.3, 0.9])
    def test_answers_vary(self, share):
        """Failures that chance decides are not taken for those of an order of calls."""
        seeds = itertools.count()

        def make():
            chance = random.Random(next(seeds))
            return lambda *case: right(*case) + (chance.random() < share)

        finding = only(make)
        assert finding.words == "answers that vary"
        assert finding.varies

    def test_another_fault_beside_state(self):
        """The failures that arithmetic explains are not among those of state."""

        def make():
            calls = itertools.count(1)

            def backend(operator, inputs, attributes):
                wrong = operator == "MaxPool-1" or next(calls) == 4
                return right(operator, inputs, attributes) + wrong

            return backend

        maxima = [vector(ramp(1, 1, 6) * k, operator="MaxPool-1", id=f"m{k}") for k in range(1, 20)]
        found = told(make, [*maxima, *vectors(6)])
        assert found.vectors == {"003"}

    def test_the_same_failure_twice_is_one_finding(self):
        """Each failure is of one finding, and those of one cause are together."""
        finding = only(pads_kept)
        failed = {r.id for r in check(pads_kept(), vectors()).results if r.verdict != "conforms"}
        assert set(finding.vectors) <= failed
        assert 2 * len(finding.vectors) > len(failed)


class TestLimits:
    """Where it cannot be told, that is said, and no cause is made up."""

    def test_a_backend_that_cannot_be_started_afresh(self):
        """A callable that cannot be sent to another process, for example."""
        lock = time.perf_counter, (each for each in ())  # a generator cannot be pickled

        def backend(*case):
            return right(*case) + len(lock)

        found = told(lambda: backend, start=fresh_starts_of(backend))
        assert found.findings == ()
        assert "no fresh start of the backend" in found.note
        assert "\n" not in found.note

    def test_the_work_is_done(self):
        """What was found by then is said, and that it is not all."""
        found = told(pads_kept, share=Budget().share(2 * START))
        assert found.starts == 2
        assert found.note == "state was told from arithmetic as far as 2 fresh starts tell"


class TestWorkers:
    """With processes: a callable is sent as it is before the run."""

    def test_a_cache_in_a_worker(self):
        """The calls in this process, which came in between, do not count."""
        make = first_kept(["pads_begin"], lambda data, attributes: data.shape)
        backend = make()
        found = told(lambda: backend, start=fresh_starts_of(backend))
        assert "pads_begin" in found.findings[0].words

    @pytest.mark.slow("crashes are failures like others; TestNumbers has all else")
    def test_a_crash_is_state_too(self):
        """A worker that ends with its 5th call is found out."""

        def crashing(*case):
            import os  # noqa: PLC0415 - in a worker

            crashing.calls = getattr(crashing, "calls", 0) + 1
            if crashing.calls == 5:
                os._exit(3)
            return right(*case)

        some = vectors(8)
        start = fresh_starts_of(crashing)
        report = check(crashing, some, isolate=True)
        assert report.counts["crashed"] > 0
        with opened(some) as sources:
            (finding,) = of_state(report, sources, start).findings
        assert "5th call" in finding.words
