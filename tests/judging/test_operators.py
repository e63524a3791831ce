"""Readings of several operators, each with clauses of its own and some in common."""

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples
from support.fakes import check, vector
from support.joint_readings import Joint
from test_reading_sets import clause

from conformance.judging.reading_sets import ReadingSpace, reading_space
from conformance.judging.readings import settled
from conformance.judging.votes import Separators, Vote
from conformance.operators import CLAUSES as OPERATOR_CLAUSES
from conformance.operators import evaluate

CLAUSES = (
    clause("a"),
    clause("b", 3),
    clause("c"),
    clause("d"),
    clause("m", nested=True),
    clause("n", nested=True),
)
SPACES = {
    "P": ReadingSpace(tuple(c for c in CLAUSES if c.name in "abn")),
    "Q": ReadingSpace(tuple(c for c in CLAUSES if c.name in "bcmn")),
    "R": ReadingSpace(tuple(c for c in CLAUSES if c.name in "adm")),
}
ATTRIBUTES = ("operator", "dtype", "axes")
"""Those by which the votes here differ."""


def vote(operator, accepted, separators, *, excused=False, spaces=SPACES):
    """Return a vote for combinations of readings given as numbers."""
    space = spaces[operator]
    named = [{name: f"r{number}" for name, number in one.items()} for one in accepted]
    return Vote(
        space.bits_of(named),
        space.disputed_in(accepted[0]),
        excused,
        Separators(operator, separators["dtype"], separators["axes"], "", "", ""),
    )


@st.composite
def drawn_votes(draw):
    """Draw votes: (operator, accepted, separators), and which of them are excused."""
    found = []
    for _ in range(draw(st.integers(1, 7))):
        operator = draw(st.sampled_from("PQR"))
        sizes = {c.name: len(c.readings) for c in SPACES[operator].clauses}
        touched = draw(
            st.lists(st.sampled_from(list(sizes)), min_size=1, max_size=3, unique=True).map(sorted)
        )
        combination = st.fixed_dictionaries({n: st.integers(0, sizes[n] - 1) for n in touched})
        accepted = draw(st.lists(combination, min_size=1, max_size=4))
        # The later readings of these accept all that the first one does.
        for name in {"m", "n"}.intersection(touched):
            accepted += [{**one, name: 1} for one in accepted if one[name] == 0]
        separators = {
            "operator": operator,
            "dtype": draw(st.sampled_from("pq")),
            "axes": draw(st.sampled_from("12")),
        }
        found.append((operator, accepted, separators, draw(st.sampled_from([False] * 3 + [True]))))
    return found


def plain(report):
    """Return a report as `Joint` has it: readings by their numbers."""

    def number(reading):
        return None if reading in (None, "either") else int(reading[1:])

    return (
        report.status,
        number(report.followed),
        report.by,
        {value: number(reading) for value, reading in report.values.items()},
        list(report.counts.values()),
        report.touched,
    )


@examples(25)
@given(drawn_votes())
def test_it_is_as_if_all_clauses_were_in_one_space(drawn):
    """A space per operator gives the reports and refutes the exceptions of one for all."""
    sizes = [(c.name, len(c.readings), c.nested) for c in CLAUSES]
    voting = [(*rest,) for *rest, excused in drawn if not excused]
    joint = Joint(sizes, ATTRIBUTES, voting)
    votes = [vote(*rest, excused=excused) for *rest, excused in drawn]
    with patch("conformance.judging.readings.CLAUSES", {each.name: each for each in CLAUSES}):
        wrong, reports = settled(Counter(votes), SPACES.get)
    assert [(each.clause, plain(each)) for each in reports] == list(joint.reports().items())
    refuted = [each in wrong for each, (*_, excused) in zip(votes, drawn, strict=True) if excused]
    assert refuted == [joint.refutes(rest) for *rest, excused in drawn if excused]


class TestManyOperators:
    """Nothing grows with the clauses of all operators together."""

    def chain(self, count, last):
        """Return votes of operators that each share a clause with the next, and how they vary.

        Each says that its two clauses go together. Of the first clause reading 0 is shown, and of
        the last one a reading given.
        """
        spaces, votes = {}, Counter()
        for i in range(count):
            name = f"O{i:02}"
            spaces[name] = ReadingSpace(
                (clause(f"link-{i:02}"), clause(f"link-{i + 1:02}"), clause(f"own-{i:02}"))
            )
            together = [{f"link-{i:02}": r, f"link-{i + 1:02}": r} for r in (0, 1)]
            voting = [together, [{f"own-{i:02}": i % 2}]]
            voting += [[{"link-00": 0}]] if i == 0 else []
            voting += [[{f"link-{count:02}": last}]] if i == count - 1 else []
            for accepted in voting:
                separators = {"dtype": "", "axes": ""}
                votes[vote(name, accepted, separators, spaces=spaces)] += 1
        return votes, spaces

    def test_what_one_shows_settles_all(self):
        """Along a chain of forty operators with 81 clauses, which have 2^81 combinations."""
        votes, spaces = self.chain(40, last=0)
        _, reports = settled(votes, spaces.get)
        followed = {each.clause: each.followed for each in reports}
        assert len(followed) == 81
        assert all(followed[f"link-{i:02}"] == "r0" for i in range(41))
        assert all(followed[f"own-{i:02}"] == f"r{i % 2}" for i in range(40))

    def test_a_contradiction_between_the_ends(self):
        """One clause of the chain may vary to explain it, and no more are blamed."""
        votes, spaces = self.chain(12, last=1)
        _, reports = settled(votes, spaces.get)
        assert Counter(each.status for each in reports)["followed"] == 24
        (odd,) = [each for each in reports if each.status != "followed"]
        assert odd.clause.startswith("link-")

    def test_many_clauses_that_vary(self):
        """Forty clauses with both readings shown are forty inconsistent ones."""
        spaces, votes = {}, Counter()
        for i in range(40):
            name = f"O{i:02}"
            spaces[name] = ReadingSpace((clause(f"own-{i:02}"), clause("common")))
            for reading in (0, 1):
                accepted = [{f"own-{i:02}": reading, "common": 1}]
                separators = {"dtype": "", "axes": ""}
                votes[vote(name, accepted, separators, spaces=spaces)] += 1
        _, reports = settled(votes, spaces.get)
        status = {each.clause: each.status for each in reports}
        assert status.pop("common") == "followed"
        assert set(status.values()) == {"inconsistent"}


def following_ignored(operator, inputs, attributes):
    """Return the first output; MinimumPool-1 leaves NaN out."""
    output = evaluate(operator, inputs, attributes, {"nan-in-minimum": "ignored"})
    return output[0] if isinstance(output, tuple) else output


@pytest.mark.usefixtures("minimum_pool")
class TestClauseFromOutside:
    """A clause that an operator from outside brings is in that operator's space alone."""

    @pytest.fixture
    def vectors(self, minimum_pool):
        """Return a vector with a NaN of MinimumPool-1 and one of MaxPool-1."""
        data = np.array([[[np.nan, 1, 2, 3]]], np.float32)
        window = {"window": [2], "step": [2]}
        return [
            vector(data, window, operator=minimum_pool.name, id="min"),
            vector(data, operator="MaxPool-1", id="max"),
        ]

    def test_it_is_followed_and_reported_like_any_other(self, vectors):
        """In the order of all clauses."""
        assert list(reading_space("MinimumPool-1").readings) == [
            "same-output-size",
            "same-never-crops",
            "same-with-ceil",
            "ceil-window-past-input",
            "valid-rounds",
            "subnormals",
            "pads-not-below-kernel",
            "nan-in-minimum",
        ]
        assert "nan-in-minimum" not in reading_space("MaxPool-1").readings
        report = check(following_ignored, vectors)
        followed = {each.clause: each.followed for each in report.readings}
        assert followed == {"nan-in-maximum": "propagates", "nan-in-minimum": "ignored"}
        assert list(followed) == [name for name in OPERATOR_CLAUSES if name in followed]
        assert [list(each.readings) for each in report.results] == [
            [{"nan-in-minimum": "ignored"}],
            [{"nan-in-maximum": "propagates"}],
        ]
