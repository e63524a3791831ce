"""Pooling nodes of ONNX models."""

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
from conformance.operators import OPERATORS

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
    """Return what reads a graph of an opset from a file."""

    def read(of, name="model.onnx", opset=22):
        imports = [helper.make_opsetid("", opset)]
        onnx.save(helper.make_model(of, opset_imports=imports), tmp_path / name)
        return read_model(tmp_path / name)

    return read


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("AveragePool", {"pads": [1, 0, 0, 2], "ceil_mode": 1, "count_include_pad": 1}),
        ("AveragePool", {"strides": [2, 1], "dilations": [2, 3]}),
        ("MaxPool", {"auto_pad": "SAME_LOWER", "storage_order": 1}),
        ("LpPool", {"p": 3, "strides": [1, 2]}),
        ("LpPool", {}),
    ],
)
def test_a_node_is_an_operator_of_onnx_with_its_own_attributes(read, kind, given):
    """What the node leaves out has the default of the document."""
    attributes = {"kernel_shape": [2, 3], **given}
    (found,) = read(graph(node(kind, **attributes))).layers
    assert found.operator == f"ONNX-{kind}-22"
    assert (found.attributes, found.shape) == (attributes, (None, 8, 14, 15))
    assert concrete(found).shape == (1, 8, 14, 15)


@pytest.mark.parametrize("kind", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
def test_global_pooling(read, kind):
    """It needs no extents; those that are open are chosen."""
    (found,) = read(graph(node(kind), shape=("N", 8, "h", "w"))).layers
    assert (found.operator, found.attributes) == (f"ONNX-{kind}-22", {})
    assert concrete(found).shape == (1, 8, 7, 7)


@pytest.mark.parametrize(
    ("kind", "opset", "given"),
    [
        ("AveragePool", 1, {"pads": [1, 1, 1, 1]}),
        ("AveragePool", 7, {"count_include_pad": 1}),
        ("AveragePool", 10, {"ceil_mode": 1, "kernel_shape": [3, 3], "strides": [2, 2]}),
        ("MaxPool", 8, {"storage_order": 1}),
        ("MaxPool", 12, {"ceil_mode": 1, "pads": [1] * 4, "auto_pad": "SAME_UPPER"}),
        ("LpPool", 18, {"ceil_mode": 1, "pads": [1] * 4, "dilations": [2, 2]}),
        ("GlobalMaxPool", 1, {}),
    ],
)
def test_a_node_is_of_the_version_that_its_opset_has(read, kind, opset, given):
    """Each of these came with its opset."""
    attributes = {} if kind.startswith("Global") else {"kernel_shape": [2, 2], **given}
    (found,) = read(graph(node(kind, **attributes)), opset=opset).layers
    assert (found.operator, found.attributes) == (f"ONNX-{kind}-{opset}", attributes)


def test_a_version_lasts_until_the_next(read):
    """AveragePool of opset 13 is that of 11, and its last window may start in the padding."""
    given = {"kernel_shape": [2, 2], "ceil_mode": 1, "pads": [1] * 4, "strides": [2, 2]}
    (found,) = read(graph(node("AveragePool", **given)), opset=13).layers
    assert (found.operator, found.attributes) == ("ONNX-AveragePool-11", given)


def test_an_exponent_that_was_no_integer(read):
    """In opset 1, p was a float."""
    (found,) = read(graph(node("GlobalLpPool", p=3.0)), opset=1).layers
    assert (found.operator, found.attributes) == ("ONNX-GlobalLpPool-1", {"p": 3.0})


def test_shapes_are_inferred(read):
    """The input of a node in the middle has the shape that comes out before it."""
    first = helper.make_node("MaxPool", ["x"], ["z"], kernel_shape=[3, 3], strides=[2, 2])
    second = helper.make_node("AveragePool", ["z"], ["y"], kernel_shape=[2, 2])
    assert read(graph(first, second)).layers[1].shape == (None, 8, 6, 7)


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


_MAX, _KERNEL = "MaxPool", {"kernel_shape": [2, 2]}


@pytest.mark.parametrize(
    ("made", "opset", "kind", "why"),
    [
        (node("NhwcMaxPool", domain="com.microsoft"), 22, "com.microsoft.NhwcMaxPool", "none of"),
        (node("MaxRoiPool", pooled_shape=[2, 2]), 22, "MaxRoiPool", "none of the documents"),
        (node(_MAX, auto_pad="SAME", **_KERNEL), 22, _MAX, "auto_pad='SAME'"),
        (node(_MAX, ceil_mode=2, **_KERNEL), 22, _MAX, "ceil_mode=2: must be"),
        (node(_MAX, kernel_shape=[2**40, 2]), 22, _MAX, "above 1,048,576"),
        (node(_MAX, count_include_pad=1, **_KERNEL), 22, _MAX, "has no such attribute"),
        (
            node("AveragePool", dilations=[2, 2], **_KERNEL),
            18,
            "AveragePool",
            "dilations: AveragePool of opset 18 has no such attribute",
        ),
        (node("LpPool", ceil_mode=1, **_KERNEL), 11, "LpPool", "ceil_mode: LpPool of opset 11"),
        (node(_MAX, storage_order=1, **_KERNEL), 7, _MAX, "storage_order: MaxPool of opset 7"),
        (node("GlobalLpPool", p=1.5), 1, "GlobalLpPool", "p=1.5 is no integer"),
        (node("GlobalLpPool"), 0, "GlobalLpPool", "opset 0 has no GlobalLpPool"),
    ],
)
def test_what_no_document_says_is_named(read, made, opset, kind, why):
    """It is left out with its kind and the reason."""
    (skipped,) = read(graph(made), opset=opset).skipped
    assert skipped.kind == kind
    assert why in skipped.why


def test_a_version_that_is_newer_than_the_document_is_named(read, monkeypatch):
    """What it changes nobody has read."""
    monkeypatch.setattr(onnx_model, "OPERATORS", {"ONNX-MaxPool-12": OPERATORS["ONNX-MaxPool-12"]})
    (skipped,) = read(graph(node("MaxPool", kernel_shape=[2, 2]))).skipped
    assert skipped.why == "opset 22 defines MaxPool anew, in a document that is not here"


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
