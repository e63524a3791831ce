"""The rest of the arithmetic, by elimination: which ways compute exactly what was returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.dtypes import WIDE_FLOATS, dtype_of, float_format
from conformance.reference.rounding import widen
from conformance.reveal.calls import WindowCalls
from conformance.reveal.trees import Additions
from conformance.reveal.values import Evidence, Property
from conformance.reveal.ways import (
    BEFORE_SUM,
    DIVISIONS,
    FLUSHES,
    NARROWINGS,
    PROPERTIES,
    Divisor,
    Way,
    average,
    averages,
    ways,
)
from conformance.vector import Array

Bools = npt.NDArray[np.bool_]

_KINDS = 64
"""Windows of each kind of data; at least."""
_TRIED_FIRST = 24


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """Windows (count, n) with what a backend returned, (count,), and the tree they are summed by.

    The last `tiny` of them hold numbers near the smallest ones.
    """

    kernel: tuple[int, ...]
    windows: Array
    returned: Array
    additions: Additions
    tiny: int = _KINDS

    @property
    def divisor(self) -> Divisor:
        """The cells of a window."""
        return Divisor(self.windows.shape[-1], self.kernel)

    def part(self, rows: slice) -> Probes:
        """Return some of the windows, none of them tiny."""
        return replace(self, windows=self.windows[rows], returned=self.returned[rows], tiny=0)


def probe(calls: WindowCalls, additions: Additions) -> Probes:
    """Call a backend with windows on which ways differ; raises NoAnswer."""
    count = -(-_KINDS // calls.places) * calls.places
    kinds = [kind.astype(dtype_of(calls.dtype)) for kind in _kinds(calls.dtype, count, calls.cells)]
    windows = np.concatenate(kinds)
    return Probes(calls.window.kernel, windows, calls.outputs(windows)[0], additions, count)


def _kinds(dtype: str, count: int, n: int) -> Iterator[Array]:
    """Yield windows of each kind, (count, n) each, the tiny ones last."""
    fmt, shape = float_format(dtype), (count, n)
    random = np.random.default_rng(0)

    def numbers(low: int, high: int) -> Array:
        """Return numbers of 2^low to 2^high in magnitude, and of either sign."""
        signs = random.choice([-1.0, 1.0], shape)
        return signs * np.ldexp(1 + random.random(shape), random.integers(low, high, shape))

    yield numbers(-1, 2)
    # half an integer for a tie: the sum of integers over a power of two
    yield random.integers(-(2**fmt.precision), 2**fmt.precision, shape).astype(np.float64)
    yield numbers(-8, 4)
    # cancellation: what is left of the small ones says how many bits a sum has
    windows = numbers(-8, 1)
    if n > 1:
        rows, places = np.arange(count), random.permuted(np.tile(np.arange(n), (count, 1)), axis=1)
        most = 12 if dtype == "float16" else 60
        large = np.ldexp(1 + random.random(count), random.integers(2, most, count))
        windows[rows, places[:, 0]], windows[rows, places[:, 1]] = large, -large
    yield windows
    steps = random.integers(-(2 ** (fmt.precision - 1)), 2 ** (fmt.precision - 1), shape)
    tiny = steps * fmt.smallest * 2.0 ** random.integers(0, 4, shape)
    lone = random.random(shape) < 1 / 3
    lone[random.integers(0, 2, count) == 0] = True
    yield np.where(lone, tiny, 0.0)


def every_way(dtype: str) -> list[Way]:
    """Return every way for an element type, with each way to flush."""
    return [replace(way, subnormals=mode) for way in ways(dtype) for mode in FLUSHES]


def fitting_ways(probes: Probes, candidates: Sequence[Way]) -> list[Way]:
    """Return the ways that compute what was returned, bit for bit but for the sign of zeros.

    Where tiny windows fit no way of flushing, the ways that fit all others have their subnormals
    "unexplained".
    """
    ordinary = len(probes.windows) - probes.tiny
    plain = list(dict.fromkeys(_kept(way) for way in candidates))
    plain = _fitting(probes.part(slice(0, ordinary, max(1, ordinary // _TRIED_FIRST))), plain)
    plain = _fitting(probes.part(slice(0, ordinary)), plain)
    left = [way for way in candidates if _kept(way) in plain and way.subnormals in FLUSHES]
    left = _fitting(probes.part(slice(ordinary, None)), left)
    return left or [replace(way, subnormals="unexplained") for way in plain]


def _kept(way: Way) -> Way:
    return replace(way, subnormals="kept")


def _fitting(probes: Probes, candidates: Sequence[Way]) -> list[Way]:
    computed = averages(probes.windows, probes.divisor, probes.additions, [*candidates])
    return [way for way, values in computed if equal(values, probes.returned).all()]


def equal(a: Array, b: Array) -> Bools:
    """Say where two arrays are equal, bit for bit but for the sign of zeros and the kind of NaN."""
    same: Bools = (a == b) | ((a != a) & (b != b))  # noqa: PLR0124 - of bfloat16, too
    return same


def properties_of(left: Sequence[Way], every: Sequence[Probes]) -> dict[str, Property]:
    """Return the properties of the plainest way that is left, with evidence against other values.

    Values of ways that differ from it in one property alone, and are left too, stand after its own.
    """
    chosen = left[0]
    found = {}
    for name in PROPERTIES:
        rivals = [*_rivals(chosen, name)]
        values = [chosen, *(rival for rival in rivals if rival in left)]
        pieces = [_evidence_against(rival, name, every) for rival in rivals if rival not in left]
        found[name] = Property(
            tuple(getattr(way, name) for way in values),
            tuple(piece for piece in pieces if piece is not None),
        )
    return found


def _rivals(way: Way, name: str) -> Iterator[Way]:
    """Yield the ways that differ from one in a property.

    Where sums and the quotient have one format, the quotient changes with the sums.
    """
    formats = tuple(reversed(WIDE_FLOATS))
    values = {
        "sums": formats,
        "quotient": formats,
        "division": DIVISIONS,
        "narrowing": NARROWINGS,
        "subnormals": FLUSHES,
    }[name]
    for value in values:
        if value == getattr(way, name):
            continue
        changed: dict[str, Any] = {name: value}
        rival = replace(way, **changed)
        together = name == "sums" or way.division in BEFORE_SUM
        if name in {"sums", "quotient"} and together and way.sums == way.quotient:
            rival = replace(way, sums=value, quotient=value)
        if not (rival.division == "fused multiply-add" and rival.sums == "float64"):
            yield rival


def _evidence_against(rival: Way, name: str, every: Sequence[Probes]) -> Evidence | None:
    """Return the window of the fewest cells on which a rival is wrong; None if there is none."""
    for probes in sorted(every, key=lambda probes: probes.windows.shape[-1]):
        values = average(probes.windows, probes.divisor, probes.additions, rival)
        usual = len(values) - (0 if name == "subnormals" else probes.tiny)
        wrong = np.flatnonzero(~equal(values, probes.returned)[:usual])
        if len(wrong):
            # the one with the fewest digits, roughly: a reader may want to do the sum
            row = min(wrong.tolist(), key=lambda row: len(str(probes.windows[row].tolist())))
            return Evidence(
                probes.kernel,
                tuple(widen(probes.windows[row]).tolist()),
                widen(probes.returned[row]).item(),
                str(getattr(rival, name)),
                widen(values[row]).item(),
            )
    return None
