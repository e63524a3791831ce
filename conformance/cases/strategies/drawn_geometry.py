"""Attributes and extents: numbers in every relation, within limits, smallest first.

All draws are independent of each other, and what must hold between numbers is made to hold
afterwards: nothing is thrown away, and a number that shrinks leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import chain, repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from conformance.cases.strategies.choices import Choices, blocks, chosen
from conformance.cases.sweep import levels
from conformance.operators.attributes import NUMBERS, SCALARS, WORDS, Role
from conformance.operators.axis import Axis, by_role, sizes
from conformance.operators.operator import Operator
from conformance.vector import Array

LARGEST = 40
"""Kernels, strides, and sizes beyond the smallest possible go up to this, but for an `Outlier`."""


def _ladder(*runs: tuple[Iterable[int], int]) -> tuple[int, ...]:
    """Return numbers in ascending order, each so often."""
    return tuple(chain.from_iterable(repeat(n, often) for run, often in runs for n in run))


# Few steps: Hypothesis takes each of them once for every number that it lowers.
_LONG = (13, 14, 15, 16, 17, 20, 25, 31, 32, 33, LARGEST)
_LENGTHS = _ladder((range(1, 4), 6), (range(4, 7), 4), (range(7, 13), 1), (_LONG, 1))
_STRIDES = _ladder((range(1, 4), 6), (range(4, 9), 1), ((9, 13, 16, 17, LARGEST), 1))
_DILATIONS = _ladder((range(1, 2), 12), (range(2, 4), 4), ((4, 5, 7), 1))
_PADS = _ladder((range(1), 14), (range(1, 4), 4), (range(4, 9), 1), ((11, 16, 20), 1))
_UNPOOLED = _ladder((range(1), 8), (range(1, 6), 1))
_AXES = _ladder((range(1, 3), 3), (range(3, 4), 2), (range(4, 9), 1))
_CHANNELS = _ladder(
    (range(1, 4), 8),
    (range(4, 8), 1),
    ((8, 8, 9, 11, 12, 15, 16, 16, 17, 24, 31, 32, 32, 33, 40, 48), 1),  # layouts in blocks
    ((64, 65, 128, 255, 256, 257, 264), 1),
)
_BATCHES = _ladder((range(1, 2), 10), (range(2, 4), 3), ((4, 5, 16, 17, 33), 1))
PLANES = {"batch": _BATCHES, "channels": _CHANNELS}
# What axes share with the last one: kernels have fast ways for square windows.
_SHARED = (
    (),
    (),
    (),
    ("kernel", "strides"),
    ("kernel", "strides", "dilations", "pads_begin", "pads_end", "size"),
)
# From where ladders end to where narrow integers and loops over blocks do.
_FAR = (LARGEST + 1, *(2**n + more for n in (6, 7, 8, 10, 15, 16) for more in (-1, 0, 1)))
_RARELY = 40
_LARGEST_KERNEL = 1 << 16  # as far as faults are tried


class Outlier(NamedTuple):
    """One number larger than those usually drawn, in cells; `what` names it, "" for none.

    `place` is its axis, counted from the last.
    """

    what: str
    length: int
    place: int

    def of(self, *whats: str) -> int:
        """Return the length if it is that of one of these, else 0."""
        return self.length if self.what in whats else 0


class Geometry(NamedTuple):
    """A case without batches, channels and data; `cells` are of its padded input or its output."""

    attributes: dict[str, Any]
    sizes: tuple[int, ...]
    cells: int
    outlier: Outlier
    rest: tuple[Array, ...] = ()


class Geometries:
    """The attributes and extents that can be drawn of an operator, within some limits.

    `axes` is the fewest and the most axes; words of the roles in `fixed` have their first meaning.
    """

    def __init__(
        self,
        operator: Operator,
        axes: tuple[int, int],
        max_cells: int,
        fixed: Collection[Role] = (),
    ) -> None:
        self._operator = operator
        self._max_cells = max_cells
        words = operator.of_roles(WORDS)
        self._words: Choices = {
            role: a.meanings[:1] if role in fixed else a.meanings for role, a in words.items()
        }
        self._scalars = operator.of_roles(SCALARS)
        scalar_choices: Choices = {
            role: range(len(levels.scalar_values(a, 1))) for role, a in self._scalars.items()
        }
        optional = (a for a in operator.attributes if not a.is_kept and a.role != "ignored")
        self._optional = {attribute.key: attribute for attribute in optional}
        # Drawn even where an attribute has not its default: a value that shrinks to the default
        # must not make the draws more.
        self._spelled: Choices = dict.fromkeys(self._optional, (False, True))
        self._axis, may_be_long = _axis_choices(operator)
        fewest, most = axes
        outliers = ("",) * (_RARELY if max_cells < _FAR[-1] else 1)
        self._others: Choices = {
            **scalar_choices,
            "what": (*outliers, *may_be_long, *PLANES),
            "length": [n for n in _FAR if n <= max_cells] or [1],
            "place": range(3),
            "axes": [n for n in _AXES if fewest <= n <= most] or [fewest],
            "shared": _SHARED,
            "size_type": ("int64", "int32"),
        }
        self.drawn: st.SearchStrategy[tuple[bytes, tuple[bytes, ...]]] = st.tuples(
            blocks(self._words, self._spelled, self._others),
            st.tuples(*[blocks(self._axis)] * most),
        )

    def of(self, drawn: tuple[bytes, tuple[bytes, ...]]) -> Geometry:
        """Return the geometry that a draw stands for."""
        block, axis_blocks = drawn
        words, spelled, others = chosen(block, self._words, self._spelled, self._others)
        outlier = Outlier(others["what"], others["length"], others["place"])
        # Hypothesis moves what is complex behind what is plain, and then finds that the last few
        # axes will do.
        axes = [next(chosen(axis, self._axis)) for axis in axis_blocks[-others["axes"] :]]
        max_cells = self._max_cells // max(1, outlier.of(*PLANES))
        rest: tuple[Array, ...] = ()
        if self._operator.scatters:
            within = _unpooled_within([Axis(**axis) for axis in axes], max_cells)
            fitted = [axis.allowed(self._operator) for axis in within]
            cells = prod(max(axis.size, axis.unpooled) for axis in fitted)
        elif self._operator.has_windows:
            shared = {name: axes[-1][name] for name in others["shared"] if name in self._axis}
            drawn_axes = [Axis(**{**axis, **shared}) for axis in axes]
            within = _windows_within(drawn_axes, outlier, max_cells)
            fitted = [axis.allowed(self._operator) for axis in within]
            fitted = _sized(fitted, words.get("auto_pad", "explicit"), max_cells)
            if not all(axis.is_allowed(self._operator) for axis in fitted):
                # Their sizes may not be left as they are: a stride of one leaves nothing over.
                fitted = [axis._replace(strides=1).allowed(self._operator) for axis in fitted]
            cells = prod(axis.size + axis.pads_begin + axis.pads_end for axis in fitted)
        else:
            fitted = _extents_within([Axis(**axis) for axis in axes], outlier, max_cells)
            outputs = [axis.output for axis in fitted]
            cells = max(prod(sizes(fitted)), prod(outputs))
            if self._operator.takes_output_size:
                rest = (np.array(outputs, others["size_type"]),)
        lists = by_role(fitted)
        numbers: dict[str, Any] = {
            role: levels.scalar_values(attribute, len(fitted))[others[role]]
            for role, attribute in self._scalars.items()
        }
        given = self._operator.attributes_of(
            {**{role: lists[role] for role in NUMBERS if role in lists}, **words, **numbers}
        )
        for key, attribute in self._optional.items():
            default = attribute.default_for({"sizes": sizes(fitted), **lists})
            default = list(default) if isinstance(default, tuple) else default
            # An output size that is inferred cannot be written out.
            if given[key] == default and (not spelled[key] or attribute.role == "fixed_output"):
                del given[key]
        return Geometry(given, sizes(fitted), cells, outlier, rest)


def _axis_choices(operator: Operator) -> tuple[Choices, tuple[str, ...]]:
    """Return the choices for one axis, and what of it may be an outlier.

    With windows, the size is what it has beyond the least one that fits: see `_sized`.
    """
    if operator.is_adaptive:
        return {"size": _LENGTHS, "output": _LENGTHS}, ("size", "output", "both")
    if not (operator.has_windows or operator.scatters):
        return {"size": _LENGTHS, "output": (1,)}, ("size",)
    roles = operator.roles
    choices = {
        "kernel": _LENGTHS,
        "strides": _STRIDES if "strides" in roles else (1,),
        "pads_begin": _PADS if "pads_begin" in roles else (0,),
        "pads_end": _PADS if "pads_end" in roles else (0,),
        "size": (0, *_LENGTHS),
    }
    if "dilations" in roles:
        choices["dilations"] = _DILATIONS
    if operator.scatters:
        return {**choices, "fixed_output": _UNPOOLED}, ()
    return choices, ("size", "kernel")


def _windows_within(axes: list[Axis], outlier: Outlier, max_cells: int) -> list[Axis]:
    """Return axes with at most `max_cells` cells in a window; one may be an outlier."""
    length = outlier.of("kernel", "size")
    side = _side(max_cells // max(1, length), len(axes) - bool(length))
    pad = max(1, side // 2)
    axes = [_limited(axis, kernel=side, pads_begin=pad, pads_end=pad) for axis in axes]
    # Nor do the first and last cell of a window lie further apart.
    axes = [_limited(axis, dilations=max(1, side // axis.kernel)) for axis in axes]
    place = -1 - outlier.place % len(axes)
    if outlier.what == "kernel":
        kernel = min(length, _LARGEST_KERNEL)
        axes[place] = axes[place]._replace(kernel=kernel, dilations=1)
    elif outlier.what == "size":
        axes[place] = axes[place]._replace(size=length - 1)
    return axes


def _unpooled_within(axes: list[Axis], max_cells: int) -> list[Axis]:
    """Return axes of an unpooling with at most `max_cells` cells in the output, and one at least.

    What the last axis has for an output size says whether there is one; that of each axis is a
    little above or below the one that is inferred.
    """
    side = _side(max_cells, len(axes))
    fitted = []
    for axis in axes:
        kernel = min(axis.kernel, side)
        pad = (kernel - 1) // 2
        less = _limited(axis, strides=side, pads_begin=pad, pads_end=pad)
        size = min(1 + axis.size, 1 + (side - kernel) // less.strides)
        inferred = less._replace(size=size, kernel=kernel, fixed_output=0)
        given = max(1, inferred.unpooled + axis.fixed_output - 2) if axes[-1].fixed_output else 0
        fitted.append(inferred._replace(fixed_output=given))
    return fitted


def _extents_within(axes: list[Axis], outlier: Outlier, max_cells: int) -> list[Axis]:
    """Return axes with at most `max_cells` cells in and out; one may be an outlier."""
    length = outlier.of("size", "output", "both")
    side = _side(max_cells // max(1, length), len(axes) - bool(length))
    axes = [_limited(axis, size=side, output=side) for axis in axes]
    place = -1 - outlier.place % len(axes)
    long = axes[place]
    if outlier.what == "both":
        # No multiples of each other, as a rule.
        axes[place] = long._replace(size=length, output=length // 2 + long.output)
    elif length:
        axes[place] = long._replace(**{outlier.what: length})
    return axes


def _limited(axis: Axis, **most: int) -> Axis:
    return axis._replace(**{name: min(getattr(axis, name), n) for name, n in most.items()})


@cache
def _side(max_cells: int, axes: int) -> int:
    """Return the largest side, of at most LARGEST, of a cube of at most `max_cells` cells."""
    return max(side for side in range(1, LARGEST + 1) if side == 1 or side**axes <= max_cells)


def _sized(axes: Sequence[Axis], auto_pad: str, max_cells: int) -> list[Axis]:
    """Return the axes, each longer by the size that leaves one window, within `max_cells` cells."""
    least = [max(1, axis.least_size(1, auto_pad)) for axis in axes]
    lengths = [low + axis.size for low, axis in zip(least, axes, strict=True)]
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if prod(lengths) > max_cells:
            lengths[i] = max(least[i], max_cells // prod(lengths[:i] + lengths[i + 1 :]))
    return [axis._replace(size=size) for axis, size in zip(axes, lengths, strict=True)]


def planes_within(batch: int, channels: int, outlier: Outlier, max_planes: int) -> tuple[int, int]:
    """Return (batches, channels), of at most `max_planes` planes; one may be an outlier."""
    batch, channels = outlier.of("batch") or batch, outlier.of("channels") or channels
    more = max(1, min(max_planes, max(batch, channels)))
    fewer = max(1, min(max_planes // more, batch, channels))
    return (more, fewer) if batch > channels else (fewer, more)
