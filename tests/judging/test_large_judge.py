"""The verdict on a large output, which is compared block by block."""

import tracemalloc

import numpy as np
import pytest
from support.large_cases import of_output
from support.wrapping import right

from conformance.cases.large import Limits, recipes
from conformance.vector import outputs_of

TIER = {
    (recipe.case.operator, recipe.what): recipe
    for recipe in recipes(Limits(index=1 << 15, count=1 << 4, exact=1 << 8))
}
MAXIMA = TIER["MaxPool-8", "channels past 2^16 and 2^31"]
AVERAGES = TIER["AvgPool-1", "plane past 2^31"]
VALUES = TIER["MaxPool-1", "axis past 2^32"]


def result(recipe, change=lambda outputs: outputs):
    """Return the result of the right outputs, a list, after a change."""
    case = recipe.case
    outputs = outputs_of(right(case.operator, recipe.inputs(), case.attributes))
    outputs = change([output.copy() for output in outputs])
    return of_output(recipe, tuple(outputs) if len(outputs) > 1 else outputs[0])


def adding(more, *at, output=0):
    """Return a change: so much more at some places of an output."""

    def change(outputs):
        for place in at:
            outputs[output][place] += more
        return outputs

    return change


@pytest.mark.parametrize("place", [(0, 0, 0, 0), (0, 8, 3, 7), (0, 16, 9, 9)])
def test_a_single_wrong_element_is_found_wherever_it_is(place):
    """In an edge, in a repeat, in the last element."""
    worst = result(MAXIMA, adding(1, place)).worst

    assert (worst.wrong, worst.total, worst.index, worst.first_index) == (1, 1700, place, place)
    assert (worst.got, worst.error, worst.output) == (worst.expected + 1, 1, "output")


def test_of_several_wrong_elements_the_worst_and_the_first_are_told():
    first, worst = (0, 0, 0, 1), (0, 0, 0, 4369)

    found = result(VALUES, lambda outputs: adding(5, worst)(adding(1, first)(outputs))).worst

    assert (found.wrong, found.index, found.first_index) == (2, worst, first)


def test_wrong_indices_are_told_apart_from_values():
    found = result(MAXIMA, adding(1, (0, 3, 4, 5), output=1))

    assert found.detail == "indices: 1 of 1700 elements differ"
    assert (found.worst.number, found.worst_dtype) == (1, "int32")


def test_an_average_within_its_bound_conforms_and_one_outside_does_not():
    def last_bit(outputs):
        return [np.nextafter(outputs[0], np.float16(np.inf))]

    assert result(AVERAGES, last_bit).verdict == "conforms"
    assert result(AVERAGES, adding(1, (0, 0, 40, 90))).verdict == "mismatch"


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (lambda o: [o[0][..., 1:]], "shape (1, 1, 1, 4369) instead of (1, 1, 1, 4370)"),
        (lambda o: [o[0].astype(np.int16)], "dtype int16 instead of int8"),
        (lambda o: [o[0], o[0]], "returned 2 arrays instead of 1"),
        (lambda o: ["x"], "returned str instead of numpy.ndarray"),
    ],
)
def test_what_cannot_be_compared_is_a_mismatch(change, detail):
    found = result(VALUES, change)

    assert (found.verdict, found.detail) == ("mismatch", detail)


def test_an_output_in_another_byte_order_or_layout_is_compared_by_its_values():
    swapped = TIER["AvgPool-1", "bytes past 2^31"]

    assert result(swapped, lambda o: [o[0].astype(">f4")]).verdict == "conforms"
    assert result(swapped, lambda o: [np.asfortranarray(o[0])]).verdict == "conforms"


def test_the_result_is_that_of_the_large_case():
    found = result(AVERAGES)

    assert found.tier == "large"
    assert found.shapes == (AVERAGES.shape,)
    assert found.id == AVERAGES.id
    assert found.tags == ("needs 1.0 GiB",)


def test_the_judge_takes_memory_for_a_block_and_not_for_the_output():
    """Of 67 million elements, about one million at a time."""
    tier = recipes(Limits(index=1 << 26))
    recipe = next(recipe for recipe in tier if recipe.what == "output past 2^31")
    output = recipe.expected_values(0).whole(recipe.output_runs)
    tracemalloc.start()
    found = of_output(recipe, output)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.verdict == "conforms"
    assert output.nbytes > 1 << 26 > 8 * peak
