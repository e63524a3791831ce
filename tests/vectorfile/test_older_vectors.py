"""Vectors of older versions: those of the newest with another name, and other answers where due."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.choose_older import renumbered
from conformance import VectorFileError, check, generate, load_backend, open_vectors
from conformance.cases.sweep.sweep_model import case_of
from conformance.faults import CATALOGUE, faulty
from conformance.operators import OPERATORS, operators_named, vector_of
from conformance.vectorfile import VectorFile
from conformance.vectorfile.older_vectors import (
    ANEW,
    LIST,
    OlderVectors,
    case_of_older,
    older_vectors,
)
from conformance.vectorfile.verify import differences

OLDER = [name for name, operator in OPERATORS.items() if operator.newer is not None]
NAME = "ONNX-AveragePool-11"


@pytest.fixture(scope="module")
def suite():
    """Open the shipped vectors of ONNX."""
    with open_vectors(None, ["onnx"]) as vectors:
        yield {file.operator: file for file in vectors}


def numbers_of(file):
    """Return the entries of the list: NUMBER-DIGEST in the file of the newest version."""
    (line,) = (each for each in LIST.read_text().splitlines() if each.split()[0] == file.operator)
    return line.split()[2:]


def test_every_older_version_has_some_hundred_vectors(suite):
    """Up to 300 each, and of whole planes up to 80, all of the standard tier."""
    for name in OLDER:
        assert 70 <= len(suite[name]) <= 300
        assert {*suite[name].tiers} == {"standard"}
        assert suite[name].operator == name


@pytest.mark.parametrize(
    "name",
    [
        NAME,
        *(pytest.param(n, marks=pytest.mark.slow("one stands for it")) for n in OLDER if n != NAME),
    ],
)
def test_what_is_read_is_what_the_version_says(suite, name):
    """Whether stored or computed: no vector differs from what its case computes to."""
    for vector in suite[name]:
        assert vector.case.operator == name
        assert differences(vector) == [], vector.case.id


def test_vectors_are_those_of_the_newest_but_for_what_the_version_says(suite):
    """Data, attributes that it has, and, where no mark is at the number, all answers."""
    newest, older = suite["ONNX-AveragePool-22"], suite[NAME]
    for listed, vector in zip(numbers_of(older), older, strict=True):
        stored = newest.vector(int(listed.partition("-")[0]))
        assert np.array_equal(vector.case.data, stored.case.data, equal_nan=True)
        name, _, digest = vector.case.id.rpartition("-")
        assert name == stored.case.id.rpartition("-")[0].replace("AveragePool-22", "AveragePool-11")
        named = case_of(NAME, vector.case.attributes, vector.case.inputs, pattern="")
        assert named.id.endswith(f"-{digest}")
        assert vector.case.attributes.items() <= stored.case.attributes.items()
        if not listed.endswith(ANEW):
            assert vector.clauses == stored.clauses
            pairs = zip(vector.values, stored.values, strict=True)
            for mine, theirs in pairs:
                assert mine.readings == theirs.readings
                assert mine.outputs[0].values.tobytes() == theirs.outputs[0].values.tobytes()


def test_vectors_are_found_by_number_id_and_in_batches(suite):
    older = suite[NAME]
    vector = older.vector(5)
    assert vector.case.id == older.ids[5]
    assert older.index_of(older.ids[5]) == 5
    batches = list(older.batches([3, 5, 200]))
    assert [number for batch in batches for number in batch.numbers] == [3, 5, 200]
    assert [name for batch in batches for name in batch.ids] == [older.ids[n] for n in (3, 5, 200)]
    with pytest.raises(KeyError):
        older.index_of(suite["ONNX-AveragePool-22"].ids[0])
    with pytest.raises(IndexError):
        older.vector(len(older))


def test_another_process_reads_the_same(suite):
    again = pickle.loads(pickle.dumps(suite[NAME]))
    assert (again.ids, again.digest, again.operator) == (
        suite[NAME].ids,
        suite[NAME].digest,
        NAME,
    )
    assert again.vector(7).case.id == suite[NAME].ids[7]


def test_they_come_with_the_shipped_files_alone(suite, tmp_path):
    """Of a folder of others, and of one file, no more is read than is in it."""
    generate(tmp_path, operators=["ONNX-GlobalMaxPool-22"], tier="smoke")
    with open_vectors(tmp_path) as vectors:
        assert vectors.operators == ("ONNX-GlobalMaxPool-22",)
    with open_vectors(suite["ONNX-GlobalMaxPool-22"].path) as vectors:
        assert vectors.operators == ("ONNX-GlobalMaxPool-22",)
    assert older_vectors([]) == []


def test_a_version_alone_can_be_generated(tmp_path):
    """It has a sweep of its own then; without a name, the newest versions are meant."""
    generate(tmp_path, operators=["ONNX-GlobalLpPool-1"], tier="smoke")
    with open_vectors(tmp_path) as vectors:
        assert type(vectors[0]) is VectorFile
        assert all(differences(vector) == [] for vector in vectors[0])
    assert set(OLDER).isdisjoint(operators_named(None))
    assert set(OLDER) <= set(operators_named(None, list(OPERATORS)))


def test_a_number_of_a_case_that_the_version_has_not_is_named(suite):
    """The list would be wrong."""
    newest = suite["ONNX-AveragePool-22"]
    number = next(n for n, v in enumerate(newest) if v.case.data.dtype.name == "bfloat16")
    with pytest.raises(VectorFileError, match="ONNX-AveragePool-11 does not have"):
        OlderVectors(newest, NAME, [f"{number}-01234567"]).vector(0)


class TestCases:
    """A case of the newest version as one of an older."""

    def case(self, suite, **attributes):
        """Return the first case with explicit pads, with some attributes instead."""
        vector = next(
            vector
            for vector in suite["ONNX-LpPool-22"]
            if vector.case.data.dtype.name == "float32" and vector.values
        )
        return replace(vector.case, attributes=attributes)

    def test_a_default_that_came_later_is_left_out(self, suite):
        ones = [1] * (self.case(suite).data.ndim - 2)
        case = self.case(suite, kernel_shape=ones, dilations=ones, ceil_mode=0)
        older = case_of_older(case, OPERATORS["ONNX-LpPool-11"])
        assert older.attributes == {"kernel_shape": ones}
        assert (older.operator, older.tier) == ("ONNX-LpPool-11", "standard")

    @pytest.mark.parametrize("later", [{"ceil_mode": 1}, {"dilations": [2]}, {"dilations": []}])
    def test_anything_else_that_came_later_is_no_case(self, suite, later):
        case = self.case(suite, kernel_shape=[1], **later)
        assert case_of_older(case, OPERATORS["ONNX-LpPool-11"]) is None

    def test_an_exponent_of_version_1_is_a_float(self, suite):
        case = self.case(suite, kernel_shape=[1], p=3)
        older = case_of_older(case, OPERATORS["ONNX-LpPool-1"])
        assert older.attributes == {"kernel_shape": [1], "p": 3.0}
        assert type(older.attributes["p"]) is float


def test_a_divisor_that_counts_the_overhang_is_caught_by_five_vectors_and_more():
    """As in ONNX Runtime's opsets 7 to 18, see its pull request 29629."""
    fault = next(each for each in CATALOGUE if each.name == "divisor-whole-kernel-if-included")
    options = {"operators": [NAME], "diagnose": False, "variations": "none"}
    assert check(faulty(fault), **options).counts["mismatch"] >= 5
    assert check(load_backend("numpy"), **options).counts == {"conforms": 300}


def test_answers_are_computed_where_they_are_others_alone(suite, monkeypatch):
    """What is stored is read."""
    computed = []
    monkeypatch.setattr(
        "conformance.vectorfile.older_vectors.vector_of",
        lambda case: computed.append(case.id) or vector_of(case),
    )
    anew = [each.endswith(ANEW) for each in numbers_of(suite[NAME])]
    assert len(list(suite[NAME])) == len(anew)
    assert 0 < len(computed) == sum(anew) < 60


def test_listed_vectors_keep_their_place_where_others_were_added(suite):
    """`python -m benchmarks.choose_older --renumber` finds them by their ids."""
    newest = suite["ONNX-AveragePool-22"]
    earlier = SimpleNamespace(ids=newest.ids[::2])
    listed = ["3-01234567", f"70-89abcdef{ANEW}"]
    assert renumbered(earlier, newest, listed) == ["6-01234567", f"140-89abcdef{ANEW}"]
