"""Faults of `windows`: where windows lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    BORDERED,
    INCLUDING,
    PADDED,
    ROUNDED,
    STRIDED,
    WINDOWED,
    changed,
    misread_by_axis,
    seeing,
    seeing_pads,
)
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Pads, Windows


def _clamped(params: Params, _pads: Pads, windows: Windows) -> Windows:
    start = tuple(np.maximum(a, 0) for a in windows.start)
    lengths = zip(start, params.kernel, strict=True)
    return Windows(start, tuple(a + k for a, k in lengths))


def _moved(of: Callable[[Params, Pads, Windows], Windows]) -> StepWrap:
    return lambda windows: (
        lambda params, pads, extent: of(params, pads, windows(params, pads, extent))
    )


def _shifted(by: int) -> StepWrap:
    return _moved(
        lambda _params, _pads, w: Windows(
            tuple(a + by for a in w.start), tuple(b + by for b in w.stop)
        )
    )


def _back_into_input(params: Params, pads: Pads, windows: Windows) -> Windows:
    """Move windows that overhang input and padding back until they fit."""
    start = tuple(
        np.minimum(a, max(-begin, d + end - k))
        for a, d, k, (begin, end) in zip(
            windows.start, params.sizes, params.kernel, pads, strict=True
        )
    )
    return Windows(start, tuple(a + k for a, k in zip(start, params.kernel, strict=True)))


def _tail_at_begin(params: Params, pads: Pads, windows: Windows) -> Windows:
    """Put the overhang of ceil before the input instead of behind it."""
    tails = [
        max(0, int(b[-1]) - d - end)
        for b, d, (_, end) in zip(windows.stop, params.sizes, pads, strict=True)
    ]
    return Windows(
        tuple(a - tail for a, tail in zip(windows.start, tails, strict=True)),
        tuple(b - tail for b, tail in zip(windows.stop, tails, strict=True)),
    )


def _start_back_into_input(params: Params, _pads: Pads, windows: Windows) -> Windows:
    """Move only the start of a window past the input to the last cell."""
    start = tuple(np.minimum(a, d - 1) for a, d in zip(windows.start, params.sizes, strict=True))
    return Windows(start, windows.stop)


def _one_end(*, first: bool, last_axis: bool = True) -> Callable[[Params, Pads, Windows], Windows]:
    """Leave the first or last input cell of the last axis out of the first or last window."""

    def cut(params: Params, _pads: Pads, windows: Windows) -> Windows:
        j = -1 if last_axis else 0
        d = params.sizes[j]
        a, b = windows.start[j].copy(), windows.stop[j].copy()
        if first and d > 1:
            a[0] = max(1, int(a[0]))
        elif d > 1:
            b[-1] = min(d - 1, int(b[-1]))
        start, stop = list(windows.start), list(windows.stop)
        start[j], stop[j] = a, b
        return Windows(tuple(start), tuple(stop))

    return cut


def _same_without_pads(params: Params, pads: Pads) -> Pads:
    return tuple((0, 0) for _ in pads) if params.same else pads


FAULTS: tuple[Fault, ...] = (
    *misread_by_axis("windows", "kernel", "where windows lie", WINDOWED),
    *misread_by_axis("windows", "strides", "where windows lie", STRIDED),
    Fault(
        "windows-without-begin-pads",
        "windows start at the input instead of the begin padding",
        needs=PADDED,
        replaces={"windows": seeing_pads(lambda pads: tuple((0, end) for _, end in pads))},
    ),
    Fault(
        "windows-start-at-end-pads",
        "windows start at the end pads instead of the begin pads",
        needs=PADDED,
        replaces={"windows": seeing_pads(lambda pads: tuple((end, begin) for begin, end in pads))},
    ),
    Fault(
        "windows-begin-pads-doubled",
        "windows start at twice the begin pads",
        needs=PADDED,
        replaces={
            "windows": seeing_pads(lambda pads: tuple((2 * begin, end) for begin, end in pads))
        },
    ),
    Fault(
        "windows-pads-reversed",
        "begin pads taken in reverse axis order where windows start",
        needs=PADDED,
        replaces={"windows": seeing_pads(lambda pads: pads[::-1])},
    ),
    Fault(
        "windows-pads-first-for-all",
        "begin pads of the first axis used for every axis where windows start",
        needs=PADDED,
        replaces={"windows": seeing_pads(lambda pads: pads[:1] * len(pads))},
    ),
    Fault(
        "windows-one-late",
        "every window starts one cell late",
        needs=WINDOWED,
        replaces={"windows": _shifted(1)},
    ),
    Fault(
        "windows-one-early",
        "every window starts one cell early",
        needs=WINDOWED,
        replaces={"windows": _shifted(-1)},
    ),
    Fault(
        "windows-one-cell-short",
        "windows read one cell less than the kernel",
        needs=WINDOWED,
        replaces={"windows": seeing(changed("kernel", lambda v: tuple(max(1, k - 1) for k in v)))},
    ),
    Fault(
        "windows-one-cell-long",
        "windows read one cell more than the kernel",
        needs=WINDOWED,
        replaces={"windows": seeing(changed("kernel", lambda v: tuple(k + 1 for k in v)))},
    ),
    Fault(
        "windows-stride-ignored",
        "windows one cell apart whatever the strides",
        needs=STRIDED,
        replaces={"windows": seeing(changed("strides", lambda v: (1,) * len(v)))},
    ),
    Fault(
        "windows-kernel-apart",
        "windows a kernel apart instead of a stride",
        needs=STRIDED,
        replaces={"windows": seeing(lambda params: replace(params, strides=params.kernel))},
        bugs=("stride_confused_with_kernel",),
    ),
    Fault(
        "start-clamped-before-end",
        "window starts clamped to the input before their ends are computed",
        needs=BORDERED,
        replaces={"windows": _moved(_clamped)},
        bugs=("start_clamped_before_end",),
    ),
    Fault(
        "last-column-dropped",
        "the last cell of the last axis left out of the last window",
        needs=BORDERED,
        replaces={"windows": _moved(_one_end(first=False))},
        bugs=("last_column_dropped",),
    ),
    Fault(
        "first-column-dropped",
        "the first cell of the last axis left out of the first window",
        needs=BORDERED,
        replaces={"windows": _moved(_one_end(first=True))},
    ),
    Fault(
        "last-row-dropped",
        "the last cell of the first axis left out of the last window",
        needs=WINDOWED,
        replaces={"windows": _moved(_one_end(first=False, last_axis=False))},
    ),
    Fault(
        "overhang-moved-back",
        "windows that overhang the padded input moved back into it",
        needs=ROUNDED,
        replaces={"windows": _moved(_back_into_input)},
    ),
    Fault(
        "overhang-at-begin",
        "the overhang of ceil put before the input instead of behind it",
        needs=ROUNDED,
        replaces={"windows": _moved(_tail_at_begin)},
        bugs=("tail_pad_wrong",),
    ),
    Fault(
        "late-start-moved-back",
        "the start of a window past the input moved back to the last cell",
        needs=INCLUDING & PADDED,
        replaces={"windows": _moved(_start_back_into_input)},
    ),
    Fault(
        "same-pads-not-applied",
        "the padding of same_* counted in the output size but not applied",
        needs=INCLUDING & AUTO_PADDED,
        replaces={
            "windows": lambda windows: (
                lambda params, pads, extent: windows(
                    params, _same_without_pads(params, pads), extent
                )
            )
        },
        bugs=("same_pads_not_applied_begin_zero",),
    ),
)
