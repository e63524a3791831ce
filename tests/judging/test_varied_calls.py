"""Variations of a call: what is right in a plain call and wrong in another one is found."""

import itertools

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import check_varied as check
from support.fakes import pool, ramp, right, vector
from support.memory_faults import SOUND, WRONG

from conformance.backends.variations import VARIATIONS
from conformance.diagnosis.varied import _causes, findings_of
from conformance.errors import UsageError

PLANES = pool("AvgPool-1", kernel=[2, 2], strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0])
OPERATORS = ["AdaptiveAvgPool-8"]


def tensors(count=40):
    """Return vectors of several axes, each with its own data."""
    return [vector(ramp(2, 3, 3, 4) + i, PLANES, id=str(i)) for i in range(count)]


def varied(report):
    """Return what a report says of each variation, by its name."""
    return {each.variation: each for each in report.variations}


class TestSample:
    """What is called by default."""

    def test_each_variation_that_changes_anything_is_in_it(self):
        """No input here is broadcast along an axis, nor has one channel."""
        report = check(right, tensors())
        assert report.ok
        unlike = {"again", "broadcast", "one-channel-last", "unbatched"}
        assert varied(report).keys() == VARIATIONS.keys() - unlike

    def test_it_stays_small_however_many_vectors_there_are(self):
        """Three vectors of a file in each variation, fewer from many threads."""
        report = check(right, tensors(300))
        assert {each.called for each in report.variations} == {3, 2, 1}

    def test_different_vectors_are_called_in_each_variation(self):
        """So that all of them together are many."""
        seen = set()

        def backend(operator, inputs, attributes):
            if not inputs[0].flags.c_contiguous:
                seen.add(float(inputs[0].max()))
            return right(operator, inputs, attributes)

        check(backend, tensors())
        assert len(seen) == 4 * 3

    @pytest.mark.parametrize("name", one_in(2, WRONG))
    def test_each_fault_is_found_in_it_and_named(self, name):
        """Strides, offsets, addresses, shapes, repetition, threads."""
        made, words = WRONG[name]
        report = check(made(), operators=OPERATORS, tier="smoke")
        assert not report.ok
        assert [each.behaviour for each in findings_of(report)] == [words]
        if name != "left by other shapes":  # which plain calls of other shapes show, too
            assert {r.verdict for r in report.results if not r.variations} == {"conforms"}

    @pytest.mark.parametrize("failing", [{"threads-2"}, {"threads-8"}, {"threads-2", "threads-8"}])
    def test_a_race_need_not_show_with_every_number_of_threads(self, failing):
        """It is a matter of chance in which of them."""
        called = dict.fromkeys(VARIATIONS)
        words = "calls from several threads disturb each other"
        assert [*_causes(failing, called)] == [(words, failing)]

    @pytest.mark.parametrize("name", one_in(2, SOUND))
    def test_what_is_odd_and_sound_conforms(self, name):
        """Whatever it does with memory, as long as it is right."""
        report = check(SOUND[name](), operators=OPERATORS, tier="smoke")
        assert report.ok, report.problems


class TestVerdict:
    """What fails in a variation alone has the verdict of that call."""

    def ignoring(self, operator, inputs, attributes):
        """Read the cells of an array in the order in which they lie in memory."""
        own = [np.ravel(a, "K").reshape(a.shape) if a.ndim > 1 else a for a in inputs]
        return right(operator, own, attributes)

    def test_it_says_in_which_variation_and_that_a_plain_call_was_right(self):
        """In its detail and by name."""
        report = check(self.ignoring, tensors(1), variations="channels-last")
        (result,) = report.results
        assert (result.verdict, result.variations) == ("mismatch", ("channels-last",))
        assert result.detail.startswith(
            "conforms at first, but not when called with inputs whose channels lie last: "
        )
        assert varied(report)["channels-last"].failing == ("0",)

    def test_one_channel_has_the_strides_of_channels_last(self):
        """Numpy calls the array contiguous; a backend may take its layout from the strides."""
        data = ramp(2, 1, 2, 2) - 1
        report = check(_batches_by_channels, [vector(data, PLANES)], variations="one-channel-last")
        assert report.counts["conforms"] == 0
        assert varied(report)["one-channel-last"].failing == ("case",)

    def test_what_then_also_fails_in_a_plain_call_is_state(self):
        """And is reported as what fails when it is called again."""
        broken = []

        def backend(operator, inputs, attributes):
            if not inputs[0].flags.c_contiguous:
                broken.append(True)
            return right(operator, inputs, attributes) + bool(broken)

        report = check(backend, tensors(1), variations="fortran")
        assert report.repeated.failing == ("0",)
        assert varied(report)["fortran"].failing == ()
        assert report.results[0].variations == ("again",)

    def test_a_layout_may_be_refused_by_an_exception(self):
        """The report counts that and says why; nothing fails."""

        def backend(operator, inputs, attributes):
            if not inputs[0].flags.c_contiguous:
                raise ValueError("C order alone")
            return right(operator, inputs, attributes)

        report = check(backend, tensors(2), variations="fortran,offset")
        fortran = varied(report)["fortran"]
        assert (report.ok, fortran.called, fortran.refused) == (True, 2, 2)
        assert fortran.refusal == "ValueError: C order alone"
        assert varied(report)["offset"].refused == 0

    def test_a_second_call_may_not_be_refused_by_an_exception(self):
        """It is no layout."""
        calls = itertools.count()

        def backend(*case):
            if next(calls) % 3 == 2:
                raise ValueError("no more")
            return right(*case)

        report = check(backend, tensors(1), variations="twice")
        assert report.counts["error"] == 1

    def test_other_bits_that_conform_are_counted(self):
        """Another order of summation is allowed in another layout."""
        data = ramp(1, 3, 4, 4) / 3

        def backend(operator, inputs, attributes):
            result = right(operator, inputs, attributes)
            return result if inputs[0].flags.c_contiguous else np.nextafter(result, np.inf)

        report = check(backend, [vector(data, PLANES)], variations="fortran")
        assert (report.ok, varied(report)["fortran"].differing) == (True, 1)


class TestChoice:
    """Which variations are asked for."""

    def test_all_calls_every_vector_in_every_variation(self):
        """That changes anything for it."""
        report = check(right, tensors(5), variations="all")
        assert {each.called for each in report.variations} == {5}
        assert report.repeated.sampled == 5

    def test_an_unknown_one_is_wrong_usage(self):
        """With those that there are."""
        with pytest.raises(UsageError, match=r"no variation 'upside-down'.*; there are again, "):
            check(right, tensors(1), variations="upside-down")

    def test_in_a_worker_the_layout_is_what_it_is_here(self):
        """Its name travels, and the arrays are laid out there."""
        report = check(_contiguous_alone, tensors(2), variations="fortran,offset", isolate=True)
        assert {name: each.refused for name, each in varied(report).items()} == {
            "fortran": 2,
            "offset": 0,
        }


def _contiguous_alone(operator, inputs, attributes):
    if not inputs[0].flags.c_contiguous:
        raise ValueError("C order alone")
    return right(operator, inputs, attributes)


def _batches_by_channels(operator, inputs, attributes):
    """Return what is right, but for channels last, where batches are one cell of each apart."""
    (data,) = inputs
    if data.strides[1] == data.itemsize:
        strides = (data.strides[1], *data.strides[1:])
        data = np.lib.stride_tricks.as_strided(data, data.shape, strides)
    return right(operator, [data], attributes)


class TestUnbatched:
    """Data without a batch, where documents allow them: only where it is asked for."""

    vectors = tuple(
        vector(
            ramp(batch, 2, 4),
            {"kernel_size": [2], "stride": [1], "padding": [0]},
            operator="PyTorch-avg_pool1d",
            id=f"batch of {batch}",
        )
        for batch in (1, 2)
    )

    @staticmethod
    def backend(operator, inputs, attributes):
        """Take data with a batch, and without."""
        data, *others = inputs
        if data.ndim == 3:
            return right(operator, inputs, attributes)
        return right(operator, [data[np.newaxis], *others], attributes)[0]

    def test_an_output_without_a_batch_conforms(self):
        """Of batches of one: others are not called so."""
        report = check(self.backend, self.vectors, variations="unbatched")
        assert report.ok
        assert varied(report)["unbatched"].called == 1

    def test_a_wrong_one_fails(self):
        """Here an output that has a batch though the data have none."""

        def keeping(operator, inputs, attributes):
            output = self.backend(operator, inputs, attributes)
            return output if output.ndim == 3 else output[np.newaxis]

        report = check(keeping, self.vectors, variations="unbatched")
        assert [result.variations for result in report.results] == [("unbatched",), ()]
        assert [each.behaviour for each in findings_of(report)] == ["data without a batch"]
        assert "when called without a batch" in report.results[0].detail
