"""Calls for which engines have code of their own: sliding sums, blocks of channels, other layouts.

Code that slides a window by one cell adds the cell that enters and takes away the one that leaves:
what is no number, or is large, stays. Code for blocks of channels is one for each element type, and
counts to the blocks that it has registers or memory for. Code for another layout is all written
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import cycle, product
from math import prod

from conformance.cases.sweep import levels
from conformance.cases.sweep.sweep_model import CaseSpec, Geometry, build, case_of_axes, plain_type
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator

_SLID: tuple[Geometry, ...] = (
    ((1, 2), (Axis(2, 2), Axis(13, 5, 1, 2, 2, output=9))),
    ((1, 2), (Axis(13, 5, 1, 2, 1, output=9), Axis(3, 2, output=2))),
    ((2, 1), (Axis(12, 4, 1, output=7),)),
)
"""Windows of several cells that move on by one, along either axis."""
_LEFT_BEHIND = ("nan", "infinities", "contrasts", "spikes")
"""Numbers that a running sum or maximum does not get rid of."""
_BLOCKS: tuple[Geometry, ...] = (
    ((1, 16), (Axis(4, 3, 2, 1, 1, output=2), Axis(5, 3, 2, 1, 1, output=3))),
    ((2, 8), (Axis(3, 2, 1, output=2), Axis(4, 2, 2, output=3))),
    ((1, 264), (Axis(1), Axis(3, 2, 2, 1, output=2))),
    ((1, 260), (Axis(2, 2), Axis(2, 2))),
)
_OF_GRADIENTS = 2
"""Channels that fill blocks, and those past 256 that fill a block or do not, which gradients lack:
their files are large for what they add."""
_IN_TURN = ("taken for one another", "alike but for one role", "one thing apart")
"""How tags of cases begin that are there for what is called before them."""
_CELLS = 300
"""Cells of a case that is there in the other layout, too, at most."""


def sliding(operator: Operator) -> Iterator[CaseSpec]:
    """Yield windows that move on by one cell, in each type, with numbers that stay behind."""
    if operator.is_gradient or not {"kernel", "output"} & operator.roles:
        return
    kinds = [
        (dtype, pattern)
        for dtype, pattern in product(levels.floats(operator), _LEFT_BEHIND)
        if levels.holds(dtype, pattern)
    ]
    for turn, (dtype, pattern) in enumerate(kinds):
        planes, axes = _SLID[turn % len(_SLID)]
        if operator.axes[1] == 1:
            axes = (max(axes, key=lambda axis: axis.size),)
        tags = ("windows that slide",)
        numbers = operator, planes, axes, pattern, dtype
        yield case_of_axes(*numbers, tags=tags, if_judgeable=True)


def channel_blocks(operator: Operator) -> Iterator[CaseSpec]:
    """Yield channels in blocks, in each type but the plain one."""
    others = {*levels.settled_types(operator)} - {plain_type(operator)}
    types = [name for name in operator.dtypes if name in others]
    words = list(levels.word_choices(operator, "auto_pad"))
    blocks = _BLOCKS[:_OF_GRADIENTS] if operator.is_gradient else _BLOCKS
    for turn, (dtype, (planes, axes)) in enumerate(product(types, blocks)):
        pattern = levels.pattern_for("index", dtype)
        said = words[turn // len(blocks) % len(words)]
        yield case_of_axes(
            *(operator, planes, axes[-(operator.axes[1] or 2) :], pattern, dtype, said),
            tags=("blocks of channels",),
            if_judgeable=True,
        )


def in_either_layout(
    operator: Operator, specs: Iterable[CaseSpec], *, seed: int = 0
) -> Iterator[CaseSpec]:
    """Yield cases, and behind each small one the same call with channels last, if a caller may.

    Of two such calls one is in the smoke tier, in turn. Of cases that are there for what comes
    before them, there is no other.
    """
    layout = operator.attribute("channels_last")
    if layout is None:
        yield from specs
        return
    last = next(key for key, meaning in layout.values.items() if meaning is True)
    turns = cycle((False, True))
    for spec in specs:
        if not _is_alone(spec) or layout.key in spec.attributes or prod(spec.shape) > _CELLS:
            yield spec
            continue
        other = replace(
            spec,
            attributes={**spec.attributes, layout.key: last},
            inputs=build(spec, seed=seed).inputs,
            pattern=spec.data_pattern,
        )
        swapped = spec.tier == "smoke" and next(turns)
        yield replace(spec, tier="standard") if swapped else spec
        yield other if swapped else replace(other, tier="standard")


def _is_alone(spec: CaseSpec) -> bool:
    """Say whether a case is of a valid call, and of one that tells something by itself."""
    is_computed = spec.provenance == "computed" and "invalid" not in spec.tags
    return is_computed and not any(tag.startswith(_IN_TURN) for tag in spec.tags)
