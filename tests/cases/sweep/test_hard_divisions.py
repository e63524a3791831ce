"""Pairs of sizes at which divisions that are not exact go wrong."""

import numpy as np
import pytest

from conformance.cases.sweep.hard_divisions import BY_OUTPUT, BY_STRIDE, hard_divisions
from conformance.cases.sweep.sweep_model import cases_of
from conformance.operators import OPERATORS

ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]

FLOATS = (np.float16, np.float32, np.float64)


def wrong_quotients(number, divisor):
    """Yield the ways to round a quotient down or up that go wrong."""
    for kind in FLOATS:
        quotient = kind(number) * (kind(1) / kind(divisor))
        if np.floor(quotient) != number // divisor:
            yield "floor", kind
        if np.ceil(quotient) != -(-number // divisor):
            yield "ceil", kind
    for bits in (8, 16):
        if number * -(-(2**bits) // divisor) >> bits != number // divisor:
            yield "shift", bits


def wrong_blocks(size, output):
    """Yield the ways to compute where blocks start and end that go wrong."""
    places = np.arange(output)
    starts, ends = places * size // output, -(-(places + 1) * size // output)
    for kind in FLOATS:
        d, o = kind(size), kind(output)
        i, j = places.astype(kind), (places + 1).astype(kind)
        for form, start, end in (
            ("i (d / o)", i * kind(d / o), j * kind(d / o)),
            ("i d (1 / o)", i * d * kind(kind(1) / o), j * d * kind(kind(1) / o)),
            ("(i / o) d", i / o * d, j / o * d),
            ("i / (o / d)", i / kind(o / d), j / kind(o / d)),
            ("i d / o", i * d / o, j * d / o),
        ):
            if (np.floor(start) != starts).any():
                yield form, "start", kind
            if (np.ceil(end) != ends).any():
                yield form, "end", kind


@pytest.mark.parametrize("pair", BY_STRIDE)
def test_every_slack_and_stride_is_hard(pair):
    """For a reciprocal in some type, or an integer and a shift."""
    assert list(wrong_quotients(*pair))


@pytest.mark.parametrize("pair", BY_OUTPUT)
def test_every_size_and_output_size_is_hard(pair):
    """For some form in some type."""
    assert list(wrong_blocks(*pair))


def test_every_inexact_way_goes_wrong_somewhere():
    """Twice or more for each type and rounding; at both ends of blocks, in every form and type."""
    ways = [way for pair in BY_STRIDE for way in wrong_quotients(*pair)]
    needed = [(rounding, kind) for rounding in ("floor", "ceil") for kind in FLOATS]
    assert min(ways.count(way) for way in needed) >= 2
    blocks = [way for pair in BY_OUTPUT for way in wrong_blocks(*pair)]
    forms = {form for form, *_ in blocks} - {"i d / o"}  # in float16 alone
    assert len(forms) == 4
    for form in forms:
        for kind in FLOATS:
            assert sum(way[0] == form and way[2] == kind for way in blocks) >= 3


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_every_axis_of_every_rank_is_divided(name):
    """By each pair; where there is an attribute for it, with both roundings."""
    operator = OPERATORS[name]
    seen = set()
    for case in cases_of(hard_divisions(operator)):
        params = operator.validate(case.inputs, case.attributes)
        for axis, size in enumerate(params.sizes):
            divisor = (params.output or params.strides)[axis]
            if divisor > 2:
                number = size
                if params.kernel and not params.same:
                    pads = params.pads_begin[axis] + params.pads_end[axis]
                    number += (pads if params.auto_pad == "explicit" else 0) - params.kernel[axis]
                seen.add((len(params.sizes), axis, (number, divisor), params.rounding))
    pairs = [pair for pair in (BY_OUTPUT if operator.is_adaptive else BY_STRIDE) if pair[1] > 2]
    roundings = ("floor", "ceil") if operator.attribute("rounding") else ("floor",)
    expected = {
        (axes, axis, pair, rounding)
        for axes in (1, 2, 3)
        for axis in range(axes)
        for pair in pairs
        for rounding in roundings
    }
    assert expected <= seen
