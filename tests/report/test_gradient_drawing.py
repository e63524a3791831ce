"""What `show` says of a gradient: which windows gave what to a cell."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from conformance.cases.sweep.sweep_model import case_of
from conformance.operators import vector_of
from conformance.report.console import render
from conformance.report.vector_report import describe

ATTRIBUTES = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}


def shown(operator, attributes, output):
    """Return the text of a gradient of three windows over 1 3 2 2."""
    data = np.array([[[1, 3, 2, 2]]], np.float32)
    inputs = (np.array([[[4, 10, 6]]], np.float32), data)
    vector = vector_of(case_of(operator, attributes, inputs, pattern="x"))
    console = Console(width=80, highlight=False, markup=False, force_terminal=False)
    with console.capture() as captured:
        console.print(render(describe(vector, output=output), width=80), crop=False)
    return captured.get()


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (
            (1,),
            [
                "gradient of data[0, 0, 1] = 14: the sum of the shares of 2 windows",
                "gradient[0, 0, 0] = 4: the cell gets all of it",
                "gradient[0, 0, 1] = 10: the cell gets all of it",
            ],
        ),
        ((3,), ["gradient[0, 0, 2] = 6: the cell gets nothing"]),
    ],
)
def test_a_maximum_gives_to_the_cell_that_it_chose(output, lines):
    """Windows that hold the cell are listed, with the share that it gets."""
    text = shown("MaxPool-1-backward", ATTRIBUTES, output)
    for line in lines:
        assert line in text


def test_an_average_gives_a_part():
    """One over the divisor."""
    text = shown("AvgPool-1-backward", {**ATTRIBUTES, "exclude_pad": True}, (0,))
    assert "gradient[0, 0, 0] = 4: the cell gets 0.5 of it" in text
