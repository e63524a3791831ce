"""Files of safetensors: what they say is what the checker does, and results come back."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from support.exported import about, conforms, exported, smoke_tier
from support.fakes import check, following, pool, ramp, vector
from support.stored_outputs import answered, as_file, looked_up
from support.two_outputs import minimum_vectors, miscounting

from conformance import open_vectors
from conformance.backends.results.stored_results import StoredResults
from conformance.cli import main
from conformance.errors import UsageError
from conformance.export import export
from conformance.operators import as_called
from conformance.vector import outputs_of
from conformance.vectorfile import shipped_suite

PADDED = pool(pads_begin=[2], pads_end=[2])
VECTORS = [
    vector(id="plain"),
    vector(ramp(1, 1, 6, dtype="bfloat16"), id="half [1, 2]/b"),
    vector(attributes=PADDED, id="padding alone"),
    vector(attributes=pool(strides=[0]), id="../invalid"),
    vector(ramp(1, 0, 6), id="empty"),
]


@pytest.fixture(scope="module")
def smoke():
    """Return some vectors of the smoke tier."""
    return smoke_tier()[::9]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "e.safetensors"


def close(operator, inputs, attributes):
    """Compute values under other readings, with every fifth one ulp or ten percent off."""
    found = outputs_of(following(overhang_divisor="whole-kernel")(operator, inputs, attributes))
    if found[0].dtype.kind == "f":
        flat = found[0].reshape(-1)
        with np.errstate(over="ignore"):
            flat[::5] = np.nextafter(flat[::5], flat.dtype.type(np.inf))
            flat[3::70] *= flat.dtype.type(1.1)
    return found


class TestContent:
    """What is in a file."""

    def test_a_case_is_what_the_vector_is(self, path, smoke):
        """As a backend is called, with readings and all else."""
        export("safetensors", path, smoke)
        cases, tensors = exported(path)
        assert sorted(case["id"] for case in cases) == sorted(v.case.id for v in smoke)
        of_id = {each.case.id: each for each in smoke}
        for case in cases:
            each = of_id[case["id"]]
            inputs, attributes = as_called(each.case)
            assert case["operator"] == each.case.operator
            assert case["attributes"] == attributes
            assert case["clauses"] == {k: list(v) for k, v in each.clauses.items()}
            for name in ("tier", "pattern", "provenance", "source"):
                assert case[name] == getattr(each.case, name)
            for name, array in zip(case["inputs"], inputs, strict=True):
                assert (tensors[name].dtype, tensors[name].shape) == (array.dtype, array.shape)
                assert tensors[name].tobytes() == array.tobytes()
            for answer, outcome in zip(case["accepted"], each.outcomes, strict=True):
                assert (answer["kind"], len(answer["readings"])) == (
                    outcome.kind,
                    len(outcome.readings),
                )

    def test_each_output_of_an_outcome_has_its_tensors(self, path, minimum_pool):
        """Limits that are the expected values are left out."""
        vectors = minimum_vectors()
        export("safetensors", path, vectors)
        cases, tensors = exported(path)
        ((answer,), (outcome,)) = cases[0]["accepted"], vectors[0].outcomes
        for output, expected in zip(answer["outputs"], outcome.outputs, strict=True):
            assert list(output) == ["expected"]
            assert tensors[output["expected"]].tobytes() == expected.values.tobytes()

    def test_equal_arrays_are_one_tensor(self, path):
        """Names are numbers without gaps; equal bytes of another type or shape are another."""
        export(
            "safetensors",
            path,
            [vector(id="a"), vector(id="b"), vector(id="c", operator="MaxPool-1")],
        )
        cases, tensors = exported(path)
        assert {*tensors} == {str(number) for number in range(len(tensors))}
        assert len({case["inputs"][0] for case in cases}) == 1
        contents = {(t.dtype, t.shape, t.tobytes()) for t in tensors.values()}
        assert len(contents) == len(tensors)

    def test_ties_are_all_cells_with_the_maximum(self, path):
        """Under that reading: a pair for each, the place in the output and an index."""
        data = np.array([5, 1, 5, 5, 1, 5], np.float32).reshape(1, 1, 6)
        windows = {"kernel": [3], "strides": [3], "pads_begin": [0], "pads_end": [0]}
        tied = vector(data, windows, operator="MaxPool-8", id="t")
        export("safetensors", path, [tied])
        ((case,), tensors) = exported(path)
        ties = {
            answer["readings"][0]["index-of-ties"]: answer["outputs"][1].get("ties")
            for answer in case["accepted"]
        }
        assert tensors[ties.pop("some")].tolist() == [[0, 0], [0, 2], [1, 3], [1, 5]]
        assert ties == {"first": None, "last": None}


def test_an_exported_file_judges_as_the_checker_does(path, smoke):
    """An output conforms exactly if some accepted answer admits it."""
    answers = answered(close, smoke)
    export("safetensors", path, smoke)
    verdicts = {each.id: each.verdict for each in check(close, smoke).results}
    cases, tensors = exported(path)
    for case in cases:
        answer = answers[case["id"]]
        outputs = None if isinstance(answer, Exception) else answer
        right = conforms(case, outputs, tensors)
        assert (verdicts[case["id"]] == "conforms") == right, case["id"]
    assert set(verdicts.values()) == {"conforms", "mismatch"}


class TestPath:
    """The path says how many files there are, and whether they are compressed."""

    def test_one_file_has_all_operators(self, path, smoke):
        """The compressed file is the same, and the same again."""
        compressed = path.with_suffix(".safetensors.gz")
        for each in (path, compressed):
            assert export("safetensors", each, smoke).written == len(smoke)
        first = compressed.read_bytes()
        export("safetensors", compressed, smoke)
        assert compressed.read_bytes() == first
        assert len(first) < path.stat().st_size / 3
        assert about(compressed) == about(path)
        assert {case["operator"] for case in about(path)["cases"]} == {
            each.case.operator for each in smoke
        }

    def test_a_folder_has_a_file_for_each_operator(self, tmp_path, smoke):
        """None for an operator that no vector was chosen of."""
        done = export("safetensors", tmp_path / "e", smoke, select="float32")
        files = list((tmp_path / "e").iterdir())
        written = {path.name: {case["operator"] for case in about(path)["cases"]} for path in files}
        assert written == {f"{name}.safetensors.gz": {name} for (name,) in written.values()}
        assert sum(len(about(path)["cases"]) for path in files) == done.written

    def test_an_interrupted_export_leaves_nothing(self, tmp_path):
        """Not under another name either, nor a folder above it."""

        def stop(what, done, total):
            raise KeyboardInterrupt

        for name in ("new/e", "e.safetensors"):
            with pytest.raises(KeyboardInterrupt):
                export("safetensors", tmp_path / name, VECTORS, progress=stop)
            assert list(tmp_path.iterdir()) == []

    def test_an_empty_folder_is_filled_and_another_refused(self, tmp_path):
        """Nothing is overwritten."""
        assert export("safetensors", tmp_path, VECTORS).written == 5
        with pytest.raises(UsageError, match="give a new or an empty folder"):
            export("safetensors", tmp_path, VECTORS)

    def test_a_header_that_no_reader_takes_is_wrong_usage(self, path):
        """Here a tag of 100 MB; nothing is left."""
        each = vector(id="v")
        object.__setattr__(each.case, "tags", ("x" * 100_000_000,))
        with pytest.raises(UsageError, match="1 vectors are too many for one file of safetensors"):
            export("safetensors", path, [each])
        assert not path.exists()

    def test_an_unknown_format_is_wrong_usage(self, tmp_path):
        """The message names those there are."""
        with pytest.raises(
            UsageError, match="no format 'npy'; there are safetensors, verdicts, onnx"
        ):
            export("npy", tmp_path / "e", VECTORS)


class TestCommand:
    def test_what_was_written_is_counted(self, path):
        """The options choose as those of check do."""
        options = ["--operator", "MaxPool-1", "--tier", "smoke", "--select", "same_lower"]
        done = CliRunner().invoke(main, ["export", "safetensors", str(path), *options])
        count = len(about(path)["cases"])
        assert (done.exit_code, done.output) == (0, f"{path}: {count} vectors written\n")
        assert count > 0

    def test_results_of_an_export_are_checked(self, tmp_path, path):
        """`check results:FILE` exits 0 or 1, and 3 where the file is broken."""
        export("safetensors", path, operators="MaxPool-1", tier="smoke", select="int8")
        cases, tensors = exported(path)
        answers = {
            case["id"]: tensors[case["accepted"][0]["outputs"][0]["expected"]]
            if case["accepted"][0]["kind"] == "values"
            else ValueError("no")
            for case in cases
        }
        ids = [case["id"] for case in cases]
        file = as_file(tmp_path / "r.safetensors", answers, ids=ids)
        command = ["check", f"results:{file}", str(shipped_suite() / "MaxPool-1.h5")]
        command += ["--diagnose", "none"]
        done = CliRunner().invoke(main, command)
        assert (done.exit_code, f"{len(ids)} of" in done.output) == (0, True)
        answers.pop(ids[0])
        as_file(file, answers, ids=ids)
        assert CliRunner().invoke(main, command).exit_code == 1
        file.write_bytes(file.read_bytes()[:-1])
        done = CliRunner().invoke(main, command)
        assert (done.exit_code, done.output.count("\n")) == (3, 1)


def test_several_outputs_come_back(tmp_path, minimum_pool):
    """The second one with its number."""
    vectors = minimum_vectors()
    answers = answered(miscounting, vectors[:4])
    file = as_file(tmp_path / "r.safetensors", answers)
    report = looked_up(StoredResults(file), vectors)
    assert report.counts == {"mismatch": 5}
    assert report.results[0].detail == "cells: 1 of 4 elements differ"


def test_the_json_is_json(path):
    """No NaN or infinity, which JSON does not have; every vector of the suite has attributes."""
    with open_vectors(shipped_suite() / "AvgPool-1.h5") as files:
        export("safetensors", path, files, tier="smoke")

    def refuse(name):
        raise AssertionError(name)

    content = path.read_bytes()
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    json.loads(
        json.loads(header)["__metadata__"]["pooling-conformance vectors"], parse_constant=refuse
    )
