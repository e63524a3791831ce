"""Levels of the geometry of one axis: names for sets of (size, kernel, stride, pads, dilation).

A level is a predicate on the numbers of one axis, not a number. A row of a covering array names a
level per factor; the numbers are then searched for. A combination of levels that no numbers
satisfy is a constraint of the covering array: it is found here by the same search, not written
down by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.operators.windows import same_total

KERNELS = ("one", "even", "odd", "input", "above-input", "large", "huge")
STRIDES = ("one", "below-kernel", "kernel", "above-kernel")
PADS = (
    "none",
    "begin",
    "end",
    "begin-larger",
    "end-larger",
    "above-stride",
    "kernel",
    "above-kernel",
)
PLAIN_PADS = ("begin", "end", "end-larger", "none")
EQUAL_PADS = ("none", "equal")
"""Where a document has one number for both ends."""
FITS = ("exact", "rest")
DILATIONS = ("one", "two", "more")
# Up to a vector register and a few lanes more.
WIDTHS = ("1", "2-3", "4-7", "8-11", "16-19", "32-35")


_KERNEL_SIZES = {
    "one": (1,),
    "even": (2, 4, 6),
    "odd": (3, 5, 7),
    "large": (8, 9, 11),
    "huge": (256, 300),
}


_DILATION_NUMBERS = {"one": (1,), "two": (2,), "more": (3, 4)}


class Levels(NamedTuple):
    """The levels of an axis, but for its width."""

    mode: str
    kernel: str
    stride: str
    padding: str
    fit: str
    dilation: str = "one"


def fit_of(axis: Axis, mode: str) -> str:
    """Say whether windows end with the padded input; for same_*, whether the padding is even."""
    if mode == "same":
        total = same_total(axis.size, axis.span, axis.strides, axis.extent(mode))
        return "rest" if total % 2 else "exact"
    return "rest" if axis.slack(mode) % axis.strides else "exact"


@cache
def candidates(levels: Levels, width: str | None) -> tuple[Axis, ...]:
    """Return axes that satisfy all levels; `width` None asks for any small number of windows."""
    return tuple(_candidates(levels, width))


@cache
def feasible(levels: Levels, width: str | None, operator: Operator | None) -> bool:
    """Whether some axis satisfies all levels: the first one found says so.

    One that a document allows, if its operator is given.
    """
    return any(operator is None or axis.is_allowed(operator) for axis in _candidates(levels, width))


def _candidates(levels: Levels, width: str | None) -> Iterator[Axis]:
    mode, kernel, stride, pads, fit, dilation = levels
    for (k, d), n in product(_kernels(kernel), _DILATION_NUMBERS[dilation]):
        # A dilated window spans so many cells beyond the others.
        size = 0 if d is None else d + (k - 1) * (n - 1)
        for s in _strides(stride, k):
            for begin, end in _pads(pads, k, s):
                axis = Axis(size, k, s, begin, end, dilations=n)
                # How pads are shared out does not matter, nor how cells of a window lie apart.
                like_it = Axis(size, axis.span, s, axis.padding(mode))
                for fitting, size_fit in _sizes_and_fits(like_it, mode, width):
                    if size_fit == fit:
                        yield axis._replace(size=fitting)


@cache
def plain(mode: str, width: str | None, dilation: str = "one", *, padded: bool) -> tuple[Axis, ...]:
    """Return small axes of every kind, to stand beside the axis that a row is about."""
    every = product(
        ("odd", "even", "one"),
        STRIDES,
        PLAIN_PADS if padded else ("none",),
        FITS,
    )
    return tuple(
        axis
        for levels in every
        for axis in candidates(Levels(mode, *levels, dilation), width)
        if axis.kernel <= 3 and axis.strides <= 3
    )


@cache
def alike(
    mode: str, width: str | None, k: int, n: int, s: int | None, *, padded: bool
) -> tuple[Axis, ...]:
    """Return axes of one kernel, dilation n and, unless None, stride, to stand beside another."""
    return tuple(
        dict.fromkeys(
            axis._replace(size=size)
            for stride in ((1, 2, 3) if s is None else (s,))
            for pads in (PLAIN_PADS if padded else ("none",))
            for begin, end in _pads(pads, k, stride)
            for axis in (Axis(0, k, stride, begin, end, dilations=n),)
            for size in _sizes(axis, mode, width)
        )
    )


def _kernels(level: str) -> list[tuple[int, int | None]]:
    """Return kernels, with an input size where the level fixes one."""
    if level == "input":
        return [(d, d) for d in (2, 3, 4, 5, 6)]
    if level == "above-input":
        return [(d + more, d) for d, more in product((1, 2, 3, 4, 5), (1, 2))]
    return [(k, None) for k in _KERNEL_SIZES[level]]


@cache
def _strides(level: str, k: int) -> tuple[int, ...]:
    if level == "one":
        return (1,)
    if level == "kernel":
        return (k,) if k > 1 else ()
    if level == "above-kernel":
        return (k + 1, k + 2, k + 3)
    return tuple(dict.fromkeys(s for s in (2, 3, 5, k - 1) if 1 < s < k))


@cache
def _pads(level: str, k: int, s: int) -> tuple[tuple[int, int], ...]:
    """Return begin and end of the padding, each pair once."""
    below = [p for p in (1, 2, 3, k - 1) if 1 <= p < k]
    pairs = list(product(below, below))
    by_level: dict[str, list[tuple[int, int]]] = {
        "none": [(0, 0)],
        "equal": [(p, p) for p in below],
        "begin": [(p, 0) for p in below],
        "end": [(0, p) for p in below],
        "begin-larger": [(p, q) for p, q in pairs if p > q],
        "end-larger": [(p, q) for p, q in pairs if p < q],
        "above-stride": [
            (p, q) for p, q in product((s + 1, s + 2), (s + 1, s + 2, 0, 1)) if max(p, q) < k
        ],
        "kernel": [(k, 0), (0, k), (k, 1), (1, k), (k, k)],
        "above-kernel": [(k + 1, 0), (0, k + 1), (k + 2, 1), (1, k + 2), (k + 1, k + 2)],
    }
    return tuple(dict.fromkeys(by_level[level]))


def width_range(width: str | None) -> range:
    """Return the numbers that a level of WIDTHS stands for; any small number for None."""
    if width is None:
        return range(1, 4)
    low, _, high = width.partition("-")
    return range(int(low), int(high or low) + 1)


def _sizes_and_fits(axis: Axis, mode: str, width: str | None) -> tuple[tuple[int, str], ...]:
    """Return input sizes that satisfy the level of width, each with the level of fit it has.

    The only one is that of the axis, unless it is 0.
    """
    axes = [axis] if axis.size else [axis._replace(size=d) for d in _sizes(axis, mode, width)]
    return tuple(
        (sized.size, fit_of(sized, mode))
        for sized in axes
        if (mode == "same" or sized.slack(mode) >= 0)
        and (width is None or sized.extent(mode) in width_range(width))
    )


def _sizes(axis: Axis, mode: str, width: str | None) -> tuple[int, ...]:
    """Return the least input sizes for each number of windows, and those with a cell or more left.

    Each size once.
    """
    more = axis.strides - 1  # cells before there is one window more
    sizes: list[int] = []
    for o in width_range(width):
        least = axis.least_size(o, mode)
        if mode == "same":
            sizes += sorted({least, max(1, least + more - 1), least + more})
        else:
            rests = sorted({0, min(1, more), more})
            sizes += [least + rest for rest in rests if least + rest >= 1]
    return tuple(dict.fromkeys(sizes))
