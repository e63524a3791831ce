"""The keywords of `check` in groups: which vectors are run, and in which workers."""

from __future__ import annotations

import pytest
from support.fakes import ramp, right, vector

from conformance import UsageError, check
from conformance.judging.run_settings import Floors, Selection, Workers

VECTORS = [
    vector(ramp(1, 1, 6), id="one", tier="smoke"),
    vector(ramp(1, 1, 8), id="two"),
    vector(ramp(1, 1, 6), operator="MaxPool-1", id="three"),
]


def ids(**options):
    """Return the ids of the vectors that a check runs."""
    return [result.id for result in check(right, VECTORS, **options).results]


@pytest.mark.parametrize(
    ("keywords", "selected"),
    [
        ({}, ["one", "two", "three"]),
        ({"tier": "smoke"}, ["one"]),
        ({"operators": "MaxPool-1"}, ["three"]),
        ({"select": ["tw*", "thr"]}, ["two", "three"]),
        ({"operators": ["AvgPool-1"], "shard": "2/2"}, ["two"]),
    ],
)
def test_a_group_does_what_its_keywords_do(keywords, selected):
    """A Selection has the fields that are keywords as well."""
    assert ids(**keywords) == ids(selection=Selection(**keywords)) == selected


def test_workers_may_be_a_value():
    """A Workers value asks for processes as its keywords do."""
    report = check("numpy", VECTORS[:1], workers=Workers(jobs=2, timeout=60.0))
    assert report.ok


@pytest.mark.parametrize(
    ("group", "keyword"),
    [
        ({"selection": Selection()}, {"tier": "smoke"}),
        ({"workers": Workers()}, {"jobs": 2}),
        ({"floors": Floors()}, {"min_supported": 2}),
    ],
)
def test_what_is_given_twice_is_refused(group, keyword):
    """A group and a keyword of it contradict each other, even where they would agree."""
    ((name, _),) = keyword.items()
    with pytest.raises(UsageError, match=f"^{name} is given beside {next(iter(group))}"):
        check(right, VECTORS, **group, **keyword)


def test_an_unknown_keyword_is_a_type_error():
    """It is named."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'tiers'"):
        check(right, VECTORS, tiers="smoke")
