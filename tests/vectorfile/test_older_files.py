"""Vector files made before a reading or a disputed clause was added are read and judged."""

from dataclasses import replace

import pytest
from support.fakes import check, following, pool, ramp, right, vector
from support.report_samples import write

from conformance.vectorfile import open_vectors

PAST = pool(strides=[1], pads_end=[3], rounding_type="ceil")
VALID = pool(auto_pad="valid", rounding_type="ceil")


def without_reading(new, clause, reading):
    """Return a vector as it was before a clause had a reading."""
    outcomes = (
        replace(outcome, readings=left)
        for outcome in new.outcomes
        if (left := tuple(one for one in outcome.readings if one.get(clause) != reading))
    )
    known = tuple(name for name in new.clauses[clause] if name != reading)
    return replace(new, outcomes=tuple(outcomes), clauses={**new.clauses, clause: known})


def without_clause(new, clause, default):
    """Return a vector as it was while a clause was a ruling."""
    outcomes = (
        replace(
            outcome,
            readings=tuple({n: r for n, r in one.items() if n != clause} for one in left),
        )
        for outcome in new.outcomes
        if (left := [one for one in outcome.readings if one[clause] == default])
    )
    clauses = {name: names for name, names in new.clauses.items() if name != clause}
    return replace(new, outcomes=tuple(outcomes), clauses=clauses)


@pytest.fixture
def older(tmp_path):
    """Return a file without the reading all-dropped and the clause valid-rounds."""
    past, valid = vector(ramp(1, 1, 4), PAST, id="past"), vector(ramp(1, 1, 5), VALID, id="valid")
    older = [
        without_reading(past, "ceil-window-past-input", "all-dropped"),
        without_clause(valid, "valid-rounds", "applied"),
    ]
    return write(tmp_path / "AvgPool-1.h5", older)


@pytest.mark.parametrize("reading", ["kept", "dropped"])
def test_the_readings_it_has_are_followed(older, reading):
    """Each is accepted, and the report names it."""
    with open_vectors(older) as vectors:
        report = check(following(ceil_window_past_input=reading), vectors)
    assert report.ok
    (past,) = (each for each in report.readings if each.clause == "ceil-window-past-input")
    assert (past.followed, past.possible) == (reading, (reading,))
    assert "valid-rounds" not in {each.clause for each in report.readings}


def test_a_reading_it_lacks_is_a_mismatch(older):
    """It has no expected values for it; a file generated again has."""
    with open_vectors(older) as vectors:
        report = check(following(ceil_window_past_input="all-dropped"), vectors)
    assert {each.id: each.verdict for each in report.results} == {
        "past": "mismatch",
        "valid": "conforms",
    }


def test_a_clause_it_lacks_can_be_required(older):
    """It applies to no vector of the file."""
    with open_vectors(older) as vectors:
        assert check(right, vectors, require={"valid-rounds": "applied"}).ok
