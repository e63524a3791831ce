"""Faults of `validate`: wrong defaults, calls accepted that break a rule of the document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.faults.call import Call, Unknown
from conformance.faults.catalogue.building_blocks import (
    ADAPTIVE,
    AUTO_PADDED,
    PADDED,
    ROUNDED,
    SAYS_EXPLICIT,
    STRIDED,
    WINDOWED,
    Refused,
)
from conformance.faults.fault import Fault
from conformance.operators.attributes import Role
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs, roles_of
from conformance.operators.registry import OWN
from conformance.vector import Array


def _calling(change: Callable[[Call], Call]) -> StepWrap:
    """Wrap `validate`: it sees a changed call."""
    return lambda validate: lambda call: validate(change(call))


def _default(role: Role, value: Callable[[Call], Any]) -> StepWrap:
    """Give an absent attribute another default."""
    return _calling(
        lambda call: (
            call if role in call.given else replace(call, given={**call.given, role: value(call)})
        )
    )


def _meaning(value: Any) -> Callable[[Call], Any]:
    return lambda _call: value


def _of_role(role: Role) -> Callable[[Call], Any]:
    return lambda call: call.meaning(role)


def _required(role: Role) -> StepWrap:
    """Refuse a call that leaves out an attribute that has a default."""

    def change(call: Call) -> Call:
        if role not in call.given:
            raise Refused(f"{role} is missing")
        return call

    return _calling(change)


def _repaired(*roles: Role, by: Callable[[Any, int], Any]) -> StepWrap:
    """Repair the values of some roles instead of refusing them; `by` gets the axes too."""
    return _calling(
        lambda call: replace(
            call,
            given={
                role: by(value, call.axes) if role in roles else value
                for role, value in call.given.items()
            },
        )
    )


def _integers(of: Callable[[Any], Any]) -> Callable[[Any, int], Any]:
    return lambda value, _axes: [of(v) for v in value] if isinstance(value, list) else value


def _of_length(value: Any, axes: int) -> Any:
    if not isinstance(value, list):
        return value
    return (value + (value[-1:] or [1]) * axes)[:axes]


def _known_or(meaning: str) -> Callable[[Any, int], Any]:
    return lambda value, _axes: meaning if isinstance(value, Unknown) else value


def _absent(call: Call) -> Call:
    """Give the attributes a document requires defaults."""
    ones, zeros = [1] * call.axes, [0] * call.axes
    defaults: dict[Role, Any] = {
        "kernel": ones,
        "strides": ones,
        "pads_begin": zeros,
        "pads_end": zeros,
        "rounding": "floor",
        "auto_pad": "explicit",
        "include_pad": True,
    }
    required = roles_of(each for each in call.operator.attributes if each.required)
    needed = {str(role): value for role, value in defaults.items() if role in required}
    return replace(call, given={**needed, **call.given})


def _any_rank(call: Call) -> Call:
    """Take data of more axes than the document lists."""
    return replace(call, operator=replace(call.operator, axes=(call.operator.axes[0], None)))


def _any_type(call: Call) -> Call:
    """Take integers where the document wants floating-point data."""
    data, *others = call.inputs
    data = data.astype(np.float32) if data.dtype.kind in "iub" else data
    return replace(call, inputs=(data, *others))


def _output_size(repair: Callable[[Array, int], Array]) -> StepWrap:
    """Repair the output size instead of refusing it; `repair` also gets the number of axes."""
    return _calling(
        lambda call: replace(
            call,
            inputs=(*call.inputs[:1], *(repair(size, call.axes) for size in call.inputs[1:])),
        )
    )


def _key(role: Role) -> str:
    """Name an attribute as the first document of the suite does that has a default for it.

    Faults of defaults are called by such names; they concern whatever is of the role.
    """
    attributes = (attribute for operator in OWN for attribute in operator.attributes)
    return next(each.key for each in attributes if each.role == role and not each.required)


def _dashed(key: str) -> str:
    return key.replace("_", "-")


_OTHER_DEFAULTS: tuple[tuple[Role, str], ...] = (
    ("rounding", "ceil"),
    ("auto_pad", "same_upper"),
    ("auto_pad", "same_lower"),
    ("auto_pad", "valid"),
)
_ENDS: tuple[tuple[Role, Role], ...] = (("pads_begin", "pads_end"), ("pads_end", "pads_begin"))
_OPTIONAL: tuple[Role, ...] = (
    "rounding",
    "auto_pad",
    "strides",
    "pads_begin",
    "pads_end",
    "include_pad",
)

FAULTS: tuple[Fault, ...] = (
    *(
        Fault(
            f"default-{_dashed(_key(role))}-{_dashed(value)}",
            f"an absent {_key(role)} taken as {value}",
            needs=Needs(other_default=((role, value),)),
            replaces={"validate": _default(role, _meaning(value))},
        )
        for role, value in _OTHER_DEFAULTS
    ),
    Fault(
        f"default-{_dashed(_key('strides'))}-window",
        f"an absent {_key('strides')} taken as the window shape",
        needs=WINDOWED & Needs(optional=("strides",)),
        replaces={"validate": _default("strides", _of_role("kernel"))},
    ),
    Fault(
        f"default-{_dashed(_key('strides'))}-two",
        f"an absent {_key('strides')} taken as 2",
        needs=Needs(other_default=(("strides", 2),)),
        replaces={"validate": _default("strides", lambda call: [2] * call.axes)},
    ),
    *(
        Fault(
            f"default-{_dashed(_key(end))}-{_key(other).rpartition('_')[2]}",
            f"an absent {_key(end)} taken as {_key(other)}",
            # Pads in one list are absent together.
            needs=Needs(optional=(end,), roles=(other,), without=("pads",)),
            replaces={"validate": _default(end, _of_role(other))},
        )
        for end, other in _ENDS
    ),
    Fault(
        f"default-{_dashed(_key('include_pad'))}-true",
        f"an absent {_key('include_pad')} taken as true",
        needs=Needs(other_default=(("include_pad", True),)),
        replaces={"validate": _default("include_pad", _meaning(value=True))},
    ),
    *(
        Fault(
            f"required-{_dashed(_key(role))}",
            f"a call without {_key(role)} refused, though it has a default",
            needs=Needs(optional=(role,), without=("pads",) if role == "pads_end" else ()),
            replaces={"validate": _required(role)},
        )
        for role in _OPTIONAL
    ),
    Fault(
        "accepts-stride-zero",
        "a stride of 0 accepted",
        needs=STRIDED,
        replaces={"validate": _repaired("strides", by=_integers(lambda v: v or 1))},
    ),
    Fault(
        "accepts-stride-negative",
        "a negative stride accepted",
        needs=STRIDED,
        replaces={"validate": _repaired("strides", by=_integers(lambda v: abs(v) if v < 0 else v))},
    ),
    Fault(
        "accepts-kernel-zero",
        "a kernel of 0 accepted",
        needs=WINDOWED,
        replaces={"validate": _repaired("kernel", by=_integers(lambda v: v or 1))},
    ),
    Fault(
        "accepts-kernel-negative",
        "a negative kernel accepted",
        needs=WINDOWED,
        replaces={"validate": _repaired("kernel", by=_integers(lambda v: abs(v) if v < 0 else v))},
    ),
    Fault(
        "accepts-pads-begin-negative",
        "negative pads_begin accepted",
        needs=PADDED,
        replaces={"validate": _repaired("pads_begin", by=_integers(lambda v: max(v, 0)))},
    ),
    Fault(
        "accepts-pads-end-negative",
        "negative pads_end accepted",
        needs=PADDED,
        replaces={"validate": _repaired("pads_end", by=_integers(lambda v: max(v, 0)))},
    ),
    Fault(
        "accepts-kernel-length",
        "kernel of another length than the number of spatial axes accepted",
        needs=WINDOWED,
        replaces={"validate": _repaired("kernel", by=_of_length)},
    ),
    Fault(
        "accepts-strides-length",
        "strides of another length than the number of spatial axes accepted",
        needs=STRIDED,
        replaces={"validate": _repaired("strides", by=_of_length)},
    ),
    Fault(
        "accepts-pads-begin-pads-end-length",
        "pads_begin and pads_end of another length than the number of spatial axes accepted",
        needs=PADDED,
        replaces={"validate": _repaired("pads_begin", "pads_end", by=_of_length)},
    ),
    Fault(
        "accepts-rounding-type",
        "an unknown rounding_type accepted as floor",
        needs=ROUNDED,
        replaces={"validate": _repaired("rounding", by=_known_or("floor"))},
    ),
    Fault(
        "accepts-auto-pad",
        "an unknown auto_pad accepted as explicit",
        needs=AUTO_PADDED & SAYS_EXPLICIT,
        replaces={"validate": _repaired("auto_pad", by=_known_or("explicit"))},
    ),
    Fault(
        "accepts-missing-attributes",
        "required attributes that are missing given defaults",
        needs=Needs(required=("kernel",)),
        replaces={"validate": _calling(_absent)},
    ),
    Fault(
        "accepts-rank",
        "data of more dimensions than the document lists accepted",
        needs=Needs(limited_axes=True),
        replaces={"validate": _calling(_any_rank)},
    ),
    Fault(
        "accepts-integers",
        "integer data accepted though the document wants floating-point",
        needs=ADAPTIVE & Needs(integers=False),
        replaces={"validate": _calling(_any_type)},
    ),
    Fault(
        "accepts-output-size-negative",
        "a negative output_size accepted",
        needs=ADAPTIVE,
        replaces={"validate": _output_size(lambda size, _axes: np.abs(size))},
    ),
    Fault(
        "accepts-output-size-length",
        "an output_size of another length than the number of spatial axes accepted",
        needs=ADAPTIVE,
        replaces={"validate": _output_size(np.resize)},
    ),
    Fault(
        "accepts-output-size-type",
        "an output_size that is neither int32 nor int64 accepted",
        needs=ADAPTIVE,
        replaces={"validate": _output_size(lambda size, _axes: size.astype(np.int64))},
    ),
)
