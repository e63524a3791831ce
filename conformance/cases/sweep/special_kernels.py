"""Sweep of the numbers that kernels of engines specialise on, on any axis and of any width.

2x2 with stride 2, 3x3 with padding 1, a row, a column, all of the plane: each has a way of its own
in engines, often one for each element type, block of channels and padding mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import cycle, product
from math import prod
from typing import NamedTuple

from conformance.cases.sweep import levels
from conformance.cases.sweep.axis_geometry import FITS, WIDTHS, width_range
from conformance.cases.sweep.covering import Model, Row, constraint
from conformance.cases.sweep.exhaustive import in_product
from conformance.cases.sweep.sweep_model import (
    ABSENT,
    ArraySpec,
    CaseSpec,
    case_of_axes,
    plain_type,
)
from conformance.cases.sweep.window_sweep import modes_of
from conformance.operators.attributes import Role
from conformance.operators.axis import Axis, sizes
from conformance.operators.operator import Operator
from conformance.operators.windows import ceil_div
from conformance.reference.bound import is_meaningful


class _Wanted(NamedTuple):
    """So many windows on an axis, with cells left over or not, under explicit, same or valid."""

    windows: int
    rest: bool = False
    mode: str = "explicit"


_Kind = tuple[int, ...]
"""Kernel, stride and pad of an axis, or cells for windows; nothing where it is one window."""


def _axis(operator: Operator, kind: _Kind, wanted: _Wanted) -> Axis:
    """Return an axis of a kind, as wanted."""
    if not kind:
        return Axis(wanted.windows, kernel=wanted.windows)
    if operator.is_adaptive:
        cells, windows = kind
        size = ceil_div(wanted.windows * cells, windows)
        return Axis(size + wanted.rest, output=wanted.windows)
    kernel, stride, pad = kind
    axis = Axis(0, kernel, stride, pad, pad)
    size = axis.least_size(wanted.windows, wanted.mode)
    # Under same_*, windows fill the largest size of so many, and leave most of the least.
    if wanted.rest != (wanted.mode == "same"):
        size += stride - 1
    return axis._replace(size=max(1, size))


# Kernel, stride and pad of the first axis and of the others, or of all.
_SLIDING: dict[str, tuple[_Kind, ...]] = {
    "halves": ((2, 2, 0),),
    "pairs": ((2, 1, 0),),
    "threes": ((3, 1, 0),),
    "threes padded": ((3, 1, 1),),
    "threes by two": ((3, 2, 0),),
    "threes by two padded": ((3, 2, 1),),
    "thirds": ((3, 3, 0),),
    "quarters": ((4, 4, 0),),
    "row": ((1, 1, 0), (5, 1, 2)),
    "row by two": ((1, 1, 0), (3, 2, 1)),
    "column": ((5, 1, 2), (1, 1, 0)),
    "column by two": ((3, 2, 1), (1, 1, 0)),
    "identity": ((1, 1, 0),),
    "every other": ((1, 2, 0),),
}
# Cells for windows.
_ADAPTIVE: dict[str, tuple[_Kind, ...]] = {
    "identity": ((1, 1),),
    "halves": ((2, 1),),
    "thirds": ((3, 1),),
    "two of three": ((3, 2),),
    "doubled": ((1, 2),),
    "column": ((3, 1), (1, 1)),
    "row": ((1, 1), (3, 1)),
}
_GLOBAL: dict[str, tuple[_Kind, ...]] = {"global": ((),)}
_CHANNELS: dict[str, tuple[int, ...]] = {
    "few": (1, 2, 3),
    "a block of 4": (4, 5, 6, 7),
    "a block of 8": (8, 9, 11, 12, 15),
    "a block of 16": (16, 17, 20, 24, 31),
    "a block of 32": (32, 33, 40, 47, 48, 63),
    "a block of 64": (64, 65, 72, 80, 96, 100, 127),
    "128": (128, 129, 144, 160, 192, 224, 255),
    "256": (256, 257, 272, 320, 384, 448, 511),
    "512": (512, 513, 576, 640, 768, 896, 1000, 1023, 1024, 1025, 1031),
}
"""Channels from a multiple of the blocks of kernels on, and what is left over of the next."""
_PATTERNS = {
    True: ("normals", "impulses", "negative", "lossy", "names", "nan-encodings", "infinities"),
    False: ("names", "negative", "lowest", "lossy", "signed-zeros", "nan-encodings", "infinities"),
}
"""Data of both signs and of one, and special values, by whether a reduction sums."""
_IN_A_ROW, _CHANNELS_IN_TURN = (5, 9), (1, 3, 8)
"""Windows of the last axis, and channels, of operators without a covering array of this."""
_VARIANTS = (
    ("plain", False, "names"),
    ("plain", True, "nan"),
    ("another", False, "negative"),
    ("another", True, "names"),
)
"""The type, whether cells are left over, and the data of such cases."""
_LONG = {"first": 2, "middle": 3, "last": 1}
"""Which axis is the long one, and how many axes there are at least."""
_ELEMENTS, _PLANE = 400, 4
"""Elements of a case with the fewest channels of its level, or cells of a plane with any number of
channels, at most: the suite is shipped."""


def kinds_of(operator: Operator) -> dict[str, tuple[_Kind, ...]]:
    """Return the kinds that an operator can have: numbers of the first axis and of the others."""
    if not operator.has_windows:
        return {**(_ADAPTIVE if operator.is_adaptive else {}), **_GLOBAL}
    sayable = {
        name: kinds
        for name, kinds in _SLIDING.items()
        if all(_axis(operator, kind, _Wanted(2)).is_sayable(operator) for kind in kinds)
    }
    return {**sayable, **_GLOBAL}


def special_kernels(operator: Operator) -> ArraySpec:
    """Return the covering array of special kernels, as `Sweep` has them."""
    kinds = kinds_of(operator)
    patterns = (*_PATTERNS[operator.reduction.sums], "extremes")
    factors: levels.Factors = {
        "axes": levels.axes(operator),
        "dtype": levels.types(operator),
        **levels.word_factors(operator),
        "kernel": tuple(kinds),
        "long": tuple(_LONG),
        "width": WIDTHS,
        "fit": FITS,
        "batch": (1, 2),
        "channels": tuple(_CHANNELS),
        "pattern": tuple(
            name for name in patterns if any(levels.holds(t, name) for t in levels.types(operator))
        ),
    }

    @cache
    def cells(kernel: str, axes: int, width: str) -> int:
        most = width_range(width)[-1]
        wanted = [_Wanted(most, rest=True, mode=mode) for mode in ("explicit", "same", "valid")]
        return max(
            prod(sizes(_axes(operator, kinds[kernel], axes, long, each)))
            for long, each in product(("first", "last"), wanted)
        )

    def is_judged(dtype: str, kernel: str, axes: int, width: str) -> bool:
        wanted = _axes(operator, kinds[kernel], axes, "last", _Wanted(width_range(width)[-1]))
        addends = prod(axis.cells(operator) for axis in wanted)
        return not operator.reduction.sums or is_meaningful(addends, axes, dtype)

    constraints = [
        levels.HELD,
        constraint(
            "one axis is the last, and of two there is none between",
            lambda axes, long: axes >= _LONG[long],
        ),
        constraint(
            "one axis has neither rows nor columns",
            lambda axes, kernel: axes > 1 or len(kinds[kernel]) == 1,
        ),
        constraint(
            "size of the suite",
            lambda kernel, axes, width, channels: (
                cells(kernel, axes, width) <= max(_PLANE, _ELEMENTS // _CHANNELS[channels][0])
            ),
        ),
        constraint(
            "size of the suite", lambda batch, channels: batch == 1 or _CHANNELS[channels][0] <= 64
        ),
        constraint("the bound of hundreds of addends says nothing in half types", is_judged),
    ]
    return ArraySpec(
        "special kernels", Model(factors, constraints), partial(_case, operator, kinds)
    )


def usual_kernels(operator: Operator) -> Iterator[CaseSpec]:
    """Yield cases of special kernels for operators without that array, several windows in a row.

    Gradients have none: their files are large for what these add.
    """
    if operator.levels == "all" or not operator.has_windows or operator.is_gradient:
        return
    kinds = kinds_of(operator)
    del kinds["global"]
    if is_padded := "threes padded" in kinds:
        kinds["halves padded"] = ((2, 2, 1),)
    rank = operator.rank or 2
    plain = plain_type(operator)
    others = cycle([name for name in levels.types(operator) if name != plain])
    varied: tuple[Role, ...] = ("include_pad",) if is_padded else ("include_pad", "auto_pad")
    words, modes = list(levels.word_choices(operator, *varied)), modes_of(operator)
    every = product(kinds.values(), _VARIANTS)
    for turn, (kind, (type_, rest, pattern)) in enumerate(every):
        dtype = plain if type_ == "plain" else next(others)
        said = words[(turn + turn // len(_VARIANTS)) % len(words)]
        mode = modes[said.get("auto_pad", ABSENT)]
        wanted = _Wanted(_IN_A_ROW[turn // 2 % len(_IN_A_ROW)], rest, mode)
        channels = _CHANNELS_IN_TURN[turn // 3 % len(_CHANNELS_IN_TURN)]
        axes = _axes(operator, kind, rank, "last", wanted)
        numbers = operator, (1, channels), axes, levels.pattern_for(pattern, dtype), dtype, said
        yield case_of_axes(*numbers, tags=("usual kernel",), if_judgeable=True)


def _axes(
    operator: Operator, kinds: tuple[_Kind, ...], rank: int, long: str, wanted: _Wanted
) -> list[Axis]:
    """Return the axes of a case: one as wanted, the others with one window or two and no rest."""
    place = {"first": 0, "middle": 1}.get(long, rank - 1)
    every = [_Wanted(1 + (i + place) % 2, mode=wanted.mode) for i in range(rank)]
    every[place] = wanted
    each = (kinds[0], *(kinds[-1],) * (rank - 1))
    return [_axis(operator, kind, want) for kind, want in zip(each, every, strict=True)]


def _case(
    operator: Operator, kinds: Mapping[str, tuple[_Kind, ...]], row: Row, turn: int
) -> CaseSpec:
    widths = width_range(str(row["width"]))
    mode = modes_of(operator)[row.get("auto_pad", ABSENT)]
    wanted = _Wanted(widths[turn % len(widths)], row["fit"] == "rest", mode)
    rank, batch = levels.number(row, "axes"), levels.number(row, "batch")
    axes = _axes(operator, kinds[str(row["kernel"])], rank, str(row["long"]), wanted)
    shapes = [(batch, n, *sizes(axes)) for n in _CHANNELS[str(row["channels"])]]
    channels = [shape[1] for shape in shapes if not in_product(shape)]
    numbers = {**row, "channels": channels[turn % len(channels)]}
    spec = levels.case_of_row(operator, numbers, axes)
    return replace(spec, tags=(f"special kernel: {row['kernel']}",))
