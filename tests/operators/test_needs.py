"""What a clause or a fault needs of an operator."""

from dataclasses import replace

import pytest

from conformance.operators import OPERATORS, Attribute, Needs, Output

AVG, MAX, ADAPTIVE, NGRAPH = (
    OPERATORS[name] for name in ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
)
PADS = Attribute("pads", "pads", "", default=0)


def meeting(needs):
    """Return which of four operators meet needs."""
    return [operator for operator in (AVG, MAX, ADAPTIVE, NGRAPH) if operator.meets(needs)]


@pytest.mark.parametrize(
    ("needs", "operators"),
    [
        (Needs(), [AVG, MAX, ADAPTIVE, NGRAPH]),
        (Needs(roles=("kernel",)), [AVG, MAX, NGRAPH]),
        (Needs(roles=("kernel", "include_pad")), [AVG, NGRAPH]),
        (Needs(some=("auto_pad", "output")), [AVG, MAX, ADAPTIVE]),
        (Needs(without=("kernel",)), [ADAPTIVE]),
        (Needs(optional=("strides",)), [NGRAPH]),
        (Needs(required=("strides",)), [AVG, MAX]),
        (Needs(says=(("auto_pad", "valid"),)), [AVG, MAX]),
        (Needs(says=(("auto_pad", "reflect"),)), []),
        (Needs(other_default=(("strides", 2),)), [NGRAPH]),
        (Needs(other_default=(("strides", 1),)), []),
        (Needs(other_default=(("include_pad", True),)), [NGRAPH]),
        (Needs(other_default=(("include_pad", False),)), []),
        (Needs(reduction="average"), [AVG, ADAPTIVE, NGRAPH]),
        (Needs(sums=False), [MAX]),
        (Needs(integers=True), [MAX, NGRAPH]),
        (Needs(integers=False), [AVG, ADAPTIVE]),
        (Needs(limited_axes=True), [AVG, MAX, ADAPTIVE]),
        (Needs(dtypes=("float16",)), [AVG, MAX, ADAPTIVE, NGRAPH]),
        (Needs(dtypes=("int8",)), [MAX, NGRAPH]),
        (Needs(outputs=1), [AVG, MAX, ADAPTIVE, NGRAPH]),
        (Needs(outputs=2), []),
    ],
)
def test_an_operator_must_have_all_that_is_needed(needs, operators):
    """Needs are met by the operators that have what they name."""
    assert meeting(needs) == operators


def test_pads_in_one_list_are_begins_and_ends():
    """An attribute that lists both ends has the roles of both."""
    others = (AVG.attribute("kernel"), AVG.attribute("include_pad"))
    listed = replace(AVG, attributes=(*others, PADS))
    assert listed.meets(Needs(optional=("pads_begin", "pads_end")))
    assert not listed.meets(Needs(optional=("pads_end",), without=("pads",)))


def test_further_outputs_are_counted():
    """So many outputs there must be, or more."""
    two = replace(AVG, outputs=(Output("one"), Output("other")))
    assert two.meets(Needs(outputs=2))
    assert not two.meets(Needs(outputs=3))


def test_and_asks_for_both():
    """`&` joins roles and traits; what either leaves open the other says."""
    both = Needs(roles=("kernel",), integers=True) & Needs(
        roles=("kernel", "strides"), reduction="average", outputs=2
    )
    assert both == Needs(roles=("kernel", "strides"), integers=True, reduction="average", outputs=2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Needs(reduction="average"), Needs(reduction="maximum")),
        (Needs(integers=True), Needs(integers=False)),
        (Needs(some=("kernel",)), Needs(some=("output",))),
    ],
)
def test_what_contradicts_itself_is_refused(one, other):
    """Needs that one value cannot hold are an error, not one of the two."""
    with pytest.raises(ValueError, match=r"\w"):
        one & other
