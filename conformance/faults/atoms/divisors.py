"""By what sums are divided: which cells of a window count, and what becomes of their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from conformance.faults.atoms.atom import Atom, family, faults
from conformance.faults.atoms.entries import COLUMN, ROW, Mask, some_outputs
from conformance.faults.atoms.windows import EVERY_AXIS, FIRST_AXIS, LAST_AXIS, Along, Axes
from conformance.faults.concerns import ADAPTIVE
from conformance.faults.conditions import EXCLUDED, INCLUDED
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.needs import AVERAGES
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Pads, Windows
from conformance.operators.wraps import StepWrap, after

# Cells that count --------------------------------------------------------------------------------

Count = Atom[Callable[[Along], axis.Positions]]
"""Which cells of the windows along an axis count: words, and how many they are."""
Combined = Atom[Callable[[list[axis.Positions]], Divisor]]
"""How the counts along each axis make a divisor, and words for it."""
_FAR = 1 << 40
_GROUPS = (2, 4, 8, 16)


def _between(
    words: str, ends: Callable[[Along], tuple[int, int]], *, dilated: bool = True
) -> Count:
    """Count the cells from one end to another.

    Unless it is `dilated`, a window has the cells between those of a dilated one, too.
    """
    return Count(
        words, lambda w: axis.cells_within(w.start, w.stop, *ends(w), w.n if dilated else 1)
    )


_IN_INPUT = _between("its cells in the input", lambda w: (0, w.d))
_IN_PADDED_INPUT = _between("its cells in the padded input", lambda w: (-w.begin, w.d + w.end))
_COUNTS = (
    _between("all its cells", lambda _: (-_FAR, _FAR)),
    _IN_INPUT,
    _IN_PADDED_INPUT,
    _between("its cells in the input and its end padding", lambda w: (0, w.d + w.end)),
    _between("its cells in the input and its begin padding", lambda w: (-w.begin, w.d)),
    _between("its cells but those before the input", lambda _: (0, _FAR)),
    _between("its cells but those after the input", lambda w: (-_FAR, w.d)),
    _between("the cells that it spans", lambda _: (-_FAR, _FAR), dilated=False),
    _between("the cells that it spans in the input", lambda w: (0, w.d), dilated=False),
    _between(
        "the cells that it spans but those before the input", lambda _: (0, _FAR), dilated=False
    ),
    _between(
        "the cells that it spans but those after the input", lambda w: (-_FAR, w.d), dilated=False
    ),
    Count("the cells of the input", lambda w: np.full_like(w.start, w.d)),
)
_OF_BLOCKS = (
    Count("d / o rounded down", lambda w: np.full_like(w.start, max(1, w.d // len(w.start)))),
    Count("d / o rounded up", lambda w: np.full_like(w.start, -(-w.d // max(1, len(w.start))))),
)
_ONE = Count("1", lambda w: np.ones_like(w.start))
_AXES = (
    EVERY_AXIS,
    FIRST_AXIS,
    LAST_AXIS,
    Axes(" along every axis but the first", slice(1, None)),
    Axes(" along every axis but the last", slice(0, -1)),
)


def _sum(counts: list[axis.Positions]) -> Divisor:
    """Return the sum of one count per axis, for every output position."""
    total: Divisor = np.zeros((), np.int64)
    for count in counts:
        total = total[..., np.newaxis] + count
    return total


_MULTIPLIED: Combined = Combined("", steps.outer)
_ADDED = Combined(", added instead of multiplied", _sum)


def _with_that_of(replaced: int, other: int) -> Callable[[list[axis.Positions]], Divisor]:
    """Multiply the counts along all axes but one, and those along another once more for it."""

    def of(counts: list[axis.Positions]) -> Divisor:
        if len(counts) < 2:
            return steps.outer(counts)
        others = [*counts]
        others[replaced] = np.ones_like(counts[replaced])
        shape = [1] * len(counts)
        shape[other] = -1
        return steps.outer(others) * counts[other].reshape(shape)

    return of


_OF_ANOTHER_AXIS = (
    Combined(", that of the axis before in place of that of the last", _with_that_of(-1, -2)),
    Combined(", that of the last axis in place of that before", _with_that_of(-2, -1)),
    Combined(", that of the second axis in place of that of the first", _with_that_of(0, 1)),
)


def _counting(
    count: Count,
    axes: Axes = EVERY_AXIS,
    combined: Combined = _MULTIPLIED,
    mask: Mask | None = None,
) -> StepWrap:
    """Combine other counts along some axes, and the right ones along the others.

    Perhaps for the outputs of a mask alone. A divisor that is given is taken: nothing is counted.
    """

    def other(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
        if params.fixed_divisor is not None:
            return right
        of_axes = zip(windows.axes, params.sizes, pads, strict=True)
        along = [Along(start, stop, d, n, 0, *pad) for (start, stop, n), d, pad in of_axes]
        counts = list(map((_IN_PADDED_INPUT if params.include_pad else _IN_INPUT).of, along))
        for i in range(len(along))[axes.of]:
            counts[i] = count.of(along[i])
        found = _of_windows(right, combined.of(counts))
        return found if mask is None else np.where(mask((1, 1, *right.shape))[0, 0], found, right)

    return after(other)


def _of_windows(right: Divisor, other: Any) -> Divisor:
    """Return other divisors, at least 1, where windows have cells."""
    return np.where(right > 0, np.maximum(other, 1), 0)


# Changed divisors --------------------------------------------------------------------------------

Change = Atom[Callable[[Divisor], Any]]
"""Other divisors in place of the right ones, and words that follow "divisors were"."""


def _of_group(windows: int, *, last: bool) -> Callable[[Divisor], Divisor]:
    """Take the divisor of one window of each group in a row for all of them."""

    def shared(divisors: Divisor) -> Divisor:
        number = np.arange(divisors.shape[-1])
        chosen = number // windows * windows + (windows - 1) * last
        return divisors[..., np.minimum(chosen, number[-1:])]

    return shared


def _power_of_two(rounded: Callable[[Any], Any]) -> Callable[[Divisor], Divisor]:
    return lambda n: (2 ** rounded(np.log2(np.maximum(n, 1)))).astype(np.int64)


_CHANGES: tuple[Change, ...] = (
    Change("that of the first window", lambda n: n.flat[0]),
    Change("that of the last window", lambda n: n.flat[-1]),
    Change("that of the central window", lambda n: n[tuple(o // 2 for o in n.shape)]),
    Change("that of the first window of a row", lambda n: n[..., :1]),
    Change("that of the last window of a row", lambda n: n[..., -1:]),
    Change("that of the first window of a column", lambda n: n[:1]),
    Change("that of the window before", lambda n: np.concatenate([n[..., :1], n[..., :-1]], -1)),
    *family("that of the first of {} windows of a row", _GROUPS, partial(_of_group, last=False)),
    *family("that of the last of {} windows of a row", _GROUPS, partial(_of_group, last=True)),
    Change("the largest of all", lambda n: n.max(initial=1)),
    Change("the smallest of all", lambda n: n.min(initial=1 << 62)),
    Change("1", np.ones_like),
    Change("one more", lambda n: n + 1),
    Change("one less", lambda n: n - 1),
    Change("twice as large", lambda n: 2 * n),
    Change("half as large", lambda n: n // 2),
    Change("squared", lambda n: n * n),
    Change("rounded up to a power of two", _power_of_two(np.ceil)),
    Change("rounded down to a power of two", _power_of_two(np.floor)),
    Change("rounded up to an even number", lambda n: n + n % 2),
    *family(
        "kept in {}",
        ("int8", "uint8", "int16", "uint16", "float16"),
        lambda kind: lambda n: n.astype(kind).astype(np.int64),
    ),
    *family("at most {}", (127, 255, 256), lambda most: lambda n: np.minimum(n, most)),
)


def _changing(change: Callable[[Divisor], Any]) -> StepWrap:
    return after(lambda right, *_: _of_windows(right, change(right)))


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield cells that count in divisors, and divisors that counts make."""
    multiplied = product(_COUNTS, _AXES, [_MULTIPLIED])
    ones = product([_ONE], _AXES[1:], [_MULTIPLIED])  # of every axis, divisors are 1
    added = product(_COUNTS[:3], [EVERY_AXIS], [_ADDED, *_OF_ANOTHER_AXIS])
    for made in (*multiplied, *ones, *added):
        yield _made_from(*made)
    for count, axes in product(_OF_BLOCKS, _AXES):
        said = f"the divisor of a block made from {count.words}{axes.words}"
        yield Fault(said, (*AVERAGES, *ADAPTIVE), {"divide": _counting(count, axes)})
    for count, axes, condition in product(_COUNTS[:3], _AXES, (INCLUDED, EXCLUDED)):
        yield _made_from(count, axes, _MULTIPLIED).where(condition)
    for count, some in product(_COUNTS[:3], some_outputs(ROW, COLUMN)):
        said = f"the divisor of a window made from {count.words}, in {some.words}"
        fault = Fault(said, (*AVERAGES, *some.needs), {"divide": _counting(count, mask=some.of)})
        yield from (fault, fault.where(INCLUDED), fault.where(EXCLUDED))
    yield from faults("divisors are {}", AVERAGES, "divide", _changing, _CHANGES)


def _made_from(count: Count, axes: Axes, combined: Combined) -> Fault:
    said = f"{count.words}{axes.words}{combined.words}"
    wrap = _counting(count, axes, combined)
    return Fault(f"the divisor of a window made from {said}", AVERAGES, {"divide": wrap})
