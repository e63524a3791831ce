"""What is read from a model: its pooling layers in the words of our operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.errors import ConformanceError, UsageError
from conformance.operators import OPERATORS
from conformance.text import cut, masked

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
    that of an adaptive operator. `name` is the layer's own, shortened to what can be printed;
    `source` says where it is described, "" if that is in the file of the model.
    """

    name: str
    operator: str
    attributes: Mapping[str, Any]
    shape: tuple[Extent, ...] | None
    dtype: str
    output_size: tuple[Extent, ...] | None = None
    source: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the model leaves some of its extents open."""
        size = self.output_size
        if OPERATORS[self.operator].takes_output_size and size is None:
            return True
        return self.shape is None or None in self.shape or None in (size or ())


@dataclass(frozen=True, slots=True)
class Skipped:
    """A layer that pools but has no vectors: its name, its kind in the model, and why."""

    name: str
    kind: str
    why: str


class NotExpressible(ConformanceError):  # noqa: N818 - a state of the layer, not of the program
    """A layer that our operators cannot say; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Model:
    """The pooling layers of one model, in its order."""

    path: Path
    layers: list[Layer] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of its file, as it can be shown."""
        return printable(self.path.name)

    def add(self, name: str, kind: str, read: Callable[[str], Layer]) -> None:
        """Add the layer that `read` returns for its printable name, or why it has no vectors."""
        count = len(self.layers) + len(self.skipped)
        if count >= MOST_LAYERS:
            raise UsageError(f"{self.path}: more than {MOST_LAYERS:,} pooling layers")
        name = printable(name) or f"number {count + 1}"
        try:
            self.layers.append(read(name))
        except NotExpressible as error:
            self.skipped.append(Skipped(name, printable(kind), str(error)))


def printable(name: str) -> str:
    """Return a name from a stranger's file as short text that can be shown."""
    return cut(masked(name[: 4 * _NAME], keep="", mask="?"), _NAME)


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
