"""Programs of tensors of torch: which of their nodes this package computes, and how."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch")

from torch.nn import functional

from conformance.routes import torch_program
from conformance.routes.torch_program import outputs_by, rightly

pytestmark = pytest.mark.needs_engine("torch")

CELLS = np.array([[[1, 2, 4, 9]]], np.float32)


@pytest.fixture
def computed(monkeypatch):
    """Return a list of the operators and attributes that this package computes."""
    calls = []

    def evaluate(operator, inputs, attributes):
        calls.append((operator, attributes))
        return right(operator, inputs, attributes)

    right = torch_program.evaluate
    monkeypatch.setattr(torch_program, "evaluate", evaluate)
    return calls


def test_averages_of_one_axis_are_those_of_two(computed):
    """So does torch say it, also where a program has but avg_pool1d."""
    (result,) = rightly(partial(outputs_by, lambda x: 2 * functional.avg_pool1d(x, 2)))([CELLS])
    assert result.tolist() == [[[3, 13]]]
    [(operator, attributes)] = computed
    assert operator == "PyTorch-avg_pool2d"
    assert attributes["kernel_size"] == [1, 2]


@pytest.mark.parametrize(
    ("called", "operator"),
    [
        (lambda x: functional.max_pool2d(x, [1, 2], return_indices=True), "max_pool2d"),
        (lambda x: functional.adaptive_max_pool2d(x, [1, 2], True), "adaptive_max_pool2d"),
    ],
)
def test_maxima_have_their_indices(called, operator, computed):
    values, indices = rightly(partial(outputs_by, called))([CELLS[None]])
    assert [values.ravel().tolist(), indices.ravel().tolist()] == [[2, 9], [1, 3]]
    assert [name for name, _ in computed] == [f"PyTorch-{operator}"]


def test_blocks_of_an_average_are_computed(computed):
    called = partial(outputs_by, lambda x: functional.adaptive_avg_pool2d(x, [1, 2]))
    assert rightly(called)([CELLS[None]])[0].ravel().tolist() == [1.5, 6.5]
    assert [name for name, _ in computed] == ["PyTorch-adaptive_avg_pool2d"]


def test_outputs_beside_are_left_out():
    assert len(outputs_by(lambda x: (x, x + 1), [CELLS], beside=1)) == 1
