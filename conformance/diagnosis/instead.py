"""What stands in wrong elements in place of the right values, where that is simple."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import inf, prod

import numpy as np

from conformance.diagnosis.elements import (
    KINDS,
    Bools,
    Doubles,
    Layout,
    axis_words,
    layout_of,
)
from conformance.diagnosis.hypothesis import Sample
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.operators import AVERAGE, MAXIMUM
from conformance.reference.rounding import narrow, widen
from conformance.vector import Array, Vector

_FEWEST = 2
"""Fewer wrong elements hold anything by chance."""
_MOST_FITTING = 12
"""Of so many that fit the best is taken."""
_FEWER = 2
"""What changes so many times fewer elements takes the place of what is simpler."""
_ROUNDING = 8.0
_NARROWER = ("float32", "float16", "bfloat16")

Values = Callable[[Layout], Doubles | None]
"""Returns values for all elements of an output, NaN where it says nothing; None: of none."""


@dataclass(frozen=True, slots=True)
class Instead:
    """What comes instead of right values: `values` of a layout, said in `words`."""

    words: str
    values: Values
    constant: bool = False

    def matches(self, sample: Sample, layout: Layout) -> tuple[int, int]:
        """Return how many wrong elements hold these values, and of how many it says something."""
        if sample.wrong is None or sample.outputs is None or layout.expected is None:
            return 0, 0
        values = self.values(layout)
        if values is None:
            return 0, int(sample.wrong.sum())
        got, right = widen(sample.outputs[0]), widen(layout.expected.values)
        told = sample.wrong & self._told(values)
        return int((told & _same(got, values, right, layout)).sum()), int(told.sum())

    def shows(
        self, vector: Vector, readings: Mapping[str, str], *, told: bool = False
    ) -> Bools | None:
        """Mark the elements whose right value is another; None where it says nothing of any.

        Those are marked, too, of which it says nothing, unless only what is `told` is asked for.
        """
        layout = layout_of(vector, readings)
        values = None if layout.expected is None else self.values(layout)
        if values is None:
            return None
        right = widen(layout.expected.values)
        shown = ~_equal(values, right)
        if layout.operator.reduction.sums:
            with np.errstate(invalid="ignore", over="ignore"):
                # What differs by less than sums of so many cells may do is as right.
                addends = np.maximum(layout.expected.addends.reshape(layout.shape), 1)
                shown &= ~(np.abs(values - right) <= addends * _rounding(values, layout))
        return shown & self._told(values) if told else shown

    def _told(self, values: Doubles) -> Bools:
        return np.ones(values.shape, np.bool_) if self.constant else ~np.isnan(values)


def instead_of(
    samples: Sequence[Sample],
    *,
    readings: Mapping[str, str] | None = None,
    others: Iterable[Instead] = (),
) -> Instead | None:
    """Return what stands in all wrong elements of samples; None where that is nothing simple.

    It may be one of `others`, too. Of several, it is the first, unless another one would change
    far fewer elements.
    """
    pairs = [
        (sample, layout_of(sample.vector, readings or {}))
        for sample in samples
        if sample.wrong is not None and sample.wrong.any()
    ]
    if sum(int(sample.wrong.sum()) for sample, _ in pairs if sample.wrong is not None) < _FEWEST:
        return None
    axes = max(layout.axes for _, layout in pairs)
    candidates = chain(_constants(pairs), _CANDIDATES, _along(axes), others)
    fitting = [*islice((c for c in candidates if _fits(c, pairs)), _MOST_FITTING)]

    def changed(candidate: Instead) -> int:
        shown = (candidate.shows(sample.vector, readings or {}) for sample in samples)
        return sum(0 if marked is None else int(marked.sum()) for marked in shown)

    best, most = None, inf
    for candidate in fitting:
        count = changed(candidate) if len(fitting) > 1 else 0
        if count < most / _FEWER:
            best, most = candidate, count
    return best


def _fits(candidate: Instead, pairs: Sequence[tuple[Sample, Layout]]) -> bool:
    told = 0
    for sample, layout in pairs:
        alike, of = candidate.matches(sample, layout)
        if alike < of:
            return False
        told += of
    wrong = sum(int(sample.wrong.sum()) for sample, _ in pairs if sample.wrong is not None)
    return told >= _FEWEST and 2 * told >= wrong


def _equal(one: Doubles, other: Doubles) -> Bools:
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def _rounding(values: Doubles, layout: Layout) -> Doubles:
    """Return how far rounding may take a sound backend from values, and a few times more."""
    name = name_of(layout.data.dtype)
    if name not in FLOATS:
        return np.zeros(())
    fmt = float_format(name)
    size = np.maximum(np.abs(values), layout.expected.magnitude.reshape(layout.shape))
    return np.asarray(_ROUNDING * (fmt.unit * size + fmt.smallest))


def _same(got: Doubles, values: Doubles, right: Doubles, layout: Layout) -> Bools:
    """Say where values are the same but for rounding, which must be far less than what is wrong."""
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(got - values)
        near = (off <= _rounding(values, layout)) & (off <= np.abs(got - right) / _ROUNDING)
        return _equal(got, values) | near


def _right(layout: Layout) -> Doubles:
    return widen(layout.expected.values)


def _constants(pairs: Sequence[tuple[Sample, Layout]]) -> Iterator[Instead]:
    """Yield the value that all wrong elements have in common, if they have one."""
    sample, _ = pairs[0]
    assert sample.outputs is not None
    assert sample.wrong is not None
    value = float(widen(sample.outputs[0])[sample.wrong][0])
    words = {0.0: "zero", np.inf: "infinity", -np.inf: "minus infinity"}
    said = "NaN" if np.isnan(value) else words.get(value, f"the constant {value:g}")
    yield Instead(said, lambda layout: np.full(layout.shape, value), constant=True)
    for end, name in ((1.0, "largest"), (-1.0, "lowest")):
        yield Instead(f"the {name} number of the type", lambda layout, e=end: _end(layout, e))  # type: ignore[misc]


def _end(layout: Layout, sign: float) -> Doubles:
    name = name_of(layout.data.dtype)
    if name in FLOATS:
        return np.full(layout.shape, sign * float_format(name).largest)
    ends = np.iinfo(layout.data.dtype)
    return np.full(layout.shape, float(ends.max if sign > 0 else ends.min))


def _over(divisor: Values) -> Values:
    """Return the right sum over another divisor."""

    def of(layout: Layout) -> Doubles | None:
        other = divisor(layout) if layout.operator.reduction.divides else None
        if other is None or layout.plan is None:
            return None
        with np.errstate(all="ignore"):
            return _right(layout) * layout.plan.divisor / np.where(other > 0, other, np.nan)

    return of


def _kernel_cells(layout: Layout) -> Doubles | None:
    kernel = layout.params.kernel if layout.params is not None else ()
    return np.full(layout.shape, float(prod(kernel))) if kernel else None


def _inside(layout: Layout) -> Doubles:
    return np.broadcast_to(KINDS["inside"].of(layout, 0), layout.shape)


def _padded_cells(layout: Layout) -> Doubles:
    """Return the cells of each window inside the input and its padding."""
    cells = np.ones((1,) * len(layout.shape))
    for axis in range(1, layout.axes + 1):
        on = [KINDS[name].of(layout, axis) for name in ("cells_on", "begin_pad", "end_pad")]
        cells = cells * sum(on)
    return np.broadcast_to(cells, layout.shape)


def _more(step: int) -> Values:
    return lambda layout: (
        None if layout.plan is None else layout.plan.divisor.astype(np.float64) + step
    )


def _narrowed(name: str) -> Values:
    def of(layout: Layout) -> Doubles | None:
        if layout.data.dtype.kind in "iu":
            return None
        with np.errstate(all="ignore"):
            return widen(narrow(_right(layout), name))

    return of


def _first_cells(layout: Layout) -> Doubles | None:
    """Return the cell that each window begins with, NaN where that is padding."""
    return _cells(layout, lambda start, _stop: start)


def _last_cells(layout: Layout) -> Doubles | None:
    return _cells(layout, lambda _start, stop: stop - 1)


def _middle_cells(layout: Layout) -> Doubles | None:
    return _cells(layout, lambda start, stop: (start + stop - 1) // 2)


def _cells(layout: Layout, place: Callable[[Array, Array], Array]) -> Doubles | None:
    if layout.plan is None:
        return None
    cells, inside = layout.wide_data, np.ones((), np.bool_)
    windows = layout.plan.windows
    for axis, (start, stop) in enumerate(zip(windows.start, windows.stop, strict=True), 2):
        at, size = place(start, stop), layout.data.shape[axis]
        cells = cells.take(np.clip(at, 0, size - 1), axis)
        shape = [1] * len(layout.shape)
        shape[axis] = -1
        inside = inside & ((at >= 0) & (at < size)).reshape(shape)
    return np.where(inside, cells, np.nan)


def _pooled(*, smallest: bool = False, average: bool = False) -> Values:
    """Return what another reduction makes of the same windows."""

    def of(layout: Layout) -> Doubles | None:
        if layout.plan is None:
            return None
        gathered = layout.operator.pipeline.gather(
            layout.data, layout.plan.params, layout.plan.windows
        )
        with np.errstate(all="ignore"):
            if average:
                inside = np.maximum(_inside(layout)[0, 0], 1).astype(np.int64)
                return widen(AVERAGE.reduce(gathered, inside))
            if not smallest:
                return widen(MAXIMUM.reduce(gathered, layout.plan.divisor))
            if layout.data.dtype.kind == "u":
                return None
            negative = type(gathered)(-gathered.data, gathered.lo, gathered.hi)
            return -widen(MAXIMUM.reduce(negative, layout.plan.divisor))

    return of


_CANDIDATES: tuple[Instead, ...] = (
    Instead("the negative of the right value", lambda layout: -_right(layout)),
    Instead("the right value without its sign", lambda layout: np.abs(_right(layout))),
    Instead("the right sum, not divided", _over(lambda layout: np.ones(layout.shape))),
    Instead("the right sum over the cells of the kernel", _over(_kernel_cells)),
    Instead("the right sum over the cells inside the input", _over(_inside)),
    Instead("the right sum over the cells inside the padded input", _over(_padded_cells)),
    Instead("the right sum over a divisor of one more", _over(_more(1))),
    Instead("the right sum over a divisor of one less", _over(_more(-1))),
    *(Instead(f"the right value rounded to {name}", _narrowed(name)) for name in _NARROWER),
    Instead("the right value rounded to an integer", lambda layout: np.rint(_right(layout))),
    Instead("the right value truncated to an integer", lambda layout: np.trunc(_right(layout))),
    Instead("the maximum of the window", _pooled()),
    Instead("the minimum of the window", _pooled(smallest=True)),
    Instead("the average of the cells inside the window", _pooled(average=True)),
    Instead("the first cell of the window", _first_cells),
    Instead("the last cell of the window", _last_cells),
    Instead("the middle cell of the window", _middle_cells),
)


def _along(axes: int) -> Iterator[Instead]:
    """Yield the right values of other elements."""
    dimensions = [(-axis, f"element along {axis_words(axis)}") for axis in range(1, axes + 1)]
    for dimension, what in (*dimensions, (1, "channel"), (0, "batch")):
        for words, moved in (
            (f"the right value of the next {what}", _shifted(dimension, 1)),
            (f"the right value of the previous {what}", _shifted(dimension, -1)),
            (f"the right value of the first {what}", _end_of(dimension, 0)),
            (f"the right value of the last {what}", _end_of(dimension, -1)),
            (f"the right value of the mirrored {what}", _mirrored(dimension)),
        ):
            yield Instead(words, moved)


def _reaches(layout: Layout, dimension: int) -> bool:
    return -dimension <= layout.axes


def _shifted(dimension: int, step: int) -> Values:
    def of(layout: Layout) -> Doubles | None:
        if not _reaches(layout, dimension):
            return None
        moved = np.roll(_right(layout), -step, dimension)
        # What lies beyond the end is no element.
        np.moveaxis(moved, dimension, 0)[-1 if step > 0 else 0] = np.nan
        return moved

    return of


def _end_of(dimension: int, place: int) -> Values:
    def of(layout: Layout) -> Doubles | None:
        if not _reaches(layout, dimension):
            return None
        return np.broadcast_to(_right(layout).take([place], dimension), layout.shape)

    return of


def _mirrored(dimension: int) -> Values:
    return lambda layout: (
        np.flip(_right(layout), dimension) if _reaches(layout, dimension) else None
    )
