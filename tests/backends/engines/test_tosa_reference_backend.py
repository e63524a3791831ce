"""TOSA's own reference model: what reaches it, and our expected values against its own."""

import importlib
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

import conformance
from conformance import Unsupported, load_backend
from conformance.operators import as_called

pytestmark = pytest.mark.needs_engine("tosa_reference_model")

WINDOWS = {"kernel": [1, 2], "stride": [1, 2], "pad": [0, 0, 1, 1]}
ROW = np.array([1, 2, 4, 7]).reshape(1, 1, 4, 1)
FLOATS8 = ("float8_e4m3fn", "float8_e5m2")
EVERY = 16
"""Of so many vectors of an operator, one is computed by the program."""


def averaged(dtype, acc_type, *zero_points):
    inputs = [ROW.astype(dtype), *(np.array([zero], dtype) for zero in zero_points)]
    attributes = {**WINDOWS, "acc_type": acc_type}
    return load_backend("tosa-reference")("TOSA-AVG_POOL2D", inputs, attributes)


def largest(data=ROW, engine="tosa-reference", **change):
    given = data if data.dtype.kind != "i" else data.astype(np.float32)
    return load_backend(engine)("TOSA-MAX_POOL2D", [given], {**WINDOWS, **change})


@pytest.mark.parametrize(
    ("dtype", "acc_type"),
    [
        ("float32", "FP32"),
        ("float16", "FP16"),
        ("bfloat16", "FP32"),
        *((t, "FP16") for t in FLOATS8),
    ],
)
def test_averages_leave_padding_out(dtype, acc_type):
    """Also those of types that no buffer of Python has."""
    got = averaged(dtype, acc_type, 0, 0)
    assert (got.dtype, got.shape, got.ravel().tolist()) == (dtype, (1, 1, 3, 1), [1, 3, 7])


def test_zero_points_are_constants_of_the_graph():
    """Less 3, divided, and plus -4: -2 -0 4 are -6 -4 0."""
    assert averaged("int8", "INT32", 3, -4).ravel().tolist() == [-6, -4, 0]


def test_maxima_treat_a_nan_as_nan_mode_says():
    data = np.array([1, 2, np.nan, 7], np.float32).reshape(ROW.shape)
    assert largest(data, nan_mode="IGNORE").ravel().tolist() == [1, 2, 7]
    assert np.isnan(largest(data).ravel()).tolist() == [False, True, False]


@pytest.mark.parametrize("change", [{"pad": [0, 0, 2, 0]}, {"stride": [1, 3]}, {"kernel": [0, 2]}])
def test_what_the_document_refuses_the_model_refuses(change):
    with pytest.raises(ValueError, match="TOSA"):
        largest(**change)


def test_a_level_limits_the_kernel():
    """That of the level 8K is 8,192."""
    row = np.ones((1, 1, 9000, 1))
    wide = {"kernel": [1, 8193], "stride": [1, 1], "pad": [0, 0, 0, 0]}
    assert largest(row.astype(np.float32), **wide).shape == (1, 1, 808, 1)
    with pytest.raises(ValueError, match="TOSA_UNPREDICTABLE"):
        largest(row.astype(np.float32), "tosa-reference:level=EIGHTK", **wide)


@pytest.mark.parametrize(
    ("operator", "data"),
    [("MaxPool-1", ROW), ("TOSA-MAX_POOL2D", ROW), ("TOSA-MAX_POOL2D", ROW[0].astype(np.int8))],
)
def test_other_operators_types_and_axes_are_unsupported(operator, data):
    with pytest.raises(Unsupported):
        load_backend("tosa-reference")(operator, [data], WINDOWS)


def is_compared(vector):
    """Say whether a vector has one answer, of a type that the program reads, and of some cells."""
    one = len(vector.values) == 1 and vector.values[0].outputs[0].values.size > 0
    return one and vector.case.data.dtype.name in {"float32", "float16"}


def precise(case, folder):
    """Return the output in float64, by the program: the Python of the package returns nothing."""
    backend = importlib.import_module("conformance.backends.engines.tosa_reference_backend")
    inputs, attributes = as_called(case)
    graph, data, output = (folder / name for name in ("graph.tosa", "x.npy", "y.npy"))
    graph.write_bytes(backend.graph_of(case.operator, inputs, attributes))
    np.save(data, inputs[0])
    program = Path(sysconfig.get_path("scripts"), "tosa_reference_model")
    files = ["--ifm_name", "input-0", "--ifm_file", data, "--ofm_name", "result-0"]
    files += ["--ofm_file", output, "--flatbuffer_dir", folder, "--output_dir", folder]
    command = [program, "--tosa_file", graph, *files, "--precise_mode", "1"]
    command += ["--tosa_level", "NONE"]
    subprocess.run(command, capture_output=True, check=True)
    return np.load(output)


@pytest.mark.slow("the vectors are compared with the model's other mode when it is checked")
@pytest.mark.parametrize("operator", ["TOSA-AVG_POOL2D", "TOSA-MAX_POOL2D"])
def test_expected_values_are_those_of_the_precise_mode(operator, tmp_path):
    """It sums in float64, and returns that: ours are rounded once to the type of the data."""
    if not list((ROOT / "vectors").glob("*.h5")):
        pytest.skip("the shipped vectors are not there")
    with conformance.open_vectors(operators=[operator]) as files:
        vectors = [vector for file in files for vector in file if is_compared(vector)]
    assert len(vectors) > 10 * EVERY
    for vector in vectors[::EVERY]:
        expected = np.moveaxis(vector.values[0].outputs[0].values, 1, -1)
        with np.errstate(over="ignore"):
            got = precise(vector.case, tmp_path).astype(expected.dtype)
        np.testing.assert_array_equal(got, expected)
