"""What stands in wrong elements in place of the right values, where that is simple."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from math import inf

import numpy as np

from conformance.diagnosis import limits
from conformance.diagnosis.elements import Layout, layout_of
from conformance.diagnosis.sample import Bools, Sample
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.reference.rounding import Doubles, equal_numbers, narrow, widen
from conformance.vector import Array

Values = Callable[[Layout], Doubles | None]
"""Returns values for all elements of an output, NaN where it says nothing; None: of none."""


@dataclass(frozen=True, slots=True)
class Instead:
    """What comes instead of right values: `values` of a layout, said in `words`.

    `key` says it exactly, as `constant` takes it; "" where it was learned from numbers.
    """

    words: str
    values: Values = field(compare=False)
    constant: bool = False
    key: str = ""

    def exact(self, layout: Layout) -> Array | None:
        """Return the values as elements of the output's type; None where it says nothing."""
        values = None if layout.expected is None else self.values(layout)
        if values is None or layout.expected is None:
            return None
        with np.errstate(
            all="ignore"
        ):  # a constant that the type does not have is no element of it
            return narrow(values, name_of(layout.expected.values.dtype))

    def matches(self, sample: Sample, layout: Layout) -> tuple[int, int]:
        """Return how many wrong elements hold these values, and of how many it says something."""
        if sample.wrong is None or sample.outputs is None or layout.expected is None:
            return 0, 0
        if sample.wrong.shape != layout.shape:  # it was judged under a reading of another geometry
            return 0, int(sample.wrong.sum())
        values = self.values(layout)
        if values is None:
            return 0, int(sample.wrong.sum())
        got, right = widen(sample.outputs[0]), widen(layout.expected.values)
        told = sample.wrong & self._told(values)
        return int((told & _same(got, values, right, layout)).sum()), int(told.sum())

    def shows(self, layout: Layout, *, told: bool = False) -> Bools | None:
        """Mark the elements whose right value is another; None where it says nothing of any.

        Those are marked, too, of which it says nothing, unless only what is `told` is asked for.
        """
        values = None if layout.expected is None else self.values(layout)
        if values is None:
            return None
        right = widen(layout.expected.values)
        shown = ~equal_numbers(values, right)
        addends = np.maximum(layout.expected.addends.reshape(layout.shape), 1)
        sums = layout.operator.reduction.sums
        with np.errstate(invalid="ignore", over="ignore"):
            # What differs by less than sums of so many cells may do is as right, and sound backends
            # may take subnormal numbers for zero.
            near = addends * (sums * _rounding(values, layout) + _least(layout))
            shown &= ~(np.abs(values - right) <= near)
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
    wrong = sum(int(sample.wrong.sum()) for sample, _ in pairs if sample.wrong is not None)
    if wrong < limits.FEWEST_ALIKE:
        return None
    candidates = chain(_constants(pairs), others)
    fitting = [*islice((c for c in candidates if _fits(c, pairs, wrong)), limits.FITTING)]

    def changed(candidate: Instead) -> int:
        layouts = (layout_of(sample.vector, readings or {}) for sample in samples)
        shown = map(candidate.shows, layouts)
        return sum(0 if marked is None else int(marked.sum()) for marked in shown)

    best, most = None, inf
    for candidate in fitting:
        count = changed(candidate) if len(fitting) > 1 else 0
        if count < most / limits.TIMES_FEWER:
            best, most = candidate, count
    return best


def _fits(candidate: Instead, pairs: Sequence[tuple[Sample, Layout]], wrong: int) -> bool:
    told = 0
    for sample, layout in pairs:
        alike, of = candidate.matches(sample, layout)
        if alike < of:
            return False
        told += of
    return told >= limits.FEWEST_ALIKE and 2 * told >= wrong


def _least(layout: Layout) -> float:
    """Return the smallest normal number of the data's type; 0 for integers."""
    name = name_of(layout.data.dtype)
    return float_format(name).smallest_normal if name in FLOATS else 0.0


def _rounding(values: Doubles, layout: Layout) -> Doubles:
    """Return how far rounding may take a sound backend from values, and a few times more."""
    name = name_of(layout.data.dtype)
    if name not in FLOATS:
        return np.zeros(())
    fmt = float_format(name)
    size = np.maximum(np.abs(values), layout.expected.magnitude.reshape(layout.shape))
    return np.asarray(limits.ROUNDING * (fmt.unit * size + fmt.smallest))


def _same(got: Doubles, values: Doubles, right: Doubles, layout: Layout) -> Bools:
    """Say where values are the same but for rounding, which must be far less than what is wrong."""
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(got - values)
        near = (off <= _rounding(values, layout)) & (off <= np.abs(got - right) / limits.ROUNDING)
        return equal_numbers(got, values) | near


def _constants(pairs: Sequence[tuple[Sample, Layout]]) -> Iterator[Instead]:
    """Yield the value that all wrong elements have in common, if they have one."""
    sample, _ = pairs[0]
    assert sample.outputs is not None
    assert sample.wrong is not None
    yield _of_number(float(widen(sample.outputs[0])[sample.wrong][0]))
    yield from map(_of_end, _ENDS)


def constant(key: str) -> Instead | None:
    """Return what has a key, if it is one value for all elements of a type; else None."""
    for known in (*map(_of_end, _ENDS), *map(_of_number, _NUMBERS)):
        if key == known.key:
            return known
    number_in = re.fullmatch(r"the constant (\S+)", key)
    with suppress(ValueError):
        return _of_number(float(number_in[1])) if number_in else None
    return None


_NUMBERS = {0.0: "zero", np.inf: "infinity", -np.inf: "minus infinity", np.nan: "NaN"}
_ENDS = {"largest": 1.0, "lowest": -1.0}


def _of_number(value: float) -> Instead:
    named = "NaN" if np.isnan(value) else _NUMBERS.get(value, "")
    said = named or f"the constant {value:g}"
    key = named or f"the constant {value!r}"
    return Instead(said, lambda layout: np.full(layout.shape, value), constant=True, key=key)


def _of_end(name: str) -> Instead:
    said = f"the {name} number of the type"
    return Instead(said, lambda layout: _end(layout, _ENDS[name]), key=said)


def _end(layout: Layout, sign: float) -> Doubles:
    name = name_of(layout.data.dtype)
    if name in FLOATS:
        return np.full(layout.shape, sign * float_format(name).largest)
    ends = np.iinfo(layout.data.dtype)
    return np.full(layout.shape, float(ends.max if sign > 0 else ends.min))
