"""Saved reports sorted by engine and release."""

import pytest
from support.arbitrary_reports import made, result

from conformance.errors import UsageError
from conformance.record import jsonl
from conformance.record.report import Expectations
from conformance.site.releases import engines_of, failing_ids, release_of, saved_releases


def of(engine, version, *results, **others):
    """Return the release of an engine that a report is of."""
    known = {"versions": {"engine": version} if version else {}} | others
    return release_of(made(*results or (result("a"),), backend=engine, **known))


def test_engines_are_in_order_and_their_newest_release_is_first():
    """Numbers of a version are numbers, and what comes before a release is older."""
    versions = ["2.9", "2.10", "2.10rc1", "2.10.1"]
    engines = engines_of([of("torch", version) for version in versions] + [of("jax", "1")])
    assert [engine.name for engine in engines] == ["jax", "torch"]
    assert [r.version for r in engines[1].releases] == ["2.10.1", "2.10", "2.10rc1", "2.9"]


def test_without_a_version_the_minute_tells_releases_apart():
    """A backend of one's own has no version, and is checked every night."""
    days = [of("b", "", started=f"2026-11-{day}T01:02:03+00:00") for day in ("09", "10")]
    (engine,) = engines_of(days)
    assert [r.version for r in engine.releases] == ["2026-11-10 01:02", "2026-11-09 01:02"]


@pytest.mark.parametrize("text", ["built today", "9" * 5000, "1.0 of here"])
def test_what_is_no_version_is_older_than_any(text):
    """Python turns no text of thousands of digits into a number."""
    (engine,) = engines_of([of("b", text), of("b", "0.1")])
    assert engine.newest.version == "0.1"


def test_releases_are_ordered_as_packages_are():
    versions = ["1.0", "2.9.dev1", "2.9", "2.10", "2.10+cpu", "2.10.post1", "1!1.0"]
    (engine,) = engines_of([of("b", version) for version in versions])
    assert [release.version for release in engine.releases] == versions[::-1]


def test_two_reports_of_one_release_are_refused(tmp_path):
    """Nobody could say which of them counts."""
    paths = [tmp_path / "0.jsonl", tmp_path / "1.jsonl"]
    for path in paths:
        jsonl.write(made(result("a"), backend="torch", versions={"engine": "2.9"}), path)
    with pytest.raises(UsageError, match=r"0\.jsonl and .*1\.jsonl are both of torch 2\.9"):
        saved_releases(paths)


def test_vectors_are_chosen_from_every_release_in_turn():
    """The newest releases come first, and each names one before any names two."""

    def failing(*names):
        return [result(name, "mismatch", detail=name) for name in names]

    engines = engines_of(
        [
            of("torch", "1", *failing("old")),
            of("torch", "2", *failing("t1", "t2"), result("right")),
            of("jax", "1", *failing("j1", "t1")),
        ]
    )
    assert failing_ids(engines, 3) == (["j1", "t1", "old"], 4)


def test_an_expected_failure_is_a_failure():
    """That somebody knows of it makes nothing right."""
    known = result("known", "mismatch", expected="a bug")
    met = Expectations("f", {"mismatch": 1})
    (engine,) = engines_of([of("b", "1", known, expectations=met)])
    assert failing_ids([engine], 9) == (["known"], 1)
