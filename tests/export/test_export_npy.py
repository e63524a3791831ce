"""Folders of .npy files: what they say is what the checker does, and results come back."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from support.exported import admits, cases, loaded, smoke_tier
from support.fakes import check, following, pool, ramp, vector
from support.paths import EXAMPLES
from support.stored_outputs import answered, looked_up
from support.two_outputs import minimum_vectors, miscounting

from conformance import open_vectors
from conformance.backends.results.stored_results import StoredResults
from conformance.cli import main
from conformance.errors import UsageError
from conformance.export import export
from conformance.vector import UNDEFINED
from conformance.vectorfile import shipped_suite

SCRIPT = EXAMPLES / "run_exported.py"
PADDED = pool(pads_begin=[2], pads_end=[2])
VECTORS = [
    vector(id="plain"),
    vector(ramp(1, 1, 6, dtype="bfloat16"), id="half [1, 2]/b"),
    vector(attributes=PADDED, id="padding alone"),
    vector(attributes=pool(strides=[0]), id="../invalid"),
    vector(ramp(1, 0, 6), id="empty"),
]


def close(operator, inputs, attributes):
    """Compute values under other readings, with every fifth one ulp or ten percent off."""
    found = following(overhang_divisor="whole-kernel")(operator, inputs, attributes)
    found = found[0] if isinstance(found, tuple) else found
    if found.dtype.kind == "f":
        flat = found.reshape(-1)
        with np.errstate(over="ignore"):
            flat[::5] = np.nextafter(flat[::5], flat.dtype.type(np.inf))
            flat[3::70] *= flat.dtype.type(1.1)
    return found


class TestContent:
    """What is in the folder of a vector."""

    def test_a_case_is_what_the_vector_is(self, tmp_path):
        """Attributes, inputs, readings and all else."""
        export("npy", tmp_path / "e", VECTORS)
        found = list(cases(tmp_path / "e"))
        assert [case["id"] for _, case in found] == [v.case.id for v in VECTORS]
        for (folder, case), each in zip(found, VECTORS, strict=True):
            assert case["format"] == "pooling-conformance case"
            assert case["version"] == 1
            assert case["attributes"] == each.case.attributes
            assert case["clauses"] == {k: list(v) for k, v in each.clauses.items()}
            for entry, array in zip(case["inputs"], each.case.inputs, strict=True):
                back = loaded(folder, entry["file"], entry["dtype"])
                assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())
            assert [a["kind"] for a in case["accepted"]] == [o.kind for o in each.outcomes]

    def test_an_expected_array_is_that_of_its_outcome(self, tmp_path):
        """With the readings under which it is the answer."""
        export("npy", tmp_path / "e", VECTORS[:3])
        for (folder, case), each in zip(cases(tmp_path / "e"), VECTORS[:3], strict=True):
            for answer, outcome in zip(case["accepted"], each.outcomes, strict=True):
                if outcome.kind != "values":
                    continue
                expected = loaded(folder, answer["expected"], answer["dtype"])
                assert expected.tobytes() == outcome.outputs[0].values.tobytes()
                assert answer["readings"] == [dict(r) for r in outcome.readings]
                assert answer["exception"] == bool((outcome.outputs[0].addends == UNDEFINED).any())

    def test_equal_arrays_are_one_file(self, tmp_path):
        """A maximum has its limits where it is expected."""
        export("npy", tmp_path / "e", [vector(operator="MaxPool-1", id="m")])
        names = sorted(path.name for path in (tmp_path / "e" / "m").iterdir())
        assert names == ["case.json", "expected_0.npy", "input_0.npy"]

    def test_no_folder_lies_outside(self, tmp_path):
        """Whatever an id looks like."""
        export("npy", tmp_path / "e", VECTORS)
        assert [path.name for path in tmp_path.iterdir()] == ["e"]
        assert (tmp_path / "e" / "%2E%2E%2Finvalid" / "case.json").is_file()


@pytest.mark.usefixtures("minimum_pool")
class TestSeveralOutputs:
    """An answer has what each output must be."""

    def test_further_outputs_have_files_of_their_own(self, tmp_path):
        """The keys of the first output are those of an operator with one."""
        vectors = minimum_vectors()
        export("npy", tmp_path / "e", vectors)
        folder, case = next(cases(tmp_path / "e"))
        ((answer,), (outcome,)) = case["accepted"], vectors[0].outcomes
        (further,) = answer["further"]
        assert (further["output"], further["dtype"], further["mask"]) == ("cells", "int64", None)
        for found, expected in ((answer, outcome.outputs[0]), (further, outcome.outputs[1])):
            for name in ("expected", "lower", "upper"):
                array = loaded(folder, found[name], found["dtype"])
                assert (array.dtype, array.tobytes()) == (
                    expected.values.dtype,
                    expected.values.tobytes(),
                )

    def test_one_output_has_no_further_ones(self, tmp_path):
        """The key is absent."""
        export("npy", tmp_path / "e", VECTORS[:1])
        ((_, case),) = cases(tmp_path / "e")
        assert "further" not in case["accepted"][0]

    def test_results_beside_the_cases_are_found(self, tmp_path):
        """Both outputs, in the folder of the vector."""
        vectors = minimum_vectors()
        export("npy", tmp_path / "e", vectors)
        for each in vectors[:4]:
            outputs = miscounting(each.case.operator, each.case.inputs, each.case.attributes)
            for name, output in zip(("output", "output.1"), outputs, strict=True):
                np.save(tmp_path / "e" / each.case.id / f"{name}.npy", output)
        with StoredResults(tmp_path / "e") as stored:
            report = looked_up(stored, vectors)
        assert report.counts == {"mismatch": 5}
        assert report.results[0].detail == "cells: 1 of 4 elements differ"


def test_limits_judge_as_the_checker_does(tmp_path):
    """An output conforms exactly if some accepted answer admits it."""
    smoke = smoke_tier()[::9]
    answers = answered(close, smoke)
    export("npy", tmp_path / "e", smoke)
    verdicts = {each.id: each.verdict for each in check(close, smoke).results}
    admitted = {}
    for folder, case in cases(tmp_path / "e"):
        answer = answers[case["id"]]
        if isinstance(answer, Exception):
            right = any(a["kind"] != "values" or a["exception"] for a in case["accepted"])
        else:
            right = any(admits(folder, a, answer) for a in case["accepted"])
        admitted[case["id"]] = "conforms" if right else "mismatch"
    assert admitted == verdicts
    assert set(verdicts.values()) == {"conforms", "mismatch"}


def test_results_of_the_example_come_back(tmp_path):
    """A script with numpy alone computes outputs from the folder; the checker reads them there."""
    folder = tmp_path / "e"
    with open_vectors(shipped_suite() / "AdaptiveAvgPool-8.h5") as files:
        export("npy", folder, files, tier="smoke")
        done = subprocess.run(
            [sys.executable, SCRIPT, folder], capture_output=True, text=True, check=True
        )
        with StoredResults(folder) as stored:
            report = looked_up(stored, files, tier="smoke")
            assert stored.unused(name for file in files for name in file.ids) == ()
    assert report.counts.keys() == {"conforms", "unsupported"}
    *without, outputs = done.stdout.splitlines()
    assert any(
        re.fullmatch(r"\d+ unsupported, the first: AdaptiveAvgPool-8 of bfloat16", line)
        for line in without
    )
    right, _, total = outputs.split()[:3]
    assert right == total
    assert int(total) == len(list(folder.rglob("output.npy")))


def test_the_example_says_why_it_compared_nothing(tmp_path):
    """Here: no vector is of the operator that it computes."""
    export("npy", tmp_path / "e", VECTORS)
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "e"], capture_output=True, text=True, check=True
    )
    operator, count = VECTORS[0].case.operator, len(VECTORS)
    assert done.stdout.splitlines() == [
        f"{count} unsupported, the first: {operator} of float32",
        "0 of 0 outputs are right",
    ]


class TestFolder:
    """A folder is complete or absent."""

    def test_an_interrupted_export_leaves_nothing(self, tmp_path):
        """Not under another name either, nor a folder above it."""

        def stop(what, done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            export("npy", tmp_path / "new" / "e", VECTORS, progress=stop)
        assert list(tmp_path.iterdir()) == []

    def test_progress_is_told(self, tmp_path):
        """Vector by vector."""
        told = []
        export("npy", tmp_path / "e", VECTORS, progress=lambda *each: told.append(each))
        assert told == [("export npy", n, 5) for n in range(1, 6)]

    def test_an_empty_folder_is_filled_and_another_refused(self, tmp_path):
        """Nothing is overwritten."""
        assert export("npy", tmp_path, VECTORS).written == 5
        with pytest.raises(UsageError, match="give a new or an empty folder"):
            export("npy", tmp_path, VECTORS)

    @pytest.mark.parametrize("place", ["file/e", "x" * 300])
    def test_a_folder_that_cannot_be_made_is_wrong_usage(self, tmp_path, place):
        """With what the system says."""
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match=r"directory|too long"):
            export("npy", tmp_path / place, VECTORS)

    def test_an_id_that_is_too_long_for_a_folder_is_named(self, tmp_path):
        """As far as one can read; nothing is left."""
        told = f"File name too long: the folder of v{'x' * 196}..."
        with pytest.raises(UsageError) as caught:
            export("npy", tmp_path / "e", [vector(id="v"), vector(id="v" + "x" * 300)])
        assert (str(caught.value), list(tmp_path.iterdir())) == (told, [])

    def test_an_unknown_format_is_wrong_usage(self, tmp_path):
        """The message names those there are."""
        with pytest.raises(UsageError, match="no format 'csv'; there are npy, onnx"):
            export("csv", tmp_path / "e", VECTORS)


class TestCommand:
    def test_what_was_written_is_counted(self, tmp_path):
        """The options choose as those of check do."""
        folder = str(tmp_path / "e")
        options = ["--operator", "MaxPool-1", "--tier", "smoke", "--select", "same_lower"]
        done = CliRunner().invoke(main, ["export", "npy", folder, *options])
        count = len((tmp_path / "e" / "index.tsv").read_text().splitlines())
        assert (done.exit_code, done.output) == (0, f"{folder}: {count} vectors written\n")
        assert count > 0

    def test_results_are_checked_where_they_lie(self, tmp_path):
        """`check results:FOLDER` exits 0 or 1, and 3 where an output is broken."""
        export("npy", tmp_path / "e", operators="MaxPool-1", tier="smoke", select="int8")
        for folder, case in cases(tmp_path / "e"):
            answer = case["accepted"][0]
            if answer["kind"] == "values":
                np.save(folder / "output.npy", np.load(folder / answer["expected"]))
            else:
                with (tmp_path / "e" / "status.tsv").open("a") as status:
                    status.write(f"raised\t{case['id']}\t\n")
        command = ["check", f"results:{tmp_path / 'e'}", str(shipped_suite() / "MaxPool-1.h5")]
        command += ["--tier", "smoke", "--select", "int8", "--diagnose", "none"]
        assert CliRunner().invoke(main, command).exit_code == 0
        output = next((tmp_path / "e").rglob("output.npy"))
        output.write_bytes(output.read_bytes()[:-1])
        assert CliRunner().invoke(main, command).exit_code == 3
        output.unlink()
        assert CliRunner().invoke(main, command).exit_code == 1


def test_case_json_is_json(tmp_path):
    """No NaN or infinity, which JSON does not have."""
    export("npy", tmp_path / "e", VECTORS)

    def refuse(name):
        raise AssertionError(name)

    for path in (tmp_path / "e").rglob("case.json"):
        json.loads(path.read_text("utf-8"), parse_constant=refuse)
