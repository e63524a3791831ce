"""Unpoolings drawn for people."""

import numpy as np
import pytest
from rich.console import Console

from conformance.errors import UsageError
from conformance.operators import vector_of
from conformance.report.console import render
from conformance.report.vector_report import describe
from conformance.vector import Case

ATTRIBUTES = {"kernel_shape": [2], "strides": [2], "output_shape": [5]}
DATA, INDICES = np.array([[[5.0, 6.0, 7.0]]], np.float32), np.array([[[0, 3, 3]]])


def text_of(**options):
    """Return the drawing of an unpooling as lines."""
    case = Case("case", "PyTorch-max_unpool1d", {"kernel_size": 2}, (DATA, INDICES))
    console = Console(width=80, highlight=False, markup=False, force_terminal=False)
    with console.capture() as captured:
        console.print(render(describe(vector_of(case), **options), width=80), crop=False)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_data_indices_and_output_are_drawn_with_a_cell_and_where_it_goes():
    lines = text_of()
    begin = next(number for number, line in enumerate(lines) if line.startswith("data["))
    assert lines[begin : begin + 8] == [
        "data[0, 0]    indices[0, 0]    expected[0, 0]",
        " 0 1 2         0 1 2            0 1 2 3 4 5",
        "┏━┓           ┏━┓              ┏━┓",
        "┃5┃6 7        ┃0┃3 3           ┃5┃0 0 ? 0 0",
        "┗━┛           ┗━┛              ┗━┛",
        "",
        "expected[0, 0, 0] = 5",
        "data[0, 0, 0] = 5, of index 0, goes there",
    ]


def test_what_goes_to_a_cell_that_is_asked_for_is_said():
    assert "expected[0, 0, 1] = 0: no cell goes there" in text_of(output=(1,))
    lines = text_of(output=(3,))
    assert "expected[0, 0, 3] is undefined: any value conforms" in lines
    assert "data[0, 0, 1] = 6, of index 3, goes there" in lines
    assert "data[0, 0, 2] = 7, of index 3, goes there" in lines


def test_a_cell_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="output 6 does not exist"):
        text_of(output=(6,))
