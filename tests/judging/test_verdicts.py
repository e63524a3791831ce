"""Each wrong answer gets the verdict that names it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.arbitrary_vectors import with_first
from support.fakes import altered, only, pool, ramp, ran, right, vector

from conformance.dtypes import dtype_of
from conformance.errors import Unsupported

NAN, INF = np.nan, np.inf


def put(value, index=-1):
    """Return a change of one element."""

    def change(output):
        output = output.copy()
        output.reshape(-1)[index] = value
        return output

    return altered(change)


def plus(difference, index=-1):
    """Return a change of one element by a difference."""
    return altered(lambda out: out + np.eye(out.size, dtype=out.dtype)[index] * difference)


class Duck:
    """Looks like an array, and is none."""

    shape, dtype, ndim = (1, 1, 3), np.dtype("float32"), 3


class TestMismatch:
    """What a backend returns is not the answer."""

    @pytest.mark.parametrize(
        ("change", "detail"),
        [
            (lambda out: out[..., :-1], "shape (1, 1, 2) instead of (1, 1, 3)"),
            (lambda out: out.reshape(1, 3), "shape (1, 3) instead of (1, 1, 3)"),
            (lambda out: out[..., None], "shape (1, 1, 3, 1) instead of (1, 1, 3)"),
            (lambda out: out[..., :0], "shape (1, 1, 0) instead of (1, 1, 3)"),
            (lambda out: out.sum(), "returned numpy.float32 instead of numpy.ndarray"),
            (lambda out: np.array(out.sum()), "shape () instead of (1, 1, 3)"),
            (
                lambda out: np.broadcast_to(out[..., :1], (1, 1, 1 << 40)),
                "shape (1, 1, 1099511627776) instead of (1, 1, 3)",
            ),
        ],
    )
    def test_another_shape(self, change, detail):
        """An output of another shape is a mismatch that gives both shapes."""
        result = only(altered(change))
        assert (result.verdict, result.detail) == ("mismatch", detail)

    @pytest.mark.parametrize(
        ("dtype", "name"),
        [("float64", "float64"), ("float16", "float16"), ("int32", "int32"), (">f8", "float64"),
         ("complex64", "complex64"), (object, "object"), (dtype_of("bfloat16"), "bfloat16")],
    )  # fmt: skip
    def test_another_element_type(self, dtype, name):
        """An output of another element type is a mismatch, even where every value is right."""
        result = only(altered(lambda out: out.astype(dtype)))
        assert (result.verdict, result.detail) == ("mismatch", f"dtype {name} instead of float32")

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            (lambda out: out.tolist(), "list"),
            (lambda out: (), "an empty tuple"),
            (lambda out: (out, [2]), "a tuple with list at 1"),
            (lambda out: (out,) * 17, "a tuple of 17"),
            (lambda out: [out], "list"),
            (lambda out: None, "NoneType"),
            (lambda out: 1.5, "float"),
            (np.ma.array, "MaskedArray"),
            (lambda out: out.view(np.recarray), "recarray"),
            (lambda out: Duck(), "Duck"),
            (lambda out: right, "function"),
        ],
    )
    def test_no_array(self, change, name):
        """What is not a plain numpy array is a mismatch that names its type."""
        result = only(altered(change))
        assert result.verdict == "mismatch"
        assert re.fullmatch(rf"returned (\w+\.)*{name} instead of numpy.ndarray", result.detail)

    def test_a_value_in_the_last_element(self):
        """One wrong element, the last, is a mismatch with its place, its error and its bound."""
        result = only(plus(0.5))
        worst = result.worst
        assert (result.verdict, result.detail) == ("mismatch", "1 of 3 elements differ")
        assert (worst.index, worst.got, worst.expected) == ((0, 0, 2), 6.0, 5.5)
        assert (worst.error, worst.ulp, worst.wrong, worst.total) == (0.5, 2.0**20, 1, 3)
        assert 0 < worst.bound < 1e-5

    def test_the_worst_element_is_the_furthest_in_ulps(self):
        """Errors are weighed by the spacing of numbers around the expected value."""
        data = np.array([[[1e6, 2e6, 3, 4, 5, 6]]], np.float32)
        beside = altered(lambda out: out + np.array([5, 0.25, 0], np.float32))
        result = only(beside, vector(data))
        assert (result.worst.wrong, result.worst.index) == (2, (0, 0, 1))

    @pytest.mark.parametrize(
        ("operator", "given", "got"),
        [
            *(("AvgPool-1", *kinds) for kinds in [(NAN, INF), (NAN, 0)]),
            *(
                (operator, *kinds)
                for operator in ("AvgPool-1", "MaxPool-1")
                for kinds in [(INF, -INF), (-INF, INF), (INF, NAN), (INF, 3e38), (-INF, -3e38)]
            ),
        ],
    )
    def test_another_kind_of_number(self, operator, given, got):
        """An infinity has a sign, NaN is no infinity, and neither is a number."""
        data = np.array([[[given, given, 1, 2]]], np.float32)
        result = only(put(got, 0), vector(data, operator=operator))
        assert (result.verdict, result.detail) == ("mismatch", "1 of 2 elements differ")

    def test_an_infinite_magnitude_excuses_nothing(self):
        """However large the bound, an infinity does not stand for its opposite or a number."""
        data = np.array([[[INF, 1, 2, 3]]], np.float32)
        made = vector(data)
        wide = [with_first(o, magnitude=np.full(2, INF)) for o in made.outcomes]
        result = only(altered(lambda out: -out), replace(made, outcomes=tuple(wide)))
        assert (result.verdict, result.worst.index) == ("mismatch", (0, 0, 0))

    def test_an_overflow_excuses_no_number(self):
        """Where a sum may overflow an infinity conforms, another number does not."""
        halves = vector(np.full((1, 1, 4), 60000, np.float16))
        assert only(put(INF), halves).verdict == "conforms"
        assert only(put(3), halves).verdict == "mismatch"

    @pytest.mark.parametrize("dtype", ["uint64", "int64", "uint8"])
    def test_a_maximum_of_integers(self, dtype):
        """An integer one off is wrong, however large it is."""
        largest = np.iinfo(dtype).max
        data = np.full((1, 1, 4), largest, dtype)
        worst = only(put(largest - 1), vector(data, operator="MaxPool-1")).worst
        assert (worst.got, worst.expected, worst.wrong) == (largest - 1, largest, 1)

    def test_accepting_invalid_attributes(self):
        """A value where an exception is the right answer has its own verdict, and says why."""
        invalid = vector(attributes=pool(kernel=[0]))
        result = only(lambda *case: ramp(1, 1, 3), invalid)
        assert result.verdict == "accepted-invalid"
        assert result.detail.startswith("accepted an invalid case: ")
        assert "kernel=[0]" in result.detail


class TestError:
    """A backend raises."""

    @pytest.mark.parametrize(
        ("error", "detail"),
        [
            (ValueError("bad\n  kernel"), "ValueError: bad kernel"),
            (KeyError("auto_pad"), "KeyError: 'auto_pad'"),
            (AssertionError(), "AssertionError"),
            (MemoryError(), "MemoryError"),
            (SystemExit(3), "SystemExit: 3"),
            (ValueError("x" * 1000), "ValueError: " + "x" * 297 + "..."),
        ],
    )
    def test_an_exception_where_values_are_expected(self, error, detail):
        """Any exception is an error that keeps its text on one line."""

        def raises(*case):
            raise error

        result = only(raises)
        assert (result.verdict, result.detail) == ("error", detail)

    def test_an_exception_that_cannot_be_printed(self):
        """An exception whose text raises is an error like any other."""

        class Silent(Exception):  # noqa: N818
            def __str__(self):
                raise RuntimeError

        def raises(*case):
            raise Silent

        assert only(raises).detail == "Silent: (its text could not be made)"

    def test_an_exception_is_right_for_invalid_attributes(self):
        """Where attributes are invalid the exception conforms, and its text is kept."""

        def raises(*case):
            raise TypeError("no")

        result = only(raises, vector(attributes=pool(kernel=[0])))
        assert (result.verdict, result.detail) == ("conforms", "TypeError: no")


class TestUnsupported:
    """A backend says that it does not do this."""

    @pytest.mark.parametrize("error", [NotImplementedError, Unsupported])
    @pytest.mark.parametrize("attributes", [pool(), pool(kernel=[0])])
    def test_it_is_neither_right_nor_wrong(self, error, attributes):
        """What a backend does not implement is counted apart, also where it had to refuse."""

        def raises(*case):
            raise error("no such operator")

        result = only(raises, vector(attributes=attributes))
        assert result.verdict == "unsupported"
        assert result.detail == f"{error.__name__}: no such operator"


class TestOk:
    @pytest.mark.parametrize("wrong", [put(0), lambda *case: 1 / 0])
    def test_one_failure_among_many(self, wrong):
        """One mismatch or error makes the run not ok."""
        vectors = [vector(id=str(i)) for i in range(9)]
        turns = iter([right] * 8 + [wrong])

        def backend(*case):
            return next(turns, right)(*case)

        report = ran(backend, *vectors)
        assert (report.ok, report.counts["conforms"]) == (False, 8)
        assert report.results[8].verdict != "conforms"


def test_the_first_wrong_element_is_named_beside_the_worst():
    """A small error comes first and a large one last: both are in the result."""

    def two_errors(output):
        output.flat[1] += 1
        output.flat[-1] += 100
        return output

    worst = ran(altered(two_errors), vector(ramp(1, 1, 8))).results[0].worst
    assert (worst.first_index, worst.index, worst.wrong) == ((0, 0, 1), (0, 0, 3), 2)
    assert worst.first_got == worst.first_expected + 1
