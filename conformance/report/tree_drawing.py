"""A tree of additions drawn in characters: cells from top to bottom, additions to the right."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.reveal.trees import Additions, canonical

_STEP = 2
"""Columns between additions."""


def draw_tree(additions: Additions, labels: Sequence[str]) -> list[str]:
    """Return the lines of a drawing: a label of each cell, and where its sums meet others.

    Lines are in the order in which a walk through the tree meets the cells.
    """
    cells = len(labels)
    tree = canonical(additions)
    leaves = _leaves(tree, cells)
    row_of = {cell: row for row, cell in enumerate(leaves[-1])}
    width = max(map(len, labels))
    lines = [[f"{labels[cell]:>{width}} "] for cell in leaves[-1]]
    ends, heights = [0] * cells, [0] * cells  # of rows in columns, of numbers in additions
    for a, b in tree:
        height = 1 + max(heights[a], heights[b])
        heights.append(height)
        upper, lower = (row_of[leaves[operand][0]] for operand in (a, b))
        for row, corner in ((upper, "┬"), (lower, "┘")):
            lines[row].append("─" * (_STEP * height - 1 - ends[row]) + corner)
            ends[row] = _STEP * height
        for row in range(upper + 1, lower):
            lines[row].append(" " * (_STEP * height - 1 - ends[row]) + "│")
            ends[row] = _STEP * height
    return ["".join(line).rstrip() for line in lines]


def _leaves(tree: Additions, cells: int) -> list[list[int]]:
    """Return the cells under each number, in the order of a walk."""
    leaves = [[cell] for cell in range(cells)]
    for a, b in tree:
        leaves.append(leaves[a] + leaves[b])
    return leaves
