"""Faults that refuse a valid call: they raise an exception instead of returning values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import gt, mod
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.atoms.numbers import is_float
from conformance.faults.behaviour import (
    ACTIVATED,
    ADAPTIVE,
    APART,
    AUTO_PADDED,
    AVERAGES,
    BORDERED,
    CHOOSING,
    DILATED,
    EVERY,
    INCLUDING,
    INTEGERS,
    PADDED,
    PADS_IGNORED,
    ROUNDED,
    SAYS_LOWER,
    SAYS_VALID,
    SINGLE,
    STRIDED,
    UNRULED,
    VOLUMETRIC,
    WINDOWED,
    Behaviour,
    Faults,
    Refused,
    before,
)
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, rooms
from conformance.reference.rounding import widen
from conformance.vector import Array


def _refused_if(
    condition: Callable[..., Any], step: str, summary: str, needs: Needs, bug: str = ""
) -> Behaviour:
    def check(*given: Any) -> tuple[Any, ...]:
        if condition(*given):
            raise Refused("not implemented for this call")
        return given

    return Behaviour(summary, needs, before(step, check), bug)


def _geometry(
    summary: str, needs: Needs, condition: Callable[[Params, Pads, Extent], bool], bug: str = ""
) -> Behaviour:
    """Refuse a call if `condition(params, pads, extent)`."""
    return _refused_if(condition, "windows", summary, needs, bug)


def _data(
    summary: str, needs: Needs, condition: Callable[[Array], bool], bug: str = ""
) -> Behaviour:
    """Refuse a call if `condition(data)`."""
    return _refused_if(lambda data, *_: condition(data), "gather", summary, needs, bug)


def _is_of_type(kind: str, data: Array) -> bool:
    return name_of(data.dtype) == kind


def _padded(pads: Pads) -> bool:
    return any(map(any, pads))


def _uneven(pads: Pads) -> bool:
    return any(begin != end for begin, end in pads)


def _overhangs(params: Params, pads: Pads, extent: Extent) -> bool:
    """Say whether the last window of an axis reaches beyond the padded input."""
    return any(
        (o - 1) * s > t for o, s, t in zip(extent, params.strides, rooms(params, pads), strict=True)
    )


def _leaves_cells_out(params: Params, extent: Extent) -> bool:
    """Say whether windows without begin pads leave out cells at the end of an axis."""
    axes = zip(extent, params.strides, params.kernel, params.sizes, strict=True)
    return any((o - 1) * s + k < d for o, s, k, d in axes)


FAULTS: Faults = {
    "refuses-asymmetric-pads": _geometry(
        "begin and end pads that differ refused",
        PADDED & APART,
        lambda p, pads, _: p.auto_pad == "explicit" and _uneven(pads),
    ),
    "refuses-pads-above-half-kernel": _geometry(
        "pads above half of the kernel refused",
        PADDED & UNRULED,
        lambda p, pads, _: any(
            k // 2 < max(pad) < k for pad, k in zip(pads, p.kernel, strict=True)
        ),
    ),
    "refuses-dilations": _geometry(
        "dilations above 1 refused",
        DILATED,
        lambda p, *_: any(n > 1 for n in p.dilations),
        bug="refuses_dilations",
    ),
    "refuses-unequal-dilations": _geometry(
        "dilations that differ from axis to axis refused",
        DILATED,
        lambda p, *_: len(set(p.dilations)) > 1,
    ),
    "refuses-pads-of-dilated-kernel": _geometry(
        "pads above half of the kernel refused, though not above half of the dilated kernel",
        DILATED & PADDED & UNRULED,
        lambda p, pads, _: any(
            k < 2 * max(pad) <= span for k, span, pad in zip(p.kernel, p.spans, pads, strict=True)
        ),
        bug="refuses_pads_of_dilated_kernel",
    ),
    "refuses-stride-above-kernel": _geometry(
        "strides above the kernel refused",
        STRIDED,
        lambda p, _pads, _: any(map(gt, p.strides, p.kernel)),
    ),
    "refuses-kernel-above-input": _geometry(
        "a kernel larger than the input refused, though the padded input holds it",
        BORDERED,
        lambda p, _pads, _: any(map(gt, p.kernel, p.sizes)),
    ),
    "refuses-kernel-one": _geometry(
        "a kernel of 1 on every axis refused", WINDOWED, lambda p, *_: max(p.kernel) == 1
    ),
    "refuses-unequal-kernel": _geometry(
        "a kernel that differs between axes refused", WINDOWED, lambda p, *_: len(set(p.kernel)) > 1
    ),
    "refuses-unequal-strides": _geometry(
        "strides that differ between axes refused", STRIDED, lambda p, *_: len(set(p.strides)) > 1
    ),
    "refuses-large-kernel": _geometry(
        "kernels above 16 refused", WINDOWED, lambda p, *_: max(p.kernel) > 16
    ),
    "refuses-one-axis": _geometry(
        "data of one spatial axis refused", WINDOWED & SINGLE, lambda p, *_: len(p.sizes) == 1
    ),
    "refuses-three-axes": _geometry(
        "data of three spatial axes refused", WINDOWED & VOLUMETRIC, lambda p, *_: len(p.sizes) == 3
    ),
    "refuses-ceil": _geometry("rounding_type=ceil refused", ROUNDED, lambda p, *_: p.ceil),
    "refuses-ceil-with-pads": _geometry(
        "rounding_type=ceil with pads refused",
        ROUNDED & PADDED,
        lambda p, pads, _: p.ceil and not p.same and _padded(pads),
    ),
    "refuses-same": _geometry("same_* refused", AUTO_PADDED, lambda p, *_: p.same),
    "refuses-same-lower": _geometry(
        "same_lower refused", AUTO_PADDED & SAYS_LOWER, lambda p, *_: p.auto_pad == "same_lower"
    ),
    "refuses-same-with-ceil": _geometry(
        "same_* with rounding_type=ceil refused",
        ROUNDED & AUTO_PADDED,
        lambda p, *_: p.same and p.ceil,
    ),
    "refuses-same-with-strides": _geometry(
        "same_* with strides above 1 refused",
        AUTO_PADDED,
        lambda p, *_: p.same and max(p.strides) > 1,
    ),
    "refuses-same-with-gaps": _geometry(
        "same_* refused where windows leave out cells at the end of the input",
        AUTO_PADDED,
        lambda p, _pads, extent: p.same and _leaves_cells_out(p, extent),
    ),
    "refuses-same-with-odd-padding": _geometry(
        "same_* refused where its padding is odd",
        AUTO_PADDED,
        lambda p, pads, _: p.same and _uneven(pads),
    ),
    "refuses-same-with-given-pads": _geometry(
        "same_* with pads given refused, though the pads are to be ignored",
        AUTO_PADDED & PADDED & PADS_IGNORED,
        lambda p, *_: p.same and any(p.pads_begin + p.pads_end),
    ),
    "refuses-valid": _geometry(
        "auto_pad=valid refused", AUTO_PADDED & SAYS_VALID, lambda p, *_: p.auto_pad == "valid"
    ),
    "refuses-valid-with-given-pads": _geometry(
        "valid with pads given refused, though the pads are to be ignored",
        AUTO_PADDED & PADDED & SAYS_VALID & PADS_IGNORED,
        lambda p, *_: p.auto_pad == "valid" and any(p.pads_begin + p.pads_end),
    ),
    "refuses-ceil-overhang": _geometry(
        "windows that overhang the padded input refused",
        ROUNDED,
        lambda p, pads, extent: not p.same and _overhangs(p, pads, extent),
        bug="ceil_oob_throw",
    ),
    "refuses-include-padding": _geometry(
        "a divisor that counts padding refused where there is padding",
        INCLUDING,
        lambda p, pads, _: p.include_pad and _padded(pads),
    ),
    "refuses-exclude-padding": _geometry(
        "a divisor that leaves padding out refused where there is padding",
        INCLUDING,
        lambda p, pads, _: not p.include_pad and _padded(pads),
    ),
    "refuses-output-above-input": _geometry(
        "an output_size above the input refused",
        ADAPTIVE,
        lambda p, _, extent: any(map(gt, extent, p.sizes)),
    ),
    "refuses-output-not-dividing": _geometry(
        "an output_size that does not divide the input refused",
        ADAPTIVE,
        lambda p, _, extent: any(map(mod, p.sizes, extent)),
    ),
    "refuses-output-as-input": _geometry(
        "an output_size as large as the input refused",
        ADAPTIVE,
        lambda p, _, extent: extent == p.sizes,
    ),
    "refuses-unequal-output": _geometry(
        "an output_size that differs between axes refused",
        ADAPTIVE,
        lambda _p, _, extent: len(set(extent)) > 1,
    ),
    "refuses-one-axis-adaptive": _geometry(
        "data of one spatial axis refused", ADAPTIVE & SINGLE, lambda p, *_: len(p.sizes) == 1
    ),
    "refuses-three-axes-adaptive": _geometry(
        "data of three spatial axes refused", ADAPTIVE & VOLUMETRIC, lambda p, *_: len(p.sizes) == 3
    ),
    "refuses-activation": _refused_if(
        lambda gathered, *_: gathered.params.activation != "none",
        "clamp",
        "an activation refused",
        ACTIVATED,
    ),
    "refuses-accumulator": _refused_if(
        lambda gathered, *_: gathered.params.accumulator != "wider",
        "reduce",
        "sums in the element type, asked for, refused",
        Needs(roles=("accumulator",)),
    ),
    "refuses-batch": _data("a batch above 1 refused", EVERY, lambda data: data.shape[0] > 1),
    "refuses-one-channel": _data(
        "a single channel refused", EVERY, lambda data: data.shape[1] == 1
    ),
    "refuses-many-channels": _data(
        "more than 32 channels refused", EVERY, lambda data: data.shape[1] > 32
    ),
    **{
        f"refuses-{kind}": _data(
            f"{kind} refused", Needs(dtypes=(kind,)), partial(_is_of_type, kind)
        )
        for kind in ("float16", "bfloat16", "float64")
    },
    "refuses-integers": _data(
        "integers refused", CHOOSING & INTEGERS, lambda data: not is_float(data)
    ),
    "refuses-unsigned": _data(
        "unsigned integers refused",
        CHOOSING & Needs(dtypes=("uint8",)),
        lambda data: data.dtype.kind == "u",
    ),
    "refuses-not-finite": _data(
        "data with an infinity or NaN refused",
        EVERY,
        lambda data: is_float(data) and not np.isfinite(widen(data)).all(),
    ),
    "refuses-float16-blocked": _data(
        "float16 with a multiple of 16 channels refused",
        AVERAGES & Needs(dtypes=("float16",)),
        lambda data: name_of(data.dtype) == "float16" and data.shape[1] % 16 == 0,
        bug="adaptive_no_kernel_f16_blocked",
    ),
}
