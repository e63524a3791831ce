"""Features of the elements of an output, and of whole cases, in columns and in words.

A feature is named by what it is and, where it is of one spatial axis, by the place of that axis
from the last, which is 1, or from the first, which is -1: so it has one name whatever the number of
axes. 0 stands for all axes at once: a condition on them holds on some axis, or on every one.
Everything follows from roles and traits of an operator and the plan that a right one makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import prod
from operator import eq, gt
from typing import Any, Literal, NamedTuple

import numpy as np

from conformance.cases.perturb import Feature
from conformance.cases.sweep.rules import rule_of
from conformance.diagnosis.sample import Bools
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.errors import InvalidCase
from conformance.faults import conditions
from conformance.faults.atoms.calls import NOUNS
from conformance.judging.comparison import defined
from conformance.operators import operator_named, under, windows
from conformance.operators.attributes import NUMBERS, Role
from conformance.operators.params import Params
from conformance.operators.pipeline import Pads, Plan, clip
from conformance.reference.fold import fold
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array, Vector

Style = Literal["index", "count", "number", "flag", "word"]

GROUPS = (2, 4, 8, 16, 32)
"""Sizes of the groups in which elements may be computed together."""
ALL_AXES = 0
FIRST_AXIS = -1
_AXES = ("the last axis", "the last axis but one", "the last axis but two")
_PLACES = ("column", "row", "slice")
_EITHER = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


Of = Callable[["Layout", int], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a feature is worked out and said.

    `of(layout, axis)` returns a number, a flag or a word; where the feature is `of_elements`, an
    array of as many dimensions as the output, of length 1 where it does not vary; and None where
    there is no such feature.
    `words` are for the style: the noun of an "index", a "number" or a "word", a phrase with {} for
    a number of a "count", and what is said of a "flag": "padding {counts|does not count}" where it
    is true or false. An index counts `from_end`, or from the first, of what is `within` something.
    `surprise` says in bits how unlikely it is that a fault goes by it, and `cycles` whether it may
    go by the remainder of a division. Of cells of a `special` kind, it may need some, but never
    mind them. What is `of_windows` is of elements that are windows: those of a gradient are cells.
    """

    of: Of
    words: str
    surprise: float = 3.0
    style: Style = "flag"
    within: str = ""
    from_end: bool = False
    cycles: bool = False
    of_elements: bool = False
    special: bool = False
    of_windows: bool = False

    @property
    def per_axis(self) -> bool:
        """Whether it is of one spatial axis."""
        return "{axis}" in self.words or "{place}" in self.words

    def flagged(self, *, holds: bool) -> str:
        """Return what is said of a flag that is true or false."""
        return _EITHER.sub(r"\1" if holds else r"\2", self.words)


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
    def numbers(self) -> Mapping[str, Sequence[int]]:
        """Numbers of spatial axes by name, one per axis: those that the call has."""
        if self.params is None:
            return {}
        pads = self.pads if self.pads is not None and self.operator.has_windows else ()
        numbers: Mapping[str, Sequence[int]] = {
            "size": self.params.sizes,
            "kernel": self.params.kernel,
            "strides": self.params.strides,
            "dilations": self.params.dilations if "dilations" in self.operator.roles else (),
            "pads_begin": [begin for begin, _ in pads],
            "pads_end": [end for _, end in pads],
            "output": self.extent,
        }
        return {name: of_axes for name, of_axes in numbers.items() if of_axes}

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
        if self.expected is None:
            return np.zeros(self.shape, np.bool_)
        return defined(self.expected).reshape(self.shape)

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
    def right(self) -> Doubles | None:
        """The right values as doubles; None if no document expects any."""
        return None if self.expected is None else widen(self.expected.values)

    @cached_property
    def tells(self) -> bool:
        """Whether the right values differ at all: if not, few faults show."""
        if self.expected is None:
            return False
        values = self.expected.values.ravel()
        return bool((values[self.defined.ravel()] != values[:1]).any()) or values.size == 1

    def along(self, axis: int, numbers: Any) -> Doubles:
        """Return one number per place along a spatial axis, to be broadcast to `shape`."""
        shape = [1] * len(self.shape)
        shape[-axis] = -1
        return np.asarray(numbers, np.float64).reshape(shape)

    def index(self, dimensions: slice) -> Doubles:
        """Return the index of elements, flat in some dimensions that follow each other."""
        shape = [1] * len(self.shape)
        shape[dimensions] = self.shape[dimensions]
        return np.arange(prod(shape), dtype=np.float64).reshape(shape)

    def windows_on(self, axis: int) -> WindowsOn:
        """Return the windows along a spatial axis."""
        assert self.plan is not None
        place = self.axes - axis
        return WindowsOn(
            *self.plan.windows.axes[place], self.plan.params.sizes[place], self.plan.pads[place][1]
        )

    def over_windows(self, numbers: Doubles, ufunc: np.ufunc, of_none: float) -> Doubles:
        """Return the numbers of the cells of each window, folded; `of_none` where it holds none."""
        assert self.plan is not None
        gathered = clip(numbers, self.plan.params, self.plan.windows)
        return fold(gathered.data, gathered.lo, gathered.hi, ufunc, of_none)


class WindowsOn(NamedTuple):
    """The windows along one spatial axis, the size of the input there and its end padding."""

    start: windows.Positions
    stop: windows.Positions
    dilation: int
    size: int
    end_pad: int

    def cells(self, low: int, high: int) -> windows.Positions:
        """Return how many cells of each window lie in low:high."""
        return windows.cells_within(self.start, self.stop, low, high, self.dilation)


@lru_cache(maxsize=1024)
def _layout(vector: Vector, readings: tuple[tuple[str, str], ...]) -> Layout:
    return Layout(vector, dict(readings))


def layout_of(vector: Vector, readings: Mapping[str, str]) -> Layout:
    """Return the layout of a vector under readings; those of the last vectors are remembered."""
    return _layout(vector, tuple(sorted(readings.items())))


def axis_words(axis: int, which: str = "some") -> str:
    """Return the name of a spatial axis, counted from the last, of the first or `which` of all."""
    if axis == ALL_AXES:
        return f"{which} axis"
    if axis == FIRST_AXIS:
        return "the first axis"
    return _AXES[axis - 1] if axis <= len(_AXES) else f"the spatial axis {axis} from the end"


def on_axis(words: str, axis: int, which: str = "some") -> str:
    """Fill in the name of a spatial axis, and of an output's place along it.

    Of all axes, `which` says of which of them something is said.
    """
    if "{place}" in words:
        has_noun = 0 < axis <= len(_PLACES)
        noun, along = (_PLACES[axis - 1], "") if has_noun else ("place", " along {axis}")
        words = words.replace("{place}", noun) + along
    return words.replace("{axis}", axis_words(axis, which))


def _then(of: Of, follows: Callable[[Any], Any]) -> Of:
    """Return the feature: what follows from another one, where there is that."""

    def of_both(layout: Layout, axis: int) -> Any:
        value = of(layout, axis)
        return None if value is None else follows(value)

    return of_both


# Features of elements.


def _of_windows(of: Callable[[WindowsOn], Array]) -> Of:
    """Return the feature: a number of each window along an axis."""
    return lambda layout, axis: layout.along(axis, of(layout.windows_on(axis)))


_begin_pad = _of_windows(lambda on: on.cells(int(on.start.min(initial=0)), 0))
_end_pad = _of_windows(lambda on: on.cells(on.size, on.size + on.end_pad))
_overhang = _of_windows(
    lambda on: np.maximum(0, on.stop - np.maximum(on.start, on.size + on.end_pad))
)
_cells_on = _of_windows(lambda on: on.cells(0, on.size))


def _last_cell(on: WindowsOn) -> windows.Positions:
    end = np.minimum(on.stop, on.size) - 1
    last: windows.Positions = end - (end - on.start) % on.dilation
    return last


def _divisor(layout: Layout, _axis: int) -> Doubles | None:
    assert layout.plan is not None
    if not layout.operator.reduction.divides:
        return None
    return layout.plan.divisor.astype(np.float64).reshape(1, 1, *layout.shape[2:])


def _holding(layout: Layout, axis: int) -> Doubles | None:
    """Return how many windows hold each cell of a gradient."""
    if not layout.operator.is_gradient:
        return None
    start, stop, dilation, size, _ = layout.windows_on(axis)
    lo, hi = windows.ranges_by_remainder(start, stop, size, dilation)
    begins, ends = (np.bincount(each, minlength=size + 1) for each in (lo, np.maximum(lo, hi)))
    held = np.empty(size, np.int64)
    held[windows.by_remainder(size, dilation)] = (begins - ends).cumsum()[:size]
    return layout.along(axis, held)


def _marked(mark: Callable[[Doubles], Bools]) -> Of:
    """Return the feature: how many cells of the window are marked."""

    def of(layout: Layout, _axis: int) -> Doubles:
        with np.errstate(invalid="ignore"):
            marked = mark(layout.wide_data)
        if not marked.any():
            return np.zeros((1,) * len(layout.shape))
        return layout.over_windows(marked.astype(np.float64), np.add, 0.0)

    return of


_not_negative = _marked(lambda data: ~(data < 0))


def _subnormal(layout: Layout, axis: int) -> Any:
    name = name_of(layout.data.dtype)
    if name not in FLOATS:
        return None
    least = float_format(name).smallest_normal
    return _marked(lambda data: (data != 0) & (np.abs(data) < least))(layout, axis)


def _right(layout: Layout, _axis: int) -> Doubles | None:
    return layout.right


def _not_finite_in_plane(values: Doubles) -> Doubles:
    """Return for each plane how many of its right values are not finite."""
    axes = tuple(range(2, values.ndim))
    counts: Doubles = (~np.isfinite(values)).sum(axes, np.float64, keepdims=True)
    return counts


def exact_in(values: Doubles, name: str) -> Bools:
    """Say which values a floating-point type holds, NaN among them."""
    with np.errstate(all="ignore"):
        return np.asarray((widen(narrow(values, name)) == values) | np.isnan(values))


def _exact_in(name: str) -> Of:
    """Return the feature: a floating-point type holds the right value."""

    def of(layout: Layout, _axis: int) -> Bools | None:
        if layout.right is None or layout.data.dtype.kind in "iu":
            return None
        return exact_in(layout.right, name)

    return of


def _position(layout: Layout, axis: int) -> Doubles:
    return layout.along(axis, np.arange(layout.shape[-axis]))


def _index_in(first: int, stop: int | None) -> Of:
    """Return the feature: the index in some dimensions that follow each other."""
    return lambda layout, _: layout.index(slice(first, stop))


def _from_end(index: Of) -> Of:
    return _then(index, lambda numbers: numbers.size - 1 - numbers)


_flag = Kind
_index = partial(Kind, style="index", of_elements=True)
_amount = partial(Kind, style="count", of_elements=True)
_windows = partial(_amount, of_windows=True)
_elements = partial(Kind, of_elements=True)
_some_windows = partial(_elements, of_windows=True)


def _special(of: Of, words: str, surprise: float = 3.0) -> Kind:
    return _windows(of, f"windows with {{}} {words}", surprise, special=True)


_INDICES: Mapping[str, Kind] = {
    "position": _index(_position, "{place}", cycles=True),
    "position_end": _index(_from_end(_position), "{place}", from_end=True),
    "channel": _index(_index_in(1, 2), "channel", cycles=True),
    "channel_end": _index(_from_end(_index_in(1, 2)), "channel", from_end=True),
    "batch_index": _index(_index_in(0, 1), "batch", cycles=True),
    "batch_end": _index(_from_end(_index_in(0, 1)), "batch", from_end=True),
    "plane": _index(_index_in(0, 2), "plane", 4.0, within="of all batches and channels"),
    "row_of_all": _index(_index_in(0, -1), "row", 5.0, within="of all planes"),
    "element": _index(_index_in(2, None), "element", 4.0, within="of each plane", cycles=True),
    "element_of_all": _index(
        _index_in(0, None), "element", 4.0, within="of the whole output", cycles=True
    ),
    "element_of_all_end": _index(
        _from_end(_index_in(0, None)), "element", 4.0, within="of the whole output", from_end=True
    ),
}


def _tail(index: Kind, group: int) -> Kind:
    """Return the flag that an index lies beyond the last whole group."""
    indices = f"{index.words}s {index.within}".strip()
    of = _then(index.of, lambda numbers: numbers >= numbers.size // group * group)
    return _elements(of, f"{indices} {{beyond|up to}} the last whole group of {group}", 5.0)


_OF_ELEMENTS: Mapping[str, Kind] = {
    **_INDICES,
    "begin_pad": _windows(_begin_pad, "windows with {} cells in the begin padding of {axis}"),
    "end_pad": _windows(_end_pad, "windows with {} cells in the end padding of {axis}"),
    "overhang": _windows(_overhang, "windows that overhang {axis} by {} cells"),
    "cells_on": _windows(_cells_on, "windows with {} cells of the input along {axis}"),
    "first_cell": _windows(
        _of_windows(lambda on: windows.first_from(on.start, 0, on.dilation)),
        "windows whose first cell on {axis} is {}",
        4.0,
        cycles=True,
    ),
    "last_cell": _windows(_of_windows(_last_cell), "windows whose last cell on {axis} is {}", 4.0),
    "last_cell_end": _windows(
        _of_windows(lambda on: on.size - 1 - _last_cell(on)),
        "windows that end {} cells before the end of {axis}",
    ),
    "inside": _windows(
        lambda layout, _: np.asarray(prod(_cells_on(layout, 1 + n) for n in range(layout.axes))),
        "windows with {} cells of the input",
    ),
    "divisor": _windows(_divisor, "windows with a divisor of {}", 4.0),
    "power_of_two": _some_windows(
        _then(_divisor, lambda divisor: np.frexp(divisor)[0] == 1 / 2),
        "windows whose divisor is {a|no} power of two",
    ),
    "holding": _amount(_holding, "cells that {} windows hold along {axis}"),
    "nan": _special(_marked(np.isnan), "cells of NaN"),
    "plus_infinity": _special(_marked(np.isposinf), "cells of infinity"),
    "minus_infinity": _special(_marked(np.isneginf), "cells of minus infinity"),
    "zero": _special(_marked(lambda data: data == 0), "cells of zero", 5.0),
    "negative": _special(_marked(lambda data: data < 0), "cells below zero", 5.0),
    "subnormal": _special(_subnormal, "subnormal cells", 4.0),
    "value": _amount(_right, "elements whose right value is {}", 6.0),
    "largest_cell": _windows(
        lambda layout, _: layout.over_windows(layout.wide_data, np.fmax, np.nan),
        "windows whose largest cell is {}",
        6.0,
    ),
    "negative_only": _some_windows(
        _then(_not_negative, lambda count: count == 0),
        "windows {that hold cells below zero only|with a cell that is not below zero}",
    ),
    "in_padding": _some_windows(
        lambda layout, axis: sum(of(layout, axis) for of in (_begin_pad, _end_pad, _overhang)) > 0,
        "windows {that reach out of|within} the input along {axis}",
        2.0,
    ),
    "below_zero": _elements(
        _then(_right, lambda values: values < 0), "elements whose right value is {|not }below zero"
    ),
    "not_finite_in_plane": _amount(
        _then(_right, _not_finite_in_plane),
        "elements of planes with {} right values of NaN or infinity",
        4.0,
        special=True,
    ),
    **{
        f"exact_in_{name}": _elements(
            _exact_in(name), f"elements whose right value is {{|not }}exact in {name}", 4.0
        )
        for name in ("float16", "bfloat16", "float32")
    },
    **{
        f"{name}_tail_{group}": _tail(_INDICES[name], group)
        for group in GROUPS
        for name in ("position", "channel", "element", "element_of_all", "row_of_all", "plane")
    },
}


# Features of cases.


def _on(name: str) -> Of:
    return lambda layout, axis: (
        float(layout.numbers[name][-axis]) if name in layout.numbers else None
    )


def _pads(layout: Layout) -> list[Sequence[int]]:
    """Return the pads before and after the input per axis; [] where there are none."""
    names = ("pads_begin", "pads_end")
    return [layout.numbers[name] for name in names if name in layout.numbers]


def _padded(layout: Layout, axis: int) -> bool | None:
    pads = _pads(layout)
    return any(numbers[-axis] for numbers in pads) if pads else None


def _pads_differ(layout: Layout, _axis: int) -> bool | None:
    pads = _pads(layout)
    return len({*zip(*pads, strict=True)}) > 1 if pads else None


def _left_over(layout: Layout, axis: int) -> Any:
    params = layout.params
    if layout.pads is None or params is None or not params.strides:
        return None
    begin, end = layout.pads[-axis]
    span = windows.span_of(params.kernel[-axis], params.dilations[-axis])
    return float(windows.slack(params.sizes[-axis], span, begin, end) % params.strides[-axis])


def _meaning(role: str) -> Of:
    """Return the feature: what a word means, its default where a document has no such attribute."""
    return lambda layout, _: (
        getattr(layout.params, role) if layout.params and layout.operator.has_windows else None
    )


def _attribute(role: Role) -> Of:
    """Return the feature: what an attribute means that few documents have."""

    def of(layout: Layout, _axis: int) -> Any:
        if layout.params is None or layout.operator.attribute(role) is None:
            return None
        meaning = getattr(layout.params, role)
        return float(meaning) if isinstance(meaning, int) else meaning

    return of


def _same(one: Role, other: Role) -> Of:
    """Return the feature: two attributes mean the same, which few documents have."""

    def of(layout: Layout, axis: int) -> bool | None:
        meanings = [_attribute(role)(layout, axis) for role in (one, other)]
        return None if None in meanings else meanings[0] == meanings[1]

    return of


_chosen_layout = _then(
    _attribute("channels_last"),
    lambda is_last: "channels last" if is_last else "channels second",
)
"""The layout of the arrays that a caller has, where the caller chooses it."""


def _absent(role: Role, noun: str) -> Kind:
    """Return the flag that an attribute is left out which may be."""
    words = f"the {noun} are" if role in NUMBERS else f"{noun} is"

    def of(layout: Layout, _axis: int) -> Any:
        attribute = layout.operator.attribute(role)
        if attribute is None or attribute.required:
            return None
        return attribute.key not in layout.vector.case.attributes

    return _flag(of, f"{words} {{left out|given}}", 4.0)


def _of_kernel(of: Callable[[Params], Any]) -> Of:
    """Return the feature: what follows from the parameters of a call that has a kernel."""
    return lambda layout, _: of(layout.params) if layout.params and layout.params.kernel else None


def _given(noun: str, pads: Callable[[Params], Sequence[int]]) -> Kind:
    """Return the flag that some of the pads given, which a mode may ignore, is not 0."""
    of = _of_kernel(lambda params: any(pads(params)))
    return _flag(of, f"{{some|no}} {noun} given is not 0")


def _differ(role: str) -> Of:
    return _of_kernel(lambda params: len(set(getattr(params, role))) > 1)


def _of_data(test: Callable[[Doubles], Any]) -> Of:
    return lambda layout, _: bool(test(layout.wide_data))


def _product(first: int, stop: int | None = None) -> Of:
    """Return the feature: the product of some entries of the shape of the data."""
    return lambda layout, _: float(prod(layout.data.shape[first:stop]))


def _length(dimension: int) -> Of:
    return lambda layout, _: (
        float(layout.data.shape[dimension]) if dimension < layout.data.ndim else None
    )


def _of_extent(of: Callable[[Layout], int]) -> Of:
    """Return the feature: a number of the output, if there is one."""
    return lambda layout, _: float(of(layout)) if layout.extent else None


def _most_overhang(layout: Layout, axis: int) -> Any:
    known = layout.plan is not None and min(layout.extent) > 0
    return float(_overhang(layout, axis).max()) if known else None


def _of_invalid(of: Callable[[Layout, str, str], Any]) -> Of:
    """Return the feature: what follows from what of an invalid case is wrong, and how."""

    def of_tags(layout: Layout, _axis: int) -> Any:
        tags = layout.vector.case.tags
        said = next((tag for tag in tags if ": " in tag), "") if "invalid" in tags else ""
        return of(layout, *said.split(": ", 1)) if said else None

    return of_tags


def _invalid_part(layout: Layout, what: str, _how: str) -> str:
    """Return what is invalid: an attribute by its role, which is the same in every document."""
    roles = {attribute.key: attribute.role for attribute in layout.operator.attributes}
    return str(roles.get(what, what))


def _invalid_number(layout: Layout, what: str, _how: str) -> float | None:
    """Return the least number of what is invalid, None where it has no numbers."""
    value = layout.vector.case.attributes.get(what)
    numbers = value if isinstance(value, list) else [value]
    if not numbers or any(not isinstance(n, int) or isinstance(n, bool) for n in numbers):
        return None
    return float(min(numbers))


_word = partial(Kind, style="word")
_number = partial(Kind, style="number")
_DIFFER = "{differ between|are the same on all} axes"


_NOUNS = {
    "size": "the input size",
    "kernel": "the kernel",
    "strides": "the stride",
    "pads_begin": "the begin padding",
    "pads_end": "the end padding",
    "output": "the output size",
}
_Test = Callable[[float, float], bool]
_RELATIONS: Mapping[str, tuple[_Test, str]] = {
    "above": (gt, "{is|is not} above"),
    "equal": (eq, "{equals|does not equal}"),
    "divides": (lambda one, other: one > 0 and other % one == 0, "{divides|does not divide}"),
}
"""How numbers of one axis compare: a relation, a test, and words for it."""
_COMPARED = (
    *("kernel above size", "strides above kernel", "kernel above strides", "strides above size"),
    *("output above size", "size above output"),
    *("pads_begin above pads_end", "pads_end above pads_begin"),
    *("kernel equal size", "strides equal kernel", "output equal size"),
    "pads_begin equal pads_end",
    *("kernel divides size", "strides divides size", "strides divides kernel"),
    "output divides size",
)


def _compared(said: str) -> Kind:
    """Return the flag that a relation of two numbers of an axis holds."""
    one, relation, other = said.split()
    test, words = _RELATIONS[relation]

    def of(layout: Layout, axis: int) -> bool | None:
        numbers = [_on(name)(layout, axis) for name in (one, other)]
        return None if None in numbers else test(*numbers)

    return _flag(of, f"{_NOUNS[one]} {words} {_NOUNS[other]} on {{axis}}")


_OF_CASES: Mapping[str, Kind] = {
    "operator": _word(lambda layout, _: layout.operator.name, "the operator"),
    "standard": _word(
        lambda layout, _: (layout.operator.forward or layout.operator).publisher,
        "the standard",
        2.0,
    ),
    "reduction": _word(lambda layout, _: layout.operator.reduction.name, "the reduction", 2.0),
    "gradient": _flag(
        lambda layout, _: layout.operator.is_gradient, "the operator is {a|no} gradient", 2.0
    ),
    "dtype": _word(lambda layout, _: name_of(layout.data.dtype), "the type"),
    "integers": _flag(
        lambda layout, _: layout.data.dtype.kind in "iu",
        "the type is of {integers|floating-point numbers}",
        2.0,
    ),
    "auto_pad": _word(_meaning("auto_pad"), "the padding mode"),
    "rounding": _word(_meaning("rounding"), "the rounding", 2.0),
    "include_pad": _flag(_meaning("include_pad"), "padding {counts|does not count}", 2.0),
    "adaptive": _flag(
        lambda layout, _: layout.operator.is_adaptive, "the output size is {given|computed}", 2.0
    ),
    "windowed": _flag(
        lambda layout, _: layout.operator.has_windows, "the operator has {a|no} kernel", 2.0
    ),
    "rank": _number(lambda layout, _: float(layout.axes), "the number of spatial axes", 2.0),
    "batch": _number(_length(0), "the number of batches", cycles=True),
    "channels": _number(_length(1), "the number of channels", cycles=True),
    "size": _number(_on("size"), "the size of {axis}", cycles=True),
    "kernel": _number(_on("kernel"), "the kernel on {axis}", cycles=True),
    "strides": _number(_on("strides"), "the stride on {axis}", cycles=True),
    "dilations": _number(_on("dilations"), "the dilation on {axis}"),
    "pads_begin": _number(_on("pads_begin"), "the begin padding on {axis}"),
    "pads_end": _number(_on("pads_end"), "the end padding on {axis}"),
    "output": _number(_on("output"), "the output size of {axis}", cycles=True),
    "most_overhang": _number(
        _most_overhang, "the number of cells by which a window overhangs {axis}"
    ),
    "left_over": _number(_left_over, "the number of cells that the stride leaves over on {axis}"),
    "cells": _number(
        _of_kernel(lambda params: float(prod(params.kernel))),
        "the number of cells of a window",
        cycles=True,
    ),
    "outputs": _number(
        _of_extent(lambda layout: prod(layout.extent)),
        "the number of outputs of a plane",
        4.0,
        cycles=True,
    ),
    "all_outputs": _number(
        _of_extent(lambda layout: prod(layout.data.shape[:2] + layout.extent)),
        "the number of all outputs",
        4.0,
        cycles=True,
    ),
    "planes": _number(_product(0, 2), "the number of planes", 4.0),
    "inputs": _number(_product(2), "the number of input cells of a plane", 4.0, cycles=True),
    "all_inputs": _number(_product(0), "the number of input cells", 5.0),
    **{said.replace(" ", "_"): _compared(said) for said in _COMPARED},
    "invalid_part": _word(_of_invalid(_invalid_part), "what is invalid", 1.0),
    "invalid_how": _word(
        _of_invalid(lambda _layout, _what, how: rule_of(how)), "what is wrong with it", 1.0
    ),
    "invalid_number": _number(_of_invalid(_invalid_number), "its least number", 1.0),
    "exponent": _number(_attribute("exponent"), "the exponent", 2.0),
    "index_axis": _number(_attribute("index_axis"), "the axis that indices start from"),
    "index_type": _word(_attribute("index_type"), "the type of indices"),
    "storage_order": _word(_attribute("storage_order"), "the storage order", 2.0),
    "channels_last": _word(_chosen_layout, "the layout", 1.0),
    "activation": _word(_attribute("activation"), "the activation", 1.0),
    "accumulator": _word(_attribute("accumulator"), "the type of sums", 1.0),
    "fixed_divisor": _number(_attribute("fixed_divisor"), "the divisor given"),
    "input_zero_point": _number(_attribute("input_zero_point"), "the zero point of the input"),
    "output_zero_point": _number(_attribute("output_zero_point"), "the zero point of the output"),
    "zero_points_equal": _flag(
        _same("input_zero_point", "output_zero_point"), "the zero points {are the same|differ}"
    ),
    "scales_equal": _flag(_same("input_scale", "output_scale"), "the scales {are the same|differ}"),
    "kernels_differ": _flag(_differ("kernel"), f"kernels {_DIFFER}"),
    "strides_differ": _flag(_differ("strides"), f"strides {_DIFFER}"),
    "one_row": _flag(_of_kernel(conditions.ONE_ROW.holds), "the kernel is {|not }one row"),
    "one_column": _flag(_of_kernel(conditions.ONE_COLUMN.holds), "the kernel is {|not }one column"),
    "sizes_differ": _flag(_differ("sizes"), f"input sizes {_DIFFER}"),
    "padded": _flag(_padded, "there are {|no }pads on {axis}", 2.0),
    "given_pads": _given("pad", lambda params: params.pads_begin + params.pads_end),
    "given_begin": _given("begin pad", lambda params: params.pads_begin),
    "given_end": _given("end pad", lambda params: params.pads_end),
    "pads_differ": _flag(_pads_differ, f"pads {_DIFFER}"),
    "nan_in_data": _flag(
        _of_data(lambda data: np.isnan(data).any()), "the data hold {a|no} NaN", 4.0
    ),
    "infinity_in_data": _flag(
        _of_data(lambda data: np.isinf(data).any()), "the data hold {an|no} infinity", 4.0
    ),
    **{
        f"no_{role}": _absent(role, noun)
        for role, noun in {**NOUNS, "channels_last": "the layout"}.items()
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
        # Nothing is said of the tails of all axes at once.
        if axis > 0 or not name.startswith("position_tail")
    ]
