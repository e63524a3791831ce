"""Faults of `validate`: wrong defaults, calls accepted that break a rule of the document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.errors import InvalidCase
from conformance.faults.common import (
    ADAPTIVE,
    NGRAPH,
    OPENVINO,
    WINDOWED,
    Refused,
)
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.params import Params
from conformance.vector import Array

Attributes = dict[str, Any]
Validate = Callable[[Sequence[Array], Mapping[str, Any]], Params]

# The key of each attribute in nGraph's document.
_NGRAPH_KEYS = {
    "kernel": "window_shape",
    "strides": "window_movement_strides",
    "pads_begin": "padding_below",
    "pads_end": "padding_above",
    "exclude_pad": "include_padding_in_avg_computation",
}


def _attributes(change: Callable[[Attributes, int], Attributes]) -> StepWrap:
    """Wrap `validate`: it sees attributes changed for the given number of spatial axes."""
    return lambda validate: (
        lambda inputs, attributes: validate(inputs, change(dict(attributes), inputs[0].ndim - 2))
    )


def _default(key: str, value: Callable[[Attributes, int], Any]) -> StepWrap:
    """Give an absent attribute another default."""
    return _attributes(
        lambda given, axes: given if key in given else {**given, key: value(given, axes)}
    )


def _always(value: str) -> Callable[[Attributes, int], str]:
    return lambda _given, _axes: value


def _required(key: str) -> StepWrap:
    """Refuse a call that leaves out an attribute that has a default."""

    def change(given: Attributes, _axes: int) -> Attributes:
        if key not in given:
            raise Refused(f"{key} is missing")
        return given

    return _attributes(change)


def _repaired(names: Sequence[str], repair: Callable[[Any, int], Any]) -> StepWrap:
    """Repair the values of some attributes instead of refusing them."""
    keys = [*names, *(_NGRAPH_KEYS[name] for name in names if name in _NGRAPH_KEYS)]

    def change(given: Attributes, axes: int) -> Attributes:
        return {key: repair(v, axes) if key in keys else v for key, v in given.items()}

    return _attributes(change)


def _integers(of: Callable[[Any], Any]) -> Callable[[Any, int], Any]:
    return lambda value, _axes: [of(v) for v in value] if isinstance(value, list) else value


def _of_length(value: Any, axes: int) -> Any:
    if not isinstance(value, list):
        return value
    return (value + (value[-1:] or [1]) * axes)[:axes]


def _one_of(*choices: str) -> Callable[[Any, int], Any]:
    return lambda value, _axes: value if value in choices else choices[0]


def _absent(validate: Validate) -> Validate:
    """Give the attributes a document requires defaults."""

    def complete(inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Params:
        axes = inputs[0].ndim - 2
        ones, zeros = [1] * axes, [0] * axes
        extra: Attributes
        for extra in (
            {"kernel": ones, "strides": ones, "pads_begin": zeros, "pads_end": zeros},
            {"window_shape": ones},
        ):
            for more in ({}, {"exclude_pad": False}):
                try:
                    return validate(inputs, {**extra, **more, **attributes})
                except InvalidCase:
                    pass
        return validate(inputs, attributes)

    return complete


def _any_rank(validate: Validate) -> Validate:
    """Take data of more axes than the document lists."""

    def ranked(inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Params:
        sizes = inputs[0].shape[2:]
        if len(sizes) <= 3:
            return validate(inputs, attributes)
        if len(inputs) > 1:
            return Params(sizes=sizes, output=tuple(inputs[1].tolist()))
        return Params(
            sizes=sizes,
            kernel=tuple(attributes["kernel"]),
            strides=tuple(attributes["strides"]),
            pads_begin=tuple(attributes["pads_begin"]),
            pads_end=tuple(attributes["pads_end"]),
        )

    return ranked


def _any_type(validate: Validate) -> Validate:
    """Take integers where the document wants floating-point data."""
    return lambda inputs, attributes: validate(
        [
            data.astype(np.float32) if data.dtype.kind in "iub" and not i else data
            for i, data in enumerate(inputs)
        ],
        attributes,
    )


def _output_size(repair: Callable[[Array, int], Array]) -> StepWrap:
    """Repair the output size instead of refusing it; `repair` also gets the number of axes."""
    return lambda validate: (
        lambda inputs, attributes: validate(
            [inputs[0], repair(inputs[1], inputs[0].ndim - 2), *inputs[2:]]
            if len(inputs) > 1
            else inputs,
            attributes,
        )
    )


def _every(names: tuple[str, ...]) -> str:
    return " and ".join(names)


_PADS = ("pads_begin", "pads_end")

_DEFAULTS = (
    *(
        Fault(
            f"default-{key.replace('_', '-')}-{value.replace('_', '-')}",
            f"an absent {key} taken as {value}",
            OPENVINO,
            {"validate": _default(key, _always(value))},
        )
        for key, value in (
            ("rounding_type", "ceil"),
            ("auto_pad", "same_upper"),
            ("auto_pad", "same_lower"),
            ("auto_pad", "valid"),
        )
    ),
    *(
        Fault(
            f"default-{key.replace('_', '-')}-{other}",
            f"an absent {key} taken as {words}",
            NGRAPH,
            {"validate": _default(key, value)},
        )
        for key, other, words, value in (
            (
                "window_movement_strides",
                "window",
                "the window shape",
                lambda given, _: given["window_shape"],
            ),
            ("window_movement_strides", "two", "2", lambda _, axes: [2] * axes),
            (
                "padding_below",
                "above",
                "padding_above",
                lambda given, axes: given.get("padding_above", [0] * axes),
            ),
            (
                "padding_above",
                "below",
                "padding_below",
                lambda given, axes: given.get("padding_below", [0] * axes),
            ),
            ("include_padding_in_avg_computation", "true", "true", lambda *_: True),
        )
    ),
    *(
        Fault(
            f"required-{key.replace('_', '-')}",
            f"a call without {key} refused, though it has a default",
            operators,
            {"validate": _required(key)},
        )
        for operators, keys in (
            (OPENVINO, ("rounding_type", "auto_pad")),
            (
                NGRAPH,
                (
                    "window_movement_strides",
                    "padding_below",
                    "padding_above",
                    "include_padding_in_avg_computation",
                ),
            ),
        )
        for key in keys
    ),
)

_ACCEPTS = (
    Fault(
        "accepts-stride-zero",
        "a stride of 0 accepted",
        WINDOWED,
        {"validate": _repaired(("strides",), _integers(lambda v: v or 1))},
    ),
    Fault(
        "accepts-stride-negative",
        "a negative stride accepted",
        WINDOWED,
        {"validate": _repaired(("strides",), _integers(lambda v: abs(v) if v < 0 else v))},
    ),
    Fault(
        "accepts-kernel-zero",
        "a kernel of 0 accepted",
        WINDOWED,
        {"validate": _repaired(("kernel",), _integers(lambda v: v or 1))},
    ),
    Fault(
        "accepts-kernel-negative",
        "a negative kernel accepted",
        WINDOWED,
        {"validate": _repaired(("kernel",), _integers(lambda v: abs(v) if v < 0 else v))},
    ),
    *(
        Fault(
            f"accepts-{name.replace('_', '-')}-negative",
            f"negative {name} accepted",
            WINDOWED,
            {"validate": _repaired((name,), _integers(lambda v: max(v, 0)))},
        )
        for name in _PADS
    ),
    *(
        Fault(
            f"accepts-{'-'.join(names).replace('_', '-')}-length",
            f"{_every(names)} of another length than the number of spatial axes accepted",
            WINDOWED,
            {"validate": _repaired(names, _of_length)},
        )
        for names in (("kernel",), ("strides",), _PADS)
    ),
    Fault(
        "accepts-rounding-type",
        "an unknown rounding_type accepted as floor",
        OPENVINO,
        {"validate": _repaired(("rounding_type",), _one_of("floor", "ceil"))},
    ),
    Fault(
        "accepts-auto-pad",
        "an unknown auto_pad accepted as explicit",
        OPENVINO,
        {
            "validate": _repaired(
                ("auto_pad",), _one_of("explicit", "valid", "same_upper", "same_lower")
            )
        },
    ),
    Fault(
        "accepts-missing-attributes",
        "required attributes that are missing given defaults",
        WINDOWED,
        {"validate": _absent},
    ),
    Fault(
        "accepts-rank",
        "data of more dimensions than the document lists accepted",
        ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8"),
        {"validate": _any_rank},
    ),
    Fault(
        "accepts-integers",
        "integer data accepted though the document wants floating-point",
        ("AdaptiveAvgPool-8",),
        {"validate": _any_type},
    ),
    Fault(
        "accepts-output-size-negative",
        "a negative output_size accepted",
        ADAPTIVE,
        {"validate": _output_size(lambda size, _axes: np.abs(size))},
    ),
    Fault(
        "accepts-output-size-length",
        "an output_size of another length than the number of spatial axes accepted",
        ADAPTIVE,
        {"validate": _output_size(np.resize)},
    ),
    Fault(
        "accepts-output-size-type",
        "an output_size that is neither int32 nor int64 accepted",
        ADAPTIVE,
        {"validate": _output_size(lambda size, _axes: size.astype(np.int64))},
    ),
)

FAULTS: tuple[Fault, ...] = (*_DEFAULTS, *_ACCEPTS)
