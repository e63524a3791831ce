"""What is asked of a run: one value, which Python, the command line and pytest have in common."""

from dataclasses import fields

import pytest
from support.fakes import ramp, right, vector

import conformance
from conformance import UsageError, check
from conformance.settings import Settings, options

VECTORS = [
    vector(ramp(1, 1, 6), id="one", tier="smoke"),
    vector(ramp(1, 1, 8), id="two"),
    vector(ramp(1, 1, 6), operator="MaxPool-1", id="three"),
]
CHOICES = [
    ({}, ["one", "two", "three"]),
    ({"tier": "smoke"}, ["one"]),
    ({"operators": "MaxPool-1"}, ["three"]),
    ({"select": ["tw*", "thr"]}, ["two", "three"]),
    ({"operators": ["AvgPool-1"], "shard": "2/2"}, ["two"]),
]


def ids(*settings, **given):
    """Return the ids of the vectors that a check runs."""
    return [result.id for result in check(right, VECTORS, *settings, **given).results]


@pytest.mark.parametrize(("given", "selected"), CHOICES)
def test_keywords_are_the_fields_of_settings(given, selected):
    assert ids(**given) == ids(Settings(**given)) == selected


def test_a_keyword_changes_what_settings_say():
    assert ids(Settings(tier="smoke", operators="AvgPool-1"), tier="standard") == ["one", "two"]


def test_settings_are_those_of_compare_too():
    (compared,) = conformance.compare({"right": right}, VECTORS, Settings(tier="smoke")).backends
    assert compared.vectors == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"jobs": 0}, "jobs is 0: from 1 to 256"),
        ({"jobs": 257}, "jobs is 257: from 1 to 256"),
        ({"timeout": 0}, "timeout is 0 s: above 0"),
        ({"memory": 0}, "memory is 0 bytes: at least 1"),
        ({"max_failures": 0}, "max_failures is 0; it must be at least 1"),
        ({"diagnose": "all"}, "diagnose='all': one of none, seen, proven"),
        ({"operators": 5}, "operators is 5: a name or several"),
        ({"select": 5}, "select is 5: a text, several"),
        ({"tier": None}, "tier is None: a text"),
        ({"require": "x"}, "require is 'x': a mapping"),
        ({"expected_failures": 5}, "expected_failures is 5: a path"),
        ({"skip": 5}, "skip is 5: a path"),
        ({"baseline": 5}, "baseline is 5: a path"),
    ],
)
def test_a_value_that_cannot_be_is_wrong_usage(wrong, message):
    with pytest.raises(UsageError, match=message):
        Settings(**wrong)


def test_an_unknown_keyword_is_a_type_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'tiers'"):
        check(right, VECTORS, tiers="smoke")


def test_every_setting_but_one_is_an_option():
    """A command line says --in-process, where Python says isolate."""
    assert {field.name for field in fields(Settings)} - options().keys() == {"isolate"}
