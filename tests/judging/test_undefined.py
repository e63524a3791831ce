"""What a backend does where nothing is defined conforms, and is recorded; accuracy is summed up."""

import numpy as np
import pytest
from support.fakes import altered, only, pool, ramp, ran, vector

from conformance.judging.judge import answer_to, judge
from conformance.record.report import Accuracy, UndefinedReport

NAN, INF = np.nan, np.inf
LOWEST = float(np.finfo(np.float32).min)


def padded(**options):
    """Return a vector with three defined and two undefined elements."""
    attributes = pool(options.get("operator", "AvgPool-1"), pads_end=[4])  # two empty windows
    return vector(attributes=attributes, **options)


def filled(*values):
    """Return a backend that puts values into the undefined elements."""

    def change(out):
        out = out.copy()
        out[..., 3:] = values
        return out

    return altered(change)


@pytest.mark.parametrize(
    ("values", "behaviour"),
    [
        ((NAN, -NAN), "nan"),
        ((INF, INF), "inf"),
        ((-INF, -INF), "-inf"),
        ((0, 0), "zero"),
        ((-0.0, -0.0), "-zero"),
        ((LOWEST, LOWEST), "lowest"),
        ((7, 8), "other"),
        ((0, -0.0), "mixed"),
        ((NAN, 7), "mixed"),
    ],
)
@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
def test_any_value_conforms_where_an_element_is_undefined(operator, values, behaviour):
    """Undefined elements are not judged; the report says what was in them."""
    report = ran(filled(*values), padded(operator=operator))
    clause = "all-padding-average" if operator == "AvgPool-1" else "all-padding-maximum"
    assert report.ok
    assert report.undefined == (UndefinedReport(clause, {behaviour: 1}),)


@pytest.mark.parametrize(("name", "behaviour"), [("uint8", "zero"), ("int8", "lowest")])
def test_integers(name, behaviour):
    """The lowest integer, which for an unsigned type is zero."""
    lowest = np.iinfo(name).min
    vectors = padded(data=ramp(1, 1, 6, dtype=name), operator="MaxPool-1")
    assert ran(filled(lowest, lowest), vectors).undefined[0].counts == {behaviour: 1}


def test_the_other_elements_are_judged():
    """A wrong value beside undefined ones is a mismatch, counted among the defined ones."""
    wrong = altered(lambda out: np.where(np.isnan(out), 9, out + 1).astype(np.float32))
    result = only(wrong, padded())
    assert (result.verdict, result.detail) == ("mismatch", "3 of 3 elements differ")
    assert result.worst.index == (0, 0, 0)


def test_an_exception_conforms():
    """Refusing a case with undefined elements is fine, and recorded."""

    def refusing(*case):
        raise ValueError("empty window")

    report = ran(refusing, padded())
    assert (report.ok, report.undefined[0].counts) == (True, {"raised": 1})


class TestWholeCase:
    """A case without any defined element."""

    vector = vector(ramp(1, 1, 2), pool(kernel=[5]))

    @pytest.mark.parametrize(
        ("output", "behaviour"),
        [
            (np.zeros((1, 1, 1), np.float32), "zero"),
            (np.full((3,), NAN), "nan"),
            (np.array([1, NAN]), "mixed"),
            (np.zeros((1, 1, 0), np.float32), "empty"),
            (np.array(["text"]), "other"),
            (np.zeros(1 << 20), "other"),
            (None, "nothing"),
            ([1.0], "nothing"),
        ],
    )
    def test_anything_conforms(self, output, behaviour):
        """Any value of any shape and type conforms, and nothing at all."""
        report = ran(lambda *case: output, self.vector)
        assert (report.results[0].verdict, report.results[0].detail) == ("conforms", "")
        assert report.undefined == (UndefinedReport("kernel-past-padding", {behaviour: 1}),)


def test_behaviours_are_counted_over_vectors():
    """Each vector counts once, the commonest behaviour comes first."""
    turns = iter([filled(0, 0), filled(NAN, NAN), filled(NAN, NAN)])

    def backend(*case):
        return next(turns)(*case)

    report = ran(backend, *(padded(id=str(i)) for i in range(3)))
    assert list(report.undefined[0].counts.items()) == [("nan", 2), ("zero", 1)]


class TestAccuracy:
    """How close the averages of conforming vectors are."""

    def test_one_ulp(self):
        """An average one ulp off is counted in ulps and as a share of its bound."""
        report = ran(altered(lambda out: np.nextafter(out, np.float32(0))))
        (accuracy,) = report.accuracy
        assert report.ok
        assert (accuracy.elements, accuracy.correctly_rounded) == (3, 0.0)
        assert accuracy.worst_ulp == 1.0
        assert 0 < accuracy.worst_of_bound < 1

    def test_where_addends_cancel_ulps_are_those_of_their_magnitudes(self):
        """What is left is near zero: its own ulps would be millions."""
        data = np.array([[[2**20, 2**-10 - 2**20, 3, 5]]], np.float32)
        report = ran(altered(lambda out: np.where(out < 1, out + 2**-10, out)), vector(data))
        assert report.ok
        assert 0 < report.accuracy[0].worst_ulp < 1

    def test_only_what_is_defined_finite_average_and_right_counts(self):
        """Undefined elements, infinities, maxima and mismatches are left out."""
        infinite = np.array([[[INF, 1, 2, 3, NAN, 1]]], np.float32)
        report = ran(
            altered(lambda out: out * 2 if out.shape[-1] == 4 else out),
            padded(id="undefined"),
            vector(infinite, id="infinite"),
            vector(operator="MaxPool-1", id="maximum"),
            vector(ramp(1, 1, 8), id="mismatch"),
        )
        assert report.accuracy == (Accuracy("float32", 3 + 1, 1.0, 0.0, 0.0),)

    def test_the_bound_is_that_of_the_reading(self):
        """What only sums in the element type explain is a share of their bound, at most one."""
        # 1024 + 0.5 + 0.5 + 0.5 is 1024 in float16, one addition at a time.
        data = np.array([[[1024, 0.5, 0.5, 0.5]]], np.float16)
        attributes = pool(kernel=[4], strides=[4])
        wrong = altered(lambda out: np.full_like(out, 256))
        report = ran(wrong, vector(data, attributes))
        assert report.readings[0].followed == "element-type"
        assert 0.1 < report.accuracy[0].worst_of_bound <= 1

    def test_the_bound_is_that_of_the_reading_required(self):
        """Where the element type is required, the share is that of its larger bound."""
        halves = vector(ramp(1, 1, 2, dtype="float16") / 3)
        beside = altered(lambda out: np.nextafter(out, np.float16(0)))
        strict, loose = (
            ran(beside, halves, require={"accumulator": reading}).accuracy[0].worst_of_bound
            for reading in ("wider", "element-type")
        )
        assert 0 < loose < strict <= 1

    def test_an_overflow_that_is_allowed(self):
        """An infinity allowed in place of a number is not correctly rounded."""
        data = np.array([[[60000, 60000, 1, 2]]], np.float16)
        report = ran(altered(lambda out: np.where(out > 9, np.float16(INF), out)), vector(data))
        assert report.accuracy == (Accuracy("float16", 2, 0.5, 0.0, 0.0),)


def test_nothing_is_known_of_what_an_output_holds_that_is_not_expected():
    """A search for causes holds a backend against the outputs that it returned, values alone."""
    attributes = pool("MaxPool-8", pads_end=[4], dilations=[1])
    both = vector(ramp(1, 1, 6), attributes, operator="MaxPool-8")
    first = both.of_first(1)
    answers = [
        answer_to(each, tuple(of.values for of in each.values[0].outputs)) for each in (both, first)
    ]
    told = [judge(*each, {}) for each in zip((both, first), answers, strict=True)]
    assert [each.verdict for each in told] == ["conforms", "conforms"]
    assert ["index-of-nothing" in each.undefined for each in told] == [True, False]
