"""Faults of `divide`: sums are right, what they are divided by is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from conformance.faults.common import (
    AVERAGES,
    AXIS_SLIPS,
    INCLUDING,
    Change,
    Seen,
    changed,
    remember,
    seeing,
    seeing_pads,
)
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clauses import StepWrap
from conformance.operators.pipeline import Divisor, Gathered, Pads, Params, Windows
from conformance.vector import Array

Divide = Callable[[Params, Pads, Windows], Divisor]
Counts = Sequence[axis.Positions]


def _after(change: Callable[[Divisor], Divisor]) -> StepWrap:
    """Change the right divisors."""
    return lambda divide: lambda params, pads, windows: change(divide(params, pads, windows))


def _whole(windows: Windows) -> Counts:
    return [b - a for a, b in zip(windows.start, windows.stop, strict=True)]


def _inside(params: Params, windows: Windows) -> Counts:
    return [
        axis.cells_within(a, b, 0, d)
        for a, b, d in zip(windows.start, windows.stop, params.sizes, strict=True)
    ]


def _where(
    condition: Callable[[Params, Pads, Windows], bool],
    counts: Callable[[Params, Windows], Counts],
) -> StepWrap:
    """Replace the divisor where a condition holds, by a product of counts per axis."""

    def wrap(divide: Divide) -> Divide:
        def other(params: Params, pads: Pads, windows: Windows) -> Divisor:
            if not condition(params, pads, windows):
                return divide(params, pads, windows)
            return steps.outer(counts(params, windows))

        return other

    return wrap


def _padded(pads: Pads) -> bool:
    return any(map(any, pads))


def _of_other_windows(change: Change, pads_change: Callable[[Pads], Pads] = lambda p: p) -> StepWrap:
    """Count the cells of windows laid out from changed parameters and pads."""

    def wrap(divide: Divide) -> Divide:
        def other(params: Params, pads: Pads, windows: Windows) -> Divisor:
            wrong, frame = change(params), pads_change(pads)
            extent = tuple(len(a) for a in windows.start)
            return divide(wrong, frame, steps.slide(wrong, frame, extent))

        return other

    return wrap


def _all_reversed(params: Params) -> Params:
    # The sizes stay: only the attributes are walked in the wrong order.
    return replace(params, kernel=params.kernel[::-1], strides=params.strides[::-1])


def _rescaled_borders(params: Params, windows: Windows) -> Counts:
    """Correct only the first and last window of an axis for padding."""
    counts = []
    for inside, whole in zip(_inside(params, windows), _whole(windows), strict=True):
        count = whole.copy()
        count[0], count[-1] = inside[0], inside[-1]
        counts.append(count)
    return counts


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
        counts = _whole(windows)
        total = np.zeros(right.shape, np.int64)
        for i, count in enumerate(counts):
            total += count.reshape([-1 if j == i else 1 for j in range(len(counts))])
        return np.where(right > 0, total, 0)

    return summed


def _one_for_all(pick: Callable[[Divisor], int]) -> StepWrap:
    return _after(lambda right: np.where(right > 0, pick(right), 0))


def _centre(right: Divisor) -> int:
    return int(right[tuple(n // 2 for n in right.shape)])


def _frame_of_next_axis(pads: Pads) -> Pads:
    """End an axis's frame with a pad of another: that of the next axis's begin."""
    begins = [begin for begin, _ in pads]
    return tuple(
        (begin, [*begins[1:], end][i] if i < len(pads) - 1 else end)
        for i, (begin, end) in enumerate(pads)
    )


def _integer_quotient(reduce: Callable[..., Array]) -> Callable[..., Array]:
    """Divide by the whole kernel, then scale by an integer quotient."""

    def scaled(gathered: Gathered, divisor: Divisor) -> Array:
        if not isinstance(gathered, Seen) or gathered.params.include_pad:
            return reduce(gathered, divisor)
        whole = steps.outer(_whole(gathered.windows))
        quotient = whole // np.maximum(divisor, 1)
        right = reduce(gathered, whole)
        return (right * quotient.astype(right.dtype)).astype(right.dtype)

    return scaled


def _whole_kernel_in_blocks(reduce: Callable[..., Array]) -> Callable[..., Array]:
    """Count the overhang where a multiple of eight channels selects the blocked kernel."""

    def blocked(gathered: Gathered, divisor: Divisor) -> Array:
        if (
            isinstance(gathered, Seen)
            and gathered.params.include_pad
            and gathered.data.shape[1] % 8 == 0
        ):
            return reduce(gathered, steps.outer(_whole(gathered.windows)))
        return reduce(gathered, divisor)

    return blocked


_INCLUDING: dict[str, tuple[str, StepWrap, tuple[str, ...]]] = {
    "divisor-whole-kernel": (
        "every sum divided by the whole kernel",
        _where(lambda *_: True, lambda _, w: _whole(w)),
        (),
    ),
    "divisor-whole-kernel-if-included": (
        "the overhang of ceil counted in the divisor like padding",
        _where(lambda p, *_: p.include_pad, lambda _, w: _whole(w)),
        ("div_full_kernel_on_overhang",),
    ),
    "divisor-whole-kernel-without-pads": (
        "the overhang of ceil counted in the divisor where there is no padding",
        _where(lambda p, pads, _: p.include_pad and not _padded(pads), lambda _, w: _whole(w)),
        (),
    ),
    "divisor-whole-kernel-if-excluded": (
        "the whole kernel as divisor exactly where padding is to be left out",
        _where(lambda p, *_: not p.include_pad, lambda _, w: _whole(w)),
        (),
    ),
    "exclude-pad-ignored-with-same": (
        "the padding of same_* counted in the divisor though it is to be excluded",
        seeing(lambda p: replace(p, include_pad=True) if p.same else p),
        (),
    ),
    "include-pad-ignored-with-same": (
        "the padding of same_* left out of the divisor though it is to be included",
        seeing(lambda p: replace(p, include_pad=False) if p.same else p),
        (),
    ),
    "include-pad-ignored-with-ceil": (
        "padding left out of the divisor with rounding_type=ceil",
        seeing(lambda p: replace(p, include_pad=p.include_pad and not p.ceil)),
        (),
    ),
    "exclude-pad-for-begin-only": (
        "only begin pads left out of the divisor",
        _where(
            lambda p, *_: not p.include_pad,
            lambda _, w: [
                np.minimum(b - np.maximum(a, 0), b - a)
                for a, b in zip(w.start, w.stop, strict=True)
            ],
        ),
        (),
    ),
    "exclude-pad-for-end-only": (
        "only end pads left out of the divisor",
        _where(
            lambda p, *_: not p.include_pad,
            lambda p, w: [
                np.maximum(np.minimum(b, d) - a, 0)
                for a, b, d in zip(w.start, w.stop, p.sizes, strict=True)
            ],
        ),
        (),
    ),
    "divisor-border-rescaled": (
        "only the first and last window of an axis corrected for padding",
        _where(lambda *_: True, _rescaled_borders),
        ("border_rescale_first_last_only",),
    ),
    "divisor-pads-reversed": (
        "pads taken in reverse axis order in the divisor",
        seeing_pads(lambda pads: pads[::-1]),
        (),
    ),
    "divisor-pads-swapped": (
        "begin pads in place of end pads in the divisor",
        seeing_pads(lambda pads: tuple((end, begin) for begin, end in pads)),
        (),
    ),
    "divisor-pads-begin-for-both": (
        "begin pads used at both ends in the divisor",
        seeing_pads(lambda pads: tuple((begin, begin) for begin, _ in pads)),
        (),
    ),
    "divisor-pads-end-for-both": (
        "end pads used at both ends in the divisor",
        seeing_pads(lambda pads: tuple((end, end) for _, end in pads)),
        (),
    ),
    "divisor-pads-first-for-all": (
        "pads of the first axis used for every axis in the divisor",
        seeing_pads(lambda pads: pads[:1] * len(pads)),
        (),
    ),
    "divisor-pads-last-for-all": (
        "pads of the last axis used for every axis in the divisor",
        seeing_pads(lambda pads: pads[-1:] * len(pads)),
        (),
    ),
    "divisor-pads-of-next-axis": (
        "the begin pad of the next axis in place of an end pad in the divisor",
        seeing_pads(_frame_of_next_axis),
        ("divisor_pad_index_wrong",),
    ),
    "divisor-without-end-pads": (
        "end pads never counted in the divisor",
        seeing_pads(lambda pads: tuple((begin, 0) for begin, _ in pads)),
        (),
    ),
    "divisor-without-begin-pads": (
        "begin pads never counted in the divisor",
        seeing_pads(lambda pads: tuple((0, end) for _, end in pads)),
        (),
    ),
    "divisor-end-pad-one-more": (
        "one cell too many of the end padding counted in the divisor",
        seeing_pads(lambda pads: tuple((begin, end + 1) for begin, end in pads)),
        (),
    ),
    "divisor-axes-reversed": (
        "kernel, strides and pads taken in reverse axis order in the divisor",
        _of_other_windows(_all_reversed, lambda pads: pads[::-1]),
        ("divisor_axes_reversed",),
    ),
    "divisor-of-kernel-as-strides": (
        "the strides in place of the kernel in the divisor",
        _of_other_windows(lambda p: replace(p, kernel=p.strides)),
        (),
    ),
    "divisor-of-windows-a-kernel-apart": (
        "the kernel in place of the strides in the divisor",
        _of_other_windows(lambda p: replace(p, strides=p.kernel)),
        (),
    ),
}
_INCLUDING |= {
    f"divisor-{field}-{slip.name}": (
        f"{field} {slip.words} in the divisor",
        _of_other_windows(changed(field, slip.of)),
        (),
    )
    for field in ("kernel", "strides")
    for slip in AXIS_SLIPS
}

_AVERAGES: dict[str, tuple[str, StepWrap, tuple[str, ...]]] = {
    "not-divided": (
        "sums not divided",
        _after(lambda right: np.minimum(right, 1)),
        (),
    ),
    "divisor-one-more": (
        "divisors one too large",
        _after(lambda right: np.where(right > 0, right + 1, 0)),
        (),
    ),
    "divisor-one-less": (
        "divisors one too small",
        _after(lambda right: np.where(right > 1, right - 1, right)),
        (),
    ),
    "divisor-of-first": (
        "the divisor of the first window used for all",
        _one_for_all(lambda right: max(1, int(right.flat[0]))),
        (),
    ),
    "divisor-of-last": (
        "the divisor of the last window used for all",
        _one_for_all(lambda right: max(1, int(right.flat[-1]))),
        (),
    ),
    "divisor-of-centre": (
        "the divisor of the central window used for all",
        _one_for_all(lambda right: max(1, _centre(right))),
        (),
    ),
    "divisor-of-first-in-row": (
        "the divisor of the first window of a row used for the row",
        _after(lambda right: np.where(right > 0, np.maximum(right[..., :1], 1), 0)),
        (),
    ),
    "divisor-smallest": (
        "the smallest divisor of all used everywhere",
        _one_for_all(lambda right: max(1, int(right.min()))),
        (),
    ),
    "divisor-summed": (
        "the counts of the axes added instead of multiplied",
        _sum_of_counts,
        (),
    ),
    "divisor-first-axis-only": (
        "only the count of the first axis in the divisor",
        _combined(_only(0)),
        (),
    ),
    "divisor-last-axis-only": (
        "only the count of the last axis in the divisor",
        _combined(_only(-1)),
        (),
    ),
    "divisor-without-first-axis": (
        "the count of the first of three axes missing in the divisor",
        _combined(lambda counts: [np.minimum(counts[0], 1), *counts[1:]] if len(counts) > 2 else counts),
        (),
    ),
    "divisor-power-of-two": (
        "divisors rounded up to a power of two",
        _after(
            lambda right: np.where(
                right > 0, 2 ** np.ceil(np.log2(np.maximum(right, 1))).astype(np.int64), 0
            )
        ),
        (),
    ),
    "divisor-uint8": (
        "divisors kept in eight bits",
        _after(lambda right: np.where(right > 0, np.maximum(right % 256, 1), 0)),
        (),
    ),
    "divisor-of-input": (
        "sums divided by the cells of the whole input",
        lambda divide: lambda params, pads, windows: np.where(
            divide(params, pads, windows) > 0, int(np.prod(params.sizes)), 0
        ),
        (),
    ),
}

FAULTS: tuple[Fault, ...] = (
    *(
        Fault(name, words, INCLUDING, {"divide": wrap}, bugs)
        for name, (words, wrap, bugs) in _INCLUDING.items()
    ),
    *(
        Fault(name, words, AVERAGES, {"divide": wrap}, bugs)
        for name, (words, wrap, bugs) in _AVERAGES.items()
    ),
    Fault(
        "divisor-integer-quotient",
        "the correction for left-out padding computed as an integer quotient",
        INCLUDING,
        {"reduce": _integer_quotient, "gather": remember},
        ("exclude_rescale_integer_quotient",),
    ),
    Fault(
        "divisor-whole-kernel-blocked-channels",
        "the overhang of ceil counted in the divisor for a multiple of eight channels",
        INCLUDING,
        {"reduce": _whole_kernel_in_blocks, "gather": remember},
        ("div_full_kernel_on_overhang_blocked_C",),
    ),
)
