"""Faults of `pads`: what same_* makes of sizes, kernel and strides."""

from __future__ import annotations

from collections.abc import Callable

from conformance.faults.catalogue.building_blocks import (
    AUTO_PADDED,
    PADDED,
    misread_by_axis,
)
from conformance.faults.fault import Fault
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads

OnePads = Callable[[int, int, int, bool], tuple[int, int]]  # d, k, s, upper -> begin, end


def _same(of: OnePads) -> StepWrap:
    """Replace the pads of same_*, axis by axis."""

    def wrap(pads: Callable[[Params], Pads]) -> Callable[[Params], Pads]:
        def other(params: Params) -> Pads:
            if not params.same:
                return pads(params)
            upper = params.auto_pad == "same_upper"
            return tuple(
                of(d, k, s, upper)
                for d, k, s in zip(params.sizes, params.kernel, params.strides, strict=True)
            )

        return other

    return wrap


def _total(of: Callable[[int, int, int], int]) -> OnePads:
    """Replace the total padding of an axis; it is split as it should be."""
    return lambda d, k, s, upper: axis.split(max(0, of(d, k, s)), larger_at_end=upper)


def _right_total(d: int, k: int, s: int) -> int:
    return axis.same_total(d, k, s, axis.ceil_div(d, s))


def _half_kernel_swapped(_d: int, k: int, _s: int, upper: bool) -> tuple[int, int]:  # noqa: FBT001
    half, odd = k // 2, k % 2
    return (half + odd, half) if upper else (half, half + odd)


def _not_clamped(d: int, k: int, s: int, upper: bool) -> tuple[int, int]:  # noqa: FBT001
    return axis.split((axis.ceil_div(d, s) - 1) * s + k - d, larger_at_end=upper)


def _plus_given(pads: Callable[[Params], Pads]) -> Callable[[Params], Pads]:
    def summed(params: Params) -> Pads:
        given = zip(params.pads_begin, params.pads_end, strict=True)
        if not params.same:
            return pads(params)
        return tuple(
            (begin + more, end + rest)
            for (begin, end), (more, rest) in zip(pads(params), given, strict=True)
        )

    return summed


def _divided_extent(extent: Callable[..., Extent]) -> Callable[[Params, Pads], Extent]:
    return lambda params, pads: (
        tuple(map(axis.ceil_div, params.sizes, params.strides))
        if params.same
        else extent(params, pads)
    )


FAULTS: tuple[Fault, ...] = (
    Fault(
        "same-total-kernel-minus-one",
        "the padding of same_* taken as kernel - 1, whatever the strides",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_total(lambda _d, k, _s: k - 1))},
    ),
    Fault(
        "same-total-kernel-minus-stride",
        "the padding of same_* taken as kernel - stride, also where the size does not divide",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_total(lambda _d, k, s: k - s))},
    ),
    Fault(
        "same-total-of-remainder",
        "the padding of same_* taken as kernel - size % stride, also where the size divides",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_total(lambda d, k, s: k - d % s))},
    ),
    Fault(
        "same-size-rounded-down",
        "the padding of same_* computed for floor(size / stride) windows",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_total(lambda d, k, s: axis.same_total(d, k, s, d // s)))},
    ),
    Fault(
        "same-size-of-ceil",
        "the output size of same_* rounded up once more",
        needs=AUTO_PADDED,
        replaces={
            "pads": _same(_total(lambda d, k, s: axis.same_total(d, k, s, (d + 2 * (s - 1)) // s)))
        },
        bugs=("same_output_size_uses_rounding",),
    ),
    Fault(
        "same-total-one-more",
        "the padding of same_* one cell too large",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_total(lambda d, k, s: _right_total(d, k, s) + 1))},
    ),
    Fault(
        "same-total-not-clamped",
        "a negative padding of same_* crops the input where strides exceed the kernel",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_not_clamped)},
        bugs=("same_pad_total_not_clamped",),
    ),
    Fault(
        "same-arguments-shifted",
        "the padding of same_* computed from size, kernel and stride in each other's place",
        needs=AUTO_PADDED,
        replaces={
            "pads": _same(_total(lambda d, k, s: axis.same_total(k, s, d, axis.ceil_div(k, d))))
        },
        bugs=("same_pads_args_shifted",),
    ),
    Fault(
        "same-symmetrised-short",
        "an odd padding of same_* made even by dropping a cell",
        needs=AUTO_PADDED,
        replaces={"pads": _same(lambda d, k, s, _upper: (_right_total(d, k, s) // 2,) * 2)},
        bugs=("same_pads_symmetrised_short",),
    ),
    Fault(
        "same-symmetrised-long",
        "an odd padding of same_* made even by adding a cell",
        needs=AUTO_PADDED,
        replaces={
            "pads": _same(lambda d, k, s, _upper: (axis.ceil_div(_right_total(d, k, s), 2),) * 2)
        },
    ),
    Fault(
        "same-half-kernel",
        "the padding of same_* taken as half of the kernel at both ends",
        needs=AUTO_PADDED,
        replaces={"pads": _same(lambda _d, k, _s, _upper: (k // 2,) * 2)},
    ),
    Fault(
        "same-half-kernel-swapped",
        "the padding of same_* taken as half of the kernel, the rest of odd kernels swapped",
        needs=AUTO_PADDED,
        replaces={"pads": _same(_half_kernel_swapped)},
        bugs=("same_pads_half_kernel_and_swapped",),
    ),
    Fault(
        "same-half-of-kernel-minus-one",
        "the padding of same_* split from kernel - 1 at both ends",
        needs=AUTO_PADDED,
        replaces={"pads": _same(lambda _d, k, _s, _upper: ((k - 1) // 2,) * 2)},
    ),
    Fault(
        "same-all-at-end",
        "all padding of same_* put at the end",
        needs=AUTO_PADDED,
        replaces={"pads": _same(lambda d, k, s, _upper: (0, _right_total(d, k, s)))},
    ),
    Fault(
        "same-all-at-begin",
        "all padding of same_* put at the begin",
        needs=AUTO_PADDED,
        replaces={"pads": _same(lambda d, k, s, _upper: (_right_total(d, k, s), 0))},
    ),
    *misread_by_axis(
        "pads",
        "sizes",
        "in the padding of same_*",
        AUTO_PADDED,
        {"first-for-all": ("axis_w_uses_h",)},
    ),
    *misread_by_axis("pads", "kernel", "in the padding of same_*", AUTO_PADDED),
    *misread_by_axis("pads", "strides", "in the padding of same_*", AUTO_PADDED),
    Fault(
        "same-plus-given-pads",
        "given pads added to those of same_*",
        needs=AUTO_PADDED & PADDED,
        replaces={"pads": _plus_given},
    ),
    Fault(
        "same-keeps-size",
        "the padding of same_* chosen to keep the input size, the output size divided",
        needs=AUTO_PADDED,
        replaces={
            "pads": _same(_total(lambda d, k, s: axis.same_total(d, k, s, d))),
            "extent": _divided_extent,
        },
        bugs=("same_pad_total_formula_stride",),
    ),
)
