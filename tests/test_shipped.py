"""The suite that the package ships: reproducible, small, fair to every sound backend."""

from __future__ import annotations

import warnings

import pytest
from sound import SOUND

from conformance import check, generate, load_backend, open_vectors
from conformance.vectorfile import shipped_suite


@pytest.fixture(scope="module")
def suite():
    """Open the shipped suite."""
    with open_vectors() as vectors:
        yield vectors


def test_generating_again_gives_the_same_vectors(suite, tmp_path):
    """`conformance generate vectors` changes no digest."""
    generate(tmp_path)
    with open_vectors(tmp_path) as again:
        assert {file.operator: file.digest for file in again} == {
            file.operator: file.digest for file in suite
        }


def test_the_suite_is_a_few_thousand_vectors_of_at_most_8_megabytes(suite):
    """Small enough to keep in the package and in the history."""
    assert 3_000 < sum(len(file) for file in suite) < 8_000
    assert sum(path.stat().st_size for path in shipped_suite().glob("*.h5")) < 8e6


def test_the_smoke_tier_is_at_most_300_vectors(suite):
    """A run of the smoke tier is a matter of a moment."""
    assert sum(file.tiers.count("smoke") for file in suite) <= 300


def test_the_built_in_backend_conforms_to_all_of_it(suite):
    """The plain loops of the numpy backend agree with the exact reference everywhere."""
    report = check(load_backend("numpy"), suite)
    assert report.problems == ()
    assert report.counts["conforms"] == sum(len(file) for file in suite)


@pytest.mark.parametrize("backend", [pytest.param(backend, id=name) for name, backend in SOUND])
def test_no_sound_backend_ever_fails(suite, backend):
    """Odd but right: every order, precision, reading and way with undefined elements."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the vectors hold NaN and overflow on purpose
        report = check(backend, suite)
    assert report.problems == ()
    assert not report.counts["mismatch"] + report.counts["error"] + report.counts["unsupported"]
