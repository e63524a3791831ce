"""Planes of cells as text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.document import plain
from conformance.report.grid import Axis, Sheet, draw_grid, places, side_by_side


@st.composite
def axes(draw):
    """Draw an axis with windows, one of them outlined."""
    low = draw(st.integers(-5, 0))
    high = draw(st.integers(1, 300))
    start = draw(st.integers(low, high - 1))
    stop = draw(st.integers(start + 1, high))
    more = draw(st.lists(st.tuples(st.integers(low, high - 1), st.integers(1, 9)), max_size=6))
    others = [(begin, min(begin + size, high)) for begin, size in more]
    windows = tuple(sorted([(start, stop), *others]))
    return Axis(low, high, (start, stop), windows, windows.index((start, stop)))


@given(axes(), st.integers(7, 40))
def test_places_keep_the_ends_and_the_outline(axis, room):
    """Both ends and both edges of the outline are shown in the room there is."""
    shown = places(axis, room)
    assert len(shown) <= room
    assert {axis.low, axis.high - 1, axis.outline[0], axis.outline[1] - 1} <= set(shown)


@given(axes(), st.integers(7, 40))
def test_places_mark_exactly_the_gaps(axis, room):
    """Positions ascend; a mark stands for two or more that are left out."""
    shown = places(axis, room)
    for before, after in pairwise(shown):
        if before is not None and after is not None:
            assert after == before + 1
    for i, place in enumerate(shown):
        if place is None:
            assert shown[i + 1] - shown[i - 1] > 2


def test_places_of_a_huge_axis_are_found_at_once():
    """A file may claim any extent: nothing is as long as the axis."""
    assert places(Axis(-(10**15), 10**15, (0, 1)), 9)[0] == -(10**15)


def number(p: int, q: int) -> tuple[str, str]:
    """Return a cell that shows its position."""
    return f"{10 * p + q}", ""


def test_a_small_plane_is_drawn_in_full():
    """Bars above and posts beside give the windows; the chosen one is outlined."""
    rows = Axis(0, 3, (1, 3), ((0, 2), (1, 3)), 1)
    columns = Axis(0, 4, (0, 2), ((0, 2), (2, 4)), 0)
    lines = draw_grid("title", rows, columns, number, width=40, height=9)
    assert [plain(line) for line in lines.lines()] == [
        "title",
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
    digit = lambda p, q: (str((p + q) % 10), "")  # noqa: E731
    assert draw_grid("", rows, columns, digit, width=width, height=9).width <= width


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
