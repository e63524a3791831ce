"""Attributes as a document lists them, what they mean, and the rules that valid ones follow.

An attribute has a *role*: the field of `Params` that it sets. Documents name and spell attributes
differently, so everything outside of `operators` asks for roles, never for names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, Literal

import numpy as np

from conformance.errors import InvalidCase
from conformance.reference import is_judged
from conformance.text import did_you_mean

REQUIRED = object()
"""Stands for the default of an attribute that has no default."""

PadsOrder = Literal["ends", "axes", "both"]
"""How one list says pads: all begins, then all ends; begin and end of each axis in turn; or one
number for both ends of each axis."""
Role = Literal[
    "kernel",
    "strides",
    "dilations",
    "pads_begin",
    "pads_end",
    "pads",
    "rounding",
    "auto_pad",
    "include_pad",
    "exponent",
    "fixed_divisor",
    "input_scale",
    "output_scale",
    "input_zero_point",
    "output_zero_point",
    "index_axis",
    "index_type",
    "storage_order",
    "nan",
    "channels_last",
    "activation",
    "accumulator",
    "output",
    "fixed_output",
    "ignored",
]
"""Fields of `Params`, with three exceptions.

"pads" is one list for two fields: all begins, then all ends. "ignored" changes nothing. "output",
the output size of an adaptive operator, is the role of an attribute or of its second input. That of
an unpooling, "fixed_output", is 0 on every axis where it is inferred; windows may have it, too.
"""

PADS: tuple[Role, ...] = ("pads_begin", "pads_end", "pads")
NUMBERS: tuple[Role, ...] = ("kernel", "strides", "dilations", *PADS, "output", "fixed_output")
"""Roles of attributes that list one integer per spatial axis (pads: two)."""
ZERO_POINTS: tuple[Role, ...] = ("input_zero_point", "output_zero_point")
SCALES: tuple[Role, ...] = ("input_scale", "output_scale")
"""Roles of attributes that are one number of float32 above 0."""
SCALARS: tuple[Role, ...] = ("exponent", "fixed_divisor", *SCALES, *ZERO_POINTS, "index_axis")
"""Roles of attributes that are one number, of those but `SCALES` an integer."""
ROUNDINGS = {"floor": "floor", "ceil": "ceil"}
NEWER_ROUNDINGS = {**ROUNDINGS, "ceil_torch": "ceil_torch"}
AUTO_PADS = {mode: mode for mode in ("explicit", "same_upper", "same_lower", "valid")}
INDEX_TYPES = {"i64": "int64", "i32": "int32"}
"""Values in OpenVINO's documents, each mapped to its meaning."""
MEANINGS: dict[Role, tuple[Any, ...]] = {
    "rounding": tuple(NEWER_ROUNDINGS),
    "auto_pad": tuple(AUTO_PADS),
    "include_pad": (False, True),
    "index_type": tuple(INDEX_TYPES.values()),
    "storage_order": ("row-major", "column-major"),
    "nan": ("propagates", "ignored"),
    "channels_last": (False, True),
    "activation": ("none", "relu", "relu_n1_to_1", "relu6"),
    "accumulator": ("wider", "element-type"),
}
"""The values of `Params` that an attribute of a role can mean, where they are few."""
WORDS: tuple[Role, ...] = (
    *("auto_pad", "rounding", "include_pad"),
    *("index_type", "storage_order", "nan", "channels_last", "activation", "accumulator"),
)
"""The roles of MEANINGS, in the order in which cases vary them."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a document: its key in a backend call, its role, range and default.

    The value of a role in NUMBERS is a list of integers, each at least `least`. Its default is one
    integer for all entries, or the field of `Params` that it is like: strides of "kernel", a kernel
    of "sizes". That of a role in SCALARS is one number. The value of any other role is a key of
    `values`, which maps the document's values to those of `Params`. `section` cites the document,
    `order` is of pads in one list. With `one_for_all`, one integer stands for all entries, where it
    is "in a list", too, in a list or not, and an empty list for a default that is like another
    field. With `keeps_sizes`, an entry None is the size of the data on its axis. `samples` are the
    numbers of a role in SCALARS that cases have, where they are not those of other documents. Data
    of other types than `of_types`, if it names some, have its default alone, and where there is
    none 0. Where a document does not say which integers it may be, `left_open` names the clause of
    those that are none of `values`, and of a list that may be left out, but without a word of what
    it is then, the clause of calls without it. A number that `is_float` is one in each call, and
    stands for an integer where it is one.
    """

    key: str
    role: Role
    section: str
    default: Any = REQUIRED
    least: int = 0
    values: Mapping[Any, Any] = field(default_factory=dict)
    order: PadsOrder = "ends"
    one_for_all: Literal["", "alone", "in a list"] = ""
    keeps_sizes: bool = False
    samples: tuple[float, ...] = ()
    of_types: tuple[str, ...] = ()
    left_open: str = ""
    is_float: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown role, or values or a default that do not fit the role."""
        if self.role not in (*NUMBERS, *SCALARS, *MEANINGS, "ignored"):
            roles = (*NUMBERS, *SCALARS, *MEANINGS, "ignored")
            raise ValueError(
                f"attribute {self.key!r}: no role {self.role!r}{did_you_mean(self.role, roles)}; "
                f"there are {', '.join(roles)}"
            )
        meanings = MEANINGS.get(self.role, ())
        if not set(self.values.values()) <= set(meanings) or bool(self.values) != bool(meanings):
            raise ValueError(f"attribute {self.key!r}: its values mean one of {meanings}")
        if self.values and not self.required and self.default not in self.values:
            raise ValueError(f"attribute {self.key!r}: its default is one of {self.choices}")

    @property
    def required(self) -> bool:
        """Whether the document gives no default."""
        return self.default is REQUIRED

    @property
    def is_kept(self) -> bool:
        """Whether a call without it is refused, or left open."""
        return self.required or self.leaves_open(None)

    def concerns_type(self, dtype: str) -> bool:
        """Say whether data of an element type may have another value than `elsewhere`."""
        return not self.of_types or dtype in self.of_types

    def leaves_open(self, value: Any) -> bool:
        """Say whether a value, None for none, is neither one of the document nor excluded by it."""
        if self.is_list:
            return bool(self.left_open) and value is None
        return bool(self.left_open and _integers([value])) and value not in self.values

    @property
    def elsewhere(self) -> Any:
        """What it is of data of other types than `of_types`."""
        return 0 if self.required else self.default

    @property
    def is_list(self) -> bool:
        """Whether it lists integers for the spatial axes."""
        return self.role in NUMBERS

    @property
    def is_scalar(self) -> bool:
        """Whether it is one number."""
        return self.role in SCALARS

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values it may have; empty for integers."""
        return tuple(self.values)

    @property
    def meanings(self) -> tuple[Any, ...]:
        """What its values mean, that of the default first; empty for integers."""
        distinct = dict.fromkeys(self.values.values())
        if distinct and not self.required:
            distinct = {self.values[self.default]: None, **distinct}
        return tuple(distinct)

    @property
    def allowed(self) -> str:
        """What the attribute may hold, in words."""
        if self.is_list:
            return f"a list of {self._entries} >= {self.least} per spatial axis"
        if self.role in SCALES:
            return "a number of float32 above 0"
        if self.is_float:
            return "a float"
        if self.is_scalar:
            return "an integer" + _RANGES.get(self.role, "")
        return " or ".join(_spelled(choice) for choice in self.choices)

    @property
    def _entries(self) -> str:
        return "two integers" if self.length(1) > 1 else "one integer"

    def length(self, axes: int) -> int:
        """Return how many integers it lists for data of `axes` spatial axes."""
        return 2 * axes if self.role == "pads" and self.order != "both" else axes

    def bounds(self, axes: int) -> tuple[int | None, int | None]:
        """Return the least and the largest integer it may be, for data of `axes` spatial axes.

        None where there is none: which exponents make a norm is a clause.
        """
        rank = axes + 2
        if self.role == "index_axis":
            return -rank, rank - 1
        return (1, None) if self.role == "fixed_divisor" else (None, None)

    def is_left_out(self, given: Mapping[str, Any]) -> bool:
        """Say whether some attributes leave it to its default."""
        if self.key not in given:
            return not self.required
        if not (self.one_for_all == "in a list" and isinstance(self.default, str)):
            return False
        value = given[self.key]
        return isinstance(value, list | tuple) and not value

    def spread(self, value: Any, axes: int) -> Any:
        """Return one integer that stands for all entries as many times, any other value as it is.

        For data of `axes` spatial axes.
        """
        if not self.one_for_all or not self.is_list:
            return value
        if isinstance(value, list | tuple) and self.one_for_all == "alone":
            return value
        plain = _integers(value if isinstance(value, list | tuple) else [value])
        return list(plain) * self.length(axes) if plain is not None and len(plain) == 1 else value

    def check(self, value: Any, axes: int) -> Any:
        """Return the value in plain types; InvalidCase names the attribute, value and range."""
        if self.role == "ignored":
            return value
        if self.is_list:
            spread, length = self.spread(value, axes), self.length(axes)
            kept = self.keeps_sizes and isinstance(spread, list | tuple)
            plain = _integers([self.least if v is None else v for v in spread] if kept else spread)
            if plain is not None and len(plain) == length and all(v >= self.least for v in plain):
                return tuple(spread)
            raise InvalidCase(
                f"{self.key}={_shown(value)}: must be a list of {length} "
                f"integer{'s' * (length != 1)} >= {self.least}, "
                f"{self._entries.split(' ', maxsplit=1)[0]} per spatial axis"
            )
        if self.is_scalar:
            return self._checked_number(value, axes)
        for choice in self.choices:
            if _is_same(value, choice):
                return choice
        raise InvalidCase(f"{self.key}={_shown(value)}: must be {self.allowed}")

    def _checked_number(self, value: Any, axes: int) -> Any:
        if self.role in SCALES or self.is_float:
            if isinstance(value, float) if self.is_float else is_scale_value(value):
                return value
            raise InvalidCase(f"{self.key}={_shown(value)}: must be {self.allowed}")
        least, most = self.bounds(axes)
        if value is None and self.default is None:
            return None
        inside = _integers([value]) and (least is None or least <= value)
        if inside and (most is None or value <= most) and self._is_held(value):
            return value
        within = "" if least is None else f" from {least}" + f" to {most}" * (most is not None)
        raise InvalidCase(f"{self.key}={_shown(value)}: must be an integer{within}")

    def _is_held(self, value: int) -> bool:
        """Say whether vectors have room for a value: they keep divisors in 32 bits."""
        return self.role != "fixed_divisor" or value < 1 << 31

    def meaning(self, value: Any, sizes: Sequence[int] = ()) -> Any:
        """Return the value of `Params` that a value of the document stands for.

        A list as it is, but for entries that stand for some of the `sizes` of the data, and so is a
        value that the document does not have.
        """
        if not self.is_list:
            return self.meaning_of(value)
        if not (self.keeps_sizes and isinstance(value, list | tuple)):
            return tuple(value)
        pairs = zip_longest(value, sizes[: len(value)])
        return tuple(size if entry is None else entry for entry, size in pairs)

    def default_for(self, params: Mapping[str, Any]) -> Any:
        """Return the default beside other values of `Params`, the sizes of the data among them."""
        if not self.is_list:
            return self.default
        if isinstance(self.default, str):
            return tuple(params[self.default])
        return (self.default,) * self.length(len(params["sizes"]))

    def by_role(self, meaning: Any) -> dict[str, Any]:
        """Return a meaning by the field of `Params` that it sets; pads in one list set two."""
        if self.role != "pads":
            return {self.role: meaning}
        axes = len(meaning) // 2
        begins, ends = {
            "ends": (meaning[:axes], meaning[axes:]),
            "axes": (meaning[::2], meaning[1::2]),
            "both": (meaning, meaning),
        }[self.order]
        return {"pads_begin": begins, "pads_end": ends}

    def pads(self, begins: Sequence[Any], ends: Sequence[Any]) -> list[Any]:
        """Return pads as one list: the inverse of `by_role`.

        KeyError for ends that differ from begins where the document has one number for both.
        """
        if self.order == "ends":
            return [*begins, *ends]
        if self.order == "axes":
            spread = [*chain(*zip_longest(begins, ends, fillvalue=0))]
            return spread[:-1] if len(begins) == len(ends) + 1 else spread  # an odd list
        if [*begins] != [*ends]:
            raise KeyError(f"{self.key}: pads {list(begins)} and {list(ends)} differ")
        return [*begins]

    def meaning_of(self, value: Any) -> Any:
        """Return the meaning of a value, or the value itself if it is none of `values`."""
        if self.is_float and isinstance(value, float) and value.is_integer():
            return int(value)
        for choice, meaning in self.values.items():
            if _is_same(value, choice):
                return meaning
        return value

    def spelled(self, meaning: Any) -> Any:
        """Return the document's value for a value of `Params`; KeyError if it has none."""
        if self.is_list:
            return list(meaning)
        if self.is_scalar:
            return float(meaning) if self.is_float else meaning
        return {meant: value for value, meant in self.values.items()}[meaning]


_RANGES = {
    "index_axis": " from -R to R - 1, R dimensions",
    "fixed_divisor": " from 1, or None",
}


def complete(
    declared: Sequence[Attribute], given: Mapping[str, Any], sizes: tuple[int, ...]
) -> dict[str, Any]:
    """Return all attributes that a document declares, given ones checked and others defaulted.

    `sizes` are those of the spatial axes of the data.

    InvalidCase for an unknown attribute, a missing required one, or a value out of range.
    """
    keys = [attribute.key for attribute in declared]
    for key in given:
        if key not in keys:
            names = ", ".join(keys) or "none"
            meant = did_you_mean(str(key).replace("-", "_"), keys)
            raise InvalidCase(f"{_shown(key)}: no such attribute{meant}; the document has {names}")
    attributes: dict[str, Any] = {}
    known: dict[str, Any] = {"sizes": sizes}
    for attribute in declared:
        if attribute.is_left_out(given):
            value = attribute.default_for(known)
        elif attribute.key in given:
            value = attribute.check(given[attribute.key], len(sizes))
        else:
            raise InvalidCase(f"{attribute.key}: required; must be {attribute.allowed}")
        attributes[attribute.key] = known[attribute.role] = value
    return attributes


def wrong_constant(role: Role, value: Any) -> str:
    """Say why a document cannot fix a value of `Params`, "" if it can.

    The numbers of axes are no constants: `UNSAID` says what they are without an attribute.
    """
    fixed = f"constant {role}={_shown(value)}"
    if role in MEANINGS:
        allowed = MEANINGS[role]
        is_allowed = any(_is_same(value, choice) for choice in allowed)
        return "" if is_allowed else f"{fixed}: must be one of {allowed}"
    if role in SCALES:
        return "" if is_scale_value(value) else f"{fixed}: must be a number of float32 above 0"
    if role in SCALARS:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        is_allowed = is_integer and (role != "exponent" or is_judged(value))
        least = ", and one that makes a norm" if role == "exponent" else ""
        return "" if is_allowed else f"{fixed}: must be an integer{least}"
    return f"{fixed}: a constant has one of the roles {', '.join((*SCALARS, *MEANINGS))}"


def _is_same(value: Any, choice: Any) -> bool:
    """Say whether a value equals a choice and has its type: True is not 1."""
    if type(value) is type(choice):  # most are, and this is quick
        return bool(value == choice)
    if not isinstance(value, type(choice)) or isinstance(value, bool) != isinstance(choice, bool):
        return False
    return bool(value == choice)


def is_scale_value(value: Any) -> bool:
    """Say whether a value is a float that float32 holds, above 0 and finite."""
    if not isinstance(value, float) or not 0 < value <= float(np.finfo(np.float32).max):
        return False
    return float(np.float32(value)) == value


def _spelled(choice: Any) -> str:
    return str(choice).lower() if isinstance(choice, bool) else str(choice)


def _integers(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return None
    if not all(isinstance(item, int) and not isinstance(item, bool) for item in value):
        return None
    return tuple(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def roles_of(attributes: Iterable[Attribute]) -> frozenset[Role]:
    """Return the roles of attributes but "ignored"; "pads" includes pads_begin and pads_end."""
    roles = {attribute.role for attribute in attributes} - {"ignored"}
    return frozenset(roles | ({"pads_begin", "pads_end"} if "pads" in roles else set()))
