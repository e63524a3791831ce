"""Gradients by plain loops over exact fractions, written from what a gradient is alone.

The windows are those of the slow oracle of the forward operators; nothing is shared with the
package. Norms are computed to 120 decimal digits.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from support.oracle import Array, Exact, Window, exact_maximum, exact_mean, exact_value, plan

Cell = tuple[int, ...]
UNDEFINED = "undefined"
READINGS: dict[str, tuple[str, ...]] = {
    "gradient-of-ties": ("first", "last", "all", "shared"),
    "gradient-of-nan": ("first", "last", "undefined"),
    "gradient-of-infinity": ("alone", "spreads"),
}
"""The readings of gradients that this oracle knows, the default first."""
_DIGITS = 120


def output_shape(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> tuple[int, ...]:
    """Return the shape of the first output of a forward operator."""
    planned = plan(operator, inputs, attributes, readings)
    return (*inputs[0].shape[:2], *(len(windows) for windows in planned.axes))


def gradient_of(
    operator: str,
    gradient: Array,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> Array:
    """Return what each cell of the data gets, as an object array of exact values.

    A cell whose gradient is not defined has UNDEFINED. `operator` is the forward one; errors are
    those of `oracle`.
    """
    read = {clause: names[0] for clause, names in READINGS.items()}
    forward = {}
    for clause, reading in (readings or {}).items():
        (read if clause in read else forward)[clause] = reading
    planned = plan(operator, inputs, attributes, forward)
    data = inputs[0]
    given: dict[Cell, list[Any]] = {cell: [] for cell in itertools.product(*map(range, data.shape))}
    for index in itertools.product(*map(range, gradient.shape)):
        batch, channel, *place = index
        windows = [planned.axes[axis][i] for axis, i in enumerate(place)]
        cells = [
            (batch, channel, *cell) for cell in itertools.product(*(w.inside for w in windows))
        ]
        g = exact_value(gradient[index])
        if not cells:
            continue
        if planned.average:
            divisor = math.prod(planned.divisors(axis)[i] for axis, i in enumerate(place))
            for cell in cells:
                given[cell].append(_over(g, divisor))
        elif planned.exponent:
            whole = math.prod(window.whole for window in windows)
            weight = Fraction(whole, len(cells)) if planned.weighs_whole else Fraction(1)
            # "If the sum of all inputs to the power of p is zero, the gradient is set to zero."
            at_zero = Fraction(0) if operator.startswith("PyTorch-") else UNDEFINED
            _of_norm(given, data, cells, g, planned.exponent, weight, at_zero)
        else:
            _of_maximum(given, data, cells, windows, g, read)
    result = np.full(data.shape, None, object)
    for cell, terms in given.items():
        result[cell] = UNDEFINED if UNDEFINED in terms else exact_mean(terms, 1)
    return result


def _over(g: Exact, divisor: int) -> Exact:
    return g / divisor if isinstance(g, Fraction) else g


def _of_maximum(
    given: dict[Cell, list[Any]],
    data: Array,
    cells: list[Cell],
    windows: list[Window],
    g: Exact,
    read: Mapping[str, str],
) -> None:
    values = [exact_value(data[cell]) for cell in cells]
    maximum = exact_maximum(values)
    tied = [cell for cell, value in zip(cells, values, strict=True) if value == maximum]
    clause = "gradient-of-nan" if maximum == "nan" else "gradient-of-ties"
    chosen = {"first": tied[:1], "last": tied[-1:]}.get(read[clause], tied)
    for cell in chosen:
        given[cell].append(_over(g, len(chosen) if read[clause] == "shared" else 1))
    reaches_out = any(len(window.inside) < window.whole for window in windows)
    if read[clause] == UNDEFINED or (maximum == "-inf" and reaches_out):
        lost = cells
    elif read["gradient-of-infinity"] == "spreads" and not isinstance(g, Fraction):
        lost = [cell for cell in cells if cell not in chosen]
    else:
        lost = []
    for cell in lost:
        given[cell].append(UNDEFINED)


def _of_norm(
    given: dict[Cell, list[Any]],
    data: Array,
    cells: list[Cell],
    g: Exact,
    p: int,
    weight: Fraction,
    at_zero: Any,
) -> None:
    """Add the derivatives of the p-th root of a sum of powers times a weight."""
    values = [exact_value(data[cell]) for cell in cells]
    finite = [value for value in values if isinstance(value, Fraction)]
    known = len(finite) == len(values) and isinstance(g, Fraction)
    for cell, x in zip(cells, values, strict=True):
        if known and not any(finite):
            given[cell].append(at_zero)
            continue
        if not known or (p == 1 and x == 0):
            given[cell].append(UNDEFINED)
            continue
        assert isinstance(x, Fraction)
        assert isinstance(g, Fraction)
        sign = (x > 0) - (x < 0)
        slope = weight * _ratio_to_norm(x, finite, p, weight) ** (p - 1) if x else 0
        given[cell].append(g * sign * slope)


def _ratio_to_norm(x: Fraction, values: Sequence[Fraction], p: int, weight: Fraction) -> Fraction:
    """Return |x| / N, exactly for p = 1, and else to 120 digits."""
    if p == 1:
        return Fraction(1)
    ratio = weight * sum((abs(value) / abs(x)) ** p for value in values)
    with localcontext(Context(prec=_DIGITS)):
        root = (Decimal(ratio.numerator) / Decimal(ratio.denominator)) ** (Decimal(-1) / p)
    return Fraction(root)
