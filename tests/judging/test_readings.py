"""The report says which reading a backend follows, or that it follows none."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from support.fakes import following, only, pool, ramp, ran, right, vector

from conformance.api.merge import merge
from conformance.dtypes import dtype_of
from conformance.operators import CLAUSES

NAN = np.nan
SAME = pool(auto_pad="same_upper")
PAST = pool(strides=[1], pads_end=[3], rounding_type="ceil")
OVERHANG = pool(kernel=[3], pads_begin=[1], rounding_type="ceil", exclude_pad=False)
HALVES = np.full((1, 1, 4), 60000, np.float16)
TINY = np.array([[[1e-45, 0, 3e-39, 2e-39]]], np.float32)

VECTORS = {
    "same-output-size": vector(ramp(1, 1, 5), SAME),
    "same-with-ceil": vector(
        ramp(1, 1, 6), SAME | {"kernel": [1], "strides": [3], "rounding_type": "ceil"}
    ),
    "same-never-crops": vector(ramp(1, 1, 8), SAME | {"kernel": [1], "strides": [4]}),
    "ceil-window-past-input": vector(ramp(1, 1, 4), PAST),
    "valid-rounds": vector(ramp(1, 1, 5), pool(auto_pad="valid", rounding_type="ceil")),
    "overhang-divisor": vector(ramp(1, 1, 5), OVERHANG),
    "nan-in-maximum": vector(np.array([[[NAN, 1, 2, 3]]]), operator="MaxPool-1"),
    "pads-not-below-kernel": vector(attributes=pool(pads_end=[2], exclude_pad=False)),
}
"""A vector for each clause that replaces a step or refuses, touched by that clause."""


READINGS = [(name, each.name) for name in VECTORS for each in CLAUSES[name].readings]


def clause(report, name):
    (found,) = [each for each in report.readings if each.clause == name]
    return found


@pytest.mark.parametrize(("name", "reading"), READINGS)
def test_each_reading_is_recognised(name, reading):
    """A backend that follows a reading conforms, and the report names the reading."""
    report = ran(following(**{name: reading}), VECTORS[name])
    found = clause(report, name)
    assert report.ok
    assert (found.status, found.followed, found.touched) == ("followed", reading, 1)
    assert found.counts == {r: int(r == reading) for r in found.counts}
    assert {each[name] for each in report.results[0].readings} == {reading}


def test_readings_that_nothing_separates_though_others_are_ruled_out():
    """The first that is left is followed, and the report names all of them."""
    past = vector(ramp(1, 1, 4), pool(strides=[3], pads_end=[2], rounding_type="ceil"))
    found = clause(ran(following(ceil_window_past_input="dropped"), past), "ceil-window-past-input")
    assert (found.status, found.followed) == ("followed", "dropped")
    assert found.possible == ("dropped", "all-dropped")
    assert found.counts == {"kept": 0, "dropped": 0, "all-dropped": 0}
    kept = clause(ran(right, past), "ceil-window-past-input")
    assert (kept.followed, kept.possible) == ("kept", ("kept",))


def test_nothing_separates():
    """NaN in a window of NaN alone is right under both readings of nan-in-maximum."""
    data = np.array([[[NAN, NAN, 2, 3]]])
    found = clause(ran(right, vector(data, operator="MaxPool-1")), "nan-in-maximum")
    assert (found.status, found.followed, found.touched) == ("either", None, 1)
    assert found.counts == {"propagates": 0, "ignored": 0}


def distinct(vectors):
    """Return vectors with different ids; the fake ones are all called alike."""
    return [replace(v, case=replace(v.case, id=f"{i}")) for i, v in enumerate(vectors)]


class TestPadsBesideAutoPad:
    """Pads that are given beside an auto_pad may be ignored, refused, or used in its place."""

    GIVEN = tuple(
        {"kernel_shape": [2], "auto_pad": word, "pads": pads}
        for word, pads in (("VALID", [1, 1]), ("VALID", [0, 1]), ("SAME_UPPER", [1, 0]))
    )
    TOO_SHORT: ClassVar = {"kernel_shape": [4], "auto_pad": "SAME_UPPER", "pads": [0, 0]}

    def vectors(self, *others):
        """Return a vector of 1 2 3 for each node."""
        nodes = (*self.GIVEN, *others)
        every = [vector(ramp(1, 1, 3), each, operator="ONNX-AveragePool-22") for each in nodes]
        return distinct(every)

    @pytest.mark.parametrize("reading", ["ignored", "used", "used-or-refused"])
    def test_either_is_recognised(self, reading):
        report = ran(following(pads_with_auto_pad=reading), *self.vectors(self.TOO_SHORT))
        found = clause(report, "pads-with-auto-pad")
        assert (report.ok, found.status, found.followed) == (True, "followed", reading)

    def test_both_in_turn_are_inconsistent(self):
        """No attribute tells where: beside VALID, pads of one end are used, of both ends not."""
        ignores, uses = following(), following(pads_with_auto_pad="used")

        def turns(operator, inputs, attributes):
            backend = uses if attributes["pads"] == [0, 1] else ignores
            return backend(operator, inputs, attributes)

        report = ran(turns, *self.vectors())
        assert clause(report, "pads-with-auto-pad").status == "inconsistent"
        assert report.problems == ("inconsistent readings of pads-with-auto-pad",)

    def test_where_they_leave_no_window_values_are_judged_too(self):
        """Zeros leave none of four in 1 2 3: what is there is 2, or an exception is right."""
        right_elsewhere = following()

        def wrong(operator, inputs, attributes):
            result = right_elsewhere(operator, inputs, attributes)
            return result + 9 if attributes == self.TOO_SHORT else result

        assert ran(wrong, *self.vectors()).ok
        assert ran(wrong, *self.vectors(self.TOO_SHORT)).problems == ("1 mismatch",)


class TestArithmetic:
    """The second reading of a clause of arithmetic accepts all that the first does."""

    def test_the_strict_reading_is_followed_where_it_explains_everything(self):
        """A sum in a wider type is not said to be either."""
        found = clause(ran(right, vector(HALVES)), "accumulator")
        assert (found.status, found.followed) == ("followed", "wider")
        assert found.counts == {"wider": 1, "element-type": 0}

    def test_the_loose_reading_is_followed_where_a_vector_needs_it(self):
        """Sums that overflow are counted, those that do not are no contradiction."""
        vectors = [vector(HALVES, id="large"), vector(ramp(1, 1, 6, dtype="float16"), id="small")]

        def backend(operator, inputs, attributes):
            data = inputs[0]
            with np.errstate(over="ignore"):
                return (data[..., ::2] + data[..., 1::2]) / np.float16(2)

        report = ran(backend, *vectors)
        found = clause(report, "accumulator")
        assert report.ok
        assert (found.status, found.followed) == ("followed", "element-type")
        assert found.counts == {"wider": 1, "element-type": 1}

    def test_element_types_may_differ(self):
        """Where one half type is summed in a wider type and the other in itself, each is named."""
        eight = pool(kernel=[8], strides=[8])
        made = [
            vector(np.array([[[256, *[1] * 7]]], dtype_of(dtype)), eight)
            for dtype in ("float16", "bfloat16")
        ]

        def backend(operator, inputs, attributes):
            (data,) = inputs
            wide = np.float32 if data.dtype == np.float16 else data.dtype
            total = np.add.accumulate(data.astype(wide), axis=-1)[..., -1:]
            return (total / 8).astype(data.dtype)

        found = clause(ran(backend, *distinct(made)), "accumulator")
        assert (found.status, found.by) == ("split", "dtype")
        assert found.values == {"float16": "wider", "bfloat16": "element-type"}

    def test_sums_that_overflow_where_no_type_is_wider_are_no_split(self):
        """A backend that sums everything in float64 is right, and one thing."""

        def backend(operator, inputs, attributes):
            data = inputs[0].astype(np.float64)
            with np.errstate(over="ignore"):
                return ((data[..., ::2] + data[..., 1::2]) / 2).astype(inputs[0].dtype)

        made = [
            vector(np.full((1, 1, 4), large, dtype_of(dtype)))
            for dtype, large in (("float16", 6e4), ("float32", 3e38), ("float64", 1.7e308))
        ]
        report = ran(backend, *distinct(made), require={"accumulator": "wider"})
        assert report.ok
        assert clause(report, "accumulator").followed == "wider"
        found = clause(report, "sum-overflow")
        assert (found.status, found.followed) == ("followed", "overflows")
        assert found.counts == {"finite": 2, "overflows": 1}

    @pytest.mark.parametrize(
        ("backend", "followed"),
        [(right, "kept"), (lambda *case: np.zeros_like(right(*case)), "flushed")],
    )
    def test_subnormals(self, backend, followed):
        """Zeros for subnormal averages are the reading flushed."""
        assert clause(ran(backend, vector(TINY)), "subnormals").followed == followed

    @pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1"])
    @pytest.mark.parametrize(
        ("change", "verdict"),
        [
            (np.zeros_like, "conforms"),
            (lambda out: np.where(np.arange(out.size) % 2, out, 0).astype(out.dtype), "conforms"),
            (np.negative, "mismatch"),
            (lambda out: out + np.float32(2.0**-125), "mismatch"),
            (lambda out: out - np.float32(2.0**-125), "mismatch"),
            (lambda out: out * np.float32(2), "mismatch"),
        ],
    )
    def test_a_flushed_value_is_zero_or_itself(self, operator, change, verdict):
        """No result changes its sign, and nothing is added."""
        tiny = np.array([[[5e-39, 3e-39, 9e-39, 0]]], np.float32)
        case = vector(tiny, pool(operator), operator=operator)
        assert only(lambda *of: change(right(*of)), case).verdict == verdict


class TestDifferentReadings:
    """Vectors of one clause follow different readings."""

    def by(self, key, second):
        """Return a backend that follows a second reading where `key(case)` says so."""
        other = following(**second)
        return lambda *case: (other if key(*case) else right)(*case)

    @pytest.mark.parametrize(
        ("by", "vectors", "key"),
        [
            (
                "operator",
                [("AvgPool-1", 5, "float32", {}), ("MaxPool-1", 5, "float32", {})],
                lambda operator, inputs, attributes: operator == "MaxPool-1",
            ),
            (
                "dtype",
                [("AvgPool-1", 5, "float32", {}), ("AvgPool-1", 5, "float64", {})],
                lambda operator, inputs, attributes: inputs[0].dtype == np.float64,
            ),
            (
                "auto_pad",
                [
                    ("AvgPool-1", 5, "float32", {}),
                    ("AvgPool-1", 5, "float32", {"auto_pad": "same_lower"}),
                ],
                lambda operator, inputs, attributes: attributes["auto_pad"] == "same_lower",
            ),
            (
                "exclude_pad",
                [
                    ("AvgPool-1", 5, "float32", {}),
                    ("AvgPool-1", 5, "float32", {"exclude_pad": False}),
                ],
                lambda operator, inputs, attributes: not attributes["exclude_pad"],
            ),
        ],
    )
    def test_one_attribute_separates_them(self, by, vectors, key):
        """Readings that one attribute separates are a split, which is ok."""
        made = []
        for operator, size, dtype, changes in vectors:
            attributes = pool(operator, auto_pad="same_upper") | changes
            made.append(vector(ramp(1, 1, size, dtype=dtype), attributes, operator=operator))
        report = ran(self.by(key, {"same-output-size": "same-as-input"}), *distinct(made))
        found = clause(report, "same-output-size")
        assert report.ok
        assert (found.status, found.by, found.followed) == ("split", by, None)
        assert sorted(found.values.values()) == ["divided", "same-as-input"]
        assert found.counts == {"divided": 1, "same-as-input": 1}

    def test_no_attribute_separates_them(self):
        """Readings that differ with the size of the data are inconsistent, and not ok."""
        made = distinct([vector(ramp(1, 1, size), SAME) for size in (5, 7, 9)])
        backend = self.by(
            lambda operator, inputs, attributes: inputs[0].size == 7,
            {"same-output-size": "same-as-input"},
        )
        report = ran(backend, *made)
        found = clause(report, "same-output-size")
        assert report.counts == {"conforms": 3}
        assert (report.ok, report.problems) == (
            False,
            ("inconsistent readings of same-output-size",),
        )
        assert (found.status, found.counts) == (
            "inconsistent",
            {"divided": 2, "same-as-input": 1},
        )


class TestExcuses:
    """An exception conforms where an element is undefined, unless only another reading says so."""

    data = ramp(1, 1, 8)
    attributes = pool(auto_pad="same_upper", kernel=[1], strides=[2])

    def refusing(self, operator, inputs, attributes):
        """Follow the default readings, but refuse a kernel below the stride."""
        if attributes["kernel"] < attributes["strides"]:
            raise ValueError("kernel below stride")
        return right(operator, inputs, attributes)

    def test_alone_it_conforms(self):
        """Under same-as-input some windows are padding alone, so that refusing is right."""
        result = only(self.refusing, vector(self.data, self.attributes))
        assert (result.verdict, result.detail) == ("conforms", "ValueError: kernel below stride")
        assert {each["same-output-size"] for each in result.readings} == {"same-as-input"}

    def test_against_other_vectors_it_is_an_error(self):
        """Where other vectors show that the backend follows divided, there is no excuse."""
        vectors = distinct([vector(self.data, self.attributes), VECTORS["same-output-size"]])
        report = ran(self.refusing, *vectors)
        assert report.counts == {"conforms": 1, "error": 1}
        assert report.results[0].readings == ()
        assert report.results[0].detail == (
            "ValueError: kernel below stride "
            "(an exception is right only under same-output-size=same-as-input)"
        )
        assert clause(report, "same-output-size").followed == "divided"

    def test_against_a_required_reading_it_is_an_error(self):
        """A pin takes the excuse away too."""
        result = only(
            self.refusing,
            vector(self.data, self.attributes),
            require={"same-output-size": "divided"},
        )
        assert result.verdict == "error"
        assert result.detail.endswith("only under same-output-size=same-as-input)")


class TestOtherReasons:
    """An exception says nothing of a reading where like cases raise, too, without its feature."""

    plain = pool(exclude_pad=False)
    wide = plain | {"pads_end": [2]}
    clause = "pads-not-below-kernel"

    def vectors(self, *attributes, dtype="float32"):
        """Return vectors with different ids."""
        return [
            vector(ramp(1, 1, n, dtype=dtype), each, id=f"AvgPool-1/{dtype}-{i}-{n}")
            for i, each in enumerate(attributes)
            for n in (6, 9)
        ]

    @staticmethod
    def refusing_large(operator, inputs, attributes):
        """Refuse more than eight cells, whatever the pads."""
        if inputs[0].size > 8:
            raise ValueError("too many cells")
        return right(operator, inputs, attributes)

    def test_they_do_not_make_a_backend_inconsistent(self):
        """It accepts such pads, and what it refuses for another reason is an error."""
        report = ran(self.refusing_large, *self.vectors(self.plain, self.wide))
        found = clause(report, self.clause)
        assert (found.status, found.followed) == ("followed", "accepted")
        assert report.counts == {"conforms": 2, "error": 2}
        refused = report.results[3]
        assert refused.excused == ({self.clause: "rejected"},)
        assert refused.detail == (
            "ValueError: too many cells "
            "(an exception is right only under pads-not-below-kernel=rejected)"
        )

    def test_alone_they_conform(self):
        """Where nothing shows that such pads are accepted, an exception is fine, and no vote."""
        large = [each for each in self.vectors(self.plain, self.wide) if "-9" in each.case.id]
        report = ran(self.refusing_large, *large)
        assert report.counts == {"conforms": 1, "error": 1}
        assert report.readings == ()

    def test_what_answers_contradict_is_an_error(self):
        """Where nothing separates such pads that are refused from others that are accepted."""
        report = ran(self.refusing_large, *self.vectors(self.wide))
        found = clause(report, self.clause)
        assert (found.status, found.followed) == ("followed", "accepted")
        assert report.counts == {"conforms": 1, "error": 1}

    def test_a_refusal_that_an_attribute_separates_still_counts(self):
        """What another element type accepts does not contradict it."""

        def backend(operator, inputs, attributes):
            if inputs[0].dtype == np.float64:
                raise ValueError("too many pads")
            return right(operator, inputs, attributes)

        vectors = [*self.vectors(self.wide), *self.vectors(self.wide, dtype="float64")]
        report = ran(backend, *vectors)
        assert clause(report, self.clause).values == {"float32": "accepted", "float64": "rejected"}
        assert report.counts == {"conforms": 4}

    def test_a_refusal_of_such_pads_alone_still_counts(self):
        """Errors of another kind of case say nothing of it."""
        rejecting = following(**{self.clause: "rejected"})

        def backend(operator, inputs, attributes):
            if inputs[0].dtype == np.float64:
                raise TypeError("no float64")
            return rejecting(operator, inputs, attributes)

        vectors = [
            *self.vectors(self.plain, self.wide),
            *self.vectors(self.plain, self.wide, dtype="float64"),
        ]
        found = clause(ran(backend, *vectors), self.clause)
        assert (found.status, found.followed, found.counts["rejected"]) == (
            "followed",
            "rejected",
            2,
        )

    def test_shards_say_the_same_together(self):
        """An exception that conforms in its shard is an error where another shard tells why."""
        vectors = self.vectors(self.plain, self.wide)
        whole = ran(self.refusing_large, *vectors)
        shards = {f"{n}": ran(self.refusing_large, *vectors, shard=f"{n}/2") for n in (1, 2)}
        merged = merge(shards)
        assert merged.readings == whole.readings
        assert [(r.id, r.verdict, r.detail, r.excused) for r in merged.results] == [
            (r.id, r.verdict, r.detail, r.excused) for r in whole.results
        ]
