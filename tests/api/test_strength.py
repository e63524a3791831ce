"""Strength: what a set of vectors catches, with the smallest vector, and what adds nothing."""

from dataclasses import asdict

import pytest
from support.fakes import pool, ramp, vector

from conformance.api.strength import strength
from conformance.cases.generate import generate
from conformance.faults import CATALOGUE, Fault, fault_named
from conformance.vectorfile import open_vectors


def faults(*names):
    """Return faults by name."""
    return [fault_named(name) for name in names]


def test_a_fault_is_caught_by_the_smallest_vector_that_shows_it():
    """Of two vectors that catch a fault, the one of fewer cells is named."""
    large, small = vector(ramp(1, 1, 8), id="large"), vector(ramp(1, 1, 4), id="small")
    result = strength([large, small], faults=faults("not-divided"))
    assert [(c.fault, c.vector, c.cells) for c in result.catches] == [("not-divided", "small", 4)]


def test_vectors_in_memory_may_have_equal_ids():
    """Each is tried as itself: the first does not show the fault, the second does."""
    one = vector(ramp(1, 1, 1), pool(kernel=[1]), id="same")
    two = vector(ramp(1, 1, 6), pool(strides=[2]), id="same")
    (catch,) = strength([one, two], faults=faults("strides-ignored")).catches
    assert (catch.vector, catch.cells) == ("same", 6)


def test_a_fault_no_vector_shows_is_missed():
    """A fault of padding is missed by vectors without padding."""
    result = strength([vector()], faults=faults("pads-ignored", "not-divided"))
    assert [catch.fault for catch in result.missed] == ["pads-ignored"]
    assert result.faults == (1, 2)
    assert result.of_operator("AvgPool-1") == (1, 2)


def test_no_fault_is_caught_where_there_is_none():
    """A right backend conforms, also with windows of more than 65,536 cells."""
    wide = vector(ramp(1, 1, 3), pool(kernel=[65538], pads_end=[65537]), id="wide")
    result = strength([vector(), wide], faults=[Fault("nothing", (), {}, name="none")])
    assert [catch.fault for catch in result.missed] == ["none"]


def test_a_parameter_of_values_alone_shows():
    """Windows of another exponent, or indices from another axis, read the same cells."""
    norm = vector(-ramp(1, 1, 4), {"kernel_shape": [2]}, operator="ONNX-LpPool-22", id="norm")
    index = vector(
        ramp(1, 2, 2),
        pool("MaxPool-8", kernel=[1], strides=[1], axis=1),
        operator="MaxPool-8",
        id="index",
    )
    for each, name in ((norm, "norm-p-one-more"), (index, "index-axis-one-more")):
        (catch,) = strength([each], faults=faults(name)).catches
        assert catch.vector == each.case.id


def test_a_fault_that_makes_readings_contradict_each_other_is_caught():
    """A fault no vector rejects alone is caught where no one reading explains all vectors."""
    # A window past the input: dropped with a begin pad, kept without, on one axis each.
    attributes = pool(rounding_type="ceil")
    kept = vector(
        ramp(1, 1, 6), attributes | {"kernel": [1], "strides": [4], "pads_end": [0]}, id="kept"
    )
    dropped = vector(ramp(1, 1, 5), attributes | {"pads_begin": [1], "pads_end": [1]}, id="dropped")
    result = strength([kept, dropped], faults=faults("ceil-dropped-only-with-begin-pad"))
    assert [(c.vector, c.inconsistent) for c in result.catches] == [
        (None, "ceil-window-past-input")
    ]


def test_vectors_that_add_nothing_are_named():
    """A vector that catches only what a smaller one catches is idle."""
    small, large = vector(ramp(1, 1, 4), id="small"), vector(ramp(1, 1, 8), id="large")
    result = strength([small, large], faults=faults("not-divided"), idle=True)
    assert result.idle == ("large",)


def test_state_between_calls_is_caught_in_the_order_of_the_vectors():
    """A fault that returns an earlier output is caught by the second of two equal shapes."""
    first, second = vector(ramp(1, 1, 4), id="first"), vector(ramp(1, 1, 4) + 1, id="second")
    result = strength([first, second], faults=faults("first-output-kept"))
    assert result.catches[0].vector == "second"


def test_progress_counts_faults():
    """Progress is told once per operator, up to the total."""
    told = []
    strength(
        [vector()],
        faults=faults("not-divided", "strides-ignored"),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(2, 2)]


@pytest.mark.slow("processes generate what one generates")
def test_processes_find_what_one_finds(tmp_path):
    """In the order of operators and faults, whoever is done first."""
    generate(tmp_path, operators=["AvgPool-16", "MaxPool-14"], tier="smoke")
    some = CATALOGUE[::40]
    one, two = (strength(tmp_path, faults=some, idle=True, jobs=jobs) for jobs in (1, 2))
    assert asdict(one) | {"seconds": 0} == asdict(two) | {"seconds": 0}
    assert {catch.operator for catch in two.catches} == {"AvgPool-16", "MaxPool-14"}


def test_the_coverage_a_file_states_is_passed_on(tmp_path):
    """Covered interactions come from the header of a vector file."""
    (path,) = generate(tmp_path, operators=["AdaptiveAvgPool-8"], strength=1)
    result = strength(path, faults=faults("not-divided"))
    with open_vectors(path) as (file,):
        assert result.coverage == {"AdaptiveAvgPool-8": file.header["coverage"]}
        assert result.vectors == {"AdaptiveAvgPool-8": len(file)}
