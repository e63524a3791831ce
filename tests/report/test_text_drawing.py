"""Drawings as text."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.document import plain
from conformance.report.drawing import Axis, Grid
from conformance.report.text_drawing import Sheet, draw_grid, places, side_by_side


@st.composite
def axes(draw):
    """Draw an axis with windows, and the number of one of them."""
    before, size = draw(st.integers(0, 5)), draw(st.integers(1, 300))
    start = draw(st.integers(-before, size - 1))
    stop = draw(st.integers(start + 1, size))
    more = draw(st.lists(st.tuples(st.integers(-before, size - 1), st.integers(1, 9)), max_size=6))
    others = [(begin, min(begin + cells, size)) for begin, cells in more]
    windows = tuple(sorted([(start, stop), *others]))
    return Axis(size, windows, (before, 0)), windows.index((start, stop))


@given(axes(), st.integers(7, 40))
def test_places_keep_the_ends_and_the_outline(drawn, room):
    """Both ends and both edges of the outline are shown in the room there is."""
    axis, chosen = drawn
    shown = places(axis, chosen, room)
    start, stop = axis.windows[chosen]
    assert len(shown) <= room
    assert {axis.low, axis.high - 1, start, stop - 1} <= set(shown)


@given(axes(), st.integers(7, 40))
def test_places_mark_exactly_the_gaps(drawn, room):
    """Positions ascend; a mark stands for two or more that are left out."""
    shown = places(*drawn, room)
    for before, after in pairwise(shown):
        if before is not None and after is not None:
            assert after == before + 1
    for i, place in enumerate(shown):
        if place is None:
            assert shown[i + 1] - shown[i - 1] > 2


def test_places_of_a_huge_axis_are_found_at_once():
    """A file may claim any extent: nothing is as long as the axis."""
    assert places(Axis(10**15, pads=(10**15, 0)), 0, 9)[0] == -(10**15)


def grid_of(rows, columns, values):
    """Return a plane, given its axes with the numbers of their windows."""
    (down, r), (across, c) = rows, columns
    return Grid("title", values, (down, across), (), (r, c))


def test_a_small_plane_is_drawn_in_full():
    """Bars above and posts beside give the windows; the chosen one is outlined."""
    rows = Axis(3, ((0, 2), (1, 3))), 1
    columns = Axis(4, ((0, 2), (2, 4))), 0
    values = np.add.outer([0, 10, 20], [0, 1, 2, 3])
    lines = draw_grid(grid_of(rows, columns, values), width=40, height=9)
    assert [plain(line) for line in lines.lines()] == [
        "title[:, :]",
        "      ├─0─┤ ├─1─┤",
        "       0  1  2  3",
        "  0┬0  0  1  2  3",
        "   │ ┏━━━━━┓",
        "1┬ ┴1┃10 11┃12 13",
        " ┴  2┃20 21┃22 23",
        "     ┗━━━━━┛",
    ]


@given(axes(), axes(), st.integers(60, 120))
def test_a_drawing_fits_its_width(rows, columns, width):
    """Any plane of small numbers fits in 60 columns and more."""
    digits = np.add.outer(np.arange(rows[0].size), np.arange(columns[0].size)) % 10
    assert draw_grid(grid_of(rows, columns, digits), width=width, height=9).width <= width


def sheet(*lines):
    """Return a sheet with some lines."""
    written = Sheet()
    for line in lines:
        written.put(written.new_line(), 0, line)
    return written


def test_blocks_stand_side_by_side_while_they_fit():
    """The third block goes below the first, in line with it."""
    blocks = [sheet("aaa", "aaa"), sheet("bb"), sheet("ccccc")]
    lines = side_by_side(blocks, width=10, gap=2).lines()
    assert [plain(line) for line in lines] == ["aaa  bb", "aaa", "", "ccccc"]


@pytest.mark.parametrize("width", [1, 5])
def test_a_block_too_wide_still_stands(width):
    """A block alone is set even where it does not fit."""
    assert [plain(line) for line in side_by_side([sheet("aaaaaa")], width=width).lines()] == [
        "aaaaaa"
    ]
