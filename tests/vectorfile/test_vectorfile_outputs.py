"""Files of an operator with two outputs: what is stored, read back, verified and refused."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import h5py
import numpy as np
import pytest
from arbitrary_vectors import plain, small_vectors
from two_outputs import NAME, minimum_vectors

from conformance.batch import batch_of
from conformance.errors import VectorFileError
from conformance.vectorfile import VectorFile, VectorWriter, layout, reader
from conformance.verify import differences, verify

OUTPUT = "expected_arrays/output"


@pytest.fixture
def vectors(minimum_pool):
    """Return small vectors of MinimumPool-1."""
    return minimum_vectors()


@pytest.fixture
def path(tmp_path, vectors):
    """Return a file of them."""
    return written(tmp_path / "minimum.h5", vectors)


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Let files be read whole, and again as large ones are, piece by piece."""
    if request.param == "large":
        monkeypatch.setattr(reader, "_RESIDENT", -1)


def written(path, vectors, operator=NAME):
    """Write vectors and return the path."""
    with VectorWriter(path, operator, header={}) as file:
        for vector in vectors:
            file.add(vector)
    return path


def spoilt(path, change):
    """Change columns and store the digest that is right for them; return the error of opening."""
    with h5py.File(path, "r+") as file:
        change(file)
        columns = {}
        for name in layout.COLUMNS:
            if name in file:
                data = file[name][...]
                columns[name] = (data.size, sha256(np.ascontiguousarray(data)).hexdigest())
        file.attrs["digest"] = np.bytes_(layout.digest_of(NAME, columns))
    with pytest.raises(VectorFileError) as caught:
        VectorFile(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


def put(name, data):
    """Return a change that replaces a column."""

    def change(file):
        column = np.asarray(data(file[name][...]), layout.COLUMNS[name])
        del file[name]
        options = {"chunks": True, "compression": "gzip", "shuffle": True} if column.size else {}
        file.create_dataset(name, data=column, **options)

    return change


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
        wrong = replace(outcome, outputs=(outcome.first, vectors[2].outcomes[0].outputs[1]))
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
        """It has none."""
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


@pytest.mark.usefixtures("size")
class TestStrangers:
    """A column that is wrong is refused with one line, however the file is read."""

    def test_numbers_out_of_turn(self, path):
        """An outcome with two first outputs."""
        what = spoilt(path, put(OUTPUT, np.zeros_like))
        assert what == f"{OUTPUT}: not outputs 0 to 1 in turn"

    def test_a_column_that_is_too_short(self, path):
        """One number per expected array."""
        what = spoilt(path, put(OUTPUT, lambda column: column[:-1]))
        assert what == f"column {OUTPUT} has 9 elements and not 10"

    def test_a_column_that_is_missing(self, path):
        """Then all arrays are first outputs."""
        what = spoilt(path, lambda file: file.pop(OUTPUT))
        assert what == f"{OUTPUT}: not outputs 0 to 1 in turn"

    def test_an_outcome_that_begins_with_its_second_output(self, path):
        """Its row is that of the first."""

        def shifted(rows):
            rows[0] = 1
            return rows

        what = spoilt(path, put("outcomes/expected", shifted))
        assert what == "outcomes/expected: a row is not that of a first output"

    def test_an_odd_number_of_arrays_of_a_vector(self, path):
        """The second vector begins with the second output of the first."""

        def shifted(rows):
            rows[1] = 1
            return rows

        what = spoilt(path, put("vectors/first_expected", shifted))
        assert what == "a vector has not 2 expected arrays for each outcome"

    def test_an_output_of_another_type(self, path):
        """Counts are int64: other elements are no counts."""

        def other(codes):
            codes[1] = layout.ELEMENT_TYPES.index("uint64")
            return codes

        what = spoilt(path, put("expected_arrays/dtype", other))
        assert what == "expected_arrays: an output is not of the type it always has"
