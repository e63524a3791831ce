"""Reports of shards joined."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from support.arbitrary_reports import comparable, made, result
from support.effort import examples
from support.fakes import check, following, pool, ramp, right, vector

from conformance.api.expected_failures import ExpectedFailures
from conformance.api.merge import merge
from conformance.errors import UsageError
from conformance.judging.reading_sets import reading_space
from conformance.record.report import Diagnosis

NAN = np.nan
SAME = pool(auto_pad="same_upper")
EMPTY = pool(kernel=[1], strides=[2], auto_pad="same_upper")
OVERHANG = pool(kernel=[3], pads_begin=[1], rounding_type="ceil", exclude_pad=False)


def numbered(vectors):
    """Return vectors with different ids, and a name for each that says its operator."""
    return [
        replace(v, case=replace(v.case, id=f"{v.case.operator}/{i:02}"))
        for i, v in enumerate(vectors)
    ]


VECTORS = numbered(
    [
        *(vector(ramp(1, 1, n), SAME) for n in (3, 5, 7, 9)),
        *(vector(ramp(1, 1, n, dtype="float16"), OVERHANG) for n in (5, 9)),
        *(vector(ramp(1, 1, n), OVERHANG) for n in (5, 9)),
        # Same-as-input makes windows of padding alone, where an exception is excused.
        *(vector(ramp(1, 1, n), EMPTY) for n in (5, 7)),
        vector(np.full((1, 1, 4), 60000, np.float16)),
        vector(attributes=pool(pads_end=[2], exclude_pad=True)),
        *(vector(np.array([[[NAN, 1, 2, n]]]), operator="MaxPool-1") for n in (3, 4)),
        *(vector(ramp(1, 1, n), SAME, operator="MaxPool-1") for n in (3, 5)),
        vector(ramp(1, 1, 6), operator="MaxPool-1"),
    ]
)
loose = following(overhang_divisor="whole-kernel", same_output_size="same-as-input")


def refusing(operator, inputs, attributes):
    """Refuse a kernel below the stride: excused where a reading leaves windows empty."""
    if attributes["kernel"][0] < attributes["strides"][0]:
        raise ValueError("kernel below stride")
    return right(operator, inputs, attributes)


def wavering(operator, inputs, attributes):
    """Follow a reading of the divisor by the size of the data: by no attribute."""
    return (loose if inputs[0].size % 4 == 1 else right)(operator, inputs, attributes)


def both(operator, inputs, attributes):
    """Refuse as `refusing` does, and follow both readings of the output size elsewhere."""
    refusing(operator, inputs, attributes)
    return wavering(operator, inputs, attributes)


def by_type(operator, inputs, attributes):
    """Follow a reading of the divisor for each element type."""
    return (loose if inputs[0].dtype == np.float16 else right)(operator, inputs, attributes)


def wrong(operator, inputs, attributes):
    """Be wrong in some data, refuse others."""
    if inputs[0].size == 7:
        raise NotImplementedError
    return right(operator, inputs, attributes) + (inputs[0].size == 9)


BACKENDS = [right, loose, refusing, wavering, both, by_type, wrong]


def run(backend, **options):
    """Return the report of a backend over the vectors."""
    return check(backend, VECTORS, name="b", **options)


def split(backend, parts, **options):
    """Return the reports of shards, given by the number of the shard of each vector."""
    count = max(parts) + 1
    shards = {}
    for number in range(count):
        mine = {v.case.id for v, part in zip(VECTORS, parts, strict=True) if part == number}
        report = run(backend, select=lambda name, mine=mine: name in mine, **options)
        shards[f"{number}.json"] = replace(report, shard=f"{number + 1}/{count}")
    return shards


def of_run(report):
    """Return what two reports of one run have in common, whatever the order of shards."""
    undefined = [replace(u, counts=dict(sorted(u.counts.items()))) for u in report.undefined]
    return comparable(
        report,
        results=tuple(sorted(report.results, key=lambda each: each.id)),
        accuracy=tuple(sorted(report.accuracy, key=lambda each: each.dtype)),
        undefined=tuple(undefined),
    )


splits = st.integers(1, 4).flatmap(
    lambda count: st.permutations(
        [*range(count), *(n % count for n in range(len(VECTORS) - count))]
    )
)


class TestWhole:
    """Merged shards are the whole run."""

    @pytest.mark.parametrize("backend", BACKENDS)
    @given(parts=splits)
    @examples(1)
    def test_of_any_split(self, backend, parts):
        """Verdicts, readings, counts, accuracy, undefined behaviour."""
        assert of_run(merge(split(backend, parts))) == of_run(run(backend))

    def test_the_order_is_that_of_the_run(self):
        """Shards as --shard makes them, in whatever order they are given."""
        shards = {str(i): run(wrong, shard=f"{i}/3") for i in (2, 3, 1)}
        merged, whole = merge(shards), run(wrong)
        assert [each.id for each in merged.results] == [each.id for each in whole.results]
        assert of_run(merged) == of_run(whole)

    def test_expected_failures_are_those_of_the_run(self):
        """Met, passed, unmatched and the inconsistent clause."""
        text = (
            "mismatch AvgPool-1/0* # a\nerror MaxPool-1/16 # b\nmismatch x # c\n"
            "inconsistent overhang-divisor # d\n"
        )
        expected = ExpectedFailures.parse(text, path="f")
        ids = [v.case.id for v in VECTORS]
        for backend in (wrong, wavering):
            shards = split(backend, [n % 2 for n in range(len(VECTORS))])
            merged = merge({name: expected.applied(r, ids) for name, r in shards.items()})
            whole = expected.applied(run(backend), ids).expectations
            found = merged.expectations
            assert (found.met, found.inconsistent, found.unmatched, set(found.passed)) == (
                whole.met,
                whole.inconsistent,
                whole.unmatched,
                set(whole.passed),
            )

    def test_likely_causes_are_joined(self):
        """Counts are added up, what some shard does not say is left out."""
        start = "failures are reproduced"
        shards = {}
        for n, exact in ((1, 3), (2, 2)):
            known = Diagnosis(
                f"3 of 4 {start} by: padding counted, where x",
                ("f",),
                *(3, exact, 4, 1, 9),
                condition="x",
                alternatives=("g", f"h{n}"),
                vectors=(f"v{n}",),
                behaviour="padding counted",
                kind="fault",
            )
            unknown = "1 of 4 failures is of unknown cause"
            rest = Diagnosis(unknown, (), 1, 0, 4, vectors=(f"u{n}",))
            shards[f"{n}"] = made(
                result(f"v{n}"), result(f"u{n}"), not_run=2, shard=f"{n}/2", diagnoses=(rest, known)
            )
        first, last = merge(shards).diagnoses
        assert first == Diagnosis(
            "6 of 8 failures are reproduced (5 bit for bit, the others but for rounding) by: "
            "padding counted, where x",
            ("f",),
            *(6, 5, 8, 2, 18),
            condition="x",
            alternatives=("g",),
            vectors=("v1", "v2"),
            behaviour="padding counted",
            kind="fault",
        )
        assert (last.summary, last.faults) == ("2 of 8 failures are of unknown cause", ())


class TestMissing:
    """What is not there is said."""

    def test_a_missing_shard_makes_the_run_incomplete(self):
        shards = {f"{i}": run(right, shard=f"{i}/4") for i in (1, 3)}
        merged = merge(shards)
        assert (merged.complete, merged.ok) == (False, False)
        assert merged.stopped == "shards 2/4, 4/4 are missing"
        assert merged.not_run == len(VECTORS) - len(merged.results)

    def test_any_number_of_shards_may_be_missing(self):
        """What a report says of their number allocates nothing; the first ones are named."""
        merged = merge({"a": replace(run(right), shard=f"1/{10**15}")})
        assert merged.stopped.endswith(f"11/{10**15} and 999,999,999,999,989 more are missing")

    def test_a_shard_that_was_cut_short_is_named(self):
        shards = {f"{i}": run(right, shard=f"{i}/2") for i in (1, 2)}
        shards["2"] = replace(shards["2"], stopped="interrupted")
        assert merge(shards).stopped == "shard 2/2: interrupted"


_names = st.sampled_from([*list(reading_space("AvgPool-1").readings)[:3], "accumulator", "no-such"])
_combinations = st.dictionaries(
    _names, st.sampled_from(["wider", "divided", "same-as-input", "kept", "odd"]), max_size=3
)
_strange = st.builds(
    result,
    st.just("v"),
    st.sampled_from(["conforms", "error"]),
    clauses=st.dictionaries(_names, st.just(("a",)), max_size=3),
    readings=st.lists(_combinations, max_size=2).map(tuple),
    excused=st.lists(_combinations, max_size=1).map(tuple),
    shapes=st.sampled_from([(), ((),), ((1, 1, 3),)]),
)


class TestNonsense:
    """Reports that are not shards of one run."""

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"backend": "c"}, "a and b are not of one run: backend: b and c"),
            ({"tier": "smoke"}, "a and b are not of one run: tier: standard and smoke"),
            ({"required": {"x": "y"}}, "a and b are not of one run: required readings: "),
            ({"not_run": 99}, "a and b are not of one run: vectors there are: 17 and 1"),
            ({"versions": {}}, "a and b are not of one run: version of conformance: "),
            ({"vectors": ()}, "a and b are not of one run: vectors of AvgPool-1: "),
            ({"shard": "1/2"}, "a and b are both shard 1/2"),
            ({"shard": "2/3"}, "shards of different runs: 1/2, 2/3"),
            ({"shard": ""}, "b is of a whole run; check --shard i/n makes what merge joins"),
            ({"shard": "3/2"}, "b is of shard '3/2'; "),
            ({"shard": "9" * 5000 + "/2"}, "b is of shard '9"),
        ],
    )
    def test_they_are_refused(self, change, why):
        """With one line that names two of them and what they differ in."""
        first, second = run(right, shard="1/2"), run(right, shard="2/2")
        with pytest.raises(UsageError) as caught:
            merge({"a": first, "b": replace(second, **change)})
        assert str(caught.value).startswith(why)

    def test_a_vector_belongs_to_one_shard(self):
        """Otherwise it would count twice."""
        first = made(result("v"), shard="1/2")
        with pytest.raises(UsageError, match="a and b both have v"):
            merge({"a": first, "b": replace(first, shard="2/2")})

    @given(st.lists(_strange, max_size=4), st.booleans())
    @examples(0.5)
    def test_whatever_a_file_says_of_readings(self, strange, pinned):
        """It is merged or refused in one line."""
        found = [structs.replace(each, id=f"{n}") for n, each in enumerate(strange)]
        pins = {"accumulator": "wider"} if pinned else {}
        try:
            merged = merge({"a": made(*found, shard="1/1", required=pins)})
        except UsageError as error:
            found = str(error)
        else:
            found = f"{len(merged.results)}"
        assert "\n" not in found
