"""Vectors drawn for people."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from rich.console import Console
from support.effort import examples
from support.random_cases import cases as any_case
from support.report_samples import PADDED, PLAIN, case, counted

from conformance.cases.sweep.sweep_model import case_of, cases_of
from conformance.cases.sweep.worked_examples import examples as worked_examples
from conformance.errors import UsageError
from conformance.operators import OPERATORS, vector_of
from conformance.report.console import render
from conformance.report.vector_report import describe
from conformance.vector import Case

CEIL = PADDED | {"rounding_type": "ceil"}


def text_of(vector, width=80, **options):
    """Return a drawing as lines without colours or spaces at their ends."""
    console = Console(width=width, highlight=False, markup=False, force_terminal=False)
    with console.capture() as captured:
        console.print(render(describe(vector, width=width, **options), width=width), crop=False)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_padding_overhang_and_divisors_are_drawn():
    """Ceil rounding with padding: dots, crosses, an outlined window, the divisor of each output."""
    lines = text_of(vector_of(case("a", CEIL, 1, 1, 6, 6)))
    begin = lines.index(next(line for line in lines if line.startswith("data[")))
    assert lines[begin : begin + 20] == [
        "data[0, 0, :, :]                     expected[0, 0, :, :]     divisor[:, :]",
        "       ├──0───┤    ├──2───┤               0    1    2    3      0 1 2 3",
        "             ├──1───┤    ├──3───┤     ┏━━━━┓                   ┏━┓",
        "       -1  0  1  2  3  4  5  6  7    0┃   2┃   4 5.33    3    0┃9┃9 9 6",
        "      ┏━━━━━━━━┓                      ┗━━━━┛                   ┗━┛",
        "0┬  -1┃ ·  ·  ·┃ ·  ·  ·  ·  ·  ✕    1    9   15   17    9    1 9 9 9 6",
        " │   0┃ ·  1  2┃ 3  4  5  6  ·  ✕    2   17   27   29   15    2 9 9 9 6",
        " ┴1┬ 1┃ ·  7  8┃ 9 10 11 12  ·  ✕    3 10.5 16.5 17.5    9    3 6 6 6 4",
        "   │  ┗━━━━━━━━┛",
        "   │ 2  · 13 14 15 16 17 18  ·  ✕",
        "2┬ ┴ 3  · 19 20 21 22 23 24  ·  ✕",
        " │   4  · 25 26 27 28 29 30  ·  ✕",
        " ┴3┬ 5  · 31 32 33 34 35 36  ·  ✕",
        "   │ 6  ·  ·  ·  ·  ·  ·  ·  ·  ✕",
        "   ┴ 7  ✕  ✕  ✕  ✕  ✕  ✕  ✕  ✕  ✕",
        "",
        "expected[0, 0, 0, 0] = 2: the sum of 4 of the window's 9 cells, divided by 9",
        "· padding   ✕ partial last window   ┏━┓ one window and its output",
        "",
        "Clauses that apply",
    ]
    assert len(lines) <= 40


def test_the_chosen_output_and_reading_are_drawn():
    """--output moves the outline, --reading the numbers and the mark of the answer."""
    vector = vector_of(case("a", CEIL, 1, 1, 6, 6))
    lines = text_of(vector, output=(3, 3), readings={"overhang-divisor": "whole-kernel"})
    wanted = "expected[0, 0, 3, 3] = 4: the sum of 1 of the window's 9 cells, divided by 9"
    assert wanted in lines
    assert "▸  1x1x4x4, 7 values differ  overhang-divisor=whole-kernel" in lines


def test_three_axes_are_drawn_as_a_plane_at_a_depth():
    """The first axis is drawn apart, with the position of the plane."""
    attributes = {
        name: [value] * 3
        for name, value in (("kernel", 2), ("strides", 2), ("pads_begin", 0), ("pads_end", 0))
    }
    lines = text_of(
        vector_of(case("a", attributes, 1, 2, 4, 4, 4)), plane=(0, 1, 2), output=(1, 0, 1)
    )
    assert "axis 2: the plane at 2" in lines
    assert any(line.startswith("data[0, 1, 2, :, :]") for line in lines)
    assert any("expected[0, 1, 1, :, :]" in line for line in lines)
    assert any("97" in line for line in lines)  # 64 + 2 * 16 + 1: the plane's first cell


def test_a_large_plane_is_elided_around_the_window():
    """A 224x224 plane fits an 80x40 terminal and shows the window asked for."""
    attributes = PLAIN | {"exclude_pad": True}
    lines = text_of(vector_of(case("a", attributes, 1, 1, 224, 224)), output=(50, 60))
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert any(re.search(r" 120 +121 ", line) for line in lines)
    assert any("…" in line for line in lines)


def test_undefined_elements_are_marked():
    """A window of padding alone has a question mark and no value."""
    attributes = PLAIN | {"strides": [1, 1], "pads_end": [0, 2], "exclude_pad": True}
    lines = text_of(vector_of(case("a", attributes, 1, 1, 3, 3)), output=(0, 3))
    assert any(re.search(r"┃ +\?┃", line) for line in lines)
    assert "expected[0, 0, 0, 3] is undefined: any value conforms" in lines
    assert "   an exception  pads-not-below-kernel=rejected" in lines


def test_an_invalid_case_says_which_rule_it_breaks():
    """Where an exception is the answer there are no windows to draw."""
    text = " ".join(text_of(vector_of(case("a", PLAIN | {"strides": [0, 1]}, 1, 1, 4, 4))))
    assert "An exception is the right answer. strides=[0, 1]: must be" in text


def test_a_case_undefined_as_a_whole_says_why():
    """A kernel larger than the padded input leaves nothing to draw."""
    text = " ".join(text_of(vector_of(case("a", PLAIN | {"kernel": [9, 9]}, 1, 1, 4, 4))))
    assert "Undefined as a whole (kernel-past-padding)" in text


def test_output_size_and_blocks_of_an_adaptive_operator():
    """AdaptiveAvgPool has no attributes; its windows overlap where the sizes do not divide."""
    size = np.array([2, 3])
    adaptive = Case("a", "AdaptiveAvgPool-8", {}, (counted(1, 1, 4, 5), size))
    lines = text_of(vector_of(adaptive))
    assert any("output size 2x3" in line for line in lines)
    assert any("├─0─┤" in line for line in lines)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": (9, 9)}, "output 9,9 does not exist; 2 numbers below 2, 2 do"),
        ({"output": (0,)}, "output 0 does not exist; 2 numbers below 2, 2 do"),
        ({"plane": (0, 1)}, "plane 0,1 does not exist; 2 numbers below 1, 1 do"),
        ({"plane": (-1,)}, "plane -1,0 does not exist; 2 numbers below 1, 1 do"),
        (
            {"readings": {"overhang-divisor": "whole-kernel"}},
            "no reading overhang-divisor=whole-kernel applies to AvgPool-1/a; there are none",
        ),
    ],
)
def test_what_is_not_there_cannot_be_drawn(options, message):
    """A position or a reading that the vector lacks is wrong usage; the message says what is."""
    with pytest.raises(UsageError) as raised:
        describe(vector_of(case("a", PLAIN, 1, 1, 4, 4)), **options)
    assert str(raised.value) == message


@examples(0.5)
@given(any_case())
def test_any_case_can_be_drawn_in_80_columns(drawn):
    """Whatever the operator and attributes, the lines fit and an answer is shown."""
    operator, inputs, attributes = drawn
    vector = vector_of(Case("an/id", operator, attributes, tuple(inputs)))
    lines = text_of(vector)
    assert max(map(len, lines)) <= 80
    assert re.search(r"expected( \w+)?\[|Undefined|exception", " ".join(lines))


def test_a_dilated_window_and_the_cell_of_its_index_are_drawn():
    """Cells that the window does not read are circles; the index says which cell it is."""
    numbers = {"kernel": [2, 3], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    data = np.arange(1, 21, dtype=np.float32).reshape(1, 1, 4, 5)
    drawn = Case("a", "MaxPool-8", numbers | {"dilations": [2, 1]}, (data,))
    lines = text_of(vector_of(drawn), width=100, output=(1, 2))
    assert [line.split("┃")[1] for line in lines if "○" in line and "┃" in line] == [" ○  ○  ○"]
    assert "expected output[0, 0, 1, 2] = 20: the maximum of all 6 cells of the window" in lines
    assert "expected indices[0, 0, 1, 2] = 19: data[0, 0, 3, 4]" in lines
    assert any(line.startswith("○ not read by the window") for line in lines)


ROW = np.array([[[3, 4, 4, 1]]], np.float32)


@pytest.mark.parametrize(
    ("operator", "attributes", "output", "said"),
    [
        ("ONNX-LpPool-22", {"kernel_shape": [2]}, 0, "= 5: the 2-norm of both cells of the window"),
        (
            "ONNX-LpPool-22",
            {"kernel_shape": [2], "p": 3, "pads": [1, 0]},
            0,
            "= 3: the 3-norm of 1 of the window's 2 cells",
        ),
        (
            "ONNX-LpPool-22",
            {"kernel_shape": [2], "pads": [2, 0]},
            0,
            "= 0: no cell of the window is in the input",
        ),
        ("ONNX-GlobalLpPool-22", {"p": 1}, 0, "= 12: the 1-norm of all 4 cells of the window"),
        (
            "ONNX-AveragePool-22",
            {"kernel_shape": [1]},
            0,
            "= 3: the sum of the window's only cell, divided by 1",
        ),
        ("ONNX-GlobalMaxPool-22", {}, 0, "= 4: the maximum of all 4 cells of the window"),
    ],
)
def test_what_is_said_of_a_value_is_true_of_its_reduction(operator, attributes, output, said):
    """A norm is no sum that is divided."""
    lines = text_of(vector_of(Case("a", operator, attributes, (ROW,))), output=(output,))
    assert f"[0, 0, {output}] {said}" in " ".join(lines)


@pytest.mark.parametrize(("reading", "place"), [("first", 1), ("last", 2)])
def test_of_equal_maxima_the_reading_chose_one(reading, place):
    """The index is that of the first or of the last."""
    given = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    vector = vector_of(Case("a", "MaxPool-8", given, (ROW,)))
    lines = text_of(vector, width=120, output=(1,), readings={"index-of-ties": reading})
    found = f"data[0, 0, {place}], one of 2 cells that hold the maximum (index-of-ties={reading})"
    assert f"expected indices[0, 0, 1] = {place}: {found}" in lines


@pytest.mark.parametrize(
    ("operator", "number", "said"),
    [
        ("MaxPool-8", 1, "expected values printed in the document"),
        ("MaxPool-8", 0, "30 of 32 expected values printed in the document, the others computed"),
        ("nGraph-AvgPool", 0, "1 of 9 expected values printed in the document"),
        (
            "AvgPool-1",
            2,
            "attributes and output shape printed in the document, expected",
        ),
        ("MaxPool-1", 0, "attributes printed in the document, expected values computed by the"),
    ],
)
def test_only_what_was_held_against_the_document_is_called_printed(operator, number, said):
    """Numbers, or the shape alone; of a misprint, all but that."""
    drawn = list(cases_of(worked_examples(OPERATORS[operator])))[number]
    assert said in " ".join(text_of(vector_of(drawn)))
    other = replace(drawn, source="another page")
    assert "expected values computed by the reference" in " ".join(text_of(vector_of(other)))


def test_a_mean_of_integers_says_its_zero_points_and_that_it_is_rounded():
    """One of the data, taken off each cell, and one of the result."""
    attributes = {"kernel": [1, 2], "stride": [1, 2], "pad": [0] * 4}
    points = {"input_zp": 3, "output_zp": -2}
    data = np.int8([[[[4, 6]]]])
    vector = vector_of(Case("x", "TOSA-AVG_POOL2D", {**attributes, **points}, (data,)))
    said = " ".join(" ".join(text_of(vector)).split())
    assert "= 0: the sum of both cells of the window, each less 3, divided by 2, rounded" in said
    assert "plus -2" in said


def test_a_mean_of_quantised_integers_says_its_scales():
    numbers = {"x_scale": 0.5, "y_scale": 0.25, "x_zero_point": 0, "y_zero_point": 1}
    case = Case("x", "ORT-QLinearGlobalAveragePool-1", numbers, (np.int8([[[4, 6]]]),))
    said = " ".join(" ".join(text_of(vector_of(case))).split())
    assert "= 11: the sum of both cells" in said
    assert "divided by 2, times 0.5 / 0.25, rounded to an integer, plus 1" in said


GRADIENT = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}


def said_of(case, output, **readings):
    """Return what is shown of an element of a gradient."""
    return "\n".join(text_of(vector_of(case), 120, output=output, readings=readings))


def shown(operator, attributes, output, **readings):
    """Return the text of a gradient of three windows over 1 3 2 2."""
    data = np.array([[[1, 3, 2, 2]]], np.float32)
    inputs = (np.array([[[4, 10, 6]]], np.float32), data)
    case = case_of(operator, attributes, inputs, pattern="x")
    return said_of(case, output, **readings)


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
    text = shown("MaxPool-1-backward", GRADIENT, output, **readings)
    for line in lines:
        assert line in text


def test_a_norm_has_a_derivative():
    """It is x / norm for p = 2."""
    text = shown("ONNX-LpPool-22-backward", {"kernel_shape": [2]}, (1,))
    assert "= 4: the cell gets it times 0.948683, the derivative of the 2-norm" in text


DATA, INDICES = np.array([[[5.0, 6.0, 7.0]]], np.float32), np.array([[[0, 3, 3]]])


def unpooled(**options):
    """Return the drawing of an unpooling as lines."""
    case = Case("case", "PyTorch-max_unpool1d", {"kernel_size": 2}, (DATA, INDICES))
    return text_of(vector_of(case), **options)


def test_data_indices_and_output_are_drawn_with_a_cell_and_where_it_goes():
    lines = unpooled()
    begin = next(number for number, line in enumerate(lines) if line.startswith("data["))
    assert lines[begin : begin + 8] == [
        "data[0, 0, :]    indices[0, 0, :]    expected[0, 0, :]",
        " 0 1 2            0 1 2               0 1 2 3 4 5",
        "┏━┓              ┏━┓                 ┏━┓",
        "┃5┃6 7           ┃0┃3 3              ┃5┃0 0 ? 0 0",
        "┗━┛              ┗━┛                 ┗━┛",
        "",
        "expected[0, 0, 0] = 5",
        "data[0, 0, 0] = 5, of index 0, goes there",
    ]


def test_what_goes_to_a_cell_that_is_asked_for_is_said():
    assert "expected[0, 0, 1] = 0: no cell goes there" in unpooled(output=(1,))
    lines = unpooled(output=(3,))
    assert "expected[0, 0, 3] is undefined: any value conforms" in lines
    assert "data[0, 0, 1] = 6, of index 3, goes there" in lines
    assert "data[0, 0, 2] = 7, of index 3, goes there" in lines


def test_a_cell_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="output 6 does not exist"):
        unpooled(output=(6,))
