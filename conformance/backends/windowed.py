"""Attributes of the windowed operators in one form, for adapters to translate from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ROUNDINGS = ("floor", "ceil")
_PADDINGS = ("explicit", "same_upper", "same_lower", "valid")


@dataclass(frozen=True, slots=True)
class Windowed:
    """What AvgPool-1, MaxPool-1 or nGraph-AvgPool is asked to do; hashable.

    The lists are as they were given, lengths and ranges unchecked: refusing them is the
    engine's task. `begin` and `end` are the explicit pads, whatever `auto_pad` says.
    """

    average: bool
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    exclude_pad: bool = True
    rounding: str = "floor"
    auto_pad: str = "explicit"

    @property
    def ceil(self) -> bool:
        """Whether the output extent is rounded up."""
        return self.rounding == "ceil"

    def check_lengths(self, axes: int) -> None:
        """Refuse lists without one value per axis, for engines that get them joined or padded."""
        for values in (self.kernel, self.strides, self.begin, self.end):
            if len(values) != axes:
                raise ValueError(f"{list(values)}: {axes} values, one per spatial axis")


def windowed(operator: str, attributes: Mapping[str, Any], axes: int) -> Windowed | None:
    """Return the attributes of a windowed operator in one form; None for other operators.

    KeyError for a required attribute that is missing, ValueError or TypeError for a word or a
    boolean that is not one of the document's: there is nothing an engine could be told instead.
    """
    if operator == "nGraph-AvgPool":
        include = "include_padding_in_avg_computation"
        return Windowed(
            average=True,
            kernel=tuple(attributes["window_shape"]),
            strides=tuple(attributes.get("window_movement_strides", [1] * axes)),
            begin=tuple(attributes.get("padding_below", [0] * axes)),
            end=tuple(attributes.get("padding_above", [0] * axes)),
            exclude_pad=not _boolean(include, attributes.get(include, False)),
        )
    if operator not in {"AvgPool-1", "MaxPool-1"}:
        return None
    average = operator == "AvgPool-1"
    return Windowed(
        average=average,
        kernel=tuple(attributes["kernel"]),
        strides=tuple(attributes["strides"]),
        begin=tuple(attributes["pads_begin"]),
        end=tuple(attributes["pads_end"]),
        exclude_pad=not average or _boolean("exclude_pad", attributes["exclude_pad"]),
        rounding=_word("rounding_type", attributes, _ROUNDINGS),
        auto_pad=_word("auto_pad", attributes, _PADDINGS),
    )


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: true or false")
    return value


def _word(name: str, attributes: Mapping[str, Any], allowed: tuple[str, ...]) -> str:
    word = attributes.get(name, allowed[0])
    if word not in allowed:
        raise ValueError(f"{name}={word!r}: {' or '.join(allowed)}")
    return str(word)
