"""Faults that refuse what is valid: an exception where values are due."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.dtypes import name_of
from conformance.faults.catalogue.building_blocks import (
    ADAPTIVE,
    AUTO_PADDED,
    AVERAGES,
    BORDERED,
    CHOOSING,
    INCLUDING,
    INTEGERS,
    PADDED,
    ROUNDED,
    SAYS_LOWER,
    SAYS_VALID,
    STRIDED,
    WINDOWED,
    Refused,
    refusing,
)
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
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


FAULTS: tuple[Fault, ...] = (
    Fault(
        "refuses-asymmetric-pads",
        "begin and end pads that differ refused",
        needs=PADDED,
        replaces={
            "windows": refusing(
                lambda p, pads, _: any(begin != end for begin, end in pads) and bool(_given(p))
            )
        },
    ),
    Fault(
        "refuses-pads-above-half-kernel",
        "pads above half of the kernel refused",
        needs=PADDED,
        replaces={
            "windows": refusing(
                lambda p, pads, _: any(
                    k // 2 < max(pad) < k for pad, k in zip(pads, p.kernel, strict=True)
                )
            )
        },
    ),
    Fault(
        "refuses-stride-above-kernel",
        "strides above the kernel refused",
        needs=STRIDED,
        replaces={
            "windows": refusing(
                lambda p, _pads, _: any(s > k for s, k in zip(p.strides, p.kernel, strict=True))
            )
        },
    ),
    Fault(
        "refuses-kernel-above-input",
        "a kernel larger than the input, though the padded input holds it refused",
        needs=BORDERED,
        replaces={
            "windows": refusing(
                lambda p, _pads, _: any(k > d for k, d in zip(p.kernel, p.sizes, strict=True))
            )
        },
    ),
    Fault(
        "refuses-kernel-one",
        "a kernel of 1 on every axis refused",
        needs=WINDOWED,
        replaces={"windows": refusing(lambda p, *_: max(p.kernel) == 1)},
    ),
    Fault(
        "refuses-unequal-kernel",
        "a kernel that differs between axes refused",
        needs=WINDOWED,
        replaces={"windows": refusing(lambda p, *_: len(set(p.kernel)) > 1)},
    ),
    Fault(
        "refuses-unequal-strides",
        "strides that differ between axes refused",
        needs=STRIDED,
        replaces={"windows": refusing(lambda p, *_: len(set(p.strides)) > 1)},
    ),
    Fault(
        "refuses-large-kernel",
        "kernels above 16 refused",
        needs=WINDOWED,
        replaces={"windows": refusing(lambda p, *_: max(p.kernel) > 16)},
    ),
    Fault(
        "refuses-one-axis",
        "data of one spatial axis refused",
        needs=WINDOWED,
        replaces={"windows": refusing(lambda p, *_: len(p.sizes) == 1)},
    ),
    Fault(
        "refuses-three-axes",
        "data of three spatial axes refused",
        needs=WINDOWED,
        replaces={"windows": refusing(lambda p, *_: len(p.sizes) == 3)},
    ),
    Fault(
        "refuses-ceil",
        "rounding_type=ceil refused",
        needs=ROUNDED,
        replaces={"windows": refusing(lambda p, *_: p.ceil)},
    ),
    Fault(
        "refuses-ceil-with-pads",
        "rounding_type=ceil with pads refused",
        needs=ROUNDED & PADDED,
        replaces={
            "windows": refusing(lambda p, pads, _: p.ceil and not p.same and any(map(any, pads)))
        },
    ),
    Fault(
        "refuses-same",
        "same_* refused",
        needs=AUTO_PADDED,
        replaces={"windows": refusing(lambda p, *_: p.same)},
    ),
    Fault(
        "refuses-same-lower",
        "same_lower refused",
        needs=AUTO_PADDED & SAYS_LOWER,
        replaces={"windows": refusing(lambda p, *_: p.auto_pad == "same_lower")},
    ),
    Fault(
        "refuses-same-with-ceil",
        "same_* with rounding_type=ceil refused",
        needs=ROUNDED & AUTO_PADDED,
        replaces={"windows": refusing(lambda p, *_: p.same and p.ceil)},
    ),
    Fault(
        "refuses-same-with-strides",
        "same_* with strides above 1 refused",
        needs=AUTO_PADDED,
        replaces={"windows": refusing(lambda p, *_: p.same and max(p.strides) > 1)},
    ),
    Fault(
        "refuses-same-with-gaps",
        "same_* where windows leave cells out at the end of the input refused",
        needs=AUTO_PADDED,
        replaces={
            "windows": refusing(
                lambda p, _pads, extent: (
                    p.same
                    and any(
                        (o - 1) * s + k < d
                        for o, s, k, d in zip(extent, p.strides, p.kernel, p.sizes, strict=True)
                    )
                )
            )
        },
    ),
    Fault(
        "refuses-same-with-odd-padding",
        "same_* where the padding is odd refused",
        needs=AUTO_PADDED,
        replaces={
            "windows": refusing(
                lambda p, pads, _: p.same and any(begin != end for begin, end in pads)
            )
        },
    ),
    Fault(
        "refuses-same-with-given-pads",
        "same_* with pads given, which are to be ignored refused",
        needs=AUTO_PADDED & PADDED,
        replaces={"windows": refusing(lambda p, *_: p.same and any(p.pads_begin + p.pads_end))},
    ),
    Fault(
        "refuses-valid",
        "auto_pad=valid refused",
        needs=AUTO_PADDED & SAYS_VALID,
        replaces={"windows": refusing(lambda p, *_: p.auto_pad == "valid")},
    ),
    Fault(
        "refuses-valid-with-given-pads",
        "valid with pads given, which are to be ignored refused",
        needs=AUTO_PADDED & PADDED & SAYS_VALID,
        replaces={
            "windows": refusing(
                lambda p, *_: p.auto_pad == "valid" and any(p.pads_begin + p.pads_end)
            )
        },
    ),
    Fault(
        "refuses-ceil-overhang",
        "windows that overhang the padded input refused",
        needs=ROUNDED,
        replaces={
            "windows": refusing(lambda p, pads, extent: not p.same and _overhangs(p, pads, extent))
        },
        bugs=("ceil_oob_throw",),
    ),
    Fault(
        "refuses-include-padding",
        "padding counted in the divisor where there is padding refused",
        needs=INCLUDING,
        replaces={"windows": refusing(lambda p, pads, _: p.include_pad and any(map(any, pads)))},
    ),
    Fault(
        "refuses-exclude-padding",
        "padding left out of the divisor where there is padding refused",
        needs=INCLUDING,
        replaces={
            "windows": refusing(lambda p, pads, _: not p.include_pad and any(map(any, pads)))
        },
    ),
    Fault(
        "refuses-output-above-input",
        "an output_size above the input refused",
        needs=ADAPTIVE,
        replaces={
            "windows": refusing(
                lambda p, _, extent: any(o > d for o, d in zip(extent, p.sizes, strict=True))
            )
        },
    ),
    Fault(
        "refuses-output-not-dividing",
        "an output_size that does not divide the input refused",
        needs=ADAPTIVE,
        replaces={
            "windows": refusing(
                lambda p, _, extent: any(d % o for o, d in zip(extent, p.sizes, strict=True))
            )
        },
    ),
    Fault(
        "refuses-output-as-input",
        "an output_size as large as the input refused",
        needs=ADAPTIVE,
        replaces={"windows": refusing(lambda p, _, extent: extent == p.sizes)},
    ),
    Fault(
        "refuses-unequal-output",
        "an output_size that differs between axes refused",
        needs=ADAPTIVE,
        replaces={"windows": refusing(lambda _p, _, extent: len(set(extent)) > 1)},
    ),
    Fault(
        "refuses-one-axis-adaptive",
        "data of one spatial axis refused",
        needs=ADAPTIVE,
        replaces={"windows": refusing(lambda p, *_: len(p.sizes) == 1)},
    ),
    Fault(
        "refuses-three-axes-adaptive",
        "data of three spatial axes refused",
        needs=ADAPTIVE,
        replaces={"windows": refusing(lambda p, *_: len(p.sizes) == 3)},
    ),
    Fault(
        "refuses-batch",
        "a batch above 1 refused",
        replaces={"gather": _refusing_data(lambda data: data.shape[0] > 1)},
    ),
    Fault(
        "refuses-one-channel",
        "a single channel refused",
        replaces={"gather": _refusing_data(lambda data: data.shape[1] == 1)},
    ),
    Fault(
        "refuses-many-channels",
        "more than 32 channels refused",
        replaces={"gather": _refusing_data(lambda data: data.shape[1] > 32)},
    ),
    Fault(
        "refuses-float16",
        "float16 refused",
        needs=Needs(dtypes=("float16",)),
        replaces={"gather": _refusing_data(lambda data: name_of(data.dtype) == "float16")},
    ),
    Fault(
        "refuses-bfloat16",
        "bfloat16 refused",
        needs=Needs(dtypes=("bfloat16",)),
        replaces={"gather": _refusing_data(lambda data: name_of(data.dtype) == "bfloat16")},
    ),
    Fault(
        "refuses-float64",
        "float64 refused",
        needs=Needs(dtypes=("float64",)),
        replaces={"gather": _refusing_data(lambda data: name_of(data.dtype) == "float64")},
    ),
    Fault(
        "refuses-integers",
        "integers refused",
        needs=CHOOSING & INTEGERS,
        replaces={"gather": _refusing_data(lambda data: data.dtype.kind in "iu")},
    ),
    Fault(
        "refuses-unsigned",
        "unsigned integers refused",
        needs=CHOOSING & INTEGERS,
        replaces={"gather": _refusing_data(lambda data: data.dtype.kind == "u")},
    ),
    Fault(
        "refuses-not-finite",
        "data with an infinity or NaN refused",
        replaces={
            "gather": _refusing_data(
                lambda data: data.dtype.kind not in "iu" and not np.isfinite(widen(data)).all()
            )
        },
    ),
    Fault(
        "refuses-float16-blocked",
        "float16 with a multiple of 16 channels refused",
        needs=AVERAGES & Needs(dtypes=("float16",)),
        replaces={"gather": _refusing_data(_blocked)},
        bugs=("adaptive_no_kernel_f16_blocked",),
    ),
)
