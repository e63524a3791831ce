"""Files of an operator with two outputs: what is stored, read back, verified and refused."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from support.arbitrary_vectors import plain, small_vectors
from support.two_outputs import NAME, minimum_vectors
from test_strangers import put, refusal, seal, size, with_number  # noqa: F401 - a fixture

from conformance.batch import batch_of
from conformance.vectorfile import VectorFile, VectorWriter, layout
from conformance.vectorfile.verify import differences, verify

OUTPUT = "expected_arrays/output"


@pytest.fixture
def vectors(minimum_pool):
    """Return small vectors of MinimumPool-1."""
    return minimum_vectors()


@pytest.fixture
def path(tmp_path, vectors):
    """Return a file of them."""
    return written(tmp_path / "minimum.h5", vectors)


def written(path, vectors, operator=NAME):
    """Write vectors and return the path."""
    with VectorWriter(path, operator, header={}) as file:
        for vector in vectors:
            file.add(vector)
    return path


class TestRoundTrip:
    """What was written is read back."""

    @pytest.mark.usefixtures("size")
    def test_both_outputs_come_back(self, path, vectors):
        """Bit by bit, one vector at a time and as a batch."""
        with VectorFile(path) as file:
            assert plain([file[number] for number in range(len(file))]) == plain(vectors)
            (batch,) = file.batches([1, 3])
            assert batch.outputs == 2
            assert batch.expected_output.tolist() == [0, 1, 0, 1, 0, 1]
            assert [batch.expected_dtype[row] for row in batch.outcome_expected] == [
                "float32",
                "float32",
                "int8",
            ]

    def test_the_column_says_which_output_a_row_is_of(self, path):
        """The rows of an outcome follow one another."""
        with h5py.File(path) as file:
            assert file[OUTPUT].dtype == np.uint8
            assert file[OUTPUT][...].tolist() == [0, 1] * 5
            assert file["outcomes/expected"][...].tolist() == [0, 2, 4, 6, -1, 8, -1]

    def test_an_operator_of_one_output_has_no_such_column(self, tmp_path):
        """Its files are those of the versions before."""
        path = written(tmp_path / "a.h5", small_vectors(3), "AvgPool-1")
        with h5py.File(path) as file:
            assert OUTPUT not in file

    def test_vectors_without_values_need_no_column(self, tmp_path, vectors):
        """There is no row of any output."""
        path = written(tmp_path / "a.h5", vectors[-1:])
        with h5py.File(path) as file:
            assert OUTPUT not in file
        with VectorFile(path) as file:
            assert plain([file[0]]) == plain(vectors[-1:])

    def test_equal_outputs_of_one_vector_are_stored_once(self, vectors):
        """Outcomes that differ in one output have rows of their own for both."""
        outcome = vectors[0].outcomes[0]
        low, cells = outcome.outputs
        other = replace(outcome, outputs=(low, replace(cells, values=cells.values + 1)))
        batch = batch_of([replace(vectors[0], outcomes=(outcome, outcome, other))])
        assert batch.outcome_expected.tolist() == [0, 0, 2]
        assert batch.expected_output.tolist() == [0, 1, 0, 1]


class TestVerify:
    """All outputs are computed again."""

    def test_a_sound_file_has_no_differences(self, path):
        """Of any kind of vector."""
        with VectorFile(path) as file:
            assert list(verify(file)) == []

    @pytest.mark.parametrize(
        ("output", "what"),
        [
            (0, "minimum: expected [0, 0, 0, 0] is 1.0, computed 0.0 (4 of 4 differ)"),
            (1, "cells: expected [0, 0, 0, 0] is 5, computed 4 (4 of 4 differ)"),
        ],
    )
    def test_a_changed_output_is_named(self, vectors, output, what):
        """And which element of it differs."""
        (outcome,) = vectors[0].outcomes
        outputs = list(outcome.outputs)
        values = outputs[output].values
        outputs[output] = replace(outputs[output], values=values + values.dtype.type(1))
        changed = replace(vectors[0], outcomes=(replace(outcome, outputs=tuple(outputs)),))
        assert differences(changed) == [what]

    def test_a_further_output_of_another_shape_is_found(self, vectors):
        """Nothing is computed then."""
        (outcome,) = vectors[0].outcomes
        wrong = replace(outcome, outputs=(outcome.outputs[0], vectors[2].outcomes[0].outputs[1]))
        (what,) = differences(replace(vectors[0], outcomes=(wrong,)))
        assert what.startswith("attributes give output shape (1, 1, 2, 2), stored is (1, 1, 2, 2)")


class TestWrongVectors:
    """Outputs that are not those of the operator are refused when they are written."""

    def test_a_missing_output(self, tmp_path, vectors):
        """The operator has two."""
        (outcome,) = vectors[0].outcomes
        wrong = replace(vectors[0], outcomes=(replace(outcome, outputs=outcome.outputs[:1]),))
        with pytest.raises(ValueError, match="outputs of an outcome: 1, of MinimumPool-1: 2"):
            written(tmp_path / "a.h5", [wrong])

    def test_a_second_output_of_an_operator_with_one(self):
        (vector,) = small_vectors(1)
        outcome = vector.outcomes[0]
        wrong = replace(outcome, outputs=outcome.outputs * 2)
        with pytest.raises(ValueError, match="outputs of an outcome: 2, of AvgPool-1: 1"):
            batch_of([replace(vector, outcomes=(wrong,))])

    def test_an_output_of_another_type_than_it_always_has(self, vectors):
        """Counts are int64, whatever the data are."""
        (outcome,) = vectors[0].outcomes
        low, cells = outcome.outputs
        wrong = replace(outcome, outputs=(low, replace(cells, values=cells.values.astype("i4"))))
        with pytest.raises(ValueError, match="output 1 is of int32, and of int64 in Min"):
            batch_of([replace(vectors[0], outcomes=(wrong,))])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_number(OUTPUT, slice(None), 0), f"{OUTPUT}: not outputs 0 to 1 in turn"),
        (
            lambda file: put(file, OUTPUT, file[OUTPUT][:-1]),
            f"column {OUTPUT} has 9 elements and not 10",
        ),
        (lambda file: file.pop(OUTPUT), f"{OUTPUT}: not outputs 0 to 1 in turn"),
        (
            with_number("outcomes/expected", 0, 1),
            "outcomes/expected: a row is not that of a first output",
        ),
        (
            with_number("vectors/first_expected", 1, 1),
            "a vector has not 2 expected arrays for each outcome",
        ),
        (
            with_number("expected_arrays/dtype", 1, layout.ELEMENT_TYPES.index("uint64")),
            "expected_arrays: an output is not of a type that it may have",
        ),
    ],
    ids=["turn", "short", "missing", "begins with the second", "odd number", "type"],
)
@pytest.mark.usefixtures("size")
def test_a_column_of_a_stranger_that_is_wrong_is_refused(path, change, said):
    """With one line, however the file is read."""
    with h5py.File(path, "r+") as file:
        change(file)
        seal(file, NAME)
    assert refusal(path) == f"{path}: {said}"
