"""The report says which reading a backend follows, or that it follows none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from fakes import following, only, pool, ramp, ran, right, vector
from hypothesis import given
from hypothesis import strategies as st

from conformance.check.reading_sets import ReadingSpace
from conformance.check.readings import settled
from conformance.check.votes import ATTRIBUTES, Separators, Vote
from conformance.operators import CLAUSES

NAN = np.nan
SAME = pool(auto_pad="same_upper")
PAST = pool(strides=[3], pads_end=[2], rounding_type="ceil")
OVERHANG = pool(kernel=[3], pads_begin=[1], rounding_type="ceil", exclude_pad=False)
HALVES = np.full((1, 1, 4), 60000, np.float16)
TINY = np.array([[[1e-45, 0, 3e-39, 2e-39]]], np.float32)

SPACE = ReadingSpace(tuple(clause for clause in CLAUSES.values() if clause.kind == "disputed"))
"""The clauses of all operators, as if they were those of one."""
READINGS = SPACE.readings

VECTORS = {
    "same-output-size": vector(ramp(1, 1, 5), SAME),
    "same-with-ceil": vector(
        ramp(1, 1, 5), SAME | {"kernel": [1], "strides": [3], "rounding_type": "ceil"}
    ),
    "ceil-window-past-input": vector(ramp(1, 1, 4), PAST),
    "overhang-divisor": vector(ramp(1, 1, 5), OVERHANG),
    "nan-in-maximum": vector(np.array([[[NAN, 1, 2, 3]]]), operator="MaxPool-1"),
    "pads-not-below-kernel": vector(attributes=pool(pads_end=[2], exclude_pad=False)),
}
"""A vector for each clause that replaces a step or refuses, touched by that clause."""


def clause(report, name):
    (found,) = [each for each in report.readings if each.clause == name]
    return found


@pytest.mark.parametrize(("name", "reading"), [(n, r) for n in VECTORS for r in READINGS[n]])
def test_each_reading_is_recognised(name, reading):
    """A backend that follows a reading conforms, and the report names the reading."""
    report = ran(following(**{name: reading}), VECTORS[name])
    found = clause(report, name)
    assert report.ok
    assert (found.status, found.followed, found.touched) == ("followed", reading, 1)
    assert found.counts == {r: int(r == reading) for r in found.counts}
    assert {each[name] for each in report.results[0].readings} == {reading}


def test_a_clause_that_touches_nothing_is_left_out():
    """The report has the clauses that touch a conforming vector, in their order."""
    assert ran(right).readings == ()
    names = [each.clause for each in ran(right, *distinct(VECTORS.values())).readings]
    assert names == [name for name in READINGS if name in {*VECTORS, *names}]


def test_a_mismatch_has_no_say():
    """A vector that does not conform says nothing of readings."""
    result = ran(lambda *case: right(*case) + 9, VECTORS["same-output-size"])
    assert (result.readings, result.results[0].readings) == ((), ())


def test_nothing_separates():
    """NaN in a window of NaN alone is right under both readings of nan-in-maximum."""
    data = np.array([[[NAN, NAN, 2, 3]]])
    found = clause(ran(right, vector(data, operator="MaxPool-1")), "nan-in-maximum")
    assert (found.status, found.followed, found.touched) == ("either", None, 1)
    assert found.counts == {"propagates": 0, "ignored": 0}


def distinct(vectors):
    """Return vectors with different ids; the fake ones are all called alike."""
    return [replace(v, case=replace(v.case, id=f"{i}")) for i, v in enumerate(vectors)]


class TestArithmetic:
    """The second reading of accumulator and subnormals accepts all that the first does."""

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
        """Where halves are summed in a wider type and others overflow, each type is named."""
        large = np.full((1, 1, 4), 3e38, np.float32)

        def backend(operator, inputs, attributes):
            data = inputs[0].astype(np.float32)
            with np.errstate(over="ignore"):
                return ((data[..., ::2] + data[..., 1::2]) / 2).astype(inputs[0].dtype)

        found = clause(ran(backend, *distinct([vector(HALVES), vector(large)])), "accumulator")
        assert (found.status, found.by) == ("split", "dtype")
        assert found.values == {"float16": "wider", "float32": "element-type"}

    @pytest.mark.parametrize(
        ("backend", "followed"),
        [(right, "kept"), (lambda *case: np.zeros_like(right(*case)), "flushed")],
    )
    def test_subnormals(self, backend, followed):
        """Zeros for subnormal averages are the reading flushed."""
        assert clause(ran(backend, vector(TINY)), "subnormals").followed == followed


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


def separated(**attributes):
    """Return what separates the readings of a vector: "" but for some attributes."""
    return Separators(*(attributes.get(name, "") for name in ATTRIBUTES))


def vote(accepted, *, excused=False, space=SPACE, **attributes):
    """Return the vote of a vector that a list of combinations explains."""
    touched = space.touched({name: () for one in accepted for name in one})
    packed = space.pack(space.set_of(accepted)).tobytes()
    return Vote(packed, touched, excused, separated(**attributes))


class TestVotes:
    """How the readings of several clauses are found together."""

    a, b = "same-output-size", "overhang-divisor"
    (a1, a2), (b1, b2) = map(READINGS.get, (a, b))

    def found(self, *vectors, dtype=None):
        """Return the report of each clause by name; `dtype` has a letter for each vector."""
        votes = Counter(
            vote(each, dtype=letter)
            for each, letter in zip(vectors, dtype or "-" * len(vectors), strict=True)
        )
        return {each.clause: each for each in settled(votes, lambda _operator: SPACE)[1]}

    def test_one_clause_settles_another(self):
        """What two clauses explain together is settled by a vector of one of them."""
        found = self.found(
            [{self.a: self.a1, self.b: self.b2}, {self.a: self.a2, self.b: self.b1}],
            [{self.a: self.a2}],
        )
        assert {n: c.followed for n, c in found.items()} == {self.a: self.a2, self.b: self.b1}

    def test_the_fewest_clauses_are_inconsistent(self):
        """Of two clauses only the one that has to vary is inconsistent."""
        found = self.found(
            [{self.a: self.a1, self.b: self.b1}],
            [{self.a: self.a2, self.b: self.b1}],
            [{self.b: self.b1}],
        )
        assert (found[self.a].status, found[self.b].status) == ("inconsistent", "followed")

    def test_both_may_be_inconsistent(self):
        """Two clauses that each vary are both inconsistent."""
        found = self.found(
            [{self.a: self.a1}], [{self.a: self.a2}], [{self.b: self.b1}], [{self.b: self.b2}]
        )
        assert {each.status for each in found.values()} == {"inconsistent"}

    def test_a_clause_that_an_attribute_splits_explains_it_better(self):
        """Where either of two clauses may vary, the one that can be split does."""
        found = self.found(
            [{self.a: self.a1, self.b: self.b1}, {self.a: self.a2, self.b: self.b2}],
            [{self.a: self.a1}],
            [{self.b: self.b2}],
            dtype="xyx",
        )
        assert found[self.a].status == "split"
        assert found[self.a].values == {"x": self.a2, "y": self.a1}
        assert (found[self.b].status, found[self.b].followed) == ("followed", self.b2)

    def test_a_split_settles_another_clause(self):
        """What a split says of a vector holds when the next clause is looked at."""
        found = self.found(
            [{self.a: self.a1}],
            [{self.a: self.a2}],
            [{self.b: self.b2}],
            [{self.b: self.b1}],
            [{self.a: self.a1, self.b: self.b1}, {self.a: self.a2, self.b: self.b2}],
            dtype="xyxyx",
        )
        assert (found[self.a].status, found[self.b].status) == ("split", "inconsistent")

    def test_a_strict_arithmetic_settles_a_clause(self):
        """The combination with the strictest arithmetic is the better explanation."""
        found = self.found(
            [
                {self.a: self.a1, "accumulator": "element-type"},
                {self.a: self.a2, "accumulator": "wider"},
                {self.a: self.a2, "accumulator": "element-type"},
            ]
        )
        assert found[self.a].followed == self.a2
        assert found["accumulator"].followed == "wider"

    @given(
        st.lists(st.tuples(*(st.integers(0, n - 1) for n in SPACE.shape)), min_size=1, max_size=4),
        st.tuples(*(st.integers(0, n - 1) for n in SPACE.shape)),
    )
    def test_what_every_vector_allows_is_consistent(self, others, truth):
        """If one combination explains every vector, no clause is inconsistent or split."""

        def named(index):
            return {
                clause: readings[number]
                for clause, readings, number in zip(READINGS, READINGS.values(), index, strict=True)
            }

        found = self.found(*([named(truth), named(other)] for other in others))
        assert {each.status for each in found.values()} <= {"followed", "either"}
        for name, each in found.items():
            if not CLAUSES[name].nested and each.status == "followed":
                assert each.followed in {named(truth)[name], *(named(o)[name] for o in others)}


class TestExceptions:
    """Exceptions that only an undefined element excuses: they have no say, and may be refuted."""

    a, b = TestVotes.a, TestVotes.b
    (a1, a2), (b1, b2) = map(READINGS.get, (a, b))

    def settled(self, *vectors, excused, **attributes):
        """Return which vectors are refuted, and the report of each clause by name.

        `excused` and the attributes have a letter for each vector, x for excused ones.
        """
        votes = [
            vote(
                each,
                excused=excused[i] == "x",
                **{name: letters[i] for name, letters in attributes.items()},
            )
            for i, each in enumerate(vectors)
        ]
        wrong, reports = settled(Counter(votes), lambda _operator: SPACE)
        return [each in wrong for each in votes], {each.clause: each for each in reports}

    def test_alone_they_are_not_refuted_and_show_nothing(self):
        """Exceptions rule nothing out."""
        found = self.settled([{self.a: self.a1}], [{self.a: self.a2}], excused="xx")
        assert found == ([False, False], {})

    def test_what_others_rule_out_refutes_them(self):
        """An exception that is right only under a reading not followed has no excuse."""
        wrong, _ = self.settled([{self.a: self.a1}], [{self.a: self.a2}], excused=".x")
        assert wrong == [False, True]

    def test_they_do_not_settle_a_clause(self):
        """A split is seen although an exception, under the default of another clause, denies it."""
        wrong, found = self.settled(
            [{self.a: self.a1}],
            [{self.a: self.a2}],
            [{self.a: self.a1, self.b: self.b1}, {self.a: self.a2, self.b: self.b2}],
            excused="..x",
            dtype="pqq",
        )
        assert not any(wrong)
        assert found[self.a].values == {"p": self.a1, "q": self.a2}

    def test_they_may_be_all_there_is_of_one_side_of_a_split(self):
        """Where no other vector has its element type, one may follow another reading there."""
        wrong, _ = self.settled([{self.a: self.a1}], [{self.a: self.a2}], excused=".x", dtype="pq")
        assert wrong == [False, False]

    def test_two_clauses_may_be_split_by_two_attributes(self):
        """An exception may need both splits for its excuse, where neither alone would do."""
        others = [{self.a: self.a1, self.b: self.b1}], [{self.a: self.a2, self.b: self.b1}]
        wrong, _ = self.settled(
            *others,
            [{self.a: self.a1, self.b: self.b2}],
            [{self.a: self.a2, self.b: self.b2}],
            excused="...x",
            dtype="pqpq",
            axes="1122",
        )
        assert not any(wrong)

    @given(st.data())
    def test_what_a_split_backend_may_refuse_is_not_refuted(self, data):
        """If each clause is split by one of two attributes, no exception right then is wrong."""
        by = data.draw(st.tuples(*(st.sampled_from(["dtype", "axes"]) for _ in SPACE.shape)))
        index = st.tuples(*(st.integers(0, n - 1) for n in SPACE.shape))
        readings = {letter: data.draw(index) for letter in "pq12"}
        rows = data.draw(
            st.lists(
                st.tuples(st.sampled_from("pq"), st.sampled_from("12"), st.booleans(), index),
                min_size=1,
                max_size=6,
            )
        )

        def truth(dtype, axes):
            return [
                readings[dtype if name == "dtype" else axes][clause]
                for clause, name in enumerate(by)
            ]

        def named(numbers):
            every = zip(READINGS, READINGS.values(), numbers, strict=True)
            return {clause: names[number] for clause, names, number in every}

        wrong, _ = self.settled(
            *([named(truth(dtype, axes)), named(other)] for dtype, axes, _, other in rows),
            excused=["x" if excused else "." for _, _, excused, _ in rows],
            dtype=[dtype for dtype, *_ in rows],
            axes=[axes for _, axes, *_ in rows],
        )
        assert not any(wrong)
