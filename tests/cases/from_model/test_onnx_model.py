"""Pooling nodes of ONNX models."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cases.from_model import onnx_model
from conformance.cases.from_model.concrete import concrete
from conformance.cases.from_model.from_model import read_model
from conformance.cases.from_model.layer import NotExpressible
from conformance.errors import UsageError

onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.needs_engine("onnx")
helper, FLOAT = onnx.helper, onnx.TensorProto.FLOAT


def node(kind, **attributes):
    domain = attributes.pop("domain", "")
    return helper.make_node(kind, ["x"], ["y"], name="pool", domain=domain, **attributes)


def graph(*nodes, shape=("N", 8, 14, 15), element=FLOAT):
    return helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, None)],
    )


@pytest.fixture
def read(tmp_path):
    """Return what reads a graph from a file."""

    def read(of, name="model.onnx"):
        onnx.save(helper.make_model(of), tmp_path / name)
        return read_model(tmp_path / name)

    return read


def test_average(read):
    """Pads are begins then ends, what counts padding is the opposite of excluding it."""
    given = {"pads": [1, 0, 0, 2], "ceil_mode": 1, "count_include_pad": 1, "strides": [2, 1]}
    (found,) = read(graph(node("AveragePool", kernel_shape=[2, 3], **given))).layers
    assert (found.operator, found.shape, found.dtype) == ("AvgPool-1", (None, 8, 14, 15), "float32")
    assert found.attributes == {
        "kernel": [2, 3],
        "strides": [2, 1],
        "pads_begin": [1, 0],
        "pads_end": [0, 2],
        "rounding_type": "ceil",
        "auto_pad": "explicit",
        "exclude_pad": False,
    }


def test_defaults_of_onnx(read):
    """Strides of one and no pads, although our documents have no such defaults."""
    (found,) = read(graph(node("MaxPool", kernel_shape=[2, 2], auto_pad="SAME_LOWER"))).layers
    assert found.attributes == {
        "kernel": [2, 2],
        "strides": [1, 1],
        "pads_begin": [0, 0],
        "pads_end": [0, 0],
        "rounding_type": "floor",
        "auto_pad": "same_lower",
    }


def test_shapes_are_inferred(read):
    """The input of a node in the middle has the shape that comes out before it."""
    first = helper.make_node("MaxPool", ["x"], ["z"], kernel_shape=[3, 3], strides=[2, 2])
    second = helper.make_node("AveragePool", ["z"], ["y"], kernel_shape=[2, 2])
    assert read(graph(first, second)).layers[1].shape == (None, 8, 6, 7)


def test_global_pooling(read):
    """The average over everything has an output of one cell, the maximum a kernel of all."""
    (average,) = read(graph(node("GlobalAveragePool"))).layers
    (maximum,) = read(graph(node("GlobalMaxPool"))).layers
    assert (average.operator, average.output_size) == ("AdaptiveAvgPool-8", (1, 1))
    assert maximum.attributes["kernel"] == [14, 15]


def test_nodes_of_branches(read):
    """Pooling inside an If is found."""
    branch = helper.make_graph(
        [helper.make_node("MaxPool", ["x"], ["b"], kernel_shape=[2, 2])],
        "branch",
        [],
        [helper.make_tensor_value_info("b", FLOAT, None)],
    )
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    assert len(read(graph(chosen)).layers) == 2


@pytest.mark.parametrize(
    ("made", "kind", "why"),
    [
        (node("LpPool", kernel_shape=[2, 2]), "LpPool", "none of the documents"),
        (node("MaxPool", kernel_shape=[2, 2], dilations=[2, 1]), "MaxPool", "dilations"),
        (node("NhwcMaxPool", domain="com.microsoft"), "com.microsoft.NhwcMaxPool", "none of the"),
        (node("MaxPool", kernel_shape=[2, 2], auto_pad="SAME"), "MaxPool", "auto_pad='SAME'"),
        (node("MaxPool", kernel_shape=[2**40, 2]), "MaxPool", "above 1,048,576"),
    ],
    ids=["kind", "dilations", "domain", "word", "large"],
)
def test_what_has_no_words_here_is_named(read, made, kind, why):
    """It is left out with its kind and the reason."""
    (skipped,) = read(graph(made)).skipped
    assert skipped.kind == kind
    assert why in skipped.why


def test_unknown_types_and_extents_are_named(read):
    """A type that no document has, and an extent that no vector has."""
    text = read(graph(node("MaxPool", kernel_shape=[2, 2]), element=onnx.TensorProto.STRING))
    large = read(graph(node("MaxPool", kernel_shape=[2, 2]), shape=(1, 1, 2**40, 1)))
    assert "data of type STRING" in text.skipped[0].why
    assert "above 1,048,576" in large.skipped[0].why


def test_the_name_of_the_file_does_not_matter(read):
    """A model is told by its first byte."""
    assert len(read(graph(node("GlobalAveragePool")), "model.bin").layers) == 1


@pytest.mark.parametrize("cut", [0, 1, 9, 60])
def test_broken_files_are_one_line(tmp_path, cut):
    """Empty, cut off, or of something else."""
    data = helper.make_model(graph(node("GlobalAveragePool"))).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data[:cut] if cut else b"no model at all")
    with pytest.raises(UsageError, match="neither the XML of an OpenVINO model nor a whole ONNX"):
        read_model(tmp_path / "m.onnx")


@given(st.data())
def test_a_changed_file_is_read_or_refused(data):
    """Whatever bytes are changed: layers, or one line."""
    nodes = [node("AveragePool", kernel_shape=[2, 3], pads=[1, 0, 0, 1]), node("GlobalMaxPool")]
    whole = bytearray(helper.make_model(graph(*nodes)).SerializeToString())
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        path.write_bytes(whole)
        with suppress(UsageError):
            for layer in read_model(path).layers:
                with suppress(NotExpressible):
                    assert concrete(layer).shape


def test_without_the_package(tmp_path, monkeypatch):
    """The line says what to install."""
    monkeypatch.setattr(onnx_model, "find_spec", lambda name: None)
    (tmp_path / "m.onnx").write_bytes(b"")
    with pytest.raises(UsageError, match="needs the package onnx: pip install"):
        read_model(tmp_path / "m.onnx")
