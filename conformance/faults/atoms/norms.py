"""How norms are computed: what of a cell is added, what is done to the sum, and the exponent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms import lists
from conformance.faults.atoms.window_cells import Reduce, in_doubles, is_small
from conformance.faults.behaviour import NORMS, Behaviour
from conformance.faults.wraps import after, instead
from conformance.operators import pipeline as steps
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered
from conformance.reference.rounding import narrow
from conformance.vector import Array


class Power(NamedTuple):
    """What is added: words, and from cells and p what each adds."""

    words: str
    of: Callable[[Array, int], Array]


class Root(NamedTuple):
    """What is made of the sum: words with {} in its place, and values from sums, p and windows."""

    words: str
    of: Callable[[Array, int, Gathered], Array]


def root(sums: Array, p: int, _gathered: Gathered) -> Array:
    """Return p-th roots."""
    roots: Array = sums ** (1.0 / p)
    return roots


def _cells_in_input(gathered: Gathered) -> Array:
    """Return how many cells of the input each window has, at least 1."""
    return np.maximum(steps.outer(gathered.windows.inside(gathered.params.sizes)), 1)


def _cells(gathered: Gathered) -> Array:
    return steps.outer(gathered.windows.lengths)


def _of(words: str, change: Callable[[Array, Gathered], Array]) -> Root:
    """Take the p-th root of changed sums."""
    return Root(words, lambda sums, p, given: root(change(sums, given), p, given))


def plus(epsilon: float) -> Root:
    """Add a number to sums."""
    return _of(f"the p-th root of {{}} and {epsilon:g}", lambda sums, _: sums + epsilon)


MAGNITUDES = Power("magnitudes to the power of p", lambda cells, p: np.abs(cells) ** p)
SIGNED = Power("cells to the power of p, with their sign", lambda cells, p: cells**p)
NO_POWERS = Power("magnitudes", lambda cells, _: np.abs(cells))
SQUARES = Power("squares", lambda cells, _: cells * cells)
CELLS = Power("cells", lambda cells, _: cells)
POWERS = (MAGNITUDES, SIGNED, NO_POWERS, SQUARES, CELLS)
ROOT = Root("the p-th root of {}", root)
NO_ROOT = Root("{}", lambda sums, _p, _: sums)
MAGNITUDE = Root("the magnitude of {}", lambda sums, _p, _: np.abs(sums))
SQUARE_ROOT = Root("the square root of {}", lambda sums, _p, _: np.sqrt(sums))
ROOT_IN_INTEGERS = Root("{} to the power of 1 // p", lambda sums, p, _: sums ** (1 // p))
NEXT_ROOT = Root("the (p + 1)-th root of {}", lambda sums, p, _: sums ** (1.0 / (p + 1)))
ROOT_WITH_SIGN = Root(
    "the p-th root of {}, with its sign",
    lambda sums, p, given: np.sign(sums) * root(np.abs(sums), p, given),
)
ROOT_OR_ZERO = _of(
    "the p-th root of {}, or 0 if that is negative", lambda sums, _: np.maximum(sums, 0.0)
)
ROOT_OF_MAGNITUDE = _of("the p-th root of the magnitude of {}", lambda sums, _: np.abs(sums))
OF_MEAN = _of(
    "the p-th root of {} over the cells of the input",
    lambda sums, given: sums / _cells_in_input(given),
)
OF_MEAN_OVER_KERNEL = _of(
    "the p-th root of {} over all cells of the window", lambda sums, given: sums / _cells(given)
)
OF_MEAN_TIMES_KERNEL = _of(
    "the p-th root of {} over the cells of the input times all cells of the window",
    lambda sums, given: sums / _cells_in_input(given) * _cells(given),
)
OF_PADDING_AS_ONE = _of(
    "the p-th root of {} and 1 for each cell beyond the input",
    lambda sums, given: (
        sums + _cells(given) - steps.outer(given.windows.inside(given.params.sizes))
    ),
)
DIVIDED = Root(
    "the p-th root of {}, divided by the cells of the input",
    lambda sums, p, given: root(sums, p, given) / _cells_in_input(given),
)
ROOTS = (
    ROOT,
    NO_ROOT,
    MAGNITUDE,
    SQUARE_ROOT,
    ROOT_IN_INTEGERS,
    NEXT_ROOT,
    ROOT_WITH_SIGN,
    ROOT_OR_ZERO,
    ROOT_OF_MAGNITUDE,
    OF_MEAN,
    OF_MEAN_OVER_KERNEL,
    OF_MEAN_TIMES_KERNEL,
    OF_PADDING_AS_ONE,
    DIVIDED,
    *map(plus, (1e-5, 1e-6, 1e-12)),
)
EXPONENTS = (
    *(lists.each(str(value), lambda _, value=value: value) for value in (1, 2, 3)),  # type: ignore[misc]
    *(atom for atom in lists.OF_NUMBERS if atom.words not in {"0", "1"}),
    *map(lists.at_most_number, (2, 3, 4, 8)),
)


def computed(power: Power, of_sum: Root) -> StepWrap:
    """Add what cells give and make a value of the sum, all in doubles."""

    def norm(reduce: Reduce, gathered: Gathered, divisor: Divisor) -> Array:
        if not is_small(gathered):
            return reduce(gathered, divisor)
        p, taps = gathered.params.exponent, in_doubles(gathered)
        given = np.where(taps.is_cell, power.of(taps.cells, p), 0.0)
        sums = given.sum(axis=2).reshape(taps.shape)
        return narrow(of_sum.of(sums, p, gathered), name_of(gathered.data.dtype))

    return instead(norm)


def with_exponent(atom: lists.Atom) -> StepWrap:
    """Read another exponent, for every step."""

    def change(params: Params, _given: Params) -> Params:
        (exponent,) = atom.of({"exponent": (params.exponent,)}, "exponent")
        return replace(params, exponent=exponent)

    return after(change)


def in_words(power: Power, of_sum: Root) -> str:
    """Return how norms are made, to be put after "norms were"."""
    return of_sum.words.format(f"the sum of {power.words}")


# Wrong behaviours --------------------------------------------------------------------------------


def norm(power: Power = MAGNITUDES, of_sum: Root = ROOT, *, needs: Needs = NORMS) -> Behaviour:
    """Compute norms in another way."""
    said = f"as if norms were {in_words(power, of_sum)}"
    return Behaviour(said, needs, {"reduce": computed(power, of_sum)})


def exponent(atom: lists.Atom) -> Behaviour:
    """Take norms of another exponent."""
    return Behaviour(f"p taken as {atom.words}", NORMS, {"resolve": with_exponent(atom)})
