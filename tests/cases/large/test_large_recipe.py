"""A recipe of a large case: what it makes, and when it is one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cases.large import Limits, Recipe, differences, recipes
from conformance.operators import evaluate
from conformance.repeated import Run, groups, large_shape
from conformance.vector import Case, outputs_of

SMALL = Limits(index=1 << 13, count=1 << 4, exact=1 << 8)


@st.composite
def runs(draw):
    """Return the size of an axis and a run of it, perhaps of no cells."""
    size = draw(st.integers(1, 7))
    start = draw(st.integers(0, size))
    return size, Run(start, draw(st.integers(start, size)), draw(st.integers(1, 9)))


def repeated(array, of):
    """Return an array in which runs are repeated, axis by axis."""
    for axis, run in enumerate(of):
        cells = range(array.shape[axis])
        inside = [*cells[run.start : run.stop]]
        array = array.take([*cells[: run.start], *inside * run.times, *cells[run.stop :]], axis)
    return array


def pooled(values, runs, operator="MaxPool-1", dtype="float32", **attributes):
    """Return the recipe of windows of two over values of one axis."""
    pool = {"kernel": [2], "strides": [2], "pads_begin": [0], "pads_end": [0]}
    data = np.array(values, dtype).reshape(1, 1, -1)
    return Recipe(Case("case", operator, pool | attributes, (data,)), (Run(), Run(), runs), "any")


@given(st.lists(runs(), min_size=1, max_size=3), st.integers(1, 40))
def test_groups_are_the_large_array_each_element_once(axes, block):
    shape, of = [size for size, _ in axes], [run for _, run in axes]
    small = np.arange(np.prod(shape)).reshape(shape)
    large, times = np.zeros(large_shape(shape, of), int), np.zeros(large_shape(shape, of), int)
    for group in groups(shape, of, block):
        for place in group:
            large[group.at(place)] = group.of(small)
            times[group.at(place)] += 1

    assert (times == 1).all()
    assert large.tolist() == repeated(small, of).tolist()


def test_blocks_are_few_and_not_larger_than_asked_for():
    found = [*groups((3, 3), (Run(1, 2, 1 << 20), Run(1, 2, 1 << 20)), 1 << 16)]

    assert max(group.of(np.zeros((3, 3))).size for group in found) <= 1 << 16
    assert sum(len(group.places[0]) * len(group.places[1]) for group in found) < 1 << 27


@pytest.mark.parametrize("recipe", [*recipes(SMALL)], ids=lambda recipe: recipe.id)
def test_what_a_recipe_expects_is_what_its_whole_case_gives(recipe):
    inputs = recipe.inputs()
    outputs = outputs_of(evaluate(recipe.case.operator, inputs, recipe.case.attributes))

    assert inputs[0].tobytes() == repeated(recipe.case.data, recipe.runs).tobytes()
    for number, output in enumerate(outputs):
        expected = recipe.expected_values(number).whole(recipe.output_runs)
        assert (output.dtype, output.shape) == (expected.dtype, recipe.output_shape)
        assert output.tobytes() == expected.tobytes()


def test_a_run_that_windows_share_unevenly_is_no_recipe():
    sound = pooled([9, 1, 2, 3, 8], Run(1, 3, 5, 0, 1), strides=[1])

    assert differences(pooled([9, 1, 2, 3, 8, 7], Run(2, 4, 5, 1, 1))) == []
    assert differences(sound)
    assert differences(pooled([9, 1, 2, 3, 8, 7], Run(2, 3, 5, 1, 1)))


def test_an_average_over_a_whole_run_is_a_recipe_if_the_run_holds_zeros():
    def averaged(values):
        recipe = pooled(values, Run(1, 3, 5))
        return replace(
            recipe, case=replace(recipe.case, operator="ONNX-GlobalAveragePool-22", attributes={})
        )

    assert differences(averaged([1, 0, 0, 4])) == []
    assert averaged([1, 0, 0, 4]).expected.outputs[0].values == np.float32(5 / 12)
    assert differences(averaged([1, 0, 2, 4]))


def test_an_index_that_may_be_that_of_several_cells_is_no_recipe():
    tied = pooled([1, 1, 1, 1], Run(0, 2, 5, 0, 1), "MaxPool-8")

    assert differences(tied) == ["outcomes differ in their values"]


def test_an_index_above_what_its_type_holds_is_no_recipe():
    recipe = pooled([1, 2, 3, 4], Run(0, 2, 1 << 30, 0, 1), "MaxPool-8", index_element_type="i32")

    assert differences(recipe) == ["an index may be above what int32 holds"]
    assert differences(replace(recipe, runs=(Run(), Run(), Run(0, 2, 1 << 29, 0, 1)))) == []


def test_it_says_what_memory_it_needs_and_makes_nothing_before_it_is_asked():
    recipe = pooled([1, 2, 3, 4], Run(0, 2, 1 << 40, 0, 1))

    assert recipe.bytes == 4 * ((1 << 41) + 2 + (1 << 40) + 1)
    assert recipe.memory > 2 * recipe.bytes


def test_inputs_that_do_not_fit_are_a_memory_error():
    with pytest.raises(MemoryError):
        pooled([1, 2, 3, 4], Run(0, 2, 1 << 55, 0, 1)).inputs()
