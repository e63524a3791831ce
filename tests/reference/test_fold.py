"""Folding boxes against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reference.fold import _runs, fold, fold_with


@st.composite
def boxes(draw):
    """Draw data of shape (L, d1..dr) and any ranges inside it, empty and descending ones too."""
    axes = draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 6)) for _ in range(axes)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lo, hi = [], []
    for size in sizes:
        count = draw(st.integers(0, 7))
        regular = draw(st.booleans())
        step = draw(st.integers(0, 2))
        start = np.arange(count) * step if regular else rng.integers(0, size + 1, count)
        stop = start + draw(st.integers(0, 3)) if regular else rng.integers(0, size + 1, count)
        lo.append(np.clip(start, 0, size))
        hi.append(np.clip(stop, 0, size))
    return rng.integers(-50, 50, (draw(st.integers(1, 3)), *sizes)).astype(np.float64), lo, hi


def by_loops(data, lo, hi, combine, identity):
    """Fold one axis after the other, one cell after the other."""
    for axis, (begin, end) in enumerate(zip(lo, hi, strict=True), start=1):
        moved = np.moveaxis(data, axis, 0)
        planes = []
        for a, b in zip(begin.tolist(), end.tolist(), strict=True):
            total = np.full(moved.shape[1:], identity)
            for number, cell in enumerate(range(a, b)):
                total = combine(total, moved[cell]) if number else moved[cell]
            planes.append(total)
        stacked = np.array(planes).reshape(len(planes), *moved.shape[1:])
        data = np.moveaxis(stacked, 0, axis)
    return data


@pytest.mark.parametrize(
    ("ufunc", "identity"), [(np.add, 0.0), (np.maximum, -np.inf), (np.subtract, 7.0)]
)
@given(case=boxes())
def test_a_fold_equals_plain_loops(case, ufunc, identity):
    """Cells are combined in ascending order, an empty range gives the identity."""
    data, lo, hi = case
    np.testing.assert_array_equal(
        fold(data, lo, hi, ufunc, identity), by_loops(data, lo, hi, ufunc, identity)
    )


@given(case=boxes())
def test_stacked_arrays_are_folded_together(case):
    """A combination sees all of them, and may treat each in its own way."""
    data, lo, hi = case

    def combine(folded, tap):
        folded[0] += tap[0]
        np.maximum(folded[1], tap[1], out=folded[1])

    total, largest = fold_with(np.stack([data, -data]), lo, hi, combine, 0.0)
    np.testing.assert_array_equal(total, by_loops(data, lo, hi, np.add, 0.0))
    np.testing.assert_array_equal(largest, by_loops(-data, lo, hi, np.maximum, 0.0))


@given(case=boxes())
def test_runs_hold_every_window_once(case):
    """Runs cover the windows in order, and each reads the cells of its windows."""
    _, lo, hi = case
    for begin, end in zip(lo, hi, strict=True):
        runs = _runs(begin.tobytes(), end.tobytes())
        firsts = [run.first for run in runs]
        lasts = [run.last for run in runs]
        assert [*firsts, len(begin)] == [0, *lasts]
        for run in runs:
            lengths = np.maximum(end - begin, 0)[run.first : run.last].tolist()
            assert lengths == [run.cells] * (run.last - run.first)
            for tap in range(run.cells):
                np.testing.assert_array_equal(
                    np.arange(100)[run.tap(tap)], begin[run.first : run.last] + tap
                )
            for number in range(run.last - run.first if run.cells else 0):
                window = run.first + number
                cells = np.arange(begin[window], end[window])
                np.testing.assert_array_equal(np.arange(100)[run.window(number)], cells)


def test_regular_windows_are_one_run():
    """Equal windows at equal distances cost one numpy call per tap, whatever their number."""
    starts = np.arange(0, 1000, 2)
    assert len(_runs(starts.tobytes(), (starts + 3).tobytes())) == 1
