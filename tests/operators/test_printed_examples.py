"""Worked examples: what the documents print of the outputs, held against what is computed."""

from dataclasses import replace

import numpy as np
import pytest
from support.made_up import registered

from conformance.cases.sweep.sweep_model import cases_of
from conformance.cases.sweep.worked_examples import examples
from conformance.operators import OPERATORS, Printed, contradicts_document, evaluate, vector_of
from conformance.vectorfile.verify import differences

MAX, ERRATUM = OPERATORS["MaxPool-8"], "MaxPool-8, Mathematical Formulation, example 1"
EVERY = [
    pytest.param(operator, case, id=case.source)
    for operator in OPERATORS.values()
    for case in cases_of(examples(operator))
]
NUMBERS = {
    "nGraph-AvgPool": [1, 1],
    "PyTorch-avg_pool1d": [3],
    "WebNN-averagePool2d": [4, 9, 16, 16],
    "WebNN-l2Pool2d": [4, 9],
    "WebNN-maxPool2d": [4, 25, 16],
    "LiteRT-AVERAGE_POOL_2D": [2, 3, 2],
    "ONNX-MaxUnpool-22": [16, 25],
    "PyTorch-max_unpool1d": [8, 9],
    "PyTorch-max_unpool2d": [16, 20],
    "MaxPool-8": [30, 10, 18, 36, 8, 18, 16, 0, 0, 0],
    "MaxPool-14": [30, 10, 18, 36, 8, 18, 16, 8, 0, 0, 0],
}
"""How many numbers of the outputs each example prints, of operators where one does."""


def printing(*outputs, number=0):
    """Return MaxPool-8 with one example, of other printed outputs."""
    example = replace(MAX.examples[number], outputs=outputs)
    return replace(MAX, name="Misprint-1", examples=(example,))


def what_differs(operator):
    """Return what is said of the only example of an operator."""
    with registered(operator):
        (case,) = cases_of(examples(operator))
        return contradicts_document(vector_of(case))


@pytest.mark.parametrize(("operator", "case"), EVERY)
def test_each_document_prints_what_is_computed(operator, case):
    """Under one reading at least: 32 from 32 with strides of 2 needs same-as-input."""
    assert case.provenance == "printed"
    assert operator.example(case.source) in operator.examples
    assert contradicts_document(vector_of(case)) == ""


@pytest.mark.parametrize("operator", [each for each in OPERATORS.values() if each.examples])
def test_every_example_carries_what_its_document_prints(operator):
    """Numbers, or shapes; MaxPool-1 prints attributes alone."""
    printed = [example.numbers for example in operator.examples]
    assert printed == NUMBERS.get(operator.name, [0] * len(printed))
    outputs = {len(example.outputs) for example in operator.examples}
    assert outputs == ({0} if operator.name == "MaxPool-1" else {len(operator.outputs)})


def test_the_erratum_is_left_out():
    """Example 1 prints -6 with index 5 where the window holds 3 and -6."""
    example = MAX.example(ERRATUM)
    (case,) = [each for each in cases_of(examples(MAX)) if each.source == ERRATUM]
    values, indices = evaluate(case.operator, case.inputs, case.attributes)
    assert [output.values[1][3] for output in example.outputs] == [..., ...]
    assert (values[0, 0, 1, 3], indices[0, 0, 1, 3]) == (3, 2)


@pytest.mark.parametrize(
    ("outputs", "what"),
    [
        ((Printed((3, 5, 5, 9, 8)),), "prints 8 at [0, 0, 4], the reference computes 9.0"),
        ((Printed((3, 5, 5, 9, ...)), Printed((2, 3, 3, 5, 4))), "prints 4 at [0, 0, 4]"),
        ((Printed((3, 5, 5, 9)),), "prints shape (1, 1, 4), the reference computes (1, 1, 5)"),
        ((Printed(shape=(1, 1, 6)),), "prints shape (1, 1, 6), the reference computes (1, 1, 5)"),
        ((Printed((3, 5, 5, 9, 9.25)),), "prints 9.25"),
        ((Printed((3, 5, 5, 9, float("nan"))),), "prints nan"),
    ],
)
def test_what_the_reference_computes_otherwise_is_said(outputs, what):
    """The first element that differs, or the shapes."""
    said = what_differs(printing(*outputs, number=1))
    assert said.startswith("example 'MaxPool-8, Mathematical Formulation, example 2': ")
    assert what in said


@pytest.mark.parametrize(
    ("computed", "printed", "agrees"),
    [
        (2 / 3, 0.67, True),
        (2 / 3, 0.7, True),
        (2 / 3, 0.66, False),
        (0.1, 0.1, True),
        (3.4, 3, False),
        (3.04, 3.0, False),
        (np.inf, float("inf"), True),
        (np.nan, float("nan"), True),
        (1.0, float("nan"), False),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_number_agrees_to_as_many_digits_as_are_printed(computed, printed, agrees, dtype):
    """A whole number exactly."""
    values = np.full((1, 1, 1), computed, dtype)
    assert (Printed((printed,)).contradiction(values) == "") == agrees


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "its values, or its shape"),
        ({"values": (1,), "shape": (1, 1, 1)}, "its values, or its shape"),
        ({"values": ((1, 2), (3,))}, "nested evenly"),
        ({"values": ("1",)}, "nested evenly"),
    ],
)
def test_what_no_document_prints_is_refused(given, why):
    """It is a shape or numbers."""
    with pytest.raises(ValueError, match=why):
        Printed(**given)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"source": "another page"}, "'another page' is no example of it"),
        ({"attributes": MAX.examples[1].attributes | {"axis": 1}}, "other attributes"),
        ({"inputs": (np.zeros((1, 1, 7), np.float32),)}, "other data"),
        ({"inputs": (np.zeros((1, 1, 9), np.float32),)}, "another shape"),
    ],
)
def test_verify_finds_a_vector_that_only_calls_itself_printed(changes, what):
    """It is another case than the example that it cites, or cites none."""
    case = replace(list(cases_of(examples(MAX)))[1], **changes)
    (said,) = differences(vector_of(case))
    assert what in said
