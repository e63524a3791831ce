"""Calls by role: the same for every document, and the way back."""

import numpy as np
import pytest
from hypothesis import given
from support.random_cases import cases

from conformance.errors import InvalidCase
from conformance.faults import fault_named, faulty
from conformance.faults.call import Unknown, call_of
from conformance.operators import OPERATORS

DATA = np.arange(1, 31, dtype=np.float32).reshape(1, 1, 5, 6)


def _spread(attribute, value, sizes):
    spread = attribute.spread(value, len(sizes))
    return list(attribute.meaning(spread, sizes)) if attribute.keeps_sizes else spread


@given(cases())
def test_what_is_given_by_role_is_spelled_back(case):
    """The attributes of a call are those it was made of, with one number for each axis."""
    operator, inputs, attributes = case
    definition = OPERATORS[operator]
    spread = {
        each.key: _spread(each, attributes[each.key], inputs[0].shape[2:])
        for each in definition.attributes
        if each.key in attributes and not each.is_left_out(attributes)
    }
    assert call_of(definition, inputs, attributes).attributes() == spread


def test_roles_are_those_of_params():
    """Values are what they mean, however a document spells them."""
    call = call_of(OPERATORS["AvgPool-1"], [DATA], {"kernel": [2, 3], "exclude_pad": True})
    assert call.given == {"kernel": [2, 3], "include_pad": False}


def test_pads_in_one_list_are_two_roles(minimum_pool):
    """Begins and ends are told apart, and joined again."""
    call = call_of(minimum_pool, [DATA], {"window": [2, 3], "pads": [1, 0, 2, 3], "round_up": 1})
    assert call.given["pads_begin"] == [1, 0]
    assert call.given["pads_end"] == [2, 3]
    assert call.given["rounding"] == "ceil"
    assert call.attributes() == {"window": [2, 3], "pads": [1, 0, 2, 3], "round_up": 1}


@pytest.mark.parametrize(
    "attributes",
    [
        {"window": 2},
        {"window": [2], "pads": "no"},
        {"window": [2], "round_up": "ceil"},
        {"window": [2], "round_up": True},
        {"window": [2], "dilations": [1]},
        {"window": ["a"], "pads": [1, 2, 3]},
    ],
    ids=str,
)
def test_what_a_document_does_not_have_is_kept(minimum_pool, attributes):
    """Values and keys that mean nothing go in and come out as they are, and are refused."""
    call = call_of(minimum_pool, [DATA[0]], attributes)
    assert call.attributes() == attributes
    with pytest.raises(InvalidCase):
        call.validated()


def test_a_value_that_only_looks_like_one_is_unknown(minimum_pool):
    """True is not 1, and the word for a meaning is not its spelling."""
    for value in (True, "ceil", 2):
        call = call_of(minimum_pool, [DATA], {"round_up": value})
        assert call.given == {"rounding": Unknown(value)}


def test_what_is_absent_has_the_default(minimum_pool):
    """A role that is not given means what the document says, if it says anything."""
    call = call_of(minimum_pool, [DATA], {})
    assert call.meaning("rounding") == "floor"
    assert call.meaning("pads_end") == [0, 0]
    with pytest.raises(KeyError):
        call.meaning("kernel")


def test_a_wrong_default_is_one_of_any_document(minimum_pool):
    """An absent stride taken as 2 is so under whatever name, and a given one is not."""
    backend = faulty(fault_named("default-window-movement-strides-two"))
    first, cells = backend(minimum_pool.name, [DATA], {"window": [1, 1]})
    np.testing.assert_array_equal(first, DATA[:, :, ::2, ::2])
    given, _ = backend(minimum_pool.name, [DATA], {"window": [1, 1], "step": [1, 1]})
    np.testing.assert_array_equal(given, DATA)
    assert cells.shape == first.shape


def test_a_negative_pad_is_repaired_at_one_end(minimum_pool):
    """Of pads in one list, each end has faults of its own."""
    attributes = {"window": [2, 2], "pads": [-1, 0, 0, 0]}
    begin, end = (faulty(fault_named(f"accepts-pads-{e}-negative")) for e in ("begin", "end"))
    assert begin(minimum_pool.name, [DATA], attributes)[0].shape == (1, 1, 4, 5)
    with pytest.raises(InvalidCase):
        end(minimum_pool.name, [DATA], attributes)
