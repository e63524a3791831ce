"""Operators by name, by a glob over names, and by family."""

import re

import pytest

from conformance.errors import UsageError
from conformance.operators import OPERATORS, operators_named

GRADIENTS = [name for name in OPERATORS if name.endswith("-backward")]
FORWARD = [name for name in OPERATORS if name not in GRADIENTS]
ONNX = [name for name in FORWARD if name.startswith("ONNX-")]
WEBNN = [name for name in FORWARD if name.startswith("WebNN-")]
TORCH = [name for name in FORWARD if name.startswith("PyTorch-")]
TOSA = [name for name in FORWARD if name.startswith("TOSA-")]
LITERT = [name for name in FORWARD if name.startswith("LiteRT-")]
ORT = [name for name in FORWARD if name.startswith("ORT-")]
OTHERS = (*ONNX, *TORCH, *WEBNN, *TOSA, *LITERT, *ORT, "nGraph-AvgPool")


def test_without_a_name_there_are_all():
    """In their order and newest versions, or those that are held."""
    newest = [name for name, operator in OPERATORS.items() if operator.newest is operator]
    assert operators_named(None) == newest
    assert operators_named(None, ["MaxPool-1"]) == ["MaxPool-1"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("MaxPool-1", ["MaxPool-1"]),
        (["MaxPool-1", "AvgPool-1", "MaxPool-1"], ["MaxPool-1", "AvgPool-1"]),
        ("ONNX-*", [name for name in OPERATORS if name.startswith("ONNX-")]),
        ("onnx", ONNX),
        ("ngraph", ["nGraph-AvgPool"]),
        ("ONNX-Global*Pool-22", [name for name in ONNX if re.search("Global.*-22", name)]),
        (["nGraph-AvgPool", "*-AvgPool"], ["nGraph-AvgPool"]),
        ("pytorch", TORCH),
        ("webnn", WEBNN),
        ("tosa", TOSA),
        ("litert", LITERT),
        ("ort", ORT),
        ("openvino", [name for name in FORWARD if name not in OTHERS]),
        ("gradient", GRADIENTS),
        ("*-backward", GRADIENTS),
    ],
)
def test_names_globs_and_families(given, names):
    """Each stands for operators, of which none is repeated."""
    assert operators_named(given) == names


def test_of_those_held_a_glob_takes_what_there_is():
    """A glob need not be held as a whole; what is not held at all is an error."""
    held = ["AvgPool-1", "ONNX-MaxPool-22"]
    assert operators_named("onnx", held) == ["ONNX-MaxPool-22"]
    with pytest.raises(UsageError, match=r"no vectors of ngraph; there are vectors of AvgPool-1, "):
        operators_named("ngraph", held)


@pytest.mark.parametrize("word", ["Onnx", "*-99", "", "AvgPool"])
def test_what_stands_for_none_is_unknown(word):
    """Neither name, glob nor family: the message lists the names."""
    with pytest.raises(UsageError, match=r"unknown operator .*, or name a family: openvino, "):
        operators_named(word)
