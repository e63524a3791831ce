"""Sweeps of the operators with windows: AvgPool-1, MaxPool-1 and nGraph AvgPool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Any

from conformance.dtypes import FLOATS
from conformance.sweep import geometry
from conformance.sweep.covering import Constraint, Model, Row
from conformance.sweep.geometry import Axis
from conformance.sweep.model import ABSENT, Blueprint, Sweep
from conformance.sweep.patterns import (
    AVERAGE_PATTERNS,
    INTEGER_PATTERNS,
    MAXIMUM_PATTERNS,
    SPARSE_PATTERNS,
)

CHANNELS = (1, 3, 5, 16, 17, 33, 48, 264)
_ALIKE = ("nothing", "kernel", "kernel-and-stride")
"""What the axes share. Numbers that differ tell axes apart; equal ones take the fast ways of
kernels, those of a square window."""
_SHARED_VOLUME = 100
"""Cells of a window of equal axes, at most: the bound of more says nothing in half types."""
_INTEGERS = ("int8", "uint8", "int32", "int64")
# Of the levels of width, the largest for many channels, by number.
_WIDEST = {16: 3, 17: 3, 33: 2, 48: 1, 264: 1}


def openvino_sweep(operator: str) -> Sweep:
    """Return the sweep of AvgPool-1 or MaxPool-1."""
    average = operator == "AvgPool-1"
    factors: dict[str, tuple[Any, ...]] = {
        "axes": (1, 2, 3),
        "dtype": FLOATS if average else (*FLOATS, *_INTEGERS),
        "auto_pad": (ABSENT, "explicit", "same_upper", "same_lower", "valid"),
        "rounding_type": (ABSENT, "floor", "ceil"),
        **({"exclude_pad": (True, False)} if average else {}),
        **_geometry_factors(),
        "pattern": AVERAGE_PATTERNS if average else (*MAXIMUM_PATTERNS,),
    }
    return Sweep(
        operator,
        Model(factors, [*_geometry_constraints("auto_pad"), *_data_constraints()]),
        lambda row, turn: _openvino_case(operator, row, turn),
        _geometry_alone(factors, "auto_pad"),
    )


def ngraph_sweep() -> Sweep:
    """Return the sweep of nGraph AvgPool."""
    factors: dict[str, tuple[Any, ...]] = {
        "axes": (1, 2, 3, 4),
        "dtype": FLOATS,
        "strides": (ABSENT, "given"),
        "below": (ABSENT, "given"),
        "above": (ABSENT, "given"),
        "include": (ABSENT, True, False),
        **_geometry_factors(),
        "pattern": AVERAGE_PATTERNS,
    }
    own = [
        Constraint(
            ("strides", "stride"),
            lambda strides, stride: strides != ABSENT or stride == "one",
            "absent strides are ones",
        ),
        Constraint(
            ("below", "pads"),
            lambda below, pads: below != ABSENT or pads in {"none", "end"},
            "absent padding below is zero",
        ),
        Constraint(
            ("above", "pads"),
            lambda above, pads: above != ABSENT or pads in {"none", "begin"},
            "absent padding above is zero",
        ),
    ]
    return Sweep(
        "nGraph-AvgPool",
        Model(factors, [*_geometry_constraints(None), *_data_constraints(), *own]),
        _ngraph_case,
        _geometry_alone(factors, None, own),
    )


# What the geometry is swept with at the higher strength: fewer levels, small and plain data.
_FEW_LEVELS: dict[str, tuple[Any, ...]] = {
    "auto_pad": ("explicit", "same_upper", "same_lower", "valid"),
    "rounding_type": ("floor", "ceil"),
    "kernel": ("one", "even", "odd", "input"),
    "pads": ("none", "begin", "end", "begin-larger", "end-larger", "above-stride"),
    "strides": ("given",),
    "below": ("given",),
    "above": ("given",),
    "include": (True, False),
    "axes": (1, 2),
    "alike": ("nothing", "kernel-and-stride"),
    "dtype": ("float32",),
    "width": ("2-3",),
    "batch": (1,),
    "channels": (1,),
    "pattern": ("normals",),
}


def _geometry_alone(
    factors: Mapping[str, tuple[Any, ...]], auto_pad: str | None, own: Sequence[Constraint] = ()
) -> Model:
    few = {name: _FEW_LEVELS.get(name, levels) for name, levels in factors.items()}
    return Model(few, [*_geometry_constraints(auto_pad), *own])


def _geometry_factors() -> dict[str, tuple[Any, ...]]:
    return {
        "kernel": geometry.KERNELS,
        "stride": geometry.STRIDES,
        "pads": geometry.PADS,
        "fit": geometry.FITS,
        "width": geometry.WIDTHS,
        "alike": _ALIKE,
        "batch": (1, 2, 3),
        "channels": CHANNELS,
    }


def _mode(auto_pad: str) -> str:
    if auto_pad in {ABSENT, "explicit"}:
        return "explicit"
    return "valid" if auto_pad == "valid" else "same"


def _geometry_constraints(auto_pad: str | None) -> list[Constraint]:
    names = (*((auto_pad,) if auto_pad else ()), "kernel", "stride", "pads", "fit")

    def of_an_axis(levels: Sequence[str]) -> tuple[str, ...]:
        return (_mode(levels[0]), *levels[1:]) if auto_pad else ("explicit", *levels)

    def some_numbers(*levels: str) -> bool:
        return geometry.feasible(*of_an_axis(levels), None)

    def some_numbers_with_width(axes: int, width: str, *levels: str) -> bool:
        # With several axes, the width is that of the last and the other levels another's.
        return axes > 1 or geometry.feasible(*of_an_axis(levels), width)

    def some_equal_numbers(axes: int, alike: str, *levels: str) -> bool:
        if alike == "nothing":
            return True
        return axes > 1 and bool(
            _focused(geometry.candidates(*of_an_axis(levels), None), axes, alike)
        )

    return [
        Constraint(names, some_numbers, "no numbers satisfy these levels"),
        Constraint(
            ("axes", "width", *names),
            some_numbers_with_width,
            "no numbers satisfy these levels with that many windows",
        ),
        Constraint(
            ("axes", "alike", *names),
            some_equal_numbers,
            "one axis is like no other, and windows of equal axes soon hold too many cells",
        ),
        *_size_constraints(),
    ]


def _size_constraints() -> list[Constraint]:
    """Keep the shipped suite small: what is large in one way is small in the others."""
    wide = geometry.WIDTHS.index
    why = "size of the suite"
    return [
        Constraint(
            ("kernel", "channels", "batch"),
            lambda kernel, channels, batch: kernel != "huge" or channels * batch <= 6,
            why,
        ),
        Constraint(
            ("kernel", "width", "axes"),
            lambda kernel, width, axes: kernel != "huge" or (wide(width) <= 1 and axes <= 2),
            why,
        ),
        Constraint(
            ("batch", "channels"), lambda batch, channels: batch * channels <= 34 or batch == 1, why
        ),
        Constraint(
            ("axes", "width"), lambda axes, width: wide(width) <= (5, 5, 3, 2)[axes - 1], why
        ),
        Constraint(
            ("width", "channels"),
            lambda width, channels: wide(width) <= _WIDEST.get(channels, 5),
            why,
        ),
        Constraint(
            ("axes", "channels"),
            lambda axes, channels: channels <= (264, 264, 48, 17)[axes - 1],
            why,
        ),
    ]


def _data_constraints() -> list[Constraint]:
    return [
        Constraint(
            ("dtype", "pattern"),
            lambda dtype, pattern: (
                pattern in INTEGER_PATTERNS
                if dtype not in FLOATS
                else pattern != "extremes" and (dtype != "bfloat16" or pattern != "overflow")
            ),
            "patterns an element type can hold; float32 is no wider than bfloat16",
        ),
        Constraint(
            ("dtype", "kernel", "pattern"),
            lambda dtype, kernel, pattern: (
                dtype not in FLOATS[:2] or kernel != "huge" or pattern in SPARSE_PATTERNS
            ),
            "the bound of hundreds of addends says nothing in half types",
        ),
        Constraint(
            ("dtype", "kernel", "axes"),
            lambda dtype, kernel, axes: dtype != "bfloat16" or kernel != "huge" or axes == 1,
            "a divisor per axis above 256 is not representable in bfloat16",
        ),
    ]


def numbers(
    row: Row, mode: str, turn: int, suits: Callable[[Axis], bool] = lambda _axis: True
) -> list[Axis]:
    """Return the numbers of each axis: one satisfies the levels, the others are small and plain.

    Numbers differ from axis to axis wherever the levels leave a choice. `suits` restricts the
    plain axes further.
    """
    level = {name: str(value) for name, value in row.items()}
    axes, width, alike = int(level["axes"]), level["width"], level["alike"]
    levels = (mode, level["kernel"], level["stride"], level["pads"], level["fit"])
    on_last = _focused(geometry.candidates(*levels, width), axes, alike)
    focus = turn % axes if on_last else turn % (axes - 1)
    options = on_last
    if focus < axes - 1:
        options = _focused(geometry.candidates(*levels, None), axes, alike)
    # Of the numbers that fit, the smaller do: the suite is shipped.
    share = 8 if axes > 2 or int(level["channels"]) > 5 else 3
    options = _smaller(options, share)
    chosen: dict[int, Axis] = {focus: options[turn * 7919 % len(options)]}
    for i in range(axes):
        if i != focus:
            padded = level["pads"] != "none"
            on_its_own = width if i == axes - 1 else None
            others = _beside(chosen[focus], alike, mode, on_its_own, padded=padded)
            fitting = [axis for axis in others if suits(axis)]
            if alike != "nothing":
                fitting = list(_smaller(fitting, share))
            chosen[i] = _most_distinct(fitting, list(chosen.values()), turn + i)
    return [chosen[i] for i in range(axes)]


def _focused(options: Sequence[Axis], axes: int, alike: str) -> Sequence[Axis]:
    """Return what the axis that a row is about may be, if all axes share its kernel."""
    if alike == "nothing":
        return options
    return [axis for axis in options if axis.k**axes <= _SHARED_VOLUME]


def _beside(
    focus: Axis, alike: str, mode: str, width: str | None, *, padded: bool
) -> Sequence[Axis]:
    """Return what may stand beside the axis that a row is about."""
    if alike == "nothing":
        return geometry.plain(mode, width, padded=padded)
    stride = focus.s if alike == "kernel-and-stride" else None
    return geometry.alike(mode, width, focus.k, stride, padded=padded)


def _smaller(options: Sequence[Axis], share: int) -> Sequence[Axis]:
    return sorted(options, key=lambda axis: axis.d)[: max(1, len(options) // share)]


def _most_distinct(options: list[Axis], taken: list[Axis], turn: int) -> Axis:
    start = turn * 31 % len(options)
    rotated = (options[(start + i) % len(options)] for i in range(len(options)))

    def clashes(axis: Axis) -> int:
        return sum(a == b for other in taken for a, b in zip(axis[:3], other[:3], strict=True))

    return min(islice(rotated, 200), key=clashes)


def _volume(axes: list[Axis]) -> int:
    return prod(axis.k for axis in axes)


def _shape(row: Row, axes: list[Axis]) -> tuple[int, ...]:
    return (int(str(row["batch"])), int(str(row["channels"])), *(axis.d for axis in axes))


def _openvino_case(operator: str, row: Row, turn: int) -> Blueprint:
    axes = numbers(row, _mode(str(row["auto_pad"])), turn)
    attributes: dict[str, Any] = {
        "kernel": [axis.k for axis in axes],
        "strides": [axis.s for axis in axes],
        "pads_begin": [axis.begin for axis in axes],
        "pads_end": [axis.end for axis in axes],
    }
    for key in ("rounding_type", "auto_pad", "exclude_pad"):
        if row.get(key, ABSENT) != ABSENT:
            attributes[key] = row[key]
    return Blueprint(
        operator,
        attributes,
        _shape(row, axes),
        str(row["dtype"]),
        str(row["pattern"]),
        _volume(axes),
    )


def _ngraph_case(row: Row, turn: int) -> Blueprint:

    def suits(axis: Axis) -> bool:
        return (
            (row["strides"] != ABSENT or axis.s == 1)
            and (row["below"] != ABSENT or axis.begin == 0)
            and (row["above"] != ABSENT or axis.end == 0)
        )

    axes = numbers(row, "explicit", turn, suits)
    given = {
        "window_shape": [axis.k for axis in axes],
        "window_movement_strides": [axis.s for axis in axes],
        "padding_below": [axis.begin for axis in axes],
        "padding_above": [axis.end for axis in axes],
        "include_padding_in_avg_computation": row["include"],
    }
    factors = ("strides", "below", "above", "include")
    absent = [row[name] == ABSENT for name in factors]
    keys = list(given)
    attributes = {
        key: value
        for key, value, left_out in zip(keys, given.values(), [False, *absent], strict=True)
        if not left_out
    }
    return Blueprint(
        "nGraph-AvgPool",
        attributes,
        _shape(row, axes),
        str(row["dtype"]),
        str(row["pattern"]),
        _volume(axes),
    )
