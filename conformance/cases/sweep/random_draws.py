"""Cases in which everything varies at once, drawn at random and chosen for what they catch.

Number n of an operator is one draw of everything that it has: numbers of each axis, every word and
scalar, the element type, the kind of number. So nothing that one operator is swept with is missing
in another. Of the endless draws, benchmarks/choose_draws.py chooses those that catch faults which
other cases catch in too few shapes, and writes their numbers into random_draws.txt.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from conformance.cases.sweep import levels
from conformance.cases.sweep.patterns import FURTHER_PATTERNS, SPECIAL_PATTERNS
from conformance.cases.sweep.rules import broken
from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of_axes, given
from conformance.dtypes import INTEGERS, dtype_of
from conformance.operators import vector_of
from conformance.operators.attributes import (
    MEANINGS,
    SCALARS,
    Attribute,
)
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.operators.windows import ceil_div
from conformance.vector import Tier

TAG = "everything drawn"
LIST = Path(__file__).with_name("random_draws.txt")
CHOSEN: dict[str, tuple[str, ...]] = {
    operator: tuple(numbers)
    for operator, *numbers in map(str.split, LIST.read_text(encoding="utf-8").splitlines())
}
"""Numbers of draws by operator, those of the smoke tier with `SMOKE` behind them."""
SMOKE = "*"
BLOCKED = range(100_000, 1_000_000)
"""Numbers of draws for kernels that compute blocks of channels at once: axes are mostly alike, and
channels mostly fill blocks."""
_CELLS, _LONG_CELLS, _MOST_CELLS = 600, 2200, 4200
"""Cells of the data at most, if there are several planes, of long ones, and of any: the suite is
shipped."""
_LONG = (33, 65, 130, 257, 520, 1030)
"""Numbers of batches, channels or windows that pass what engines count in bytes or blocks."""
_BIG = (258, 515, 1030)
"""The same of kernels, strides, dilations and pads."""
_LONG_ONCE, _BIG_ONCE, _ALIKE_ONCE, _INVALID_ONCE, _SIZED_ONCE = 6, 24, 5, 8, 4
"""One draw of so many is long, or has axes alike, breaks a rule, or says an output size that may be
left out; one axis of so many has a big number."""
_ALIKE_IN_BLOCKS = 2
"""One of so many draws in `BLOCKED` has axes alike."""
_LIMITS = (0.25, 0.5, 1.0, 1.5)
"""Where the limit of an activation lies, of the way from the zero point to the end of a type."""

# Some numbers are drawn more often than others.
_KERNELS = (1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6, 7, 9, 17)
_DILATIONS = (1, 1, 1, 2, 2, 3, 4)
_WINDOWS = (1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 9, 17)
_SIZES = (1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 11, 13, 17)
_ALIKE_OUTPUTS = (1, 1, 2, 2, 3, 5)
_BATCHES = (1, 1, 1, 2, 2, 3, 4, 5)
_CHANNELS = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 33)
_IN_BLOCKS = (3, 4, 8, 8, 8, 12, 16, 16, 16, 24, 32, 48, 64)
_BEYOND = ("near-largest", "overflow")
"""Numbers whose sums leave the range: with a divisor of fewer than the cells, so may results."""
_OFTEN = 3
"""So often a type is drawn that most engines have, compared with another."""

Item = TypeVar("Item")


class Draws:
    """Choices that follow from a key alone, whatever the version of Python."""

    def __init__(self, key: str) -> None:
        self._random = random.Random(key).random  # noqa: S311 - keeps no secrets

    def below(self, count: int) -> int:
        """Return a number from 0 on, below a count."""
        return int(self._random() * count)

    def of(self, items: Sequence[Item]) -> Item:
        """Return one of some items."""
        return items[self.below(len(items))]

    def one_in(self, count: int) -> bool:
        """Return true once in so many calls, about."""
        return self.below(count) == 0


def chosen_draws(operator: Operator) -> Iterator[CaseSpec]:
    """Yield the draws of an operator that were chosen."""
    for number in CHOSEN.get(operator.name, ()):
        tier: Tier = "smoke" if number.endswith(SMOKE) else "standard"
        yield replace(draw(operator, number_of(number)), tier=tier)


def number_of(listed: str) -> int:
    """Return the number of a draw as it is listed, maybe with the mark of the smoke tier."""
    return int(listed.removesuffix(SMOKE))


def draw(operator: Operator, number: int) -> CaseSpec:
    """Return draw `number` of an operator, whatever its document says of such a case."""
    draws = Draws(f"{operator.name} {number}")
    drawn = _draw(operator, draws, in_blocks=number in BLOCKED)
    spec = _shortened(operator, draws, drawn)
    return _broken(operator, draws, spec) if draws.one_in(_INVALID_ONCE) else spec


def _draw(operator: Operator, draws: Draws, *, in_blocks: bool) -> CaseSpec:
    dtype = _type(operator, draws)
    words = _words(operator, draws, dtype)
    long = draws.of(("batch", "channels", "axis")) if draws.one_in(_LONG_ONCE) else ""
    auto_pad = words.get("auto_pad", "explicit")
    alike_once = _ALIKE_IN_BLOCKS if in_blocks else _ALIKE_ONCE
    axes = _axes(operator, draws, auto_pad, alike_once, is_long=long == "axis")
    while _cells(operator, axes) > _MOST_CELLS:
        axes = _axes(operator, draws, auto_pad, alike_once, is_long=False)
    most = (_LONG_CELLS if long else _CELLS) // _cells(operator, axes)
    usual = _IN_BLOCKS if in_blocks else _CHANNELS
    channels = draws.of(_upto(most, _LONG if long == "channels" else usual))
    batch = draws.of(_upto(most // channels, _LONG if long == "batch" else _BATCHES))
    patterns = [
        name for name in _patterns(operator.forward or operator) if levels.holds(dtype, name)
    ]
    pattern = draws.of(patterns)
    if words.get("fixed_divisor") and pattern in _BEYOND and not operator.is_gradient:
        pattern = "normals"
    gradients = (*levels.GRADIENTS, "nan-encodings", "infinities", *FURTHER_PATTERNS)
    spec = case_of_axes(
        *(operator, (batch, channels), axes, pattern, dtype, words),
        roles=_roles(operator, draws),
        size_type=draws.of(("int64", "int64", "int32")),
        gradient=draws.of(gradients) if operator.is_gradient else "names",
        tags=(TAG,),
        if_judgeable=True,
    )
    return _with_indices(operator, draws, spec) if operator.scatters else spec


def _upto(most: int, numbers: Sequence[int]) -> Sequence[int]:
    return [n for n in numbers if n <= most] or [1]


def _shortened(operator: Operator, draws: Draws, spec: CaseSpec) -> CaseSpec:
    """Return a case with one number for a list of equal ones, where that may be and sometimes."""
    attributes = dict(spec.attributes)
    for each in operator.attributes:
        value = attributes.get(each.key)
        if each.one_for_all and isinstance(value, list) and len({*value}) == 1:
            shorter = value[:1] if each.one_for_all == "in a list" else value
            attributes[each.key] = draws.of((value, value[0], shorter))
    return replace(spec, attributes=attributes)


def _broken(operator: Operator, draws: Draws, spec: CaseSpec) -> CaseSpec:
    """Return a case with one of the rules of the document broken, if it broke none before."""
    case = build(replace(spec, pattern="integers", gradient="integers"), seed=0)
    if not vector_of(case).values:
        return spec
    ways = list(broken(operator, case.attributes, case.inputs))
    rules = [*dict.fromkeys((way.what, way.rule) for way in ways if not way.is_left_open)]
    rule = draws.of(rules)
    way = draws.of([way for way in ways if (way.what, way.rule) == rule])
    tags = (TAG, "invalid", f"{way.what}: {way.exactly}")
    return given(operator.name, way.attributes, way.inputs, "invalid", tags=tags)


def _type(operator: Operator, draws: Draws) -> str:
    integers = INTEGERS if operator.settles_integers or operator.scatters else ()
    every = [
        name for name in operator.dtypes if name in integers or name not in INTEGERS
    ] or operator.dtypes
    often = [name for name in ("float32", "float64", "int8", "uint8") if name in every]
    chosen: str = draws.of((*every, *often * _OFTEN))
    return chosen


def _patterns(operator: Operator) -> tuple[str, ...]:
    """Return the kinds of numbers that can show a fault of a reduction, in a few cells."""
    every = (*levels.patterns(operator), *SPECIAL_PATTERNS, *FURTHER_PATTERNS, "extremes", "lowest")
    return tuple(name for name in dict.fromkeys(every) if name != "edges")


def _words(operator: Operator, draws: Draws, dtype: str) -> dict[str, Any]:
    """Return a meaning of each word and a value of each scalar that is not left out."""
    said: dict[str, Any] = {}
    for role, attribute in operator.of_roles((*MEANINGS, *SCALARS)).items():
        if attribute.required or not draws.one_in(3):
            options = attribute.meanings or _scalars(operator, attribute)
            said[role] = draws.of([value for value in options if value is not None])
    activation = str(said.get("activation", "none"))
    if activation != "none" and dtype in INTEGERS and "input_scale" in said:
        said["input_scale"] = _limiting(draws, activation, said.get("input_zero_point", 0), dtype)
    return said


def _scalars(operator: Operator, attribute: Attribute) -> tuple[float | None, ...]:
    return levels.scalar_values(attribute, max(1, operator.axes[0]))


def _limiting(draws: Draws, activation: str, zero_point: int, dtype: str) -> float:
    """Return a scale with which the limit of an activation lies inside, at or outside of a type."""
    limit = 1.0 if activation == "relu_n1_to_1" else 6.0
    steps = (int(np.iinfo(dtype_of(dtype)).max) - zero_point) * draws.of(_LIMITS)
    return float(np.float32(limit / max(1.0, steps)))


def _roles(operator: Operator, draws: Draws) -> list[str]:
    """Return the roles of lists that are said: sometimes some are left out."""
    optional = {
        each.role
        for each in operator.attributes
        if each.is_list and not each.required and draws.one_in(6)
    }
    if "pads" in optional:
        optional |= {"pads_begin", "pads_end"}
    return [role for role in Axis._fields[1:] if role not in optional]


def _axes(
    operator: Operator, draws: Draws, auto_pad: str, alike_once: int, *, is_long: bool
) -> list[Axis]:
    count = draws.of(levels.axes(operator)[:3])
    shrunk = draws.of((1, 1, 2))  # some cases are of few cells, with many channels
    alike, place = draws.one_in(alike_once), draws.below(count)
    axes: list[Axis] = []
    for number in range(count):
        windows = ceil_div(draws.of(_WINDOWS), shrunk)
        if is_long:
            windows = draws.of(_LONG) if number == place else 1
        axis = axes[0] if alike and axes else _axis(operator, draws, shrunk)
        if alike and operator.is_adaptive:
            output = axes[0].output if axes else draws.of(_ALIKE_OUTPUTS)
            axes.append(Axis(draws.of(_SIZES), output=output))
        else:
            axes.append(_of_windows(operator, draws, axis, auto_pad, windows))
    once = _SIZED_ONCE if operator.has_windows else 2
    if "fixed_output" in operator.roles and draws.one_in(once):
        rounding = draws.of(("floor", "floor", "ceil"))
        return [_sized(operator, draws, axis, auto_pad, rounding) for axis in axes]
    return axes


def _axis(operator: Operator, draws: Draws, shrunk: int) -> Axis:
    """Return the numbers of an axis but for its size, where it has windows."""
    if not operator.has_windows and not operator.scatters:
        return Axis(ceil_div(draws.of(_SIZES), shrunk), output=draws.of(_SIZES))
    k = ceil_div(draws.of(_KERNELS), shrunk)
    begin, end = (draws.of((0, 0, 0, 0, 1, 1, k // 2, k // 2, k // 2, k - 1, k)) for _ in range(2))
    numbers = {
        "kernel": k,
        "strides": draws.of((1, 1, 2, 2, 3, k, k + 1)),
        "pads_begin": begin,
        "pads_end": end,
        "dilations": draws.of(_DILATIONS),
    }
    if draws.one_in(_BIG_ONCE):
        big, role = draws.of(_BIG), draws.of(tuple(numbers))
        numbers[role] = big
        if role.startswith("pads"):
            numbers["kernel"] = 2 * big
    return Axis(1, **numbers).said(operator)


def _of_windows(operator: Operator, draws: Draws, axis: Axis, auto_pad: str, windows: int) -> Axis:
    """Return an axis with so many windows, or cells where it has no windows."""
    if operator.has_windows:
        least = axis.least_size(windows, "same" if auto_pad.startswith("same") else auto_pad)
        return axis._replace(size=max(1, least + draws.below(axis.strides))).said(operator)
    if operator.scatters:
        return axis._replace(size=windows if windows in _LONG else min(windows, 5))
    if operator.is_adaptive:
        return axis._replace(output=windows) if draws.one_in(2) else axis
    return axis._replace(size=windows) if draws.one_in(2) else axis


def _sized(operator: Operator, draws: Draws, axis: Axis, auto_pad: str, rounding: str) -> Axis:
    """Return an axis with an output size that is given: near the one inferred, or of windows."""
    if operator.scatters:
        output = axis.unpooled + draws.of((-1, 0, 1, 2))
    else:
        rest = axis.slack(auto_pad) % axis.strides
        output = axis.extent(auto_pad) + (rounding == "ceil" and rest > 0)
    return axis._replace(fixed_output=max(1, output))


def _cells(operator: Operator, axes: Sequence[Axis]) -> int:
    """Return the cells of a plane of the data, of the output or of a window: the most of them."""
    numbers = ["size"]
    if operator.has_windows:
        numbers.append("kernel")
    elif operator.is_adaptive:
        numbers.append("output")
    elif operator.scatters:
        numbers.append("unpooled")
    planes = (prod(max(1, int(getattr(axis, each))) for axis in axes) for each in numbers)
    return max(planes)


def _with_indices(operator: Operator, draws: Draws, spec: CaseSpec) -> CaseSpec:
    """Return a case of an unpooling with indices of windows, or of any cells, each at most once."""
    if not draws.one_in(2):
        return spec
    params = operator.stated(spec.attributes, spec.shape[2:])
    pipeline = operator.pipeline
    output = (*spec.shape[:2], *pipeline.extent(params, pipeline.pads(params)))
    first = operator.constants["index_axis"]
    groups, cells = prod(output[:first]), prod(output[first:])
    count = prod(spec.shape) // groups
    if count > cells:
        return spec
    places = [
        sorted(range(cells), key=lambda _: draws.below(1 << 30))[:count] for _ in range(groups)
    ]
    indices = np.array(places, np.int64).reshape(spec.shape)
    return replace(spec, inputs=(build(spec, seed=0).data, indices))
