"""Votes: what vectors say of readings, and what may separate them."""

from collections import Counter

import numpy as np
import pytest
from support.fakes import pool, ramp, ran, right, vector

from conformance.judging.votes import separators
from conformance.judging.whole_run import vote_of


class TestSeparators:
    """What may separate readings has the same words in every document."""

    @pytest.mark.parametrize(
        ("operator", "attributes", "values"),
        [
            ("AvgPool-1", {"exclude_pad": True}, ("explicit", "floor", "true")),
            ("AvgPool-1", {"exclude_pad": False}, ("explicit", "floor", "false")),
            (
                "AvgPool-1",
                {"exclude_pad": True, "auto_pad": "valid", "rounding_type": "ceil"},
                ("valid", "ceil", "true"),
            ),
            ("MaxPool-1", {}, ("explicit", "floor", "no divisor")),
            ("nGraph-AvgPool", {}, ("explicit", "floor", "true")),
            (
                "nGraph-AvgPool",
                {"include_padding_in_avg_computation": True},
                ("explicit", "floor", "false"),
            ),
            ("AdaptiveAvgPool-8", {}, ("explicit", "floor", "true")),
        ],
    )
    def test_by_role(self, operator, attributes, values):
        """Attributes go by their role, whatever the document calls them."""
        expected = (operator, "float32", "2", *values)
        assert tuple(separators(operator, "float32", 2, attributes)) == expected

    @pytest.mark.parametrize("value", ["odd", 3, None, [1], {}])
    def test_invalid_values_stand_for_themselves(self, value):
        """Vectors that break a rule have them."""
        attributes = {"auto_pad": value, "rounding_type": value, "exclude_pad": value}
        found = separators("AvgPool-1", "float32", 1, attributes)
        assert found[3:] == (str(value),) * 3


def votes(*vectors, backend=right):
    """Return the votes of vectors in a run."""
    every = (vote_of(result, {}) for result in ran(backend, *vectors).results)
    return Counter(vote for vote in every if vote is not None)


class TestVotes:
    """Vectors that say the same are counted together."""

    def test_equal_ones_are_one(self):
        """Other data of the same kind change nothing."""
        same = pool(auto_pad="same_upper")
        found = votes(*(vector(ramp(1, 1, n), same, id=f"{n}") for n in (5, 7)))
        ((vote, count),) = found.items()
        assert (count, vote.clauses, vote.excused) == (2, ("same-output-size",), False)

    def test_what_separates_them_counts_apart(self):
        """An element type, for example."""
        same = pool(auto_pad="same_upper")
        found = votes(*(vector(ramp(1, 1, 5, dtype=d), same, id=d) for d in ("float32", "float64")))
        assert sorted(found.values()) == [1, 1]
        assert {vote.separators.dtype for vote in found} == {"float32", "float64"}

    def test_a_mismatch_has_none(self):
        """What does not conform says nothing."""
        same = vector(ramp(1, 1, 5), pool(auto_pad="same_upper"))
        assert not votes(same, backend=lambda *case: right(*case) + 9)

    def test_a_vector_without_inputs_to_look_at(self):
        """Data of any rank may be in a file."""
        bare = vector(np.zeros(3, np.float32))
        result = ran(lambda *_: 1 / 0, bare).results[0]
        assert result.verdict == "conforms"
