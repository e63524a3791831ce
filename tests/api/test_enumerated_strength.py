"""Strength against all that atoms enumerate: in how many shapes each fault is caught."""

import pytest
from support.command_line import run
from support.fakes import pool, ramp, vector

from conformance.api.enumerated_strength import SHAPES, enumerated_strength
from conformance.cases.generate import generate
from conformance.faults.atoms import enumerated
from conformance.operators import OPERATORS

FLOORED = "rounding=floor taken as ceil"


def sums(*shapes):
    """Return averages of windows that leave a cell over, of some lengths."""
    return [vector(ramp(*shape), pool(strides=[2]), id=f"{shape}") for shape in shapes]


def test_a_fault_is_counted_once_for_each_shape():
    """Two vectors of one shape are one proof, three shapes are enough."""
    lengths = [(1, 1, 5), (1, 1, 5), (1, 1, 7), (1, 1, 9), (1, 1, 11)]
    for count, shapes in ((1, lengths[:2]), (2, lengths[:3]), (SHAPES, lengths)):
        (measured,) = enumerated_strength(sums(*shapes))
        assert measured.shapes[FLOORED] == count
        assert (FLOORED in measured.thinly) == (count < SHAPES)
        assert measured.vectors == len(shapes)


def test_all_that_an_operator_may_have_is_planted():
    """Except what depends on earlier calls."""
    (measured,) = enumerated_strength(sums((1, 1, 5)))
    expected = {each.summary for each in enumerated(OPERATORS["AvgPool-1"]) if not each.remembers}
    assert set(measured.shapes) == expected


def test_what_shows_beyond_some_size_alone_is_caught_there(monkeypatch):
    """However many smaller vectors it left alone."""
    monkeypatch.setattr("conformance.api.enumerated_strength._PATIENCE", 1)
    smaller, larger = sums(*[(1, 1, size) for size in (5, 6, 7)]), sums((1, 1, 1100))
    fault = "outputs of a plane beyond 512 left unwritten"
    for vectors, shapes in ((smaller, 0), (smaller + larger, 1)):
        (measured,) = enumerated_strength(vectors)
        assert measured.shapes[fault] == shapes


@pytest.mark.slow("the command is tried without draws")
def test_draws_tell_what_vectors_miss_from_what_cannot_show():
    """A fault of kernels of two axes shows in a draw, and one that no draw shows is in neither."""
    (measured,) = enumerated_strength(sums((1, 1, 5)), draws=14)
    reversed_kernel = "every kernel size taken as that of the axis in reverse order"
    assert reversed_kernel in measured.missed
    assert measured.drawn[reversed_kernel].startswith("AvgPool-1/")
    assert 0 < measured.unseen < len(measured.shapes)


def test_the_command_prints_a_row_for_each_operator(tmp_path):
    """And refuses what it does not take together."""
    generate(tmp_path, operators=["PyTorch-adaptive_avg_pool1d"], tier="smoke")
    told = "".join(run("strength", tmp_path, "--enumerated", "--jobs", "1").stdout.split())
    assert "PyTorch-adapt" in told
    assert "enumeratedfaultsthatsomecasecatchesarecaughtin3shapesormore" in told
    for wrong in (["--draws", "5"], ["--enumerated", "--idle"]):
        assert run("strength", tmp_path, *wrong).exit_code == 2
