"""By what sums are divided: which cells of a window count, and what becomes of their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conformance.faults.atoms.conditions import ALWAYS, Condition
from conformance.faults.atoms.windows import EVERY_AXIS, Along, Axes
from conformance.faults.behaviour import AVERAGES, Behaviour
from conformance.faults.wraps import after
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Pads, Windows

_FAR = 1 << 40


class Count(NamedTuple):
    """Which cells of the windows along an axis count: words, and how many they are."""

    words: str
    of: Callable[[Along], axis.Positions]


class Change(NamedTuple):
    """Other divisors in place of the right ones, and words that follow "divisors were"."""

    words: str
    of: Callable[[Divisor], Any]


def _between(
    words: str,
    low: Callable[[Along], int],
    high: Callable[[Along], int],
    *,
    dilated: bool = True,
) -> Count:
    """Count the cells from `low` to `high`.

    Unless it is `dilated`, a window has the cells between those of a dilated one, too.
    """
    return Count(
        words,
        lambda w: axis.cells_within(w.start, w.stop, low(w), high(w), w.n if dilated else 1),
    )


def _anywhere_before(_: Along) -> int:
    return -_FAR


def _anywhere_after(_: Along) -> int:
    return _FAR


def _from_input(_: Along) -> int:
    return 0


def _to_input(w: Along) -> int:
    return w.d


def _from_padding(w: Along) -> int:
    return -w.begin


def _to_padding(w: Along) -> int:
    return w.d + w.end


ALL_CELLS = _between("all its cells", _anywhere_before, _anywhere_after)
IN_INPUT = _between("its cells in the input", _from_input, _to_input)
IN_PADDED_INPUT = _between("its cells in the padded input", _from_padding, _to_padding)
NOT_BEFORE_INPUT = _between("its cells but those before the input", _from_input, _anywhere_after)
NOT_AFTER_INPUT = _between("its cells but those after the input", _anywhere_before, _to_input)
OF_INPUT = Count("the cells of the input", lambda w: np.full_like(w.start, w.d))
ALONE = Count("1", lambda w: np.ones_like(w.start))
COUNTS = (
    ALL_CELLS,
    IN_INPUT,
    IN_PADDED_INPUT,
    _between("its cells in the input and its end padding", _from_input, _to_padding),
    _between("its cells in the input and its begin padding", _from_padding, _to_input),
    NOT_BEFORE_INPUT,
    NOT_AFTER_INPUT,
    _between("the cells that it spans", _anywhere_before, _anywhere_after, dilated=False),
    _between("the cells that it spans in the input", _from_input, _to_input, dilated=False),
    _between(
        "the cells that it spans but those before the input",
        _from_input,
        _anywhere_after,
        dilated=False,
    ),
    _between(
        "the cells that it spans but those after the input",
        _anywhere_before,
        _to_input,
        dilated=False,
    ),
    OF_INPUT,
    ALONE,
)


def _power_of_two(rounded: Callable[[Any], Any]) -> Callable[[Divisor], Divisor]:
    return lambda n: (2 ** rounded(np.log2(np.maximum(n, 1)))).astype(np.int64)


def _kept_in(kind: str) -> Change:
    return Change(f"kept in {kind}", lambda n: n.astype(kind).astype(np.int64))


OF_FIRST = Change("that of the first window", lambda n: n.flat[0])
OF_LAST = Change("that of the last window", lambda n: n.flat[-1])
OF_CENTRE = Change("that of the central window", lambda n: n[tuple(o // 2 for o in n.shape)])
OF_FIRST_IN_ROW = Change("that of the first window of a row", lambda n: n[..., :1])
SMALLEST = Change("the smallest of all", lambda n: n.min(initial=1 << 62))
ONE = Change("1", np.ones_like)
ONE_MORE = Change("one more", lambda n: n + 1)
ONE_LESS = Change("one less", lambda n: n - 1)
POWER_OF_TWO = Change("rounded up to a power of two", _power_of_two(np.ceil))
IN_UINT8 = _kept_in("uint8")
CHANGES = (
    OF_FIRST,
    OF_LAST,
    OF_CENTRE,
    OF_FIRST_IN_ROW,
    Change("that of the last window of a row", lambda n: n[..., -1:]),
    Change("that of the first window of a column", lambda n: n[:1]),
    Change("that of the window before", lambda n: np.concatenate([n[..., :1], n[..., :-1]], -1)),
    Change("the largest of all", lambda n: n.max(initial=1)),
    SMALLEST,
    ONE,
    ONE_MORE,
    ONE_LESS,
    Change("twice as large", lambda n: 2 * n),
    Change("half as large", lambda n: n // 2),
    Change("squared", lambda n: n * n),
    POWER_OF_TWO,
    Change("rounded down to a power of two", _power_of_two(np.floor)),
    Change("rounded up to an even number", lambda n: n + n % 2),
    _kept_in("int8"),
    IN_UINT8,
    *map(_kept_in, ("int16", "uint16", "float16")),
    *(
        Change(f"at most {most}", lambda n, most=most: np.minimum(n, most))  # type: ignore[misc]
        for most in (127, 255, 256)
    ),
)


def _sum(counts: list[axis.Positions]) -> Divisor:
    """Return the sum of one count per axis, for every output position."""
    total: Divisor = np.zeros((), np.int64)
    for count in counts:
        total = total[..., np.newaxis] + count
    return total


class Combined(NamedTuple):
    """How the counts along each axis make a divisor, and words for it."""

    words: str
    of: Callable[[list[axis.Positions]], Divisor]


MULTIPLIED = Combined("", steps.outer)
ADDED = Combined(", added instead of multiplied", _sum)


def _of_windows(right: Divisor, other: Any) -> Divisor:
    """Return other divisors, at least 1, where windows have cells."""
    return np.where(right > 0, np.maximum(other, 1), 0)


def counting(count: Count, axes: Axes = EVERY_AXIS, combined: Combined = MULTIPLIED) -> StepWrap:
    """Combine other counts along some axes, and the right ones along the others."""

    def other(right: Divisor, params: Params, pads: Pads, windows: Windows) -> Divisor:
        of_axes = zip(windows.axes, params.sizes, pads, strict=True)
        along = [Along(start, stop, d, n, 0, *pad) for (start, stop, n), d, pad in of_axes]
        counts = list(map((IN_PADDED_INPUT if params.include_pad else IN_INPUT).of, along))
        for i in range(len(along))[axes.chosen]:
            counts[i] = count.of(along[i])
        return _of_windows(right, combined.of(counts))

    return after(other)


def changing(change: Change) -> StepWrap:
    """Change divisors."""
    return after(lambda right, *_: _of_windows(right, change.of(right)))


# Wrong behaviours --------------------------------------------------------------------------------


def count(
    counted: Count,
    axes: Axes = EVERY_AXIS,
    *,
    combined: Combined = MULTIPLIED,
    where: Condition = ALWAYS,
    needs: Needs = AVERAGES,
) -> Behaviour:
    """Make divisors from other counts."""
    return Behaviour(
        f"the divisor of a window made from {counted.words}{axes.words}{combined.words}"
        f"{where.words}",
        needs & where.needs,
        {"divide": where.only(counting(counted, axes, combined))},
    )


def change(changed: Change, *, needs: Needs = AVERAGES) -> Behaviour:
    """Divide by other divisors."""
    return Behaviour(f"as if divisors were {changed.words}", needs, {"divide": changing(changed)})
