"""Unpooling: where cells go, what indices count, what is undefined and what is refused."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from support.effort import examples
from support.unpooling_oracle import bits, inferred_sizes, values_by_cell

from conformance.cases.strategies import cases, invalid_cases
from conformance.errors import InvalidCase
from conformance.operators import OPERATORS, vector_of
from conformance.vector import UNDEFINED, Anything, Case, Raises, Values

ONNX = "ONNX-MaxUnpool-22"
TORCH = tuple(f"PyTorch-max_unpool{axes}d" for axes in (1, 2, 3))
EVERY = pytest.mark.parametrize("name", [ONNX, *TORCH])
SPACE = "unpool-index-space"
ROW = {"kernel_shape": [2], "strides": [2]}


def onnx(data, indices, **attributes):
    """Return the vector of rows of data and indices, (N, C, d1), with kernel and strides of 2."""
    arrays = np.array(data, np.float32), np.array(indices, np.int64)
    shaped = tuple(array.reshape(1, -1, array.shape[-1]) for array in arrays)
    return vector_of(Case("case", ONNX, {**ROW, **attributes}, shaped))


def of_reading(vector, reading):
    """Return the outcome under a reading of the space of indices."""
    return next(
        outcome
        for outcome in vector.outcomes
        if any(combination.get(SPACE, reading) == reading for combination in outcome.readings)
    )


def check(case, outcome, reading):
    """Hold an outcome against plain loops."""
    operator = OPERATORS[case.operator]
    data, indices = case.inputs
    params = operator.validate(case.inputs, case.attributes)
    inferred = inferred_sizes(
        *(params.sizes, params.kernel, params.strides, params.pads_begin, params.pads_end)
    )
    sizes = [given or size for given, size in zip(params.fixed_output, inferred, strict=True)]
    whole = case.operator == ONNX
    found = values_by_cell(data, indices, sizes, inferred, whole=whole, reading=reading)
    if found is None:
        assert isinstance(outcome, Raises)
        return
    (expected,) = outcome.outputs
    assert expected.values.shape == (*data.shape[:2], *sizes)
    addends = expected.addends.reshape(expected.values.shape)
    for place in np.ndindex(expected.values.shape):
        going = found.get(place, [data.dtype.type(0)])
        assert bits(expected.values[place]) == bits(going[-1])
        assert (addends[place] == UNDEFINED) == (len({bits(value) for value in going}) > 1)


@EVERY
def test_drawn_cases_are_what_loops_compute(name):
    """Bit for bit under every reading, with the same elements undefined."""

    @examples(8)
    @given(case=cases(name, max_elements=200))
    def held(case):
        vector = vector_of(case)
        for reading in ("output", "inferred") if name == ONNX else ("output",):
            check(case, of_reading(vector, reading), reading)

    held()


@EVERY
def test_a_drawn_call_with_a_rule_broken_is_refused(name):
    @examples(4)
    @given(case=invalid_cases(name))
    def refused(case):
        assert isinstance(vector_of(case).outcomes[0], Raises)

    refused()


@pytest.mark.needs_engine("torch")
@pytest.mark.parametrize("name", TORCH)
def test_drawn_cases_are_those_of_torch(name):
    """Bit for bit, but for cells that several values go to."""
    torch = import_module("torch")
    function = getattr(torch.nn.functional, name.removeprefix("PyTorch-"))

    @examples(8)
    @given(case=cases(name, dtypes=["float64", "float32"], max_elements=200))
    def alike(case):
        given = map(torch.from_numpy, (case.inputs[0].copy(), case.inputs[1].copy()))
        got = function(*given, **case.attributes).numpy()
        (expected,) = vector_of(case).values[0].outputs
        defined = expected.addends != UNDEFINED
        assert got.shape == expected.values.shape
        assert bits(got.ravel()[defined]) == bits(expected.values.ravel()[defined])

    alike()


def test_an_index_beyond_the_inferred_shape_is_refused_by_that_reading():
    vector = onnx([[1, 2]], [[0, 4]], output_shape=[5])
    assert vector.clauses == {SPACE: ("output", "inferred")}
    assert isinstance(of_reading(vector, "output"), Values)
    assert isinstance(of_reading(vector, "inferred"), Raises)


def test_an_inferred_shape_without_cells_has_none_for_any_index():
    data, index = np.ones((1, 8, 1, 1), np.float32), np.zeros((1, 8, 1, 1), np.int64)
    sizes = {"kernel_shape": [2, 2], "pads": [2, 2, 2, 2], "output_shape": [1, 7]}
    vector = vector_of(Case("case", ONNX, sizes, (data, index)))
    assert isinstance(of_reading(vector, "output"), Values)
    assert isinstance(of_reading(vector, "inferred"), Raises)


@pytest.mark.parametrize(
    ("indices", "attributes", "clause"),
    [
        ([[0, 4]], {}, "unpool-index-range"),
        ([[-1, 0]], {}, "unpool-index-range"),
        ([[0, 1]], {"output_shape": [3]}, "unpool-output-too-small"),
        ([[0, 0]], {"pads": [2, 2]}, "empty-dimension"),
    ],
)
def test_what_no_document_defines_is_undefined_as_a_whole(indices, attributes, clause):
    vector = onnx([[1, 2]], indices, **attributes)
    assert isinstance(vector.outcomes[0], Anything)
    assert vector.clauses == {clause: ()}


class TestOutputShapeAsAnInput:
    """It is an attribute of cases, and an input of calls."""

    convention = OPERATORS[ONNX].convention
    inputs = np.ones((2, 3, 4), np.float32), np.zeros((2, 3, 4), np.int64)

    def test_it_comes_last_with_batch_and_channels(self):
        given, attributes = self.convention.given(self.inputs, {**ROW, "output_shape": [9]})
        assert [*map(np.shape, given)] == [(2, 3, 4), (2, 3, 4), (3,)]
        assert (given[2].tolist(), given[2].dtype, attributes) == ([2, 3, 9], np.int64, ROW)
        taken, back = self.convention.taken(given, attributes)
        assert (len(taken), back) == (2, {**ROW, "output_shape": [9]})

    def test_without_it_there_are_two_inputs(self):
        given, attributes = self.convention.given(self.inputs, ROW)
        assert (len(given), attributes) == (2, ROW)
        assert self.convention.taken(given, attributes)[1] == ROW

    @pytest.mark.parametrize("shape", [[1, 3, 9], [2, 1, 9], [2], []])
    def test_another_batch_or_other_channels_are_refused(self, shape):
        with pytest.raises(InvalidCase, match="must be int64, and start with"):
            self.convention.taken((*self.inputs, np.array(shape, np.int64)), ROW)


def test_an_unpooling_has_no_gradient_and_no_windows():
    for name in (ONNX, *TORCH):
        operator = OPERATORS[name]
        assert operator.scatters
        assert not any((operator.has_windows, operator.is_adaptive, operator.takes_output_size))
        assert f"{name}-backward" not in OPERATORS
