"""What is asked of a run: one value, which Python, the command line and pytest have in common."""

import re
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
    assert compared.total.total() == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"jobs": 0}, "jobs is 0: from 1 to 256"),
        ({"jobs": 257}, "jobs is 257: from 1 to 256"),
        ({"timeout": 0}, "timeout is 0 s: above 0"),
        ({"memory": 0}, "memory is 0 bytes: at least 1"),
        ({"max_failures": 0}, "max_failures is 0; it must be at least 1"),
        ({"diagnose": "all"}, "diagnose is 'all': it has to be True or False, 'none', 'seen' or"),
        ({"operators": 5}, "operators is 5: it has to be a text, several (each a text) or None"),
        ({"select": 5}, "select is 5: it has to be a text, several (each a text), a function or"),
        ({"tier": None}, "tier is None: it has to be a text"),
        ({"require": "x"}, "require is 'x': it has to be a mapping of texts to texts or None"),
        ({"expected_failures": 5}, "expected_failures is 5: it has to be a text, a path or None"),
        ({"skip": 5}, "skip is 5: it has to be a text, a path or None"),
        ({"baseline": 5}, "baseline is 5: it has to be a text, a path or None"),
        ({"select": [1]}, "select is [1]: it has to be a text, several (each a text), a"),
        ({"operators": [1]}, "operators is [1]: it has to be a text, several (each a text) or"),
        ({"require": {"subnormals": 1}}, "require is {'subnormals': 1}: it has to be a mapping"),
        ({"select": b"x"}, "select is b'x': it has to be a text"),
        ({"allow_extensions": "no"}, "allow_extensions is 'no': it has to be True or False"),
        ({"strict_unsupported": "false"}, "strict_unsupported is 'false': it has to be True or"),
        ({"isolate": 1}, "isolate is 1: it has to be True or False"),
        ({"jobs": True}, "jobs is True: it has to be a whole number"),
        ({"timeout": True}, "timeout is True: it has to be a number or None"),
        ({"memory": True}, "memory is True: it has to be a whole number or None"),
        ({"max_failures": True}, "max_failures is True: it has to be a whole number or None"),
        ({"min_supported": [0.5]}, "min_supported is [0.5]: it has to be a text, a whole number"),
    ],
)
def test_a_value_that_cannot_be_is_wrong_usage(wrong, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        Settings(**wrong)


def test_an_unknown_keyword_is_a_type_error():
    said = r"^no setting 'tiers' \(did you mean tier\?\); there are operators, select, "
    with pytest.raises(TypeError, match=said):
        check(right, VECTORS, tiers="smoke")


def test_every_setting_but_one_is_an_option():
    """A command line says --in-process, where Python says isolate."""
    assert {field.name for field in fields(Settings)} - options().keys() == {"isolate"}
