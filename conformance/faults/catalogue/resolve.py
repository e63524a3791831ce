"""Faults of `resolve`: attributes of a valid call are misread, consistently for every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.faults.catalogue.building_blocks import (
    ADAPTIVE,
    AUTO_PADDED,
    BEGIN_PADS_AT_BOTH_ENDS,
    BORDERED,
    END_PADS_AT_BOTH_ENDS,
    EVERY_SLIP,
    INCLUDING,
    NO_BEGIN_PADS,
    NO_END_PADS,
    NO_PADS,
    ONE_LIST,
    PADDED,
    PADS_SWAPPED,
    REVERSED,
    ROUNDED,
    SAYS_EXPLICIT,
    SAYS_LOWER,
    SAYS_VALID,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    changed,
    changed_cells,
    changed_pads,
    kernel_and_strides_reversed,
    misread_by_axis,
    on_every_axis,
    with_params,
    wrong_pads,
    wrong_params,
)
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Pads

_IN_ALL_STEPS = partial(with_params, "resolve")
_params = partial(wrong_params, "resolve")
_pads = partial(wrong_pads, "resolve")


def _field(
    summary: str, needs: Needs, field: str, change: Callable[[Any], Any], bug: str = ""
) -> Behaviour:
    return _params(summary, needs, changed(field, change), bug)


def _cells(summary: str, needs: Needs, field: str, change: Callable[[int], int]) -> Behaviour:
    return _params(summary, needs, changed_cells(field, change))


def _auto_pad(summary: str, needs: Needs, taken: Mapping[str, str], bug: str = "") -> Behaviour:
    """Take values of auto_pad, the keys of `taken`, as others."""
    return _field(summary, needs, "auto_pad", lambda given: taken.get(given, given), bug)


def _interleaved(pads: Pads) -> Pads:
    begins_then_ends = [begin for begin, _ in pads] + [end for _, end in pads]
    return tuple(zip(begins_then_ends[0::2], begins_then_ends[1::2], strict=True))


def _pads_at_most(params: Params, limits: tuple[int, ...]) -> Params:
    return replace(
        params,
        pads_begin=tuple(map(min, params.pads_begin, limits)),
        pads_end=tuple(map(min, params.pads_end, limits)),
    )


def _half_kernel_as_pads(params: Params) -> Params:
    if not any(params.pads_begin + params.pads_end):
        return params
    half = tuple(k // 2 for k in params.kernel)
    return replace(params, pads_begin=half, pads_end=half)


def _has_explicit_pads(params: Params) -> bool:
    return params.auto_pad == "explicit" and any(params.pads_begin + params.pads_end)


def _zero_pads_as_same_upper(params: Params) -> Params:
    if params.auto_pad != "explicit" or _has_explicit_pads(params):
        return params
    return replace(params, auto_pad="same_upper")


FAULTS: Faults = {
    **misread_by_axis("kernel", "kernel {}", WINDOWED, "kernel", _IN_ALL_STEPS, slips=EVERY_SLIP),
    **misread_by_axis(
        "strides",
        "strides {}",
        STRIDED,
        "strides",
        _IN_ALL_STEPS,
        {"reversed": "strides_swapped"},
        slips=EVERY_SLIP,
    ),
    **misread_by_axis(
        "output", "output_size {}", ADAPTIVE, "output", _IN_ALL_STEPS, slips=EVERY_SLIP
    ),
    **{f"pads-{slip.name}": _pads(f"pads {slip.words}", slip.of) for slip in EVERY_SLIP},
    "pads-ignored": _pads("pads_begin and pads_end ignored", NO_PADS, "explicit_pads_dropped"),
    "pads-begin-ignored": _pads("pads_begin ignored", NO_BEGIN_PADS),
    "pads-end-ignored": _pads("pads_end ignored", NO_END_PADS),
    "pads-swapped": _pads("pads_begin and pads_end swapped", PADS_SWAPPED),
    "pads-begin-for-both": _pads("pads_begin used at both ends", BEGIN_PADS_AT_BOTH_ENDS),
    "pads-end-for-both": _pads("pads_end used at both ends", END_PADS_AT_BOTH_ENDS),
    "pads-interleaved": _pads(
        "pads read as begin, end, begin, end instead of per end", _interleaved
    ),
    "pads-list-backwards": _pads(
        "pads read from the end of their list to its begin",
        lambda pads: tuple((end, begin) for begin, end in pads[::-1]),
        needs=PADDED & ONE_LIST,
    ),
    "pads-interleaved-last-axis-first": _pads(
        "pads read as begin and end of one axis after the other, from the last axis on",
        lambda pads: _interleaved(pads)[::-1],
        needs=PADDED & ONE_LIST,
    ),
    "pads-first-entry-for-all": _pads(
        "the first entry of pads used at both ends of every axis",
        lambda pads: (pads[0][:1] * 2,) * len(pads),
        needs=PADDED & ONE_LIST,
    ),
    "pads-averaged": _pads(
        "half of begin and end pad used at both ends",
        on_every_axis(lambda begin, end: ((begin + end) // 2,) * 2),
        needs=PADDED & ONE_LIST,
    ),
    "pads-larger-for-both": _pads(
        "the larger of begin and end pad used at both ends",
        on_every_axis(lambda begin, end: (max(begin, end),) * 2),
        needs=PADDED & ONE_LIST,
    ),
    "pads-smaller-for-both": _pads(
        "the smaller of begin and end pad used at both ends",
        on_every_axis(lambda begin, end: (min(begin, end),) * 2),
        needs=PADDED & ONE_LIST,
    ),
    "pads-doubled": _pads(
        "pads counted twice", on_every_axis(lambda begin, end: (2 * begin, 2 * end))
    ),
    "pads-clamped-to-half-kernel": _params(
        "pads clamped to half of the kernel",
        PADDED,
        lambda p: _pads_at_most(p, tuple(k // 2 for k in p.kernel)),
    ),
    "pads-clamped-to-one": _params(
        "pads clamped to 1", PADDED, lambda p: _pads_at_most(p, (1,) * len(p.sizes))
    ),
    "pads-half-kernel": _params(
        "half of the kernel used as pads wherever a pad is above 0", PADDED, _half_kernel_as_pads
    ),
    "kernel-one-less": _cells(
        "the kernel one cell too short", WINDOWED, "kernel", lambda k: max(1, k - 1)
    ),
    "kernel-one-more": _cells("the kernel one cell too long", WINDOWED, "kernel", lambda k: k + 1),
    "kernel-clamped-to-input": _params(
        "the kernel clamped to the unpadded input",
        BORDERED,
        lambda p: replace(p, kernel=tuple(map(min, p.kernel, p.sizes))),
    ),
    "kernel-as-strides": _params(
        "the strides used as the kernel", STRIDED, lambda p: replace(p, kernel=p.strides)
    ),
    "kernel-and-strides-swapped": _params(
        "kernel and strides swapped",
        STRIDED,
        lambda p: replace(p, kernel=p.strides, strides=p.kernel),
    ),
    "kernel-and-strides-reversed": _params(
        "kernel and strides both taken in reverse axis order",
        STRIDED,
        kernel_and_strides_reversed,
        bug="kernel_and_strides_swapped",
    ),
    "every-attribute-reversed": _params(
        "every attribute taken in reverse axis order",
        STRIDED & PADDED,
        lambda p: kernel_and_strides_reversed(changed_pads(REVERSED.of)(p)),
    ),
    "strides-ignored": _cells(
        "a stride of 1 whatever the strides", STRIDED, "strides", lambda _: 1
    ),
    "strides-as-kernel": _params(
        "the kernel used as the strides",
        STRIDED,
        lambda p: replace(p, strides=p.kernel),
        bug="stride_confused_with_kernel",
    ),
    "strides-clamped-to-kernel": _params(
        "strides clamped to the kernel",
        STRIDED,
        lambda p: replace(p, strides=tuple(map(min, p.strides, p.kernel))),
    ),
    "strides-one-more": _cells("strides one cell too long", STRIDED, "strides", lambda s: s + 1),
    "strides-clamped-to-two": _cells("strides clamped to 2", STRIDED, "strides", partial(min, 2)),
    **{
        f"kernel-clamped-to-{most}": _cells(
            f"kernels above {most} clamped to {most}", WINDOWED, "kernel", partial(min, most)
        )
        for most in (3, 7, 15, 255)
    },
    "same-lower-as-upper": _auto_pad(
        "same_lower treated as same_upper", AUTO_PADDED & SAYS_LOWER, {"same_lower": "same_upper"}
    ),
    "same-upper-as-lower": _auto_pad(
        "same_upper treated as same_lower", AUTO_PADDED, {"same_upper": "same_lower"}
    ),
    "same-swapped": _auto_pad(
        "same_upper and same_lower swapped",
        AUTO_PADDED & SAYS_LOWER,
        {"same_upper": "same_lower", "same_lower": "same_upper"},
    ),
    "same-as-explicit": _auto_pad(
        "same_* treated as explicit",
        AUTO_PADDED & PADDED,
        {"same_upper": "explicit", "same_lower": "explicit"},
    ),
    "same-as-valid": _auto_pad(
        "same_* treated as valid", AUTO_PADDED, {"same_upper": "valid", "same_lower": "valid"}
    ),
    "same-lower-as-explicit": _auto_pad(
        "same_lower treated as explicit",
        AUTO_PADDED & PADDED & SAYS_LOWER,
        {"same_lower": "explicit"},
    ),
    "valid-keeps-pads": _auto_pad(
        "valid treated as explicit: the given pads are applied",
        AUTO_PADDED & PADDED & SAYS_VALID,
        {"valid": "explicit"},
        bug="valid_keeps_explicit_pads",
    ),
    "valid-as-same-upper": _auto_pad(
        "valid treated as same_upper", AUTO_PADDED & SAYS_VALID, {"valid": "same_upper"}
    ),
    "explicit-as-same-upper": _auto_pad(
        "explicit treated as same_upper", AUTO_PADDED & SAYS_EXPLICIT, {"explicit": "same_upper"}
    ),
    "explicit-zero-pads-as-same-upper": _params(
        "explicit without any padding treated as same_upper",
        AUTO_PADDED & PADDED & SAYS_EXPLICIT,
        _zero_pads_as_same_upper,
    ),
    "auto-pad-ignored": _field(
        "auto_pad ignored: pads always as given",
        AUTO_PADDED & PADDED & SAYS_VALID,
        "auto_pad",
        lambda _: "explicit",
    ),
    "ceil-ignored": _field(
        "ceil treated as floor", ROUNDED, "rounding", lambda _: "floor", bug="ceil_flag_ignored"
    ),
    "floor-ignored": _field("floor treated as ceil", ROUNDED, "rounding", lambda _: "ceil"),
    "rounding-inverted": _field(
        "ceil and floor swapped", ROUNDED, "rounding", lambda v: "floor" if v == "ceil" else "ceil"
    ),
    "ceil-ignored-without-pads": _params(
        "rounding_type ignored where there is no padding",
        ROUNDED & PADDED,
        lambda p: p if _has_explicit_pads(p) else replace(p, rounding="floor"),
    ),
    "exclude-pad-ignored": _field(
        "padding counted in the divisor though it is to be excluded",
        INCLUDING,
        "include_pad",
        lambda _: True,
        bug="flag_exclude_ignored",
    ),
    "include-pad-ignored": _field(
        "padding left out of the divisor though it is to be included",
        INCLUDING,
        "include_pad",
        lambda _: False,
        bug="flag_include_ignored",
    ),
    "exclude-pad-inverted": _field(
        "the meaning of exclude/include padding inverted", INCLUDING, "include_pad", lambda v: not v
    ),
}
