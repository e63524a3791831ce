"""Choices drawn as one block of bytes: to Hypothesis, a draw costs far more than its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")

Choices = Mapping[str, Sequence[Any]]
"""The items, at most 256, that may be chosen under each name, the plainest first."""
ANY_BYTE = range(256)


def blocks(*groups: Choices) -> st.SearchStrategy[bytes]:
    """Return a strategy for blocks with a byte for each choice of some groups."""
    count = sum(map(len, groups))
    return st.binary(min_size=count, max_size=count)


def chosen(block: bytes, *groups: Choices) -> Iterator[dict[str, Any]]:
    """Yield what a block chooses in each group, by name."""
    byte = iter(block)
    for group in groups:
        yield {name: item_of(items, next(byte)) for name, items in group.items()}


def item_of(items: Sequence[_T], byte: int) -> _T:
    """Return the item that a byte stands for: a lower byte, the same item or one before it."""
    return items[byte * len(items) >> 8]
