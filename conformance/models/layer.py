"""What is read from a model: its pooling layers in the words of our operators."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.errors import ConformanceError

Extent = int | None
"""An extent of a shape; None where a model leaves it open."""

MOST = 1 << 20
"""The largest extent, kernel, stride or pad, and the most cells of one plane, in a vector."""
MOST_LAYERS = 100_000
"""Layers of a model that are read."""
_MOST_TEXT = 200
_NAME = 60


@dataclass(frozen=True, slots=True)
class Layer:
    """A pooling layer: an operator with attributes, its input's shape and element type.

    `shape` is (N, C, d1..dr), None where the model does not say even the rank; `output_size` is
    that of an adaptive operator. `name` is the layer's own, shortened to what can be printed.
    """

    name: str
    operator: str
    attributes: Mapping[str, Any]
    shape: tuple[Extent, ...] | None
    dtype: str
    output_size: tuple[Extent, ...] | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A layer that pools but has no vectors: its name, its kind in the model, and why."""

    name: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Model:
    """The pooling layers of one model, in its order."""

    name: str
    layers: list[Layer] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


class NotExpressible(ConformanceError):  # noqa: N818 - a state of the layer, not of the program
    """A layer that our operators cannot say; the text is the reason."""


def printable(name: str) -> str:
    """Return a name from a stranger's file as short text that can be shown."""
    text = "".join(c if c.isprintable() else "?" for c in name[: 4 * _NAME])
    return text if len(text) <= _NAME else text[: _NAME - 3] + "..."


def integers(name: str, text: str) -> list[int]:
    """Read `2,2` or `2, 2`; NotExpressible where it is no list of small numbers."""
    if len(text) > _MOST_TEXT or not re.fullmatch(r"\s*-?\d{1,18}\s*(,\s*-?\d{1,18}\s*)*", text):
        raise NotExpressible(f"{name}={printable(text)!r} is no list of integers")
    return within(name, [int(part) for part in text.split(",")])


def within(name: str, values: Sequence[int]) -> list[int]:
    """Return a list; NotExpressible where a number is larger than a vector can be."""
    if len(values) > 8 or any(abs(value) > MOST for value in values):
        raise NotExpressible(f"{name} holds numbers above {MOST:,} or too many of them")
    return [*values]
