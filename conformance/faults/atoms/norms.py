"""How norms are computed: what of a cell is added, what is done to the sum, and the exponent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import product

import numpy as np

from conformance.dtypes import dtype_of, name_of
from conformance.faults.atoms import lists
from conformance.faults.atoms.atom import Atom
from conformance.faults.atoms.gradients import type_of, with_terms
from conformance.faults.atoms.window_cells import Taps, computed
from conformance.faults.atoms.windows import EVERY_AXIS, FIRST_AXIS, LAST_AXIS
from conformance.faults.concerns import NORMS
from conformance.faults.fault import IN_GRADIENT, Fault
from conformance.operators import pipeline as steps
from conformance.operators.needs import GRADIENTS_OF_NORMS
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.operators.wraps import after
from conformance.reference.gradient import Shares
from conformance.reference.rounding import Doubles, narrow, widen
from conformance.vector import Array

Power = Atom[Callable[[Array, int], Array]]
"""What is added: words, and from cells and p what each adds."""
Root = Atom[Callable[[Array, int, Gathered], Array]]
"""What is made of the sum: words with {} in its place, and values from sums, p and windows."""

Weight = Callable[[Gathered], Array]
"""A factor for the sum of each window, (o1..or)."""


def _root(sums: Array, p: int, _gathered: Gathered) -> Array:
    roots: Array = sums ** (1.0 / p)
    return roots


Counts = Callable[[Gathered], Sequence[Divisor]]
"""How many cells of each window count, per spatial axis."""


def _cells(gathered: Gathered) -> Array:
    return steps.outer(gathered.windows.lengths)


def _inside(gathered: Gathered) -> Sequence[Divisor]:
    return gathered.windows.inside(gathered.params.sizes)


def _cells_in_input(gathered: Gathered) -> Array:
    """Return how many cells of the input each window has, at least 1."""
    return np.maximum(steps.outer(_inside(gathered)), 1)


def _inside_padded(gathered: Gathered) -> Sequence[Divisor]:
    """Count all cells but for the overhang of pads that are given."""
    params = gathered.params
    if params.auto_pad != "explicit":
        return gathered.windows.lengths
    pads = tuple(zip(params.pads_begin, params.pads_end, strict=True))
    return steps.counted(replace(params, include_pad=True), pads, gathered.windows)


def _of_whole_windows(counts: Counts, axes: slice, gathered: Gathered) -> Array:
    """Return by how much more cells windows have than those that count, along some axes."""
    along = zip(gathered.windows.lengths, counts(gathered), strict=True)
    factors = [length / np.maximum(count, 1) for length, count in along]
    chosen = range(len(factors))[axes]
    kept = [f if i in chosen else np.ones_like(f) for i, f in enumerate(factors)]
    return reduce(np.multiply.outer, kept)


def _of(words: str, change: Callable[[Array, Gathered], Array]) -> Root:
    return Root(words, lambda sums, p, given: _root(change(sums, given), p, given))


def _weighted(weight: Atom[Weight]) -> Root:
    """Take the p-th root of sums times a weight of their windows."""
    words = f"the p-th root of {{}} {weight.words}"
    return _of(words, lambda sums, given: sums * weight.of(given))


def _plus(epsilon: float) -> Root:
    return _of(f"the p-th root of {{}} and {epsilon:g}", lambda sums, _: sums + epsilon)


_WEIGHTS: tuple[Atom[Weight], ...] = (
    Atom("over the cells of the input", lambda given: 1.0 / _cells_in_input(given)),
    Atom("over all cells of the window", lambda given: 1.0 / _cells(given)),
    *(
        Atom[Weight](
            f"over the cells of the {what} times all cells of the window{axes.words}",
            partial(_of_whole_windows, counts, axes.of),
        )
        for what, counts in (("input", _inside), ("padded input", _inside_padded))
        for axes in (EVERY_AXIS, FIRST_AXIS, LAST_AXIS)
    ),
)
_MAGNITUDES = Power("magnitudes to the power of p", lambda cells, p: np.abs(cells) ** p)
_POWERS = (
    _MAGNITUDES,
    Power("cells to the power of p, with their sign", lambda cells, p: cells**p),
    Power("magnitudes", lambda cells, _: np.abs(cells)),
    Power("squares", lambda cells, _: cells * cells),
    Power("cells", lambda cells, _: cells),
    Power("squares to the power of p // 2", lambda cells, p: (cells * cells) ** (p // 2)),
)
_ROOT: Root = Root("the p-th root of {}", _root)
_ROOTS: tuple[Root, ...] = (
    _ROOT,
    Root("{}", lambda sums, _p, _: sums),
    Root("the magnitude of {}", lambda sums, _p, _: np.abs(sums)),
    Root("the square root of {}", lambda sums, _p, _: np.sqrt(sums)),
    Root("{} to the power of 1 // p", lambda sums, p, _: sums ** (1 // p)),
    Root("the (p + 1)-th root of {}", lambda sums, p, _: sums ** (1.0 / (p + 1))),
    Root(
        "the p-th root of {}, with its sign",
        lambda sums, p, given: np.sign(sums) * _root(np.abs(sums), p, given),
    ),
    _of("the p-th root of {}, or 0 if that is negative", lambda sums, _: np.maximum(sums, 0.0)),
    _of("the p-th root of the magnitude of {}", lambda sums, _: np.abs(sums)),
    *map(_weighted, _WEIGHTS),
    _of(
        "the p-th root of {} and 1 for each cell beyond the input",
        lambda sums, given: sums + _cells(given) - steps.outer(_inside(given)),
    ),
    Root(
        "the p-th root of {}, divided by the cells of the input",
        lambda sums, p, given: _root(sums, p, given) / _cells_in_input(given),
    ),
    *map(_plus, (1e-5, 1e-6, 1e-8, 1e-10, 1e-12)),
)
_EXPONENTS = (
    lists.each("at least 2", lambda p: max(p, 2)),
    lists.each("rounded up to a power of two", lambda p: 1 << max(p - 1, 0).bit_length()),
    *map(lists.number, (1, 2, 3)),
    *(atom for atom in lists.OF_NUMBERS if atom.words not in {"0", "1"}),
    *map(lists.at_most_number, (2, 3, 4, 8)),
)


def _norm(power: Power, root: Root, taps: Taps) -> Doubles:
    """Add what cells give and make a value of the sum."""
    p = taps.gathered.params.exponent
    return root.of(taps.reduced(np.add, power.of(taps.cells, p), 0.0), p, taps.gathered)


def _kept_in(kind: str, taps: Taps) -> Doubles:
    """Keep powers and their sum in a type, in which they are added one after the other."""
    p = taps.gathered.params.exponent
    powers = np.abs(taps.cells.astype(dtype_of(kind))) ** p
    sums = taps.windows._replace(cells=powers).fold(np.zeros((), dtype_of(kind)), np.add)
    return _root(widen(sums), p, taps.gathered)


def _with_exponent(of: Callable[..., tuple[int, ...]], params: Params, _given: Params) -> Params:
    (exponent,) = of({"exponent": (params.exponent,)}, "exponent")
    return replace(params, exponent=exponent)


def _gradient_of(weight: Weight, shares: Shares, gathered: Gathered) -> Shares:
    """Take the gradients of norms whose sums have a weight."""
    factors = weight(gathered) ** (1.0 / gathered.params.exponent)
    values = widen(shares.values) * factors.ravel()[shares.windows]
    return replace(shares, values=narrow(values, type_of(shares)))


def _times_powers(right: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Multiply what each cell gets by p times its power: nothing times infinity is NaN."""
    p = gathered.params.exponent
    powers = p * np.abs(widen(gathered.data)) ** (p - 1)
    is_finite = np.isfinite(widen(narrow(powers, name_of(right.dtype))))
    return np.where(is_finite, right, right.dtype.type(np.nan))


# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield other exponents, what norms add, and what is made of the sum."""
    for exponent in _EXPONENTS:
        resolve = after(_with_exponent, exponent.of)
        yield Fault(f"p taken as {exponent.words}", NORMS, {"resolve": resolve})
    for power, root in product(_POWERS, _ROOTS):
        if (power, root) != (_MAGNITUDES, _ROOT):
            said = root.words.format(f"the sum of {power.words}")
            yield Fault(f"norms are {said}", NORMS, {"reduce": computed(_norm, power, root)})
    said = f"{IN_GRADIENT.words}norms are {_ROOT.words.format(f'the sum of {_MAGNITUDES.words}')}"
    for weight in _WEIGHTS:
        wrap = with_terms(partial(_gradient_of, weight.of))
        yield Fault(f"{said} {weight.words}", GRADIENTS_OF_NORMS, {"reduce": wrap})
    said = "what a cell gets is multiplied by p times its power, NaN if that is not finite"
    yield Fault(said, GRADIENTS_OF_NORMS, {"reduce": after(_times_powers)})
    for kind in ("float16", "bfloat16", "float32"):
        said = f"powers and their sums are kept in {kind}"
        yield Fault(said, NORMS, {"reduce": computed(_kept_in, kind)})
