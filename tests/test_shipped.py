"""The suite that the package ships: reproducible, small, fair to every sound backend."""

import warnings

import pytest
from support.effort import one_in
from support.random_cases import EVERY
from support.sound import SOUND
from support.sound_gradients import SOUND_GRADIENTS

from conformance import check, generate, load_backend, open_vectors
from conformance.cases.sweep import collect
from conformance.operators import OPERATORS
from conformance.vectorfile import shipped_suite
from conformance.vectorfile.verify import differences

SHIPPED = list(OPERATORS)
SWEPT = [name for name, operator in OPERATORS.items() if operator.newest is operator]
"""Those with vectors of their own: see tests/vectorfile/test_older_vectors.py for the others."""
_REGENERATED = "AdaptiveMaxPool-8"
"""The one operator that is generated again in every run."""


@pytest.fixture(scope="module")
def suite():
    """Open the shipped suite."""
    with open_vectors() as vectors:
        yield vectors


@pytest.mark.parametrize(
    "operator",
    [
        name
        if name == _REGENERATED
        else pytest.param(name, marks=pytest.mark.slow("another operator is generated again"))
        for name in SWEPT
    ],
)
def test_generating_again_gives_the_same_vectors(suite, operator, tmp_path):
    """`conformance generate vectors` changes no digest."""
    generate(tmp_path, operators=[operator])
    (shipped,) = (file for file in suite if file.operator == operator)
    with open_vectors(tmp_path) as again:
        assert [file.digest for file in again] == [shipped.digest]


@pytest.mark.parametrize("operator", one_in(4, SWEPT))
def test_the_sweep_makes_the_cases_that_are_shipped(suite, operator):
    """Each with its id, which holds a digest of its data and its attributes, in their order."""
    (shipped,) = (file for file in suite if file.operator == operator)
    how = {key: shipped.header[key] for key in ("tier", "strength", "seed")}
    assert [case.id for case in collect(operator, **how).cases] == list(shipped.ids)


@pytest.mark.parametrize("operator", one_in(3, SHIPPED))
def test_vectors_of_every_dispute_say_what_is_computed(suite, operator):
    """The first of each set of clauses and kind of answer, and one in 61 of all others."""
    (shipped,) = (file for file in suite if file.operator == operator)
    seen = set()
    for number, vector in enumerate(shipped):
        kind = (*vector.clauses, vector.outcomes[0].kind)
        if kind not in seen or number % 61 == 0:
            assert differences(vector) == [], vector.case.id
        seen.add(kind)


def test_every_operator_is_shipped(suite):
    """And generated again by the test above, most with --all only."""
    assert sorted(file.operator for file in suite) == sorted(SHIPPED)


def test_the_suite_is_some_thousand_vectors_of_at_most_24_megabytes(suite):
    """Small enough to keep in the package and in the history."""
    assert 10_000 < sum(len(file) for file in suite) < 60_000
    assert sum(path.stat().st_size for path in shipped_suite().glob("*.h5")) < 24e6


@pytest.mark.parametrize(
    "tier", ["smoke", pytest.param("standard", marks=pytest.mark.slow("the smoke tier"))]
)
def test_the_built_in_backend_conforms(suite, tier):
    """The numpy backend agrees with the exact reference everywhere."""
    report = check(load_backend("numpy"), suite, tier=tier, variations="none")
    assert report.problems == ()
    assert report.counts["conforms"] == len(report.results)


@pytest.mark.parametrize(("name", "backend"), one_in(25, SOUND), ids=[name for name, _ in SOUND])
def test_no_sound_backend_ever_fails(suite, name, backend):
    """Odd but right: every order, precision, reading and way with undefined elements."""
    assert_never_fails(suite, backend, operators=EVERY, tier="smoke")


@pytest.mark.slow("the smoke tier is a part of it")
@pytest.mark.parametrize("number", range(len(SOUND)), ids=[name for name, _ in SOUND])
def test_no_sound_backend_fails_a_twelfth_of_the_standard_tier(suite, number):
    """One of twelve shards each: every vector is computed in three odd ways or more."""
    shard = f"{number % 12 + 1}/12"
    assert_never_fails(suite, SOUND[number][1], operators=EVERY, shard=shard)


@pytest.mark.parametrize("number", one_in(7, range(len(SOUND_GRADIENTS))))
def test_no_sound_gradient_ever_fails(suite, number):
    """One of seven shards of the smoke tier each: sums in any order and type, all readings."""
    assert_never_fails(
        suite,
        SOUND_GRADIENTS[number],
        operators=["*-backward"],
        tier="smoke",
        shard=f"{number + 1}/{len(SOUND_GRADIENTS)}",
    )


def assert_never_fails(suite, backend, **selection):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the vectors hold NaN and overflow on purpose
        report = check(backend, suite, **selection)
    assert report.problems == ()
    assert not report.counts["mismatch"] + report.counts["error"] + report.counts["unsupported"]
