"""Delta debugging: the smallest part of a sequence that still shows something."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def shrinking(
    items: Sequence[_Item], shows: Callable[[list[_Item]], bool]
) -> Iterator[list[_Item]]:
    """Yield ever smaller parts that show it, in the order of `items`, which do.

    Of the last part no single item can be left out. Halves are tried first, so that one item among
    many takes few trials.
    """
    left, pieces = list(items), 2
    while len(left) > 1 or pieces <= len(left):
        size = -(-len(left) // pieces)
        parts = [left[i : i + size] for i in range(0, len(left), size)]
        rests = [[x for other in parts if other is not part for x in other] for part in parts]
        # Of two halves, each is what is left without the other one.
        tried = parts + rests if len(parts) > 2 else parts
        smaller = next((part for part in tried if len(part) < len(left) and shows(part)), None)
        if smaller is not None:
            pieces = max(2, pieces - 1) if len(smaller) > size else 2
            left = smaller
            yield left
        elif size == 1:
            return
        else:
            pieces = min(2 * pieces, len(left))
