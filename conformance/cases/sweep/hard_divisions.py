"""Sizes at which a division that is not exact goes wrong, on every axis of every rank.

Engines divide by multiplying: with the reciprocal in a floating-point type, or with an integer and
a shift. These are the least pairs at which one of them is off, or two (see the tests).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import CaseSpec, case_of_axes
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

# Slack and stride.
BY_STRIDE = (
    *((11, 11), (22, 11), (41, 41), (47, 47), (55, 55), (49, 49), (98, 49), (21, 7), (42, 7)),
    *((49, 7), (159, 53), (165, 55), (189, 27), (273, 91), (279, 93), (297, 99)),
    *((27, 14), (32, 11), (389, 195), (452, 151), (482, 161)),
)
# Input and output size.
BY_OUTPUT = (
    *((2, 82), (2, 94), (2, 98), (3, 123), (4, 28), (7, 13), (3, 7), (7, 41), (3, 85), (7, 17)),
    *((7, 75), (3, 23), (4, 98), (7, 43), (14, 2), (23, 23), (21, 49), (3, 53), (3, 55), (14, 18)),
    *((22, 22), (14, 4), (3, 91), (7, 19), (23, 46), (18, 42), (7, 25), (21, 3), (11, 11)),
    *((11, 22), (6, 94), (42, 14), (29, 87), (25, 125), (23, 115)),
)


def hard_divisions(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the cases of such sizes; words, types and pads take turns."""
    if not ({"strides", "output"} & operator.roles):
        return
    modes = [words.get("auto_pad") for words in levels.word_choices(operator, "auto_pad")]
    roundings = list(levels.word_choices(operator, "rounding"))
    pairs: Sequence[tuple[int, int]] = BY_OUTPUT if operator.is_adaptive else BY_STRIDE
    few = operator.levels != "all"
    if few:
        pairs = pairs[::8]
    places = [(rank, place) for rank in levels.axes(operator) for place in range(rank)]
    for (turn, pair), (rank, place), words in product(enumerate(pairs), places, roundings):
        if few and words != roundings[(turn + rank) % len(roundings)]:
            continue
        mode = modes[(turn + place) % len(modes)]
        axes = [Axis(2, 2)] * rank
        axes[place] = _divided(operator, pair, mode or "explicit", turn % 2)
        cells = prod(axis.cells(operator) for axis in axes)
        types = levels.with_bounds(operator, levels.types(operator), cells, rank)
        dtype, tags = types[(turn + place) % len(types)], ("hard division",)
        said = {**words, "auto_pad": mode} if mode else words
        yield case_of_axes(operator, (1, 1), axes, "names", dtype, said, tags=tags)


def _divided(operator: Operator, pair: tuple[int, int], auto_pad: str, padded: int) -> Axis:
    """Return an axis on which the numbers of a pair are divided, under a padding mode."""
    number, divisor = pair
    if operator.is_adaptive:
        return Axis(number, output=divisor)
    if auto_pad == "explicit":
        axis = Axis(number + 3, 3, divisor, padded, padded).said(operator)
        return axis._replace(size=axis.size - axis.padding(auto_pad))
    if auto_pad.startswith("same"):
        # A kernel below the stride would meet a disputed clause.
        return Axis(number, divisor, divisor)
    return Axis(number + 3, 3, divisor)
