"""Faults of `resolve`: attributes of a valid call are misread, consistently for every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.faults.catalogue.building_blocks import (
    ADAPTIVE,
    AUTO_PADDED,
    AXIS_SLIPS,
    BORDERED,
    INCLUDING,
    PADDED,
    ROUNDED,
    SAYS_EXPLICIT,
    SAYS_LOWER,
    SAYS_VALID,
    STRIDED,
    WINDOWED,
    changed,
    resolving,
)
from conformance.faults.fault import Fault
from conformance.operators.params import Params


def _pads(params: Params, begin: tuple[int, ...], end: tuple[int, ...]) -> Params:
    return replace(params, pads_begin=begin, pads_end=end)


def _interleaved(params: Params) -> Params:
    flat = params.pads_begin + params.pads_end
    return _pads(params, flat[0::2], flat[1::2])


def _reversed(params: Params) -> Params:
    return _pads(params, params.pads_begin[::-1], params.pads_end[::-1])


def _at_most(params: Params, limit: tuple[int, ...]) -> Params:
    return _pads(
        params,
        tuple(map(min, params.pads_begin, limit)),
        tuple(map(min, params.pads_end, limit)),
    )


def _clamped(most: int) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    return lambda values: tuple(min(value, most) for value in values)


def _same_as(params: Params, wrong: str, right: str) -> Params:
    return replace(params, auto_pad=right) if params.auto_pad == wrong else params


FAULTS: tuple[Fault, ...] = (
    *(
        Fault(
            f"kernel-{slip.name}",
            f"kernel {slip.words}",
            needs=WINDOWED,
            replaces={"resolve": resolving(changed("kernel", slip.of))},
        )
        for slip in AXIS_SLIPS
    ),
    *(
        Fault(
            f"strides-{slip.name}",
            f"strides {slip.words}",
            needs=STRIDED,
            replaces={"resolve": resolving(changed("strides", slip.of))},
            bugs=("strides_swapped",) if slip.name == "reversed" else (),
        )
        for slip in AXIS_SLIPS
    ),
    *(
        Fault(
            f"output-{slip.name}",
            f"output_size {slip.words}",
            needs=ADAPTIVE,
            replaces={"resolve": resolving(changed("output", slip.of))},
        )
        for slip in AXIS_SLIPS
    ),
    Fault(
        "pads-ignored",
        "pads_begin and pads_end ignored",
        needs=PADDED,
        replaces={
            "resolve": resolving(lambda p: _pads(p, (0,) * len(p.sizes), (0,) * len(p.sizes)))
        },
        bugs=("explicit_pads_dropped",),
    ),
    Fault(
        "pads-begin-ignored",
        "pads_begin ignored",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _pads(p, (0,) * len(p.sizes), p.pads_end))},
    ),
    Fault(
        "pads-end-ignored",
        "pads_end ignored",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _pads(p, p.pads_begin, (0,) * len(p.sizes)))},
    ),
    Fault(
        "pads-swapped",
        "pads_begin and pads_end swapped",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _pads(p, p.pads_end, p.pads_begin))},
    ),
    Fault(
        "pads-begin-for-both",
        "pads_begin used at both ends",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _pads(p, p.pads_begin, p.pads_begin))},
    ),
    Fault(
        "pads-end-for-both",
        "pads_end used at both ends",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _pads(p, p.pads_end, p.pads_end))},
    ),
    Fault(
        "pads-reversed",
        "pads taken in reverse axis order",
        needs=PADDED,
        replaces={"resolve": resolving(_reversed)},
    ),
    Fault(
        "pads-first-for-all",
        "pads of the first axis used for every axis",
        needs=PADDED,
        replaces={
            "resolve": resolving(
                lambda p: _pads(p, p.pads_begin[:1] * len(p.sizes), p.pads_end[:1] * len(p.sizes))
            )
        },
    ),
    Fault(
        "pads-last-for-all",
        "pads of the last axis used for every axis",
        needs=PADDED,
        replaces={
            "resolve": resolving(
                lambda p: _pads(p, p.pads_begin[-1:] * len(p.sizes), p.pads_end[-1:] * len(p.sizes))
            )
        },
    ),
    Fault(
        "pads-interleaved",
        "pads read as begin, end, begin, end instead of per end",
        needs=PADDED,
        replaces={"resolve": resolving(_interleaved)},
    ),
    Fault(
        "pads-doubled",
        "pads counted twice",
        needs=PADDED,
        replaces={
            "resolve": resolving(
                lambda p: _pads(
                    p, tuple(2 * v for v in p.pads_begin), tuple(2 * v for v in p.pads_end)
                )
            )
        },
    ),
    Fault(
        "pads-clamped-to-half-kernel",
        "pads clamped to half of the kernel",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _at_most(p, tuple(k // 2 for k in p.kernel)))},
    ),
    Fault(
        "pads-clamped-to-one",
        "pads clamped to 1",
        needs=PADDED,
        replaces={"resolve": resolving(lambda p: _at_most(p, (1,) * len(p.sizes)))},
    ),
    Fault(
        "pads-half-kernel",
        "half of the kernel as pads wherever some pad is given",
        needs=PADDED,
        replaces={
            "resolve": resolving(
                lambda p: _pads(
                    p,
                    *(tuple(k // 2 if any(p.pads_begin + p.pads_end) else 0 for k in p.kernel),)
                    * 2,
                )
            )
        },
    ),
    Fault(
        "kernel-one-less",
        "the kernel one cell too short",
        needs=WINDOWED,
        replaces={
            "resolve": resolving(changed("kernel", lambda v: tuple(max(1, k - 1) for k in v)))
        },
    ),
    Fault(
        "kernel-one-more",
        "the kernel one cell too long",
        needs=WINDOWED,
        replaces={"resolve": resolving(changed("kernel", lambda v: tuple(k + 1 for k in v)))},
    ),
    Fault(
        "kernel-clamped-to-input",
        "the kernel clamped to the unpadded input",
        needs=BORDERED,
        replaces={
            "resolve": resolving(lambda p: replace(p, kernel=tuple(map(min, p.kernel, p.sizes))))
        },
    ),
    Fault(
        "kernel-as-strides",
        "the strides used as the kernel",
        needs=STRIDED,
        replaces={"resolve": resolving(lambda p: replace(p, kernel=p.strides))},
    ),
    Fault(
        "kernel-and-strides-swapped",
        "kernel and strides swapped",
        needs=STRIDED,
        replaces={"resolve": resolving(lambda p: replace(p, kernel=p.strides, strides=p.kernel))},
    ),
    Fault(
        "kernel-and-strides-reversed",
        "kernel and strides both taken in reverse axis order",
        needs=STRIDED,
        replaces={
            "resolve": resolving(
                lambda p: replace(p, kernel=p.kernel[::-1], strides=p.strides[::-1])
            )
        },
        bugs=("kernel_and_strides_swapped",),
    ),
    Fault(
        "every-attribute-reversed",
        "every attribute taken in reverse axis order",
        needs=STRIDED & PADDED,
        replaces={
            "resolve": resolving(
                lambda p: replace(_reversed(p), kernel=p.kernel[::-1], strides=p.strides[::-1])
            )
        },
    ),
    Fault(
        "strides-ignored",
        "a stride of 1 whatever the strides",
        needs=STRIDED,
        replaces={"resolve": resolving(changed("strides", lambda v: (1,) * len(v)))},
    ),
    Fault(
        "strides-as-kernel",
        "the kernel used as the strides",
        needs=STRIDED,
        replaces={"resolve": resolving(lambda p: replace(p, strides=p.kernel))},
        bugs=("stride_confused_with_kernel",),
    ),
    Fault(
        "strides-clamped-to-kernel",
        "strides clamped to the kernel",
        needs=STRIDED,
        replaces={
            "resolve": resolving(lambda p: replace(p, strides=tuple(map(min, p.strides, p.kernel))))
        },
    ),
    Fault(
        "strides-one-more",
        "strides one cell too long",
        needs=STRIDED,
        replaces={"resolve": resolving(changed("strides", lambda v: tuple(s + 1 for s in v)))},
    ),
    Fault(
        "strides-clamped-to-two",
        "strides clamped to 2",
        needs=STRIDED,
        replaces={"resolve": resolving(changed("strides", _clamped(2)))},
    ),
    *(
        Fault(
            f"kernel-clamped-to-{most}",
            f"kernels above {most} clamped to it",
            needs=WINDOWED,
            replaces={"resolve": resolving(changed("kernel", _clamped(most)))},
        )
        for most in (3, 7, 15, 255)
    ),
    Fault(
        "same-lower-as-upper",
        "same_lower treated as same_upper",
        needs=AUTO_PADDED & SAYS_LOWER,
        replaces={"resolve": resolving(lambda p: _same_as(p, "same_lower", "same_upper"))},
    ),
    Fault(
        "same-upper-as-lower",
        "same_upper treated as same_lower",
        needs=AUTO_PADDED,
        replaces={"resolve": resolving(lambda p: _same_as(p, "same_upper", "same_lower"))},
    ),
    Fault(
        "same-swapped",
        "same_upper and same_lower swapped",
        needs=AUTO_PADDED & SAYS_LOWER,
        replaces={
            "resolve": resolving(
                lambda p: replace(
                    p,
                    auto_pad={"same_upper": "same_lower", "same_lower": "same_upper"}.get(
                        p.auto_pad, p.auto_pad
                    ),
                )
            )
        },
    ),
    Fault(
        "same-as-explicit",
        "same_* treated as explicit",
        needs=AUTO_PADDED & PADDED,
        replaces={"resolve": resolving(lambda p: replace(p, auto_pad="explicit") if p.same else p)},
    ),
    Fault(
        "same-as-valid",
        "same_* treated as valid",
        needs=AUTO_PADDED,
        replaces={"resolve": resolving(lambda p: replace(p, auto_pad="valid") if p.same else p)},
    ),
    Fault(
        "same-lower-as-explicit",
        "same_lower treated as explicit",
        needs=AUTO_PADDED & PADDED & SAYS_LOWER,
        replaces={"resolve": resolving(lambda p: _same_as(p, "same_lower", "explicit"))},
    ),
    Fault(
        "valid-keeps-pads",
        "valid treated as explicit: given pads stay in force",
        needs=AUTO_PADDED & PADDED & SAYS_VALID,
        replaces={"resolve": resolving(lambda p: _same_as(p, "valid", "explicit"))},
        bugs=("valid_keeps_explicit_pads",),
    ),
    Fault(
        "valid-as-same-upper",
        "valid treated as same_upper",
        needs=AUTO_PADDED & SAYS_VALID,
        replaces={"resolve": resolving(lambda p: _same_as(p, "valid", "same_upper"))},
    ),
    Fault(
        "explicit-as-same-upper",
        "explicit treated as same_upper",
        needs=AUTO_PADDED & SAYS_EXPLICIT,
        replaces={"resolve": resolving(lambda p: _same_as(p, "explicit", "same_upper"))},
    ),
    Fault(
        "explicit-zero-pads-as-same-upper",
        "explicit without any padding treated as same_upper",
        needs=AUTO_PADDED & PADDED & SAYS_EXPLICIT,
        replaces={
            "resolve": resolving(
                lambda p: (
                    p if any(p.pads_begin + p.pads_end) else _same_as(p, "explicit", "same_upper")
                )
            )
        },
    ),
    Fault(
        "auto-pad-ignored",
        "auto_pad ignored: pads always as given",
        needs=AUTO_PADDED & PADDED & SAYS_VALID,
        replaces={"resolve": resolving(changed("auto_pad", lambda _: "explicit"))},
    ),
    Fault(
        "ceil-ignored",
        "ceil treated as floor",
        needs=ROUNDED,
        replaces={"resolve": resolving(changed("rounding", lambda _: "floor"))},
        bugs=("ceil_flag_ignored",),
    ),
    Fault(
        "floor-ignored",
        "floor treated as ceil",
        needs=ROUNDED,
        replaces={"resolve": resolving(changed("rounding", lambda _: "ceil"))},
    ),
    Fault(
        "rounding-inverted",
        "ceil and floor swapped",
        needs=ROUNDED,
        replaces={
            "resolve": resolving(changed("rounding", lambda v: "floor" if v == "ceil" else "ceil"))
        },
    ),
    Fault(
        "ceil-ignored-with-valid",
        "rounding_type ignored with auto_pad=valid",
        needs=ROUNDED & AUTO_PADDED & SAYS_VALID,
        replaces={
            "resolve": resolving(
                lambda p: replace(p, rounding="floor" if p.auto_pad == "valid" else p.rounding)
            )
        },
    ),
    Fault(
        "ceil-ignored-without-pads",
        "rounding_type ignored where there is no padding",
        needs=ROUNDED & PADDED,
        replaces={
            "resolve": resolving(
                lambda p: replace(
                    p,
                    rounding=p.rounding
                    if p.auto_pad == "explicit" and any(p.pads_begin + p.pads_end)
                    else "floor",
                )
            )
        },
    ),
    Fault(
        "exclude-pad-ignored",
        "padding counted in the divisor though it is to be excluded",
        needs=INCLUDING,
        replaces={"resolve": resolving(changed("include_pad", lambda _: True))},
        bugs=("flag_exclude_ignored",),
    ),
    Fault(
        "include-pad-ignored",
        "padding left out of the divisor though it is to be included",
        needs=INCLUDING,
        replaces={"resolve": resolving(changed("include_pad", lambda _: False))},
        bugs=("flag_include_ignored",),
    ),
    Fault(
        "exclude-pad-inverted",
        "the meaning of exclude/include padding inverted",
        needs=INCLUDING,
        replaces={"resolve": resolving(changed("include_pad", lambda v: not v))},
    ),
)
