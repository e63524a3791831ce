"""What a clause or a fault needs of an operator, and which operators have it."""

from __future__ import annotations

import pytest

from conformance.operators import MAXIMUM, OPERATORS, Attribute, Needs, Operator, adaptive

WINDOWED = {"AvgPool-1", "MaxPool-1", "nGraph-AvgPool"}


def concerned(needs):
    """Return the names of the operators that meet some needs."""
    return {name for name, operator in OPERATORS.items() if needs.met_by(operator)}


@pytest.mark.parametrize(
    ("needs", "names"),
    [
        (Needs(), set(OPERATORS)),
        (Needs(roles=("kernel",)), WINDOWED),
        (Needs(roles=("kernel", "rounding")), {"AvgPool-1", "MaxPool-1"}),
        (Needs(roles=("output",)), {"AdaptiveAvgPool-8"}),
        (Needs(optional=("strides",)), {"nGraph-AvgPool"}),
        (Needs(optional=("rounding",)), {"AvgPool-1", "MaxPool-1"}),
        (Needs(reduction="maximum"), {"MaxPool-1"}),
        (Needs(reduction="average", integers=True), {"nGraph-AvgPool"}),
        (Needs(limited_axes=True), {"AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8"}),
    ],
)
def test_operators_meet_needs_by_roles_and_traits(needs, names):
    """All of what is needed has to be there."""
    assert concerned(needs) == names


def test_pads_in_one_list_are_begins_and_ends():
    """What needs pads at the begin concerns an operator that lists both ends together."""
    attributes = (Attribute("kernel", "kernel", "s", least=1), Attribute("pads", "pads", "s"))
    operator = OPERATORS["MaxPool-1"].extended(name="Pads-1", document="none")
    operator = Operator("Pads-1", "none", MAXIMUM, attributes, operator.pipeline)
    assert Needs(roles=("pads_begin", "pads_end")).met_by(operator)
    assert not Needs(optional=("pads_begin",)).met_by(operator)


def test_an_output_size_among_the_inputs_is_a_role():
    """An adaptive operator has it whatever it reduces by."""
    operator = Operator(
        "AdaptiveMax-1", "none", MAXIMUM, (), adaptive(MAXIMUM), input_names=("data", "output_size")
    )
    assert Needs(roles=("output",), reduction="maximum").met_by(operator)
