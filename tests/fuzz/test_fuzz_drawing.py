"""Cases are drawn ahead in other processes, the same as here."""

import importlib
from multiprocessing import active_children

import pytest

from conformance.errors import UsageError
from conformance.faults import fault_named, faulty
from conformance.fuzz import fuzz
from conformance.fuzz.drawing import Drawing, Place, group_at


def test_a_place_holds_the_same_cases_whatever_is_loaded(tmp_path, monkeypatch):
    """Hypothesis would draw constants of the sources of a backend."""
    places = [Place(1, "MaxPool-1", number) for number in range(20)]
    before = [case.id for place in places for case in group_at(place)]
    constants = [bytes([n]) * length for n in range(65, 70) for length in range(1, 50)]
    (tmp_path / "backend_with_constants.py").write_text(f"CONSTANTS = {constants}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("backend_with_constants")
    assert [case.id for place in places for case in group_at(place)] == before


def test_several_jobs_find_the_same():
    """Who draws the cases changes nothing."""
    searches = (
        fuzz(
            faulty(fault_named("last-channel-unwritten")),
            operators=["MaxPool-1", "AvgPool-1"],
            max_examples=60,
            seed=1,
            jobs=jobs,
        )
        for jobs in (1, 2)
    )
    here, apart = (
        ([finding.vector.case.id for finding in found.findings], found.examples, found.counts)
        for found in searches
    )
    assert here == apart
    assert here[0]


def test_a_process_that_dies_changes_no_case():
    """Its group is drawn again by another."""
    places = [Place(1, "MaxPool-1", number) for number in range(6)]
    with Drawing(2) as drawing:
        groups = drawing.all_prepared(places)
        drawn = [next(groups)]
        for process in active_children():
            process.kill()
        drawn += groups
    ids = [[each.case.id for each in group] for group in drawn]
    assert ids == [[case.id for case in group_at(place)] for place in places]


def test_a_number_of_jobs_that_cannot_be_is_refused():
    """At least one process is needed."""
    with pytest.raises(UsageError, match="jobs is 0"):
        fuzz(faulty(), jobs=0)
