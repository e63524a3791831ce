"""Faults that refuse what is valid: an exception where values are due."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.common import (
    ADAPTIVE,
    AVERAGES,
    EVERY,
    INCLUDING,
    MAXIMUM,
    OPENVINO,
    WINDOWED,
    Refused,
    refusing,
)
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Gathered, Pads, Windows, rooms
from conformance.reference.rounding import widen
from conformance.vector import Array

Condition = Callable[[Params, Pads, Extent], bool]


def _refusing_data(condition: Callable[[Array], bool]) -> StepWrap:
    """Wrap `gather`: refuse the cases whose data meet a condition."""

    def wrap(gather: Callable[..., Gathered]) -> Callable[..., Gathered]:
        def refuse(data: Array, params: Params, windows: Windows) -> Gathered:
            if condition(data):
                raise Refused("not implemented for these data")
            return gather(data, params, windows)

        return refuse

    return wrap


def _overhangs(params: Params, pads: Pads, extent: Extent) -> bool:
    return any(
        (o - 1) * s > t for o, s, t in zip(extent, params.strides, rooms(params, pads), strict=True)
    )


def _given(params: Params) -> tuple[int, ...]:
    return params.pads_begin + params.pads_end if params.auto_pad == "explicit" else ()


def _blocked(data: Array) -> bool:
    return name_of(data.dtype) == "float16" and data.shape[1] % 16 == 0


_WINDOWED: dict[str, tuple[str, Condition]] = {
    "asymmetric-pads": (
        "begin and end pads that differ",
        lambda p, pads, _: any(begin != end for begin, end in pads) and bool(_given(p)),
    ),
    "pads-above-half-kernel": (
        "pads above half of the kernel",
        lambda p, pads, _: any(
            k // 2 < max(pad) < k for pad, k in zip(pads, p.kernel, strict=True)
        ),
    ),
    "stride-above-kernel": (
        "strides above the kernel",
        lambda p, _pads, _: any(s > k for s, k in zip(p.strides, p.kernel, strict=True)),
    ),
    "kernel-above-input": (
        "a kernel larger than the input, though the padded input holds it",
        lambda p, _pads, _: any(k > d for k, d in zip(p.kernel, p.sizes, strict=True)),
    ),
    "kernel-one": ("a kernel of 1 on every axis", lambda p, *_: max(p.kernel) == 1),
    "unequal-kernel": ("a kernel that differs between axes", lambda p, *_: len(set(p.kernel)) > 1),
    "unequal-strides": (
        "strides that differ between axes",
        lambda p, *_: len(set(p.strides)) > 1,
    ),
    "large-kernel": ("kernels above 16", lambda p, *_: max(p.kernel) > 16),
    "one-axis": ("data of one spatial axis", lambda p, *_: len(p.sizes) == 1),
    "three-axes": ("data of three spatial axes", lambda p, *_: len(p.sizes) == 3),
}

_OPENVINO: dict[str, tuple[str, Condition]] = {
    "ceil": ("rounding_type=ceil", lambda p, *_: p.ceil),
    "ceil-with-pads": (
        "rounding_type=ceil with pads",
        lambda p, pads, _: p.ceil and not p.same and any(map(any, pads)),
    ),
    "same": ("same_*", lambda p, *_: p.same),
    "same-lower": ("same_lower", lambda p, *_: p.auto_pad == "same_lower"),
    "same-with-ceil": ("same_* with rounding_type=ceil", lambda p, *_: p.same and p.ceil),
    "same-with-strides": (
        "same_* with strides above 1",
        lambda p, *_: p.same and max(p.strides) > 1,
    ),
    "same-with-gaps": (
        "same_* where windows leave cells out at the end of the input",
        lambda p, _pads, extent: (
            p.same
            and any(
                (o - 1) * s + k < d
                for o, s, k, d in zip(extent, p.strides, p.kernel, p.sizes, strict=True)
            )
        ),
    ),
    "same-with-odd-padding": (
        "same_* where the padding is odd",
        lambda p, pads, _: p.same and any(begin != end for begin, end in pads),
    ),
    "same-with-given-pads": (
        "same_* with pads given, which are to be ignored",
        lambda p, *_: p.same and any(p.pads_begin + p.pads_end),
    ),
    "valid": ("auto_pad=valid", lambda p, *_: p.auto_pad == "valid"),
    "valid-with-given-pads": (
        "valid with pads given, which are to be ignored",
        lambda p, *_: p.auto_pad == "valid" and any(p.pads_begin + p.pads_end),
    ),
}

_INCLUDING: dict[str, tuple[str, Condition]] = {
    "include-padding": (
        "padding counted in the divisor where there is padding",
        lambda p, pads, _: p.include_pad and any(map(any, pads)),
    ),
    "exclude-padding": (
        "padding left out of the divisor where there is padding",
        lambda p, pads, _: not p.include_pad and any(map(any, pads)),
    ),
}

_ADAPTIVE: dict[str, tuple[str, Condition]] = {
    "output-above-input": (
        "an output_size above the input",
        lambda p, _, extent: any(o > d for o, d in zip(extent, p.sizes, strict=True)),
    ),
    "output-not-dividing": (
        "an output_size that does not divide the input",
        lambda p, _, extent: any(d % o for o, d in zip(extent, p.sizes, strict=True)),
    ),
    "output-as-input": (
        "an output_size as large as the input",
        lambda p, _, extent: extent == p.sizes,
    ),
    "unequal-output": (
        "an output_size that differs between axes",
        lambda _p, _, extent: len(set(extent)) > 1,
    ),
    "one-axis-adaptive": ("data of one spatial axis", lambda p, *_: len(p.sizes) == 1),
    "three-axes-adaptive": ("data of three spatial axes", lambda p, *_: len(p.sizes) == 3),
}

_DATA: dict[str, tuple[str, tuple[str, ...], Callable[[Array], bool]]] = {
    "batch": ("a batch above 1", EVERY, lambda data: data.shape[0] > 1),
    "one-channel": ("a single channel", EVERY, lambda data: data.shape[1] == 1),
    "many-channels": ("more than 32 channels", EVERY, lambda data: data.shape[1] > 32),
    "float16": ("float16", EVERY, lambda data: name_of(data.dtype) == "float16"),
    "bfloat16": ("bfloat16", EVERY, lambda data: name_of(data.dtype) == "bfloat16"),
    "float64": ("float64", EVERY, lambda data: name_of(data.dtype) == "float64"),
    "integers": ("integers", MAXIMUM, lambda data: data.dtype.kind in "iu"),
    "unsigned": ("unsigned integers", MAXIMUM, lambda data: data.dtype.kind == "u"),
    "not-finite": (
        "data with an infinity or NaN",
        EVERY,
        lambda data: data.dtype.kind not in "iu" and not np.isfinite(widen(data)).all(),
    ),
    "float16-blocked": (
        "float16 with a multiple of 16 channels",
        AVERAGES,
        _blocked,
    ),
}
_BUGS = {
    "ceil-overhang": ("ceil_oob_throw",),
    "float16-blocked": ("adaptive_no_kernel_f16_blocked",),
}


def _faults(
    table: dict[str, tuple[str, Condition]], operators: tuple[str, ...]
) -> tuple[Fault, ...]:
    return tuple(
        Fault(
            f"refuses-{name}",
            f"{words} refused",
            operators,
            {"windows": refusing(condition)},
            _BUGS.get(name, ()),
        )
        for name, (words, condition) in table.items()
    )


_OPENVINO["ceil-overhang"] = (
    "windows that overhang the padded input",
    lambda p, pads, extent: not p.same and _overhangs(p, pads, extent),
)

FAULTS: tuple[Fault, ...] = (
    *_faults(_WINDOWED, WINDOWED),
    *_faults(_OPENVINO, OPENVINO),
    *_faults(_INCLUDING, INCLUDING),
    *_faults(_ADAPTIVE, ADAPTIVE),
    *(
        Fault(
            f"refuses-{name}",
            f"{words} refused",
            operators,
            {"gather": _refusing_data(condition)},
            _BUGS.get(name, ()),
        )
        for name, (words, operators, condition) in _DATA.items()
    ),
)
