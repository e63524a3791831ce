"""Batches: vectors as columns and back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from support.arbitrary_vectors import plain, small_vectors, vector_lists, with_first
from support.effort import examples

from conformance.batch import RAISES, VALUES, batch_of, vector_at
from conformance.vector import Arithmetic, Values


def _with_outcomes(*outcomes):
    (vector,) = small_vectors(1)
    return replace(vector, outcomes=outcomes)


class TestBatchOf:
    """Objects to columns."""

    @examples(0.5)
    @given(vector_lists())
    def test_a_batch_gives_back_the_vectors_it_was_made_of(self, vectors):
        """Columns and objects are two forms of one thing."""
        batch = batch_of(vectors)
        back = [vector_at(batch, index) for index in range(len(vectors))]
        assert plain(vectors) == plain(back)

    def test_outcome_rows_name_their_vector_kind_and_expected_array(self):
        """The outcome columns are one row per outcome, in the order of the vectors."""
        batch = batch_of(small_vectors(2))
        assert batch.outcome_vector.tolist() == [0, 0, 1, 1]
        assert batch.outcome_kind.tolist() == [VALUES, RAISES, VALUES, RAISES]
        assert batch.outcome_expected.tolist() == [0, -1, 1, -1]

    def test_equal_expected_arrays_of_one_vector_are_stored_once(self):
        """Outcomes that differ only in how they are judged share a row."""
        answer = small_vectors(1)[0].outcomes[0]
        copy = with_first(answer, values=answer.outputs[0].values.copy())
        copy = replace(copy, arithmetic=Arithmetic.ELEMENT_TYPE)
        batch = batch_of([_with_outcomes(answer, copy)])
        assert batch.outcome_expected.tolist() == [0, 0]
        assert batch.expected_size.tolist() == [4]

    def test_expected_arrays_that_differ_in_the_sign_of_zero_are_kept_apart(self):
        """Sharing is by bits, not by value."""
        answer = with_first(small_vectors(1)[0].outcomes[0], values=np.zeros((1, 4), np.float32))
        batch = batch_of(
            [_with_outcomes(answer, with_first(answer, values=-answer.outputs[0].values))]
        )
        assert batch.outcome_expected.tolist() == [0, 1]

    def test_inputs_are_read_only_and_the_callers_array_is_not(self):
        """A backend cannot change a batch, and making a batch changes nothing."""
        vectors = small_vectors(1)
        batch = batch_of(vectors)
        assert not batch.inputs[0][0].flags.writeable
        assert vectors[0].case.inputs[0].flags.writeable

    @pytest.mark.parametrize(
        ("vector", "what"),
        [
            (_with_outcomes(), "no outcome"),
            (_with_outcomes(Values(())), "lacks an array"),
            (
                _with_outcomes(
                    with_first(small_vectors(1)[0].outcomes[0], addends=np.zeros(3, np.int32))
                ),
                "not one per expected element",
            ),
        ],
    )
    def test_a_vector_without_columns_is_refused_by_name(self, vector, what):
        """ValueError says which vector and what is wrong with it."""
        with pytest.raises(ValueError, match=f"AvgPool-1/case/000: .*{what}"):
            batch_of([vector])

    @pytest.mark.parametrize(
        "array", [np.float32(1) * np.ones(()), np.zeros((1,) * 9), np.zeros(1, complex)]
    )
    def test_an_input_of_unknown_type_or_rank_is_refused(self, array):
        """Rank 1 to 8 and the suite's element types are what a batch can hold."""
        (vector,) = small_vectors(1)
        wrong = replace(vector, case=replace(vector.case, inputs=(array,)))
        with pytest.raises(ValueError, match=r"rank|element type"):
            batch_of([wrong])

    def test_vectors_of_two_operators_are_refused(self):
        """A batch is of one operator."""
        one, other = small_vectors(2)
        other = replace(other, case=replace(other.case, operator="MaxPool-1"))
        with pytest.raises(ValueError, match="operator MaxPool-1 in a batch of AvgPool-1"):
            batch_of([one, other])


class TestVectorAt:
    """Columns to objects."""
