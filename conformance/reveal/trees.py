"""Trees of additions over the cells of a window, and the rules that make one for any window.

A tree of n cells is n - 1 additions in the order in which they are made: cells are 0 to n - 1 in
row-major order, and addition k makes number n + k of two earlier numbers. So a tree of thousands
of cells needs no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

Additions = tuple[tuple[int, int], ...]
Sizes = npt.NDArray[np.int64]
Rule = Callable[[tuple[int, ...]], Additions]

_LANES = range(2, 17)


class _Adder:
    """Additions while they are collected."""

    def __init__(self, cells: int) -> None:
        self.cells = cells
        self.additions: list[tuple[int, int]] = []

    def add(self, a: int, b: int) -> int:
        self.additions.append((a, b))
        return self.cells + len(self.additions) - 1

    def in_order(self, numbers: Sequence[int]) -> int:
        total, *rest = numbers
        for number in rest:
            total = self.add(total, number)
        return total

    def reversed(self, numbers: Sequence[int]) -> int:
        return self.in_order(numbers[::-1])

    def halves(self, numbers: Sequence[int]) -> int:
        """Add the sum of the first half to that of the second, each made likewise."""
        if len(numbers) == 1:
            return numbers[0]
        middle = len(numbers) // 2
        return self.add(self.halves(numbers[:middle]), self.halves(numbers[middle:]))

    def halves_larger_first(self, numbers: Sequence[int]) -> int:
        """Add the halves, of which the first is the larger one of an odd count."""
        if len(numbers) == 1:
            return numbers[0]
        middle = (len(numbers) + 1) // 2
        first = self.halves_larger_first(numbers[:middle])
        return self.add(first, self.halves_larger_first(numbers[middle:]))

    def folded(self, numbers: Sequence[int]) -> int:
        """Add the second half to the first, number by number, until one is left."""
        while len(numbers) > 1:
            middle = (len(numbers) + 1) // 2
            sums = [self.add(a, b) for a, b in zip(numbers, numbers[middle:], strict=False)]
            numbers = [*sums, *numbers[len(sums) : middle]]
        return numbers[0]

    def neighbours(self, numbers: Sequence[int]) -> int:
        """Add neighbours, then their sums, until one is left."""
        while len(numbers) > 1:
            pairs = zip(numbers[::2], numbers[1::2], strict=False)
            sums = [self.add(a, b) for a, b in pairs]
            numbers = [*sums, *numbers[2 * len(sums) :]]
        return numbers[0]


_Line = Callable[[_Adder, Sequence[int]], int]
"""Adds up some numbers, and returns the number of the sum."""
_JOINS: dict[str, _Line] = {
    "in order": _Adder.in_order,
    "backwards": _Adder.reversed,
    "by halves": _Adder.halves,
    "by halves, the larger first": _Adder.halves_larger_first,
    "folded": _Adder.folded,
    "by neighbours": _Adder.neighbours,
}


def _in_lanes(lanes: int, join: _Line, *, tail: bool) -> _Line:
    """Add every number to the lane of its place, then join the lanes.

    With a `tail`, the numbers after the last full row of lanes are added in order at the end.
    """

    def line(adder: _Adder, numbers: Sequence[int]) -> int:
        full = len(numbers) // lanes * lanes if tail else len(numbers)
        used = [numbers[lane:full:lanes] for lane in range(min(lanes, full))]
        total = [join(adder, [adder.in_order(lane) for lane in used])] if used else []
        return adder.in_order([*total, *numbers[full:]])

    return line


def _in_blocks(size: int, join: _Line) -> _Line:
    """Add the numbers of each block in order, then join the blocks."""

    def line(adder: _Adder, numbers: Sequence[int]) -> int:
        blocks = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        return join(adder, [adder.in_order(block) for block in blocks])

    return line


def _whole(line: _Line) -> Rule:
    """Add the cells of a window as one line."""

    def rule(kernel: tuple[int, ...]) -> Additions:
        adder = _Adder(prod(kernel))
        line(adder, range(adder.cells))
        return tuple(adder.additions)

    return rule


def _by_axis(line: _Line, *, last_first: bool) -> Rule:
    """Add along one axis after the other."""

    def rule(kernel: tuple[int, ...]) -> Additions:
        adder = _Adder(prod(kernel))
        numbers = np.arange(adder.cells).reshape(kernel)
        for _ in kernel:
            lines = np.moveaxis(numbers, -1 if last_first else 0, -1)
            sums = [line(adder, row) for row in lines.reshape(-1, lines.shape[-1]).tolist()]
            numbers = np.array(sums).reshape(lines.shape[:-1])
        return tuple(adder.additions)

    return rule


def _lines() -> Iterator[tuple[str, _Line]]:
    yield "first to last", _Adder.in_order
    yield "last to first", _Adder.reversed
    yield from ((name, join) for name, join in _JOINS.items() if name.startswith(("by", "folded")))
    for lanes in _LANES:
        for name, join in _JOINS.items():
            yield f"{lanes} lanes, joined {name}", _in_lanes(lanes, join, tail=False)
            yield f"{lanes} lanes, joined {name}, then the rest", _in_lanes(lanes, join, tail=True)
    for size in _LANES:
        for name, join in _JOINS.items():
            yield f"blocks of {size}, joined {name}", _in_blocks(size, join)


def _rules() -> Iterator[tuple[str, Rule]]:
    lines = [*_lines()]
    for name, line in lines:
        yield name, _whole(line)
    for axis, last_first in (("last", True), ("first", False)):
        for name, line in lines:
            yield f"axis by axis, the {axis} first: {name}", _by_axis(line, last_first=last_first)


RULES: dict[str, Rule] = dict(_rules())
"""Rules by name, the plainest first; on a small window, several make the same tree."""


def common_rules(trees: Mapping[tuple[int, ...], Additions]) -> list[str]:
    """Return the names of the rules that make the tree of every window, by kernel."""
    names = list(RULES)
    # the largest windows first: they leave few rules for the others
    for kernel in sorted(trees, key=prod, reverse=True):
        wanted = canonical(trees[kernel])
        names = [name for name in names if canonical(RULES[name](kernel)) == wanted]
    return names


def canonical(additions: Additions) -> Additions:
    """Return a tree in the one form that it has, whatever the order of its additions.

    The operand with the smallest cell comes first, and additions are in the order of a walk.
    """
    cells = len(additions) + 1
    least = [*range(cells)]
    for a, b in additions:
        least.append(min(least[a], least[b]))
    number = {cell: cell for cell in range(cells)}
    made: list[tuple[int, int]] = []
    waiting = [cells + len(additions) - 1]
    while waiting:
        node = waiting[-1]
        if node in number:
            waiting.pop()
            continue
        a, b = sorted(additions[node - cells], key=least.__getitem__)
        missing = [child for child in (b, a) if child not in number]
        if missing:
            waiting += missing
        else:
            number[node] = cells + len(made)
            made.append((number[a], number[b]))
    return tuple(made)


def sizes_of(additions: Additions) -> Sizes:
    """Return the cells under the addition where two cells meet, for each pair, (n, n).

    A cell meets itself alone: the diagonal is 1.
    """
    cells = len(additions) + 1
    sizes = np.ones((cells, cells), np.int64)
    under: list[list[int]] = [[cell] for cell in range(cells)]
    for a, b in additions:
        both = under[a] + under[b]
        sizes[np.ix_(under[a], under[b])] = len(both)
        sizes[np.ix_(under[b], under[a])] = len(both)
        under.append(both)
    return sizes


def tree_of(sizes: Sizes) -> Additions | None:
    """Return the tree with such sizes, see `sizes_of`; None if there is none."""
    adder = _Adder(len(sizes))
    if _joined(adder, sizes, [*range(len(sizes))]) is None:
        return None
    tree = canonical(tuple(adder.additions))
    return tree if np.array_equal(sizes_of(tree), sizes) else None


def _joined(adder: _Adder, sizes: Sizes, cells: list[int]) -> int | None:
    """Add up some cells as the sizes say: what the first of them meets, the nearest first."""
    first, *rest = cells
    total, count = first, 1
    for size in sorted({int(sizes[first, cell]) for cell in rest}):
        met = [cell for cell in rest if sizes[first, cell] == size]
        count += len(met)
        other = _joined(adder, sizes, met) if count == size else None
        if other is None:
            return None
        total = adder.add(total, other)
    return total


def nested(additions: Additions) -> str:
    """Return a tree as text, ((0 1) 2) for example."""
    texts = [str(cell) for cell in range(len(additions) + 1)]
    for a, b in additions:
        texts.append(f"({texts[a]} {texts[b]})")
    return texts[-1]
