"""Attributes as the documents list them, and the rules that make a set of them valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.errors import InvalidCase

REQUIRED = object()
"""Default of an attribute that has none."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a document: its key in a backend call, its kind, range and default.

    kind "ints" is a list of one integer per spatial axis, each at least `least`; "enum" a string
    out of `choices`; "bool" a boolean; "ignored" anything. A default of None stands for a list of
    `fill`.
    """

    key: str
    kind: Literal["ints", "enum", "bool", "ignored"]
    section: str
    default: Any = REQUIRED
    least: int = 0
    fill: int = 0
    choices: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        """Whether the document gives no default."""
        return self.default is REQUIRED

    @property
    def allowed(self) -> str:
        """What the attribute may hold, in words."""
        if self.kind == "ints":
            return f"a list of one integer >= {self.least} per spatial axis"
        return " or ".join(self.choices) if self.kind == "enum" else "true or false"

    def check(self, value: Any, axes: int) -> Any:
        """Return the value in plain types; InvalidCase names the attribute, value and range."""
        if self.kind == "ints":
            plain = _integers(value)
            if plain is not None and len(plain) == axes and all(v >= self.least for v in plain):
                return plain
            raise InvalidCase(
                f"{self.key}={_shown(value)}: must be a list of {axes} "
                f"integer{'s' * (axes != 1)} >= {self.least}, one per spatial axis"
            )
        if self.kind == "ignored" or (self.kind == "bool" and isinstance(value, bool)):
            return value
        if self.kind == "enum" and isinstance(value, str) and value in self.choices:
            return value
        raise InvalidCase(f"{self.key}={_shown(value)}: must be {self.allowed}")


def complete(declared: Sequence[Attribute], given: Mapping[str, Any], axes: int) -> dict[str, Any]:
    """Check given attributes against those a document declares and fill in its defaults."""
    known = [attribute.key for attribute in declared]
    for key in given:
        if key not in known:
            names = ", ".join(known) or "none"
            raise InvalidCase(f"{_shown(key)}: no such attribute; the document has {names}")
    result: dict[str, Any] = {}
    for attribute in declared:
        if attribute.key in given:
            result[attribute.key] = attribute.check(given[attribute.key], axes)
        elif attribute.required:
            raise InvalidCase(f"{attribute.key}: required; must be {attribute.allowed}")
        elif attribute.default is None and attribute.kind == "ints":
            result[attribute.key] = (attribute.fill,) * axes
        else:
            result[attribute.key] = attribute.default
    return result


def _integers(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return None
    if not all(isinstance(item, int) and not isinstance(item, bool) for item in value):
        return None
    return tuple(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
