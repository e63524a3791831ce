"""ONNX backend tests: their models are sound, and what runs them gives what they expect."""

import json
import re
import sys
import unittest
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from support.exported import smoke_tier
from support.fakes import pool, ramp, vector

from conformance.cli import main
from conformance.errors import UsageError
from conformance.export import export
from conformance.export.limits import limits
from conformance.operators import operator_named
from conformance.vectorfile import open_suite

pytest.importorskip("onnx")

import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

pytestmark = pytest.mark.needs_engine("onnx")


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """Return the vectors of the smoke tier by id, their folder, and what was left out of it."""
    vectors = smoke_tier()
    folder = tmp_path_factory.mktemp("onnx") / "e"
    done = export("onnx", folder, vectors)
    return {v.case.id: v for v in vectors}, folder, done.left_out


def written_in(folder):
    """Yield model, input, expected outputs and tolerances of each test, as a runner reads them."""
    for each in load_model_tests(str(folder), "pooling"):
        place = folder / "pooling" / each.name
        model = onnx.load(place / "model.onnx")
        data, *expected = (
            numpy_helper.to_array(onnx.load_tensor(place / "test_data_set_0" / f"{name}.pb"))
            for name in ("input_0", *(f"output_{n}" for n, _ in enumerate(model.graph.output)))
        )
        yield model, data, expected, {"rtol": each.rtol, "atol": each.atol}


def is_close(got, expected, tolerances):
    """Compare as a runner of ONNX does."""
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return False
    wide = np.float32 if got.dtype.name == "bfloat16" else got.dtype
    return bool(
        np.isclose(got.astype(wide), expected.astype(wide), **tolerances, equal_nan=True).all()
    )


def dilates_same(model):
    """Say whether the node of a model dilates windows that auto_pad pads."""
    given = {a.name: onnx.helper.get_attribute_value(a) for a in model.graph.node[0].attribute}
    return b"SAME" in given.get("auto_pad", b"") and max(given.get("dilations", [1])) > 1


def test_every_model_passes_the_checker_of_onnx(smoke):
    """With its inference of types and shapes, which must agree with what is expected."""
    _, folder, _ = smoke
    for model, data, expected, _ in written_in(folder):
        onnx.checker.check_model(model, full_check=True)
        assert expected[0].dtype == data.dtype


def test_every_vector_is_written_or_named_with_why(smoke):
    """Nothing is lost."""
    vectors, folder, left_out = smoke
    written = {model.doc_string.partition("\n")[0] for model, *_ in written_in(folder)}
    named = dict(
        line.split("\t") for line in (folder / "left_out.tsv").read_text("utf-8").splitlines()
    )
    assert named == left_out
    assert sorted([*written, *named]) == sorted(vectors)


def test_a_tolerance_admits_what_the_bound_does(smoke):
    """An output at either limit of every element passes."""
    vectors, folder, _ = smoke
    for model, _, (expected, *_), tolerances in written_in(folder):
        each = vectors[model.doc_string.partition("\n")[0]]
        average = operator_named(each.case.operator).reduction.sums
        outcomes = [
            o
            for o in each.outcomes
            if o.kind == "values" and o.outputs[0].values.tobytes() == expected.tobytes()
        ]
        for outcome in outcomes:
            axes = each.case.inputs[0].ndim - 2
            found = limits(outcome.outputs[0], axes, outcome.arithmetic, average=average)
            assert is_close(found.lower, expected, tolerances)
            assert is_close(found.upper, expected, tolerances)
        assert outcomes


@pytest.mark.needs_engine("onnxruntime")
def test_onnx_runtime_gives_what_is_expected(smoke):
    """Of what it runs; it lacks element types and refuses pads that reach the kernel.

    It returns the lowest number for a maximum of minus infinities, and pads dilated windows of
    same_* as if they were not dilated, which is not what is expected.
    """
    import onnxruntime as runtime  # noqa: PLC0415 - one test needs it

    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    found = Counter()
    wrong = []
    for model, data, expected, tolerances in written_in(smoke[1]):
        try:
            session = runtime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            got = session.run(None, {"x": data})
        except Exception:  # noqa: BLE001 - onnxruntime has an exception for each status
            found["refused"] += 1
            continue
        right = all(is_close(*pair, tolerances) for pair in zip(got, expected, strict=True))
        found[right] += 1
        if not right and not dilates_same(model):
            wrong.append(model.doc_string)
    assert [each for each in wrong if "infinit" not in each] == []
    assert found[True] > 100
    assert found[True] > found["refused"]


def test_the_folder_says_how_many_tests_there_are(smoke):
    """In all and of each operator: who runs them can see that none is lost."""
    vectors, folder, left_out = smoke
    stated = json.loads((folder / "tests.json").read_text("utf-8"))
    written = Counter(
        each.case.operator for each in vectors.values() if each.case.id not in left_out
    )
    assert (stated["format"], stated["version"]) == ("pooling-conformance onnx", 1)
    assert stated["tests"] == len(load_model_tests(str(folder), "pooling"))
    assert stated["operators"] == written


def test_the_folder_names_the_vectors_that_it_was_made_of(tmp_path):
    """By their digest, which those of a program do not have."""
    export("onnx", tmp_path / "shipped", operators=["MaxPool-1"], tier="smoke")
    export("onnx", tmp_path / "made", [vector()])
    with open_suite(None, ["MaxPool-1"]) as files:
        digest = files.digests["MaxPool-1"]
    names = {"shipped": digest, "made": ""}
    for name, expected in names.items():
        stated = json.loads((tmp_path / name / "tests.json").read_text("utf-8"))
        assert stated["vectors"] == expected


@pytest.mark.needs_engine("onnxruntime")
@pytest.mark.filterwarnings("ignore")  # of what onnx imports
def test_the_runner_of_onnx_runs_them_all_but_those_that_are_filtered(smoke, monkeypatch):
    """On ONNX Runtime, by patterns of names as its own filters are."""
    import onnxruntime.backend  # noqa: PLC0415 - one test needs it
    from onnx.backend.test import runner as onnx_runner  # noqa: PLC0415 - likewise

    folder = smoke[1]
    stated = json.loads((folder / "tests.json").read_text("utf-8"))
    filters = {"_bfloat16_": "no kernels", "^test_ONNX_LpPool_22_float16_": "no kernels"}
    tests = load_model_tests(str(folder), "pooling")
    excluded = sum(any(re.search(each, test.name) for each in filters) for test in tests)
    # ONNX's own tests take long to make.
    monkeypatch.setattr(onnx_runner, "load_model_tests", lambda **_: [])
    runner = onnx_runner.Runner(onnxruntime.backend)
    for test in tests:
        runner._add_model_test(test, "Pooling")
    for each in filters:
        runner.exclude(each)
    (case,) = runner.test_cases.values()
    done = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(done)
    assert done.testsRun - len(done.skipped) == stated["tests"] - excluded
    assert 0 < len(done.failures) < 30
    assert len(done.errors) < stated["tests"] / 4


class TestLeftOut:
    """What no ONNX test can say."""

    @pytest.mark.parametrize(
        ("each", "why"),
        [
            (vector(attributes=pool(strides=[0])), "an exception is right"),
            (vector(ramp(1, 0, 6)), "no document defines the output"),
            (vector(attributes=pool(pads_begin=[2], pads_end=[2])), "some element is undefined"),
            (vector(ramp(1, 1, 6, dtype="int64"), operator="MaxPool-1"), "no MaxPool of int64"),
            (
                vector(ramp(1, 1, 6), pool(kernel=[1], strides=[3], auto_pad="same_upper")),
                "ONNX leaves same-never-crops and all-padding-average open",
            ),
            (
                vector(np.array([[[np.nan, 1.0]]], np.float32), operator="MaxPool-1"),
                "ONNX leaves nan-in-maximum open",
            ),
            (
                vector(np.array([[[65504, 65504]]], np.float16)),
                "ONNX leaves sum-overflow open",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_why_is_said(self, tmp_path, each, why):
        """In the words that count vectors of the same kind."""
        (said,) = export("onnx", tmp_path / "e", [each]).left_out.values()
        assert why in said

    def test_the_command_counts_by_reason(self, tmp_path):
        """And names the file with the ids."""
        options = ["--tier", "smoke", "--operator", "AdaptiveAvgPool-8"]
        done = CliRunner().invoke(main, ["export", "onnx", str(tmp_path / "e"), *options])
        assert done.exit_code == 0
        assert "left out, see left_out.tsv:" in done.output
        assert " ONNX has no adaptive pooling but to a size of 1\n" in done.output


def test_valid_with_ceil_is_written_with_explicit_pads(tmp_path):
    """VALID of ONNX rounds down whatever ceil_mode says."""
    attributes = pool(auto_pad="valid", rounding_type="ceil", kernel=[2], strides=[2])
    export("onnx", tmp_path / "e", [vector(ramp(1, 1, 5), attributes)])
    ((model, _, (expected,), _),) = written_in(tmp_path / "e")
    names = {each.name for each in model.graph.node[0].attribute}
    assert expected.shape == (1, 1, 3)
    assert "auto_pad" not in names
    assert {"pads", "ceil_mode"} <= names


def test_operators_of_onnx_keep_their_attributes(tmp_path):
    """All of them, and pads beside auto_pad alone are left out: ONNX has none there."""
    given = {"kernel_shape": [2], "storage_order": 1, "dilations": [2], "p": 3, "ceil_mode": 0}
    given |= {"auto_pad": "SAME_UPPER", "pads": [1, 0]}
    for operator in ("MaxPool", "LpPool", "GlobalLpPool"):
        name = f"ONNX-{operator}-22"
        known = [attribute.key for attribute in operator_named(name).attributes]
        attributes = {key: value for key, value in given.items() if key in known}
        export("onnx", tmp_path / operator, [vector(ramp(1, 1, 5), attributes, operator=name)])
        ((model, *_),) = written_in(tmp_path / operator)
        (node,) = model.graph.node
        assert (node.op_type, model.opset_import[0].version) == (operator, 22)
        assert {each.name for each in node.attribute} == attributes.keys() - {"pads"}


def test_maxima_come_with_their_indices(tmp_path):
    """Unless one is undefined: the output is optional."""
    given = {"kernel_shape": [2], "strides": [2]}
    export("onnx", tmp_path / "e", [vector(ramp(1, 1, 4), given, operator="ONNX-MaxPool-22")])
    ((_, _, expected, _),) = written_in(tmp_path / "e")
    assert [output.tolist() for output in expected] == [[[[2, 4]]], [[[1, 3]]]]
    nothing = np.full((1, 1, 4), -np.inf, np.float32)
    given |= {"pads": [1, 1]}
    export("onnx", tmp_path / "f", [vector(nothing, given, operator="ONNX-MaxPool-22")])
    ((_, _, expected, _),) = written_in(tmp_path / "f")
    assert [output.tolist() for output in expected] == [[[[-np.inf] * 3]]]


def test_a_case_that_breaks_a_rule_costs_none_of_the_others(tmp_path):
    """A stranger's file may expect an output of it."""
    sound = vector(ramp(1, 1, 6))
    broken = replace(sound.case, id="broken", attributes=pool(auto_pad="odd"))
    done = export("onnx", tmp_path / "e", [sound, replace(sound, case=broken)])
    assert done.written == 1
    assert "must be explicit" in done.left_out["broken"]


def test_ids_that_look_alike_have_tests_of_their_own(tmp_path):
    """Characters that a name cannot have become underscores."""
    export("onnx", tmp_path / "e", [vector(id="a/b"), vector(id="a b"), vector(id="A b")])
    assert len(list(written_in(tmp_path / "e"))) == 3


def test_without_the_package_its_name_is_said(tmp_path, monkeypatch):
    """And nothing is left behind."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    for name in [n for n in sys.modules if n.startswith("conformance.export.onnx_export")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "conformance.backends.engines.onnx_node", raising=False)
    with pytest.raises(UsageError, match="pip install onnx"):
        export("onnx", tmp_path / "e", [vector()])
    assert list(tmp_path.iterdir()) == []
