"""Atoms: what is read in place of something else, where, and in which operators."""

import numpy as np
import pytest
from support.fakes import pool, ramp

from conformance.faults import Fault, faulty
from conformance.faults.atoms import conditions, divisors, entries, indices, lists, numbers, windows
from conformance.faults.atoms.words import mean
from conformance.operators import OPERATORS

LISTS = {"kernel": (2, 3), "strides": (1, 2), "pads_begin": (0, 1), "pads_end": (3, 0)}
TUPLES = [
    lists.OF_AXES,
    lists.OF_NUMBERS,
    lists.OF_BOTH_PADS,
    lists.ORDERS_OF_PADS,
    windows.MOVES,
    windows.BLOCK_BEGINS,
    windows.BLOCK_ENDS,
    divisors.COUNTS,
    divisors.CHANGES,
    entries.UNITS,
    entries.SOURCES,
    entries.ORDERS,
    numbers.NUMBERS,
    numbers.INTEGER_CHANGES,
    indices.POSITIONS,
    indices.PLANES,
    indices.NUMBERED,
    indices.FIELDS,
]


@pytest.mark.parametrize("atoms", TUPLES)
def test_atoms_of_a_kind_have_words_of_their_own(atoms):
    """Two atoms that read alike would be two names of one cause, or one of two."""
    assert len({atom.words for atom in atoms}) == len(atoms)


@pytest.mark.parametrize(
    ("atom", "name", "numbers"),
    [
        (lists.REVERSED, "kernel", (3, 2)),
        (lists.OF_NEXT, "kernel", (3, 3)),
        (lists.ONE_LESS, "kernel", (1, 2)),
        (lists.ONE_LESS, "strides", (1, 1)),  # no stride is 0
        (lists.ONE_LESS, "pads_begin", (0, 0)),
        (lists.same_as("strides"), "kernel", (1, 2)),
        (lists.same_as("dilations"), "kernel", (2, 3)),  # there are none
        (lists.at_most("strides"), "kernel", (1, 2)),
        (lists.at_most_number(2), "kernel", (2, 2)),
        (lists.MEAN_PAD, "pads_begin", (1, 0)),
        (lists.on_axis(-1, lists.ZERO), "pads_end", (3, 0)),
        (lists.on_axis(0, lists.ZERO), "pads_end", (0, 0)),
        (lists.on_axis(0, lists.OF_NEXT, axes=3), "kernel", (2, 3)),  # of two axes
    ],
)
def test_an_atom_of_a_list_reads_other_numbers(atom, name, numbers):
    """By hand, for two axes."""
    assert atom.of(LISTS, name) == numbers


def test_the_order_of_a_list_of_pads_is_that_of_begins_then_ends():
    """Pads b0 b1 e0 e1 that are read as pairs begin at b0 and e0."""
    changed = lists.reordered(lists.BY_PAIRS)(LISTS)
    assert (changed["pads_begin"], changed["pads_end"]) == ((0, 3), (1, 0))


def test_a_sentence_says_what_is_taken_as_what_where_and_when():
    """Its words are made of those of atom, place and condition."""
    read = lists.read(lists.IN_EXTENT, where=conditions.CEIL, pads_end=lists.ZERO)
    said = "every end pad taken as 0, for the output size alone, where sizes are rounded up"
    assert read.summary == said
    swapped = lists.read(kernel=lists.same_as("strides"), strides=lists.same_as("kernel"))
    assert (
        swapped.summary
        == "every kernel size taken as the stride, and stride taken as the kernel size"
    )
    several = {"same_upper": "valid", "same_lower": "valid"}
    assert mean("auto_pad", several).summary == "auto_pad=same_upper and same_lower taken as valid"


def test_what_a_sentence_needs_follows_from_the_lists_it_reads():
    """A list that is read in place of another has to be there, too."""
    needs = lists.read(strides=lists.same_as("dilations")).needs
    assert {"strides", "dilations"} <= set(needs.roles)
    assert all(
        {"dilations", "strides"} <= set(OPERATORS[name].roles)
        for name in Fault("x", "y", needs=needs, replaces={}).operators
    )


def test_a_condition_leaves_other_calls_alone():
    """A stride of 1 where another is above 1: calls of strides 1 and 2 go by it, others not."""
    read = lists.read(where=conditions.STRIDED, kernel=lists.ONE)
    wrong = faulty(Fault("x", read.summary, needs=read.needs, replaces=read.replaces))
    right, data = faulty(), (ramp(1, 1, 4, 4),)
    for strides, differs in (([1, 1], False), ([1, 2], True)):
        given = pool(kernel=[2, 2], strides=strides, pads_begin=[0, 0], pads_end=[0, 0])
        answers = [np.asarray(backend("AvgPool-1", data, given)) for backend in (right, wrong)]
        assert (answers[0].shape != answers[1].shape or (answers[0] != answers[1]).any()) == differs
