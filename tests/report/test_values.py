"""Numbers and readings as short text."""

import numpy as np
import pytest
from support.arbitrary_reports import result

from conformance.report import phrases
from conformance.report import values as words
from conformance.text import listed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (2 / 3, "0.667"),
        (1e-5, "1e-5"),
        (-1.2345e-10, "-1.23e-10"),
        (123456.0, "1.23e5"),
        (99999.0, "99999"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (np.int64(2**40), "1099511627776"),
        (np.uint8(7), "7"),
    ],
)
def test_short_keeps_three_digits(value, text):
    """Whole numbers below 1e5 and integers keep all their digits, others three."""
    assert words.short(value) == text


@pytest.mark.parametrize(
    ("nbytes", "text"), [(12, "12 B"), (999, "999 B"), (4_100_000, "4.1 MB"), (2e12, "2.0 TB")]
)
def test_size_has_a_unit(nbytes, text):
    """Bytes are counted in powers of a thousand."""
    assert words.size(nbytes) == text


CLAUSES = {"a": ("x", "y"), "b": ("p", "q")}


@pytest.mark.parametrize(
    ("taken", "text"),
    [
        ([{"a": "x", "b": "p"}, {"a": "x", "b": "q"}], "a=x"),
        ([{"a": "x", "b": "p"}], "a=x, b=p"),
        ([{"a": i, "b": j} for i in "xy" for j in "pq"], "every reading"),
        ([{"a": "x", "b": "p"}, {"a": "y", "b": "q"}], "a=x, b=p or a=y, b=q"),
        ([{}], "every reading"),
    ],
)
def test_combinations_name_only_the_clauses_that_matter(taken, text):
    """A clause with all its readings is left out; an uneven set is written out."""
    assert words.combinations(taken, CLAUSES) == text


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), ("abc", "a, b and c")]
)
def test_list_of_ends_with_and(items, text):
    """The last two items are joined by a word."""
    assert listed(items) == text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("AvgPool-1, Examples, 1", "computed"),  # the document prints attributes alone
        ("nGraph AvgPool, Example, i = false", "printed"),
        ("another document", "computed"),
    ],
)
def test_expected_values_are_printed_where_a_document_prints_some(source, said):
    """What a file stores says no more than that an example is cited."""
    operator = "nGraph-AvgPool" if source.startswith("nGraph") else "AvgPool-1"
    assert words.provenance(operator, "printed", source) == said
    assert words.provenance(operator, "derived", source) == "derived"
    one = result("a", "mismatch", operator, source=source, provenance="printed")
    facts = dict(phrases.facts(one))
    assert facts["source"] == f"{source} ({said})"
