"""What `show` says of a gradient: which windows gave what to a cell."""

import numpy as np
import pytest
from rich.console import Console

from conformance.cases.sweep.sweep_model import case_of
from conformance.operators import vector_of
from conformance.report.console import render
from conformance.report.vector_report import describe

ATTRIBUTES = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}


def text_of(case, output, readings=None):
    """Return what is shown of a case."""
    described = describe(vector_of(case), output=output, readings=readings, width=120)
    console = Console(width=120, highlight=False, markup=False, force_terminal=False)
    with console.capture() as captured:
        console.print(render(described, width=120), crop=False)
    return captured.get()


def shown(operator, attributes, output, **readings):
    """Return the text of a gradient of three windows over 1 3 2 2."""
    data = np.array([[[1, 3, 2, 2]]], np.float32)
    inputs = (np.array([[[4, 10, 6]]], np.float32), data)
    return text_of(case_of(operator, attributes, inputs, pattern="x"), output, readings)


ALL, NOTHING = "the cell gets all of it", "the cell gets nothing"
TIED = "one of 2 cells that hold the maximum (gradient-of-ties="


@pytest.mark.parametrize(
    ("output", "readings", "lines"),
    [
        (
            (1,),
            {},
            [
                "gradient of data[0, 0, 1] = 14: the sum of the shares of 2 windows",
                f"gradient[0, 0, 0] = 4: {ALL}, since it holds the maximum",
                f"gradient[0, 0, 1] = 10: {ALL}, since it holds the maximum",
            ],
        ),
        (
            (2,),
            {},
            [
                f"gradient[0, 0, 1] = 10: {NOTHING}, since it does not hold the maximum",
                f"gradient[0, 0, 2] = 6: {ALL}, as {TIED}first)",
            ],
        ),
        (
            (3,),
            {},
            [
                "gradient of data[0, 0, 3] = 0: the share of 1 window",
                f"gradient[0, 0, 2] = 6: {NOTHING}, though it is {TIED}first)",
            ],
        ),
        ((3,), {"gradient-of-ties": "last"}, [f"gradient[0, 0, 2] = 6: {ALL}, as {TIED}last)"]),
        ((3,), {"gradient-of-ties": "shared"}, [f"the cell gets 0.5 of it, as {TIED}shared)"]),
    ],
)
def test_a_maximum_gives_to_the_cell_that_it_chose(output, readings, lines):
    """Windows that hold the cell are listed, with its share; of equal maxima a reading chooses."""
    text = shown("MaxPool-1-backward", ATTRIBUTES, output, **readings)
    for line in lines:
        assert line in text


def test_an_average_is_divided():
    """By the divisor of each window."""
    text = shown("AvgPool-1-backward", {**ATTRIBUTES, "exclude_pad": True}, (0,))
    assert "gradient of data[0, 0, 0] = 2: the share of 1 window" in text
    assert "gradient[0, 0, 0] = 4: the cell gets it divided by 2" in text


def test_a_norm_has_a_derivative():
    """It is x / norm for p = 2."""
    text = shown("ONNX-LpPool-22-backward", {"kernel_shape": [2]}, (1,))
    assert "= 4: the cell gets it times 0.948683, the derivative of the 2-norm" in text


def test_a_cell_between_windows_gets_nothing():
    """Strides are longer than the kernel."""
    given = {**ATTRIBUTES, "kernel": [1], "strides": [3]}
    inputs = (np.ones((1, 1, 2), np.float32), np.ones((1, 1, 4), np.float32))
    case = case_of("MaxPool-1-backward", given, inputs, pattern="x")
    assert "gradient of data[0, 0, 1] = 0: no window holds it" in text_of(case, (1,))
