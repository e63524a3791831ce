"""Faults of `divide`: which cells of padding and overhang count, and those of which axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    AXIS_SLIPS,
    INCLUDING,
    PADDED,
    ROUNDED,
    STRIDED,
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
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows
from conformance.vector import Array

Divide = Callable[[Params, Pads, Windows], Divisor]
Counts = Sequence[axis.Positions]


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


def _of_other_windows(
    change: Change, pads_change: Callable[[Pads], Pads] = lambda p: p
) -> StepWrap:
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


def _frame_of_next_axis(pads: Pads) -> Pads:
    """End an axis's frame with a pad of another: that of the next axis's begin."""
    begins = [begin for begin, _ in pads]
    return tuple(
        (begin, [*begins[1:], end][i] if i < len(pads) - 1 else end)
        for i, (begin, end) in enumerate(pads)
    )


def _integer_quotient(reduce: Callable[..., Array]) -> Callable[..., Array]:
    """Divide by the whole kernel, then scale by an integer quotient."""

    def other(gathered: Gathered, divisor: Divisor) -> Array:
        if not isinstance(gathered, Seen) or gathered.params.include_pad:
            return reduce(gathered, divisor)
        whole = steps.outer(_whole(gathered.windows))
        quotient = whole // np.maximum(divisor, 1)
        right = reduce(gathered, whole)
        scaled: Array = right * quotient.astype(right.dtype)
        return scaled

    return other


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


FAULTS: tuple[Fault, ...] = (
    *(
        Fault(
            f"divisor-kernel-{slip.name}",
            f"kernel {slip.words} in the divisor",
            needs=INCLUDING,
            replaces={"divide": _of_other_windows(changed("kernel", slip.of))},
        )
        for slip in AXIS_SLIPS
    ),
    *(
        Fault(
            f"divisor-strides-{slip.name}",
            f"strides {slip.words} in the divisor",
            needs=INCLUDING & STRIDED,
            replaces={"divide": _of_other_windows(changed("strides", slip.of))},
        )
        for slip in AXIS_SLIPS
    ),
    Fault(
        "exclude-pad-for-begin-only",
        "only begin pads left out of the divisor",
        needs=INCLUDING,
        replaces={
            "divide": _where(
                lambda p, *_: not p.include_pad,
                lambda _, w: [
                    np.minimum(b - np.maximum(a, 0), b - a)
                    for a, b in zip(w.start, w.stop, strict=True)
                ],
            )
        },
    ),
    Fault(
        "exclude-pad-for-end-only",
        "only end pads left out of the divisor",
        needs=INCLUDING,
        replaces={
            "divide": _where(
                lambda p, *_: not p.include_pad,
                lambda p, w: [
                    np.maximum(np.minimum(b, d) - a, 0)
                    for a, b, d in zip(w.start, w.stop, p.sizes, strict=True)
                ],
            )
        },
    ),
    Fault(
        "divisor-border-rescaled",
        "only the first and last window of an axis corrected for padding",
        needs=INCLUDING,
        replaces={"divide": _where(lambda *_: True, _rescaled_borders)},
        bugs=("border_rescale_first_last_only",),
    ),
    Fault(
        "divisor-pads-reversed",
        "pads taken in reverse axis order in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: pads[::-1])},
    ),
    Fault(
        "divisor-pads-swapped",
        "begin pads in place of end pads in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: tuple((end, begin) for begin, end in pads))},
    ),
    Fault(
        "divisor-pads-begin-for-both",
        "begin pads used at both ends in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: tuple((begin, begin) for begin, _ in pads))},
    ),
    Fault(
        "divisor-pads-end-for-both",
        "end pads used at both ends in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: tuple((end, end) for _, end in pads))},
    ),
    Fault(
        "divisor-pads-first-for-all",
        "pads of the first axis used for every axis in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: pads[:1] * len(pads))},
    ),
    Fault(
        "divisor-pads-last-for-all",
        "pads of the last axis used for every axis in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: pads[-1:] * len(pads))},
    ),
    Fault(
        "divisor-pads-of-next-axis",
        "the begin pad of the next axis in place of an end pad in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(_frame_of_next_axis)},
        bugs=("divisor_pad_index_wrong",),
    ),
    Fault(
        "divisor-without-end-pads",
        "end pads never counted in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: tuple((begin, 0) for begin, _ in pads))},
    ),
    Fault(
        "divisor-without-begin-pads",
        "begin pads never counted in the divisor",
        needs=INCLUDING & PADDED,
        replaces={"divide": seeing_pads(lambda pads: tuple((0, end) for _, end in pads))},
    ),
    Fault(
        "divisor-axes-reversed",
        "kernel, strides and pads taken in reverse axis order in the divisor",
        needs=INCLUDING & STRIDED & PADDED,
        replaces={"divide": _of_other_windows(_all_reversed, lambda pads: pads[::-1])},
        bugs=("divisor_axes_reversed",),
    ),
    Fault(
        "divisor-of-kernel-as-strides",
        "the strides in place of the kernel in the divisor",
        needs=INCLUDING & STRIDED,
        replaces={"divide": _of_other_windows(lambda p: replace(p, kernel=p.strides))},
    ),
    Fault(
        "divisor-of-windows-a-kernel-apart",
        "the kernel in place of the strides in the divisor",
        needs=INCLUDING & STRIDED,
        replaces={"divide": _of_other_windows(lambda p: replace(p, strides=p.kernel))},
    ),
    Fault(
        "divisor-whole-kernel",
        "every sum divided by the whole kernel",
        needs=INCLUDING & ROUNDED,
        replaces={"divide": _where(lambda *_: True, lambda _, w: _whole(w))},
    ),
    Fault(
        "divisor-whole-kernel-if-excluded",
        "the whole kernel as divisor exactly where padding is to be left out",
        needs=INCLUDING & ROUNDED,
        replaces={"divide": _where(lambda p, *_: not p.include_pad, lambda _, w: _whole(w))},
    ),
    Fault(
        "divisor-whole-kernel-if-included",
        "the overhang of ceil counted in the divisor like padding",
        needs=INCLUDING & ROUNDED,
        replaces={"divide": _where(lambda p, *_: p.include_pad, lambda _, w: _whole(w))},
        bugs=("div_full_kernel_on_overhang",),
    ),
    Fault(
        "divisor-whole-kernel-without-pads",
        "the overhang of ceil counted in the divisor where there is no padding",
        needs=INCLUDING & ROUNDED,
        replaces={
            "divide": _where(
                lambda p, pads, _: p.include_pad and not _padded(pads), lambda _, w: _whole(w)
            )
        },
    ),
    Fault(
        "exclude-pad-ignored-with-same",
        "the padding of same_* counted in the divisor though it is to be excluded",
        needs=INCLUDING & AUTO_PADDED,
        replaces={"divide": seeing(lambda p: replace(p, include_pad=True) if p.same else p)},
    ),
    Fault(
        "include-pad-ignored-with-same",
        "the padding of same_* left out of the divisor though it is to be included",
        needs=INCLUDING & AUTO_PADDED,
        replaces={"divide": seeing(lambda p: replace(p, include_pad=False) if p.same else p)},
    ),
    Fault(
        "include-pad-ignored-with-ceil",
        "padding left out of the divisor with rounding_type=ceil",
        needs=INCLUDING & ROUNDED,
        replaces={"divide": seeing(lambda p: replace(p, include_pad=p.include_pad and not p.ceil))},
    ),
    Fault(
        "divisor-end-pad-one-more",
        "one cell too many of the end padding counted in the divisor",
        needs=INCLUDING & ROUNDED & PADDED,
        replaces={
            "divide": seeing_pads(lambda pads: tuple((begin, end + 1) for begin, end in pads))
        },
    ),
    Fault(
        "divisor-integer-quotient",
        "the correction for left-out padding computed as an integer quotient",
        needs=INCLUDING,
        replaces={"reduce": _integer_quotient, "gather": remember},
        bugs=("exclude_rescale_integer_quotient",),
    ),
    Fault(
        "divisor-whole-kernel-blocked-channels",
        "the overhang of ceil counted in the divisor for a multiple of eight channels",
        needs=INCLUDING & ROUNDED,
        replaces={"reduce": _whole_kernel_in_blocks, "gather": remember},
        bugs=("div_full_kernel_on_overhang_blocked_C",),
    ),
)
