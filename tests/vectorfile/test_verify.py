"""Every expected value computed again."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arbitrary_vectors import with_first
from support.report_samples import PADDED, PLAIN, case, cases, counted, write, write_cases

from conformance.errors import VectorFileError
from conformance.operators import vector_of
from conformance.vector import Case, Raises, Vector
from conformance.vectorfile import VectorFile
from conformance.vectorfile.verify import differences, verify, verify_files

CEIL = case("ceil", PADDED | {"rounding_type": "ceil"}, 1, 1, 6, 6)


def changed(vector, number=0, **columns):
    """Return a vector with columns of the first output of one outcome replaced."""
    outcomes = list(vector.outcomes)
    outcomes[number] = with_first(outcomes[number], **columns)
    return replace(vector, outcomes=tuple(outcomes))


@pytest.mark.parametrize("sound", cases(), ids=lambda each: each.id)
def test_a_sound_vector_has_no_differences(sound):
    """What was computed once is computed again."""
    assert differences(vector_of(sound)) == []


@pytest.mark.parametrize("windows", [3, 4])
def test_a_gradient_is_verified(windows):
    """One of the output's extent, and one of another, which is invalid."""
    given = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    inputs = (np.ones((1, 1, windows), np.float32), np.ones((1, 1, 4), np.float32))
    vector = vector_of(Case("case", "MaxPool-1-backward", given, inputs))
    assert isinstance(vector.outcomes[0], Raises) == (windows == 4)
    assert list(differences(vector)) == []


def test_nan_is_equal_to_nan():
    """An average over a NaN is a NaN both times."""
    data = counted(1, 1, 4, 4)
    data[0, 0, 0, 0] = np.nan
    sound = Case("a", "AvgPool-1", PLAIN | {"exclude_pad": True}, (data,))
    assert differences(vector_of(sound)) == []


@given(st.integers(0, 15), st.sampled_from(["values", "addends", "divisor", "magnitude"]))
def test_any_changed_element_is_found(index, column):
    """One element of any column of an outcome gives one line that names it."""
    vector = vector_of(CEIL)
    array = getattr(vector.outcomes[0].outputs[0], column).copy()
    array.flat[index] += 1
    (what,) = differences(changed(vector, **{column: array}))
    place = [int(i) for i in np.unravel_index(index, array.shape)]
    named = "expected" if column == "values" else column
    assert what.startswith(f"{named} {place} is {array.flat[index]}, computed ")
    assert what.endswith("(1 of 16 differ) under overhang-divisor=padded-extent")


def test_a_changed_sign_of_zero_is_found():
    """Stored values are compared bit for bit."""
    zeros = Case("a", "AvgPool-1", PLAIN | {"exclude_pad": True}, (np.zeros((1, 1, 2, 2)),))
    vector = vector_of(zeros)
    (what,) = differences(changed(vector, values=-vector.outcomes[0].outputs[0].values))
    assert what == "expected [0, 0, 0, 0] is -0.0, computed 0.0 (1 of 1 differ)"


def test_a_missing_outcome_is_found():
    """A reading without an answer is no product of the readings."""
    vector = vector_of(CEIL)
    (what,) = differences(replace(vector, outcomes=vector.outcomes[:1]))
    assert what == "readings overhang-divisor=whole-kernel are missing"


def test_an_outcome_that_is_given_twice_is_found():
    """Two answers to one reading are one too many."""
    vector = vector_of(cases()[0])
    assert differences(replace(vector, outcomes=vector.outcomes * 2)) == ["2 outcomes, computed 1"]


def test_a_clause_that_does_not_touch_is_found():
    """The clauses stored are those that touch the case."""
    vector = replace(vector_of(cases()[0]), clauses={"zero-sign": ()})
    assert differences(vector) == ["clauses are zero-sign, computed none"]


def test_a_valid_case_stored_as_invalid_is_found():
    """An exception is no answer to a case that a document defines."""
    vector = Vector(cases()[0], (Raises(),))
    assert differences(vector) == ["attributes give output shape (1, 1, 2, 2), stored is none"]


def test_a_reading_that_wants_an_exception_has_no_shape():
    """A kernel that is larger than the input with the pads that are given beside SAME_UPPER."""
    attributes = {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "pads": [0, 0, 0, 0]}
    vector = vector_of(Case("a", "ONNX-AveragePool-22", attributes, (counted(1, 1, 2, 2),)))
    assert any(isinstance(outcome, Raises) for outcome in vector.outcomes)
    assert differences(vector) == []


BILLIONS = 10**12


@pytest.mark.parametrize(
    "attributes",
    [
        {"pads_begin": [BILLIONS, BILLIONS]},
        {"pads_end": [BILLIONS, 0], "rounding_type": "ceil"},
        {"kernel": [1, 1], "auto_pad": "same_upper", "pads_begin": [BILLIONS, 1]},
        {"strides": [10**30, 10**30], "pads_begin": [10**30 - 1, 10**30 - 1]},
    ],
)
def test_attributes_that_ask_for_too_much_are_refused_at_once(attributes, monkeypatch):
    """A stranger's file cannot make the reader allocate: shapes are compared first."""
    vector = vector_of(case("a", PLAIN | {"strides": [1, 1]}, 1, 1, 4, 4))
    hostile = replace(vector, case=case("a", PLAIN | {"strides": [1, 1]} | attributes, 1, 1, 4, 4))
    arange = np.arange

    def bounded(*arguments, **options):
        assert all(abs(argument) < 10**6 for argument in arguments)
        return arange(*arguments, **options)

    monkeypatch.setattr(np, "arange", bounded)
    (what,) = differences(hostile)
    assert what.startswith(("attributes give output shape", "cannot be computed: OverflowError"))


def test_an_output_size_that_asks_for_too_much_is_refused():
    """The same holds for the second input of an adaptive operator."""
    inputs = (counted(1, 1, 4), np.array([2]))
    vector = vector_of(Case("a", "AdaptiveAvgPool-8", {}, inputs))
    hostile = replace(vector, case=replace(vector.case, inputs=(inputs[0], np.array([BILLIONS]))))
    (what,) = differences(hostile)
    assert what == f"attributes give output shape (1, 1, {BILLIONS}), stored is (1, 1, 2)"


def test_a_file_that_is_replaced_is_not_verified_for_the_one_that_was_opened(tmp_path):
    """Another process opens it again, and the content has to be the same."""
    first, *others = map(vector_of, cases())
    path = tmp_path / "a.h5"
    write(path, [first, *others])
    with VectorFile(path) as file:
        write(path, others)
        with pytest.raises(VectorFileError, match="the file was changed while it was open"):
            pickle.loads(pickle.dumps(file))


def test_a_sound_file_has_no_differences(tmp_path):
    """Nor has a part of it."""
    with VectorFile(write_cases(tmp_path)) as file:
        assert list(verify(file)) == list(verify(file, 1, 3)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_are_verified_in_their_order_by_any_number_of_processes(tmp_path, jobs):
    """Whichever is done first; each with what differs in it, and progress after each part."""
    steps = []
    sound = [*map(vector_of, cases())]
    outcome = with_first(sound[1].outcomes[0], values=sound[1].outcomes[0].outputs[0].values + 1)
    wrong = replace(sound[1], outcomes=(outcome, *sound[1].outcomes[1:]))
    paths = [tmp_path / f"{name}.h5" for name in ("wrong", "sound")]
    for path, vectors in zip(paths, ([sound[0], wrong, *sound[2:]], sound), strict=True):
        write(path, vectors, strength=2)
    with VectorFile(paths[0]) as first, VectorFile(paths[1]) as second:
        found = verify_files([first, second], jobs=jobs, progress=lambda *step: steps.append(step))
        told = [(file, [each.id for each in differing]) for file, differing in found]
    assert told == [(first, [wrong.case.id]), (second, [])]
    assert steps == [("vectors", 5, 10), ("vectors", 10, 10)]
