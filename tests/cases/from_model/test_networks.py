"""The collection of well-known networks: what its layers are, and which operators say them."""

import pytest
from click.testing import CliRunner

from conformance import open_vectors
from conformance.cases.from_model import generate_like
from conformance.cases.from_model.networks import LAYERS, networks, said_by
from conformance.cli import main
from conformance.errors import UsageError
from conformance.operators import OPERATORS, operator_named

BY_NAME = {layer.name: layer for layer in LAYERS}


def said(operator, name):
    """Return the attributes with which an operator says a layer."""
    return said_by(operator_named(operator), BY_NAME[name]).attributes


def operators_of(name):
    """Return the operators that say a layer."""
    return {o.name for o in OPERATORS.values() if said_by(o, BY_NAME[name]) is not None}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_windows_make_the_output_that_the_source_prints(layer):
    assert layer.plan.extent == layer.output


def test_names_differ_and_every_layer_cites_its_source():
    assert len(BY_NAME) == len(LAYERS)
    assert all(layer.source for layer in LAYERS)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_an_operator_that_says_a_layer_reads_the_same_cells(layer):
    """And divides by the same numbers, also where it says it in other words."""
    specs = [spec for o in OPERATORS.values() if (spec := said_by(o, layer)) is not None]
    assert {"AvgPool-1", "MaxPool-1"} & {spec.operator for spec in specs}
    for spec in specs:
        operator, (_, channels, *size) = operator_named(spec.operator), spec.shape
        output = spec.output_size[0] if spec.output_size else ()
        params = operator.pipeline.resolve(operator.stated(spec.attributes, tuple(size), output))
        assert operator.pipeline.plan(params).key == layer.plan.key
        assert (channels, tuple(size)) == (layer.channels, layer.size)


def test_a_layer_is_said_in_the_words_of_the_network():
    stem = said("MaxPool-14", "ResNet-50 conv2_x pool")
    assert (stem["pads_begin"], stem["pads_end"], stem["rounding_type"]) == (
        [1, 1],
        [1, 1],
        "floor",
    )
    assert said("MaxPool-14", "GoogLeNet pool1")["rounding_type"] == "ceil_torch"
    assert said("PyTorch-max_pool2d", "GoogLeNet pool1")["ceil_mode"] is True
    assert said("ONNX-MaxPool-22", "Xception block3_pool")["auto_pad"] == "SAME_UPPER"


def test_an_operator_without_these_words_says_it_by_pads():
    """TOSA has no rounding, and refuses pads that no window reaches."""
    assert said("TOSA-MAX_POOL2D", "GoogLeNet pool1")["pad"] == [0, 1, 0, 1]
    assert said("TOSA-MAX_POOL2D", "ResNet-50 conv2_x pool")["pad"] == [1, 0, 1, 0]


def test_what_an_operator_cannot_say_it_does_not_say():
    """LiteRT's padding is as TensorFlow's, other than that of ResNet."""
    assert "LiteRT-MAX_POOL_2D" not in operators_of("ResNet-50 conv2_x pool")
    assert "LiteRT-MAX_POOL_2D" in operators_of("Xception block3_pool")
    including = operators_of("Inception v3 branch_pool")
    assert "AvgPool-1" in including
    assert including.isdisjoint({"WebNN-averagePool2d", "TOSA-AVG_POOL2D"})


def test_a_mean_of_whole_planes_is_said_by_global_and_adaptive_operators_too():
    assert {
        "AvgPool-1",
        "ONNX-GlobalAveragePool-22",
        "AdaptiveAvgPool-8",
        "PyTorch-adaptive_avg_pool2d",
    } <= operators_of("ResNet-50 average pool")


def test_no_gradient_is_there():
    assert not any(layer.operator.endswith("-backward") for layer in networks([*OPERATORS]).layers)


def test_vectors_name_the_layer_and_its_source(tmp_path):
    made = generate_like(tmp_path / "v", ["networks"], operators=["ONNX-GlobalMaxPool-22"])
    assert [layer.name for layer in made.layers] == ["SPP-net pool1x1"]
    with open_vectors(tmp_path / "v") as files:
        vector = files[0].vector(0)
    assert vector.case.source == "He et al. 2014, fig. 4, layer SPP-net pool1x1"
    assert vector.case.data.shape[2:] == (13, 13)


def test_the_command_names_a_layer_once_with_the_operators_that_say_it(tmp_path):
    command = ["generate", str(tmp_path / "v"), "--like", "networks", "--tier", "smoke"]
    operators = ["--operator", "ONNX-GlobalMaxPool-22", "--operator", "PyTorch-max_pool1d"]
    got = CliRunner().invoke(main, command + operators)
    assert got.exit_code == 0
    assert got.stdout.count("SPP-net pool1x1") == 1


def test_operators_that_say_no_layer_are_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="networks: no pooling layers of ONNX-LpPool-22"):
        generate_like(tmp_path / "v", ["networks"], operators=["ONNX-LpPool-22"])


def test_a_file_of_that_name_is_given_with_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "networks").write_text("no model")
    with pytest.raises(UsageError, match="networks: no model: broken XML"):
        generate_like(tmp_path / "v", ["./networks"])
