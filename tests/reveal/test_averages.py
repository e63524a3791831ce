"""The order and the arithmetic of averages, revealed of planted ones."""

from functools import partial

import numpy as np
import pytest
from support import planted_sums as planted
from support import sound
from support.planted_sums import lanes_joined, summing

from conformance.reveal import reveal
from conformance.reveal.trees import nested
from conformance.reveal.values import Window

WINDOWS = (Window((2, 3), per_plane=2), Window((21,), per_plane=2))


def revealed(backend, dtype="float32", windows=WINDOWS, operator="AvgPool-1"):
    """Return what is revealed of the averages of a backend."""
    found = reveal(backend, [], operators=[operator], dtypes=[dtype], windows=windows)
    return found.averages[0]


def properties(backend, dtype="float32"):
    """Return the values of each property of a backend."""
    return {name: found.values for name, found in revealed(backend, dtype).properties.items()}


JOINS = {
    "in order": planted.in_order,
    "backwards": planted.backwards,
    "folded": planted.folded,
    "by neighbours": planted.neighbours,
}


@pytest.mark.parametrize(
    ("order", "rule"),
    [
        (sound.sequential, "first to last"),
        (sound.backwards, "last to first"),
        (sound.pairwise, "by halves, the larger first"),
        (planted.in_blocks(5), "blocks of 5, joined in order"),
        *(
            (lanes_joined(width, join), f"{width} lanes, joined {name}")
            for width, (name, join) in zip((4, 7, 8, 9), JOINS.items(), strict=True)
        ),
        *((lanes_joined(n, planted.backwards), f"{n} lanes, joined backwards") for n in (5, 6, 10)),
    ],
)
def test_order_of_a_planted_sum(order, rule):
    assert revealed(summing(order)).order == rule


def test_order_of_axes_one_after_the_other():
    backend = sound.Sound("", partial(sound.separable, divide="once"), "element")
    assert revealed(backend).order == "axis by axis, the last first: first to last"


def test_tree_of_a_window():
    first, _ = revealed(summing(lanes_joined(4, planted.folded))).windows
    assert nested(first.additions) == "(((0 4) 2) ((1 5) 3))"


def test_order_of_sums_in_float64():
    found = revealed(summing(sound.backwards, "float64"))
    assert (found.order, found.properties["sums"].values) == ("last to first", ("float64",))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_order_in_other_types(dtype):
    assert (
        revealed(summing(lanes_joined(4, planted.folded)), dtype).order == "4 lanes, joined folded"
    )


def test_float16_in_float32_has_an_order():
    found = revealed(summing(sound.backwards, "float32"), "float16")
    assert (found.order, found.properties["sums"].values) == ("last to first", ("float32",))


def test_sums_that_no_mask_tells_from_exact_ones():
    found = revealed(summing(sound.sequential, "float64"), "float16")
    assert {window.kind for window in found.windows} == {"exact"}
    assert found.properties["sums"].values == ("float64",)


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        (sound.kahan, "masks give a tree, but no known way"),
        (sound.ascending, "cells are sorted"),
        (planted.running, "sums slide"),
        (planted.fixed_point, "masks are added exactly, but no known way"),
    ],
)
def test_sums_without_a_tree(order, problem):
    found = revealed(summing(order))
    assert {window.kind for window in found.windows} == {"none"}
    assert problem in found.windows[-1].problem
    assert (found.order, found.properties) == ("", {})


def test_masks_of_float16_end_at_64_cells():
    backend = summing(sound.backwards, "float32")
    found = revealed(backend, "float16", windows=(Window((8, 8)), Window((9, 9))))
    assert [window.kind for window in found.windows] == ["tree", "none"]
    assert "more than 64 cells" in found.windows[1].problem


def test_order_that_channels_change():
    def backend(operator, inputs, attributes):
        order = sound.backwards if inputs[0].shape[1] > 1 else sound.sequential
        return summing(order)(operator, inputs, attributes)

    found = revealed(backend, windows=(Window((5,)), Window((5,), 4)))
    assert found.order_of_plane == ""
    assert [nested(window.additions)[:7] for window in found.windows] == ["((((0 1", "(0 (1 ("]


@pytest.mark.parametrize(
    ("average", "division"),
    [
        (sound.sum_then_divide, "divide"),
        (sound.sum_times_reciprocal, "multiply by reciprocal"),
        (sound.scaled_first, "multiply cells"),
        (sound.fused, "fused multiply-add"),
    ],
)
def test_division(average, division):
    found = properties(sound.Sound("", average, "element"))
    assert (found["sums"], found["division"]) == (("float32",), (division,))


def test_division_axis_by_axis():
    """The counts of 2 and 3 cells divide one after the other."""

    def average(on, cells, geometry):
        total = sound.sequential(on, sound.flat(cells, geometry))
        for axis, divisors in enumerate(geometry.divisors):
            shape = [1] * total.ndim
            shape[2 + axis] = -1
            total = on.divide(total, divisors.astype(cells.dtype).reshape(shape))
        return total

    backend = sound.Sound("", average, "element")
    found = revealed(backend, windows=(Window((3, 5), per_plane=2),))
    assert found.properties["division"].values == ("divide axis by axis",)


def test_division_of_each_cell():
    assert properties(sound.Sound("", sound.divided_first, "element"))["division"] == (
        "divide cells",
    )


@pytest.mark.parametrize(
    ("accumulator", "sums"),
    [("element", "bfloat16"), ("float32", "float32"), ("float64", "float64")],
)
def test_width_of_the_accumulator(accumulator, sums):
    assert properties(summing(sound.sequential, accumulator), "bfloat16")["sums"] == (sums,)


def test_rounding_towards_zero():
    def truncating(operator, inputs, attributes):
        wide = [inputs[0].astype(np.float32), *inputs[1:]]
        result = summing(sound.sequential)(operator, wide, attributes)
        return (result.view(np.uint32) & 0xFFFF0000).view(np.float32).astype(inputs[0].dtype)

    found = properties(truncating, "bfloat16")
    assert (found["sums"], found["narrowing"]) == (("float32",), ("towards zero",))


def somewhere(operator, inputs, attributes):
    """Flush the results of some windows."""
    result = summing(sound.sequential)(operator, inputs, attributes)
    result[::2] = sound.flushed(result[::2])
    return result


def test_subnormals_of_float16():
    backend = summing(sound.sequential, flush="everything")
    assert properties(backend, "float16")["subnormals"] == ("operands and results flushed",)


@pytest.mark.parametrize(
    ("flush", "values"),
    [
        ("somewhere", ("unexplained",)),
        ("nothing", ("kept",)),
        ("inputs", ("inputs flushed",)),
        ("results", ("outputs flushed",)),
        ("everything", ("operands and results flushed",)),
    ],
)
def test_subnormals(flush, values):
    backend = somewhere if flush == "somewhere" else summing(sound.sequential, flush=flush)
    assert properties(backend)["subnormals"] == values


def test_evidence_names_another_value_and_what_it_would_give():
    found = revealed(summing(sound.sequential)).properties["sums"]
    assert {piece.instead for piece in found.evidence} >= {"float64", "bfloat16"}
    assert all(piece.output != piece.otherwise for piece in found.evidence)


def test_nan_in_some_cells_alone():
    def backend(operator, inputs, attributes):
        data = inputs[0].copy()
        data[..., -1][np.isnan(data[..., -1])] = 0
        return summing(sound.sequential)(operator, [data, *inputs[1:]], attributes)

    assert revealed(backend, windows=(Window((4,)),)).nan == "in cells 0, 1, 2"


def test_window_that_is_not_computed():
    def backend(operator, inputs, attributes):
        if inputs[0].ndim > 3:
            raise NotImplementedError("planes")
        return summing(sound.sequential)(operator, inputs, attributes)

    plane, line = revealed(backend).windows
    assert (plane.kind, line.kind) == ("refused", "tree")
    assert "planes" in plane.problem


@pytest.mark.parametrize(
    "operator", ["AvgPool-16", "AdaptiveAvgPool-8", "ONNX-GlobalAveragePool-22", "nGraph-AvgPool"]
)
def test_every_operator_with_an_average(operator):
    found = revealed(summing(sound.backwards), operator=operator, windows=(Window((7,)), *WINDOWS))
    orders = {found.order, found.order_of_plane} - {""}
    assert orders == {"last to first"}


def test_order_of_a_whole_plane():
    def backend(operator, inputs, attributes):
        order = sound.backwards if inputs[0].shape[2] == 5 else sound.sequential
        return summing(order)(operator, inputs, attributes)

    found = revealed(backend, windows=(Window((5,)), Window((5,), per_plane=3)))
    assert (found.order, found.order_of_plane) == ("first to last", "last to first")


def test_a_whole_plane_that_is_divided_otherwise():
    def backend(operator, inputs, attributes):
        whole = inputs[0].shape[2] == 5
        average = sound.sum_times_reciprocal if whole else sound.sum_then_divide
        return sound.Sound("", average, "element")(operator, inputs, attributes)

    found = revealed(backend, windows=(Window((5,)), Window((5,), per_plane=3)))
    assert found.properties["division"].values[0] == "divide"
    assert found.properties_of_plane["division"].values == ("multiply by reciprocal",)
