"""Faults of `validate`: wrong defaults, calls accepted that break a rule of the document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.faults.behaviour import (
    ACTIVATED,
    ADAPTIVE,
    APART,
    AUTO_PADDED,
    DILATED,
    INDEXED,
    PADDED,
    ROUNDED,
    SAYS_EXPLICIT,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
    Refused,
    before,
)
from conformance.faults.call import Call, Unknown
from conformance.operators.attributes import Role, roles_of
from conformance.operators.needs import Needs
from conformance.operators.registry import OWN
from conformance.vector import Array


def _called(summary: str, needs: Needs, change: Callable[[Call], Call]) -> Behaviour:
    """Validate a changed call."""
    return Behaviour(summary, needs, before("validate", lambda call: (change(call),)))


_LEFT_OUT: dict[Role, str] = {
    "strides": "strides",
    "dilations": "dilations",
    "pads_begin": "begin pads",
    "pads_end": "end pads",
    "pads": "pads",
    "auto_pad": "the padding mode",
    "rounding": "the rounding",
    "include_pad": "whether padding counts",
    "exponent": "the exponent",
    "index_axis": "the axis that indices start from",
    "index_type": "the type of indices",
    "storage_order": "the storage order",
}
"""What an attribute of a role is, whatever a document calls it."""


def _key(role: Role) -> str:
    """Return the key of a role in the first document of this package that has a default for it.

    It names the faults of that default. They concern every operator with the role, whatever its
    key there.
    """
    attributes = (attribute for operator in OWN for attribute in operator.attributes)
    return next(
        attribute.key
        for attribute in attributes
        if attribute.role == role and not attribute.required
    )


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _default(
    role: Role, name: str, words: str, needs: Needs, value: Callable[[Call], Any]
) -> Faults:
    """Take `value(call)` as the default of an attribute that the call leaves out."""

    def change(call: Call) -> Call:
        if role in call.given:
            return call
        return replace(call, given={**call.given, role: value(call)})

    summary = f"{_LEFT_OUT[role]} left out, taken as {words}"
    return {f"default-{_dashed(_key(role))}-{_dashed(name)}": _called(summary, needs, change)}


def _other_default(role: Role, words: str, value: Any) -> Faults:
    needs = Needs(other_default=((role, value),))
    return _default(role, words, words, needs, lambda _call: value)


def _other_scalar(role: Role, value: int) -> Faults:
    needs = Needs(optional=(role,))
    name = f"{value}".replace("-", "minus-")
    return _default(role, name, str(value), needs, lambda _call: value)


def _default_of_other_end(end: Role, other: Role) -> Faults:
    # Pads in one list are absent together.
    needs = Needs(optional=(end,), roles=(other,), without=("pads",))
    name = _key(other).rpartition("_")[2]
    return _default(end, name, f"the {_LEFT_OUT[other]}", needs, lambda call: call.meaning(other))


def _required(role: Role, *, without: tuple[Role, ...] = ()) -> Faults:
    """Refuse a call that leaves out an attribute that has a default."""

    def check(call: Call) -> Call:
        if role not in call.given:
            raise Refused(f"{role} is missing")
        return call

    summary = f"a call refused that leaves out {_LEFT_OUT[role]}, though there is a default"
    needs = Needs(optional=(role,), without=without)
    return {f"required-{_dashed(_key(role))}": _called(summary, needs, check)}


def _repaired(summary: str, needs: Needs, *roles: Role, by: Callable[[Any, int], Any]) -> Behaviour:
    """Repair the values of some roles instead of refusing them: `by(value, number of axes)`."""

    def change(call: Call) -> Call:
        given = {
            role: by(value, call.axes) if role in roles else value
            for role, value in call.given.items()
        }
        return replace(call, given=given)

    return _called(summary, needs, change)


def _integers(summary: str, needs: Needs, role: Role, repair: Callable[[Any], Any]) -> Behaviour:
    """Repair every number of a list."""

    def repaired(value: Any, _axes: int) -> Any:
        return [repair(v) for v in value] if isinstance(value, list) else value

    return _repaired(summary, needs, role, by=repaired)


def _length(summary: str, needs: Needs, *roles: Role) -> Behaviour:
    """Cut a list to one entry per axis, or repeat its last entry."""

    def repaired(value: Any, axes: int) -> Any:
        if not isinstance(value, list):
            return value
        return (value + (value[-1:] or [1]) * axes)[:axes]

    return _repaired(summary, needs, *roles, by=repaired)


def _unknown(summary: str, needs: Needs, role: Role, meaning: object) -> Behaviour:
    """Take a value that the document does not have as another."""

    def repaired(value: Any, _axes: int) -> Any:
        return meaning if isinstance(value, Unknown) else value

    return _repaired(summary, needs, role, by=repaired)


def _output_size(summary: str, repair: Callable[[Array, int], Array]) -> Behaviour:
    """Repair the output size instead of refusing it; `repair` also gets the number of axes."""

    def change(call: Call) -> Call:
        data, *sizes = call.inputs
        return replace(call, inputs=(data, *(repair(size, call.axes) for size in sizes)))

    return _called(summary, ADAPTIVE & Needs(size_input=True), change)


def _required_attributes_defaulted(call: Call) -> Call:
    """Add the required attributes that the call leaves out, with the usual defaults."""
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
    required = roles_of(attribute for attribute in call.operator.attributes if attribute.required)
    added = {str(role): value for role, value in defaults.items() if role in required}
    return replace(call, given={**added, **call.given})


def _any_rank(call: Call) -> Call:
    """Take data of any number of axes."""
    return replace(call, operator=replace(call.operator, axes=(call.operator.axes[0], None)))


def _any_type(call: Call) -> Call:
    """Convert integers where the document takes floating-point data alone."""
    data, *others = call.inputs
    data = data.astype(np.float32) if data.dtype.kind in "iub" else data
    return replace(call, inputs=(data, *others))


FAULTS: Faults = {
    **_other_default("rounding", "ceil", "ceil"),
    **_other_default("auto_pad", "same_upper", "same_upper"),
    **_other_default("auto_pad", "same_lower", "same_lower"),
    **_other_default("auto_pad", "valid", "valid"),
    **_default(
        "strides",
        "window",
        "the window shape",
        WINDOWED & Needs(other_default=(("strides", "kernel"),)),
        lambda call: call.meaning("kernel"),
    ),
    **_default(
        "strides", "one", "1", Needs(other_default=(("strides", 1),)), lambda call: [1] * call.axes
    ),
    **_default(
        "strides", "two", "2", Needs(other_default=(("strides", 2),)), lambda call: [2] * call.axes
    ),
    **_default(
        "dilations",
        "two",
        "2",
        Needs(other_default=(("dilations", 2),)),
        lambda call: [2] * call.axes,
    ),
    **_other_scalar("exponent", 1),
    **_other_scalar("exponent", 3),
    **_other_scalar("index_axis", 1),
    **_other_scalar("index_axis", 2),
    **_other_scalar("index_axis", -1),
    **_other_default("index_type", "int32", "int32"),
    **_other_default("storage_order", "column-major", "column-major"),
    **_default_of_other_end("pads_begin", "pads_end"),
    **_default_of_other_end("pads_end", "pads_begin"),
    **_other_default("include_pad", "true", value=True),
    **_required("rounding"),
    **_required("auto_pad"),
    **_required("strides"),
    **_required("pads_begin"),
    **_required("pads_end", without=("pads",)),
    **_required("include_pad"),
    **_required("dilations"),
    **_required("exponent"),
    **_required("index_axis"),
    **_required("index_type"),
    **_required("storage_order"),
    "accepts-dilation-zero": _integers(
        "a dilation of 0 accepted", DILATED, "dilations", lambda v: v or 1
    ),
    "accepts-dilation-negative": _integers(
        "a negative dilation accepted", DILATED, "dilations", lambda v: max(v, -v)
    ),
    "accepts-dilations-length": _length(
        "dilations of another length than the number of spatial axes accepted",
        DILATED,
        "dilations",
    ),
    "accepts-axis": _repaired(
        "an axis beyond the data accepted",
        INDEXED & Needs(roles=("index_axis",)),
        "index_axis",
        by=lambda value, axes: value % (axes + 2) if type(value) is int else value,
    ),
    "accepts-index-type": _unknown(
        "an unknown type of indices accepted as int64",
        INDEXED & Needs(roles=("index_type",)),
        "index_type",
        "int64",
    ),
    "accepts-storage-order": _unknown(
        "an unknown storage_order accepted as row-major",
        INDEXED & Needs(roles=("storage_order",)),
        "storage_order",
        "row-major",
    ),
    "accepts-stride-zero": _integers(
        "a stride of 0 accepted", STRIDED, "strides", lambda v: v or 1
    ),
    "accepts-stride-negative": _integers(
        "a negative stride accepted", STRIDED, "strides", lambda v: max(v, -v)
    ),
    "accepts-kernel-zero": _integers(
        "a kernel of 0 accepted", WINDOWED, "kernel", lambda v: v or 1
    ),
    "accepts-kernel-negative": _integers(
        "a negative kernel accepted", WINDOWED, "kernel", lambda v: max(v, -v)
    ),
    "accepts-pads-begin-negative": _integers(
        "negative pads_begin accepted", PADDED & APART, "pads_begin", lambda v: max(v, 0)
    ),
    "accepts-pads-end-negative": _integers(
        "negative pads_end accepted", PADDED & APART, "pads_end", lambda v: max(v, 0)
    ),
    "accepts-kernel-length": _length(
        "kernel of another length than the number of spatial axes accepted",
        WINDOWED & Needs(split=False),
        "kernel",
    ),
    "accepts-strides-length": _length(
        "strides of another length than the number of spatial axes accepted",
        STRIDED & Needs(split=False),
        "strides",
    ),
    "accepts-pads-begin-pads-end-length": _length(
        "pads_begin and pads_end of another length than the number of spatial axes accepted",
        PADDED,
        "pads_begin",
        "pads_end",
    ),
    "accepts-rounding-type": _unknown(
        "an unknown rounding_type accepted as floor",
        ROUNDED & Needs(worded=("rounding",), without_clauses=("onnx-flags",)),
        "rounding",
        "floor",
    ),
    "accepts-auto-pad": _unknown(
        "an unknown auto_pad accepted as explicit",
        AUTO_PADDED & SAYS_EXPLICIT,
        "auto_pad",
        "explicit",
    ),
    "accepts-layout": _unknown(
        "an unknown layout accepted as channels second",
        Needs(roles=("channels_last",)),
        "channels_last",
        meaning=False,
    ),
    "accepts-activation": _unknown(
        "an unknown activation accepted as none", ACTIVATED, "activation", "none"
    ),
    "accepts-accumulator": _unknown(
        "an unknown type of sums accepted as a wider one",
        Needs(roles=("accumulator",)),
        "accumulator",
        "wider",
    ),
    "accepts-missing-attributes": _called(
        "defaults taken for required attributes that are missing",
        Needs(required=("kernel",)),
        _required_attributes_defaulted,
    ),
    "accepts-rank": _called(
        "data of more dimensions than the document lists accepted",
        Needs(limited_axes=True),
        _any_rank,
    ),
    "accepts-integers": _called(
        "integer data accepted though the document wants floating-point",
        ADAPTIVE & Needs(integers=False),
        _any_type,
    ),
    "accepts-output-size-negative": _output_size(
        "a negative output_size accepted", lambda size, _axes: np.abs(size)
    ),
    "accepts-output-size-length": _output_size(
        "an output_size of another length than the number of spatial axes accepted", np.resize
    ),
    "accepts-output-size-type": _output_size(
        "an output_size that is neither int32 nor int64 accepted",
        lambda size, _axes: size.astype(np.int64),
    ),
}
