"""Features of the elements of an output, and of whole cases, in columns and in words.

A feature is named by what it is and, where it is of one spatial axis, by the place of that axis
from the last, which is 1, or from the first, which is -1: so it has one name whatever the number of
axes. 0 stands for all axes at once: a condition on them holds on some axis, or on every one.
Everything follows from roles and traits of an operator and the plan that a right one makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from operator import eq, gt
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from conformance.cases.near import Feature
from conformance.cases.sweep.rules import rule_of
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.errors import InvalidCase
from conformance.faults import conditions
from conformance.operators import operator_named, under, windows
from conformance.operators.attributes import Role
from conformance.operators.params import Params
from conformance.operators.pipeline import Pads, Plan, clip
from conformance.reference.rounding import narrow, widen
from conformance.vector import UNDEFINED, Array, Vector

Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]
Style = Literal["index", "count", "number", "flag", "word"]

EQUAL = "equal"
"""The relation of numbers of one axis that are the same."""
GROUPS = (2, 4, 8, 16, 32)
"""Sizes of the groups in which elements may be computed together."""
ALL_AXES = 0
FIRST_AXIS = -1
_AXES = ("the last axis", "the last axis but one", "the last axis but two")
_PLACES = ("column", "row", "slice")


Of = Callable[["Layout", int], Any]


class Compares(NamedTuple):
    """A relation of two numbers of one axis: "kernel" "above" "size"."""

    one: str
    relation: str
    other: str

    @property
    def name(self) -> str:
        """The name of the feature."""
        return "_".join(self)


@dataclass(frozen=True, slots=True)
class Kind:
    """How a feature is worked out and said.

    `of(layout, axis)` returns a number, a flag or a word; where the feature is `of_elements`, an
    array of as many dimensions as the output, of length 1 where it does not vary; and None where
    there is no such feature.
    `words` are for the style: the noun of an "index", a "number" or a "word", a phrase with {} for
    a number of a "count", and what is said of a "flag" that is true; `otherwise` is said of one
    that is false. An index counts `from_end`, or from the first, of what is `within` something.
    What `compares` two numbers of an axis says which, and how.
    `surprise` says in bits how unlikely it is that a fault goes by it, and `cycles` whether it may
    go by the remainder of a division. Of cells of a `special` kind, it may need some, but never
    mind them. What is `of_windows` is of elements that are windows: those of a gradient are cells.
    """

    of: Of
    style: Style
    words: str
    surprise: float = 3.0
    otherwise: str = ""
    within: str = ""
    from_end: bool = False
    compares: Compares | None = None
    cycles: bool = False
    of_elements: bool = False
    special: bool = False
    of_windows: bool = False

    @property
    def per_axis(self) -> bool:
        """Whether it is of one spatial axis."""
        return "{axis}" in self.words or "{place}" in self.words


class Layout:
    """The elements of the first output of a vector, and its features; each is worked out once."""

    def __init__(self, vector: Vector, readings: Mapping[str, str]) -> None:
        self.vector = vector
        case = vector.case
        self.operator = operator_named(case.operator)
        self.data = case.data
        self.params: Params | None = None
        self._readings = readings
        self._values: dict[Feature, Any] = {}
        with suppress(InvalidCase, IndexError):
            self.params = self.operator.validate(case.inputs, case.attributes)

    @cached_property
    def pads(self) -> Pads | None:
        """Begin and end of the padding on each axis; None where there is nothing to pool."""
        if self.params is None or 0 in self.data.shape:
            return None
        with suppress(InvalidCase, IndexError):
            return under(self.operator, self._readings).pads(self.params)
        return None

    @cached_property
    def extent(self) -> tuple[int, ...]:
        """The size of the output, () if there is none: as much as numbers say, nothing is made."""
        if self.params is None or self.pads is None:
            return ()
        with suppress(InvalidCase, IndexError):
            return under(self.operator, self._readings).extent(self.params, self.pads)
        return ()

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the elements, () if there are none."""
        elements = self.data.shape[2:] if self.operator.is_gradient else self.extent
        return (*self.data.shape[:2], *elements) if self.extent else ()

    @cached_property
    def plan(self) -> Plan | None:
        """What a right operator reads: it takes as much memory as there are outputs."""
        if self.params is None or self.pads is None or not self.extent:
            return None
        with suppress(InvalidCase, IndexError):
            return under(self.operator, self._readings).laid_out(
                self.params, self.pads, self.extent
            )
        return None

    @property
    def axes(self) -> int:
        """How many spatial axes there are."""
        return max(0, self.data.ndim - 2)

    def value(self, feature: Feature) -> Any:
        """Return a feature: an array that broadcasts to `shape`, or a value; None if there is none.

        Numbers of elements are doubles. Of all axes, there is a list of one for each.
        """
        if feature not in self._values:
            self._values[feature] = self._value(feature)
        return self._values[feature]

    def _value(self, feature: Feature) -> Any:
        name, axis = feature
        kind = KINDS[name]
        if axis == FIRST_AXIS:
            return self.value(Feature(name, self.axes)) if self.axes else None
        if kind.per_axis and axis == ALL_AXES:
            values = [self.value(Feature(name, each)) for each in range(1, self.axes + 1)]
            return None if any(value is None for value in values) else values
        known = axis <= self.axes and (not kind.of_elements or self.plan is not None)
        reads = not (self.operator.is_gradient or self.operator.scatters)
        known &= reads or not kind.of_windows
        return kind.of(self, axis) if known else None

    @cached_property
    def defined(self) -> Bools:
        """The elements that a document defines, in `shape`; none where there is no output."""
        expected = self.expected
        if expected is None:
            return np.zeros(self.shape, np.bool_)
        return np.asarray(expected.addends != UNDEFINED).reshape(self.shape)

    @cached_property
    def expected(self) -> Any:
        """The right first output of this shape; None if no document expects one."""
        outputs = (outcome.outputs[0] for outcome in self.vector.values)
        return next((o for o in outputs if self.shape and o.values.shape == self.shape), None)

    @cached_property
    def wide_data(self) -> Doubles:
        """The data as doubles."""
        return widen(self.data)

    @cached_property
    def tells(self) -> bool:
        """Whether the right values differ at all: if not, few faults show."""
        if self.expected is None:
            return False
        values = self.expected.values.ravel()
        return bool((values[self.defined.ravel()] != values[:1]).any()) or values.size == 1

    def along(self, axis: int, numbers: Any) -> Doubles:
        """Return one number per place along a spatial axis, to be broadcast to `shape`."""
        return self._placed(-axis, numbers)

    def _placed(self, dimension: int, numbers: Any) -> Doubles:
        shape = [1] * len(self.shape)
        shape[dimension] = -1
        return np.asarray(numbers, np.float64).reshape(shape)

    def index(self, dimension: int) -> Doubles:
        """Return the index along a dimension of the output."""
        return self._placed(dimension, np.arange(self.shape[dimension]))

    def flat(self, first: int) -> Doubles:
        """Return the position among the dimensions from `first` on."""
        shape = [1] * first + list(self.shape[first:])
        return np.arange(prod(shape), dtype=np.float64).reshape(shape)

    def counts(self, marked: Bools) -> Doubles:
        """Return how many marked cells of the data each window holds."""
        assert self.plan is not None
        gathered = clip(marked.astype(np.int64), self.plan.params, self.plan.windows)
        totals = gathered.data
        for axis, (lo, hi) in enumerate(zip(gathered.lo, gathered.hi, strict=True), 2):
            before = np.zeros_like(totals.take([0], axis))
            sums = np.concatenate([before, totals.cumsum(axis)], axis)
            totals = sums.take(np.maximum(lo, hi), axis) - sums.take(lo, axis)
        return totals.astype(np.float64)

    def largest(self, numbers: Doubles) -> Doubles:
        """Return the largest of each window's numbers, one per cell of the data; NaN of none."""
        assert self.plan is not None
        gathered = clip(numbers, self.plan.params, self.plan.windows)
        numbers = gathered.data
        for axis, (lo, hi) in enumerate(zip(gathered.lo, gathered.hi, strict=True), 2):
            numbers = _largest_between(np.moveaxis(numbers, axis, -1), lo, hi)
            numbers = np.moveaxis(numbers, -1, axis)
        return numbers


def _largest_between(numbers: Doubles, lo: Array, hi: Array) -> Doubles:
    """Return the largest of the numbers from `lo` to before `hi` on the last axis; NaN of none.

    Of each range, two overlapping parts are known whose length is a power of two.
    """
    length = np.maximum(hi - lo, 0)
    result = np.full((*numbers.shape[:-1], lo.size), np.nan)
    for power in range(int(length.max(initial=0)).bit_length()):
        step = 1 << power
        if power:
            numbers = np.fmax(numbers[..., : -step // 2], numbers[..., step // 2 :])
        now = (length >= step) & (length < 2 * step)
        result[..., now] = np.fmax(numbers[..., lo[now]], numbers[..., hi[now] - step])
    return result


@lru_cache(maxsize=1024)
def _layout(vector: Vector, readings: tuple[tuple[str, str], ...]) -> Layout:
    return Layout(vector, dict(readings))


def layout_of(vector: Vector, readings: Mapping[str, str]) -> Layout:
    """Return the layout of a vector under readings; those of the last vectors are remembered."""
    return _layout(vector, tuple(sorted(readings.items())))


def axis_words(axis: int) -> str:
    """Return the name of a spatial axis, counted from the last, or of the first."""
    if axis == FIRST_AXIS:
        return "the first axis"
    return _AXES[axis - 1] if axis <= len(_AXES) else f"the spatial axis {axis} from the end"


def axis_named(axis: int, which: str = "some") -> str:
    """Return the name of a spatial axis; of all axes, of `which` of them something is said."""
    return f"{which} axis" if axis == ALL_AXES else axis_words(axis)


def place_on(axis: int, which: str = "some") -> tuple[str, str]:
    """Return the noun for an output's place on a spatial axis, and what names the axis, or ""."""
    if 0 < axis <= len(_PLACES):
        return _PLACES[axis - 1], ""
    return "place", f"along {axis_named(axis, which)}"


def on_axis(words: str, axis: int, which: str = "some") -> str:
    """Fill in the name of a spatial axis, and of an output's place along it.

    Of all axes, `which` says of which of them something is said.
    """
    if "{place}" in words:
        noun, along = place_on(axis, which)
        words = " ".join(filter(None, (words.replace("{place}", noun), along)))
    return words.replace("{axis}", axis_named(axis, which))


# Features of elements.


def _windows_on(layout: Layout, axis: int) -> tuple[Any, Any, int, int, int, int]:
    """Return start, stop and dilation of the windows, size, begin pad and end pad of an axis."""
    plan = layout.plan
    assert plan is not None
    place = layout.axes - axis
    return (*plan.windows.axes[place], plan.params.sizes[place], *plan.pads[place])


def _begin_pad(layout: Layout, axis: int) -> Doubles:
    start, stop, dilation, *_ = _windows_on(layout, axis)
    least = int(start.min(initial=0))
    return layout.along(axis, windows.cells_within(start, stop, least, 0, dilation))


def _end_pad(layout: Layout, axis: int) -> Doubles:
    start, stop, dilation, size, _, end = _windows_on(layout, axis)
    return layout.along(axis, windows.cells_within(start, stop, size, size + end, dilation))


def _overhang(layout: Layout, axis: int) -> Doubles:
    start, stop, _, size, _, end = _windows_on(layout, axis)
    return layout.along(axis, np.maximum(0, stop - np.maximum(start, size + end)))


def _cells_on(layout: Layout, axis: int) -> Doubles:
    start, stop, dilation, size, *_ = _windows_on(layout, axis)
    return layout.along(axis, windows.cells_within(start, stop, 0, size, dilation))


def _first_cell(layout: Layout, axis: int) -> Doubles:
    start, _, dilation, *_ = _windows_on(layout, axis)
    return layout.along(axis, windows.first_from(start, 0, dilation))


def _last_cell(layout: Layout, axis: int) -> Doubles:
    start, stop, dilation, size, *_ = _windows_on(layout, axis)
    end = np.minimum(stop, size) - 1
    return layout.along(axis, end - (end - start) % dilation)


def _inside(layout: Layout, _axis: int) -> Doubles:
    return _product(_cells_on(layout, axis) for axis in range(1, layout.axes + 1))


def _product(factors: Any) -> Doubles:
    result = np.ones((), np.float64)
    for factor in factors:
        result = result * factor
    return result


def _divisor(layout: Layout, _axis: int) -> Doubles | None:
    assert layout.plan is not None
    if not layout.operator.reduction.divides:
        return None
    return layout.plan.divisor.astype(np.float64).reshape(1, 1, *layout.shape[2:])


def _power_of_two(layout: Layout, axis: int) -> Bools | None:
    divisor = _divisor(layout, axis)
    return None if divisor is None else np.frexp(divisor)[0] == 1 / 2


def _holding(layout: Layout, axis: int) -> Doubles | None:
    """Return how many windows hold each cell of a gradient."""
    if not layout.operator.is_gradient:
        return None
    start, stop, dilation, size, *_ = _windows_on(layout, axis)
    lo, hi = windows.ranges_by_remainder(start, stop, size, dilation)
    begins, ends = (np.bincount(each, minlength=size + 1) for each in (lo, np.maximum(lo, hi)))
    held = np.empty(size, np.int64)
    held[windows.by_remainder(size, dilation)] = (begins - ends).cumsum()[:size]
    return layout.along(axis, held)


def _marked(mark: Callable[[Doubles], Bools]) -> Of:
    """Return the feature: how many cells of the window are marked; None if none of the data is."""

    def of(layout: Layout, _axis: int) -> Doubles:
        with np.errstate(invalid="ignore"):
            marked = mark(layout.wide_data)
        return layout.counts(marked) if marked.any() else np.zeros((1,) * len(layout.shape))

    return of


def _subnormal(layout: Layout, _axis: int) -> Doubles | None:
    name = name_of(layout.data.dtype)
    if name not in FLOATS:
        return None
    least = float_format(name).smallest_normal
    found: Doubles = _marked(lambda data: (data != 0) & (np.abs(data) < least))(layout, 0)
    return found


def _negative_only(layout: Layout, _axis: int) -> Bools:
    return np.asarray(_marked(lambda data: ~(data < 0))(layout, 0) == 0)


def _value(layout: Layout, _axis: int) -> Doubles | None:
    if layout.expected is None:
        return None
    return widen(layout.expected.values)


def _largest_cell(layout: Layout, _axis: int) -> Doubles:
    return layout.largest(layout.wide_data)


def _not_finite_in_plane(layout: Layout, _axis: int) -> Doubles | None:
    """Return for each plane how many of its right values are not finite."""
    values = _value(layout, 0)
    if values is None:
        return None
    axes = tuple(range(2, values.ndim))
    counts: Doubles = (~np.isfinite(values)).sum(axes, np.float64, keepdims=True)
    return counts


def _exact_in(name: str) -> Of:
    """Return the feature: a floating-point type holds the right value."""

    def of(layout: Layout, _axis: int) -> Bools | None:
        values = _value(layout, 0)
        if values is None or layout.data.dtype.kind in "iu":
            return None
        return np.asarray((widen(narrow(values, name)) == values) | np.isnan(values))

    return of


def _tail(index: Of, group: int) -> Of:
    """Return the feature: an index lies beyond the last whole group."""

    def of(layout: Layout, axis: int) -> Bools:
        numbers: Doubles = index(layout, axis)
        count = int(numbers.flat[-1]) + 1
        return numbers >= count // group * group

    return of


def _position(layout: Layout, axis: int) -> Doubles:
    return layout.index(-axis)


def _position_end(layout: Layout, axis: int) -> Doubles:
    return layout.shape[-axis] - 1 - layout.index(-axis)


def _channel(layout: Layout, _axis: int) -> Doubles:
    return layout.index(1)


def _batch_index(layout: Layout, _axis: int) -> Doubles:
    return layout.index(0)


def _plane(layout: Layout, _axis: int) -> Doubles:
    return layout.index(0) * layout.shape[1] + layout.index(1)


def _element(layout: Layout, _axis: int) -> Doubles:
    return layout.flat(2)


def _element_of_all(layout: Layout, _axis: int) -> Doubles:
    return layout.flat(0)


def _from_end(index: Of) -> Of:
    def of(layout: Layout, axis: int) -> Doubles:
        numbers: Doubles = index(layout, axis)
        return numbers.flat[-1] - numbers

    return of


def _row_of_all(layout: Layout, _axis: int) -> Doubles:
    rows = np.arange(prod(layout.shape[:-1]), dtype=np.float64)
    return rows.reshape(*layout.shape[:-1], 1)


def _index(
    of: Of,
    noun: str,
    surprise: float = 3.0,
    *,
    within: str = "",
    from_end: bool = False,
    cycles: bool = False,
) -> Kind:
    return Kind(
        *(of, "index", noun, surprise),
        within=within,
        from_end=from_end,
        cycles=cycles,
        of_elements=True,
    )


def _amount(of: Of, words: str, surprise: float = 3.0) -> Kind:
    return Kind(of, "count", words, surprise, of_elements=True)


def _windows(of: Of, words: str, surprise: float = 3.0, *, cycles: bool = False) -> Kind:
    """Return a number of windows."""
    return replace(_amount(of, words, surprise), cycles=cycles, of_windows=True)


def _special(of: Of, words: str, surprise: float = 3.0) -> Kind:
    return replace(_windows(of, f"windows with {{}} {words}", surprise), special=True)


def _elements(of: Of, words: str, otherwise: str, surprise: float = 3.0) -> Kind:
    return Kind(of, "flag", words, surprise, otherwise=otherwise, of_elements=True)


def _some_windows(of: Of, words: str, otherwise: str, surprise: float = 3.0) -> Kind:
    return replace(_elements(of, words, otherwise, surprise), of_windows=True)


_OF_ELEMENTS: Mapping[str, Kind] = {
    "position": _index(_position, "{place}", cycles=True),
    "position_end": _index(_position_end, "{place}", from_end=True),
    "channel": _index(_channel, "channel", cycles=True),
    "channel_end": _index(_from_end(_channel), "channel", from_end=True),
    "batch_index": _index(_batch_index, "batch", cycles=True),
    "batch_end": _index(_from_end(_batch_index), "batch", from_end=True),
    "plane": _index(_plane, "plane", 4.0, within="of all batches and channels"),
    "row_of_all": _index(_row_of_all, "row", 5.0, within="of all planes"),
    "element": _index(_element, "element", 4.0, within="of each plane", cycles=True),
    "element_of_all": _index(
        _element_of_all, "element", 4.0, within="of the whole output", cycles=True
    ),
    "element_of_all_end": _index(
        _from_end(_element_of_all), "element", 4.0, within="of the whole output", from_end=True
    ),
    "begin_pad": _windows(_begin_pad, "windows with {} cells in the begin padding of {axis}"),
    "end_pad": _windows(_end_pad, "windows with {} cells in the end padding of {axis}"),
    "overhang": _windows(_overhang, "windows that overhang {axis} by {} cells"),
    "cells_on": _windows(_cells_on, "windows with {} cells of the input along {axis}"),
    "first_cell": _windows(
        _first_cell, "windows whose first cell on {axis} is {}", 4.0, cycles=True
    ),
    "last_cell": _windows(_last_cell, "windows whose last cell on {axis} is {}", 4.0),
    "last_cell_end": _windows(
        lambda layout, axis: layout.data.shape[-axis] - 1 - _last_cell(layout, axis),
        "windows that end {} cells before the end of {axis}",
    ),
    "inside": _windows(_inside, "windows with {} cells of the input"),
    "divisor": _windows(_divisor, "windows with a divisor of {}", 4.0),
    "power_of_two": _some_windows(
        _power_of_two,
        "windows whose divisor is a power of two",
        "windows whose divisor is no power of two",
    ),
    "holding": _amount(_holding, "cells that {} windows hold along {axis}"),
    "nan": _special(_marked(np.isnan), "cells of NaN"),
    "plus_infinity": _special(_marked(np.isposinf), "cells of infinity"),
    "minus_infinity": _special(_marked(np.isneginf), "cells of minus infinity"),
    "zero": _special(_marked(lambda data: data == 0), "cells of zero", 5.0),
    "negative": _special(_marked(lambda data: data < 0), "cells below zero", 5.0),
    "subnormal": _special(_subnormal, "subnormal cells", 4.0),
    "value": _amount(_value, "elements whose right value is {}", 6.0),
    "largest_cell": _windows(_largest_cell, "windows whose largest cell is {}", 6.0),
    "negative_only": _some_windows(
        _negative_only,
        "windows that hold cells below zero only",
        "windows with a cell that is not below zero",
    ),
    "in_padding": _some_windows(
        lambda layout, axis: sum(of(layout, axis) for of in (_begin_pad, _end_pad, _overhang)) > 0,
        "windows that reach out of the input along {axis}",
        "windows within the input along {axis}",
        2.0,
    ),
    "below_zero": _elements(
        lambda layout, _: None if (v := _value(layout, 0)) is None else v < 0,
        "elements whose right value is below zero",
        "elements whose right value is not below zero",
    ),
    "not_finite_in_plane": replace(
        _amount(
            _not_finite_in_plane, "elements of planes with {} right values of NaN or infinity", 4.0
        ),
        special=True,
    ),
    **{
        f"exact_in_{name}": _elements(
            _exact_in(name),
            f"elements whose right value is exact in {name}",
            f"elements whose right value is not exact in {name}",
            4.0,
        )
        for name in ("float16", "bfloat16", "float32")
    },
    **{
        f"{name}_tail_{group}": _elements(
            _tail(of, group),
            f"{words} beyond the last whole group of {group}",
            f"{words} before it",
            5.0,
        )
        for group in GROUPS
        for name, of, words in (
            ("position", _position, "{place}s"),
            ("channel", _channel, "channels"),
            ("element", _element, "elements of each plane"),
            ("element_of_all", _element_of_all, "elements of the whole output"),
            ("row_of_all", _row_of_all, "rows of all planes"),
            ("plane", _plane, "planes of all batches and channels"),
        )
    },
}


# Features of cases.


def _listed(role: str) -> Of:
    """Return the feature: the entry of a list for an axis."""

    def of(layout: Layout, axis: int) -> Any:
        numbers = getattr(layout.params, role) if layout.params is not None else ()
        return float(numbers[-axis]) if numbers else None

    return of


def _dilation(layout: Layout, axis: int) -> Any:
    return _listed("dilations")(layout, axis) if "dilations" in layout.operator.roles else None


def _pad(end: int) -> Of:
    def of(layout: Layout, axis: int) -> Any:
        if layout.pads is None or not layout.operator.has_windows:
            return None
        return float(layout.pads[-axis][end])

    return of


def _meaning(role: str) -> Of:
    """Return the feature: what a word means, its default where a document has no such attribute."""

    def of(layout: Layout, _axis: int) -> Any:
        known = layout.params is not None and layout.operator.has_windows
        return getattr(layout.params, role) if known else None

    return of


def _attribute(role: Role) -> Of:
    """Return the feature: what an attribute means that few documents have."""

    def of(layout: Layout, _axis: int) -> Any:
        if layout.params is None or layout.operator.attribute(role) is None:
            return None
        meaning = getattr(layout.params, role)
        return float(meaning) if isinstance(meaning, int) else meaning

    return of


def _chosen_layout(layout: Layout, _axis: int) -> str | None:
    """Return the layout of the arrays that a caller has, where the caller chooses it."""
    if layout.params is None or layout.operator.attribute("channels_last") is None:
        return None
    return "channels last" if layout.params.channels_last else "channels second"


def _holds(test: Callable[[Params], bool]) -> Of:
    """Return the feature: whether something holds of the parameters of an operator with windows."""

    def of(layout: Layout, _axis: int) -> Any:
        params = layout.params
        return test(params) if params is not None and params.kernel else None

    return of


def _padded(layout: Layout, axis: int) -> Any:
    pads = [_pad(end)(layout, axis) for end in (0, 1)]
    return None if None in pads else any(pads)


def _pads_differ(layout: Layout, _axis: int) -> Any:
    if layout.pads is None or not layout.operator.has_windows:
        return None
    return len(set(layout.pads)) > 1


def _given_pads(layout: Layout, _axis: int) -> Any:
    """Return whether attributes give pads, though the padding mode may ignore them."""
    params = layout.params
    return None if params is None or not params.kernel else any(params.pads_begin + params.pads_end)


def _left_over(layout: Layout, axis: int) -> Any:
    params = layout.params
    if layout.pads is None or params is None or not params.strides:
        return None
    begin, end = layout.pads[-axis]
    span = windows.span_of(params.kernel[-axis], params.dilations[-axis])
    return float(windows.slack(params.sizes[-axis], span, begin, end) % params.strides[-axis])


def _of_data(test: Callable[[Doubles], Any]) -> Of:
    def of(layout: Layout, _axis: int) -> Any:
        with np.errstate(invalid="ignore"):
            return bool(test(layout.wide_data))

    return of


def _absent(role: str) -> Of:
    def of(layout: Layout, _axis: int) -> Any:
        attribute = next((a for a in layout.operator.attributes if a.role == role), None)
        if attribute is None or attribute.required:
            return None
        return attribute.key not in layout.vector.case.attributes

    return of


def _differ(role: str) -> Of:
    return _holds(lambda p: len(set(getattr(p, role))) > 1)


def _length(dimension: int) -> Of:
    def of(layout: Layout, _axis: int) -> Any:
        shape = layout.data.shape
        return float(shape[dimension]) if dimension < len(shape) else None

    return of


def _output(layout: Layout, axis: int) -> Any:
    return float(layout.extent[-axis]) if layout.extent else None


def _outputs(layout: Layout, _axis: int) -> Any:
    return float(prod(layout.extent)) if layout.extent else None


def _all_outputs(layout: Layout, _axis: int) -> Any:
    return prod(layout.data.shape[:2]) * float(prod(layout.extent)) if layout.extent else None


def _largest(of: Of) -> Of:
    """Return the feature: the largest number of a feature of windows, if there is a window."""

    def largest(layout: Layout, axis: int) -> Any:
        known = layout.plan is not None and min(layout.extent) > 0
        return float(of(layout, axis).max()) if known else None

    return largest


def _window_cells(layout: Layout, _axis: int) -> Any:
    known = layout.params is not None and layout.params.kernel
    return float(prod(known)) if known else None


_OF_AXIS: Mapping[str, Of] = {
    "size": _listed("sizes"),
    "kernel": _listed("kernel"),
    "strides": _listed("strides"),
    "dilations": _dilation,
    "pads_begin": _pad(0),
    "pads_end": _pad(1),
    "output": _output,
}
_NOUNS = {
    "size": "the input size",
    "kernel": "the kernel",
    "strides": "the stride",
    "dilations": "the dilation",
    "pads_begin": "the begin padding",
    "pads_end": "the end padding",
    "output": "the output size",
}
_COMPARED: Sequence[
    tuple[str, Callable[[float, float], bool], str, str, Sequence[tuple[str, str]]]
] = (
    (
        "above",
        gt,
        "is above",
        "is not above",
        (
            ("kernel", "size"),
            ("strides", "kernel"),
            ("kernel", "strides"),
            ("strides", "size"),
            ("output", "size"),
            ("size", "output"),
            ("pads_begin", "pads_end"),
            ("pads_end", "pads_begin"),
        ),
    ),
    (
        EQUAL,
        eq,
        "equals",
        "does not equal",
        (("kernel", "size"), ("strides", "kernel"), ("output", "size"), ("pads_begin", "pads_end")),
    ),
    (
        "divides",
        lambda one, other: one > 0 and other % one == 0,
        "divides",
        "does not divide",
        (("kernel", "size"), ("strides", "size"), ("strides", "kernel"), ("output", "size")),
    ),
)
"""How numbers of one axis compare: a name, a test, words where it holds and fails, and of what."""


def _compared(test: Callable[[float, float], bool], one: str, other: str) -> Of:
    """Return the flag: something holds of two numbers of an axis."""

    def of(layout: Layout, axis: int) -> Any:
        numbers = [_OF_AXIS[name](layout, axis) for name in (one, other)]
        return None if None in numbers else test(*numbers)

    return of


def _word(of: Of, words: str, surprise: float = 3.0) -> Kind:
    return Kind(of, "word", words, surprise)


def _number(of: Of, words: str, surprise: float = 3.0, *, cycles: bool = False) -> Kind:
    return Kind(of, "number", words, surprise, cycles=cycles)


def _flag(of: Of, words: str, otherwise: str, surprise: float = 3.0) -> Kind:
    return Kind(of, "flag", words, surprise, otherwise=otherwise)


def _standard(layout: Layout, _axis: int) -> str:
    """Return whose document it is."""
    return (layout.operator.forward or layout.operator).publisher


def _broken(layout: Layout) -> tuple[str, str] | None:
    """Return what of an invalid case is wrong, and how; None of a valid one."""
    tags = layout.vector.case.tags
    said = next((tag for tag in tags if ": " in tag), "") if "invalid" in tags else ""
    if not said:
        return None
    what, how = said.split(": ", 1)
    return what, how


def _invalid_part(layout: Layout, _axis: int) -> str | None:
    """Return what is invalid: an attribute by its role, which is the same in every document."""
    broken = _broken(layout)
    if broken is None:
        return None
    roles = {attribute.key: attribute.role for attribute in layout.operator.attributes}
    return str(roles.get(broken[0], broken[0]))


def _invalid_how(layout: Layout, _axis: int) -> str | None:
    """Return the rule that is broken."""
    broken = _broken(layout)
    return None if broken is None else rule_of(broken[1])


def _invalid_number(layout: Layout, _axis: int) -> float | None:
    """Return the least number of what is invalid, None where it has no numbers."""
    broken = _broken(layout)
    value = None if broken is None else layout.vector.case.attributes.get(broken[0])
    numbers = value if isinstance(value, list) else [value]
    if not numbers or any(not isinstance(n, int) or isinstance(n, bool) for n in numbers):
        return None
    return float(min(numbers))


_OF_CASES: Mapping[str, Kind] = {
    "operator": _word(lambda layout, _: layout.operator.name, "the operator"),
    "standard": _word(_standard, "the standard", 2.0),
    "reduction": _word(lambda layout, _: layout.operator.reduction.name, "the reduction", 2.0),
    "gradient": _flag(
        lambda layout, _: layout.operator.is_gradient,
        "the operator is a gradient",
        "the operator is no gradient",
        2.0,
    ),
    "dtype": _word(lambda layout, _: name_of(layout.data.dtype), "the type"),
    "integers": _flag(
        lambda layout, _: layout.data.dtype.kind in "iu",
        "the type is of integers",
        "the type is of floating-point numbers",
        2.0,
    ),
    "auto_pad": _word(_meaning("auto_pad"), "the padding mode"),
    "rounding": _word(_meaning("rounding"), "the rounding", 2.0),
    "include_pad": _flag(_meaning("include_pad"), "padding counts", "padding does not count", 2.0),
    "adaptive": _flag(
        lambda layout, _: layout.operator.is_adaptive,
        "the output size is given",
        "the output size is computed",
        2.0,
    ),
    "windowed": _flag(
        lambda layout, _: layout.operator.has_windows,
        "the operator has a kernel",
        "the operator has no kernel",
        2.0,
    ),
    "rank": _number(lambda layout, _: float(layout.axes), "the number of spatial axes", 2.0),
    "batch": _number(_length(0), "the number of batches", cycles=True),
    "channels": _number(_length(1), "the number of channels", cycles=True),
    "size": _number(_listed("sizes"), "the size of {axis}", cycles=True),
    "kernel": _number(_listed("kernel"), "the kernel on {axis}", cycles=True),
    "strides": _number(_listed("strides"), "the stride on {axis}", cycles=True),
    "dilations": _number(_dilation, "the dilation on {axis}"),
    "pads_begin": _number(_pad(0), "the begin padding on {axis}"),
    "pads_end": _number(_pad(1), "the end padding on {axis}"),
    "output": _number(_output, "the output size of {axis}", cycles=True),
    "most_overhang": _number(
        _largest(_overhang), "the number of cells by which a window overhangs {axis}"
    ),
    "left_over": _number(_left_over, "the number of cells that the stride leaves over on {axis}"),
    "cells": _number(_window_cells, "the number of cells of a window", cycles=True),
    "outputs": _number(_outputs, "the number of outputs of a plane", 4.0, cycles=True),
    "all_outputs": _number(_all_outputs, "the number of all outputs", 4.0, cycles=True),
    "planes": _number(
        lambda layout, _: float(prod(layout.data.shape[:2])), "the number of planes", 4.0
    ),
    "inputs": _number(
        lambda layout, _: float(prod(layout.data.shape[2:])),
        "the number of input cells of a plane",
        4.0,
        cycles=True,
    ),
    "all_inputs": _number(
        lambda layout, _: float(layout.data.size), "the number of input cells", 5.0
    ),
    **{
        compares.name: replace(
            _flag(
                _compared(test, one, other),
                f"{_NOUNS[one]} {holds} {_NOUNS[other]} on {{axis}}",
                f"{_NOUNS[one]} {lacks} {_NOUNS[other]} on {{axis}}",
            ),
            compares=compares,
        )
        for name, test, holds, lacks, pairs in _COMPARED
        for one, other in pairs
        for compares in (Compares(one, name, other),)
    },
    "invalid_part": _word(_invalid_part, "what is invalid", 1.0),
    "invalid_how": _word(_invalid_how, "what is wrong with it", 1.0),
    "invalid_number": _number(_invalid_number, "its least number", 1.0),
    "exponent": _number(_attribute("exponent"), "the exponent", 2.0),
    "index_axis": _number(_attribute("index_axis"), "the axis that indices start from"),
    "index_type": _word(_attribute("index_type"), "the type of indices"),
    "storage_order": _word(_attribute("storage_order"), "the storage order", 2.0),
    "channels_last": _word(_chosen_layout, "the layout", 1.0),
    "activation": _word(_attribute("activation"), "the activation", 1.0),
    "accumulator": _word(_attribute("accumulator"), "the type of sums", 1.0),
    "kernels_differ": _flag(
        _differ("kernel"), "kernels differ between axes", "kernels are the same on all axes"
    ),
    "strides_differ": _flag(
        _differ("strides"), "strides differ between axes", "strides are the same on all axes"
    ),
    "one_row": _flag(
        _holds(conditions.ONE_ROW.holds), "the kernel is one row", "the kernel is not one row"
    ),
    "one_column": _flag(
        _holds(conditions.ONE_COLUMN.holds),
        "the kernel is one column",
        "the kernel is not one column",
    ),
    "sizes_differ": _flag(
        _differ("sizes"), "input sizes differ between axes", "input sizes are the same on all axes"
    ),
    "padded": _flag(_padded, "there are pads on {axis}", "there are no pads on {axis}", 2.0),
    "given_pads": _flag(_given_pads, "some pad given is not 0", "no pad given is not 0"),
    "pads_differ": _flag(_pads_differ, "pads differ between axes", "pads are the same on all axes"),
    "nan_in_data": _flag(
        _of_data(lambda data: np.isnan(data).any()),
        "the data hold a NaN",
        "no NaN in the data",
        4.0,
    ),
    "infinity_in_data": _flag(
        _of_data(lambda data: np.isinf(data).any()),
        "the data hold an infinity",
        "no infinity in the data",
        4.0,
    ),
    **{
        f"no_{role}": _flag(_absent(role), f"{words} left out", f"{words} given", 4.0)
        for role, words in (
            ("strides", "the strides are"),
            ("dilations", "the dilations are"),
            ("pads_begin", "the begin pads are"),
            ("pads_end", "the end pads are"),
            ("pads", "the pads are"),
            ("auto_pad", "the padding mode is"),
            ("rounding", "the rounding is"),
            ("include_pad", "whether padding counts is"),
            ("exponent", "the exponent is"),
            ("index_axis", "the axis that indices start from is"),
            ("index_type", "the type of indices is"),
            ("storage_order", "the storage order is"),
            ("channels_last", "the layout is"),
        )
    },
}

KINDS: Mapping[str, Kind] = {**_OF_ELEMENTS, **_OF_CASES}
"""Every feature by name."""


def features_of(axes: int, *, alike: bool, of_elements: bool) -> list[Feature]:
    """Return the features that data of so many spatial axes, or more unless they are `alike`, have.

    The first axis and all axes are another thing than those counted from the last only where there
    are other numbers of axes.
    """
    # All axes first: of conditions that say the same, the first is taken.
    places = [ALL_AXES] if axes > 1 or not alike else []
    places += [] if alike else [FIRST_AXIS]
    places += range(1, axes + 1)
    return [
        Feature(name, axis)
        for name, kind in KINDS.items()
        if kind.of_elements == of_elements
        for axis in (places if kind.per_axis else (0,))
        if axis > 0 or not kind.per_axis or name not in _OF_ONE_AXIS
    ]


_OF_ONE_AXIS = {f"position_tail_{group}" for group in GROUPS}
"""Features that nothing is said of on all axes at once."""
