"""Sets of combinations of readings, in the space of an operator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.random_cases import EVERY

from conformance.errors import UsageError
from conformance.judging.reading_sets import ReadingSpace, reading_space
from conformance.operators import OPERATORS, Clause, Reading, disputed_of

SPACE = reading_space("AvgPool-1")


def clause(name, readings=2, *, nested=False):
    """Return a disputed clause with readings r0, r1, ..."""
    return Clause(
        name=name,
        kind="disputed",
        document="D",
        section="s",
        says="nothing",
        answer="which",
        evidence="none",
        readings=tuple(Reading(f"r{i}", "") for i in range(readings)),
        nested=nested,
    )


class TestSpaces:
    """Each operator has a space of its own."""

    @pytest.mark.parametrize("operator", EVERY)
    def test_it_has_the_clauses_that_concern_the_operator(self, operator):
        """No other clause makes its sets larger."""
        clauses = disputed_of(OPERATORS[operator])
        space = reading_space(operator)
        assert list(space.readings) == [clause.name for clause in clauses]
        assert space.shape == tuple(len(clause.readings) for clause in clauses)
        assert space is reading_space(operator)

    def test_there_is_none_of_an_unknown_operator(self):
        """The message names those there are."""
        with pytest.raises(UsageError, match="unknown operator 'Pool'"):
            reading_space("Pool")


@st.composite
def sets(draw):
    """Draw a space of any size and a set of it."""
    sizes = draw(st.lists(st.integers(1, 3), max_size=5))
    space = ReadingSpace(tuple(clause(f"c{i}", n) for i, n in enumerate(sizes)))
    return space, draw(hnp.arrays(np.bool_, space.shape))


class TestSets:
    """What is put in comes out."""

    @given(sets())
    def test_packing_loses_nothing(self, drawn):
        """`unpack` undoes `pack`, and the number of bits is that of combinations."""
        space, members = drawn
        bits = space.pack(members)
        assert bits.bit_count() == members.sum()
        assert np.array_equal(space.unpack(bits), members)

    def test_combinations_come_back(self):
        """A set is the combinations it was made of, over the clauses asked for."""
        made = [{"accumulator": "element-type", "subnormals": "kept"}]
        bits = SPACE.bits_of(made)
        assert SPACE.combinations_in(bits, ["accumulator", "subnormals"]) == tuple(made)
        assert SPACE.readings_in(bits, "accumulator") == ("element-type",)
        everything, nothing = map(SPACE.bits_of, ([{}], []))
        assert SPACE.combinations_in(everything, []) == ({},)
        assert SPACE.combinations_in(nothing, ["subnormals"]) == ()

    def test_combinations_are_in_the_order_of_clauses_and_readings(self):
        """Not in the order in which they were put in."""
        made = [{"subnormals": "flushed", "accumulator": "wider"}, {"accumulator": "element-type"}]
        found = SPACE.combinations_in(SPACE.bits_of(made), ["subnormals", "accumulator"])
        assert [tuple(combination.items()) for combination in found] == [
            (("accumulator", "wider"), ("subnormals", "flushed")),
            (("accumulator", "element-type"), ("subnormals", "kept")),
            (("accumulator", "element-type"), ("subnormals", "flushed")),
        ]

    @pytest.mark.parametrize(
        "unknown",
        [{"ceiling": "kept"}, {"subnormals": "ignored"}, {"nan-in-maximum": "propagates"}],
    )
    def test_unknown_names_are_refused(self, unknown):
        """A newer version may have other clauses or readings; another operator has."""
        with pytest.raises(KeyError):
            SPACE.bits_of([{}, unknown])
