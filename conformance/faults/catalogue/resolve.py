"""Faults of `resolve`: attributes of a valid call are misread, consistently for every step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from conformance.faults.atoms import conditions
from conformance.faults.atoms.lists import (
    BACKWARDS,
    BY_PAIRS,
    BY_PAIRS_FROM_LAST,
    DOUBLED,
    FIRST_ENTRY,
    LARGER_PAD,
    MEAN_PAD,
    ONE,
    ONE_LESS,
    ONE_MORE,
    REVERSED,
    SMALLER_PAD,
    ZERO,
    at_most,
    at_most_number,
    computed,
    mixed_up,
    read,
    read_in_order,
    same_as,
)
from conformance.faults.atoms.words import mean
from conformance.faults.behaviour import (
    AUTO_PADDED,
    BORDERED,
    INCLUDING,
    ONE_LIST,
    PADDED,
    PADS_IGNORED,
    ROUNDED,
    SAYS_EXPLICIT,
    SAYS_LOWER,
    SAYS_VALID,
    STRIDED,
    Faults,
    wrong_params,
)

_public_bug = partial(wrong_params, "resolve")
_HALF_OF_KERNEL = computed("half of the kernel size, rounded down", lambda k: k // 2, "kernel")
_AT_MOST_HALF_OF_KERNEL = computed(
    "at most half of the kernel size", lambda pad, k: min(pad, k // 2), "", "kernel"
)

FAULTS: Faults = {
    **mixed_up("kernel"),
    **mixed_up("strides")
    | {
        "strides-reversed": _public_bug(
            "strides taken in reverse axis order",
            STRIDED,
            lambda p: replace(p, strides=p.strides[::-1]),
            bug="strides_swapped",
        )
    },
    **mixed_up("output"),
    **mixed_up("pads"),
    "pads-ignored": _public_bug(
        "pads_begin and pads_end ignored",
        PADDED,
        lambda p: replace(p, pads_begin=(0,) * len(p.sizes), pads_end=(0,) * len(p.sizes)),
        bug="explicit_pads_dropped",
    ),
    "pads-begin-ignored": read(pads_begin=ZERO),
    "pads-end-ignored": read(pads_end=ZERO),
    "pads-swapped": read(pads_begin=same_as("pads_end"), pads_end=same_as("pads_begin")),
    "pads-begin-for-both": read(pads_end=same_as("pads_begin")),
    "pads-end-for-both": read(pads_begin=same_as("pads_end")),
    "pads-interleaved": read_in_order(BY_PAIRS),
    "pads-list-backwards": read_in_order(BACKWARDS, needs=ONE_LIST),
    "pads-interleaved-last-axis-first": read_in_order(BY_PAIRS_FROM_LAST, needs=ONE_LIST),
    "pads-first-entry-for-all": read_in_order(FIRST_ENTRY, needs=ONE_LIST),
    "pads-averaged": read(pads=MEAN_PAD, needs=ONE_LIST),
    "pads-larger-for-both": read(pads=LARGER_PAD, needs=ONE_LIST),
    "pads-smaller-for-both": read(pads=SMALLER_PAD, needs=ONE_LIST),
    "pads-doubled": read(pads=DOUBLED),
    "pads-clamped-to-half-kernel": read(pads=_AT_MOST_HALF_OF_KERNEL),
    "pads-clamped-to-one": read(pads=at_most_number(1)),
    "pads-half-kernel": read(pads=_HALF_OF_KERNEL, where=conditions.PADDED),
    "kernel-one-less": read(kernel=ONE_LESS),
    "kernel-one-more": read(kernel=ONE_MORE),
    "kernel-clamped-to-input": read(kernel=at_most("sizes"), needs=BORDERED),
    "kernel-as-strides": read(kernel=same_as("strides")),
    "kernel-and-strides-swapped": read(kernel=same_as("strides"), strides=same_as("kernel")),
    "kernel-and-strides-reversed": _public_bug(
        "kernel and strides both taken in reverse axis order",
        STRIDED,
        lambda p: replace(p, kernel=p.kernel[::-1], strides=p.strides[::-1]),
        bug="kernel_and_strides_swapped",
    ),
    "every-attribute-reversed": read(kernel=REVERSED, strides=REVERSED, pads=REVERSED),
    "strides-ignored": read(strides=ONE),
    "strides-as-kernel": _public_bug(
        "the kernel used as the strides",
        STRIDED,
        lambda p: replace(p, strides=p.kernel),
        bug="stride_confused_with_kernel",
    ),
    "strides-clamped-to-kernel": read(strides=at_most("kernel")),
    "strides-one-more": read(strides=ONE_MORE),
    "strides-clamped-to-two": read(strides=at_most_number(2)),
    **{f"kernel-clamped-to-{most}": read(kernel=at_most_number(most)) for most in (3, 7, 15, 255)},
    "same-lower-as-upper": mean("auto_pad", {"same_lower": "same_upper"}, needs=SAYS_LOWER),
    "same-upper-as-lower": mean("auto_pad", {"same_upper": "same_lower"}),
    "same-swapped": mean(
        "auto_pad",
        {"same_upper": "same_lower", "same_lower": "same_upper"},
        needs=SAYS_LOWER,
    ),
    "same-as-explicit": mean(
        "auto_pad", {"same_upper": "explicit", "same_lower": "explicit"}, needs=PADDED
    ),
    "same-as-valid": mean("auto_pad", {"same_upper": "valid", "same_lower": "valid"}),
    "same-lower-as-explicit": mean(
        "auto_pad", {"same_lower": "explicit"}, needs=PADDED & SAYS_LOWER
    ),
    "valid-keeps-pads": _public_bug(
        "valid treated as explicit: the given pads are applied",
        AUTO_PADDED & PADDED & SAYS_VALID & PADS_IGNORED,
        lambda p: replace(p, auto_pad="explicit") if p.auto_pad == "valid" else p,
        bug="valid_keeps_explicit_pads",
    ),
    "valid-as-same-upper": mean("auto_pad", {"valid": "same_upper"}, needs=SAYS_VALID),
    "explicit-as-same-upper": mean("auto_pad", {"explicit": "same_upper"}, needs=SAYS_EXPLICIT),
    "explicit-zero-pads-as-same-upper": mean(
        "auto_pad",
        {"explicit": "same_upper"},
        where=conditions.UNPADDED,
        needs=PADDED & SAYS_EXPLICIT,
    ),
    "auto-pad-ignored": mean(
        "auto_pad",
        dict.fromkeys(("same_upper", "same_lower", "valid"), "explicit"),
        needs=PADDED & SAYS_VALID,
    ),
    "ceil-ignored": _public_bug(
        "ceil treated as floor",
        ROUNDED,
        lambda p: replace(p, rounding="floor"),
        bug="ceil_flag_ignored",
    ),
    "floor-ignored": mean("rounding", {"floor": "ceil", "ceil_torch": "ceil"}),
    "rounding-inverted": mean("rounding", {"ceil": "floor", "floor": "ceil", "ceil_torch": "ceil"}),
    "ceil-ignored-without-pads": mean(
        "rounding",
        {"ceil": "floor", "ceil_torch": "floor"},
        where=conditions.NOT_EXPLICITLY_PADDED,
        needs=PADDED,
    ),
    "exclude-pad-ignored": _public_bug(
        "padding counted in the divisor though it is to be excluded",
        INCLUDING,
        lambda p: replace(p, include_pad=True),
        bug="flag_exclude_ignored",
    ),
    "include-pad-ignored": _public_bug(
        "padding left out of the divisor though it is to be included",
        INCLUDING,
        lambda p: replace(p, include_pad=False),
        bug="flag_include_ignored",
    ),
    "exclude-pad-inverted": mean("include_pad", {True: False, False: True}),
}
