"""What a clause or a fault needs of an operator."""

from dataclasses import replace

import pytest

from conformance.operators import OPERATORS, Attribute
from conformance.operators.needs import (
    AVERAGES,
    GRADIENTS_OF_MAXIMA,
    INTEGERS,
    MAXIMUM,
    SUMS,
    all_of,
    can_mean,
    has,
    has_any,
    has_default,
    has_other_default,
    lacks,
    lacks_clause,
    meets,
    pools,
    requires,
    takes,
)

AVG, MAX, ADAPTIVE, NGRAPH = (
    OPERATORS[name] for name in ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
)
GRADIENT = OPERATORS["MaxPool-1-backward"]
PADS = Attribute("pads", "pads", "", default=0)


def meeting(needs):
    """Return which of five operators meet needs."""
    return [each for each in (AVG, MAX, ADAPTIVE, NGRAPH, GRADIENT) if meets(each, needs)]


@pytest.mark.parametrize(
    ("needs", "operators"),
    [
        ((), [AVG, MAX, ADAPTIVE, NGRAPH, GRADIENT]),
        ((has("kernel"),), [AVG, MAX, NGRAPH, GRADIENT]),
        ((has("kernel"), has("include_pad")), [AVG, NGRAPH]),
        ((has_any("auto_pad", "output"),), [AVG, MAX, ADAPTIVE, GRADIENT]),
        ((lacks("kernel"),), [ADAPTIVE]),
        ((lacks("auto_pad", "output"),), [NGRAPH]),
        ((lacks_clause("stride-zero"),), [ADAPTIVE, NGRAPH]),
        ((has_default("strides"),), [NGRAPH]),
        ((requires("strides"),), [AVG, MAX, GRADIENT]),
        ((can_mean("auto_pad", "valid"),), [AVG, MAX, GRADIENT]),
        ((can_mean("auto_pad", "reflect"),), []),
        ((has_other_default("strides", 2),), [NGRAPH]),
        ((has_other_default("strides", 1),), []),
        ((has_other_default("include_pad", True),), [NGRAPH]),
        ((has_other_default("include_pad", False),), []),
        ((pools("maximum"),), [MAX, GRADIENT]),
        (AVERAGES, [AVG, ADAPTIVE, NGRAPH]),
        (MAXIMUM, [MAX]),
        (GRADIENTS_OF_MAXIMA, [GRADIENT]),
        (SUMS, [AVG, ADAPTIVE, NGRAPH, GRADIENT]),
        (INTEGERS, [MAX, NGRAPH]),
        ((takes("float16"),), [AVG, MAX, ADAPTIVE, NGRAPH, GRADIENT]),
        ((takes("int8"),), [MAX, NGRAPH]),
    ],
)
def test_an_operator_must_have_all_that_is_needed(needs, operators):
    """Needs are met by the operators of which every predicate holds."""
    assert meeting(needs) == operators


def test_pads_in_one_list_are_begins_and_ends():
    """An attribute that lists both ends has the roles of both."""
    others = (AVG.attribute("kernel"), AVG.attribute("include_pad"))
    listed = replace(AVG, attributes=(*others, PADS))
    assert meets(listed, (has_default("pads_begin"), has_default("pads_end")))
    assert not meets(listed, (has_default("pads_end"), lacks("pads")))


def test_what_is_asked_twice_is_there_once():
    """The same words are the same predicate, whoever says them."""
    needs = all_of((has("kernel"), *SUMS), (has("kernel"), has("strides")))
    assert needs == (has("kernel"), *SUMS, has("strides"))
