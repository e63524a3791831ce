"""Rows of tables over operators."""

from conformance.operators import OPERATORS
from conformance.report.operator_rows import OperatorRow, operator_rows
from conformance.vector import BACKWARD


def titles(outcomes):
    """Return the titles of the rows of some outcomes."""
    return [row.title for row in operator_rows(outcomes)]


def test_an_operator_and_its_gradient_are_one_row():
    """Also where only one of them is remarkable."""
    outcomes = {"MaxPool-1": "conforms", "MaxPool-1-backward": None}
    row = OperatorRow("MaxPool-1 + gradient", ("MaxPool-1", "MaxPool-1-backward"))
    assert operator_rows(outcomes) == [row]


def test_where_nothing_is_remarkable_a_family_is_one_row():
    """Of each outcome."""
    outcomes = dict.fromkeys(OPERATORS, "conforms")
    assert titles(outcomes) == [
        "OpenVINO: 8 operators, 8 gradients",
        "nGraph-AvgPool + gradient",
        "ONNX: 25 operators, 6 gradients",
        "PyTorch: 18 operators, 15 gradients",
        "WebNN: 3 operators, 3 gradients",
        "TOSA: 2 operators",
        "LiteRT: 2 operators",
        "ORT: 2 operators",
    ]
    outcomes |= {name: "unsupported" for name in OPERATORS if name.endswith(BACKWARD)}
    assert titles(outcomes) == [
        "OpenVINO: 8 operators",
        "OpenVINO: 8 gradients",
        "nGraph-AvgPool",
        "nGraph-AvgPool-backward",
        "ONNX: 25 operators",
        "ONNX: 6 gradients",
        "PyTorch: 18 operators",
        "PyTorch: 15 gradients",
        "WebNN: 3 operators",
        "WebNN: 3 gradients",
        "TOSA: 2 operators",
        "LiteRT: 2 operators",
        "ORT: 2 operators",
    ]


def test_what_is_remarkable_comes_first_under_its_name():
    """The others of its family fold all the same."""
    outcomes = {"AvgPool-1": "same", "AvgPool-14": "same", "MaxPool-8": None}
    assert titles(outcomes) == ["MaxPool-8", "OpenVINO: 2 operators"]


def test_every_operator_is_in_one_row():
    """A gradient alone, and operators that are not installed here, too."""
    outcomes = {"AvgPool-1-backward": "same", "x": "same", "y-backward": None, "z": "other"}
    rows = operator_rows(outcomes)
    assert sorted(name for row in rows for name in row.operators) == sorted(outcomes)
    assert [row.title for row in rows] == ["y-backward", "AvgPool-1-backward", "x", "z"]
    assert titles({"x": "same", "y": "same"}) == ["others: 2 operators"]
