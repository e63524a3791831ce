"""Faults of `divide` in how counts become a divisor, whatever the padding does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AVERAGES,
    INCLUDING,
    UNEVEN,
)
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Pads, Windows

Divide = Callable[[Params, Pads, Windows], Divisor]


def _after(change: Callable[[Divisor], Divisor]) -> StepWrap:
    """Change the right divisors."""
    return lambda divide: lambda params, pads, windows: change(divide(params, pads, windows))


def _combined(of: Callable[[list[axis.Positions]], list[axis.Positions]]) -> StepWrap:
    """Combine the right counts per axis in another way than their product."""

    def wrap(_divide: Divide) -> Divide:
        def other(params: Params, pads: Pads, windows: Windows) -> Divisor:
            frames = pads if params.include_pad else ((0, 0),) * len(pads)
            counts = [
                axis.cells_within(a, b, -begin, d + end)
                for a, b, d, (begin, end) in zip(
                    windows.start, windows.stop, params.sizes, frames, strict=True
                )
            ]
            return steps.outer(of(counts))

        return other

    return wrap


def _only(which: int) -> Callable[[list[axis.Positions]], list[axis.Positions]]:
    def keep(counts: list[axis.Positions]) -> list[axis.Positions]:
        kept = which % len(counts)
        return [c if i == kept else np.minimum(c, 1) for i, c in enumerate(counts)]

    return keep


def _sum_of_counts(divide: Divide) -> Divide:
    def summed(params: Params, pads: Pads, windows: Windows) -> Divisor:
        right = divide(params, pads, windows)
        counts = [b - a for a, b in zip(windows.start, windows.stop, strict=True)]
        total = np.zeros(right.shape, np.int64)
        for i, count in enumerate(counts):
            total += count.reshape([-1 if j == i else 1 for j in range(len(counts))])
        return np.where(right > 0, total, 0)

    return summed


def _one_for_all(pick: Callable[[Divisor], int]) -> StepWrap:
    return _after(lambda right: np.where(right > 0, pick(right), 0))


def _centre(right: Divisor) -> int:
    return int(right[tuple(n // 2 for n in right.shape)])


FAULTS: tuple[Fault, ...] = (
    Fault(
        "not-divided",
        "sums not divided",
        needs=AVERAGES,
        replaces={"divide": _after(lambda right: np.minimum(right, 1))},
    ),
    Fault(
        "divisor-one-more",
        "divisors one too large",
        needs=AVERAGES,
        replaces={"divide": _after(lambda right: np.where(right > 0, right + 1, 0))},
    ),
    Fault(
        "divisor-one-less",
        "divisors one too small",
        needs=AVERAGES,
        replaces={"divide": _after(lambda right: np.where(right > 1, right - 1, right))},
    ),
    Fault(
        "divisor-of-first",
        "the divisor of the first window used for all",
        needs=AVERAGES & UNEVEN,
        replaces={"divide": _one_for_all(lambda right: max(1, int(right.flat[0])))},
    ),
    Fault(
        "divisor-of-centre",
        "the divisor of the central window used for all",
        needs=AVERAGES & UNEVEN,
        replaces={"divide": _one_for_all(lambda right: max(1, _centre(right)))},
    ),
    Fault(
        "divisor-of-first-in-row",
        "the divisor of the first window of a row used for the row",
        needs=AVERAGES & UNEVEN,
        replaces={
            "divide": _after(lambda right: np.where(right > 0, np.maximum(right[..., :1], 1), 0))
        },
    ),
    Fault(
        "divisor-summed",
        "the counts of the axes added instead of multiplied",
        needs=AVERAGES,
        replaces={"divide": _sum_of_counts},
    ),
    Fault(
        "divisor-first-axis-only",
        "only the count of the first axis in the divisor",
        needs=AVERAGES,
        replaces={"divide": _combined(_only(0))},
    ),
    Fault(
        "divisor-last-axis-only",
        "only the count of the last axis in the divisor",
        needs=AVERAGES,
        replaces={"divide": _combined(_only(-1))},
    ),
    Fault(
        "divisor-without-first-axis",
        "the count of the first of three axes missing in the divisor",
        needs=AVERAGES,
        replaces={
            "divide": _combined(
                lambda counts: (
                    [np.minimum(counts[0], 1), *counts[1:]] if len(counts) > 2 else counts
                )
            )
        },
    ),
    Fault(
        "divisor-power-of-two",
        "divisors rounded up to a power of two",
        needs=AVERAGES,
        replaces={
            "divide": _after(
                lambda right: np.where(
                    right > 0, 2 ** np.ceil(np.log2(np.maximum(right, 1))).astype(np.int64), 0
                )
            )
        },
    ),
    Fault(
        "divisor-uint8",
        "divisors kept in eight bits",
        needs=AVERAGES,
        replaces={
            "divide": _after(lambda right: np.where(right > 0, np.maximum(right % 256, 1), 0))
        },
    ),
    Fault(
        "divisor-of-input",
        "sums divided by the cells of the whole input",
        needs=AVERAGES,
        replaces={
            "divide": lambda divide: (
                lambda params, pads, windows: np.where(
                    divide(params, pads, windows) > 0, int(np.prod(params.sizes)), 0
                )
            )
        },
    ),
    Fault(
        "divisor-of-last",
        "the divisor of the last window used for all",
        needs=INCLUDING,
        replaces={"divide": _one_for_all(lambda right: max(1, int(right.flat[-1])))},
    ),
    Fault(
        "divisor-smallest",
        "the smallest divisor of all used everywhere",
        needs=INCLUDING,
        replaces={"divide": _one_for_all(lambda right: max(1, int(right.min())))},
    ),
)
