"""Cases that break one rule of a document each: the right answer is an exception."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.operators import OPERATORS
from conformance.operators.attributes import Attribute
from conformance.operators.operator import Operator
from conformance.sweep.model import case_of
from conformance.vector import Array, Case

_GOOD: dict[str, dict[str, Any]] = {
    "AvgPool-1": {
        "kernel": [2, 3],
        "strides": [2, 1],
        "pads_begin": [1, 0],
        "pads_end": [0, 1],
        "exclude_pad": True,
        "rounding_type": "floor",
        "auto_pad": "explicit",
    },
    "MaxPool-1": {
        "kernel": [2, 3],
        "strides": [2, 1],
        "pads_begin": [1, 0],
        "pads_end": [0, 1],
        "rounding_type": "floor",
        "auto_pad": "explicit",
    },
    "AdaptiveAvgPool-8": {},
    "nGraph-AvgPool": {
        "window_shape": [2, 3],
        "window_movement_strides": [2, 1],
        "padding_below": [1, 0],
        "padding_above": [0, 1],
        "include_padding_in_avg_computation": False,
    },
}
_DATA = np.arange(1, 31, dtype=np.float32).reshape(1, 1, 5, 6)
_SIZE = np.array([3, 2], np.int64)


def invalid(name: str) -> Iterator[Case]:
    """Yield one case per rule of an operator's document, with that rule broken alone.

    The first ways to break a rule are in the smoke tier.
    """
    operator, good = OPERATORS[name], _GOOD[name]
    inputs = (_DATA, _SIZE)[: len(operator.input_names)]
    for attribute in operator.attributes:
        for turn, (broken, why) in enumerate(_broken(attribute, good)):
            why_here = f"{attribute.key}: {why}"
            yield _case(
                operator,
                broken,
                inputs,
                why_here,
                attribute.section,
                smoke=turn < 3 + attribute.required,
            )
    for turn, (attributes, changed, why) in enumerate(_broken_inputs(operator, good, inputs)):
        yield _case(operator, attributes, changed, why, "Inputs", smoke=turn < 4)


def _broken(attribute: Attribute, good: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    if attribute.role == "ignored":
        return
    key, value = attribute.key, good[attribute.key]
    if attribute.required:
        yield {name: good[name] for name in good if name != key}, "left out though required"
    if attribute.is_list:
        least = attribute.least
        yield {**good, key: [least - 1, *value[1:]]}, f"{least - 1} on the first axis"
        yield {**good, key: value[:-1]}, "one entry too few"
        yield {**good, key: [-2, *value[1:]]}, "-2 on the first axis"
        yield {**good, key: [*value[:-1], least - 1]}, f"{least - 1} on the last axis"
        yield {**good, key: [*value, 1]}, "one entry too many"
        if least > 0:  # an empty list of pads is read as no pads by some
            yield {**good, key: []}, "no entries"
    elif isinstance(attribute.choices[0], str):
        yield {**good, key: "nearest"}, "not a value of the document"
        yield {**good, key: ""}, "empty"


def _broken_inputs(
    operator: Operator, good: dict[str, Any], inputs: tuple[Array, ...]
) -> Iterator[tuple[dict[str, Any], tuple[Array, ...], str]]:
    data, plain = inputs[0], {a.key: a.least for a in operator.attributes if a.is_list}
    # Lists as long as there are axes, so that the number of dimensions alone is wrong.
    none = {key: [] if key in plain else value for key, value in good.items()}
    yield none, (data[0, 0], *(size[:0] for size in inputs[1:])), "data: two dimensions"
    if operator.axes[1] is not None:
        four = {
            key: [value[0], plain[key], plain[key], value[1]] if key in plain else value
            for key, value in good.items()
        }
        sizes = (np.array([3, 1, 1, 2], np.int64),)[: len(inputs) - 1]
        yield four, (data.reshape(1, 1, 5, 1, 1, 6), *sizes), "data: six dimensions"
    if operator.name == "AdaptiveAvgPool-8":
        yield good, (data.astype(np.int32), inputs[1]), "data: integers"
        for size, why in (
            ([-1, 2], "-1 on the first axis"),
            ([3], "one entry too few"),
            ([3, -2], "-2 on the last axis"),
            ([3, 2, 1], "one entry too many"),
            ([[3, 2]], "two dimensions"),
        ):
            yield good, (data, np.array(size, np.int64)), f"output_size: {why}"
        yield good, (data, np.array([3.0, 2.0], np.float32)), "output_size: floating point"


def _case(
    operator: Operator,
    attributes: dict[str, Any],
    inputs: tuple[Array, ...],
    why: str,
    section: str,
    *,
    smoke: bool,
) -> Case:
    return case_of(
        operator.name,
        attributes,
        inputs,
        pattern="invalid",
        tier="smoke" if smoke else "standard",
        source=f"{operator.document}, {section}",
        tags=("invalid", why),
    )
