"""Sweeps of the operators with windows: kernels, strides, pads and how they meet the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

from conformance.cases.sweep import axis_geometry, levels
from conformance.cases.sweep.axis_geometry import Levels
from conformance.cases.sweep.covering import Constraint, Level, Model, Row, constraint
from conformance.cases.sweep.patterns import SPARSE_PATTERNS
from conformance.cases.sweep.sweep_model import ABSENT, ArraySpec, CaseSpec, plain_type
from conformance.dtypes import HALVES
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.operators.params import UNSAID

CHANNELS = (1, 3, 5, 16, 17, 33, 48, 264)
_ALIKE = ("nothing", "kernel", "kernel-and-stride")
"""What the axes share. Numbers that differ tell axes apart; equal ones take the fast ways of
kernels, those of a square window."""
_SHARED_VOLUME = 100
"""Cells of a window of equal axes, at most: the bound of more says nothing in half types."""
# Of the levels of width, the largest for many channels, by number.
_WIDEST = {16: 3, 17: 3, 33: 2, 48: 1, 264: 1}

# Of an attribute that is left out: the factor that then has certain levels alone, and why.
_LEFT_OUT: dict[str, tuple[str, tuple[str, ...], str]] = {
    "strides": ("stride", ("one",), "absent strides are ones"),
    "dilations": ("dilation", ("one",), "absent dilations are ones"),
    "pads_begin": ("padding", ("none", "end"), "absent padding below is zero"),
    "pads_end": ("padding", ("none", "begin"), "absent padding above is zero"),
    "pads": ("padding", ("none",), "absent padding is zero"),
}


def window_arrays(operator: Operator) -> tuple[ArraySpec, ...]:
    """Return the covering arrays of an operator that slides a kernel.

    That of the geometry holds the attributes and fewer levels of them, and is covered one strength
    higher: wrong divisors and extents need four or five attributes to agree.
    """
    factors = levels.factors(operator, _list_factors(operator), _geometry_factors(operator))
    own = [_when_left_out(operator, role) for role in _LEFT_OUT if role in factors]
    every = Model(factors, [*_geometry_constraints(operator), *_data_constraints(), *own])
    few = Model(_few(factors, operator), [*_geometry_constraints(operator), *own])
    concrete = partial(_case, operator)
    return (
        ArraySpec("all factors", every, concrete),
        ArraySpec("geometry", few, concrete, more=1),
    )


def _list_factors(operator: Operator) -> levels.Factors:
    """Return a factor for each list of numbers that may be left out."""
    return {
        role: (ABSENT, "given")
        for role in _LEFT_OUT
        if any(a.role == role and levels.may_be_absent(a) for a in operator.attributes)
    }


def _when_left_out(operator: Operator, role: str) -> Constraint:
    factor, allowed, why = _left_out(operator, role)
    return Constraint((role, factor), lambda given, level: given != ABSENT or level in allowed, why)


def _left_out(operator: Operator, role: str) -> tuple[str, tuple[str, ...], str]:
    attribute = next((each for each in operator.attributes if each.role == role), None)
    if role == "strides" and attribute is not None and attribute.default == "kernel":
        return "stride", ("kernel",), "absent strides are the kernel"
    return _LEFT_OUT[role]


# What the geometry is swept with at the higher strength: fewer levels, small and plain data.
_FEW_LEVELS: dict[str, tuple[Level, ...]] = {
    "kernel": ("one", "even", "odd", "input"),
    "index_type": ("int64",),
    "storage_order": ("row-major",),
    "padding": ("none", "equal", "begin", "end", "begin-larger", "end-larger", "above-stride"),
    "axes": (1, 2),
    "alike": ("nothing", "kernel-and-stride"),
    "width": ("2-3",),
    "batch": (1,),
    "channels": (1,),
}


# The same of operators that have few levels of everything.
_FEWER_LEVELS: dict[str, tuple[Level, ...]] = {
    "kernel": ("even", "odd", "input"),
    "dilation": ("one", "more"),
}


def _few(factors: levels.Factors, operator: Operator) -> levels.Factors:
    dtype = plain_type(operator)
    few = {**_FEW_LEVELS, "dtype": (dtype,), "pattern": (levels.pattern_for("normals", dtype),)}
    if operator.levels != "all":
        few |= _FEWER_LEVELS
    return {
        name: tuple(level for level in few.get(name, every) if level in every and level != ABSENT)
        or every[:1]
        for name, every in factors.items()
    }


def _geometry_factors(operator: Operator) -> levels.Factors:
    geometry: levels.Factors = {
        "kernel": axis_geometry.KERNELS,
        "stride": axis_geometry.STRIDES,
        "padding": axis_geometry.EQUAL_PADS if operator.pads_both_ends else axis_geometry.PADS,
        "fit": axis_geometry.FITS,
        "width": axis_geometry.WIDTHS,
        "alike": _ALIKE,
        "batch": (1, 2, 3),
        "channels": CHANNELS,
    }
    if "dilations" in operator.roles:
        geometry["dilation"] = axis_geometry.DILATIONS
    for role in _unsaid(operator, {}):
        factor, allowed, _ = _left_out(operator, role)
        if factor in geometry:
            geometry[factor] = tuple(level for level in geometry[factor] if level in allowed)
    return geometry


def _unsaid(operator: Operator, row: Mapping[str, Level]) -> set[str]:
    """Return the roles of numbers that a case leaves out, or its document has no attribute for."""
    absent = {role for role in _LEFT_OUT if row.get(role) == ABSENT}
    return {
        role
        for role in UNSAID
        if role in absent
        or role not in operator.roles
        or ("pads" in absent and role in {"pads_begin", "pads_end"})
    }


def _plain(operator: Operator, row: Mapping[str, Level]) -> dict[str, int | str]:
    """Return what the numbers of these roles are, or the role that they are like."""
    unsaid: dict[str, int | str] = {role: UNSAID[role] for role in _unsaid(operator, row)}
    if unsaid.get("strides") and _left_out(operator, "strides")[1] == ("kernel",):
        unsaid["strides"] = "kernel"
    return unsaid


def modes_of(operator: Operator) -> dict[Level, str]:
    """Return how pads come about, explicit, same or valid, by the levels of auto_pad."""
    attribute = operator.attribute("auto_pad")
    meanings = ("explicit",) if attribute is None else attribute.meanings
    modes = {mode: mode if mode in {"explicit", "valid"} else "same" for mode in meanings}
    return {ABSENT: modes[meanings[0]], **modes}


def _geometry_constraints(operator: Operator) -> list[Constraint]:
    automatic, modes = operator.attribute("auto_pad") is not None, modes_of(operator)
    refusing = _refusing(operator)
    dilated = "dilations" in operator.roles
    names = (
        *(("auto_pad",) if automatic else ()),
        *(("dilation",) if dilated else ()),
        *_AXIS_FACTORS,
    )

    def of_an_axis(levels: Sequence[str]) -> Levels:
        given = dict(zip(names, levels, strict=True))
        mode = modes[given.get("auto_pad", ABSENT)]
        of_axis = {name: given[name] for name in _AXIS_FACTORS}
        return Levels(mode=mode, dilation=given.get("dilation", "one"), **of_axis)

    def some_numbers(*levels: str) -> bool:
        return axis_geometry.feasible(of_an_axis(levels), None, refusing)

    def some_numbers_with_width(axes: int, width: str, *levels: str) -> bool:
        # With several axes, the width is that of the last and the other levels another's.
        return axes > 1 or axis_geometry.feasible(of_an_axis(levels), width, refusing)

    def some_equal_numbers(axes: int, alike: str, *levels: str) -> bool:
        if alike == "nothing":
            return True
        return axes > 1 and bool(_focused(of_an_axis(levels), None, axes, 1, refusing))

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
        *_size_constraints(operator.axes[0]),
    ]


def _size_constraints(fewest: int) -> list[Constraint]:
    """Keep the suite small: what is large in one way is small in the others.

    Cases with the fewest axes that an operator takes may be the largest.
    """
    wide = axis_geometry.WIDTHS.index
    why = "size of the suite"
    return [
        constraint(why, lambda kernel, channels, batch: kernel != "huge" or channels * batch <= 6),
        constraint(
            why,
            lambda kernel, width, axes: (
                kernel != "huge" or (wide(width) <= 1 and axes <= fewest + 1)
            ),
        ),
        constraint(why, lambda batch, channels: batch * channels <= 34 or batch == 1),
        constraint(why, lambda axes, width: wide(width) <= (5, 5, 3, 2)[axes - fewest]),
        constraint(why, lambda width, channels: wide(width) <= _WIDEST.get(channels, 5)),
        constraint(why, lambda axes, channels: channels <= (264, 264, 48, 17)[axes - fewest]),
    ]


def _data_constraints() -> list[Constraint]:
    return [
        levels.HELD,
        constraint(
            "the bound of hundreds of addends says nothing in half types",
            lambda dtype, kernel, pattern: (
                dtype not in HALVES or kernel != "huge" or pattern in SPARSE_PATTERNS
            ),
        ),
        constraint(
            "a divisor per axis above 256 is not representable in bfloat16",
            lambda dtype, kernel, axes: dtype != "bfloat16" or kernel != "huge" or axes == 1,
        ),
    ]


_AXIS_FACTORS = ("kernel", "stride", "padding", "fit")


def numbers(operator: Operator, row: Row, turn: int) -> list[Axis]:
    """Return the numbers of each axis: one satisfies the levels, the others are small and plain.

    Numbers differ from axis to axis wherever the levels leave a choice.
    """
    mode, refusing = modes_of(operator)[row.get("auto_pad", ABSENT)], _refusing(operator)
    plain = frozenset(_plain(operator, row).items())
    level = {name: str(value) for name, value in row.items()}
    axes, width, alike = int(level["axes"]), level["width"], level["alike"]
    of_axis = {name: level[name] for name in _AXIS_FACTORS}
    levels = Levels(mode=mode, dilation=level.get("dilation", "one"), **of_axis)
    # Of the numbers that fit, the smaller do: the suite is shipped.
    share = 8 if axes > 2 or int(level["channels"]) > 5 else 3
    most = None if alike == "nothing" else axes
    options = _focused(levels, width, most, share, refusing)
    focus = turn % axes if options else turn % (axes - 1)
    if focus < axes - 1:
        options = _focused(levels, None, most, share, refusing)
    chosen: dict[int, Axis] = {focus: options[turn * 7919 % len(options)]}
    kernel = None if alike == "nothing" else (chosen[focus].kernel, chosen[focus].dilations)
    stride = chosen[focus].strides if alike == "kernel-and-stride" else None
    padded = level["padding"] != "none"
    for i in range(axes):
        if i != focus:
            on_its_own = width if i == axes - 1 else None
            others = _beside(
                *(mode, on_its_own, kernel, stride, levels.dilation, plain, share, refusing),
                padded=padded,
            )
            chosen[i] = _most_distinct(others, list(chosen.values()), turn + i)
    return [chosen[i] for i in range(axes)]


@cache
def _focused(
    levels: Levels, width: str | None, alike: int | None, share: int, refusing: Operator | None
) -> Sequence[Axis]:
    """Return what the axis that a row is about may be, if as many axes as `alike` share its kernel.

    Of all that satisfy the levels, and that an operator does not refuse, the smallest part of
    `share`.
    """
    options = _allowed(axis_geometry.candidates(levels, width), refusing)
    if alike is not None:
        options = tuple(axis for axis in options if axis.kernel**alike <= _SHARED_VOLUME)
    return _smallest(options, share)


@cache
def _beside(
    mode: str,
    width: str | None,
    kernel: tuple[int, int] | None,
    stride: int | None,
    dilation: str,
    numbers: frozenset[tuple[str, int | str]],
    share: int,
    refusing: Operator | None,
    *,
    padded: bool,
) -> Sequence[Axis]:
    """Return what may stand beside the axis that a row is about, of its kernel and stride if given.

    A kernel is given with its dilation. Some roles have the `numbers` that a case need not say, or
    those of another role.
    """
    if kernel is None:
        options = axis_geometry.plain(mode, width, dilation, padded=padded)
    else:
        options = axis_geometry.alike(mode, width, *kernel, stride, padded=padded)
    fitting = [
        axis
        for axis in _allowed(options, refusing)
        if all(
            getattr(axis, role) == (getattr(axis, n) if isinstance(n, str) else n)
            for role, n in numbers
        )
    ]
    return fitting if kernel is None else _smallest(fitting, share)


def _refusing(operator: Operator) -> Operator | None:
    """Return an operator if its document refuses numbers that others allow."""
    return operator if operator.rules or operator.pads_both_ends else None


def _allowed(options: Sequence[Axis], refusing: Operator | None) -> Sequence[Axis]:
    if refusing is None:
        return options
    return tuple(axis for axis in options if axis.is_allowed(refusing))


def _smallest(options: Sequence[Axis], share: int) -> Sequence[Axis]:
    return sorted(options, key=lambda axis: axis.size)[: max(1, len(options) // share)]


def _most_distinct(options: Sequence[Axis], taken: Sequence[Axis], turn: int) -> Axis:
    """Return the axis that shares the fewest numbers with those taken, of 200 from a turn on."""
    start = turn * 31 % len(options)
    best, fewest = options[start], len(taken) * 3 + 1
    for i in range(min(200, len(options))):
        axis = options[(start + i) % len(options)]
        shared = sum(
            (axis.size == other.size)
            + (axis.kernel == other.kernel)
            + (axis.strides == other.strides)
            for other in taken
        )
        if shared < fewest:
            best, fewest = axis, shared
        if not shared:
            break
    return best


def _case(operator: Operator, row: Row, turn: int) -> CaseSpec:
    axes = numbers(operator, row, turn)
    return levels.case_of_row(operator, row, axes, _unsaid(operator, row))
