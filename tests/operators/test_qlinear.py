"""ONNX Runtime's averages of quantised integers: scales as inputs, halves by readings."""

import importlib
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples

from conformance import load_backend
from conformance.cases.minimize import polished
from conformance.cases.perturb import near
from conformance.cases.sweep.sweep_model import case_of, has_one_answer
from conformance.operators import OPERATORS, evaluate
from conformance.operators.clauses import under
from conformance.strategies import cases
from conformance.vectorfile import open_vectors

AVERAGE, GLOBAL = "ORT-QLinearAveragePool-1", "ORT-QLinearGlobalAveragePool-1"


def encoded(data, scales=(1.0, 1.0), points=(0, 0)):
    """Return the inputs of a call: data, and scales and zero points as arrays of no dimension."""
    numbers = []
    for scale, point in zip(scales, points, strict=True):
        numbers += [np.array(scale, np.float32), np.array(point, data.dtype)]
    return [data, *numbers]


# Against plain loops ------------------------------------------------------------------------------


def half(mean, reading, added):
    """Return the integer for a mean in steps of the output, in exact fractions."""
    early = added if reading.endswith("-sum") else 0
    value, word = mean + early, reading.removesuffix("-sum")
    down, rest = floor(value), value - floor(value)
    goes_up = {"even": down % 2 == 1, "away": value > 0, "up": True}[word]
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and goes_up)
    return down + up + added - early


SCALES = st.sampled_from([1.0, 0.5, 2.0, 0.25, 3.0, 31 / 128, float(np.float32(0.1)), 2.0**40])


@st.composite
def calls(draw):
    """Draw a call: data of one or two axes, attributes, scales and zero points."""
    axes = draw(st.integers(1, 2))
    numbers = [
        (k, draw(st.integers(1, 3)), draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1)))
        for k in draw(st.lists(st.integers(1, 4), min_size=axes, max_size=axes))
    ]
    sizes = [max(1, k - a - b) + draw(st.integers(0, 4)) for k, _, a, b in numbers]
    kernel, strides, begins, ends = (list(each) for each in zip(*numbers, strict=True))
    attributes = {
        "kernel_shape": kernel,
        "strides": strides,
        "pads": [*begins, *ends],
        "count_include_pad": draw(st.integers(0, 1)),
    }
    dtype = draw(st.sampled_from(["int8", "uint8"]))
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    data = rng.integers(limits.min, limits.max + 1, (1, 2, *sizes)).astype(dtype)
    if draw(st.booleans()):
        data //= 32
    points = draw(st.tuples(*[st.integers(int(limits.min), int(limits.max))] * 2))
    return data, attributes, (draw(SCALES), draw(SCALES)), points


def by_loops(data, attributes, scales, points, reading):
    """Average as the document says, one window after the other, in exact fractions."""
    axes = data.ndim - 2
    pads, kernel, strides = (attributes[key] for key in ("pads", "kernel_shape", "strides"))
    sizes, limits = data.shape[2:], np.iinfo(data.dtype)
    ratio = Fraction(scales[0]) / Fraction(scales[1])
    extent = [
        (d + pads[j] + pads[axes + j] - kernel[j]) // strides[j] + 1 for j, d in enumerate(sizes)
    ]
    got = np.zeros((*data.shape[:2], *extent), data.dtype)
    for n, c, *window in product(*map(range, got.shape)):
        firsts = [o * strides[j] - pads[j] for j, o in enumerate(window)]
        cells = product(*(range(a, a + k) for a, k in zip(firsts, kernel, strict=True)))
        inside = [
            int(data[n, c, *cell])
            for cell in cells
            if all(0 <= i < d for i, d in zip(cell, sizes, strict=True))
        ]
        divisor = prod(kernel) if attributes["count_include_pad"] else len(inside)
        mean = sum((q - points[0] for q in inside), Fraction(0)) / max(1, divisor) * ratio
        integer = half(mean, reading, points[1])
        got[n, c, *window] = min(max(integer, limits.min), limits.max)
    return got


@examples(4)
@given(calls(), st.sampled_from(["even", "even-sum", "away", "away-sum", "up"]))
def test_averages_equal_plain_loops(call, reading):
    data, attributes, scales, points = call
    got = evaluate(AVERAGE, encoded(data, scales, points), attributes, {"qlinear-halves": reading})
    np.testing.assert_array_equal(got, by_loops(*call, reading))


@examples(2)
@given(calls())
def test_global_averages_equal_plain_loops(call):
    data, _, scales, points = call
    sizes = list(data.shape[2:])
    attributes = {
        "kernel_shape": sizes,
        "strides": [1] * len(sizes),
        "pads": [0] * 2 * len(sizes),
        "count_include_pad": 0,
    }
    got = evaluate(GLOBAL, encoded(data, scales, points), {})
    np.testing.assert_array_equal(got, by_loops(data, attributes, scales, points, "even"))


@cache
def vectors_of(name):
    """Return the shipped vectors of an operator that have values."""
    with open_vectors(None, [name]) as files:
        return [vector for file in files for vector in file if vector.values]


# Sound computations in float32 --------------------------------------------------------------------


def in_turn(numbers):
    """Add numbers of float32 one after the other."""
    return np.add.accumulate(np.concatenate([np.zeros(1, np.float32), numbers]))[-1]


def divided(cells, n, scales):
    """Dequantise, add, divide by the number of cells, divide by the scale."""
    return in_turn(cells * scales[0]) / np.float32(n) / scales[1]


def by_reciprocals(cells, n, scales):
    """Add backwards, multiply by reciprocals."""
    sums = in_turn(cells[::-1] * scales[0])
    return sums * (np.float32(1) / np.float32(n)) * (np.float32(1) / scales[1])


def scaled_first(cells, n, scales):
    """Divide every cell before it is added."""
    return in_turn(cells * scales[0] / np.float32(n)) / scales[1]


def by_one_factor(cells, n, scales):
    """Add the integers, and multiply by one factor of both scales and the number."""
    return in_turn(cells) * (scales[0] / scales[1] / np.float32(n))


@pytest.mark.parametrize("way", [divided, by_reciprocals, scaled_first, by_one_factor])
@pytest.mark.parametrize("name", [AVERAGE, GLOBAL])
def test_every_sound_way_gives_the_integers_of_the_vectors(name, way):
    """No vector has a mean so near to a half that the order of a sum decides."""
    operator, seen = OPERATORS[name], 0
    for vector in vectors_of(name):
        case, readings = vector.case, vector.values[0].readings[0]
        params = operator.validate(case.inputs, case.attributes)
        pipeline = under(operator, readings)
        plan = pipeline.plan(params)
        gathered = pipeline.gathered(case.data, plan)
        scales = np.float32(params.input_scale), np.float32(params.output_scale)
        limits = np.iinfo(case.data.dtype)
        integers = case.data.astype(np.int64) - params.input_zero_point
        expected = vector.values[0].outputs[0].values
        starts = range(0, expected.size, 1 + expected.size // 400)  # of a large output, some
        for n, c, *window in (np.unravel_index(at, expected.shape) for at in starts):
            ranges = zip(gathered.lo, gathered.hi, window, strict=True)
            box = tuple(slice(lo[o], hi[o]) for lo, hi, o in ranges)
            cells = integers[n, c][box].ravel().astype(np.float32)
            if not cells.size:
                continue
            mean = way(cells, int(plan.divisor[tuple(window)]), scales)
            stored = np.rint(mean) + np.float32(params.output_zero_point)
            assert expected[n, c, *window] == np.clip(stored, limits.min, limits.max), case.id
            seen += 1
    assert seen > 500


# Strength -----------------------------------------------------------------------------------------


def near_half(cells=(100, 100, 100, 100)):
    """Return a case whose mean is 100.5 and 1e-4 more: roundings may add up to that."""
    numbers = {"x_scale": float(np.float32(1.005001)), "y_scale": 1.0}
    numbers |= {"x_zero_point": 0, "y_zero_point": 0}
    return case_of(GLOBAL, numbers, (np.array([[cells]], np.int8),), pattern="cells")


def test_a_case_has_one_answer_unless_a_mean_is_near_a_half():
    """100, 100, 100 and 99 make 100.25125."""
    assert not has_one_answer(near_half())
    assert has_one_answer(near_half((100, 100, 100, 99)))


def test_cases_without_one_answer_are_not_drawn(monkeypatch):
    """Scales of samples make them rare: here, they are those of an odd number of cells."""
    module = importlib.import_module("conformance.cases.strategies.drawn_cases")
    monkeypatch.setattr(module, "has_one_answer", lambda case: case.data.size % 2 == 0)

    @examples(10)
    @given(case=cases(GLOBAL, max_elements=64))
    def is_even(case):
        assert case.data.size % 2 == 0

    is_even()


def test_no_case_near_another_is_near_a_half():
    """Of a scale of 1.005, means of the cells that it draws are often so near."""
    rng = np.random.default_rng(0)
    made = [near(near_half((100, 100, 100, 99)), rng) for _ in range(300)]
    drawn = [case for case in made if case is not None]
    assert len(drawn) > 50
    assert all(map(has_one_answer, drawn))


def test_a_case_is_made_no_simpler_by_a_mean_near_a_half():
    """One cell of 100 alone would be the simplest that has a 100."""
    failing = polished(near_half((100, 100, 100, 99)), lambda case: bool((case.data == 100).any()))
    assert has_one_answer(failing)
    assert failing.data.size > 1


@pytest.mark.needs_engine("onnxruntime")
@examples(2)
@given(
    operator=st.sampled_from([AVERAGE, GLOBAL]),
    scales=st.tuples(*[st.sampled_from([0.1, 0.05, 0.2, 0.3, 0.7, 1.0])] * 2),
    points=st.tuples(*[st.integers(0, 127)] * 2),
    shape=st.tuples(st.just(1), st.integers(1, 3), st.integers(2, 8), st.integers(2, 8)),
    seed=st.integers(0, 999),
)
def test_cases_with_one_answer_are_those_of_onnx_runtime(operator, scales, points, shape, seed):
    """To the bit under a reading of halves; of those near a half, about one in thirty is not."""
    data = np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
    rounded = [float(np.float32(scale)) for scale in scales]
    keys = ("x_scale", "y_scale", "x_zero_point", "y_zero_point")
    numbers = dict(zip(keys, (*rounded, *points), strict=True))
    window = {} if operator == GLOBAL else {"kernel_shape": [2, 1]}
    if not has_one_answer(case_of(operator, window | numbers, (data,), pattern="cells")):
        return
    got = load_backend("onnxruntime")(operator, encoded(data, scales, points), window)
    expected = [
        evaluate(operator, encoded(data, scales, points), window, {"qlinear-halves": reading})
        for reading in ("even", "even-sum", "away")
    ]
    assert any(np.array_equal(got, each) for each in expected)
