"""Faults of `resolve`: attributes of a valid call are misread, consistently for every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.faults.common import (
    ADAPTIVE,
    AXIS_SLIPS,
    INCLUDING,
    OPENVINO,
    WINDOWED,
    Change,
    changed,
    resolving,
)
from conformance.faults.fault import Fault
from conformance.operators.params import Params

_BUGS = {
    "strides-reversed": ("strides_swapped",),
    "kernel-and-strides-reversed": ("kernel_and_strides_swapped",),
    "pads-ignored": ("explicit_pads_dropped",),
    "valid-keeps-pads": ("valid_keeps_explicit_pads",),
    "strides-as-kernel": ("stride_confused_with_kernel",),
    "ceil-ignored": ("ceil_flag_ignored",),
    "exclude-pad-ignored": ("flag_exclude_ignored",),
    "include-pad-ignored": ("flag_include_ignored",),
}


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


_PADS: dict[str, tuple[str, Change]] = {
    "pads-ignored": (
        "pads_begin and pads_end ignored",
        lambda p: _pads(p, (0,) * len(p.sizes), (0,) * len(p.sizes)),
    ),
    "pads-begin-ignored": (
        "pads_begin ignored",
        lambda p: _pads(p, (0,) * len(p.sizes), p.pads_end),
    ),
    "pads-end-ignored": (
        "pads_end ignored",
        lambda p: _pads(p, p.pads_begin, (0,) * len(p.sizes)),
    ),
    "pads-swapped": (
        "pads_begin and pads_end swapped",
        lambda p: _pads(p, p.pads_end, p.pads_begin),
    ),
    "pads-begin-for-both": (
        "pads_begin used at both ends",
        lambda p: _pads(p, p.pads_begin, p.pads_begin),
    ),
    "pads-end-for-both": (
        "pads_end used at both ends",
        lambda p: _pads(p, p.pads_end, p.pads_end),
    ),
    "pads-reversed": ("pads taken in reverse axis order", _reversed),
    "pads-first-for-all": (
        "pads of the first axis used for every axis",
        lambda p: _pads(p, p.pads_begin[:1] * len(p.sizes), p.pads_end[:1] * len(p.sizes)),
    ),
    "pads-last-for-all": (
        "pads of the last axis used for every axis",
        lambda p: _pads(p, p.pads_begin[-1:] * len(p.sizes), p.pads_end[-1:] * len(p.sizes)),
    ),
    "pads-interleaved": ("pads read as begin, end, begin, end instead of per end", _interleaved),
    "pads-doubled": (
        "pads counted twice",
        lambda p: _pads(p, tuple(2 * v for v in p.pads_begin), tuple(2 * v for v in p.pads_end)),
    ),
    "pads-clamped-to-half-kernel": (
        "pads clamped to half of the kernel",
        lambda p: _at_most(p, tuple(k // 2 for k in p.kernel)),
    ),
    "pads-clamped-to-one": (
        "pads clamped to 1",
        lambda p: _at_most(p, (1,) * len(p.sizes)),
    ),
    "pads-half-kernel": (
        "half of the kernel as pads wherever some pad is given",
        lambda p: _pads(
            p, *(tuple(k // 2 if any(p.pads_begin + p.pads_end) else 0 for k in p.kernel),) * 2
        ),
    ),
}

_WINDOWS: dict[str, tuple[str, Change]] = {
    "kernel-one-less": (
        "the kernel one cell too short",
        changed("kernel", lambda v: tuple(max(1, k - 1) for k in v)),
    ),
    "kernel-one-more": (
        "the kernel one cell too long",
        changed("kernel", lambda v: tuple(k + 1 for k in v)),
    ),
    "kernel-clamped-to-input": (
        "the kernel clamped to the unpadded input",
        lambda p: replace(p, kernel=tuple(map(min, p.kernel, p.sizes))),
    ),
    "kernel-as-strides": (
        "the strides used as the kernel",
        lambda p: replace(p, kernel=p.strides),
    ),
    "kernel-and-strides-swapped": (
        "kernel and strides swapped",
        lambda p: replace(p, kernel=p.strides, strides=p.kernel),
    ),
    "kernel-and-strides-reversed": (
        "kernel and strides both taken in reverse axis order",
        lambda p: replace(p, kernel=p.kernel[::-1], strides=p.strides[::-1]),
    ),
    "every-attribute-reversed": (
        "every attribute taken in reverse axis order",
        lambda p: replace(_reversed(p), kernel=p.kernel[::-1], strides=p.strides[::-1]),
    ),
    "strides-ignored": (
        "a stride of 1 whatever the strides",
        changed("strides", lambda v: (1,) * len(v)),
    ),
    "strides-as-kernel": (
        "the kernel used as the strides",
        lambda p: replace(p, strides=p.kernel),
    ),
    "strides-clamped-to-kernel": (
        "strides clamped to the kernel",
        lambda p: replace(p, strides=tuple(map(min, p.strides, p.kernel))),
    ),
    "strides-one-more": (
        "strides one cell too long",
        changed("strides", lambda v: tuple(s + 1 for s in v)),
    ),
    "strides-clamped-to-two": (
        "strides clamped to 2",
        changed("strides", _clamped(2)),
    ),
}
_WINDOWS |= {
    f"kernel-clamped-to-{most}": (
        f"kernels above {most} clamped to it",
        changed("kernel", _clamped(most)),
    )
    for most in (3, 7, 15, 255)
}

_ROUNDING: dict[str, tuple[str, Change]] = {
    "same-lower-as-upper": (
        "same_lower treated as same_upper",
        lambda p: _same_as(p, "same_lower", "same_upper"),
    ),
    "same-upper-as-lower": (
        "same_upper treated as same_lower",
        lambda p: _same_as(p, "same_upper", "same_lower"),
    ),
    "same-swapped": (
        "same_upper and same_lower swapped",
        lambda p: replace(
            p,
            auto_pad={"same_upper": "same_lower", "same_lower": "same_upper"}.get(
                p.auto_pad, p.auto_pad
            ),
        ),
    ),
    "same-as-explicit": (
        "same_* treated as explicit",
        lambda p: replace(p, auto_pad="explicit") if p.same else p,
    ),
    "same-as-valid": (
        "same_* treated as valid",
        lambda p: replace(p, auto_pad="valid") if p.same else p,
    ),
    "same-lower-as-explicit": (
        "same_lower treated as explicit",
        lambda p: _same_as(p, "same_lower", "explicit"),
    ),
    "valid-keeps-pads": (
        "valid treated as explicit: given pads stay in force",
        lambda p: _same_as(p, "valid", "explicit"),
    ),
    "valid-as-same-upper": (
        "valid treated as same_upper",
        lambda p: _same_as(p, "valid", "same_upper"),
    ),
    "explicit-as-same-upper": (
        "explicit treated as same_upper",
        lambda p: _same_as(p, "explicit", "same_upper"),
    ),
    "explicit-zero-pads-as-same-upper": (
        "explicit without any padding treated as same_upper",
        lambda p: p if any(p.pads_begin + p.pads_end) else _same_as(p, "explicit", "same_upper"),
    ),
    "auto-pad-ignored": (
        "auto_pad ignored: pads always as given",
        changed("auto_pad", lambda _: "explicit"),
    ),
    "ceil-ignored": ("ceil treated as floor", changed("rounding", lambda _: "floor")),
    "floor-ignored": ("floor treated as ceil", changed("rounding", lambda _: "ceil")),
    "rounding-inverted": (
        "ceil and floor swapped",
        changed("rounding", lambda v: "floor" if v == "ceil" else "ceil"),
    ),
    "ceil-ignored-with-valid": (
        "rounding_type ignored with auto_pad=valid",
        lambda p: replace(p, rounding="floor" if p.auto_pad == "valid" else p.rounding),
    ),
    "ceil-ignored-without-pads": (
        "rounding_type ignored where there is no padding",
        lambda p: replace(
            p,
            rounding=p.rounding
            if p.auto_pad == "explicit" and any(p.pads_begin + p.pads_end)
            else "floor",
        ),
    ),
}

_DIVISOR: dict[str, tuple[str, Change]] = {
    "exclude-pad-ignored": (
        "padding counted in the divisor though it is to be excluded",
        changed("include_pad", lambda _: True),
    ),
    "include-pad-ignored": (
        "padding left out of the divisor though it is to be included",
        changed("include_pad", lambda _: False),
    ),
    "exclude-pad-inverted": (
        "the meaning of exclude/include padding inverted",
        changed("include_pad", lambda v: not v),
    ),
}


def _faults(table: dict[str, tuple[str, Change]], operators: tuple[str, ...]) -> tuple[Fault, ...]:
    return tuple(
        Fault(name, words, operators, {"resolve": resolving(change)}, _BUGS.get(name, ()))
        for name, (words, change) in table.items()
    )


def _by_axis(field: str, operators: tuple[str, ...]) -> tuple[Fault, ...]:
    return _faults(
        {
            f"{field.replace('_', '-')}-{slip.name}": (
                f"{field.replace('output', 'output_size')} {slip.words}",
                changed(field, slip.of),
            )
            for slip in AXIS_SLIPS
        },
        operators,
    )


FAULTS: tuple[Fault, ...] = (
    *_by_axis("kernel", WINDOWED),
    *_by_axis("strides", WINDOWED),
    *_by_axis("output", ADAPTIVE),
    *_faults(_PADS, WINDOWED),
    *_faults(_WINDOWS, WINDOWED),
    *_faults(_ROUNDING, OPENVINO),
    *_faults(_DIVISOR, INCLUDING),
)
